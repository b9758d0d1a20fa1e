// Mutated text goes through the bracket reader, the interner and the kernels' plans; every invariant that the
// Python side relies on must hold, and the only error allowed is BracketError. The forest is then damaged as the bytes
// of the text say, as a file may be: what the check of loaders lets pass must be safe for the plans.
//
//   core_fuzz [seconds] [seed]     or, built with -DESPALIER_LIBFUZZER -fsanitize=fuzzer, driven by libFuzzer
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "corpus/forest_check.hpp"
#include "corpus/intern.hpp"
#include "corpus/vocabulary.hpp"
#include "jobs/team.hpp"
#include "kernels/partial_tree.hpp"
#include "kernels/subset_tree.hpp"
#include "structures/brackets.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

using namespace espalier;

namespace {

#define REQUIRE(condition)                                                               \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

void check_arrays(const ForestArrays& forest, std::int32_t n_labels) {
  const auto n = static_cast<std::int64_t>(forest.label.size());
  REQUIRE(static_cast<std::int64_t>(forest.height.size()) == n);
  REQUIRE(static_cast<std::int64_t>(forest.child_start.size()) == n + 1);
  REQUIRE(forest.child_start.back() == static_cast<std::int64_t>(forest.child.size()));
  for (std::int64_t u = 0; u < n; ++u) {
    REQUIRE(forest.label[u] >= 0 && forest.label[u] < n_labels);
    REQUIRE(u == 0 || forest.height[u] >= forest.height[u - 1]);
    std::int32_t height = 0;
    for (std::int64_t k = forest.child_start[u]; k < forest.child_start[u + 1]; ++k) {
      REQUIRE(forest.child[k] >= 0 && forest.child[k] < u);
      height = std::max(height, forest.height[forest.child[k]] + 1);
    }
    REQUIRE(forest.height[u] == height);
  }
  const std::size_t n_trees = forest.root.size();
  REQUIRE(forest.tree_start.size() == n_trees + 1);
  REQUIRE(forest.tree_start.back() == static_cast<std::int64_t>(forest.tree_subtree.size()));
  for (std::size_t t = 0; t < n_trees; ++t) {
    std::int64_t n_nodes = 0, n_children = 0;
    for (std::int64_t e = forest.tree_start[t]; e < forest.tree_start[t + 1]; ++e) {
      const std::int32_t u = forest.tree_subtree[e];
      REQUIRE(e == forest.tree_start[t] || u > forest.tree_subtree[e - 1]);
      REQUIRE(forest.tree_count[e] > 0);
      n_nodes += forest.tree_count[e];
      n_children += forest.tree_count[e] * (forest.child_start[u + 1] - forest.child_start[u]);
    }
    // Every node but the root is somebody's child, and the root is the tallest.
    REQUIRE(n_nodes == n_children + 1);
    REQUIRE(forest.tree_subtree[forest.tree_start[t + 1] - 1] == forest.root[t]);
  }
}

void check_kernels(const ForestArrays& forest) {
  if (forest.root.empty() || forest.root.size() > 8 || forest.label.size() > 200) return;
  const ForestView view{static_cast<std::int64_t>(forest.label.size()),
                        static_cast<std::int64_t>(forest.root.size()),
                        forest.label.data(),
                        forest.height.data(),
                        forest.child.data(),
                        forest.tree_subtree.data(),
                        forest.tree_count.data(),
                        forest.child_start.data(),
                        forest.tree_start.data()};
  SubsetTreePlan plan(view, nullptr, PatternOptions{});
  SubsetTreePlan cross(view, &view, PatternOptions{});
  const std::size_t n = forest.root.size();
  const std::vector<double> decay(plan.n_slots(), 0.5), frontier(plan.n_slots(), 0.25), ones(n * n, 1.0);
  std::vector<double> values(n * n), cross_values(n * n), decay_bar(plan.n_slots()), frontier_bar(plan.n_slots());
  Team team(1, {});
  plan.matrix(decay.data(), frontier.data(), 0, team, values.data());
  cross.matrix(decay.data(), frontier.data(), 0, team, cross_values.data());
  plan.pull_back(decay.data(), frontier.data(), 0, ones.data(), team, decay_bar.data(), frontier_bar.data());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double value = values[i * n + j], other = cross_values[i * n + j];
      REQUIRE(value == values[j * n + i] && value >= 0.0);
      REQUIRE(value == other || std::abs(value - other) <= 1e-12 * value);
    }
  }
  PartialTreePlan partial(view, nullptr, false);
  partial.matrix(decay.data(), frontier.data(), team, values.data());
  partial.pull_back(decay.data(), frontier.data(), ones.data(), team, decay_bar.data(), frontier_bar.data());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) REQUIRE(values[i * n + j] == values[j * n + i] && values[i * n + j] >= 0.0);
  }
}

// Changes arrays of a forest: three bytes choose an array, an entry and a change.
void check_damaged(ForestArrays forest, std::string_view changes, std::int32_t n_labels) {
  const auto change = [](auto& values, std::size_t at, std::int8_t by) {
    using Number = typename std::remove_reference_t<decltype(values)>::value_type;
    if (by == -128) {
      values.insert(values.begin() + static_cast<std::ptrdiff_t>(at % (values.size() + 1)), Number{0});
    } else if (values.empty()) {
      return;
    } else if (by == 127) {
      values.pop_back();
    } else if (by == 126) {
      values[at % values.size()] = std::numeric_limits<Number>::max();
    } else {
      Number& value = values[at % values.size()];
      value = static_cast<Number>(static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(by));
    }
  };
  for (std::size_t k = 0; k + 2 < std::min<std::size_t>(changes.size(), 12); k += 3) {
    const auto at = static_cast<std::uint8_t>(changes[k + 1]);
    const auto by = static_cast<std::int8_t>(changes[k + 2]);
    switch (static_cast<std::uint8_t>(changes[k]) % 8) {
      case 0:
        change(forest.label, at, by);
        break;
      case 1:
        change(forest.height, at, by);
        break;
      case 2:
        change(forest.child, at, by);
        break;
      case 3:
        change(forest.root, at, by);
        break;
      case 4:
        change(forest.tree_subtree, at, by);
        break;
      case 5:
        change(forest.tree_count, at, by);
        break;
      case 6:
        change(forest.child_start, at, by);
        break;
      default:
        change(forest.tree_start, at, by);
    }
    ForestParts parts;
    parts.label = forest.label;
    parts.height = forest.height;
    parts.child = forest.child;
    parts.root = forest.root;
    parts.tree_subtree = forest.tree_subtree;
    parts.tree_count = forest.tree_count;
    parts.child_start = forest.child_start;
    parts.tree_start = forest.tree_start;
    if (forest_fault(parts, n_labels) == nullptr) check_kernels(forest);
  }
}

void run_one(std::string_view text) {
  Vocabulary vocabulary;
  Interner interner(vocabulary);
  bool is_read = false;
  std::int64_t n_trees = 0;
  try {
    n_trees = interner.add_text(text);
    is_read = true;
  } catch (const BracketError& error) {
    REQUIRE(error.position <= text.size());
  }
  bool is_listed = false;
  PostOrder nodes;
  try {
    nodes = post_order(text, vocabulary);
    is_listed = true;
  } catch (const BracketError&) {
  }
  REQUIRE(is_read == is_listed);
  // Text that failed leaves an interner that goes on.
  REQUIRE(interner.add_text("(S (NP it) (VP is))") == 1);
  const ForestArrays forest = interner.finish();
  check_arrays(forest, vocabulary.size());
  if (is_read) {
    REQUIRE(static_cast<std::int64_t>(forest.root.size()) == n_trees + 1);
    REQUIRE(static_cast<std::int64_t>(nodes.tree_end.size()) == n_trees);
    std::int64_t counted = 0;
    for (std::int64_t e = 0; e < forest.tree_start[n_trees]; ++e) counted += forest.tree_count[e];
    REQUIRE(counted == static_cast<std::int64_t>(nodes.label.size()));
    check_kernels(forest);
  }
  // From the end: what stands there changes least of the trees.
  check_damaged(forest, text.substr(text.size() - std::min<std::size_t>(text.size(), 12)), vocabulary.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  run_one({reinterpret_cast<const char*>(data), size});
  return 0;
}

#if !defined(ESPALIER_LIBFUZZER)

namespace {

std::string current;

// Prints the input that failed, so that it can become a test.
void print_current() {
  std::fprintf(stderr, "The input, %zu bytes:\n", current.size());
  for (const char c : current) std::fprintf(stderr, "\\x%02x", static_cast<unsigned char>(c));
  std::fprintf(stderr, "\n");
}

const std::vector<std::string> seeds = {
    "(S (NP (D the) (N cat)) (VP (V sat)))",
    "( (S (NP-SBJ (-NONE- *)) (VP (VB go))))",
    "(A) (B b)\n(C (D) d)",
    "(X \\( \\) a\\ b \\\\ c\\d)",
    "(NP (NN \xc3\xa9t\xc3\xa9) (SYM \xe2\x80\xa8))",
    "((((((a))))))",
    "(A a a a a (A a a) (A a a))",
    "",
};
const std::vector<std::string> pieces = {
    "(",        ")",    "((", "))", " ",     "\\",  "\\(", "\\)", "\t",   "\n",
    "\r",       "a",    "(A", "b)", "(A b)", ") (", "()",  "( )", "\xff", std::string(1, '\0'),
    "\xc2\xa0", "-LRB-"};

std::string mutated(std::string text, const std::vector<std::string>& pool, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1)); };
  for (std::size_t change = 1 + below(6); change > 0; --change) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(text.size() - at, 24) + 1);
    switch (below(7)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, pieces[below(pieces.size())]);
        break;
      case 2:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 3: {
        const std::string& other = pool[below(pool.size())];
        const std::size_t from = below(other.size() + 1);
        text.insert(at, other.substr(from, below(64)));
        break;
      }
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 5:
        text.resize(at);
        break;
      default: {
        // Closed again at the end: most other mutations break the balance.
        std::int64_t depth = 0;
        for (const char c : text) depth += (c == '(') - (c == ')');
        if (depth > 0) text.append(static_cast<std::size_t>(depth), ')');
        if (depth < 0) text.insert(0, static_cast<std::size_t>(-depth), '(');
      }
    }
  }
  if (text.size() > 4096) text.resize(4096);
  return text;
}

}  // namespace

int main(int n_arguments, char** arguments) {
  const double seconds = n_arguments > 1 ? std::atof(arguments[1]) : 10.0;
  const std::uint64_t seed = n_arguments > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(print_current);
#endif
  std::mt19937_64 random(seed);
  std::vector<std::string> pool = seeds;
  std::int64_t n_inputs = 0;
  for (const std::string& text : seeds) run_one(text);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    current = mutated(pool[random() % pool.size()], pool, random);
    // A copy that ends where the text ends: a std::string would hide a read one byte too far.
    const std::vector<char> exact(current.begin(), current.end());
    try {
      run_one({exact.data(), exact.size()});
    } catch (const std::exception& error) {
      std::fprintf(stderr, "Only BracketError is allowed, got: %s\n", error.what());
      print_current();
      return 1;
    }
    ++n_inputs;
    // What was just tried becomes a seed now and then, so that mutations pile up.
    if (random() % 64 == 0) {
      if (pool.size() < 512) {
        pool.push_back(current);
      } else {
        pool[seeds.size() + random() % (pool.size() - seeds.size())] = current;
      }
    }
  }
  std::printf("core_fuzz: %lld inputs in %.0f s from seed %llu, no failure\n", static_cast<long long>(n_inputs),
              seconds, static_cast<unsigned long long>(seed));
  return 0;
}

#endif
