// Tagged sequences in the core: values against listing all fragments, gradients against differences.
#include <cstdint>
#include <random>
#include <vector>

#include "jobs/team.hpp"
#include "kernels/tagging.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

constexpr std::int64_t kTags = 3;
constexpr unsigned kWords = 2;

struct Corpus {
  std::vector<std::int32_t> tag, word;
  std::vector<std::int64_t> start{0};

  TaggedView view() const {
    return {{static_cast<std::int64_t>(start.size()) - 1, start.data(), tag.data()}, word.data()};
  }
};

Corpus random_corpus(unsigned seed, int n, unsigned longest) {
  std::mt19937 random(seed);
  Corpus out;
  for (int s = 0; s < n; ++s) {
    for (auto k = random() % (longest + 1); k > 0; --k) {
      out.tag.push_back(static_cast<std::int32_t>(random() % kTags));
      out.word.push_back(static_cast<std::int32_t>(random() % kWords));
    }
    out.start.push_back(static_cast<std::int64_t>(out.tag.size()));
  }
  return out;
}

struct Settings {
  std::vector<double> decay{0.5, 1.2, 0.8}, word_weight{1.0, 0.3, 2.0}, gap{0.0, 0.0, 0.0};

  TaggingValues values() const { return {decay.data(), word_weight.data(), gap.data(), kTags}; }
};

Settings with_gaps() {
  Settings out;
  out.gap = {0.6, 0.0, 1.1};
  return out;
}

// What the positions of one side that a mask leaves out between its first and its last weigh.
double skipped(const Settings& by, const Corpus& corpus, std::int64_t start, std::int64_t size, unsigned mask) {
  double weight = 1.0;
  for (std::int64_t k = 0; k < size; ++k) {
    const bool inside = (mask & ((1u << k) - 1u)) != 0 && (mask >> k) > 1u;
    if (inside && (mask >> k & 1u) == 0) weight *= by.gap[corpus.tag[start + k]];
  }
  return weight;
}

// Every subsequence of tags that both have, with every choice of the tags that keep their words.
double slow(const Settings& by, const Corpus& a, std::int64_t row, const Corpus& b, std::int64_t column) {
  const std::int64_t i0 = a.start[row], j0 = b.start[column];
  const std::int64_t m = a.start[row + 1] - i0, n = b.start[column + 1] - j0;
  double total = 0.0;
  for (unsigned own = 1; own < (1u << m); ++own) {
    for (unsigned other = 1; other < (1u << n); ++other) {
      double weight = skipped(by, a, i0, m, own) * skipped(by, b, j0, n, other);
      if (weight == 0.0) continue;
      std::int64_t x = 0, y = 0;
      unsigned left = own, right = other;
      for (; left != 0 && right != 0; left >>= 1, right >>= 1, ++x, ++y) {
        for (; (left & 1u) == 0; left >>= 1) ++x;
        for (; (right & 1u) == 0; right >>= 1) ++y;
        const std::int32_t tag = a.tag[i0 + x];
        const double word = a.word[i0 + x] == b.word[j0 + y] ? by.word_weight[tag] : 0.0;
        weight *= tag == b.tag[j0 + y] ? by.decay[tag] * (1.0 + word) : 0.0;
      }
      if (left == 0 && right == 0) total += weight;
    }
  }
  return total;
}

void check_values(const Settings& by) {
  const Corpus a = random_corpus(1, 14, 7), b = random_corpus(2, 9, 8);
  for (int n_threads : {1, 2}) {
    Team team(n_threads, nullptr);
    std::vector<double> cross(14 * 9), own(14 * 14), diagonal(14);
    tagging_values(a.view(), b.view(), Pairs::all, by.values(), team, cross.data());
    tagging_values(a.view(), a.view(), Pairs::symmetric, by.values(), team, own.data());
    tagging_values(a.view(), a.view(), Pairs::diagonal, by.values(), team, diagonal.data());
    for (int s = 0; s < 14; ++s) {
      for (int t = 0; t < 9; ++t) CHECK(near(cross[s * 9 + t], slow(by, a, s, b, t), 1e-12));
      for (int t = 0; t < 14; ++t) CHECK(near(own[s * 14 + t], slow(by, a, s, a, t), 1e-12));
      CHECK(near(diagonal[s], slow(by, a, s, a, s), 1e-12));
    }
  }
}

void test_values() {
  check_values(Settings());
  check_values(with_gaps());
}

void check_gradients_at(const Settings& at) {
  const Corpus a = random_corpus(3, 8, 6), b = random_corpus(4, 8, 7);
  const std::vector<double> cotangent = random_numbers(5, 8 * 8);
  for (const Pairs pairs : {Pairs::all, Pairs::symmetric, Pairs::diagonal}) {
    const Corpus& other = pairs == Pairs::all ? b : a;
    const auto weighed = [&](const Settings& by) {
      double total = 0.0;
      for (int s = 0; s < 8; ++s) {
        if (pairs == Pairs::diagonal) total += cotangent[s] * slow(by, a, s, a, s);
        for (int t = 0; t < 8 && pairs != Pairs::diagonal; ++t) {
          total += cotangent[s * 8 + t] * slow(by, a, s, other, t);
        }
      }
      return total;
    };
    for (int n_threads : {1, 2}) {
      Team team(n_threads, nullptr);
      std::vector<double> decay_bar(kTags, 0.0), word_bar(kTags, 0.0), gap_bar(kTags, 0.0);
      tagging_pull_back(a.view(), other.view(), pairs, at.values(), cotangent.data(), team,
                        {decay_bar.data(), word_bar.data(), gap_bar.data()});
      check_gradient(weighed, &Settings::decay, decay_bar, at);
      check_gradient(weighed, &Settings::word_weight, word_bar, at);
      if (at.gap[0] != 0.0) check_gradient(weighed, &Settings::gap, gap_bar, at);
    }
  }
}

void test_gradients() {
  check_gradients_at(Settings());
  check_gradients_at(with_gaps());
}

void test_empty() {
  const Corpus none, blank = random_corpus(6, 3, 0);
  Team team(2, nullptr);
  const Settings by;
  std::vector<double> out(9, 1.0), bar(kTags, 0.0);
  tagging_values(none.view(), none.view(), Pairs::symmetric, by.values(), team, out.data());
  CHECK(out[0] == 1.0);
  tagging_values(blank.view(), blank.view(), Pairs::symmetric, by.values(), team, out.data());
  CHECK(out[0] == 0.0 && out[8] == 0.0);
  for (const Settings& settings : {by, with_gaps()}) {
    tagging_values(blank.view(), blank.view(), Pairs::symmetric, settings.values(), team, out.data());
    CHECK(out[0] == 0.0 && out[8] == 0.0);
    tagging_pull_back(blank.view(), blank.view(), Pairs::symmetric, settings.values(), out.data(), team,
                      {bar.data(), bar.data(), bar.data()});
    CHECK(bar[0] == 0.0);
  }
}

}  // namespace

int main() {
  return run_all("tagging_tests", {{"values", test_values}, {"gradients", test_gradients}, {"empty", test_empty}});
}
