// Gradient mining in a space of features (Qian and Liu 2015): counts over mispredicted examples, and scores.
//
// An example is a group of candidates, one of them right, or an item of one of several classes. Each class that has
// features has a root of its own in the trie; candidates share a single root.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jobs/team.hpp"
#include "selection/arc_unions.hpp"
#include "selection/counting.hpp"
#include "selection/growing.hpp"
#include "selection/slot_graphs.hpp"

namespace espalier {

struct CountSettings {
  int order;
  double threshold;
  std::int64_t memory;         // bytes for the records
  std::string folder;          // where to spill; empty for nowhere
  std::int64_t filter_memory;  // bytes of the filter that candidates must pass; 0 for none
};

// Which candidate or class of each example is right, and which was predicted; an example whose two are equal is not
// counted. `root_of` is the root of each class, -1 if it has none; empty for candidates.
struct Outputs {
  std::span<const std::int32_t> right, predicted, root_of;
};

struct CountedFeatures : Counted {
  std::int64_t n_emitted = 0;  // occurrences before the filter
};

// The features of an order, grown from those that may grow, that are present in more than `threshold` right outputs
// or in more than `threshold` predicted ones; and the features `watched`, however few have them.
template <class Graphs>
CountedFeatures count_features(const Graphs& graphs, const Growing& growing, const Outputs& outputs,
                               std::span<const std::uint64_t> watched, const CountSettings& settings, Team& team);

// The same, from one pass to the next: what became of the counts of features that are in the trie, and the features that
// are not and now are present often enough. `before` is what was predicted when `kept` was changed last; nothing was
// counted yet if it is empty. All features of the trie may grow; those that could not when `kept` was changed last are
// fresh. Only examples whose prediction changed are counted in full, and fresh features in all examples.
template <class Graphs>
CountChanges count_changes(const Graphs& graphs, const Growing& growing, const Outputs& outputs,
                           std::span<const std::int32_t> before, KeptCounts& kept, const CountSettings& settings,
                           Team& team);

// The same as count_features for all candidates of all examples, right or wrong: `plus` is in how many of them a feature is present.
template <class Graphs>
CountedFeatures count_frequent(const Graphs& graphs, const Growing& growing, const CountSettings& settings, Team& team);

// How the features of an example are counted in a candidate.
enum class FeatureValues : std::uint8_t { kPresence, kOccurrences };

// The sum of the weights of its features for each candidate, example after example, up to a constant of each example; or
// for each item and class. Features that are not open are not reached.
template <class Graphs>
std::vector<double> feature_scores(const Graphs& graphs, const Growing& growing, std::span<const double> weight,
                                   std::span<const std::int32_t> root_of, int order, FeatureValues values, Team& team);

// The features of each output: of each candidate, or of each item under root 0; in the order of their numbers.
struct FeatureRows {
  std::vector<std::int64_t> start;  // by output
  std::vector<std::uint32_t> node;
  std::vector<std::int32_t> count;  // how often it occurs
};
template <class Graphs>
FeatureRows feature_rows(const Graphs& graphs, const Growing& growing, std::span<const std::uint8_t> wanted, int order,
                         Team& team);

// Sets `open` for all features that must be reached to find those that are needed. Needed features that cannot be
// reached, because a part of them is not in the trie, are counted; so it is 0 for a trie that was grown.
std::int64_t open_parts(const FeatureTrie& trie, bool is_of_arcs, SlotKind kind, std::span<const std::uint32_t> top,
                        std::span<const std::uint8_t> needed, std::span<std::uint8_t> open, Team& team);

// By root and atom, the feature of order 1 if it is open.
std::vector<std::uint32_t> first_features(const FeatureTrie& trie, std::int64_t n_atoms,
                                          std::span<const std::uint8_t> open);

}  // namespace espalier
