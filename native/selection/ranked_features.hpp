// The selected features of many groups, extracted once: what a reranker learns from.
//
// A feature that all candidates of a group have decides nothing and is left out. Features of one place in the sentence
// are had by the same candidates, so they share one mask.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jobs/team.hpp"
#include "selection/growing.hpp"
#include "selection/mining.hpp"

namespace espalier {

class RankedFeatures {
 public:
  // `index` gives each feature of the trie its column, -1 if it has none, and `value` what it counts. If all groups
  // together take more than `memory` bytes, none is kept, and what was extracted only says how much each takes.
  template <class Graphs>
  static RankedFeatures extracted(const Graphs& graphs, const Growing& growing, std::span<const std::int32_t> index,
                                  std::span<const float> value, int order, std::int64_t memory, Team& team);

  std::int64_t size() const { return std::ssize(n_bytes_); }
  bool is_whole() const { return is_whole_; }
  std::span<const std::int64_t> n_bytes() const { return n_bytes_; }  // by group
  std::int64_t n_features() const { return n_features_; }
  // For each candidate, group after group, the sum of the weights of its features, up to a constant of each group.
  std::vector<double> scores(std::span<const float> weight, Team& team) const;

  struct Run {
    Mask mask;
    std::int32_t end;  // of its columns
    float value;       // of its features
  };
  struct Group {
    std::int32_t n_candidates = 0;
    std::vector<Run> runs;
    std::vector<std::int32_t> column;

    std::int64_t n_bytes() const;
    void add_scores(std::span<const float> weight, double* scores) const;
  };
  const Group& operator[](std::int64_t group) const { return groups_[group]; }

 private:
  std::vector<Group> groups_;
  std::vector<std::int64_t> n_bytes_;
  std::int64_t n_features_ = 0;
  bool is_whole_ = true;
};

// How candidates that are not right move weights.
enum class RankingLoss : std::uint8_t {
  kPerceptron,  // the best candidate, its cost included, if it is above the right one, or equal to it and costs more
  kSoftmax,     // all, by their probability, costs included
  kRisk         // all, by probability and by how their cost differs from the expected one
};

struct RankingSettings {
  RankingLoss loss;
  double margin;  // how much a unit of cost adds to the score while learning
  double step;    // the size of a step
  double l1, l2;  // penalties that every weight pays at each step before it moves, l2 first
};

// Learns weights of features by one step for each group, and averages them over all steps.
class RankingLearner {
 public:
  RankingLearner(std::int64_t n_features, const RankingSettings& settings)
      : settings_(settings), cells_(static_cast<std::size_t>(n_features)) {}

  // One pass in the order given. `target`, `base` and `cost` are as for mining: by group, and by candidate. Returns in how
  // many groups something else than the target had the highest score, costs included. For perceptrons also a tie with a
  // candidate that has a cost is such a mistake: otherwise nothing would be learned where all scores are equal.
  std::int64_t pass(const RankedFeatures& features, std::span<const std::int64_t> order,
                    std::span<const std::int64_t> start, std::span<const std::int32_t> target,
                    std::span<const double> base, std::span<const double> cost, Team& team);
  std::vector<float> weights() const;
  std::vector<float> averaged() const;

 private:
  struct Cell {
    float weight = 0, moved = 0;  // moved: the sum of all moves, each times the number of steps before it
    std::uint32_t seen = 0;       // the step up to which penalties are paid
  };
  void pay(Cell& cell) const;

  RankingSettings settings_;
  std::vector<Cell> cells_;
  std::int64_t n_steps_ = 0;
};

}  // namespace espalier
