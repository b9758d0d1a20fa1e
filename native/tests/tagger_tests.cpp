// The tagger against all sequences of short sentences, small enough for every sanitizer.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/tagger.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

constexpr std::int32_t kTags = 3;

// Sentences of 0 to 5 words, each with some of the tags; weights are few and exact, so that many sequences are equal.
struct RandomModel {
  std::vector<double> trigrams;
  std::vector<std::int64_t> sentence_start{0}, word_start{0};
  std::vector<std::int32_t> tag;
  std::vector<double> weight;

  RandomModel(unsigned seed, unsigned n_weights) {
    std::mt19937 random(seed);
    const auto any = [&] { return -static_cast<double>(random() % n_weights) / 8.0; };
    for (int k = 0; k < (kTags + 1) * (kTags + 1) * (kTags + 1); ++k) {
      trigrams.push_back(random() % 6 ? any() : kImpossible);
    }
    for (int size = 0; size < 6; ++size) {
      for (int k = 0; k < size; ++k) {
        const auto which = 1 + random() % 7;
        for (std::int32_t t = 0; t < kTags; ++t) {
          if (!(which >> t & 1u)) continue;
          tag.push_back(t);
          weight.push_back(any());
        }
        word_start.push_back(static_cast<std::int64_t>(tag.size()));
      }
      sentence_start.push_back(static_cast<std::int64_t>(word_start.size()) - 1);
    }
  }
  TrigramView view() const { return {kTags, trigrams.data()}; }
  Sentences sentences() const {
    return {static_cast<std::int64_t>(sentence_start.size()) - 1, sentence_start.data(), word_start.data(), tag.data(),
            weight.data()};
  }
  double after(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return trigrams[(a * (kTags + 1) + b) * (kTags + 1) + c];
  }

  // All possible sequences of a sentence, the best first.
  std::vector<TagSequence> all(std::size_t sentence) const {
    std::vector<TagSequence> out{{0.0, {}}};
    for (std::int64_t w = sentence_start[sentence]; w <= sentence_start[sentence + 1]; ++w) {
      const bool ends = w == sentence_start[sentence + 1];
      std::vector<TagSequence> longer;
      for (const TagSequence& sequence : out) {
        const std::size_t n = sequence.tag.size();
        const std::int32_t a = n > 1 ? sequence.tag[n - 2] : kTags, b = n > 0 ? sequence.tag[n - 1] : kTags;
        for (std::int64_t k = ends ? 0 : word_start[w]; k < (ends ? 1 : word_start[w + 1]); ++k) {
          TagSequence next = sequence;
          next.weight += ends ? after(a, b, kTags) : after(a, b, tag[k]) + weight[k];
          if (!ends) next.tag.push_back(tag[k]);
          if (next.weight > kImpossible) longer.push_back(next);
        }
      }
      out = longer;
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.weight > y.weight; });
    return out;
  }
};

void check_sentence(const std::vector<TagSequence>& found, const std::vector<TagSequence>& all, std::size_t most) {
  CHECK(found.size() == std::min(most, all.size()));
  std::set<std::vector<std::int32_t>> distinct;
  for (std::size_t k = 0; k < found.size(); ++k) {
    CHECK(found[k].weight == all[k].weight);
    CHECK(distinct.insert(found[k].tag).second);
    const auto same = [&](const TagSequence& other) { return other.tag == found[k].tag; };
    const auto own = std::find_if(all.begin(), all.end(), same);
    CHECK(own != all.end() && own->weight == found[k].weight);
  }
}

void test_best_of_all() {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const RandomModel model(seed, seed % 2 ? 3 : 1000);
    for (std::size_t most : {1, 2, 5, 40, 1000}) {
      Team one(1, nullptr), three(3, nullptr);
      const auto found = tag_sentences(model.view(), model.sentences(), static_cast<std::int64_t>(most), one);
      const auto again = tag_sentences(model.view(), model.sentences(), static_cast<std::int64_t>(most), three);
      for (std::size_t s = 0; s < found.size(); ++s) {
        check_sentence(found[s], model.all(s), most);
        CHECK(found[s].size() == again[s].size());
        for (std::size_t k = 0; k < found[s].size(); ++k) CHECK(found[s][k].tag == again[s][k].tag);
      }
    }
  }
}

// A long sentence in which all sequences are equal: none may be looked for far and wide.
void test_equal_sequences() {
  constexpr std::int64_t kWords = 300;
  const std::vector<double> trigrams((kTags + 1) * (kTags + 1) * (kTags + 1), -0.1);
  std::vector<std::int64_t> word_start{0};
  std::vector<std::int32_t> tag;
  for (std::int64_t w = 0; w < kWords; ++w) {
    for (std::int32_t t = 0; t < kTags; ++t) tag.push_back(t);
    word_start.push_back(static_cast<std::int64_t>(tag.size()));
  }
  const std::vector<double> weight(tag.size(), -0.3);
  const std::vector<std::int64_t> sentence_start{0, kWords};
  Team team(1, nullptr);
  const auto found = tag_sentences({kTags, trigrams.data()},
                                   {1, sentence_start.data(), word_start.data(), tag.data(), weight.data()}, 50, team);
  std::set<std::vector<std::int32_t>> distinct;
  for (const TagSequence& sequence : found[0]) distinct.insert(sequence.tag);
  CHECK(distinct.size() == 50);
}

void test_words_without_tags() {
  const std::vector<double> trigrams((kTags + 1) * (kTags + 1) * (kTags + 1), -1.0);
  const std::vector<std::int64_t> sentence_start{0, 2}, word_start{0, 1, 1};
  const std::vector<std::int32_t> tag{0};
  const std::vector<double> weight{0.0};
  Team team(1, nullptr);
  const auto found = tag_sentences({kTags, trigrams.data()},
                                   {1, sentence_start.data(), word_start.data(), tag.data(), weight.data()}, 5, team);
  CHECK(found.size() == 1 && found[0].empty());
}

}  // namespace

int main() {
  return run_all("tagger_tests", {{"best of all", test_best_of_all},
                                  {"equal sequences", test_equal_sequences},
                                  {"words without tags", test_words_without_tags}});
}
