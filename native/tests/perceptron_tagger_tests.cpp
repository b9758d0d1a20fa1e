// The perceptron tagger from training to taggings, on small random sentences, under every sanitizer.
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/perceptron_tagger.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

constexpr std::int32_t kWords = 8, kTagsHere = 3;

// A word's tag follows the word, but for the last word, whose tag follows the word before it.
struct RandomSentences {
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> word, tag;
  std::vector<std::uint64_t> attribute;

  explicit RandomSentences(unsigned seed) {
    std::mt19937_64 random(seed);
    for (std::int32_t k = 0; k < kWords * kAttributes; ++k) attribute.push_back(random());
    for (int s = 0; s < 60; ++s) {
      const auto n = random() % 7;
      for (std::uint64_t i = 0; i < n; ++i) {
        const auto own = static_cast<std::int32_t>(random() % kWords);
        tag.push_back(own == kWords - 1 && i > 0 ? word.back() % kTagsHere : own % kTagsHere);
        word.push_back(own);
      }
      start.push_back(static_cast<std::int64_t>(word.size()));
    }
  }
  TaggerView view() const { return {std::ssize(start) - 1, start.data(), word.data(), attribute.data(), tag.data()}; }
};

void test_tags_are_learned() {
  for (const std::int32_t width : {1, 2, 4}) {
    const RandomSentences sentences(static_cast<unsigned>(width));
    Team one(1, nullptr), three(3, nullptr);
    const SparseClassifier model(train_tagger(sentences.view(), {kTagsHere, 8, width, 7}, one));
    const auto found = tag_by_beam(model, sentences.view(), kTagsHere, width, 3, one);
    const auto again = tag_by_beam(model, sentences.view(), kTagsHere, width, 3, three);
    std::int64_t n_right = 0;
    for (std::size_t s = 0; s < found.size(); ++s) {
      CHECK(found[s].size() == again[s].size());
      std::set<std::vector<std::int32_t>> distinct;
      for (std::size_t k = 0; k < found[s].size(); ++k) {
        CHECK(found[s][k].tag == again[s][k].tag);
        CHECK(distinct.insert(found[s][k].tag).second);
        CHECK(k == 0 || found[s][k].weight <= found[s][k - 1].weight);
      }
      for (std::size_t i = 0; i < found[s][0].tag.size(); ++i) {
        n_right += found[s][0].tag[i] == sentences.tag[static_cast<std::size_t>(sentences.start[s]) + i];
      }
    }
    CHECK(n_right == std::ssize(sentences.tag));
  }
}

void test_keys_keep_their_numbers() {
  KeyIndex index;
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> keys;
  for (int k = 0; k < 1000; ++k) {
    keys.push_back(random());
    CHECK(index.find(keys.back()) == -1);
    CHECK(index.number(keys.back()) == k);
  }
  for (int k = 0; k < 1000; ++k) CHECK(index.find(keys[k]) == k && index.number(keys[k]) == k);
  const KeyIndex again(keys);
  for (int k = 0; k < 1000; ++k) CHECK(again.find(keys[k]) == k);
}

}  // namespace

int main() {
  return run_all("perceptron_tagger_tests", {{"tags are learned", test_tags_are_learned},
                                             {"keys keep their numbers", test_keys_keep_their_numbers}});
}
