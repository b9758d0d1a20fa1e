#include "kernels/subset_tree_self.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "corpus/hashing.hpp"
#include "jobs/pace.hpp"

namespace espalier {
namespace {

// Hashes that are equal for equal productions, and nearly always only for them.
class ProductionHashes {
 public:
  std::uint64_t operator()(const ForestView& forest, std::int32_t u) {
    key_.clear();
    for (std::int64_t c = forest.child_start[u]; c < forest.child_start[u + 1]; ++c) {
      const std::int32_t child = forest.child[c];
      key_.push_back(2 * forest.label[child] + (forest.is_leaf(child) ? 1 : 0));
    }
    return hasher_(forest.label[u], key_.data(), std::ssize(key_));
  }

 private:
  Hasher hasher_;
  std::vector<std::int32_t> key_;
};

bool same_production(const ForestView& forest, std::int32_t u, std::int32_t v) {
  const std::int64_t n = forest.child_start[u + 1] - forest.child_start[u];
  if (forest.label[u] != forest.label[v] || n != forest.child_start[v + 1] - forest.child_start[v]) return false;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t a = forest.child[forest.child_start[u] + i], b = forest.child[forest.child_start[v] + i];
    if (forest.label[a] != forest.label[b] || forest.is_leaf(a) != forest.is_leaf(b)) return false;
  }
  return true;
}

// Numbers by 64-bit keys, emptied by counting up.
template <class Value>
class StampedTable {
 public:
  // Empty, with room for n keys.
  void clear(std::int64_t n) {
    std::size_t size = 64;
    while (static_cast<std::int64_t>(size) < 2 * n) size *= 2;
    if (size > slots_.size()) {
      slots_.assign(size, Slot{});
      stamp_ = 0;
    }
    mask_ = size - 1;
    if (++stamp_ == 0) {
      std::fill(slots_.begin(), slots_.end(), Slot{});
      stamp_ = 1;
    }
  }
  // The value of a key, or null.
  Value* find(std::uint64_t key) {
    Slot& slot = slots_[place(key)];
    return slot.stamp == stamp_ ? &slot.value : nullptr;
  }
  void set(std::uint64_t key, Value value) { slots_[place(key)] = {key, value, stamp_}; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Value value{};
    std::uint32_t stamp = 0;
  };
  std::size_t place(std::uint64_t key) const {
    std::size_t slot = static_cast<std::size_t>(hasher_(key)) & mask_;
    while (slots_[slot].stamp == stamp_ && slots_[slot].key != key) slot = (slot + 1) & mask_;
    return slot;
  }
  Hasher hasher_;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::uint32_t stamp_ = 0;
};

std::uint64_t pair_key(std::int32_t u, std::int32_t v) {
  if (u < v) std::swap(u, v);
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(u)) << 32) | static_cast<std::uint32_t>(v);
}

// What all trees share of a subtree.
struct Subtree {
  double own = 0.0;        // its value with itself
  std::uint64_t hash = 0;  // of its production; 0 where no other subtree can share it
};

// One thread's work on one tree after the other.
class TreeSums {
 public:
  TreeSums(const ForestView& forest, const SelfKernel& kernel, const std::vector<Subtree>& subtrees)
      : forest_(forest), kernel_(kernel), subtrees_(subtrees) {}

  // The tree with itself; false where its pairs take too much memory.
  bool sum(std::int64_t tree, std::int64_t memory, Pace& pace, double& out) {
    const std::int64_t begin = forest_.tree_start[tree], end = forest_.tree_start[tree + 1];
    pace.step(end - begin);
    out = 0.0;
    std::uint64_t seen[4] = {};  // bits of the hashes so far: in most trees no two are equal, and none look so
    bool may_pair = false;
    for (std::int64_t e = begin; e < end; ++e) {
      const Subtree& subtree = subtrees_[forest_.tree_subtree[e]];
      const double count = forest_.tree_count[e];
      out += count * count * subtree.own;
      if (subtree.hash == 0) continue;
      std::uint64_t& word = seen[(subtree.hash >> 1) & 3];
      const std::uint64_t bit = 1ULL << ((subtree.hash >> 3) & 63);
      may_pair |= (word & bit) != 0;
      word |= bit;
    }
    const std::int64_t n_pairs = may_pair ? group(begin, end) : 0;
    if (n_pairs == 0) return true;
    if (n_pairs > memory / kBytesPerPair) return false;
    known_.clear(n_pairs);
    pace.step(n_pairs);
    double cross = 0.0;
    for (const Node& node : nodes_) {
      for (std::int32_t k = node.previous; k >= 0; k = nodes_[k].previous) {
        pace.step(kStepsOfPair);
        if (!same_production(forest_, node.subtree, nodes_[k].subtree)) continue;
        const double delta = delta_of(node.subtree, nodes_[k].subtree);
        known_.set(pair_key(node.subtree, nodes_[k].subtree), delta);
        cross += node.count * nodes_[k].count * delta;
      }
    }
    out += 2.0 * cross;
    return true;
  }

 private:
  static constexpr std::int64_t kStepsOfPair = 16;
  static constexpr std::int64_t kBytesPerPair = 4 * 24;  // tables grow to twice their keys, by doubling
  struct Node {
    std::int32_t subtree, previous;  // the last node before it of its production
    double count;
  };

  // Chains the nodes of each production, children before parents; returns how many pairs there are.
  std::int64_t group(std::int64_t begin, std::int64_t end) {
    nodes_.clear();
    for (std::int64_t e = begin; e < end; ++e) {
      const std::int32_t u = forest_.tree_subtree[e];
      if (subtrees_[u].hash != 0) nodes_.push_back({u, -1, static_cast<double>(forest_.tree_count[e])});
    }
    const auto earlier = [](const Node& a, const Node& b) { return a.subtree < b.subtree; };
    if (!std::is_sorted(nodes_.begin(), nodes_.end(), earlier)) std::sort(nodes_.begin(), nodes_.end(), earlier);
    last_.clear(static_cast<std::int64_t>(nodes_.size()));
    std::int64_t n_pairs = 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const std::uint64_t hash = subtrees_[nodes_[k].subtree].hash;
      Last* last = last_.find(hash);
      const std::int32_t before = last ? last->count : 0;
      if (last) nodes_[k].previous = last->node;
      n_pairs += before;
      last_.set(hash, {static_cast<std::int32_t>(k), before + 1});
    }
    return n_pairs;
  }
  double delta_of(std::int32_t u, std::int32_t v) {
    double out = kernel_.decay[forest_.label[u]];
    const double frontier = kernel_.frontier[forest_.label[u]];
    const std::int64_t n = forest_.child_start[u + 1] - forest_.child_start[u];
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int32_t a = forest_.child[forest_.child_start[u] + i], b = forest_.child[forest_.child_start[v] + i];
      if (forest_.is_leaf(a)) continue;  // the same word
      const double* known = a == b ? &subtrees_[a].own : known_.find(pair_key(a, b));
      out *= frontier + (known ? *known : 0.0);
    }
    return out;
  }

  struct Last {
    std::int32_t node, count;
  };
  const ForestView& forest_;
  const SelfKernel& kernel_;
  const std::vector<Subtree>& subtrees_;
  std::vector<Node> nodes_;
  StampedTable<Last> last_;
  StampedTable<double> known_;
};

}  // namespace

bool subset_self(const ForestView& forest, const SelfKernel& kernel, std::int64_t memory, Team& team, double* out) {
  std::vector<Subtree> subtrees(forest.n_subtrees);
  const std::vector<char> used = used_subtrees(forest);
  ProductionHashes production_hash;
  for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {  // children stand before parents
    if (!used[u]) continue;
    if (forest.is_leaf(u)) {
      subtrees[u].own = kernel.leaf;
      continue;
    }
    double value = kernel.decay[forest.label[u]];
    for (std::int64_t c = forest.child_start[u]; c < forest.child_start[u + 1]; ++c) {
      const std::int32_t child = forest.child[c];
      if (!forest.is_leaf(child)) value *= kernel.frontier[forest.label[u]] + subtrees[child].own;
    }
    subtrees[u].own = value;
    // Two different subtrees share a production only if something stands below its children.
    if (!kernel.identity && forest.height[u] > 1) subtrees[u].hash = production_hash(forest, u) | 1;
  }
  constexpr std::int64_t kBlock = 512;  // trees of one task
  std::vector<TreeSums> sums(team.size(), TreeSums(forest, kernel, subtrees));
  std::atomic<bool> fits{true};
  team.run((forest.n_trees + kBlock - 1) / kBlock, [&](std::int64_t block, int worker) {
    Pace pace(team, worker);
    const std::int64_t last = std::min(forest.n_trees, (block + 1) * kBlock);
    for (std::int64_t tree = block * kBlock; tree < last && fits; ++tree) {
      if (!sums[worker].sum(tree, memory / team.size(), pace, out[tree])) fits = false;
    }
  });
  return fits;
}

}  // namespace espalier
