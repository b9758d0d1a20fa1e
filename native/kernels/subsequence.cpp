#include "kernels/subsequence.hpp"

#include <algorithm>
#include <vector>

namespace espalier {
namespace {

// The matched positions of one side of a pair.
struct Axis {
  std::vector<std::int32_t> position;  // ascending
  std::vector<double> before, skip;    // the weight of the gap before a position, and of it with the position itself

  std::int64_t size() const { return static_cast<std::int64_t>(position.size()); }

  void weigh(const std::int32_t* symbol, const double* gap) {
    before.assign(position.size(), 1.0);
    skip.assign(position.size(), 1.0);
    for (std::size_t a = 0; a < position.size(); ++a) {
      // The gap before the first matched position is never inside a subsequence.
      for (std::int32_t i = a ? position[a - 1] + 1 : position[0]; i < position[a]; ++i) before[a] *= gap[symbol[i]];
      skip[a] = before[a] * gap[symbol[position[a]]];
    }
  }
};

// One pair of sequences on its grid. Grids have a row and a column of zeros before the first.
class Grid {
 public:
  explicit Grid(const SubsequenceValues& values) : values_(values), sums_(values.length) {}

  // Finds what the pair shares; false where that is nothing.
  bool set(const Positions& rows, const std::int32_t* symbol, std::int64_t n, Pace& pace) {
    row_symbol_ = rows.symbols();
    column_symbol_ = symbol;
    if (!(values_.soft.value ? set_soft(rows, n, pace) : set_exact(rows, n, pace))) return false;
    n_orders_ = std::min({values_.length, rows_.size(), columns_.size()});
    return true;
  }

  double value(Pace& pace) {
    compute(pace);
    double out = 0.0;
    for (std::int64_t p = 0; p < n_orders_; ++p) out += values_.order[p] * sums_[p];
    return out;
  }

  // Adds the gradients of factor * value.
  void pull_back(double factor, const SubsequenceBars& bars, Pace& pace) {
    compute(pace);
    const std::int64_t n = match_.size();
    clear_table(match_bar_, n, pace);
    clear_table(sum_bar_, n, pace);
    rows_bar_.clear(rows_.size());
    columns_bar_.clear(columns_.size());
    for (std::int64_t p = n_orders_; p-- > 0;) {
      bars.order[p] += factor * sums_[p];
      pull_order(p, factor * values_.order[p], pace);
    }
    pull_matches(bars, pace);
    pull_gaps(rows_, rows_bar_, row_symbol_, bars.gap);
    pull_gaps(columns_, columns_bar_, column_symbol_, bars.gap);
  }

 private:
  struct AxisBar {
    std::vector<double> before, skip;
    void clear(std::int64_t n) {
      before.assign(n, 0.0);
      skip.assign(n, 0.0);
    }
  };

  // Only equal symbols match.
  bool set_exact(const Positions& rows, std::int64_t n, Pace& pace) {
    const std::int32_t* symbol = column_symbol_;
    used_.assign(rows.size(), 0);
    columns_.position.clear();
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int32_t first = rows.first(symbol[j]);
      if (first < 0) continue;
      columns_.position.push_back(static_cast<std::int32_t>(j));
      if (used_[first]) continue;
      for (std::int32_t i = first; i >= 0; i = rows.next(i)) used_[i] = 1;
    }
    if (columns_.position.empty()) return false;
    rows_.position.clear();
    for (std::int32_t i = 0; i < rows.size(); ++i) {
      if (!used_[i]) continue;
      used_[i] = static_cast<std::int32_t>(rows_.position.size()) + 1;
      rows_.position.push_back(i);
    }
    open_grid(pace);
    for (std::int64_t b = 0; b < columns_.size(); ++b) {
      pace.step(rows_.size());
      const std::int32_t x = symbol[columns_.position[b]];
      const double weight = values_.match[x] * values_.match[x];
      for (std::int32_t i = rows.first(x); i >= 0; i = rows.next(i)) match_[used_[i] * width_ + b + 1] = weight;
    }
    return true;
  }

  // Symbols match as far as they are similar; a position stays where it is similar to any of the other side.
  bool set_soft(const Positions& rows, std::int64_t n, Pace& pace) {
    used_.assign(n, 0);
    rows_.position.clear();
    for (std::int32_t i = 0; i < rows.size(); ++i) {
      pace.step(n);
      const double* similar = values_.soft.values_of(row_symbol_[i]);
      bool any = false;
      for (std::int64_t j = 0; j < n; ++j) {
        if (similar[column_symbol_[j]] == 0.0) continue;
        any = true;
        used_[j] = 1;
      }
      if (any) rows_.position.push_back(i);
    }
    if (rows_.position.empty()) return false;
    columns_.position.clear();
    for (std::int64_t j = 0; j < n; ++j) {
      if (used_[j]) columns_.position.push_back(static_cast<std::int32_t>(j));
    }
    open_grid(pace);
    for (std::int64_t a = 0; a < rows_.size(); ++a) {
      pace.step(width_);
      const std::int32_t x = row_symbol_[rows_.position[a]];
      const double* similar = values_.soft.values_of(x);
      for (std::int64_t b = 0; b < columns_.size(); ++b) {
        const std::int32_t y = column_symbol_[columns_.position[b]];
        match_[(a + 1) * width_ + b + 1] = values_.soft.blend(x == y, similar[y]) * values_.match[x] * values_.match[y];
      }
    }
    return true;
  }

  // Weighs the gaps and clears the matches of the positions found.
  void open_grid(Pace& pace) {
    rows_.weigh(row_symbol_, values_.gap);
    columns_.weigh(column_symbol_, values_.gap);
    width_ = columns_.size() + 1;
    clear_table(match_, (rows_.size() + 1) * width_, pace);
  }

  // From the weights of matches to those of their symbols.
  void pull_matches(const SubsequenceBars& bars, Pace& pace) const {
    const SoftMatching& soft = values_.soft;
    for (std::int64_t a = 1; a <= rows_.size(); ++a) {
      pace.step(width_);
      const std::int32_t x = row_symbol_[rows_.position[a - 1]];
      const double* similar = soft.value ? soft.values_of(x) : nullptr;
      for (std::int64_t b = 1; b < width_; ++b) {
        if (!soft.value && match_[a * width_ + b] == 0.0) continue;
        const double bar = match_bar_[a * width_ + b];
        const std::int32_t y = column_symbol_[columns_.position[b - 1]];
        if (!similar) {
          bars.match[x] += 2.0 * bar * values_.match[x];
          continue;
        }
        const double value = soft.blend(x == y, similar[y]);
        bars.match[x] += bar * value * values_.match[y];
        bars.match[y] += bar * value * values_.match[x];
        *bars.mix += bar * values_.match[x] * values_.match[y] * ((x == y ? 1.0 : 0.0) - similar[y]);
      }
    }
  }

  const double* below(std::int64_t p) const { return prefix_.data() + p * match_.size(); }

  // Sp and Qp of every order, one after the other.
  void compute(Pace& pace) {
    const std::int64_t n = match_.size();
    clear_table(prefix_, n * n_orders_, pace);
    for (std::int64_t p = 0; p < n_orders_; ++p) {
      double* q = prefix_.data() + p * n;
      const double* under = p ? below(p - 1) : nullptr;
      double sum = 0.0;
      for (std::int64_t a = 1; a <= rows_.size(); ++a) {
        pace.step(width_);
        const double skip_row = rows_.skip[a - 1], before_row = rows_.before[a - 1];
        const double* m = match_.data() + a * width_;
        double *row = q + a * width_, *above = row - width_;
        for (std::int64_t b = 1; b < width_; ++b) {
          double s = m[b];
          if (p && s != 0.0) s *= before_row * columns_.before[b - 1] * under[(a - 1) * width_ + b - 1];
          sum += s;
          const double skip_column = columns_.skip[b - 1];
          row[b] = s + skip_row * above[b] + skip_column * (row[b - 1] - skip_row * above[b - 1]);
        }
      }
      sums_[p] = sum;
    }
  }

  // From the cotangents of Qp (in sum_bar_) and of the sum of Sp to those of Q(p-1), which replace them.
  void pull_order(std::int64_t p, double weight, Pace& pace) {
    const double* q = below(p);
    const double* under = p ? below(p - 1) : nullptr;
    clear_table(under_bar_, match_.size(), pace);
    for (std::int64_t a = rows_.size(); a > 0; --a) {
      pace.step(width_);
      const double skip_row = rows_.skip[a - 1];
      const double *above = q + (a - 1) * width_, *row = q + a * width_;
      double *bar = sum_bar_.data() + a * width_, *bar_above = bar - width_;
      for (std::int64_t b = width_ - 1; b > 0; --b) {
        const double own = bar[b], skip_column = columns_.skip[b - 1];
        if (own != 0.0) {
          bar_above[b] += skip_row * own;
          bar[b - 1] += skip_column * own;
          bar_above[b - 1] -= skip_row * skip_column * own;
          rows_bar_.skip[a - 1] += own * (above[b] - skip_column * above[b - 1]);
          columns_bar_.skip[b - 1] += own * (row[b - 1] - skip_row * above[b - 1]);
        }
        const double m = match_[a * width_ + b];
        if (m == 0.0 && !values_.soft.value) continue;  // a soft match may weigh 0 and still have a gradient
        const double s_bar = weight + own;
        double& m_bar = match_bar_[a * width_ + b];
        if (p == 0) {
          m_bar += s_bar;
          continue;
        }
        const double before_row = rows_.before[a - 1], before_column = columns_.before[b - 1];
        const double prefix = under[(a - 1) * width_ + b - 1];
        m_bar += s_bar * before_row * before_column * prefix;
        rows_bar_.before[a - 1] += s_bar * m * before_column * prefix;
        columns_bar_.before[b - 1] += s_bar * m * before_row * prefix;
        under_bar_[(a - 1) * width_ + b - 1] += s_bar * m * before_row * before_column;
      }
    }
    sum_bar_.swap(under_bar_);
  }

  // From the weights of gaps to those of the symbols in them; where a symbol weighs 0, nobody asks.
  void pull_gaps(const Axis& axis, const AxisBar& bar, const std::int32_t* symbol, double* gap_bar) const {
    for (std::int64_t a = 1; a < axis.size(); ++a) {  // nothing is skipped before the first
      const double gap = values_.gap[symbol[axis.position[a]]];
      gap_bar[symbol[axis.position[a]]] += bar.skip[a] * axis.before[a];
      const double before_bar = (bar.before[a] + bar.skip[a] * gap) * axis.before[a];
      if (before_bar == 0.0) continue;
      for (std::int32_t i = axis.position[a - 1] + 1; i < axis.position[a]; ++i) {
        gap_bar[symbol[i]] += before_bar / values_.gap[symbol[i]];
      }
    }
  }

  const SubsequenceValues& values_;
  Axis rows_, columns_;
  AxisBar rows_bar_, columns_bar_;
  const std::int32_t *row_symbol_ = nullptr, *column_symbol_ = nullptr;
  std::int64_t width_ = 0, n_orders_ = 0;
  std::vector<std::int32_t> used_;  // exact: by position of the row sequence, its row on the grid, from 1
  std::vector<double> match_, prefix_, sums_;
  std::vector<double> match_bar_, sum_bar_, under_bar_;
};

// One row sequence against one column after the other.
class Rows {
 public:
  Rows(const SequencesView& a, const SequencesView& b, const SubsequenceValues& values)
      : a_(a), b_(b), positions_(values.n_symbols), grid_(values) {}

  void begin(std::int64_t row) { positions_.set(a_, row); }
  double value(std::int64_t column, Pace& pace) { return shares(column, pace) ? grid_.value(pace) : 0.0; }
  void pull(std::int64_t column, double factor, const SubsequenceBars& bars, Pace& pace) {
    if (shares(column, pace)) grid_.pull_back(factor, bars, pace);
  }

 private:
  bool shares(std::int64_t column, Pace& pace) {
    return grid_.set(positions_, b_.begin(column), b_.size(column), pace);
  }

  const SequencesView &a_, &b_;
  Positions positions_;
  Grid grid_;
};

}  // namespace

void subsequence_values(const SequencesView& a, const SequencesView& b, Pairs pairs, const SubsequenceValues& values,
                        Team& team, double* out) {
  fill_pairs(
      a.n_sequences, b.n_sequences, pairs, team, out, [&] { return Rows(a, b, values); },
      [](Rows& rows, std::int64_t row) { rows.begin(row); },
      [](Rows& rows, std::int64_t column, Pace& pace) { return rows.value(column, pace); });
}

void subsequence_pull_back(const SequencesView& a, const SequencesView& b, Pairs pairs, const SubsequenceValues& values,
                           const double* cotangent, Team& team, const SubsequenceBars& bars) {
  const std::int64_t n = values.n_symbols;
  const std::vector<double> sums = pull_pairs(
      a.n_sequences, b.n_sequences, pairs, cotangent, 2 * n + values.length + 1, team,
      [&] { return Rows(a, b, values); }, [](Rows& rows, std::int64_t row) { rows.begin(row); },
      [n, &values](Rows& rows, std::int64_t column, double factor, double* sum, Pace& pace) {
        rows.pull(column, factor, {sum, sum + n, sum + 2 * n, sum + 2 * n + values.length}, pace);
      });
  for (std::int64_t k = 0; k < n; ++k) {
    bars.gap[k] += sums[k];
    bars.match[k] += sums[n + k];
  }
  for (std::int64_t p = 0; p < values.length; ++p) bars.order[p] += sums[2 * n + p];
  *bars.mix += sums.back();
}

}  // namespace espalier
