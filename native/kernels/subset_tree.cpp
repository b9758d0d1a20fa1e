#include "kernels/subset_tree.hpp"

#include <algorithm>

#include "corpus/sort_by_key.hpp"
#include "kernels/symmetric.hpp"

namespace espalier {

namespace {

constexpr double kSmallFrontier = 1e-3;
constexpr std::int64_t kTaskWork = 1 << 13;

}  // namespace

SubsetTreePlan::SubsetTreePlan(const ForestView& a, const ForestView* b, PatternOptions options, Listener listener)
    : pattern_(make_pattern(a, b, options, listener)), identity_(options.identity) {
  const PatternSide& rows = pattern_.rows;
  for (std::int32_t height : rows.height) top_ = std::max(top_, height);
  std::vector<std::int64_t> start;
  const std::vector<std::int32_t> order = sort_by_key(rows.height, top_ + 1, start);
  delta_tasks_.bound.push_back(0);
  for (std::int32_t level = 0; level <= top_; ++level) {
    delta_tasks_.level_start.push_back(static_cast<std::int64_t>(delta_tasks_.bound.size()) - 1);
    std::int64_t work = 0;
    for (std::int64_t k = start[level]; k < start[level + 1]; ++k) {
      if (pattern_.kept_start[order[k]] < 0) continue;
      by_level_.push_back(order[k]);
      work += pattern_.row_length(order[k]) + 16;
      if (work >= kTaskWork) {
        delta_tasks_.bound.push_back(static_cast<std::int64_t>(by_level_.size()));
        work = 0;
      }
    }
    if (work > 0) delta_tasks_.bound.push_back(static_cast<std::int64_t>(by_level_.size()));
  }
  delta_tasks_.level_start.push_back(static_cast<std::int64_t>(delta_tasks_.bound.size()) - 1);

  tree_tasks_.push_back(0);
  std::int64_t work = 0;
  for (std::int64_t s = 0; s < rows.n_trees; ++s) {
    for (std::int64_t e = rows.tree_start[s]; e < rows.tree_start[s + 1]; ++e) {
      const std::int32_t p = rows.bucket[rows.tree_node[e]];
      work += pattern_.entry_end[e] - pattern_.where_start[pattern_.cols().bucket_start[p]] + 16;
    }
    if (work >= kTaskWork || s + 1 == rows.n_trees) {
      tree_tasks_.push_back(s + 1);
      work = 0;
    }
  }
}

std::int32_t SubsetTreePlan::effective_depth(std::int32_t max_depth) const {
  return max_depth > 0 && max_depth < top_ ? max_depth : 0;
}

std::int64_t SubsetTreePlan::matrix_bytes(std::int32_t max_depth) const {
  return 8 * pattern_.n_kept * (effective_depth(max_depth) > 1 ? 2 : 1);
}

std::int64_t SubsetTreePlan::pull_back_bytes(std::int32_t max_depth) const {
  const std::int64_t depth = effective_depth(max_depth);
  return 8 * (depth ? depth * pattern_.n_kept + 2 * pattern_.n_pairs : pattern_.n_kept + pattern_.n_pairs);
}

void SubsetTreePlan::release() {
  layers_.clear();
  bar_.release();
  bar_below_.release();
  symmetric_.release();
  current_depth_ = -1;
}

void SubsetTreePlan::set_rules(const double* decay, const double* frontier) {
  rules_.resize(pattern_.n_buckets);
  for (std::int32_t p = 0; p < pattern_.n_buckets; ++p) {
    Rule& rule = rules_[p];
    rule.decay = decay[pattern_.slot[p]];
    rule.frontier = frontier[pattern_.slot[p]];
    double power = 1.0;
    for (std::int32_t i = 0; i < pattern_.arity[p]; ++i) power *= rule.frontier;
    rule.base = rule.decay * power;
    // Dividing needs a start that neither underflows nor overflows.
    const auto extreme = [](double x) { return x < 1e-200 || x > 1e200; };
    rule.exact = rule.frontier < kSmallFrontier || extreme(power) || extreme(rule.base);
    rule.inverse = rule.exact ? 0.0 : 1.0 / rule.frontier;
  }
}

double* SubsetTreePlan::layer(std::int32_t depth, Team& team) {
  if (static_cast<std::size_t>(depth) >= layers_.size()) layers_.resize(depth + 1);
  return layers_[depth].reserve(std::max<std::int64_t>(pattern_.n_kept, 1), team);
}

template <bool Symmetric>
void SubsetTreePlan::fill_row(std::int64_t u, const double* below, double* out, Scratch& scratch, Row kind) const {
  const Pattern& pattern = pattern_;
  const std::int32_t p = pattern.rows.bucket[u];
  const Rule& rule = rules_[p];
  const std::int64_t length = pattern.row_length(u);
  const std::int32_t arity = pattern.arity[p];
  const std::int32_t* position = pattern.lists.position.data();
  const std::int32_t* child_position = pattern.lists.child_position.data();
  std::fill(out, out + length, rule.exact ? rule.decay : rule.base);
  if (rule.exact) scratch.count.assign(length, 0);
  if (!below && !rule.exact) return;
  for (std::int32_t i = 0; below && i < arity; ++i) {
    const std::int64_t here = pattern.row_child_start[u] + i;
    const std::int32_t list = pattern.row_list[here];
    if (list < 0) continue;
    const std::int64_t begin = pattern.lists.start[list], end = pattern.row_list_end[here];
    const std::int64_t a = pattern.rows.child_of(u, i);
    const std::int32_t q = pattern.lists.bucket[list];
    if (rule.exact) {
      for (std::int64_t e = begin; e < end; ++e) {
        out[position[e]] *= rule.frontier + child_delta(a, child_position[e], below);
        ++scratch.count[position[e]];
      }
    } else if (pattern.cols().members(q) == 1) {
      const double ratio = 1.0 + below[pattern.kept_start[a]] * rule.inverse;
      for (std::int64_t e = begin; e < end; ++e) out[position[e]] *= ratio;
    } else {
      const double inverse = rule.inverse;
      const double* row = below + pattern.kept_start[a];
      if (!Symmetric || pattern.row_ahead[here]) {
        for (std::int64_t e = begin; e < end; ++e) out[position[e]] *= 1.0 + row[child_position[e]] * inverse;
      } else {
        // Triangle: past the diagonal, entry (b, a) stands for (a, b).
        const std::int64_t first = pattern.rows.bucket_start[q], at = a - first;
        const double* triangle = below + pattern.kept_start[first];
        const std::int64_t own = at * (at + 1) / 2;
        for (std::int64_t e = begin; e < end; ++e) {
          const std::int64_t b = child_position[e];
          const std::int64_t index = b <= at ? own + b : b * (b + 1) / 2 + at;
          out[position[e]] *= 1.0 + triangle[index] * inverse;
        }
      }
    }
  }
  if (!rule.exact) return;
  // By the number k of children that do not match: frontier^k, or its derivative.
  std::vector<double>& factor = scratch.factor;
  factor.resize(arity + 1);
  factor[0] = 1.0;
  for (std::int32_t k = 0; k < arity; ++k) factor[k + 1] = factor[k] * rule.frontier;
  if (kind == Row::frontier_slope) {
    for (std::int32_t k = arity; k > 0; --k) factor[k] = k * factor[k - 1];
    factor[0] = 0.0;
  }
  for (std::int64_t v = 0; v < length; ++v) out[v] *= factor[arity - scratch.count[v]];
}

void SubsetTreePlan::fill(std::int64_t u, const double* below, double* out, Scratch& scratch, Row kind) const {
  if (pattern_.symmetric) {
    fill_row<true>(u, below, out, scratch, kind);
  } else {
    fill_row<false>(u, below, out, scratch, kind);
  }
}

// Layer d holds the sum over fragments of depth at most d; without a limit there is one layer, filled by height.
void SubsetTreePlan::compute_delta(const double* decay, const double* frontier, std::int32_t depth, bool every_layer,
                                   Team& team, double from, double to) {
  std::vector<double> wanted(decay, decay + n_slots());
  wanted.insert(wanted.end(), frontier, frontier + n_slots());
  const std::int32_t kept_depth = every_layer || depth < 2 ? depth : -2 - depth;
  if (wanted == current_ && (current_depth_ == kept_depth || current_depth_ == depth)) return;
  current_depth_ = -1;
  set_rules(decay, frontier);
  std::vector<Scratch> scratch(team.size());
  const std::int32_t first = depth ? 1 : 0, last = depth;
  for (std::int32_t d = first; d <= last; ++d) {
    double* here = layer(depth && !every_layer ? d % 2 : d, team);
    const double* below = depth == 0 ? here : (d == 1 ? nullptr : layer(every_layer ? d - 1 : (d - 1) % 2, team));
    const double part = (to - from) / (last - first + 1);
    for (std::int32_t level = 0; level <= top_; ++level) {
      const std::int64_t task0 = delta_tasks_.level_start[level];
      team.span(from + part * (d - first + static_cast<double>(task0) / static_cast<double>(delta_tasks_.bound.size())),
                from + part * (d - first + 1));
      team.run(delta_tasks_.level_start[level + 1] - task0, [&](std::int64_t task, int worker) {
        for (std::int64_t k = delta_tasks_.bound[task0 + task]; k < delta_tasks_.bound[task0 + task + 1]; ++k) {
          const std::int64_t u = by_level_[k];
          fill(u, below, here + pattern_.kept_start[u], scratch[worker]);
        }
      });
    }
  }
  current_ = std::move(wanted);
  current_depth_ = kept_depth;
}

void SubsetTreePlan::gram_row(std::int64_t s, const double* delta, const double* below, double* out,
                              Scratch& scratch) const {
  const Pattern& pattern = pattern_;
  const PatternSide &rows = pattern.rows, &cols = pattern.cols();
  const std::int32_t *tree = pattern.where_tree.data(), *position = pattern.where_position.data();
  const double* count = pattern.where_count.data();
  for (std::int64_t entry = rows.tree_start[s]; entry < rows.tree_start[s + 1]; ++entry) {
    const std::int64_t u = rows.tree_node[entry];
    const std::int32_t p = rows.bucket[u];
    const double weight = rows.tree_count[entry];
    const double* row;
    if (pattern.kept_start[u] >= 0) {
      row = delta + pattern.kept_start[u];
    } else {
      scratch.row.resize(std::max<std::size_t>(scratch.row.size(), pattern.row_length(u)));
      fill(u, below, scratch.row.data(), scratch);
      row = scratch.row.data();
    }
    const std::int64_t begin = pattern.where_start[cols.bucket_start[p]], end = pattern.entry_end[entry];
    if (cols.members(p) == 1) {
      const double value = weight * row[0];
      for (std::int64_t e = begin; e < end; ++e) out[tree[e]] += count[e] * value;
    } else if (pattern.unit[p]) {
      for (std::int64_t e = begin; e < end; ++e) out[tree[e]] += weight * row[position[e]];
    } else {
      for (std::int64_t e = begin; e < end; ++e) out[tree[e]] += weight * count[e] * row[position[e]];
    }
    if (pattern.symmetric) out[tree[end]] += 0.5 * weight * weight * row[position[end]];
  }
}

bool SubsetTreePlan::matrix(const double* decay, const double* frontier, std::int32_t max_depth, Team& team,
                            double* out) {
  const std::int32_t depth = effective_depth(max_depth);
  compute_delta(decay, frontier, depth, false, team, 0.0, 0.5);
  const bool two_layers = current_depth_ < -1;
  const double* delta = layer(two_layers ? depth % 2 : depth, team);
  const double* below =
      depth == 0 ? delta : (depth == 1 ? nullptr : layer(two_layers ? (depth - 1) % 2 : depth - 1, team));
  const std::int64_t width = n_columns();
  std::vector<Scratch> scratch(team.size());
  clear(out, n_rows() * width, team);
  team.span(0.5, 0.98);
  team.run(static_cast<std::int64_t>(tree_tasks_.size()) - 1, [&](std::int64_t task, int worker) {
    for (std::int64_t s = tree_tasks_[task]; s < tree_tasks_[task + 1]; ++s) {
      gram_row(s, delta, below, out + s * width, scratch[worker]);
    }
  });
  team.span(0.98, 1.0);
  return complete(n_rows(), width, pattern_.symmetric, team, out);
}

}  // namespace espalier
