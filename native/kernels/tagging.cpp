#include "kernels/tagging.hpp"

#include <algorithm>
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

  void pull(std::int64_t column, double factor, const TaggingBars& bars, Pace& pace) {
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
      bars.decay[match.tag] += bar * match.value / values_.decay[match.tag];
      if (match.same_word) {
        bars.word_weight[match.tag] += bar * values_.decay[match.tag] * (match.value / match.factor);
      }
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

// As Runs, with gaps: a grid over all positions of both.
class Gapped {
 public:
  Gapped(const TaggedView& a, const TaggedView& b, const TaggingValues& values) : a_(a), b_(b), values_(values) {}

  void begin(std::int64_t row) {
    tags_ = a_.tags.begin(row);
    words_ = a_.word + a_.tags.start[row];
    size_ = a_.tags.size(row);
  }

  double value(std::int64_t column, Pace& pace) {
    const std::int64_t n = b_.tags.size(column);
    const Side other{b_.tags.begin(column), b_.word + b_.tags.start[column]};
    up_to_.assign(n, 0.0);
    double total = 0.0;
    for (std::int64_t i = 0; i < size_; ++i) {
      pace.step(n);
      const double gap = values_.gap[tags_[i]];
      double before = 0.0, along = 0.0;  // Q(i - 1, j - 1) and R(i, j - 1)
      for (std::int64_t j = 0; j < n; ++j) {
        const double ends = factor(i, other, j) * (1.0 + before);
        total += ends;
        along = ends + values_.gap[other.tags[j]] * along;
        before = up_to_[j];
        up_to_[j] = along + gap * before;
      }
    }
    return total;
  }

  void pull(std::int64_t column, double cotangent, const TaggingBars& bars, Pace& pace) {
    const std::int64_t n = b_.tags.size(column);
    const Side other{b_.tags.begin(column), b_.word + b_.tags.start[column]};
    fill(other, n, pace);
    // Row by row from the last: what a cell was used for hands its cotangent back.
    up_to_.assign(n, 0.0);  // of Q(i, j)
    for (std::int64_t i = size_; i-- > 0;) {
      pace.step(2 * n);
      const std::int32_t tag = tags_[i];
      const double gap = values_.gap[tag];
      handed_.assign(n, 0.0);  // of Q(i - 1, j)
      double along_bar = 0.0;  // of R(i, j), from R(i, j + 1)
      for (std::int64_t j = n; j-- > 0;) {
        const double above = i > 0 ? grid_[(i - 1) * n + j] : 0.0;
        const double before = i > 0 && j > 0 ? grid_[(i - 1) * n + j - 1] : 0.0;
        bars.gap[tag] += up_to_[j] * above;
        handed_[j] += up_to_[j] * gap;
        along_bar += up_to_[j];
        if (tag == other.tags[j]) {
          const bool same = words_[i] == other.words[j];
          const double kept = same ? 1.0 + values_.word_weight[tag] : 1.0;
          const double bar = (cotangent + along_bar) * (1.0 + before);
          bars.decay[tag] += bar * kept;
          if (same) bars.word_weight[tag] += bar * values_.decay[tag];
          if (j > 0) handed_[j - 1] += (cotangent + along_bar) * values_.decay[tag] * kept;
        }
        if (j > 0) bars.gap[other.tags[j]] += along_bar * rows_[i * n + j - 1];
        along_bar *= values_.gap[other.tags[j]];
      }
      up_to_.swap(handed_);
    }
  }

 private:
  struct Side {
    const std::int32_t *tags, *words;
  };

  double factor(std::int64_t i, const Side& other, std::int64_t j) const {
    const std::int32_t tag = tags_[i];
    if (tag != other.tags[j]) return 0.0;
    return values_.decay[tag] * (words_[i] == other.words[j] ? 1.0 + values_.word_weight[tag] : 1.0);
  }

  // The tables of Q and R, row by row.
  void fill(const Side& other, std::int64_t n, Pace& pace) {
    clear_table(grid_, size_ * n, pace);
    clear_table(rows_, size_ * n, pace);
    for (std::int64_t i = 0; i < size_; ++i) {
      pace.step(n);
      const double gap = values_.gap[tags_[i]];
      for (std::int64_t j = 0; j < n; ++j) {
        const double before = i > 0 && j > 0 ? grid_[(i - 1) * n + j - 1] : 0.0;
        const double along = j > 0 ? values_.gap[other.tags[j]] * rows_[i * n + j - 1] : 0.0;
        rows_[i * n + j] = factor(i, other, j) * (1.0 + before) + along;
        grid_[i * n + j] = rows_[i * n + j] + (i > 0 ? gap * grid_[(i - 1) * n + j] : 0.0);
      }
    }
  }

  const TaggedView &a_, &b_;
  const TaggingValues& values_;
  const std::int32_t *tags_ = nullptr, *words_ = nullptr;
  std::int64_t size_ = 0;
  std::vector<double> up_to_, handed_, grid_, rows_;
};

bool has_gaps(const TaggingValues& values) {
  return std::any_of(values.gap, values.gap + values.n_tags, [](double gap) { return gap != 0.0; });
}

template <class Worker>
void fill_with(const TaggedView& a, const TaggedView& b, Pairs pairs, const TaggingValues& values, Team& team,
               double* out) {
  fill_pairs(
      a.tags.n_sequences, b.tags.n_sequences, pairs, team, out, [&] { return Worker(a, b, values); },
      [](Worker& worker, std::int64_t row) { worker.begin(row); },
      [](Worker& worker, std::int64_t column, Pace& pace) { return worker.value(column, pace); });
}

template <class Worker>
std::vector<double> pull_with(const TaggedView& a, const TaggedView& b, Pairs pairs, const TaggingValues& values,
                              const double* cotangent, Team& team) {
  const std::int64_t n = values.n_tags;
  return pull_pairs(
      a.tags.n_sequences, b.tags.n_sequences, pairs, cotangent, 3 * n, team, [&] { return Worker(a, b, values); },
      [](Worker& worker, std::int64_t row) { worker.begin(row); },
      [n](Worker& worker, std::int64_t column, double factor, double* sum, Pace& pace) {
        worker.pull(column, factor, {sum, sum + n, sum + 2 * n}, pace);
      });
}

}  // namespace

void tagging_values(const TaggedView& a, const TaggedView& b, Pairs pairs, const TaggingValues& values, Team& team,
                    double* out) {
  (has_gaps(values) ? fill_with<Gapped> : fill_with<Runs>)(a, b, pairs, values, team, out);
}

void tagging_pull_back(const TaggedView& a, const TaggedView& b, Pairs pairs, const TaggingValues& values,
                       const double* cotangent, Team& team, const TaggingBars& bars) {
  const std::vector<double> sums =
      (has_gaps(values) ? pull_with<Gapped> : pull_with<Runs>)(a, b, pairs, values, cotangent, team);
  const std::int64_t n = values.n_tags;
  for (std::int64_t k = 0; k < n; ++k) {
    bars.decay[k] += sums[k];
    bars.word_weight[k] += sums[n + k];
    bars.gap[k] += sums[2 * n + k];
  }
}

}  // namespace espalier
