// The core without Python, small enough to run under every sanitizer. Values are compared with a slow recursion
// over pairs of nodes and with central differences; the Python tests hold the definition itself.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "corpus/intern.hpp"
#include "corpus/vocabulary.hpp"
#include "jobs/listener.hpp"
#include "jobs/team.hpp"
#include "kernels/partial_tree.hpp"
#include "kernels/smoothed_partial_tree.hpp"
#include "kernels/subset_tree.hpp"
#include "structures/brackets.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

// Delta by its definition, over distinct subtrees; depth < 0 means no limit.
struct Slow {
  const ForestArrays& forest;
  double decay, frontier;
  bool identity, leaves;

  bool is_leaf(std::int32_t u) const { return forest.height[u] == 0; }
  double delta(std::int32_t u, std::int32_t v, int depth) const {
    if (forest.label[u] != forest.label[v] || is_leaf(u) != is_leaf(v) || (identity && u != v)) return 0.0;
    if (is_leaf(u)) return leaves ? decay : 0.0;
    const std::int64_t a = forest.child_start[u], b = forest.child_start[v], n = forest.child_start[u + 1] - a;
    if (forest.child_start[v + 1] - b != n) return 0.0;
    double product = decay;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int32_t x = forest.child[a + k], y = forest.child[b + k];
      if (forest.label[x] != forest.label[y] || is_leaf(x) != is_leaf(y)) return 0.0;
      if (!is_leaf(x)) product *= frontier + (depth == 1 ? 0.0 : delta(x, y, depth - 1));
    }
    return product;
  }
  double value(std::int64_t s, std::int64_t t, int depth) const {
    double sum = 0.0;
    for (std::int64_t e = forest.tree_start[s]; e < forest.tree_start[s + 1]; ++e) {
      for (std::int64_t f = forest.tree_start[t]; f < forest.tree_start[t + 1]; ++f) {
        sum += static_cast<double>(forest.tree_count[e]) * forest.tree_count[f] *
               delta(forest.tree_subtree[e], forest.tree_subtree[f], depth);
      }
    }
    return sum;
  }
};

std::vector<double> matrix_of(SubsetTreePlan& plan, const std::vector<double>& decay,
                              const std::vector<double>& frontier, int max_depth, int n_threads) {
  Team team(n_threads, {});
  std::vector<double> out(plan.n_rows() * plan.n_columns(), std::nan(""));
  plan.matrix(decay.data(), frontier.data(), max_depth, team, out.data());
  return out;
}

void test_vocabulary() {
  auto base = std::make_shared<Vocabulary>();
  for (int k = 0; k < 5000; ++k) CHECK(base->add("label " + std::to_string(k)) == k);
  CHECK(base->find("label 4999") == 4999 && base->find("none") == -1);
  Vocabulary extension{std::shared_ptr<const Vocabulary>(base)};
  CHECK(extension.add("label 7") == 7 && extension.add("new") == 5000 && extension.label(5000) == "new");
  CHECK(extension.extends(*base) && !base->extends(extension) && base->find("new") == -1);
  CHECK(extension.add(std::string("\0\xff", 2)) == 5001);
  bool is_raised = false;
  try {
    extension.label(5002);
  } catch (const std::out_of_range&) {
    is_raised = true;
  }
  CHECK(is_raised);
}

void test_brackets() {
  for (const char* text : {"(", ")", "(A", "(A))", "a", "(A b) c", "(A \\", "\\"}) {
    Vocabulary vocabulary;
    bool is_raised = false;
    try {
      post_order(text, vocabulary);
    } catch (const BracketError& error) {
      is_raised = error.position <= std::string_view(text).size();
    }
    CHECK(is_raised);
  }
  Vocabulary vocabulary;
  const PostOrder escaped = post_order("(X \\( a\\ b c\\d \\\\)", vocabulary);
  CHECK(escaped.label.size() == 5 && vocabulary.find("a b") >= 0 && vocabulary.find("c\\d") >= 0);
  CHECK(vocabulary.find("(") >= 0 && vocabulary.find("\\") >= 0);
}

std::string chain(int depth) {
  std::string text;
  for (int k = 0; k < depth; ++k) text += "(A ";
  return text + "a" + std::string(depth, ')');
}

void test_deep_and_wide() {
  std::string wide = "(W";
  for (int k = 0; k < 100000; ++k) wide += " w" + std::to_string(k);
  wide += ")";
  Vocabulary vocabulary;
  const ForestArrays deepest = interned({chain(100000), wide}, vocabulary);
  CHECK(deepest.root.size() == 2 && deepest.height.back() == 100000);
  // All pairs of nodes of a chain match: a shorter one for the matrix.
  const ForestArrays forest = interned({chain(1000), wide}, vocabulary);
  SubsetTreePlan plan(view_of(forest), nullptr, PatternOptions{});
  const std::vector<double> small(plan.n_slots(), 1e-3);
  const std::vector<double> values = matrix_of(plan, small, small, 2, 2);
  CHECK(std::isfinite(values[0]) && values[1] == 0.0 && near(values[3], 1e-3, 1e-12));
}

void test_interner() {
  Vocabulary vocabulary;
  Interner interner(vocabulary);
  CHECK(interner.add_text("(A (B b) (B b))\n(A (B b) (B b))") == 2);
  bool is_raised = false;
  try {
    interner.add_text("(A (B b) (C");
  } catch (const BracketError&) {
    is_raised = true;
  }
  CHECK(is_raised);
  // Text that failed leaves nothing behind.
  CHECK(interner.add_text("(C c)") == 1);
  interner.add_missing();
  const ForestArrays forest = interner.finish();
  CHECK(forest.root.size() == 4 && forest.root[0] == forest.root[1] && forest.root[3] == -1);
  CHECK(forest.tree_start[3] - forest.tree_start[2] == 2 && forest.tree_start[4] == forest.tree_start[3]);
  std::int64_t n_nodes = 0;
  for (std::int64_t e = 0; e < forest.tree_start[1]; ++e) n_nodes += forest.tree_count[e];
  CHECK(n_nodes == 5 && forest.tree_start[1] == 3);

  Interner other(vocabulary);
  const std::vector<std::int32_t> ids =
      other.add_subtrees(forest.label.data(), forest.child_start.data(), forest.child.data(),
                         static_cast<std::int64_t>(forest.label.size()));
  other.add_root(ids[forest.root[0]]);
  const ForestArrays again = other.finish();
  std::int64_t n_again = 0;
  for (std::int32_t count : again.tree_count) n_again += count;
  CHECK(n_again == 5);
}

void test_values() {
  Vocabulary vocabulary;
  const ForestArrays forest = interned(random_trees(1, 12), vocabulary);
  const ForestView view = view_of(forest);
  const std::int64_t n = view.n_trees;
  for (const PatternOptions options :
       {PatternOptions{}, PatternOptions{true, false, false}, PatternOptions{false, true, false}}) {
    SubsetTreePlan plan(view, nullptr, options), cross(view, &view, options);
    PatternOptions within = options;
    within.per_tree = true;
    SubsetTreePlan diagonal(view, nullptr, within);
    for (const double frontier : {1.0, 0.3, 1e-9, 0.0}) {
      for (const int depth : {0, 1, 2, 3}) {
        const std::vector<double> decays(plan.n_slots(), 0.4), frontiers(plan.n_slots(), frontier);
        const std::vector<double> one = matrix_of(plan, decays, frontiers, depth, 1);
        CHECK(one == matrix_of(plan, decays, frontiers, depth, 3));
        const std::vector<double> crossed = matrix_of(cross, decays, frontiers, depth, 2);
        const std::vector<double> own = matrix_of(diagonal, decays, frontiers, depth, 2);
        const Slow slow{forest, 0.4, frontier, options.identity, options.leaves};
        for (std::int64_t i = 0; i < n; ++i) {
          CHECK(near(own[i], one[i * n + i], 1e-12));
          for (std::int64_t j = 0; j < n; ++j) {
            CHECK(near(one[i * n + j], slow.value(i, j, depth == 0 ? -1 : depth), 1e-12));
            CHECK(near(crossed[i * n + j], one[i * n + j], 1e-12));
            CHECK(one[i * n + j] == one[j * n + i]);
          }
        }
      }
    }
  }
}

void test_gradients() {
  Vocabulary vocabulary;
  const ForestArrays forest = interned(random_trees(2, 9), vocabulary);
  const ForestView view = view_of(forest);
  for (const bool is_cross : {false, true}) {
    for (const double frontier : {0.7, 0.0}) {
      for (const int depth : {0, 2}) {
        SubsetTreePlan plan(view, is_cross ? &view : nullptr, PatternOptions{});
        std::vector<double> parameters(2 * plan.n_slots(), 0.5);
        std::fill(parameters.begin() + plan.n_slots(), parameters.end(), frontier);
        std::mt19937 random(3);
        std::vector<double> cotangent(plan.n_rows() * plan.n_columns());
        for (double& x : cotangent) x = static_cast<double>(random()) / 4294967296.0 - 0.5;
        const auto pulled = [&](int n_threads) {
          std::vector<double> bar(2 * plan.n_slots(), 0.0);
          Team team(n_threads, {});
          plan.pull_back(parameters.data(), parameters.data() + plan.n_slots(), depth, cotangent.data(), team,
                         bar.data(), bar.data() + plan.n_slots());
          return bar;
        };
        const auto objective = [&](const std::vector<double>& at) {
          const std::vector<double> values = matrix_of(plan, {at.begin(), at.begin() + plan.n_slots()},
                                                       {at.begin() + plan.n_slots(), at.end()}, depth, 1);
          double sum = 0.0;
          for (std::size_t k = 0; k < values.size(); ++k) sum += values[k] * cotangent[k];
          return sum;
        };
        const std::vector<double> bar = pulled(1);
        CHECK(bar == pulled(2));
        for (std::size_t k = 0; k < parameters.size(); ++k) {
          if (k >= static_cast<std::size_t>(plan.n_slots()) && frontier == 0.0) {
            // A frontier of 0 has no left side: one-sided, extrapolated.
            std::vector<double> once = parameters, twice = parameters;
            once[k] += 1e-5;
            twice[k] += 2e-5;
            const double slope = (4 * objective(once) - objective(twice) - 3 * objective(parameters)) / 2e-5;
            CHECK(near(bar[k], slope, 1e-4));
          } else {
            std::vector<double> more = parameters, less = parameters;
            more[k] += 1e-5;
            less[k] -= 1e-5;
            CHECK(near(bar[k], (objective(more) - objective(less)) / 2e-5, 1e-5));
          }
        }
      }
    }
  }
}

// Partial trees by their definition: the weight of the pairs of subsequences that end at children i and j.
double slow_partial_delta(const ForestArrays& forest, std::int32_t u, std::int32_t v, double decay,
                          double depth_decay) {
  if (forest.label[u] != forest.label[v]) return 0.0;
  const std::int64_t a = forest.child_start[u], b = forest.child_start[v];
  const std::int64_t n = forest.child_start[u + 1] - a, m = forest.child_start[v + 1] - b;
  std::vector<double> ending(n * m);
  double sum = decay * decay;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      double before = 1.0;
      for (std::int64_t k = 0; k < i; ++k) {
        for (std::int64_t l = 0; l < j; ++l) before += std::pow(decay, i - k + j - l - 2) * ending[k * m + l];
      }
      ending[i * m + j] =
          before * slow_partial_delta(forest, forest.child[a + i], forest.child[b + j], decay, depth_decay);
      sum += ending[i * m + j];
    }
  }
  return depth_decay * sum;
}

void test_partial_trees() {
  Vocabulary vocabulary;
  std::vector<std::string> texts = random_trees(4, 9);
  for (const char* text : kTwins) texts.emplace_back(text);
  const ForestArrays forest = interned(texts, vocabulary);
  const ForestView view = view_of(forest);
  const std::int64_t n = view.n_trees;
  for (const bool is_cross : {false, true}) {
    PartialTreePlan plan(view, is_cross ? &view : nullptr, false), diagonal(view, nullptr, true);
    const std::size_t n_slots = plan.pattern().labels.size() + 1;
    std::vector<double> parameters(2 * n_slots, 0.4);
    std::fill(parameters.begin() + n_slots, parameters.end(), 0.6);
    const auto matrix = [&](PartialTreePlan& which, const std::vector<double>& at, int n_threads) {
      Team team(n_threads, {});
      std::vector<double> out(which.n_rows() * which.n_columns(), std::nan(""));
      which.matrix(at.data(), at.data() + n_slots, team, out.data());
      return out;
    };
    const std::vector<double> values = matrix(plan, parameters, 1), own = matrix(diagonal, parameters, 2);
    CHECK(values == matrix(plan, parameters, 3));
    for (std::int64_t s = 0; s < n; ++s) {
      CHECK(near(own[s], values[s * n + s], 1e-12));
      for (std::int64_t t = 0; t < n; ++t) {
        double sum = 0.0;
        for (std::int64_t e = forest.tree_start[s]; e < forest.tree_start[s + 1]; ++e) {
          for (std::int64_t f = forest.tree_start[t]; f < forest.tree_start[t + 1]; ++f) {
            sum += static_cast<double>(forest.tree_count[e]) * forest.tree_count[f] *
                   slow_partial_delta(forest, forest.tree_subtree[e], forest.tree_subtree[f], 0.4, 0.6);
          }
        }
        CHECK(near(values[s * n + t], sum, 1e-12));
      }
    }
    std::mt19937 random(5);
    std::vector<double> cotangent(n * n);
    for (double& x : cotangent) x = static_cast<double>(random()) / 4294967296.0 - 0.5;
    const auto pulled = [&](int n_threads) {
      std::vector<double> bar(2 * n_slots, 0.0);
      Team team(n_threads, {});
      plan.pull_back(parameters.data(), parameters.data() + n_slots, cotangent.data(), team, bar.data(),
                     bar.data() + n_slots);
      return bar;
    };
    const std::vector<double> bar = pulled(1);
    CHECK(bar == pulled(2));
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      double slope = 0.0;
      for (const double step : {1e-5, -1e-5}) {
        std::vector<double> moved = parameters;
        moved[k] += step;
        const std::vector<double> there = matrix(plan, moved, 1);
        for (std::size_t c = 0; c < there.size(); ++c) slope += there[c] * cotangent[c] / (2 * step);
      }
      CHECK(near(bar[k], slope, 1e-5));
    }
  }
}

void test_empty() {
  Vocabulary vocabulary;
  for (const std::vector<std::string>& texts : {std::vector<std::string>{}, std::vector<std::string>{"(A)"}}) {
    const ForestArrays forest = interned(texts, vocabulary);
    SubsetTreePlan plan(view_of(forest), nullptr, PatternOptions{});
    const std::vector<double> ones(plan.n_slots(), 1.0);
    for (const double value : matrix_of(plan, ones, ones, 0, 2)) CHECK(value == 0.0);
  }
}

void test_team() {
  std::vector<int> seen(1000, 0);
  {
    Team team(4, {});
    for (int round = 0; round < 20; ++round) team.run(1000, [&](std::int64_t task, int) { ++seen[task]; });
  }
  CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 20; }));
  bool is_raised = false;
  try {
    Team team(3, {});
    team.run(100, [](std::int64_t task, int) {
      if (task == 50) throw std::runtime_error("in a task");
    });
  } catch (const std::runtime_error& error) {
    is_raised = std::string(error.what()) == "in a task";
  }
  CHECK(is_raised);
}

// The numbers of the workers that took part in a run of short tasks, or of one long one after the first.
std::set<int> workers_of(int patience, int task_microseconds) {
  const int before = Team::patience.exchange(patience);
  std::set<int> workers;
  std::mutex mutex;
  {
    Team team(3, {});
    CHECK(team.size() == 3);
    team.run(20, [&](std::int64_t, int worker) {
      std::this_thread::sleep_for(std::chrono::microseconds(task_microseconds));
      std::lock_guard lock(mutex);
      workers.insert(worker);
    });
  }
  Team::patience = before;
  return workers;
}

void test_patience() {
  CHECK(workers_of(1'000'000, 0) == std::set<int>{0});  // a short call is left to the thread that makes it
  CHECK(workers_of(1'000, 10'000).size() > 1);          // a long one is not
  CHECK(workers_of(0, 10'000).size() == 3);
}

// A plan of many subtrees asks several times while it is made whether to go on, and ends where it should.
void test_plans_listen() {
  std::vector<std::string> texts;
  for (int k = 0; k < 100'000; ++k) texts.push_back("(S (A a" + std::to_string(k) + ") (B b))");
  Vocabulary vocabulary;
  const ForestArrays forest = interned(texts, vocabulary);
  const ForestView view = view_of(forest);
  const auto check = [&](const auto& make) {
    int n_asked = 0;
    make(Listener([&] { ++n_asked; }));
    CHECK(n_asked >= 2);
    for (int last = 1; last <= n_asked; ++last) {
      int left = last;
      bool is_ended = false;
      try {
        make(Listener([&] {
          if (--left == 0) throw Interrupted();
        }));
      } catch (const Interrupted&) {
        is_ended = true;
      }
      CHECK(is_ended);
    }
  };
  check([&](Listener listener) { SubsetTreePlan(view, nullptr, PatternOptions{}, std::move(listener)); });
  check([&](Listener listener) { PartialTreePlan(view, nullptr, false, std::move(listener)); });
  check([&](Listener listener) { SmoothedTreePlan(view, nullptr, false, false, std::move(listener)); });
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"vocabulary", test_vocabulary},
      {"brackets", test_brackets},
      {"deep and wide trees", test_deep_and_wide},
      {"interner", test_interner},
      {"values", test_values},
      {"gradients", test_gradients},
      {"partial trees", test_partial_trees},
      {"empty corpora", test_empty},
      {"team", test_team},
      {"patience", test_patience},
      {"plans listen", test_plans_listen},
  };
  return run_all("core_tests", tests);
}
