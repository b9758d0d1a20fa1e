// A graph-based dependency parser: a pruner keeps few heads for each word, and a chart finds the best trees over them.
//
// The pruner is a log-linear model of the head of each word, by itself. The parser scores trees by their parts. A
// classifier labels the arcs of the trees that are found.
#pragma once

#include <cstdint>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/dependency_chart.hpp"
#include "parsing/dependency_features.hpp"
#include "parsing/dependency_labels.hpp"
#include "parsing/weight_table.hpp"

namespace espalier {

struct HeadPruning {
  double ratio;       // heads are kept whose probability is at least this share of the best head's
  std::int32_t most;  // and at most this many for a word
};

struct DependencyModel {
  WeightView pruner, parser;
  const SparseClassifier* labels;
  std::int32_t n_labels;
  int order;  // 1: arcs; 2: siblings and grandparents; 3: grandparents with siblings
  bool several_roots;
  HeadPruning pruning;
};

struct SentenceTrees {
  std::vector<DependencyParse> best;
  std::vector<LabelledTree> labelled;  // each of them
  std::int64_t n_arcs = 0;
  bool narrowed = false;  // fewer heads were kept than asked for, to stay within the memory
};

// The best trees of every sentence, at most `most` of each.
std::vector<SentenceTrees> parse_dependencies(const DependencyModel& model, const DependencyView& sentences,
                                              std::int64_t most, std::int64_t memory, Team& team);

// The score of the tree that each sentence has.
std::vector<double> score_trees(const WeightView& parser, int order, const DependencyView& trees, Team& team);

// The relations of all trees.
std::vector<LabelledTree> label_trees(const SparseClassifier& labels, std::int32_t n_labels,
                                      const DependencyView& trees, Team& team);

// The arcs that the pruner keeps for each sentence, in the order of modifiers.
std::vector<std::vector<ArcGraph::Arc>> kept_arcs(const WeightView& pruner, const HeadPruning& pruning,
                                                  const DependencyView& sentences, Team& team);

}  // namespace espalier
