// Sequences in the core: values against listing all index sets, gradients against differences, under every sanitizer.
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "jobs/team.hpp"
#include "kernels/subsequence.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

constexpr std::int64_t kSymbols = 4, kLength = 3;

struct Corpus {
  std::vector<std::int32_t> symbol;
  std::vector<std::int64_t> start{0};

  SequencesView view() const { return {static_cast<std::int64_t>(start.size()) - 1, start.data(), symbol.data()}; }
};

Corpus random_corpus(unsigned seed, int n, unsigned longest) {
  std::mt19937 random(seed);
  Corpus out;
  for (int s = 0; s < n; ++s) {
    for (auto k = random() % (longest + 1); k > 0; --k) out.symbol.push_back(random() % kSymbols);
    out.start.push_back(static_cast<std::int64_t>(out.symbol.size()));
  }
  return out;
}

struct Settings {
  std::vector<double> gap{0.5, 0.9, 0.3, 0.7}, match{0.8, 1.2, 0.6, 1.0}, order{1.0, 0.5, 2.0};

  std::vector<double> mix{0.3};
  bool soft = false;
  // How similar symbols are; two are not similar at all to one.
  std::vector<double> table{1.0, 0.5, 0.0, -0.2, 0.5, 1.0, 0.0, 0.4, 0.0, 0.0, 1.0, 0.0, -0.2, 0.4, 0.0, 1.0};
  std::vector<std::int32_t> row{0, 1, 2, 3};

  SubsequenceValues values() const {
    SubsequenceValues out{gap.data(), match.data(), order.data(), kLength, kSymbols, {}};
    if (soft) out.soft = {table.data(), row.data(), kSymbols, mix[0]};
    return out;
  }
  double similar(std::int32_t x, std::int32_t y) const {
    const double exact = x == y ? 1.0 : 0.0;
    return soft ? mix[0] * exact + (1.0 - mix[0]) * table[x * kSymbols + y] : exact;
  }
};

Settings softly() {
  Settings out;
  out.soft = true;
  return out;
}

// All ways to go on from positions i and j that were matched, with p symbols so far.
double listed(const Settings& by, const std::int32_t* s, std::int64_t m, const std::int32_t* t, std::int64_t n,
              std::int64_t i, std::int64_t j, std::int64_t p) {
  double total = by.order[p - 1];
  if (p == kLength) return total;
  double row_gap = 1.0;
  for (std::int64_t k = i + 1; k < m; row_gap *= by.gap[s[k++]]) {
    double column_gap = 1.0;
    for (std::int64_t l = j + 1; l < n; column_gap *= by.gap[t[l++]]) {
      const double similar = by.similar(s[k], t[l]);
      if (similar == 0.0) continue;
      const double weight = row_gap * column_gap * similar * by.match[s[k]] * by.match[t[l]];
      total += weight * listed(by, s, m, t, n, k, l, p + 1);
    }
  }
  return total;
}

double slow(const Settings& by, const Corpus& a, std::int64_t row, const Corpus& b, std::int64_t column) {
  const SequencesView x = a.view(), y = b.view();
  const std::int32_t *s = x.symbol + x.start[row], *t = y.symbol + y.start[column];
  double total = 0.0;
  for (std::int64_t i = 0; i < x.size(row); ++i) {
    for (std::int64_t j = 0; j < y.size(column); ++j) {
      const double weight = by.similar(s[i], t[j]) * by.match[s[i]] * by.match[t[j]];
      if (weight != 0.0) total += weight * listed(by, s, x.size(row), t, y.size(column), i, j, 1);
    }
  }
  return total;
}

void check_values(const Settings& by) {
  const Corpus a = random_corpus(1, 14, 7), b = random_corpus(2, 9, 9);
  for (int n_threads : {1, 2}) {
    Team team(n_threads, nullptr);
    std::vector<double> cross(14 * 9), own(14 * 14), diagonal(14);
    subsequence_values(a.view(), b.view(), Pairs::all, by.values(), team, cross.data());
    subsequence_values(a.view(), a.view(), Pairs::symmetric, by.values(), team, own.data());
    subsequence_values(a.view(), a.view(), Pairs::diagonal, by.values(), team, diagonal.data());
    for (int s = 0; s < 14; ++s) {
      for (int t = 0; t < 9; ++t) CHECK(near(cross[s * 9 + t], slow(by, a, s, b, t), 1e-12));
      for (int t = 0; t < 14; ++t) CHECK(near(own[s * 14 + t], slow(by, a, s, a, t), 1e-12));
      CHECK(near(diagonal[s], slow(by, a, s, a, s), 1e-12));
    }
  }
}

void check_gradients(const Settings& by_default) {
  const Corpus a = random_corpus(3, 8, 6), b = random_corpus(4, 5, 8);
  std::mt19937 random(5);
  std::vector<double> cotangent(8 * 5);
  for (double& value : cotangent) value = static_cast<double>(random() % 200) / 100.0 - 1.0;
  const auto weighed = [&](const Settings& by) {
    double total = 0.0;
    for (int s = 0; s < 8; ++s) {
      for (int t = 0; t < 5; ++t) total += cotangent[s * 5 + t] * slow(by, a, s, b, t);
    }
    return total;
  };
  for (int n_threads : {1, 2}) {
    Team team(n_threads, nullptr);
    std::vector<double> gap_bar(kSymbols, 0.0), match_bar(kSymbols, 0.0), order_bar(kLength, 0.0);
    std::vector<double> mix_bar(1, 0.0);
    subsequence_pull_back(a.view(), b.view(), Pairs::all, by_default.values(), cotangent.data(), team,
                          {gap_bar.data(), match_bar.data(), order_bar.data(), mix_bar.data()});
    const auto check = [&](std::vector<double> Settings::* which, const std::vector<double>& found) {
      for (std::size_t k = 0; k < found.size(); ++k) {
        Settings up = by_default, down = by_default;
        (up.*which)[k] += 1e-6;
        (down.*which)[k] -= 1e-6;
        CHECK(near(found[k], (weighed(up) - weighed(down)) / 2e-6, 1e-6));
      }
    };
    check(&Settings::gap, gap_bar);
    check(&Settings::match, match_bar);
    check(&Settings::order, order_bar);
    check(&Settings::mix, mix_bar);
  }
}

void test_values() { check_values({}); }
void test_soft_values() { check_values(softly()); }
void test_gradients() { check_gradients({}); }
void test_soft_gradients() { check_gradients(softly()); }

void test_empty() {
  const Corpus none, blank = random_corpus(6, 3, 0);
  Team team(2, nullptr);
  const Settings by;
  std::vector<double> out(9, 1.0), bar(kSymbols, 0.0), order_bar(kLength, 0.0);
  subsequence_values(none.view(), none.view(), Pairs::symmetric, by.values(), team, out.data());
  CHECK(out[0] == 1.0);
  subsequence_values(blank.view(), blank.view(), Pairs::symmetric, by.values(), team, out.data());
  CHECK(out[0] == 0.0 && out[8] == 0.0);
  subsequence_pull_back(blank.view(), blank.view(), Pairs::symmetric, by.values(), out.data(), team,
                        {bar.data(), bar.data(), order_bar.data(), bar.data()});
  CHECK(bar[0] == 0.0 && order_bar[0] == 0.0);
}

}  // namespace

int main() {
  return run_all("subsequence_tests", {{"values", test_values},
                                       {"soft values", test_soft_values},
                                       {"gradients", test_gradients},
                                       {"soft gradients", test_soft_gradients},
                                       {"empty", test_empty}});
}
