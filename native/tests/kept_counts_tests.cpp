// Counts that are kept and changed: against the definition after every pass, for any workers, threads and memory.
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "jobs/team.hpp"
#include "selection/counting.hpp"
#include "selection/feature_trie.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 28;
constexpr unsigned kFirst = 1, kSecond = 2;
using Counts = std::map<std::uint64_t, std::pair<int, int>>;

struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kept-counts-XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

// The keys of each output of each example, some of them several times; output 0 is the right one.
struct Examples {
  std::vector<std::vector<std::vector<std::uint64_t>>> outputs;

  Examples(unsigned seed, int n_examples, int n_outputs, int n_keys, unsigned n_different) {
    std::mt19937 random(seed);
    outputs.resize(n_examples);
    for (auto& own : outputs) {
      own.resize(n_outputs);
      for (auto& keys : own) {
        for (int k = 0; k < n_keys; ++k) keys.push_back(key_of(random(), random(), n_different));
      }
    }
  }
  // Few keys are in many examples, and keys have any size up to the largest one.
  static std::uint64_t key_of(std::uint64_t kind, std::uint64_t number, unsigned n_different) {
    const std::uint64_t own = kind % 3 == 0 ? number % (n_different / 20 + 1) : number % n_different;
    const std::uint64_t largest = (std::uint64_t{1} << OccurrenceCounter::kKeyBits) - 1;
    return own % 2 ? own : largest - own * 0x9E3779B97F4A7C1ULL % largest;
  }
};

// What each example is predicted to be: some change in each pass, and in some passes none or all do.
std::vector<int> next_predictions(std::mt19937& random, const std::vector<int>& before, int n_outputs, unsigned share) {
  std::vector<int> out = before;
  for (int& one : out) {
    if (random() % 100 < share) one = random() % 3 ? static_cast<int>(random() % n_outputs) : 0;
  }
  return out;
}

// The definition: in how many right and predicted outputs of mispredicted examples a key is.
Counts counted_slowly(const Examples& examples, const std::vector<int>& predicted) {
  Counts out;
  for (std::size_t k = 0; k < predicted.size(); ++k) {
    if (predicted[k] == 0) continue;
    const auto& right = examples.outputs[k][0];
    const auto& other = examples.outputs[k][predicted[k]];
    for (const std::uint64_t key : std::set(right.begin(), right.end())) ++out[key].first;
    for (const std::uint64_t key : std::set(other.begin(), other.end())) ++out[key].second;
  }
  return out;
}

// Adds what changed of an example, with each key as often as it occurs.
void add_change(OccurrenceCounter& counter, int worker, std::int64_t example,
                const std::vector<std::vector<std::uint64_t>>& outputs, int before, int now) {
  if (before == now) return;
  counter.begin(worker, example);
  const bool was = before != 0, is = now != 0;
  const Change change = was && is ? Change::kSwap : is ? Change::kAdd : Change::kRemove;
  const auto& first = outputs[was && is ? now : 0];
  const auto& second = outputs[is && !was ? now : before];
  const std::set<std::uint64_t> in_both(second.begin(), second.end());
  for (const std::uint64_t key : first) {
    counter.add(worker, key, kFirst | (in_both.contains(key) && key % 5 ? kSecond : 0U), change);
  }
  for (const std::uint64_t key : second) counter.add(worker, key, kSecond, change);
}

// Passes over examples, whose keys that pass the threshold go to the trie.
struct Passes {
  const Examples& examples;
  double threshold;
  FeatureTrie trie{1};
  Counts known;  // of the keys in the trie
  KeptCounts kept;
  std::vector<int> before;

  Passes(const Examples& all, double most, std::int64_t most_bytes = kPlenty)
      : examples(all), threshold(most), kept(most_bytes), before(all.outputs.size(), 0) {}

  CountChanges count(const std::vector<int>& now, int n_workers, int n_threads, std::int64_t memory,
                     const std::string& folder) {
    OccurrenceCounter counter(n_workers, memory, folder);
    std::vector<std::thread> threads;
    for (int worker = 0; worker < n_workers; ++worker) {
      threads.emplace_back([&, worker] {
        for (std::size_t k = static_cast<std::size_t>(worker); k < now.size();
             k += static_cast<std::size_t>(n_workers)) {
          add_change(counter, worker, static_cast<std::int64_t>(k), examples.outputs[k], before[k], now[k]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    before = now;
    Team team(n_threads, {});
    return counter.change(team, threshold, trie, kept);
  }

  // Checks what was found, and takes it over.
  void take(const CountChanges& found) {
    for (std::size_t k = 0; k < found.node.size(); ++k) {
      auto& [plus, minus] = known[trie.key(found.node[k])];
      plus += found.plus[k];
      minus += found.minus[k];
      CHECK(found.plus[k] != 0 || found.minus[k] != 0);
    }
    for (std::size_t k = 1; k < found.node.size(); ++k) {
      const auto place = [&](std::size_t at) {
        return std::pair(OccurrenceCounter::partition_of(trie.key(found.node[at])), found.node[at]);
      };
      CHECK(place(k - 1) < place(k));
    }
    for (std::size_t k = 0; k < found.key.size(); ++k) {
      const auto place = [&](std::size_t at) {
        return std::pair(OccurrenceCounter::partition_of(found.key[at]), found.key[at]);
      };
      CHECK(k == 0 || place(k - 1) < place(k));
      CHECK(trie.find(found.key[k]) == kNoFeature);
      CHECK(trie.insert(found.key[k]) + 1 == trie.size());
      CHECK(std::max(found.key_plus[k], found.key_minus[k]) > threshold);
      known[found.key[k]] = {found.key_plus[k], found.key_minus[k]};
    }
    const Counts expected = counted_slowly(examples, before);
    std::int64_t n_others = 0;
    for (const auto& [key, count] : expected) {
      if (known.contains(key)) continue;
      ++n_others;
      CHECK(std::max(count.first, count.second) <= threshold);
    }
    for (const auto& [key, count] : known) {
      const auto place = expected.find(key);
      CHECK(count == (place == expected.end() ? Counts::mapped_type() : place->second));
    }
    CHECK(found.n_kept == n_others);
    if (!kept.is_full()) {
      CHECK(kept.size() == n_others);
      CHECK(kept.n_bytes() >= 8 * n_others);
    }
  }
};

bool same(const CountChanges& a, const CountChanges& b) {
  return a.node == b.node && a.plus == b.plus && a.minus == b.minus && a.key == b.key && a.key_plus == b.key_plus &&
         a.key_minus == b.key_minus && a.n_occurrences == b.n_occurrences && a.n_kept == b.n_kept;
}

struct Drawn {
  Examples examples;
  double threshold;
  int n_outputs;
};

void test_every_pass_is_the_definition() {
  const Drawn cases[] = {
      {{1, 300, 4, 40, 4'000}, 3.0, 4},
      {{2, 300, 3, 30, 60}, 100.5, 3},    // keys come again in an output, and few are known
      {{3, 100, 2, 20, 500}, 0.0, 2},     // nothing is kept
      {{4, 3'000, 3, 3, 1'500}, 5.0, 3},  // tags come again
  };
  for (const auto& [examples, threshold, n_outputs] : cases) {
    std::mt19937 random(9);
    Passes one(examples, threshold), many(examples, threshold), threads(examples, threshold);
    std::vector<int> now(examples.outputs.size(), 0);
    for (const unsigned share : {70U, 30U, 0U, 100U, 5U, 60U, 60U, 100U}) {
      now = next_predictions(random, now, n_outputs, share);
      if (share == 5) now.assign(now.size(), 0);  // all are right
      const CountChanges found = one.count(now, 1, 1, kPlenty, "");
      one.take(found);
      CHECK(same(many.count(now, 3, 1, kPlenty, ""), found));
      many.take(found);
      CHECK(same(threads.count(now, 2, 3, kPlenty, ""), found));
      threads.take(found);
      CHECK(found.n_spilled == 0);
    }
    CHECK(one.trie.size() > 3);
  }
}

// Counts up to 127 fill all bits that they have, on both sides; one more passes.
void test_largest_counts() {
  Examples examples(5, 0, 0, 0, 1);
  for (int k = 0; k < 300; ++k) {
    std::vector<std::uint64_t> right, other;
    for (int n = 124; n < 131; ++n) {
      if (k < n) right.push_back(n);
      if (k < n) other.push_back(1'000 + n);
      if (k < n) right.push_back(2'000 + n), other.push_back(2'000 + n);
    }
    examples.outputs.push_back({right, other, {}});
  }
  CHECK(KeptCounts::kMostThreshold == 127);
  Passes passes(examples, 127);
  const auto count = [&](int n, int output) {
    std::vector<int> now(300, 0);
    std::fill(now.begin(), now.begin() + n, output);
    passes.take(passes.count(now, 1, 1, kPlenty, ""));
  };
  for (const auto& [n, output] : {std::pair(127, 1), {100, 1}, {127, 2}, {126, 1}, {0, 1}, {127, 1}}) count(n, output);
  CHECK(passes.trie.size() == 1);
  for (const auto& [n, output] : {std::pair(128, 1), {300, 1}, {3, 2}, {129, 1}}) count(n, output);
  CHECK(passes.trie.size() == 10);
}

void test_spilled() {
  const Folder folder;
  const Examples examples(6, 4'000, 3, 250, 60'000);
  std::int64_t memory = 0;
  try {
    OccurrenceCounter(1, 0, "");
  } catch (const CountingNeedsMemory& error) {
    memory = error.needed;
  }
  std::mt19937 random(10);
  Passes spilled(examples, 20), plenty(examples, 20);
  std::vector<int> now(examples.outputs.size(), 0);
  for (const unsigned share : {100U, 80U, 100U}) {
    now = next_predictions(random, now, 3, share);
    const CountChanges found = plenty.count(now, 1, 2, kPlenty, "");
    const CountChanges again = spilled.count(now, 1, 2, memory, folder.path);
    CHECK(same(again, found) && again.n_spilled > 1'000'000 && found.n_spilled == 0);
    plenty.take(found);
    spilled.take(again);
    CHECK(std::filesystem::is_empty(folder.path));
  }
}

// The pass that meets the limit still tells the whole truth, and then nothing is held.
void test_limit() {
  constexpr std::int64_t kOneEach = 8 * OccurrenceCounter::kPartitions;
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = 1; keys.size() < 4; ++key) {
    if (OccurrenceCounter::partition_of(key) == 7) keys.push_back(key);
  }
  Examples examples(7, 0, 0, 0, 1);
  for (const std::uint64_t key : keys) examples.outputs.push_back({{key, 99}, {key}});
  for (const std::int64_t most : {0, 2, 3, 4}) {
    Passes passes(examples, 1, most * kOneEach);
    std::vector<int> now(4, 0);
    for (std::size_t k = 0; k < 4 && !passes.kept.is_full(); ++k) {
      now[k] = 1;
      passes.take(passes.count(now, 1, 1, kPlenty, ""));
      CHECK(passes.kept.is_full() == (static_cast<std::int64_t>(k) + 1 > most));
    }
    if (passes.kept.is_full()) CHECK(passes.kept.size() == 0 && passes.kept.n_bytes() == 0);
  }
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"every pass is the definition", test_every_pass_is_the_definition},
      {"largest counts", test_largest_counts},
      {"spilled", test_spilled},
      {"limit", test_limit},
  };
  return run_all("kept_counts_tests", tests);
}
