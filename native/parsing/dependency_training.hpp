// Learning the weights of a dependency parser and of its pruner.
//
// The pruner learns by gradients of the probabilities of heads (AdaGrad; Duchi, Hazan and Singer 2011). The parser goes
// through the sentences one by one, and its weights are averaged over all moments of learning. It compares the gold tree
// with its rivals, the best trees by the weights so far, each of which has an advantage for every wrong head:
// - with a softmax margin (Gimpel and Smith 2010) the gold tree gains probability among its rivals;
// - by MIRA (Crammer et al. 2006, McDonald et al. 2005) the weights move just so far that the gold tree beats every
//   rival by the number of wrong heads.
#pragma once

#include <cstdint>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/dependency_features.hpp"
#include "parsing/dependency_parser.hpp"
#include "parsing/weight_table.hpp"

namespace espalier {

struct PrunerTraining {
  int bits, epochs;
  double step;  // of AdaGrad
  std::uint64_t seed;
};

// Weights of the pruner learned from the sentences that are listed.
LargeVector<float> train_pruner(const DependencyView& treebank, const std::vector<std::int64_t>& rows,
                                const PrunerTraining& settings, Team& team);

enum class Learning { kSoftmaxMargin, kMira };

struct ParserTraining {
  int bits, epochs, order;
  Learning learning;
  double step;    // of gradient ascent; for MIRA, the largest share of one rival in a step
  double margin;  // the advantage of a tree for each wrong head
  int rivals;
  bool several_roots;
  HeadPruning pruning;
  std::uint64_t seed;
};

// Weights of the parser. Row s is pruned by pruners[part[s]].
LargeVector<float> train_parser(const DependencyView& treebank, const std::vector<WeightView>& pruners,
                                const std::int32_t* part, const ParserTraining& settings, Team& team);

}  // namespace espalier
