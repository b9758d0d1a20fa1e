#include "spaces/fragment_hashing.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

struct Piece {
  std::uint64_t hash;
  double value;
  std::int32_t size, depth;
};

std::uint64_t mixed(std::uint64_t hash, std::uint64_t more) {
  hash = (hash ^ more) * 0x9E3779B97F4A7C15ULL;
  hash ^= hash >> 29;
  hash *= 0xBF58476D1CE4E5B9ULL;
  return hash ^ (hash >> 32);
}

constexpr std::uint64_t kWord = 0x94D049BB133111EBULL, kUnexpanded = 0xD6E8FEB86659FD93ULL;

}  // namespace

HashedFragments hash_fragments(const ForestView& forest, const std::uint64_t* label_hash, const SubsetWeights& weights,
                               Team& team) {
  const std::int32_t max_size = weights.max_size;
  const std::int32_t max_depth = weights.max_depth > 0 ? weights.max_depth : max_size;
  std::vector<std::vector<Piece>> rooted(forest.n_subtrees);
  HashedFragments out;
  out.start.push_back(0);
  std::vector<Piece> partial, next;
  for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {  // children come first
    if (u % 1024 == 0) team.breathe(0);
    if (!forest.is_leaf(u)) {
      const std::int32_t label = forest.label[u];
      const double keep = std::sqrt(weights.frontier[label]);
      partial.assign(1, {mixed(label_hash[label], kUnexpanded + 1), std::sqrt(weights.decay[label]), 1, 1});
      for (std::int64_t c = forest.child_start[u]; c < forest.child_start[u + 1]; ++c) {
        const std::int32_t child = forest.child[c];
        const std::uint64_t own = label_hash[forest.label[child]];
        next.clear();
        for (const Piece& piece : partial) {
          if (forest.is_leaf(child)) {
            next.push_back({mixed(piece.hash, own ^ kWord), piece.value, piece.size, piece.depth});
            continue;
          }
          if (keep > 0) {
            next.push_back({mixed(piece.hash, own ^ kUnexpanded), piece.value * keep, piece.size, piece.depth});
          }
          for (const Piece& below : rooted[child]) {
            if (piece.size + below.size > max_size || below.depth + 1 > max_depth) continue;
            next.push_back({mixed(piece.hash, below.hash), piece.value * below.value, piece.size + below.size,
                            std::max(piece.depth, below.depth + 1)});
          }
        }
        partial.swap(next);
      }
      rooted[u] = partial;
      for (const Piece& piece : partial) {
        out.hash.push_back(piece.hash);
        out.value.push_back(piece.value);
      }
    }
    out.start.push_back(std::ssize(out.hash));
  }
  return out;
}

}  // namespace espalier
