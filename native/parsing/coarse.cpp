// Max-marginals of a coarse chart: how probable the best parse is that has a symbol over a span.
#include <algorithm>
#include <utility>

#include "parsing/chart.hpp"

namespace espalier {
namespace {

constexpr double kSlack = 1e-6;  // sums in another order differ a little

// Goes from large spans to small ones. What is below the threshold is not followed: all below it is, too.
class Outside {
 public:
  Outside(const GrammarView& grammar, const Chart& chart, double margin)
      : g_(grammar), chart_(chart), n_(chart.n_words()), start_(1, 0) {
    const std::int64_t n_cells = n_ * (n_ + 1) / 2;
    place_.assign(n_cells * g_.n_symbols, -1);
    for (std::int64_t j = 1; j <= n_; ++j) {
      for (std::int64_t i = 0; i < j; ++i) {
        std::int32_t* place = place_.data() + Chart::index(i, j) * g_.n_symbols;
        std::int32_t k = 0;
        for (const Entry& entry : chart_.cell(i, j)) place[entry.symbol] = k++;
        start_.push_back(start_.back() + k);
      }
    }
    outside_.assign(start_.back(), kImpossible);
    const Entry* root = chart_.find(0, n_, g_.root);
    least_ = root->best - margin - kSlack;
    outside_[start_[Chart::index(0, n_)] + (root - chart_.cell(0, n_).first)] = 0.0;
  }

  // Finishes a span whose larger neighbours are done, and tells which of its symbols may stand.
  void visit(std::int64_t i, std::int64_t j, char* allowed) {
    const std::int64_t cell = Chart::index(i, j);
    const ChartCell& entries = chart_.cell(i, j);
    double* outside = outside_.data() + start_[cell];
    add_unary(entries, place_.data() + cell * g_.n_symbols, outside);
    for (std::int32_t m = 0; m < entries.size; ++m) {
      const Entry& entry = entries.first[m];
      if (outside[m] + entry.best < least_) continue;
      allowed[entry.symbol] = 1;
      if (j > i + 1 && outside[m] + entry.split >= least_) add_binary(i, j, entry.symbol, outside[m]);
    }
  }

 private:
  void add_unary(const ChartCell& entries, const std::int32_t* place, double* outside) {
    bool improved = true;
    for (std::int32_t round = 0; round < g_.max_unary && improved; ++round) {
      improved = false;
      for (std::int32_t m = 0; m < entries.n_base; ++m) {
        if (outside[m] == kImpossible) continue;
        const std::int32_t parent = entries.first[m].symbol;
        for (std::int64_t r = g_.down_start[parent]; r < g_.down_start[parent + 1]; ++r) {
          const std::int32_t child = place[g_.down_child[r]];
          if (child < 0 || outside[m] + g_.down_weight[r] <= outside[child]) continue;
          outside[child] = outside[m] + g_.down_weight[r];
          improved = true;
        }
      }
    }
  }

  void add_binary(std::int64_t i, std::int64_t j, std::int32_t parent, double outside) {
    for (std::int64_t k = i + 1; k < j; ++k) {
      const std::int64_t first = Chart::index(i, k), second = Chart::index(k, j);
      const ChartCell &lefts = chart_.cell(i, k), &rights = chart_.cell(k, j);
      if (lefts.size == 0 || rights.n_base == 0) continue;
      const std::int32_t* left_place = place_.data() + first * g_.n_symbols;
      const std::int32_t* right_place = place_.data() + second * g_.n_symbols;
      for (std::int64_t p = g_.parent_start[parent]; p < g_.parent_start[parent + 1]; ++p) {
        const std::int32_t r = g_.parent_rule[p], left = left_place[g_.left[r]], right = right_place[g_.right[r]];
        if (left < 0 || right < 0) continue;
        const double base = outside + g_.weight[r];
        const double of_left = lefts.first[left].best, of_right = rights.first[right].best;
        if (base + of_left + of_right < least_) continue;
        double& out_left = outside_[start_[first] + left];
        double& out_right = outside_[start_[second] + right];
        out_left = std::max(out_left, base + of_right);
        out_right = std::max(out_right, base + of_left);
      }
    }
  }

  const GrammarView& g_;
  const Chart& chart_;
  std::int64_t n_;
  double least_;
  std::vector<std::int32_t> place_;  // by span and symbol: which entry of its cell; -1 for none
  std::vector<std::int64_t> start_;  // by span: its first entry
  std::vector<double> outside_;      // by entry
};

}  // namespace

Allowed::Allowed(const GrammarView& coarse, const Chart& chart, double margin, std::int64_t memory, Team* team,
                 int worker)
    : n_coarse_(coarse.n_symbols) {
  const std::int64_t n = chart.n_words(), n_cells = n * (n + 1) / 2;
  const std::int64_t by_cell = n_coarse_ * 5 + 9;  // places and permissions of symbols, and where entries start
  most_bytes_ = n_cells * by_cell + chart.n_entries() * static_cast<std::int64_t>(sizeof(double));
  fits_ = most_bytes_ <= memory;
  if (!fits_) return;
  table_.assign(n_cells * n_coarse_, 0);
  any_.assign(n_cells, 0);
  Outside outside(coarse, chart, margin);
  for (std::int64_t length = n; length > 0; --length) {
    for (std::int64_t i = 0; i + length <= n; ++i) {
      if (team) team->breathe(worker);
      const std::int64_t cell = Chart::index(i, i + length);
      char* allowed = table_.data() + cell * n_coarse_;
      outside.visit(i, i + length, allowed);
      any_[cell] = std::find(allowed, allowed + n_coarse_, 1) != allowed + n_coarse_;
    }
  }
}

}  // namespace espalier
