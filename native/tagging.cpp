#include "tagging.hpp"

#include <vector>

namespace espalier {
namespace {

// One row sequence against one column after the other.
class Runs {
 public:
  Runs(const TaggedView& a, const TaggedView& b, const TaggingValues& values)
      : a_(a), b_(b), values_(values), positions_(values.n_tags) {}

  void begin(std::int64_t row) {
    positions_.set(a_.tags, row);
    row_word_ = a_.word + a_.tags.start[row];
    after_.assign(positions_.size() + 1, 0.0);
    here_.assign(positions_.size() + 1, 0.0);
  }

  double value(std::int64_t column, Pace& pace) {
    double total = 0.0;
    walk(column, pace, [&](const Match& match) { total += match.value; });
    return total;
  }

  void pull(std::int64_t column, double factor, double* decay_bar, double* word_bar, Pace& pace) {
    matches_.clear();
    walk(column, pace, [&](const Match& match) { matches_.push_back(match); });
    // From left to right: what stands before a position hands its cotangent on.
    std::fill(after_.begin(), after_.end(), 0.0);
    std::fill(here_.begin(), here_.end(), 0.0);
    std::int32_t j = -1;
    for (std::size_t k = matches_.size(); k-- > 0;) {
      const Match& match = matches_[k];
      if (match.j != j) {
        pace.step(positions_.size());
        // here_ holds what column j handed on to j + 1.
        after_.swap(here_);
        std::fill(here_.begin(), here_.end(), 0.0);
        if (match.j != j + 1) std::fill(after_.begin(), after_.end(), 0.0);
        j = match.j;
      }
      const double bar = factor + after_[match.i];
      here_[match.i + 1] += bar * match.factor;
      decay_bar[match.tag] += bar * match.value / values_.decay[match.tag];
      if (match.same_word) word_bar[match.tag] += bar * values_.decay[match.tag] * (match.value / match.factor);
    }
  }

 private:
  struct Match {
    std::int32_t i, j, tag;
    bool same_word;
    double factor, value;  // C(i, j), and what it is of 1 + C(i + 1, j + 1)
  };

  // Visits all positions with equal tags, from the last column back.
  template <class Visit>
  void walk(std::int64_t column, Pace& pace, const Visit& visit) {
    const std::int32_t* tags = b_.tags.begin(column);
    const std::int32_t* words = b_.word + b_.tags.start[column];
    std::fill(after_.begin(), after_.end(), 0.0);
    std::fill(here_.begin(), here_.end(), 0.0);
    for (auto j = static_cast<std::int32_t>(b_.tags.size(column)); j-- > 0;) {
      pace.step(positions_.size());
      const std::int32_t tag = tags[j];
      if (positions_.first(tag) < 0) {
        std::fill(after_.begin(), after_.end(), 0.0);
        continue;
      }
      reversed_.clear();
      for (std::int32_t i = positions_.first(tag); i >= 0; i = positions_.next(i)) reversed_.push_back(i);
      for (std::size_t k = reversed_.size(); k-- > 0;) {
        const std::int32_t i = reversed_[k];
        const bool same = row_word_[i] == words[j];
        const double factor = values_.decay[tag] * (same ? 1.0 + values_.word_weight[tag] : 1.0);
        here_[i] = factor * (1.0 + after_[i + 1]);
        visit(Match{i, j, tag, same, factor, here_[i]});
      }
      after_.swap(here_);
      std::fill(here_.begin(), here_.end(), 0.0);
    }
  }

  const TaggedView &a_, &b_;
  const TaggingValues& values_;
  Positions positions_;
  const std::int32_t* row_word_ = nullptr;
  std::vector<double> after_, here_;  // by position of the row, for the next column and for this one
  std::vector<std::int32_t> reversed_;
  std::vector<Match> matches_;
};

}  // namespace

void tagging_values(const TaggedView& a, const TaggedView& b, Pairs pairs, const TaggingValues& values, Team& team,
                    double* out) {
  fill_pairs(
      a.tags.n_sequences, b.tags.n_sequences, pairs, team, out, [&] { return Runs(a, b, values); },
      [](Runs& runs, std::int64_t row) { runs.begin(row); },
      [](Runs& runs, std::int64_t column, Pace& pace) { return runs.value(column, pace); });
}

void tagging_pull_back(const TaggedView& a, const TaggedView& b, Pairs pairs, const TaggingValues& values,
                       const double* cotangent, Team& team, double* decay_bar, double* word_bar) {
  const std::int64_t n = values.n_tags;
  const std::vector<double> sums = pull_pairs(
      a.tags.n_sequences, b.tags.n_sequences, pairs, cotangent, 2 * n, team, [&] { return Runs(a, b, values); },
      [](Runs& runs, std::int64_t row) { runs.begin(row); },
      [n](Runs& runs, std::int64_t column, double factor, double* sum, Pace& pace) {
        runs.pull(column, factor, sum, sum + n, pace);
      });
  for (std::int64_t k = 0; k < n; ++k) {
    decay_bar[k] += sums[k];
    word_bar[k] += sums[n + k];
  }
}

}  // namespace espalier
