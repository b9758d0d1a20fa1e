// What kernels over sequences share: corpora as arrays, positions by symbol, and the pairs that are computed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "jobs/pace.hpp"
#include "jobs/team.hpp"

namespace espalier {

// A corpus of sequences as arrays owned by the caller.
struct SequencesView {
  std::int64_t n_sequences;
  const std::int64_t* start;
  const std::int32_t* symbol;

  std::int64_t size(std::int64_t s) const { return start[s + 1] - start[s]; }
  const std::int32_t* begin(std::int64_t s) const { return symbol + start[s]; }
};

// A matrix of two corpora, of one with itself, or one value for each sequence with itself.
enum class Pairs { all, symmetric, diagonal };

// The positions of one sequence by symbol, to find what another shares with it.
class Positions {
 public:
  explicit Positions(std::int64_t n_symbols) : first_(n_symbols, -1) {}

  void set(const SequencesView& view, std::int64_t s) {
    for (std::int32_t symbol : symbols_) first_[symbol] = -1;
    symbols_.assign(view.begin(s), view.begin(s) + view.size(s));
    next_.assign(symbols_.size(), -1);
    for (auto i = static_cast<std::int32_t>(symbols_.size()); i-- > 0;) {
      next_[i] = first_[symbols_[i]];
      first_[symbols_[i]] = i;
    }
  }
  std::int32_t size() const { return static_cast<std::int32_t>(symbols_.size()); }
  const std::int32_t* symbols() const { return symbols_.data(); }
  // The first position of a symbol and the next of the same; -1 where there is none.
  std::int32_t first(std::int32_t symbol) const { return first_[symbol]; }
  std::int32_t next(std::int32_t i) const { return next_[i]; }

 private:
  std::vector<std::int32_t> first_, symbols_, next_;
};

// The columns of a row that are computed: a lower triangle where the matrix is symmetric.
inline std::pair<std::int64_t, std::int64_t> columns_of(Pairs pairs, std::int64_t row, std::int64_t n_columns) {
  if (pairs == Pairs::all) return {0, n_columns};
  return {pairs == Pairs::diagonal ? row : 0, row + 1};
}

// Makes n zeros, a part at a time: the table of a long pair takes seconds to touch.
inline void clear_table(std::vector<double>& table, std::int64_t n, Pace& pace) {
  constexpr std::int64_t part = 1 << 17;
  table.clear();
  table.reserve(n);
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t next = std::min(n, done + part);
    table.resize(next, 0.0);
    pace.step(next - done);
    done = next;
  }
}

inline constexpr std::int64_t kStepsOfPair = 64;  // what the smallest pair takes

// Fills in the value of every pair. A worker is made for each thread; begin(worker, row) and value(worker, column, pace),
// where the worker tells its pace how many steps it takes: one pair may be long.
template <class MakeWorker, class Begin, class Value>
void fill_pairs(std::int64_t n_rows, std::int64_t n_columns, Pairs pairs, Team& team, double* out,
                const MakeWorker& make, const Begin& begin, const Value& value) {
  std::vector workers(team.size(), make());
  team.run(n_rows, [&](std::int64_t task, int thread) {
    // The longest rows of a triangle first.
    const std::int64_t row = pairs == Pairs::symmetric ? n_rows - 1 - task : task;
    Pace pace(team, thread);
    begin(workers[thread], row);
    const auto [first, last] = columns_of(pairs, row, n_columns);
    for (std::int64_t column = first; column < last; ++column) {
      pace.step(kStepsOfPair);
      const double found = value(workers[thread], column, pace);
      if (pairs == Pairs::diagonal) {
        out[row] = found;
        continue;
      }
      out[row * n_columns + column] = found;
      if (pairs == Pairs::symmetric) out[column * n_columns + row] = found;
    }
  });
}

// Sums gradients over all pairs, n numbers, in an order that does not depend on the number of threads:
// pull(worker, column, factor, sums, pace) adds those of factor times the value of a pair.
template <class MakeWorker, class Begin, class Pull>
std::vector<double> pull_pairs(std::int64_t n_rows, std::int64_t n_columns, Pairs pairs, const double* cotangent,
                               std::int64_t n, Team& team, const MakeWorker& make, const Begin& begin,
                               const Pull& pull) {
  std::vector workers(team.size(), make());
  const std::int64_t n_blocks = std::min<std::int64_t>(64, n_rows);
  std::vector<std::vector<double>> sums(n_blocks);
  team.run(n_blocks, [&](std::int64_t block, int thread) {
    Pace pace(team, thread);
    sums[block].assign(n, 0.0);
    for (std::int64_t row = block; row < n_rows; row += n_blocks) {  // so that blocks of a triangle are alike
      begin(workers[thread], row);
      const auto [first, last] = columns_of(pairs, row, n_columns);
      for (std::int64_t column = first; column < last; ++column) {
        pace.step(kStepsOfPair);
        double factor = cotangent[pairs == Pairs::diagonal ? row : row * n_columns + column];
        if (pairs == Pairs::symmetric && column < row) factor += cotangent[column * n_columns + row];
        if (factor != 0.0) pull(workers[thread], column, factor, sums[block].data(), pace);
      }
    }
  });
  std::vector<double> total(n, 0.0);
  for (const auto& sum : sums) {
    for (std::int64_t k = 0; k < n; ++k) total[k] += sum[k];
  }
  return total;
}

}  // namespace espalier
