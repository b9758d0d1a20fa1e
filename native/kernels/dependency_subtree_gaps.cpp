#include "kernels/dependency_subtree_gaps.hpp"

#include <vector>

namespace espalier {
namespace {

// One row tree against one column after the other. Tables have a row and a column of zeros in front: token k is at k + 1,
// and what has no left neighbour reads 0.
class Trees {
 public:
  Trees(const ArcsView& a, const ArcsView& b, const ArcValues& values)
      : a_(a), b_(b), values_(values), first_(values.n_features, -1) {}

  void begin(std::int64_t row) {
    for (std::int32_t feature : listed_) first_[feature] = -1;
    listed_.clear();
    next_.clear();
    token_.clear();
    row_ = row;
    const std::int64_t first_token = a_.start[row];
    for (std::int64_t x = 0; x < a_.size(row); ++x) {
      for (std::int64_t f = a_.feature_start[first_token + x]; f < a_.feature_start[first_token + x + 1]; ++f) {
        const std::int32_t feature = a_.feature[f];
        listed_.push_back(feature);
        token_.push_back(static_cast<std::int32_t>(x));
        next_.push_back(first_[feature]);
        first_[feature] = static_cast<std::int32_t>(token_.size()) - 1;
      }
    }
  }

  double value(std::int64_t column, Pace& pace) { return set(column, pace) ? compute(pace) : 0.0; }

  void pull(std::int64_t column, double factor, double* decay_bar, double* weight_bar, Pace& pace) {
    if (!set(column, pace)) return;
    compute(pace);
    pull_tables(factor, pace);
    for (std::size_t k = 0; k < match_.size(); ++k) *decay_bar += match_bar_[k] * match_[k] / values_.decay;
    for_matches(column_, pace,
                [&](std::int64_t place, std::int32_t part) { weight_bar[part] += match_bar_[place] * values_.decay; });
  }

 private:
  std::int64_t at(std::int32_t x, std::int32_t y) const { return (x + 1) * width_ + y + 1; }

  // Calls visit(place, template) for every feature that two arcs share.
  template <class Visit>
  void for_matches(std::int64_t column, Pace& pace, const Visit& visit) const {
    const std::int64_t first_token = b_.start[column];
    for (std::int64_t y = 0; y < b_.size(column); ++y) {
      for (std::int64_t f = b_.feature_start[first_token + y]; f < b_.feature_start[first_token + y + 1]; ++f) {
        const std::int32_t part = values_.part[b_.feature[f]];
        pace.step(a_.size(row_));
        for (std::int32_t k = first_[b_.feature[f]]; k >= 0; k = next_[k]) {
          visit(at(token_[k], static_cast<std::int32_t>(y)), part);
        }
      }
    }
  }

  // The weights of what the arcs of the pair share; false where that is nothing.
  bool set(std::int64_t column, Pace& pace) {
    column_ = column;
    width_ = b_.size(column) + 1;
    clear_table(match_, (a_.size(row_) + 1) * width_, pace);
    bool any = false;
    for_matches(column, pace, [&](std::int64_t place, std::int32_t part) {
      match_[place] += values_.decay * values_.weight[part];
      any = true;
    });
    return any;
  }

  template <class Visit>
  void bottom_up(Pace& pace, const Visit& visit) const {
    const std::int64_t a = a_.start[row_], b = b_.start[column_];
    for (std::int64_t i = 0; i < a_.size(row_); ++i) {
      pace.step(b_.size(column_));
      for (std::int64_t j = 0; j < b_.size(column_); ++j) visit(a_.order[a + i], b_.order[b + j]);
    }
  }
  template <class Visit>
  void top_down(Pace& pace, const Visit& visit) const {
    const std::int64_t a = a_.start[row_], b = b_.start[column_];
    for (std::int64_t i = a_.size(row_); i-- > 0;) {
      pace.step(b_.size(column_));
      for (std::int64_t j = b_.size(column_); j-- > 0;) visit(a_.order[a + i], b_.order[b + j]);
    }
  }
  std::int32_t row_head(std::int32_t x) const { return a_.head[a_.start[row_] + x]; }
  std::int32_t row_left(std::int32_t x) const { return a_.previous[a_.start[row_] + x]; }
  std::int32_t column_head(std::int32_t y) const { return b_.head[b_.start[column_] + y]; }
  std::int32_t column_left(std::int32_t y) const { return b_.previous[b_.start[column_] + y]; }

  double compute(Pace& pace) {
    clear_table(ending_, match_.size(), pace);
    clear_table(below_, match_.size(), pace);
    clear_table(prefix_, match_.size(), pace);
    double total = 0.0;
    bottom_up(pace, [&](std::int32_t x, std::int32_t y) {
      const std::int32_t u = row_head(x), v = column_head(y);
      if (u < 0 || v < 0) return;
      const std::int64_t here = at(x, y), left = at(row_left(x), column_left(y));
      const double m = match_[here];
      if (m != 0.0) {
        ending_[here] = m * (1.0 + below_[here]) * (1.0 + prefix_[left]);
        below_[at(u, v)] += ending_[here];
        total += ending_[here];
      }
      prefix_[here] = ending_[here] + prefix_[at(row_left(x), y)] + prefix_[at(x, column_left(y))] - prefix_[left];
    });
    return total;
  }

  // From the cotangent of the sum to those of the matches, in the opposite order.
  void pull_tables(double factor, Pace& pace) {
    clear_table(match_bar_, match_.size(), pace);
    clear_table(below_bar_, match_.size(), pace);
    clear_table(prefix_bar_, match_.size(), pace);
    top_down(pace, [&](std::int32_t x, std::int32_t y) {
      const std::int32_t u = row_head(x), v = column_head(y);
      if (u < 0 || v < 0) return;
      const std::int64_t here = at(x, y), left = at(row_left(x), column_left(y));
      const double own = prefix_bar_[here];
      prefix_bar_[at(row_left(x), y)] += own;
      prefix_bar_[at(x, column_left(y))] += own;
      prefix_bar_[left] -= own;
      const double m = match_[here];
      if (m == 0.0) return;
      const double bar = own + factor + below_bar_[at(u, v)];
      const double below = 1.0 + below_[here], before = 1.0 + prefix_[left];
      match_bar_[here] += bar * below * before;
      below_bar_[here] += bar * m * before;
      prefix_bar_[left] += bar * m * below;
    });
  }

  const ArcsView &a_, &b_;
  const ArcValues& values_;
  std::int64_t row_ = 0, column_ = 0, width_ = 0;
  std::vector<std::int32_t> first_, listed_, next_, token_;  // by feature, the tokens of the row whose arcs have it
  std::vector<double> match_, ending_, below_, prefix_;
  std::vector<double> match_bar_, below_bar_, prefix_bar_;
};

}  // namespace

void dependency_subtree_gaps_values(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values,
                                    Team& team, double* out) {
  fill_pairs(
      a.n_trees, b.n_trees, pairs, team, out, [&] { return Trees(a, b, values); },
      [](Trees& trees, std::int64_t row) { trees.begin(row); },
      [](Trees& trees, std::int64_t column, Pace& pace) { return trees.value(column, pace); });
}

void dependency_subtree_gaps_pull_back(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values,
                                       const double* cotangent, Team& team, double* decay_bar, double* weight_bar) {
  const std::vector<double> sums = pull_pairs(
      a.n_trees, b.n_trees, pairs, cotangent, 1 + values.n_templates, team, [&] { return Trees(a, b, values); },
      [](Trees& trees, std::int64_t row) { trees.begin(row); },
      [](Trees& trees, std::int64_t column, double factor, double* sum, Pace& pace) {
        trees.pull(column, factor, sum, sum + 1, pace);
      });
  *decay_bar += sums[0];
  for (std::int64_t k = 0; k < values.n_templates; ++k) weight_bar[k] += sums[1 + k];
}

}  // namespace espalier
