// Smoothed partial trees in the core: values against the definition, gradients against differences, under every
// sanitizer.
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "jobs/team.hpp"
#include "kernels/smoothed_partial_tree.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

// How similar two labels are, by their ids.
double similarity(std::int32_t x, std::int32_t y) {
  return x == y ? 1.0 : (x + y) % 5 == 0 ? 0.0 : std::cos(static_cast<double>((x + 1) * (y + 1)));
}

struct Settings {
  std::vector<double> decay, depth_decay, mix{0.3};
  bool soft_labels = false;
};

double match(const Settings& by, std::int32_t x, std::int32_t y) {
  return x == y ? 1.0 : (1.0 - by.mix[0]) * similarity(x, y);
}

// By label id, the last value is the leaves'.
double slow_delta(const ForestArrays& forest, const Settings& by, std::int32_t u, std::int32_t v) {
  const std::int32_t x = forest.label[u], y = forest.label[v];
  const bool u_leaf = forest.height[u] == 0, v_leaf = forest.height[v] == 0;
  if (x != y && !(u_leaf && v_leaf) && !by.soft_labels) return 0.0;
  const auto of = [&](const std::vector<double>& values) {
    return std::sqrt((u_leaf ? values.back() : values[x]) * (v_leaf ? values.back() : values[y]));
  };
  const double gap = of(by.decay);
  const std::int64_t a = forest.child_start[u], b = forest.child_start[v];
  const std::int64_t n = forest.child_start[u + 1] - a, m = forest.child_start[v + 1] - b;
  std::vector<double> ending(n * m);
  double sum = gap * gap;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      double before = 1.0;
      for (std::int64_t k = 0; k < i; ++k) {
        for (std::int64_t l = 0; l < j; ++l) before += std::pow(gap, i - k + j - l - 2) * ending[k * m + l];
      }
      ending[i * m + j] = before * slow_delta(forest, by, forest.child[a + i], forest.child[b + j]);
      sum += ending[i * m + j];
    }
  }
  return match(by, x, y) * of(by.depth_decay) * sum;
}

double slow(const ForestArrays& forest, const Settings& by, std::int64_t s, std::int64_t t) {
  double sum = 0.0;
  for (std::int64_t e = forest.tree_start[s]; e < forest.tree_start[s + 1]; ++e) {
    for (std::int64_t f = forest.tree_start[t]; f < forest.tree_start[t + 1]; ++f) {
      sum += static_cast<double>(forest.tree_count[e]) * forest.tree_count[f] *
             slow_delta(forest, by, forest.tree_subtree[e], forest.tree_subtree[f]);
    }
  }
  return sum;
}

// A plan with its tables.
struct Planned {
  SmoothedTreePlan plan;
  std::vector<double> words, labels, word_labels, label_words;

  Planned(const ForestView& a, const ForestView* b, bool per_tree, bool soft_labels)
      : plan(a, b, per_tree, soft_labels) {
    const SmoothedPattern& pattern = plan.pattern();
    for (std::int32_t x : pattern.rows.words) {
      for (std::int32_t y : pattern.cols().words) words.push_back(similarity(x, y));
    }
    labels.resize(pattern.n_row_labels * pattern.n_column_labels);
    word_labels.resize(pattern.rows.n_words() * pattern.n_column_labels);
    label_words.resize(pattern.n_row_labels * pattern.cols().n_words());
    for (std::size_t slot = 0; slot < pattern.labels.size(); ++slot) {
      const std::int32_t row = pattern.row_label[slot], column = pattern.column_label[slot];
      for (std::int64_t w = 0; w < pattern.rows.n_words() && column >= 0; ++w) {
        word_labels[w * pattern.n_column_labels + column] = similarity(pattern.rows.words[w], pattern.labels[slot]);
      }
      for (std::int64_t w = 0; w < pattern.cols().n_words() && row >= 0; ++w) {
        label_words[row * pattern.cols().n_words() + w] = similarity(pattern.labels[slot], pattern.cols().words[w]);
      }
    }
    for (std::size_t x = 0; x < pattern.labels.size(); ++x) {
      for (std::size_t y = 0; y < pattern.labels.size(); ++y) {
        if (pattern.row_label[x] < 0 || pattern.column_label[y] < 0) continue;
        labels[pattern.row_label[x] * pattern.n_column_labels + pattern.column_label[y]] =
            similarity(pattern.labels[x], pattern.labels[y]);
      }
    }
    if (soft_labels) plan.link({labels.data(), word_labels.data(), label_words.data()});
  }
  // Values by label id as the plan wants them, by slot.
  std::vector<double> by_slot(const std::vector<double>& values) const {
    std::vector<double> out;
    for (std::int32_t label : plan.pattern().labels) out.push_back(values[label]);
    out.push_back(values.back());
    return out;
  }
  SmoothedSettings settings(const std::vector<double>& decay, const std::vector<double>& depth_decay, double mix) {
    return {decay.data(), depth_decay.data(), mix, words.data(), labels.data(), word_labels.data(), label_words.data()};
  }
  std::vector<double> matrix(const Settings& by, int n_threads) {
    const std::vector<double> decay = by_slot(by.decay), depth_decay = by_slot(by.depth_decay);
    std::vector<double> out(plan.n_rows() * plan.n_columns(), std::nan(""));
    Team team(n_threads, {});
    plan.matrix(settings(decay, depth_decay, by.mix[0]), team, out.data());
    return out;
  }
  // The gradients by decay, by depth decay and by mix, one behind the other.
  std::vector<double> pulled(const Settings& by, const std::vector<double>& cotangent, int n_threads) {
    const std::vector<double> decay = by_slot(by.decay), depth_decay = by_slot(by.depth_decay);
    std::vector<double> bar(2 * decay.size() + 1, 0.0);
    Team team(n_threads, {});
    plan.pull_back(settings(decay, depth_decay, by.mix[0]), cotangent.data(), team, bar.data(),
                   bar.data() + decay.size(), bar.data() + 2 * decay.size());
    return bar;
  }
};

Settings settings_for(const Vocabulary& vocabulary, bool soft_labels) {
  Settings by;
  by.soft_labels = soft_labels;
  for (std::int32_t label = 0; label <= vocabulary.size(); ++label) {
    by.decay.push_back(0.4 + 0.05 * (label % 4));
    by.depth_decay.push_back(0.6 - 0.05 * (label % 3));
  }
  return by;
}

// Small trees, and some with children enough that their pairs are not listed.
std::vector<std::string> texts() {
  std::vector<std::string> out = random_trees(4, 9);
  out.push_back("(A a b c a (B a) (C b) (B c) (A b) (A (B b)))");
  out.push_back("(B (A a) (A a) (A b) (A c) (B a) a (C (B b)))");
  for (const char* text : kTwins) out.emplace_back(text);
  return out;
}

void test_values() {
  Vocabulary vocabulary;
  const ForestArrays forest = interned(texts(), vocabulary);
  const ForestView view = view_of(forest);
  const std::int64_t n = view.n_trees;
  for (const bool soft_labels : {false, true}) {
    const Settings by = settings_for(vocabulary, soft_labels);
    Planned diagonal(view, nullptr, true, soft_labels);
    const std::vector<double> own = diagonal.matrix(by, 2);
    for (const bool is_cross : {false, true}) {
      Planned planned(view, is_cross ? &view : nullptr, false, soft_labels);
      const std::vector<double> values = planned.matrix(by, 1);
      planned.plan.release();
      CHECK(values == planned.matrix(by, 3));
      for (std::int64_t s = 0; s < n; ++s) {
        CHECK(near(own[s], values[s * n + s], 1e-12));
        for (std::int64_t t = 0; t < n; ++t) CHECK(near(values[s * n + t], slow(forest, by, s, t), 1e-12));
      }
    }
  }
}

void test_gradients() {
  Vocabulary vocabulary;
  const ForestArrays forest = interned(texts(), vocabulary);
  const ForestView view = view_of(forest);
  const std::int64_t n = view.n_trees;
  std::mt19937 random(5);
  std::vector<double> cotangent(n * n);
  for (double& x : cotangent) x = static_cast<double>(random()) / 4294967296.0 - 0.5;
  for (const bool soft_labels : {false, true}) {
    for (const bool is_cross : {false, true}) {
      Settings by = settings_for(vocabulary, soft_labels);
      Planned planned(view, is_cross ? &view : nullptr, false, soft_labels);
      const std::vector<double> bar = planned.pulled(by, cotangent, 1);
      CHECK(bar == planned.pulled(by, cotangent, 2));
      const auto slope = [&](double& value) {
        double sum = 0.0;
        for (const double step : {1e-5, -1e-5}) {
          value += step;
          const std::vector<double> there = planned.matrix(by, 1);
          value -= step;
          for (std::size_t c = 0; c < there.size(); ++c) sum += there[c] * cotangent[c] / (2 * step);
        }
        return sum;
      };
      const std::vector<std::int32_t>& labels = planned.plan.pattern().labels;
      for (std::size_t slot = 0; slot <= labels.size(); ++slot) {
        const std::size_t label = slot < labels.size() ? labels[slot] : by.decay.size() - 1;
        CHECK(near(bar[slot], slope(by.decay[label]), 1e-5));
        CHECK(near(bar[labels.size() + 1 + slot], slope(by.depth_decay[label]), 1e-5));
      }
      CHECK(near(bar.back(), slope(by.mix[0]), 1e-5));
    }
  }
}

void test_empty() {
  Vocabulary vocabulary;
  for (const std::vector<std::string>& none : {std::vector<std::string>{}, std::vector<std::string>{"(A)"}}) {
    const ForestArrays forest = interned(none, vocabulary);
    for (const bool soft_labels : {false, true}) {
      const Settings by = settings_for(vocabulary, soft_labels);
      Planned planned(view_of(forest), nullptr, false, soft_labels);
      const std::vector<double> values = planned.matrix(by, 2);
      for (const double value : values) CHECK(near(value, slow(forest, by, 0, 0), 1e-15));
      for (const double bar : planned.pulled(by, values, 2)) CHECK(std::isfinite(bar));
    }
  }
}

}  // namespace

int main() {
  return run_all("smoothed_tree_tests",
                 {{"values", test_values}, {"gradients", test_gradients}, {"empty corpora", test_empty}});
}
