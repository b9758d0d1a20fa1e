// Dependency trees in the core: values against listing which children are kept, gradients against differences.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "jobs/team.hpp"
#include "kernels/dependency_subtree.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

constexpr std::int64_t kFeatures = 6, kTemplates = 2;
const std::vector<std::int32_t> kPart{0, 0, 0, 1, 1, 1};  // by feature

struct Corpus {
  std::vector<std::int64_t> start{0}, feature_start{0};
  std::vector<std::int32_t> head, previous, order, feature;

  ArcsView view() const {
    return {static_cast<std::int64_t>(start.size()) - 1,
            start.data(),
            feature_start.data(),
            head.data(),
            previous.data(),
            order.data(),
            feature.data()};
  }
  std::int64_t size(std::int64_t tree) const { return start[tree + 1] - start[tree]; }
  std::vector<std::int32_t> children(std::int64_t tree, std::int32_t of) const {
    std::vector<std::int32_t> out;
    for (std::int32_t x = 0; x < size(tree); ++x) {
      if (head[start[tree] + x] == of) out.push_back(x);
    }
    return out;
  }
  void visit(std::int64_t tree, std::int32_t of) {
    std::int32_t left = -1;
    for (std::int32_t x : children(tree, of)) {
      previous[start[tree] + x] = left;
      left = x;
      visit(tree, x);
      order.push_back(x);
    }
  }
};

// Trees of 1 to so many words, in any order: arcs cross, and some trees have several roots, whose features do not count.
Corpus random_corpus(unsigned seed, int n, unsigned largest) {
  std::mt19937 random(seed);
  Corpus out;
  for (int tree = 0; tree < n; ++tree) {
    const std::size_t size = 1 + random() % largest, first = out.head.size();
    std::vector<std::int32_t> order(size);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    out.head.resize(first + size, -1);
    out.previous.resize(first + size, -1);
    out.start.push_back(static_cast<std::int64_t>(first + size));
    for (std::size_t k = 1; k < size; ++k) {
      if (random() % 8) out.head[first + order[k]] = order[random() % k];
    }
    for (std::size_t x = first; x < first + size; ++x) {
      for (std::int32_t feature = 0; feature < kFeatures; ++feature) {
        if (random() % 3 == 0) out.feature.push_back(feature);
      }
      out.feature_start.push_back(static_cast<std::int64_t>(out.feature.size()));
    }
    out.visit(tree, -1);
  }
  return out;
}

struct Settings {
  std::vector<double> decay{0.7}, weight{1.5, 0.4};
  bool contiguous = true;
  int max_arcs = 0;

  ArcValues values() const {
    return {decay[0], weight.data(), kPart.data(), kFeatures, kTemplates, contiguous, max_arcs};
  }
};

// Children that need not be neighbours, subtrees of any size, and some of limited size.
struct Way {
  bool contiguous;
  int max_arcs;
};
constexpr Way kWays[] = {{false, 0}, {true, 0}, {true, 1}, {true, 2}, {true, 3}};

// One pair of trees, from the definition.
struct Pair {
  const Settings& by;
  const Corpus &a, &b;
  std::int64_t row, column;

  double shared(std::int32_t x, std::int32_t y) const {
    double total = 0.0;
    const std::int64_t s = a.start[row] + x, t = b.start[column] + y;
    for (std::int64_t f = a.feature_start[s]; f < a.feature_start[s + 1]; ++f) {
      for (std::int64_t g = b.feature_start[t]; g < b.feature_start[t + 1]; ++g) {
        if (a.feature[f] == b.feature[g]) total += by.decay[0] * by.weight[kPart[a.feature[f]]];
      }
    }
    return total;
  }

  // The children that a bit set keeps; none where they must be neighbours and are not.
  std::vector<std::int32_t> kept(const std::vector<std::int32_t>& children, unsigned keeps) const {
    std::vector<std::int32_t> out;
    unsigned bits = keeps;
    while (bits && !(bits & 1u)) bits >>= 1;
    if (by.contiguous && (bits & (bits + 1u))) return out;
    for (std::size_t k = 0; k < children.size(); ++k) {
      if (keeps >> k & 1u) out.push_back(children[k]);
    }
    return out;
  }

  // All subtrees with heads u and v and so many arcs at most: which children they keep on either side, and what is below
  // each.
  double below(std::int32_t u, std::int32_t v, int most) const {
    const auto left = a.children(row, u), right = b.children(column, v);
    double total = 0.0;
    for (unsigned keeps = 1; keeps < (1u << left.size()); ++keeps) {
      for (unsigned also = 1; also < (1u << right.size()); ++also) {
        const auto xs = kept(left, keeps), ys = kept(right, also);
        if (xs.empty() || xs.size() != ys.size()) continue;
        total += chosen(xs, ys, most);
      }
    }
    return total;
  }

  // The children that are left of those that are kept, with what is below them: at most so many arcs in all.
  double chosen(std::span<const std::int32_t> xs, std::span<const std::int32_t> ys, int most) const {
    if (xs.empty()) return 1.0;
    if (most < std::ssize(xs)) return 0.0;
    const double first = shared(xs[0], ys[0]);
    if (first == 0.0) return 0.0;
    double total = chosen(xs.subspan(1), ys.subspan(1), most - 1);
    for (int n = 1; n < most; ++n) {  // arcs below the first child
      const double own = below(xs[0], ys[0], n) - below(xs[0], ys[0], n - 1);
      if (own != 0.0) total += own * chosen(xs.subspan(1), ys.subspan(1), most - 1 - n);
    }
    return first * total;
  }

  double value() const {
    const int most = by.max_arcs ? by.max_arcs : static_cast<int>(a.size(row));
    double total = 0.0;
    for (std::int32_t u = 0; u < a.size(row); ++u) {
      for (std::int32_t v = 0; v < b.size(column); ++v) total += below(u, v, most);
    }
    return total;
  }
};

double slow(const Settings& by, const Corpus& a, std::int64_t row, const Corpus& b, std::int64_t column) {
  return Pair{by, a, b, row, column}.value();
}

void test_values() {
  const Corpus a = random_corpus(1, 12, 6), b = random_corpus(2, 9, 7);
  Settings by;
  for (const auto& [contiguous, max_arcs] : kWays) {
    by.contiguous = contiguous;
    by.max_arcs = max_arcs;
    for (int n_threads : {1, 2}) {
      Team team(n_threads, nullptr);
      std::vector<double> cross(12 * 9), own(12 * 12), diagonal(12);
      dependency_subtree_values(a.view(), b.view(), Pairs::all, by.values(), team, cross.data());
      dependency_subtree_values(a.view(), a.view(), Pairs::symmetric, by.values(), team, own.data());
      dependency_subtree_values(a.view(), a.view(), Pairs::diagonal, by.values(), team, diagonal.data());
      double largest = 0.0;
      for (int s = 0; s < 12; ++s) {
        for (int t = 0; t < 9; ++t) CHECK(near(cross[s * 9 + t], slow(by, a, s, b, t), 1e-12));
        for (int t = 0; t < 12; ++t) CHECK(near(own[s * 12 + t], slow(by, a, s, a, t), 1e-12));
        CHECK(near(diagonal[s], slow(by, a, s, a, s), 1e-12));
        largest = std::max(largest, diagonal[s]);
      }
      CHECK(largest > (max_arcs ? 2.0 : 5.0));  // something was compared
    }
  }
}

void test_gradients() {
  const Corpus a = random_corpus(3, 8, 6), b = random_corpus(4, 8, 6);
  const std::vector<double> cotangent = random_numbers(5, 8 * 8);
  for (const Way& way : kWays) {
    for (const Pairs pairs : {Pairs::all, Pairs::symmetric, Pairs::diagonal}) {
      const Corpus& other = pairs == Pairs::all ? b : a;
      const auto weighed = [&](Settings by) {
        by.contiguous = way.contiguous;
        by.max_arcs = way.max_arcs;
        double total = 0.0;
        for (int s = 0; s < 8; ++s) {
          if (pairs == Pairs::diagonal) total += cotangent[s] * slow(by, a, s, a, s);
          for (int t = 0; t < 8 && pairs != Pairs::diagonal; ++t) {
            total += cotangent[s * 8 + t] * slow(by, a, s, other, t);
          }
        }
        return total;
      };
      Settings by;
      by.contiguous = way.contiguous;
      by.max_arcs = way.max_arcs;
      for (int n_threads : {1, 2}) {
        Team team(n_threads, nullptr);
        std::vector<double> decay_bar(1, 0.0), weight_bar(kTemplates, 0.0);
        dependency_subtree_pull_back(a.view(), other.view(), pairs, by.values(), cotangent.data(), team,
                                     decay_bar.data(), weight_bar.data());
        check_gradient(weighed, &Settings::decay, decay_bar);
        check_gradient(weighed, &Settings::weight, weight_bar);
      }
    }
  }
}

void test_nothing_shared() {
  const Corpus none, words = random_corpus(6, 3, 1);  // one word each: no arcs
  Team team(2, nullptr);
  const Settings by;
  std::vector<double> out(9, 1.0), decay_bar(1, 0.0), weight_bar(kTemplates, 0.0);
  dependency_subtree_values(none.view(), none.view(), Pairs::symmetric, by.values(), team, out.data());
  CHECK(out[0] == 1.0);
  dependency_subtree_values(words.view(), words.view(), Pairs::symmetric, by.values(), team, out.data());
  CHECK(out[0] == 0.0 && out[8] == 0.0);
  std::fill(out.begin(), out.end(), 1.0);
  dependency_subtree_pull_back(words.view(), words.view(), Pairs::symmetric, by.values(), out.data(), team,
                               decay_bar.data(), weight_bar.data());
  CHECK(decay_bar[0] == 0.0 && weight_bar[0] == 0.0);
}

}  // namespace

int main() {
  return run_all("dependency_subtree_tests",
                 {{"values", test_values}, {"gradients", test_gradients}, {"nothing shared", test_nothing_shared}});
}
