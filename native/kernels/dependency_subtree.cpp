#include "kernels/dependency_subtree.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "kernels/dependency_subtree_gaps.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kColumnArcs = 512;   // of a block of columns
constexpr std::int64_t kCells = 1 << 16;    // of a table, unless a single pair needs more
constexpr std::int64_t kFewestBlocks = 64;  // of a large corpus, so that threads share the work evenly
constexpr std::int64_t kFewestArcs = 64;    // of a block, if there are more
constexpr std::int64_t kLookedAhead = 8;    // features

// Where blocks of columns begin; the last entry is where they end. They depend on the corpora alone.
std::vector<std::int64_t> column_blocks(const ArcsView& a, const ArcsView& b, Pairs pairs) {
  std::int64_t longest = 1;
  for (std::int64_t row = 0; row < a.n_trees; ++row) longest = std::max(longest, a.size(row));
  const std::int64_t fair = std::max(b.start[b.n_trees] / kFewestBlocks, kFewestArcs);
  const std::int64_t most = pairs == Pairs::diagonal ? 0 : std::min({kColumnArcs, kCells / longest, fair});
  std::vector<std::int64_t> out{0};
  for (std::int64_t column = 1; column < b.n_trees; ++column) {
    if (b.start[column + 1] - b.start[out.back()] > most) out.push_back(column);
  }
  if (b.n_trees) out.push_back(b.n_trees);
  return out;
}

// The numbers of a pair of arcs, and what they are worth: subtrees of any size.
class AnySize {
 public:
  AnySize(int, bool pulling) : stride(pulling ? 6 : 3) {}

  // `up` is of the pair of their heads, `left` of the pair to their left; null where no feature is shared.
  double count(double* own, double* up, const double* left) const {
    if (own[kMatch] == 0.0) return 0.0;
    own[kEnding] = own[kMatch] * (1.0 + own[kBelow]) * (1.0 + (left ? left[kEnding] : 0.0));
    if (up) up[kBelow] += own[kEnding];
    return own[kEnding];
  }
  // The opposite way: `factor` is the cotangent of what was counted.
  void pull(double* own, const double* up, double* left, double factor) const {
    const double bar = own[kEndingBar] + factor + (up ? up[kBelowBar] : 0.0);
    const double below = 1.0 + own[kBelow], before = 1.0 + (left ? left[kEnding] : 0.0);
    own[kMatchBar] += bar * below * before;
    own[kBelowBar] += bar * own[kMatch] * before;
    if (left) left[kEndingBar] += bar * own[kMatch] * below;
  }

  const std::int64_t stride;
  static constexpr int kMatch = 0, kMatchBar = 3;

 private:
  static constexpr int kEnding = 1, kBelow = 2, kEndingBar = 4, kBelowBar = 5;
};

// The same for subtrees of at most n arcs: every number but the match becomes n numbers, by how many arcs there are.
class Limited {
 public:
  Limited(int n, bool pulling) : stride(pulling ? 2 + 4 * n : 2 + 2 * n), n_(n) {}

  double count(double* own, double* up, const double* left) const {
    const double m = own[kMatch];
    if (m == 0.0) return 0.0;
    double *ending = own + kEnding, *below = own + kEnding + n_, total = 0.0;
    for (int size = 1; size <= n_; ++size) {
      double sum = m * below_of(below, size - 1);
      if (left) {
        for (int last = 1; last < size; ++last) sum += m * below_of(below, last - 1) * left[kEnding + size - last - 1];
      }
      ending[size - 1] = sum;
      total += sum;
      if (up && size < n_) up[kEnding + n_ + size - 1] += sum;
    }
    return total;
  }
  void pull(double* own, const double* up, double* left, double factor) const {
    const double m = own[kMatch];
    const double *below = own + kEnding + n_, *ending_bar = own + kEnding + 2 * n_;
    double* below_bar = own + kEnding + 3 * n_;
    for (int size = 1; size <= n_; ++size) {
      const double bar = ending_bar[size - 1] + factor + (up && size < n_ ? up[kEnding + 3 * n_ + size - 1] : 0.0);
      for (int last = 1; last <= size; ++last) {
        const bool is_alone = last == size;
        if (!is_alone && !left) continue;
        const double before = is_alone ? 1.0 : left[kEnding + size - last - 1];
        own[kMatchBar] += bar * below_of(below, last - 1) * before;
        if (last > 1) below_bar[last - 2] += bar * m * before;
        if (!is_alone) left[kEnding + 2 * n_ + size - last - 1] += bar * m * below_of(below, last - 1);
      }
    }
  }

  const std::int64_t stride;
  static constexpr int kMatch = 0, kMatchBar = 1;

 private:
  static constexpr int kEnding = 2;
  // By how many arcs there are below.
  static double below_of(const double* below, int n) { return n == 0 ? 1.0 : below[n - 1]; }

  int n_;
};

// One block of columns against one row after the other. Arcs have the ranks of their modifiers, children before heads
// and left before right, so that a table is filled from its first cell to its last.
template <class Cells>
class Block {
 public:
  Block(const ArcsView& a, const ArcsView& b, const ArcValues& values, bool pulling)
      : a_(a), b_(b), values_(values), cells_(values.max_arcs, pulling), places_(values.n_features) {
    known_.assign((values.n_features + 63) / 64, 0);
  }

  void open(std::int64_t first, std::int64_t last) {
    for (const std::int32_t feature : listed_) known_[feature / 64] = 0;
    listed_.clear();
    head_.clear();
    left_.clear();
    first_ = first;
    begins_ = b_.start[first];
    width_ = b_.start[last] - begins_;
    n_words_ = (width_ + 63) / 64;
    std::vector<std::int32_t> rank;
    for (std::int64_t column = first; column < last; ++column) {
      set_ranks(b_, column, static_cast<std::int32_t>(b_.start[column] - begins_), rank, head_, left_);
    }
    // All places of a feature stand together: count them, then put them there.
    for_features(first, last, [&](std::int32_t feature, std::int32_t) {
      if (!is_known(feature)) {
        known_[feature / 64] |= std::uint64_t{1} << (feature % 64);
        listed_.push_back(feature);
        places_[feature] = {0, 0};
      }
      ++places_[feature].last;
    });
    std::int32_t n = 0;
    for (const std::int32_t feature : listed_) {
      const std::int32_t size = places_[feature].last;
      places_[feature] = {n, n};
      n += size;
    }
    place_.resize(static_cast<std::size_t>(n));
    for_features(first, last,
                 [&](std::int32_t feature, std::int32_t place) { place_[places_[feature].last++] = place; });
  }

  void begin(std::int64_t row, Pace& pace) {
    row_ = row;
    row_head_.clear();
    row_left_.clear();
    set_ranks(a_, row, 0, rank_, row_head_, row_left_);
    const auto n = static_cast<std::size_t>(a_.size(row));
    if (table_.size() < n * width_ * cells_.stride) table_.resize(n * width_ * cells_.stride, 0.0);
    bits_.assign(n * n_words_, 0);
    for_matches(pace, [&](std::int64_t i, std::int32_t feature, std::span<const std::int32_t> places) {
      const double weight = values_.decay * values_.weight[values_.part[feature]];
      std::uint64_t* bits = bits_.data() + i * n_words_;
      for (const std::int32_t place : places) {
        bits[place / 64] |= std::uint64_t{1} << (place % 64);
        cell(static_cast<std::int32_t>(i), place)[Cells::kMatch] += weight;
      }
    });
  }

  double value(std::int64_t column, Pace& pace) {
    double total = 0.0;
    each_cell(column, pace, [&](std::int32_t i, std::int32_t place) {
      total += cells_.count(cell(i, place), shared(row_head_[i], head_[place]), shared(row_left_[i], left_[place]));
    });
    return total;
  }

  void pull(std::int64_t column, double factor, Pace& pace) {
    visited_.clear();
    each_cell(column, pace, [&](std::int32_t i, std::int32_t place) {
      cells_.count(cell(i, place), shared(row_head_[i], head_[place]), shared(row_left_[i], left_[place]));
      visited_.push_back({i, place});
    });
    for (std::size_t k = visited_.size(); k-- > 0;) {
      const auto [i, place] = visited_[k];
      cells_.pull(cell(i, place), shared(row_head_[i], head_[place]), shared(row_left_[i], left_[place]), factor);
    }
  }

  // Adds what all pairs of the row pulled back to their matches.
  void add_pulled(double* decay_bar, double* weight_bar, Pace& pace) {
    for_matches(pace, [&](std::int64_t i, std::int32_t feature, std::span<const std::int32_t> places) {
      double bar = 0.0;
      for (const std::int32_t place : places) bar += cell(static_cast<std::int32_t>(i), place)[Cells::kMatchBar];
      const std::int32_t part = values_.part[feature];
      weight_bar[part] += bar * values_.decay;
      *decay_bar += bar * values_.weight[part];
    });
  }

  // Makes the table zero again.
  void end() {
    for (std::int32_t i = 0; i < a_.size(row_); ++i) {
      for (std::int64_t word = 0; word < n_words_; ++word) {
        for (std::uint64_t bits = bits_[i * n_words_ + word]; bits; bits &= bits - 1) {
          double* own = cell(i, static_cast<std::int32_t>(64 * word) + std::countr_zero(bits));
          std::fill(own, own + cells_.stride, 0.0);
        }
      }
    }
  }

 private:
  struct Places {
    std::int32_t first, last;
  };
  struct Visited {
    std::int32_t row, place;
  };

  // Appends, by rank and from `offset` on, where the head of each token and its left neighbour are; -1 for none.
  static void set_ranks(const ArcsView& view, std::int64_t tree, std::int32_t offset, std::vector<std::int32_t>& rank,
                        std::vector<std::int32_t>& head, std::vector<std::int32_t>& left) {
    const std::int64_t first = view.start[tree], n = view.size(tree);
    rank.resize(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) rank[view.order[first + k]] = offset + static_cast<std::int32_t>(k);
    const auto place_of = [&](std::int32_t token) { return token < 0 ? -1 : rank[token]; };
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t token = first + view.order[first + k];
      head.push_back(place_of(view.head[token]));
      left.push_back(place_of(view.previous[token]));
    }
  }

  bool is_known(std::int32_t feature) const { return known_[feature / 64] >> (feature % 64) & 1; }
  double* cell(std::int32_t i, std::int32_t place) { return table_.data() + (i * width_ + place) * cells_.stride; }
  // The cell of two arcs that share a feature, otherwise null.
  double* shared(std::int32_t i, std::int32_t place) {
    if (i < 0 || place < 0) return nullptr;
    return bits_[i * n_words_ + place / 64] >> (place % 64) & 1 ? cell(i, place) : nullptr;
  }

  // Tells of each feature of the block's arcs, and where the arc is.
  template <class See>
  void for_features(std::int64_t first, std::int64_t last, const See& see) const {
    for (std::int64_t column = first; column < last; ++column) {
      const std::int64_t start = b_.start[column];
      for (std::int64_t k = 0; k < b_.size(column); ++k) {
        const std::int64_t token = start + b_.order[start + k];
        if (b_.head[token] < 0) continue;
        const auto place = static_cast<std::int32_t>(start - begins_ + k);
        for (std::int64_t f = b_.feature_start[token]; f < b_.feature_start[token + 1]; ++f) see(b_.feature[f], place);
      }
    }
  }

  // Tells of each feature of the row's arcs where the block has it.
  template <class See>
  void for_matches(Pace& pace, const See& see) const {
    const std::int64_t first = a_.start[row_];
    for (std::int64_t i = 0; i < a_.size(row_); ++i) {
      const std::int64_t token = first + a_.order[first + i];
      if (a_.head[token] < 0) continue;
      const std::int64_t end = a_.feature_start[token + 1];
      pace.step(end - a_.feature_start[token]);
      for (std::int64_t f = a_.feature_start[token]; f < end; ++f) {
        const std::int32_t feature = a_.feature[f];
        if (!is_known(feature)) continue;
        const auto [from, to] = places_[feature];
        pace.step(to - from);
        see(i, feature, {place_.data() + from, place_.data() + to});
      }
    }
  }

  // Tells of all arcs of the row and of a column that share a feature.
  template <class See>
  void each_cell(std::int64_t column, Pace& pace, const See& see) {
    const std::int64_t from = b_.start[column] - begins_, to = from + b_.size(column);
    if (from == to) return;
    const std::int64_t first = from / 64, last = (to - 1) / 64;
    const std::uint64_t behind_first = ~std::uint64_t{0} << (from % 64),
                        up_to_last = ~std::uint64_t{0} >> (63 - (to - 1) % 64);
    for (std::int32_t i = 0; i < a_.size(row_); ++i) {
      pace.step(last - first + 1);
      for (std::int64_t word = first; word <= last; ++word) {
        std::uint64_t bits = bits_[i * n_words_ + word];
        if (word == first) bits &= behind_first;
        if (word == last) bits &= up_to_last;
        for (; bits; bits &= bits - 1) see(i, static_cast<std::int32_t>(64 * word) + std::countr_zero(bits));
      }
    }
  }

  const ArcsView &a_, &b_;
  const ArcValues& values_;
  const Cells cells_;
  std::int64_t row_ = 0, first_ = 0, begins_ = 0, width_ = 0, n_words_ = 0;
  std::vector<Places> places_;                              // by feature that is known: where its places are
  std::vector<std::uint64_t> known_;                        // a bit for each feature
  std::vector<std::int32_t> listed_, place_, head_, left_;  // of the block
  std::vector<std::int32_t> rank_, row_head_, row_left_;    // of the row
  std::vector<std::uint64_t> bits_;                         // by row and place, whether a feature is shared
  std::vector<double> table_;                               // likewise; what is not shared is 0
  std::vector<Visited> visited_;
};

// Visits each row of each block of columns: of a triangle only those that are not above all columns.
template <class Cells, class Visit>
void each_row(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values, bool pulling, Team& team,
              const std::vector<std::int64_t>& blocks, const Visit& visit) {
  std::vector<Block<Cells>> workers;
  for (int k = 0; k < team.size(); ++k) workers.emplace_back(a, b, values, pulling);
  team.run(std::ssize(blocks) - 1, [&](std::int64_t task, int thread) {
    auto& block = workers[thread];
    Pace pace(team, thread);
    const std::int64_t first = blocks[task], last = blocks[task + 1];
    block.open(first, last);
    const std::int64_t begin = pairs == Pairs::all ? 0 : first, end = pairs == Pairs::diagonal ? last : a.n_trees;
    for (std::int64_t row = begin; row < end; ++row) {
      block.begin(row, pace);
      visit(block, task, row, first, pairs == Pairs::all ? last : std::min(last, row + 1), pace);
      block.end();
    }
  });
}

template <class Cells>
void fill(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values, Team& team, double* out) {
  const auto blocks = column_blocks(a, b, pairs);
  each_row<Cells>(a, b, pairs, values, false, team, blocks,
                  [&](auto& block, std::int64_t, std::int64_t row, std::int64_t first, std::int64_t last, Pace& pace) {
                    for (std::int64_t column = first; column < last; ++column) {
                      pace.step(kStepsOfPair);
                      const double found = block.value(column, pace);
                      if (pairs == Pairs::diagonal) {
                        out[row] = found;
                        continue;
                      }
                      out[row * b.n_trees + column] = found;
                      if (pairs == Pairs::symmetric) out[column * b.n_trees + row] = found;
                    }
                  });
}

template <class Cells>
void pull_back(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values, const double* cotangent,
               Team& team, double* decay_bar, double* weight_bar) {
  const auto blocks = column_blocks(a, b, pairs);
  const auto n = static_cast<std::size_t>(1 + values.n_templates);
  std::vector<std::vector<double>> sums(blocks.size() - 1, std::vector<double>(n, 0.0));
  each_row<Cells>(
      a, b, pairs, values, true, team, blocks,
      [&](auto& block, std::int64_t task, std::int64_t row, std::int64_t first, std::int64_t last, Pace& pace) {
        for (std::int64_t column = first; column < last; ++column) {
          pace.step(kStepsOfPair);
          double factor = cotangent[pairs == Pairs::diagonal ? row : row * b.n_trees + column];
          if (pairs == Pairs::symmetric && column < row) factor += cotangent[column * b.n_trees + row];
          if (factor != 0.0) block.pull(column, factor, pace);
        }
        block.add_pulled(sums[task].data(), sums[task].data() + 1, pace);
      });
  // In the order of the blocks, whatever the number of threads.
  for (const auto& sum : sums) {
    *decay_bar += sum[0];
    for (std::size_t k = 1; k < n; ++k) weight_bar[k - 1] += sum[k];
  }
}

}  // namespace

void dependency_subtree_values(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values, Team& team,
                               double* out) {
  if (!values.contiguous) {
    dependency_subtree_gaps_values(a, b, pairs, values, team, out);
  } else if (values.max_arcs) {
    fill<Limited>(a, b, pairs, values, team, out);
  } else {
    fill<AnySize>(a, b, pairs, values, team, out);
  }
}

void dependency_subtree_pull_back(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values,
                                  const double* cotangent, Team& team, double* decay_bar, double* weight_bar) {
  if (!values.contiguous) {
    dependency_subtree_gaps_pull_back(a, b, pairs, values, cotangent, team, decay_bar, weight_bar);
  } else if (values.max_arcs) {
    pull_back<Limited>(a, b, pairs, values, cotangent, team, decay_bar, weight_bar);
  } else {
    pull_back<AnySize>(a, b, pairs, values, cotangent, team, decay_bar, weight_bar);
  }
}

}  // namespace espalier
