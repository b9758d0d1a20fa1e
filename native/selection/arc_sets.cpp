#include "selection/arc_sets.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "selection/growth_for.hpp"

namespace espalier {

SlotGraphs arc_sets(const ArcUnions& sentences, Team& team) {
  using Position = std::pair<std::uint32_t, Mask>;
  std::vector<std::vector<Position>> found(static_cast<std::size_t>(sentences.size()));
  each_example(sentences, team, [&](std::int64_t sentence, int) {
    const ArcUnion graph = sentences[sentence];
    auto& own = found[sentence];
    for (std::int32_t arc = 0; arc < graph.n_arcs; ++arc) {
      for (const std::uint32_t atom : graph.atoms(arc)) own.emplace_back(atom, graph.mask[arc]);
    }
    std::ranges::sort(own);
    std::size_t n = 0;
    for (const Position& position : own) {
      if (n > 0 && own[n - 1].first == position.first) {
        own[n - 1].second |= position.second;
      } else {
        own[n++] = position;
      }
    }
    own.resize(n);
    own.shrink_to_fit();
  });
  SlotArrays out;
  out.start.push_back(0);
  for (std::int64_t sentence = 0; sentence < sentences.size(); ++sentence) {
    auto& own = found[sentence];
    for (std::size_t k = 0; k < own.size(); ++k) {
      out.slot.push_back(static_cast<std::int32_t>(k));
      out.atom.push_back(own[k].first);
      out.mask.push_back(own[k].second);
    }
    out.start.push_back(std::ssize(out.atom));
    out.n_starts.push_back(static_cast<std::int32_t>(own.size()));
    out.n_candidates.push_back(sentences[sentence].n_candidates);
    std::vector<Position>().swap(own);
  }
  return SlotGraphs(SlotKind::kSets, 0, std::move(out));
}

}  // namespace espalier
