// From pairs of nodes to pairs of trees, F Delta F^T, and back: what smoothed_partial_tree.cpp and its reverse leave to do.
#include <algorithm>

#include "corpus/sort_by_key.hpp"
#include "kernels/occurrences.hpp"
#include "kernels/smoothed_partial_tree.hpp"
#include "kernels/sums.hpp"
#include "kernels/symmetric.hpp"

namespace espalier {

namespace {

constexpr std::int64_t kTaskWork = 1 << 14;

}  // namespace

// What the stored pairs of a tree's nodes give.
void SmoothedTreePlan::stored_row(std::int64_t s, double* out) const {
  const SmoothedSide &rows = pattern_.rows, &cols = pattern_.cols();
  const Occurrences& nodes = pattern_.nodes;
  for (std::int64_t entry = rows.tree_start[s]; entry < rows.tree_start[s + 1]; ++entry) {
    const std::int64_t u = rows.tree_node[entry], at = rows.position(u);
    const std::int32_t p = rows.bucket[u];
    for (std::int64_t number = pattern_.block_start[p]; number < pattern_.block_start[p + 1]; ++number) {
      const Block& block = pattern_.blocks[number];
      if (block.first(at) >= block.end(at)) continue;
      const double weight = rows.tree_count[entry] * rule_of(p, block.q).match;
      const double* h = h_.data();
      const std::int64_t own = block.row(at);
      const std::int64_t begin = nodes.start[cols.bucket_start[block.q] + block.first(at)];
      const std::int64_t end =
          block.is_triangle ? pattern_.entry_end[entry] : nodes.start[cols.bucket_start[block.q + 1]];
      for (std::int64_t e = begin; e < end; ++e)
        out[nodes.tree[e]] += weight * nodes.count[e] * h[own + nodes.position[e]];
      if (block.is_triangle) out[nodes.tree[end]] += 0.5 * weight * nodes.count[end] * h[own + nodes.position[end]];
    }
  }
}

template <class Visit>
void SmoothedTreePlan::each_label_of_word(std::int64_t s, std::int32_t w, const Visit& visit) const {
  const std::int32_t own = pattern_.slot_of_word[w];
  const SmoothedSide& cols = pattern_.cols();
  const auto look = [&](std::int32_t slot) { visit(slot, word_label(w, slot), slot == own); };
  if (!pattern_.soft_labels) {
    if (own >= 0) look(own);
  } else if (pattern_.per_tree) {
    for (std::int64_t e = cols.label_start[s]; e < cols.label_start[s + 1]; ++e) look(cols.tree_label[e]);
  } else {
    for (std::size_t slot = 0; slot < pattern_.labels.size(); ++slot) {
      if (pattern_.column_meets[slot]) look(static_cast<std::int32_t>(slot));
    }
  }
}

template <class Visit>
void SmoothedTreePlan::each_word_of_label(std::int64_t s, std::int32_t slot, const Visit& visit) const {
  const std::int32_t own = pattern_.column_word[slot];
  const SmoothedSide& cols = pattern_.cols();
  const auto n_words = static_cast<std::int32_t>(cols.n_words());
  const auto look = [&](std::int32_t w) { visit(w, label_word(slot, w), w == own); };
  if (!pattern_.soft_labels) {
    if (own >= 0) look(own);
  } else if (pattern_.per_tree) {
    for (std::int64_t e = cols.light_start[s]; e < cols.light_start[s + 1]; ++e) {
      if (cols.light[e] < n_words) look(cols.light[e]);
    }
  } else {
    for (std::int32_t w = 0; w < n_words; ++w) look(w);
  }
}

// What its words, inner nodes with labels like words and terminal nodes give among those of other trees by formula: their
// sum over the tree, once for all others.
void SmoothedTreePlan::light_row(std::int64_t s, double* out, Scratch& scratch) const {
  const SmoothedSide &rows = pattern_.rows, &cols = pattern_.cols();
  const std::int64_t width = cols.n_words();
  std::vector<double>& total = scratch.light;
  total.resize(cols.n_lights());
  std::vector<double>& of_label = scratch.label;
  of_label.resize(pattern_.labels.size());
  const std::int64_t begin = rows.light_start[s], end = rows.light_start[s + 1];
  if (pattern_.per_tree) {
    for (std::int64_t e = begin; e < end; ++e) total[cols.light[e]] = 0.0;
    for (std::int64_t e = rows.label_start[s]; e < rows.label_start[s + 1]; ++e) of_label[rows.tree_label[e]] = 0.0;
  } else {
    std::fill(total.begin(), total.end(), 0.0);
    std::fill(of_label.begin(), of_label.end(), 0.0);
  }
  const auto twins = [&](std::int32_t slot, double similarity, bool is_same) {
    return twin_weight(slot) * ((1.0 - settings_.mix) * similarity + (is_same ? settings_.mix : 0.0));
  };
  for (std::int64_t e = rows.label_start[s]; e < rows.label_start[s + 1]; ++e) {
    const std::int32_t slot = rows.tree_label[e];
    each_word_of_label(s, slot, [&](std::int32_t w, double similarity, bool is_same) {
      total[w] += rows.label_count[e] * twins(slot, similarity, is_same);
    });
  }
  for (std::int64_t e = begin; e < end; ++e) {
    const std::int64_t terminal = rows.light[e] - rows.n_words();
    const std::int32_t w = terminal < 0 ? rows.light[e] : rows.word[terminal], same = pattern_.same_word[w];
    const double count = rows.light_count[e], *row = settings_.words + w * width;
    if (terminal < 0) {
      const double factor = count * leaf_ * (1.0 - settings_.mix);
      if (pattern_.per_tree) {
        for (std::int64_t f = begin; f < end; ++f) {
          if (rows.light[f] < width) total[rows.light[f]] += factor * row[rows.light[f]];
        }
      } else {
        for (std::int64_t y = 0; y < width; ++y) total[y] += factor * row[y];
      }
      if (same >= 0) total[same] += count * leaf_ * settings_.mix;
      each_label_of_word(s, w, [&](std::int32_t slot, double similarity, bool is_same) {
        of_label[slot] += count * twins(slot, similarity, is_same);
      });
      continue;
    }
    const std::int32_t p = rows.terminal_bucket[terminal];
    pattern_.each_match(p, [&](std::int32_t q) {
      const Rule rule = rule_of(p, q);
      const double base = count * rule.base, factor = count * rule.terminal * (1.0 - settings_.mix);
      const double extra = count * rule.terminal * settings_.mix;
      const std::int32_t* words = cols.word.data() + cols.terminal_start[q];
      double* to = total.data() + width + cols.terminal_start[q];
      const std::int64_t n = cols.n_terminal(q);
      for (std::int64_t l = 0; l < n; ++l) to[l] += base + factor * row[words[l]];
      if (extra == 0.0) return;
      for (std::int64_t l = 0; l < n; ++l) to[l] += words[l] == same ? extra : 0.0;
    });
  }
  each_column(s, [&](std::int64_t t, std::int64_t column, double weight) {
    double sum = 0.0;
    for (std::int64_t e = cols.light_start[t]; e < cols.light_start[t + 1]; ++e) {
      sum += cols.light_count[e] * total[cols.light[e]];
    }
    for (std::int64_t e = cols.label_start[t]; e < cols.label_start[t + 1]; ++e) {
      sum += cols.label_count[e] * of_label[cols.tree_label[e]];
    }
    out[column] += weight * sum;
  });
}

bool SmoothedTreePlan::matrix(const SmoothedSettings& settings, Team& team, double* out) {
  team.span(0.0, 0.7);
  compute_h(settings, team);
  team.span(0.7, 1.0);
  const std::int64_t width = n_columns();
  clear(out, n_rows() * width, team);
  std::vector<Scratch> scratch(team.size());
  team.run(static_cast<std::int64_t>(tree_tasks_.size()) - 1, [&](std::int64_t task, int worker) {
    for (std::int64_t s = tree_tasks_[task]; s < tree_tasks_[task + 1]; ++s) {
      stored_row(s, out + s * width);
      light_row(s, out + s * width, scratch[worker]);
    }
  });
  return complete(n_rows(), width, pattern_.symmetric, team, out);
}

void SmoothedTreePlan::prepare_pull_back() {
  if (prepared_) return;  // each part starts afresh, for the case that memory ran out half-way
  const SmoothedSide &rows = pattern_.rows, &cols = pattern_.cols();
  row_where_ = row_occurrences(rows, pattern_.entry_end);
  std::vector<std::int32_t> first_tree(rows.n_nodes);
  for (std::int64_t u = 0; u < rows.n_nodes; ++u) first_tree[u] = row_where_.tree[row_where_.start[u]];
  std::vector<std::int64_t> start;
  by_first_tree_ = sort_by_key(first_tree, rows.n_trees, start);
  spread_tasks_.assign(1, 0);
  std::int64_t work = 0;
  for (std::size_t k = 0; k < by_first_tree_.size(); ++k) {
    const std::int64_t u = by_first_tree_[k], times = row_where_.start[u + 1] - row_where_.start[u];
    const std::int32_t p = rows.bucket[u];
    for (std::int64_t number = pattern_.block_start[p]; number < pattern_.block_start[p + 1]; ++number) {
      const Block& block = pattern_.blocks[number];
      const std::int64_t first = cols.bucket_start[block.q], n = block.end(rows.position(u));
      if (block.first(rows.position(u)) < n)
        work += times * (pattern_.nodes.start[first + n] - pattern_.nodes.start[first]);
    }
    if (work < kTaskWork && k + 1 < by_first_tree_.size()) continue;
    spread_tasks_.push_back(static_cast<std::int64_t>(k) + 1);
    work = 0;
  }
  prepared_ = true;
}

// The derivatives by Delta of the stored pairs of row node u, as the matrix gives them.
void SmoothedTreePlan::spread_row(std::int64_t u, const double* cotangent, double factor) {
  const SmoothedSide &rows = pattern_.rows, &cols = pattern_.cols();
  const Occurrences& nodes = pattern_.nodes;
  const std::int64_t at = rows.position(u);
  const std::int32_t p = rows.bucket[u];
  for (std::int64_t number = pattern_.block_start[p]; number < pattern_.block_start[p + 1]; ++number) {
    const Block& block = pattern_.blocks[number];
    if (block.first(at) >= block.end(at)) continue;
    double* bar = bar_.data();
    const std::int64_t own = block.row(at);
    std::fill(bar + (own + block.first(at)), bar + (own + block.end(at)), 0.0);
    const std::int64_t begin = nodes.start[cols.bucket_start[block.q] + block.first(at)];
    for (std::int64_t w = row_where_.start[u]; w < row_where_.start[u + 1]; ++w) {
      const double* row = cotangent + row_where_.tree[w] * n_columns();
      const double weight = factor * row_where_.count[w];
      const std::int64_t end = block.is_triangle ? row_where_.end[w] : nodes.start[cols.bucket_start[block.q + 1]];
      for (std::int64_t e = begin; e < end; ++e)
        bar[own + nodes.position[e]] += weight * nodes.count[e] * row[nodes.tree[e]];
      if (block.is_triangle) bar[own + nodes.position[end]] += 0.5 * weight * nodes.count[end] * row[nodes.tree[end]];
    }
  }
}

// The derivatives by the words, inner nodes with labels like words and terminal nodes of a tree, whose pairs are not
// stored.
void SmoothedTreePlan::pull_light(std::int64_t s, const double* row, double factor, Scratch& scratch) {
  const SmoothedSide &rows = pattern_.rows, &cols = pattern_.cols();
  const std::int64_t width = cols.n_words();
  std::vector<double>& bar = scratch.light;
  bar.assign(cols.n_lights(), 0.0);
  std::vector<double>& of_label = scratch.label;
  of_label.assign(pattern_.labels.size(), 0.0);
  scratch.twins.assign(pattern_.labels.size(), Sums());
  each_column(s, [&](std::int64_t t, std::int64_t column, double weight) {
    const double value = factor * weight * row[column];
    for (std::int64_t e = cols.light_start[t]; e < cols.light_start[t + 1]; ++e) {
      bar[cols.light[e]] += value * cols.light_count[e];
    }
    for (std::int64_t e = cols.label_start[t]; e < cols.label_start[t + 1]; ++e) {
      of_label[cols.tree_label[e]] += value * cols.label_count[e];
    }
  });
  const auto add_twins = [&](std::int32_t slot, double value, double similarity, bool is_same) {
    scratch.twins[slot].similar += value * similarity;
    if (is_same) scratch.twins[slot].equal += value;
  };
  for (std::int64_t e = rows.label_start[s]; e < rows.label_start[s + 1]; ++e) {
    const std::int32_t slot = rows.tree_label[e];
    each_word_of_label(s, slot, [&](std::int32_t w, double similarity, bool is_same) {
      add_twins(slot, rows.label_count[e] * bar[w], similarity, is_same);
    });
  }
  SoftCell cell{0, 0, pattern_.n_buckets, pattern_.n_buckets, kLeaves, false};
  Sums leaves;
  for (std::int64_t e = rows.light_start[s]; e < rows.light_start[s + 1]; ++e) {
    const std::int64_t terminal = rows.light[e] - rows.n_words();
    const std::int32_t w = terminal < 0 ? rows.light[e] : rows.word[terminal];
    const double count = rows.light_count[e];
    if (terminal < 0) {
      leaves.similar += count * dot(bar.data(), settings_.words + w * width, width);
      if (pattern_.same_word[w] >= 0) leaves.equal += count * bar[pattern_.same_word[w]];
      each_label_of_word(s, w, [&](std::int32_t slot, double similarity, bool is_same) {
        add_twins(slot, count * of_label[slot], similarity, is_same);
      });
      continue;
    }
    const std::int32_t p = rows.terminal_bucket[terminal];
    pattern_.each_match(p, [&](std::int32_t q) {
      const std::int64_t first = cols.terminal_start[q];
      Sums sums;
      add_words(w, cols.word.data() + first, bar.data() + width + first, cols.n_terminal(q), sums);
      settle(SoftCell{0, 0, p, q, 0, false}, {count * sums.one, count * sums.similar, count * sums.equal}, scratch);
    });
    scratch.keep_pushes_few();
  }
  settle(cell, leaves, scratch);
  for (std::size_t slot = 0; slot < scratch.twins.size(); ++slot) {
    const Sums& sums = scratch.twins[slot];
    if (sums.similar != 0.0 || sums.equal != 0.0) settle_twins(static_cast<std::int32_t>(slot), sums, scratch);
  }
}

}  // namespace espalier
