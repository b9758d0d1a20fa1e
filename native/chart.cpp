#include "chart.hpp"

#include <algorithm>

namespace espalier {

Chart::Chart(const GrammarView& grammar, const WordsView& words, const Pruning& pruning, Team* team, int worker)
    : grammar_(grammar), words_(words), pruning_(pruning), n_(words.n_words), cells_((n_ + 1) * (n_ + 1)) {
  split_.assign(grammar.n_symbols, kImpossible);
  best_.assign(grammar.n_symbols, kImpossible);
  next_.assign(grammar.n_base, kImpossible);
  via_.assign(grammar.n_symbols, -1);
  next_via_.assign(grammar.n_base, -1);
  is_kept_.assign(grammar.n_symbols, 0);
  column_.assign((n_ + 1) * grammar.n_base, kImpossible);
  // Column by column, so that the right parts of a cell, which all end where it ends, are at hand as a table.
  for (std::int64_t j = 1; j <= n_; ++j) {
    std::fill(column_.begin(), column_.end(), kImpossible);
    for (std::int64_t i = j - 1; i >= 0; --i) {
      if (team) team->breathe(worker);
      if (i == j - 1) {
        fill_word(i);
      } else {
        combine(i, j);
      }
      finish(i, j);
    }
  }
}

const Entry* Chart::find(std::int64_t i, std::int64_t j, std::int32_t symbol) const {
  const std::vector<Entry>& entries = cell(i, j);
  const auto at = std::lower_bound(entries.begin(), entries.end(), symbol,
                                   [](const Entry& entry, std::int32_t s) { return entry.symbol < s; });
  return at != entries.end() && at->symbol == symbol ? &*at : nullptr;
}

std::int64_t Chart::n_entries() const {
  std::int64_t total = 0;
  for (const auto& cell : cells_) total += static_cast<std::int64_t>(cell.size());
  return total;
}

void Chart::offer(std::int32_t symbol, double weight) {
  if (split_[symbol] == kImpossible) touched_.push_back(symbol);
  split_[symbol] = std::max(split_[symbol], weight);
}

void Chart::fill_word(std::int64_t i) {
  for (std::int64_t k = words_.start[i]; k < words_.start[i + 1]; ++k) {
    if (words_.weight[k] > kImpossible) offer(words_.tag[k], words_.weight[k]);
  }
}

void Chart::combine(std::int64_t i, std::int64_t j) {
  const GrammarView& g = grammar_;
  for (std::int64_t k = i + 1; k < j; ++k) {
    const double* right = column_.data() + k * g.n_base;
    for (const Entry& left : cell(i, k)) {
      for (std::int64_t r = g.left_start[left.symbol]; r < g.left_start[left.symbol + 1]; ++r) {
        const double found = right[g.right[r]];
        if (found == kImpossible) continue;
        const double weight = left.best + found + g.weight[r];
        const std::int32_t parent = g.parent[r];
        if (weight > split_[parent]) {
          if (split_[parent] == kImpossible) touched_.push_back(parent);
          split_[parent] = weight;
        }
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
  std::vector<std::int32_t> better;
  for (std::int32_t round = 0; round < g.max_unary && !frontier_.empty(); ++round) {
    better.clear();
    for (std::int32_t child : frontier_) {
      for (std::int64_t r = g.up_start[child]; r < g.up_start[child + 1]; ++r) {
        const std::int32_t parent = g.up_parent[r];
        const double weight = best_[child] + g.up_weight[r];
        if (weight <= best_[parent] || weight <= next_[parent]) continue;
        if (next_[parent] == kImpossible) better.push_back(parent);
        next_[parent] = weight;
        next_via_[parent] = child;
      }
    }
    frontier_.clear();
    for (std::int32_t parent : better) {
      if (best_[parent] == kImpossible) reached_.push_back(parent);
      best_[parent] = next_[parent];
      via_[parent] = next_via_[parent];
      next_[parent] = kImpossible;
      frontier_.push_back(parent);
    }
  }
  prune();
  std::sort(kept_.begin(), kept_.end());
  std::vector<Entry>& entries = cells_[index(i, j)];
  entries.reserve(kept_.size());
  double* row = column_.data() + i * g.n_base;
  for (std::int32_t symbol : kept_) {
    entries.push_back({symbol, split_[symbol], best_[symbol]});
    if (symbol < g.n_base) row[symbol] = best_[symbol];
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
    if (merit(symbol) < top - pruning_.beam) continue;
    for (std::int32_t s = symbol; s >= 0 && !is_kept_[s]; s = via_[s]) {
      is_kept_[s] = 1;
      kept_.push_back(s);
    }
  }
  for (std::int32_t symbol : kept_) is_kept_[symbol] = 0;
}

}  // namespace espalier
