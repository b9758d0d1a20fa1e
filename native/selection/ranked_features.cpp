#include "selection/ranked_features.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>

#include "selection/feature_hits.hpp"
#include "selection/growth_for.hpp"

namespace espalier {

template <class Graphs>
RankedFeatures RankedFeatures::extracted(const Graphs& graphs, const Growing& growing,
                                         std::span<const std::int32_t> index, std::span<const float> value, int order,
                                         std::int64_t memory, Team& team) {
  RankedFeatures out;
  out.groups_.resize(static_cast<std::size_t>(graphs.size()));
  out.n_bytes_.resize(static_cast<std::size_t>(graphs.size()));
  std::atomic<std::int64_t> held = 0, n_features = 0;
  auto growth = growths<Graphs>(growing, team);
  std::vector<std::vector<FeatureHit>> hits(static_cast<std::size_t>(team.size()));
  each_example(graphs, team, [&](std::int64_t example, int worker) {
    const auto graph = graphs[example];
    Group group;
    group.n_candidates = graph.n_candidates;
    auto& own = hits[worker];
    own.clear();
    growth[worker].hits(graph, graph.all, order, graph.all, 0, [&](std::uint32_t node, Mask mask) {
      if (index[node] >= 0) own.push_back({node, mask});
    });
    group.column.reserve(own.size());
    for (const FeatureHit& hit : own) {
      if (hit.mask == graph.all) continue;
      const float own_value = value[hit.node];
      if (group.runs.empty() || group.runs.back().mask != hit.mask || group.runs.back().value != own_value) {
        group.runs.push_back({hit.mask, 0, own_value});
      }
      group.column.push_back(index[hit.node]);
      group.runs.back().end = static_cast<std::int32_t>(group.column.size());
    }
    group.column.shrink_to_fit();
    group.runs.shrink_to_fit();
    const std::int64_t n_bytes = group.n_bytes();
    out.n_bytes_[example] = n_bytes;
    n_features += std::ssize(group.column);
    // Once they exceed the memory, groups are only measured.
    if ((held += n_bytes) <= memory) out.groups_[example] = std::move(group);
  });
  out.n_features_ = n_features;
  out.is_whole_ = held <= memory;
  if (!out.is_whole_) out.groups_ = {};
  return out;
}

template RankedFeatures RankedFeatures::extracted(const ArcUnions&, const Growing&, std::span<const std::int32_t>,
                                                  std::span<const float>, int, std::int64_t, Team&);
template RankedFeatures RankedFeatures::extracted(const SlotGraphs&, const Growing&, std::span<const std::int32_t>,
                                                  std::span<const float>, int, std::int64_t, Team&);

std::int64_t RankedFeatures::Group::n_bytes() const {
  return static_cast<std::int64_t>(sizeof(Group) + runs.size() * sizeof(Run) + column.size() * sizeof(column[0]));
}

void RankedFeatures::Group::add_scores(std::span<const float> weight, double* scores) const {
  constexpr std::int32_t kAhead = 16;
  std::int32_t at = 0;
  const auto n = static_cast<std::int32_t>(column.size());
  for (const Run& run : runs) {
    double sum = 0;
    for (; at < run.end; ++at) {
      if (at + kAhead < n) __builtin_prefetch(&weight[column[at + kAhead]]);
      sum += weight[column[at]];
    }
    if (sum != 0) add_to(scores, run.mask, run.value * sum);
  }
}

std::vector<double> RankedFeatures::scores(std::span<const float> weight, Team& team) const {
  std::vector<std::int64_t> start{0};
  for (const Group& group : groups_) start.push_back(start.back() + group.n_candidates);
  std::vector<double> out(static_cast<std::size_t>(start.back()));
  each_example(*this, team,
               [&](std::int64_t group, int) { groups_[group].add_scores(weight, out.data() + start[group]); });
  return out;
}

namespace {

// What becomes of a weight that shrinks n times by a share of itself and then by `less`, but not below 0.
struct Shrunk {
  double last;  // the weight at the end
  double sum;   // of the weights after all steps but the last
};

Shrunk shrunk(double weight, double share, double less, double n) {
  const double log_kept = std::log1p(-share);
  const double level = share > 0 ? less / share : 0;  // what `less` takes away in the end, if there is a share
  // After k steps, before it is 0.
  const auto after = [&](double k) {
    if (share == 0) return weight - k * less;
    return weight * std::exp(k * log_kept) + level * std::expm1(k * log_kept);
  };
  double n_positive = n;  // how many steps leave something
  if (less > 0) {
    const double most = share > 0 ? -std::log1p(weight / level) / log_kept : weight / less;
    n_positive = std::min(n, std::floor(most));
  }
  const double k = std::min(n_positive, n - 1);
  const double kept = share > 0 ? -(1 - share) * std::expm1(k * log_kept) / share : k;  // the sum of its powers
  const double lost = share > 0 ? level * (k - kept) : less * k * (k + 1) / 2;
  return {n_positive < n ? 0.0 : std::max(after(n), 0.0), weight * kept - lost};
}

}  // namespace

// The penalties of the steps since the feature was last seen, as if each had been paid in its time.
void RankingLearner::pay(Cell& cell) const {
  const auto before = static_cast<double>(cell.seen), now = static_cast<double>(n_steps_);
  cell.seen = static_cast<std::uint32_t>(n_steps_);
  if (now == before || cell.weight == 0) return;
  const double rate = settings_.step;
  const double weight = std::abs(cell.weight), sign = cell.weight < 0 ? -1 : 1;
  const auto [last, sum] = shrunk(weight, rate * settings_.l2, rate * settings_.l1, now - before);
  cell.weight = static_cast<float>(sign * last);
  // Moves times the steps before them, added by parts.
  cell.moved += static_cast<float>(sign * ((now - 1) * last - before * weight - sum));
}

std::int64_t RankingLearner::pass(const RankedFeatures& features, std::span<const std::int64_t> order,
                                  std::span<const std::int64_t> start, std::span<const std::int32_t> target,
                                  std::span<const double> base, std::span<const double> cost, Team& team) {
  std::int64_t n_wrong = 0;
  std::array<double, kMostCandidates> score, move;
  const bool penalised = settings_.l1 > 0 || settings_.l2 > 0;
  const bool is_perceptron = settings_.loss == RankingLoss::kPerceptron;
  std::int64_t at_group = 0;
  for (const std::int64_t number : order) {
    if (++at_group % 256 == 0) team.breathe(0);
    const RankedFeatures::Group& group = features[number];
    const int n = group.n_candidates;
    const double *own_base = base.data() + start[number], *own_cost = cost.data() + start[number];
    for (int k = 0; k < n; ++k) score[k] = own_base[k];
    ++n_steps_;
    constexpr std::int32_t kAhead = 16;
    const auto n_columns = static_cast<std::int32_t>(group.column.size());
    std::int32_t at = 0;
    for (const RankedFeatures::Run& run : group.runs) {
      double sum = 0;
      for (; at < run.end; ++at) {
        if (at + kAhead < n_columns) __builtin_prefetch(&cells_[group.column[at + kAhead]], 1);
        Cell& cell = cells_[group.column[at]];
        if (penalised) pay(cell);
        sum += cell.weight;
      }
      if (sum != 0) add_to(score.data(), run.mask, run.value * sum);
    }
    const int right = target[number];
    for (int k = 0; k < n; ++k) score[k] += settings_.margin * own_cost[k];
    const auto ties = [&](int k) { return is_perceptron && own_cost[k] > 0 && score[k] == score[right]; };
    int best = right;
    for (int k = 0; k < n; ++k) {
      if (score[k] > score[best] || (best == right && ties(k))) best = k;
    }
    n_wrong += best != right;
    std::fill_n(move.begin(), n, 0.0);
    if (is_perceptron) {
      if (best == right) continue;
      move[right] = 1;
      move[best] = -1;
    } else {
      const double most = *std::max_element(score.begin(), score.begin() + n);
      double total = 0, expected = 0;
      for (int k = 0; k < n; ++k) total += score[k] = std::exp(score[k] - most);
      for (int k = 0; k < n; ++k) score[k] /= total;
      if (settings_.loss == RankingLoss::kSoftmax) {
        for (int k = 0; k < n; ++k) move[k] = (k == right) - score[k];
      } else {
        for (int k = 0; k < n; ++k) expected += score[k] * own_cost[k];
        for (int k = 0; k < n; ++k) move[k] = score[k] * (expected - own_cost[k]);
      }
    }
    at = 0;
    for (const RankedFeatures::Run& run : group.runs) {
      double slope = 0;
      for (Mask mask = run.mask; mask; mask &= mask - 1) slope += move[std::countr_zero(mask)];
      slope *= run.value;
      if (std::abs(slope) < 1e-12) {
        at = run.end;
        continue;
      }
      for (; at < run.end; ++at) {
        Cell& cell = cells_[group.column[at]];
        const double change = settings_.step * slope;
        cell.weight += static_cast<float>(change);
        cell.moved += static_cast<float>(change * static_cast<double>(n_steps_ - 1));
      }
    }
  }
  return n_wrong;
}

std::vector<float> RankingLearner::weights() const {
  std::vector<float> out;
  out.reserve(cells_.size());
  for (Cell cell : cells_) {
    pay(cell);
    out.push_back(cell.weight);
  }
  return out;
}

std::vector<float> RankingLearner::averaged() const {
  std::vector<float> out;
  out.reserve(cells_.size());
  for (Cell cell : cells_) {
    pay(cell);
    out.push_back(n_steps_ ? static_cast<float>(cell.weight - cell.moved / static_cast<double>(n_steps_)) : 0.0F);
  }
  return out;
}

}  // namespace espalier
