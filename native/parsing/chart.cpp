#include "parsing/chart.hpp"

#include <algorithm>
#include <memory>

namespace espalier {

namespace {

constexpr std::int64_t kScan = 12;        // a look-up costs as much as so many rules in a row
constexpr std::int64_t kBlock = 1 << 14;  // entries of the first block; the next are twice as large, up to 16 times

}  // namespace

Chart::Chart(const GrammarView& grammar, const WordsView& words, const Pruning& pruning, Team* team, int worker)
    : grammar_(grammar), words_(words), pruning_(pruning), n_(words.n_words) {
  const std::int64_t n_cells = n_ * (n_ + 1) / 2, n_symbols = grammar.n_symbols, n_base = grammar.n_base;
  const std::int64_t by_symbol = 2 * sizeof(double) + 5 * sizeof(std::int32_t) + 1, by_base = 12;
  if (!take(n_cells * static_cast<std::int64_t>(sizeof(ChartCell)) + n_symbols * by_symbol + n_base * by_base +
            n_ * n_base * static_cast<std::int64_t>(sizeof(double)))) {
    return;
  }
  cells_.resize(n_cells);
  split_.assign(n_symbols, kImpossible);
  best_.assign(n_symbols, kImpossible);
  next_.assign(n_base, kImpossible);
  via_.assign(n_symbols, -1);
  next_via_.assign(n_base, -1);
  is_kept_.assign(n_symbols, 0);
  column_.assign(n_ * n_base, kImpossible);
  // Column by column, so that the right parts of a cell, which all end where it ends, are at hand as a table.
  for (std::int64_t j = 1; j <= n_; ++j) {
    std::fill(column_.begin(), column_.begin() + j * n_base, kImpossible);
    for (std::int64_t i = j - 1; i >= 0; --i) {
      if (team) team->breathe(worker);
      if (pruning_.allowed) {
        if (!pruning_.allowed->any(index(i, j))) {
          is_pruned_ = true;
          continue;
        }
        here_ = pruning_.allowed->at(index(i, j));
      }
      if (i == j - 1) {
        fill_word(i);
      } else {
        combine(i, j);
      }
      finish(i, j);
      if (!fits_) return;
    }
  }
}

// Counts bytes that are about to be taken; false where there are no more.
bool Chart::take(std::int64_t bytes) {
  bytes_ += bytes;
  return fits_ = bytes_ <= pruning_.memory;
}

// Where the next n entries go; null where the memory does not suffice.
Entry* Chart::room_for(std::int64_t n) {
  if (blocks_.empty() || block_used_ + n > block_size_) {
    const std::int64_t usual = kBlock << std::min<std::size_t>(blocks_.size(), 4);
    const auto left = std::max<std::int64_t>(0, pruning_.memory - bytes_) / static_cast<std::int64_t>(sizeof(Entry));
    block_size_ = std::max(n, std::min(usual, left));
    if (!take(block_size_ * static_cast<std::int64_t>(sizeof(Entry)))) return nullptr;
    blocks_.push_back(std::make_unique_for_overwrite<Entry[]>(block_size_));
    block_used_ = 0;
  }
  Entry* room = blocks_.back().get() + block_used_;
  block_used_ += n;
  n_entries_ += n;
  return room;
}

const Entry* Chart::find(std::int64_t i, std::int64_t j, std::int32_t symbol) const {
  const ChartCell& entries = cell(i, j);
  const auto at = std::lower_bound(entries.begin(), entries.end(), symbol,
                                   [](const Entry& entry, std::int32_t s) { return entry.symbol < s; });
  return at != entries.end() && at->symbol == symbol ? at : nullptr;
}

void Chart::offer(std::int32_t symbol, double weight) {
  if (weight <= split_[symbol]) return;
  if (split_[symbol] == kImpossible) {
    if (!may_stand(symbol)) return;
    touched_.push_back(symbol);
  }
  split_[symbol] = weight;
}

void Chart::fill_word(std::int64_t i) {
  for (std::int64_t k = words_.start[i]; k < words_.start[i + 1]; ++k) {
    offer(pruning_.words_as ? pruning_.words_as[words_.tag[k]] : words_.tag[k], words_.weight[k]);
  }
}

void Chart::combine(std::int64_t i, std::int64_t j) {
  const GrammarView& g = grammar_;
  for (std::int64_t k = i + 1; k < j; ++k) {
    const ChartCell &lefts = cell(i, k), &rights = cell(k, j);
    if (lefts.size == 0 || rights.n_base == 0) continue;
    const double* right = column_.data() + k * g.n_base;
    for (const Entry& left : lefts) {
      std::int64_t r = g.left_start[left.symbol];
      const std::int64_t end = g.left_start[left.symbol + 1];
      if (end - r <= kScan * rights.n_base) {
        for (; r < end; ++r) {
          const double found = right[g.right[r]];
          if (found != kImpossible) offer(g.parent[r], left.best + found + g.weight[r]);
        }
        continue;
      }
      // Many rules and few right children: the rules of each are looked up.
      for (std::int32_t m = 0; m < rights.n_base && r < end; ++m) {
        const Entry& entry = rights.first[m];
        r = std::lower_bound(g.right + r, g.right + end, entry.symbol) - g.right;
        for (; r < end && g.right[r] == entry.symbol; ++r) offer(g.parent[r], left.best + entry.best + g.weight[r]);
      }
    }
  }
}

// Applies unary rules, prunes, and stores the cell.
void Chart::finish(std::int64_t i, std::int64_t j) {
  const GrammarView& g = grammar_;
  reached_ = touched_;
  for (std::int32_t symbol : touched_) best_[symbol] = split_[symbol];
  frontier_.clear();
  for (std::int32_t symbol : touched_) {
    if (symbol < g.n_base) frontier_.push_back(symbol);
  }
  // Each round lengthens chains by one rule; only what the last round improved can improve more.
  for (std::int32_t round = 0; round < g.max_unary && !frontier_.empty(); ++round) {
    better_.clear();
    for (std::int32_t child : frontier_) {
      for (std::int64_t r = g.up_start[child]; r < g.up_start[child + 1]; ++r) {
        const std::int32_t parent = g.up_parent[r];
        const double weight = best_[child] + g.up_weight[r];
        if (weight <= best_[parent] || weight <= next_[parent]) continue;
        if (next_[parent] == kImpossible) {
          if (!may_stand(parent)) continue;
          better_.push_back(parent);
        }
        next_[parent] = weight;
        next_via_[parent] = child;
      }
    }
    frontier_.clear();
    for (std::int32_t parent : better_) {
      if (best_[parent] == kImpossible) reached_.push_back(parent);
      best_[parent] = next_[parent];
      via_[parent] = next_via_[parent];
      next_[parent] = kImpossible;
      frontier_.push_back(parent);
    }
  }
  prune();
  std::sort(kept_.begin(), kept_.end());
  if (Entry* entry = kept_.empty() ? nullptr : room_for(static_cast<std::int64_t>(kept_.size()))) {
    ChartCell& cell = cells_[index(i, j)];
    cell = {entry, static_cast<std::int32_t>(kept_.size()), 0};
    double* row = column_.data() + i * g.n_base;
    for (std::int32_t symbol : kept_) {
      *entry++ = {symbol, split_[symbol], best_[symbol]};
      if (symbol >= g.n_base) continue;
      row[symbol] = best_[symbol];
      ++cell.n_base;
    }
  }
  for (std::int32_t symbol : reached_) {
    split_[symbol] = best_[symbol] = kImpossible;
    via_[symbol] = -1;
  }
  touched_.clear();
}

// Keeps what is within the beam, and what its best unary rules lead to.
void Chart::prune() {
  if (pruning_.beam == std::numeric_limits<double>::infinity()) {
    kept_ = reached_;
    return;
  }
  const auto merit = [&](std::int32_t s) { return best_[s] + (pruning_.prior ? pruning_.prior[s] : 0.0); };
  double top = kImpossible;
  for (std::int32_t symbol : reached_) top = std::max(top, merit(symbol));
  kept_.clear();
  for (std::int32_t symbol : reached_) {
    if (merit(symbol) < top - pruning_.beam) {
      is_pruned_ = true;
      continue;
    }
    for (std::int32_t s = symbol; s >= 0 && !is_kept_[s]; s = via_[s]) {
      is_kept_[s] = 1;
      kept_.push_back(s);
    }
  }
  for (std::int32_t symbol : kept_) is_kept_[symbol] = 0;
}

}  // namespace espalier
