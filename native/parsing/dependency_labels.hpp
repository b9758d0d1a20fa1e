// The relations of a dependency tree: a classifier goes from the root down and labels each arc.
//
// A relation depends on the words and tags of head and modifier, on the modifier's own dependents and its neighbours
// among those of the head, and on the relation of the head, which is known by then.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/dependency_features.hpp"
#include "parsing/sparse_classifier.hpp"

namespace espalier {

struct LabelTraining {
  std::int32_t n_labels;
  int epochs;
  std::uint64_t seed;
};

// Learns from the labels of all tokens, by an averaged perceptron; that of a root is not used.
ClassifierArrays train_labels(const DependencyView& treebank, const std::int32_t* label, const LabelTraining& settings,
                              Team& team);

struct LabelledTree {
  std::vector<std::int32_t> label;  // by token; -1 for the root
  // How sure the classifier is: the sum of the logarithms of a softmax over a tenth of its scores.
  double score = 0.0;
};

// Labels trees of one sentence. Trees that are alike around an arc give it the same label, which is found once.
class TreeLabeller {
 public:
  TreeLabeller(const SparseClassifier& model, const SentenceKeys& keys, std::int32_t n_labels)
      : model_(model), keys_(keys), score_(n_labels) {}

  LabelledTree operator()(const std::int32_t* head);

 private:
  struct Known {
    std::int32_t label;
    double score;
  };

  const SparseClassifier& model_;
  const SentenceKeys& keys_;
  std::vector<double> score_;
  std::vector<std::uint64_t> features_;
  std::unordered_map<std::uint64_t, Known> known_;
};

}  // namespace espalier
