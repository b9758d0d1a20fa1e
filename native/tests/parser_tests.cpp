// The parser, small enough for every sanitizer. The Python tests list all parses.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "corpus/vocabulary.hpp"
#include "jobs/team.hpp"
#include "parsing/parser.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

constexpr std::int32_t kBase = 5, kSymbols = 7;  // the root, two constituents, two tags, two prefixes

// Random rules over few symbols, laid out as the parser reads them.
struct RandomGrammar {
  std::vector<std::int64_t> left_start, parent_start, up_start, down_start;
  std::vector<std::int32_t> left, right, parent, parent_rule, up_parent, down_child;
  std::vector<double> weight, up_weight, down_weight;

  explicit RandomGrammar(unsigned seed) {
    std::mt19937 random(seed);
    const auto log_weight = [&] { return -0.1 - static_cast<double>(random() % 100) / 50.0; };
    left_start.push_back(0);
    std::vector<std::vector<std::int32_t>> of_parent(kSymbols);
    for (std::int32_t l = 1; l < kSymbols; ++l) {
      for (std::int32_t r = 1; r < kBase; ++r) {
        if (l == 0 || random() % 2) continue;
        // Prefixes come from base symbols or the other prefix.
        const auto p = static_cast<std::int32_t>(random() % kSymbols);
        of_parent[p].push_back(static_cast<std::int32_t>(left.size()));
        left.push_back(l);
        right.push_back(r);
        parent.push_back(p);
        weight.push_back(log_weight());
      }
      if (l == 1) left_start.push_back(0);  // the root is no left child
      left_start.push_back(static_cast<std::int64_t>(left.size()));
    }
    parent_start.push_back(0);
    for (const auto& rules : of_parent) {
      parent_rule.insert(parent_rule.end(), rules.begin(), rules.end());
      parent_start.push_back(static_cast<std::int64_t>(parent_rule.size()));
    }
    std::vector<std::vector<double>> unary(kBase, std::vector<double>(kBase, 0.0));
    for (auto& row : unary) {
      for (double& value : row) value = random() % 3 ? 0.0 : log_weight();
    }
    up_start.push_back(0);
    down_start.push_back(0);
    for (std::int32_t x = 0; x < kBase; ++x) {
      for (std::int32_t y = 0; y < kBase; ++y) {
        if (unary[y][x] != 0.0) {
          up_parent.push_back(y);
          up_weight.push_back(unary[y][x]);
        }
        if (unary[x][y] != 0.0) {
          down_child.push_back(y);
          down_weight.push_back(unary[x][y]);
        }
      }
      up_start.push_back(static_cast<std::int64_t>(up_parent.size()));
      down_start.push_back(static_cast<std::int64_t>(down_child.size()));
    }
  }

  GrammarView view(std::int32_t max_unary) const {
    return {kSymbols,
            kBase,
            0,
            max_unary,
            left_start.data(),
            right.data(),
            parent.data(),
            weight.data(),
            parent_start.data(),
            parent_rule.data(),
            left.data(),
            up_start.data(),
            up_parent.data(),
            up_weight.data(),
            down_start.data(),
            down_child.data(),
            down_weight.data()};
  }
};

// Sentences of 0 to n - 1 words; each word has one tag or both, and now and then none.
struct RandomSentences {
  std::vector<std::int64_t> sentence_start{0}, word_start{0};
  std::vector<std::int32_t> tag;
  std::vector<double> weight;

  RandomSentences(unsigned seed, int n) {
    std::mt19937 random(seed);
    for (int size = 0; size < n; ++size) {
      for (int k = 0; k < size; ++k) {
        const unsigned which = random() % 8;
        for (std::int32_t t = 3; t < 5; ++t) {
          if (which == 7 || (which < 4 && (which & 1) == static_cast<unsigned>(t - 3))) continue;
          tag.push_back(t);
          weight.push_back(-static_cast<double>(random() % 100) / 100.0);
        }
        word_start.push_back(static_cast<std::int64_t>(tag.size()));
      }
      sentence_start.push_back(static_cast<std::int64_t>(word_start.size()) - 1);
    }
  }
  Sentences view() const {
    return {static_cast<std::int64_t>(sentence_start.size()) - 1, sentence_start.data(), word_start.data(), tag.data(),
            weight.data()};
  }
};

// The words of a parse in order; its nodes must close to one tree.
bool is_tree_over(const Parse& parse, std::int64_t n_words) {
  std::int64_t open = 0, next = 0;
  for (std::size_t k = 0; k < parse.symbol.size(); ++k) {
    if (parse.symbol[k] < 0 && -1 - parse.symbol[k] != next++) return false;
    open += 1 - parse.n_children[k];
    if (open < 1) return false;
  }
  return open == 1 && next == n_words;
}

void test_parses() {
  for (unsigned seed = 0; seed < 25; ++seed) {
    const RandomGrammar grammar(seed);
    const RandomSentences sentences(seed + 100, 9);
    for (std::int32_t max_unary : {0, 2}) {
      for (double beam : {std::numeric_limits<double>::infinity(), 2.0}) {
        std::vector<std::vector<SentenceParses>> found;
        for (int n_threads : {1, 3}) {
          Team team(n_threads, nullptr);
          Search search;
          search.beam = beam;
          search.most = 40;
          found.push_back(parse_sentences(grammar.view(max_unary), sentences.view(), search, team));
        }
        for (std::size_t s = 0; s < found[0].size(); ++s) {
          const SentenceParses &one = found[0][s], &three = found[1][s];
          CHECK(one.parses.size() == three.parses.size() && one.complete == three.complete);
          CHECK((s == 0) == one.parses.empty());
          for (std::size_t k = 0; k < one.parses.size(); ++k) {
            CHECK(is_tree_over(one.parses[k], static_cast<std::int64_t>(s)));
            CHECK(one.parses[k].symbol == three.parses[k].symbol);
            CHECK(k == 0 || one.parses[k - 1].weight >= one.parses[k].weight - 1e-12);
          }
        }
      }
    }
  }
}

std::vector<SentenceParses> parsed(const RandomGrammar& grammar, const RandomSentences& sentences,
                                   const Search& search) {
  Team team(2, nullptr);
  return parse_sentences(grammar.view(2), sentences.view(), search, team);
}

// A grammar that is its own coarse grammar keeps all parses that are within the margin of the best.
void test_coarse_pruning() {
  std::vector<std::int32_t> same(kSymbols);
  for (std::int32_t s = 0; s < kSymbols; ++s) same[s] = s;
  for (unsigned seed = 0; seed < 25; ++seed) {
    const RandomGrammar grammar(seed);
    const RandomSentences sentences(seed + 100, 9);
    const CoarseGrammar coarse{grammar.view(2), same.data()};
    Search search;
    search.most = 60;
    const auto exact = parsed(grammar, sentences, search);
    search.margin = 1.0;
    search.coarse = &coarse;
    const auto pruned = parsed(grammar, sentences, search);
    for (std::size_t s = 0; s < exact.size(); ++s) {
      CHECK(exact[s].complete == pruned[s].complete && exact[s].exact);
      if (!exact[s].complete) continue;
      const double least = exact[s].parses[0].weight - search.margin;
      for (std::size_t k = 0; k < exact[s].parses.size() && exact[s].parses[k].weight > least; ++k) {
        CHECK(k < pruned[s].parses.size());
        CHECK(near(exact[s].parses[k].weight, pruned[s].parses[k].weight, 1e-12));
      }
    }
  }
}

// However little memory there is, every sentence has a tree over its words, and no more memory is taken.
void test_memory() {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const RandomGrammar grammar(seed);
    const RandomSentences sentences(seed + 100, 30);
    for (std::int64_t memory : {1, 2000, 20000, 60000, 400000}) {
      Search search;
      search.most = 40;
      search.memory = memory;
      const auto found = parsed(grammar, sentences, search);
      for (std::size_t s = 1; s < found.size(); ++s) {
        CHECK(!found[s].parses.empty() && found[s].bytes <= memory + 2000);
        CHECK(memory > 1 || (!found[s].complete && !found[s].exact && found[s].narrowed));
        for (const Parse& parse : found[s].parses) CHECK(is_tree_over(parse, static_cast<std::int64_t>(s)));
      }
    }
  }
}

}  // namespace

int main() {
  return run_all("parser_tests",
                 {{"parses", test_parses}, {"coarse pruning", test_coarse_pruning}, {"memory", test_memory}});
}
