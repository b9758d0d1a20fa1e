// Fragments in the core: values of trees with themselves, matching, hashing and shares of nodes, each against all
// fragments of small trees, listed from the definition.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "corpus/vocabulary.hpp"
#include "jobs/team.hpp"
#include "kernels/subset_tree_self.hpp"
#include "spaces/attribution.hpp"
#include "spaces/fragment_hashing.hpp"
#include "spaces/fragment_trie.hpp"
#include "tests/checks.hpp"
#include "tests/listed_corpus.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

// Values of trees with themselves.

std::vector<double> self_values(const Corpus& corpus, const SelfKernel& kernel, int n_threads) {
  Team team(n_threads, {});
  std::vector<double> out(corpus.forest.n_trees, std::nan(""));
  CHECK(subset_self(corpus.forest, kernel, kNoLimit, team, out.data()));
  return out;
}

void test_self_values() {
  for (const double most_frontier : {2.0, 0.0}) {
    // More trees than one task takes.
    const Corpus corpus(small_trees(1, 700), most_frontier);
    for (const bool identity : {false, true}) {
      if (identity && most_frontier > 0) continue;  // complete subtrees leave nothing unexpanded
      for (const double leaf : {0.0, 0.3}) {
        const SelfKernel kernel{corpus.decay.data(), corpus.frontier.data(), leaf, identity};
        const std::vector<double> values = self_values(corpus, kernel, 1);
        CHECK(values == self_values(corpus, kernel, 2));
        std::vector<std::map<std::string, std::pair<double, double>>> found(corpus.forest.n_trees);  // weight and count
        corpus.for_entries([&](std::int64_t tree, std::int32_t u, double count) {
          for (const Listed& fragment : corpus.listed[u]) {
            auto& [weight, total] = found[tree][fragment.text];
            weight = fragment.weight;
            total += count;
          }
          if (corpus.forest.is_leaf(u)) found[tree][corpus.vocabulary.label(corpus.forest.label[u])] = {leaf, count};
        });
        for (std::int64_t tree = 0; tree < corpus.forest.n_trees; ++tree) {
          double sum = 0.0;
          for (const auto& [text, own] : found[tree]) sum += own.first * own.second * own.second;
          CHECK(near(values[tree], sum, 1e-12));
        }
      }
    }
  }
}

void test_self_values_give_up() {
  // Two different subtrees share a production in the second tree only.
  const Corpus corpus({"(A (B b))", "(C (A (B b)) (A (B c)))"}, 2.0);
  const SelfKernel kernel{corpus.decay.data(), corpus.frontier.data(), 0.0, false};
  std::vector<double> out(2);
  for (const int n_threads : {1, 2}) {
    Team team(n_threads, {});
    CHECK(!subset_self(corpus.forest, kernel, 0, team, out.data()));
    CHECK(subset_self(corpus.forest, kernel, 1000, team, out.data()));
    ForestView first = corpus.forest;
    first.n_trees = 1;
    CHECK(subset_self(first, kernel, 0, team, out.data()));
  }
}

// Matching.

// Fragments of one corpus and words alone, as a dictionary.
struct Dictionary {
  std::vector<std::int64_t> production_start, start{0};
  std::vector<std::int32_t> production_part, code;
  std::vector<std::string> text;

  explicit Dictionary(const Corpus& corpus)
      : production_start(corpus.productions.start), production_part(corpus.productions.part) {}
  void add(const Code& more, const std::string& name) {
    code.insert(code.end(), more.begin(), more.end());
    start.push_back(std::ssize(code));
    text.push_back(name);
  }
  void add_word(const Corpus& corpus, std::int32_t u) {
    production_part.push_back(-1 - corpus.forest.label[u]);
    production_start.push_back(std::ssize(production_part));
    add({static_cast<std::int32_t>(production_start.size()) - 2}, corpus.vocabulary.label(corpus.forest.label[u]));
  }
  FragmentCodes codes() const {
    return {std::ssize(production_start) - 1, std::ssize(text), production_start.data(), start.data(),
            production_part.data(),           code.data()};
  }
};

// A third of the fragments, one of them twice, in no order; and every second word.
Dictionary some_fragments(const Corpus& corpus) {
  std::map<std::string, Code> distinct;
  for (const auto& rooted : corpus.listed) {
    for (const Listed& fragment : rooted) distinct[fragment.text] = fragment.code;
  }
  std::vector<std::pair<std::string, Code>> fragments(distinct.begin(), distinct.end());
  std::mt19937 random(6);
  std::shuffle(fragments.begin(), fragments.end(), random);
  fragments.resize((fragments.size() + 2) / 3);
  Dictionary out(corpus);
  for (const auto& [text, code] : fragments) out.add(code, text);
  if (!fragments.empty()) out.add(fragments.front().second, fragments.front().first);
  for (std::int32_t u = 0; u < corpus.forest.n_subtrees; ++u) {
    if (corpus.forest.is_leaf(u) && u % 2 == 0) out.add_word(corpus, u);
  }
  return out;
}

void check_trie(const Corpus& known, const Corpus& corpus, const ForestView& forest) {
  const Dictionary dictionary = some_fragments(known);
  const std::vector<std::int32_t> label_of = translated(corpus.vocabulary, known.vocabulary);
  const FragmentTrie trie(dictionary.codes());
  const std::vector<char> used = used_subtrees(forest);
  constexpr std::int64_t n = 3;
  const std::vector<double> weight = random_numbers(5, dictionary.text.size() * n, -1.0, 1.0);
  std::vector<double> expected(corpus.forest.n_trees * n, 0.0), scores;
  Matches matches;
  for (const int n_threads : {1, 2}) {
    Team team(n_threads, {});
    Matches again = trie.match(forest, label_of.data(), team);
    std::vector<double> own(forest.n_trees * n, std::nan(""));
    trie.score(forest, label_of.data(), weight.data(), n, team, own.data());
    CHECK(n_threads == 1 || (again.start == matches.start && again.fragment == matches.fragment && own == scores));
    matches = std::move(again);
    scores = std::move(own);
  }
  CHECK(std::ssize(matches.start) == forest.n_subtrees + 1 && matches.start.back() == std::ssize(matches.fragment));
  std::map<std::string, std::vector<std::int32_t>> numbers;
  for (std::size_t f = 0; f < dictionary.text.size(); ++f) {
    numbers[dictionary.text[f]].push_back(static_cast<std::int32_t>(f));
  }
  std::vector<std::vector<std::int32_t>> found(forest.n_subtrees);
  for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {
    const auto stands = [&](const std::string& text) {
      const auto place = numbers.find(text);
      if (place != numbers.end()) found[u].insert(found[u].end(), place->second.begin(), place->second.end());
    };
    for (const Listed& fragment : corpus.listed[u]) stands(fragment.text);
    if (forest.is_leaf(u)) stands(corpus.vocabulary.label(forest.label[u]));
    if (!used[u]) found[u].clear();
    std::sort(found[u].begin(), found[u].end());
    const auto begin = matches.fragment.begin();
    CHECK(found[u] == std::vector<std::int32_t>(begin + matches.start[u], begin + matches.start[u + 1]));
  }
  corpus.for_entries([&](std::int64_t tree, std::int32_t u, double count) {
    if (tree >= forest.n_trees) return;
    for (std::int32_t f : found[u]) {
      for (std::int64_t k = 0; k < n; ++k) expected[tree * n + k] += count * weight[f * n + k];
    }
  });
  for (std::size_t k = 0; k < scores.size(); ++k) CHECK(near(scores[k], expected[k], 1e-12));
}

void test_trie() {
  const Corpus known(small_trees(2, 40), 1.0);
  // Other trees, with labels in another order and some that no fragment has; more subtrees than one task takes.
  std::vector<std::string> texts{"(C c)", "(X (B b) x)", "(B b)"};
  for (const std::string& text : small_trees(3, 1500)) texts.push_back(text);
  const Corpus other(texts, 1.0);
  CHECK(other.forest.n_subtrees > 1024);
  check_trie(known, other, other.forest);
  ForestView some = other.forest;  // a selection: most subtrees stand in no tree
  some.n_trees = 20;
  check_trie(known, other, some);
  for (const auto& tiny : kTiny) {
    const Corpus few(tiny, 1.0);
    check_trie(known, few, few.forest);
    check_trie(few, known, known.forest);
  }
}

void test_code_parents() {
  // (A (B [C] [B]) (C c) [A]): productions A -> B C A, B -> C B and C -> c, over labels 0, 1, 2 and the word 3.
  const std::vector<std::int64_t> production_start{0, 4, 7, 9}, start{0, 6, 7};
  const std::vector<std::int32_t> production_part{0, 2, 4, 0, 1, 4, 2, 2, 7}, code{0, 1, -1, -1, 2, -1, 2};
  const FragmentCodes fragments{3, 2, production_start.data(), start.data(), production_part.data(), code.data()};
  CHECK(code_parents(fragments) == (std::vector<std::int64_t>{-1, 0, 1, 1, 0, 0, -1}));
}

// Hashing.

HashedFragments hashed(const Corpus& corpus, int max_depth, int max_size) {
  // By spelling, so that every corpus has the same.
  std::vector<std::uint64_t> label_hash(corpus.vocabulary.size());
  const Hasher hash(7);
  for (std::int32_t k = 0; k < corpus.vocabulary.size(); ++k) label_hash[k] = hash(corpus.vocabulary.label(k));
  Team team(1, {});
  return hash_fragments(corpus.forest, label_hash.data(),
                        {corpus.decay.data(), corpus.frontier.data(), max_depth, max_size}, team);
}

void test_hashing() {
  for (const double most_frontier : {2.0, 0.0}) {
    const Corpus corpus(small_trees(10, 60), most_frontier);
    for (const auto& [max_depth, max_size] : {std::pair{0, 1}, {0, 3}, {2, 5}, {0, 1000}}) {
      const HashedFragments found = hashed(corpus, max_depth, max_size);
      CHECK(std::ssize(found.start) == corpus.forest.n_subtrees + 1 && found.hash.size() == found.value.size());
      // Hashes tell fragments apart just as texts do: they stand at the same subtrees, with the same values.
      std::map<std::string, std::pair<std::vector<std::int32_t>, double>> by_text;
      std::map<std::uint64_t, std::pair<std::vector<std::int32_t>, double>> by_hash;
      for (std::int32_t u = 0; u < corpus.forest.n_subtrees; ++u) {
        for (const Listed& fragment : corpus.listed[u]) {
          if (fragment.size > max_size || (max_depth > 0 && fragment.depth > max_depth) || fragment.weight == 0)
            continue;
          by_text[fragment.text].first.push_back(u);
          by_text[fragment.text].second = std::sqrt(fragment.weight);
        }
        for (std::int64_t e = found.start[u]; e < found.start[u + 1]; ++e) {
          auto& [where, value] = by_hash[found.hash[e]];
          CHECK(where.empty() || near(found.value[e], value, 1e-12));
          where.push_back(u);
          value = found.value[e];
        }
      }
      std::vector<std::pair<std::vector<std::int32_t>, double>> texts, hashes;
      for (const auto& [text, own] : by_text) texts.push_back(own);
      for (const auto& [hash, own] : by_hash) hashes.push_back(own);
      std::sort(texts.begin(), texts.end());
      std::sort(hashes.begin(), hashes.end());
      CHECK(texts.size() == hashes.size());
      for (std::size_t k = 0; k < std::min(texts.size(), hashes.size()); ++k) {
        CHECK(texts[k].first == hashes[k].first && near(texts[k].second, hashes[k].second, 1e-12));
      }
    }
  }
}

void test_hashes_depend_on_spelling_alone() {
  std::vector<std::string> texts = small_trees(11, 20), turned = texts;
  std::reverse(turned.begin(), turned.end());
  const Corpus corpus(texts, 1.0), other(turned, 1.0);
  CHECK(corpus.vocabulary.label(0) != other.vocabulary.label(0));
  const HashedFragments a = hashed(corpus, 0, 4), b = hashed(other, 0, 4);
  CHECK(std::set(a.hash.begin(), a.hash.end()) == std::set(b.hash.begin(), b.hash.end()));
}

// Shares of nodes.

// Points and weights of Gauss and Legendre over (0, 1), by Newton's method.
std::pair<std::vector<double>, std::vector<double>> quadrature(int n) {
  std::vector<double> point(n), weight(n);
  for (int k = 0; k < n; ++k) {
    double x = std::cos(std::numbers::pi * (k + 0.75) / (n + 0.5)), slope = 1.0;
    for (int step = 0; step < 50; ++step) {
      double before = 1.0, value = x;  // the polynomials of degrees 0 and 1
      for (int d = 2; d <= n; ++d) {
        const double next = ((2 * d - 1) * x * value - (d - 1) * before) / d;
        before = value;
        value = next;
      }
      slope = n * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    point[k] = (x + 1) / 2;
    weight[k] = 1 / ((1 - x * x) * slope * slope);
  }
  return {point, weight};
}

// The subtrees at all nodes, each before its children.
void places_below(const ForestView& forest, std::int32_t u, std::vector<std::int32_t>& out) {
  out.push_back(u);
  for (std::int64_t c = forest.child_start[u]; c < forest.child_start[u + 1]; ++c) {
    places_below(forest, forest.child[c], out);
  }
}

void test_attribution() {
  Team team(1, nullptr);
  Pace pace(team, 0);
  for (const double most_frontier : {2.0, 0.0}) {
    const Corpus corpus(small_trees(12, 15), most_frontier);
    std::map<std::string, double> machine;
    for (std::int32_t u = 0; u < corpus.forest.n_subtrees; ++u) {
      for (const Listed& fragment : corpus.listed[u]) machine[fragment.text] += fragment.weight * corpus.mass[u];
    }
    for (std::int32_t root = 0; root < corpus.forest.n_subtrees; ++root) {
      std::vector<std::int32_t> places;
      places_below(corpus.forest, root, places);
      const auto n_inner =
          std::count_if(places.begin(), places.end(), [&](auto u) { return !corpus.forest.is_leaf(u); });
      const auto [point, weight] = quadrature(static_cast<int>(n_inner) / 2 + 1);
      const std::vector<double> shares = attribute_subset(corpus.search(), root, point, weight, pace);
      std::vector<double> expected(places.size(), 0.0);
      for (std::size_t a = 0; a < places.size(); ++a) {
        for (const Listed& fragment : corpus.listed[places[a]]) {
          for (std::int32_t node : fragment.expanded) expected[a + node] += machine[fragment.text] / fragment.size;
        }
      }
      CHECK(shares.size() == expected.size());
      for (std::size_t a = 0; a < places.size(); ++a) CHECK(near(shares[a], expected[a], 1e-10));
    }
  }
}

// What there is nothing to be found in.
void test_tiny_corpora() {
  for (const auto& texts : kTiny) {
    const Corpus corpus(texts, 1.0);
    const bool has_production = !texts.empty() && texts.front() == "(A a)";
    for (const int n_threads : {1, 2}) {
      for (const bool identity : {false, true}) {
        const SelfKernel kernel{corpus.decay.data(), corpus.frontier.data(), 0.5, identity};
        for (double value : self_values(corpus, kernel, n_threads)) {
          CHECK(near(value, has_production ? 0.5 + corpus.decay[0] : 0.5, 1e-15));
        }
      }
    }
    CHECK(std::ssize(hashed(corpus, 0, 3).hash) == has_production);
    Team team(1, nullptr);
    Pace pace(team, 0);
    for (std::int32_t root = 0; root < corpus.forest.n_subtrees; ++root) {
      const double decay = corpus.forest.is_leaf(root) ? 0.0 : corpus.decay[corpus.forest.label[root]];
      CHECK(
          near(attribute_subset(corpus.search(), root, {0.5}, {1.0}, pace).front(), decay * corpus.mass[root], 1e-15));
    }
  }
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"trees with themselves", test_self_values},
      {"trees with themselves, in little memory", test_self_values_give_up},
      {"trie", test_trie},
      {"parents of decisions", test_code_parents},
      {"hashing", test_hashing},
      {"hashes of spellings", test_hashes_depend_on_spelling_alone},
      {"attribution", test_attribution},
      {"tiny corpora", test_tiny_corpora},
  };
  return run_all("fragment_tests", tests);
}
