// Mining in the core, and matches of partial trees: against what all fragments of small trees weigh, listed from the
// definition.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobs/team.hpp"
#include "spaces/mined.hpp"
#include "spaces/partial_tree_mining.hpp"
#include "spaces/subset_tree_mining.hpp"
#include "tests/checks.hpp"
#include "tests/listed_corpus.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

// A fragment's weight in the machine, and its feature in one tree.
using Weights = std::map<Code, std::pair<double, double>>;

double total(const std::pair<double, double>& weight, bool local) {
  return local ? weight.first * weight.second : weight.first;
}

// What was mined against what all fragments weigh; ties and what weighs nothing are left open.
void check_mined(const Mined& mined, const Weights& listed, bool local, std::int64_t n, const MiningCounts& counts) {
  std::vector<double> magnitude;
  for (const auto& [code, weight] : listed) {
    if (std::abs(total(weight, local)) > 1e-12) magnitude.push_back(std::abs(total(weight, local)));
  }
  std::sort(magnitude.rbegin(), magnitude.rend());
  magnitude.resize(std::min<std::size_t>(magnitude.size(), n));
  CHECK(mined.complete && counts.kept == std::ssize(mined.weight) && std::ssize(mined.weight) <= n);
  CHECK(mined.weight.size() >= magnitude.size() && mined.start.size() == mined.weight.size() + 1);
  CHECK(std::ssize(magnitude) < n ? mined.bound < 1e-12 : near(mined.bound, magnitude.back(), 1e-10));
  std::set<Code> seen;
  for (std::size_t k = 0; k < mined.weight.size(); ++k) {
    const Code code(mined.code.begin() + mined.start[k], mined.code.begin() + mined.start[k + 1]);
    const auto place = listed.find(code);
    CHECK(place != listed.end() && seen.insert(code).second);
    if (place != listed.end()) CHECK(near(mined.weight[k], total(place->second, local), 1e-11));
    CHECK(near(std::abs(mined.weight[k]), k < magnitude.size() ? magnitude[k] : 0.0, 1e-11));
  }
}

bool equal(const Mined& a, const Mined& b) {
  return a.weight == b.weight && a.start == b.start && a.code == b.code && a.bound == b.bound;
}

Weights subset_weights(const Corpus& corpus, int max_depth, int max_size, const std::vector<double>& count) {
  Weights out;
  for (std::int32_t u = 0; u < corpus.forest.n_subtrees; ++u) {
    for (const Listed& fragment : corpus.listed[u]) {
      if ((max_depth > 0 && fragment.depth > max_depth) || (max_size > 0 && fragment.size > max_size)) continue;
      auto& [weight, feature] = out[fragment.code];
      weight += std::sqrt(fragment.weight) * corpus.mass[u];
      feature += std::sqrt(fragment.weight) * count[u];
    }
  }
  return out;
}

// In one tree; and in one less another, with counts that cancel and such that nearly do.
std::vector<std::vector<double>> looked_at(const Corpus& corpus, std::int64_t first, std::int64_t second) {
  return {corpus.counts_in(first), corpus.counts_between(first, second, 1.0),
          corpus.counts_between(first, second, 0.9)};
}

void check_exact_mining(const Corpus& corpus, const std::vector<double>& count) {
  for (const auto& [max_depth, max_size] : {std::pair{0, 0}, {2, 0}, {0, 2}, {3, 4}}) {
    const Weights listed = subset_weights(corpus, max_depth, max_size, count);
    for (const bool local : {false, true}) {
      for (const std::int64_t n : {std::int64_t{1}, std::int64_t{9}, kMany}) {
        Mined mined;
        for (const int n_threads : {1, 2}) {
          Team team(n_threads, {});
          MiningCounts counts;
          const SubsetSearch search = corpus.search(max_depth, max_size, local ? count.data() : nullptr);
          Mined again = mine_exact(search, n, {kNoLimit, kNoLimit}, counts, team);
          check_mined(again, listed, local, n, counts);
          CHECK(n_threads == 1 || equal(mined, again));
          mined = std::move(again);
        }
      }
    }
  }
}

void test_exact_mining() {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Corpus corpus(small_trees(seed, 12), seed % 4 == 3 ? 0.0 : 2.0, seed);
    for (const std::vector<double>& count : looked_at(corpus, 3, 4 + seed)) check_exact_mining(corpus, count);
  }
}

// The search gives up after some visits, and says how much it may have missed; it never takes more memory than it may.
template <class Mine>
void check_limits(const Weights& listed, const Mine& mine) {
  for (const int n_threads : {1, 2}) {
    for (const std::int64_t n : {std::int64_t{9}, kMany}) {
      for (const std::int64_t max_visits : {1, 60}) {
        Team team(n_threads, {});
        MiningCounts counts;
        const Mined mined = mine(n, MiningLimits{max_visits, kNoLimit}, counts, team);
        CHECK(n < kMany || !mined.complete);  // bounds may prune the rest where few are looked for
        std::set<Code> seen;
        for (std::size_t k = 0; k < mined.weight.size(); ++k) {
          seen.insert({mined.code.begin() + mined.start[k], mined.code.begin() + mined.start[k + 1]});
        }
        for (const auto& [code, weight] : listed) {
          if (!seen.contains(code)) CHECK(std::abs(weight.first) <= mined.bound * (1 + 1e-9) + 1e-12);
        }
      }
    }
    Team team(n_threads, {});
    MiningCounts counts;
    bool is_raised = false;
    try {
      mine(kMany, MiningLimits{kNoLimit, 0}, counts, team);
    } catch (const std::bad_alloc&) {
      is_raised = true;
    }
    CHECK(is_raised);
  }
}

void test_greedy_mining() {
  const Corpus corpus(small_trees(5, 12), 1.5);
  const Weights listed = subset_weights(corpus, 0, 3, corpus.mass);
  std::size_t n_heavy = 0;
  for (const auto& [code, weight] : listed) n_heavy += std::abs(weight.first) > 1e-12;
  for (const std::int64_t max_expansions : {1, 5}) {
    for (const std::int64_t n : {std::int64_t{10}, kMany}) {
      Team team(1, {});
      MiningCounts counts;
      const Mined mined = mine_greedy(corpus.search(0, 3), n, max_expansions, counts, team);
      CHECK(!mined.complete && std::ssize(mined.weight) <= n);
      CHECK(n < kMany || mined.weight.size() >= n_heavy);  // with room for all, all are met
      std::set<Code> seen;
      for (std::size_t k = 0; k < mined.weight.size(); ++k) {
        const Code code(mined.code.begin() + mined.start[k], mined.code.begin() + mined.start[k + 1]);
        const auto place = listed.find(code);
        CHECK(place != listed.end() && seen.insert(code).second);
        if (place != listed.end()) CHECK(near(mined.weight[k], place->second.first, 1e-11));
        CHECK(k == 0 || std::abs(mined.weight[k]) <= std::abs(mined.weight[k - 1]));
      }
    }
  }
}

void test_mining_gives_up() {
  const Corpus corpus(small_trees(6, 12), 1.5);
  check_limits(subset_weights(corpus, 0, 0, corpus.mass),
               [&](std::int64_t n, const auto& limits, auto& counts, Team& team) {
                 return mine_exact(corpus.search(), n, limits, counts, team);
               });
}

// Partial trees.

Weights partial_weights(const Corpus& corpus, std::int32_t max_size, const std::vector<double>& count) {
  const auto ways = list_ways(corpus.forest, corpus.partial_weights(), max_size);
  Weights out;
  for (std::int32_t u = 0; u < corpus.forest.n_subtrees; ++u) {
    for (const Way& way : ways[u]) {
      auto& [weight, feature] = out[way.code];
      weight += way.weight * corpus.mass[u];
      feature += way.weight * count[u];
    }
  }
  return out;
}

void check_partial_mining(const Corpus& corpus, const std::vector<double>& count) {
  for (const std::int32_t max_size : {1, 2, 5}) {
    const Weights listed = partial_weights(corpus, max_size, count);
    for (const bool local : {false, true}) {
      for (const std::int64_t n : {std::int64_t{1}, std::int64_t{3}, std::int64_t{20}, kMany}) {
        Mined mined;
        for (const int n_threads : {1, 2}) {
          Team team(n_threads, {});
          MiningCounts counts;
          const PartialSearch search{corpus.forest, corpus.mass.data(), corpus.partial_weights(), max_size,
                                     local ? count.data() : nullptr};
          Mined again = mine_partial(search, n, {kNoLimit, kNoLimit}, counts, team);
          check_mined(again, listed, local, n, counts);
          CHECK(n_threads == 1 || equal(mined, again));
          mined = std::move(again);
        }
      }
    }
  }
}

// A bound that is little more than what it bounds, and equal children, below which one fragment stands in many ways.
const std::vector<std::string> kWays = {"(A (B b) (B b) (C c) (B b) (B (C b) (C b)))", "(A (B b) (C c) (B b))"};
// What two trees do not share stands above what they do.
const std::vector<std::string> kBelow = {"(A (B (C b) (C c)) (B b))", "(B (B (C b) (C c)) (C (B b) (B b)))"};

void test_partial_mining() {
  for (unsigned seed = 0; seed < 6; ++seed) {
    for (const std::vector<std::string>& trees : {small_trees(seed, 4), kWays, kBelow}) {
      const Corpus corpus(trees, trees.size() > 2 ? 1.2 : 2.0, seed);
      for (const std::vector<double>& count : looked_at(corpus, 0, 1)) check_partial_mining(corpus, count);
    }
  }
  const Corpus corpus(small_trees(7, 8), 1.2);
  const PartialSearch search{corpus.forest, corpus.mass.data(), corpus.partial_weights(), 5};
  check_limits(partial_weights(corpus, 5, corpus.mass),
               [&](std::int64_t n, const auto& limits, auto& counts, Team& team) {
                 return mine_partial(search, n, limits, counts, team);
               });
}

void check_partial_matches(const Corpus& known, const Corpus& corpus, const ForestView& forest) {
  // A third of the fragments of one corpus, one of them twice.
  std::vector<Code> fragments;
  for (const auto& [code, weight] : partial_weights(known, 4, known.mass)) {
    if (code.size() % 3 != 1) fragments.push_back(code);
  }
  if (!fragments.empty()) fragments.push_back(fragments.front());
  std::vector<std::int64_t> start{0};
  Code code;
  for (const Code& fragment : fragments) {
    code.insert(code.end(), fragment.begin(), fragment.end());
    start.push_back(std::ssize(code));
  }
  const PartialCodes codes{std::ssize(fragments), start.data(), code.data()};
  const std::vector<std::int32_t> label_of = translated(corpus.vocabulary, known.vocabulary);
  PartialMatches matches;
  for (const int n_threads : {1, 2}) {
    Team team(n_threads, {});
    PartialMatches again = match_partial(codes, forest, label_of.data(), corpus.partial_weights(), team);
    CHECK(n_threads == 1 ||
          (again.start == matches.start && again.fragment == matches.fragment && again.weight == matches.weight));
    matches = std::move(again);
  }
  CHECK(std::ssize(matches.start) == forest.n_subtrees + 1 && matches.start.back() == std::ssize(matches.fragment));
  const auto ways = list_ways(corpus.forest, corpus.partial_weights(), 4);
  const std::vector<char> used = used_subtrees(forest);
  for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {
    std::map<Code, double> here;  // by codes over the labels of the other corpus
    for (const Way& way : ways[u]) {
      Code other = way.code;
      for (std::size_t k = 1; k < other.size(); k += 2) other[k] = label_of[other[k]];
      if (used[u]) here[other] += way.weight;
    }
    std::map<std::int32_t, double> found;
    for (std::int64_t e = matches.start[u]; e < matches.start[u + 1]; ++e) {
      found[matches.fragment[e]] += matches.weight[e];
    }
    for (std::size_t f = 0; f < fragments.size(); ++f) {
      const auto place = here.find(fragments[f]);
      const auto own = found.find(static_cast<std::int32_t>(f));
      CHECK((place == here.end()) == (own == found.end()));
      if (place != here.end() && own != found.end()) CHECK(near(own->second, place->second, 1e-12));
    }
  }
}

void test_partial_matches() {
  const Corpus known(small_trees(8, 10), 1.2);
  std::vector<std::string> texts{"(C c)", "(X (B b) x)", "(A (B b) (X x) (B b) (B b))"};
  for (const std::string& text : small_trees(9, 30)) texts.push_back(text);
  const Corpus other(texts, 1.2);
  check_partial_matches(known, other, other.forest);
  ForestView some = other.forest;
  some.n_trees = 5;
  check_partial_matches(known, other, some);
  for (const auto& tiny : kTiny) {
    const Corpus few(tiny, 1.2);
    check_partial_matches(known, few, few.forest);
    check_partial_matches(few, known, known.forest);
  }
}

// What there is nothing to be found in.
void test_tiny_corpora() {
  for (const auto& texts : kTiny) {
    const Corpus corpus(texts, 1.0);
    const std::vector<double> count(corpus.forest.n_subtrees, 1.0);
    const Weights subset = subset_weights(corpus, 0, 0, count), partial = partial_weights(corpus, 3, count);
    for (const int n_threads : {1, 2}) {
      for (const bool local : {false, true}) {
        Team team(n_threads, {});
        const double* counted = local ? count.data() : nullptr;
        MiningCounts counts, others;
        check_mined(mine_exact(corpus.search(0, 0, counted), 50, {kNoLimit, kNoLimit}, counts, team), subset, local, 50,
                    counts);
        const PartialSearch search{corpus.forest, corpus.mass.data(), corpus.partial_weights(), 3, counted};
        check_mined(mine_partial(search, 50, {kNoLimit, kNoLimit}, others, team), partial, local, 50, others);
      }
    }
    Team team(1, {});
    MiningCounts counts;
    CHECK(mine_greedy(corpus.search(), 5, 5, counts, team).weight.size() == subset.size());
  }
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"exact mining", test_exact_mining},
      {"greedy mining", test_greedy_mining},
      {"mining that gives up", test_mining_gives_up},
      {"mining of partial trees", test_partial_mining},
      {"matches of partial trees", test_partial_matches},
      {"tiny corpora", test_tiny_corpora},
  };
  return run_all("mining_tests", tests);
}
