// Hash-consing: one node per distinct subtree of a corpus, and how often each tree holds it.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "corpus/hashing.hpp"
#include "corpus/vocabulary.hpp"
#include "jobs/listener.hpp"

namespace espalier {

// Distinct subtrees, children before parents, ordered by height; trees as sparse counts over them.
struct ForestArrays {
  std::vector<std::int32_t> label, height, child, root, tree_subtree, tree_count;
  std::vector<std::int64_t> child_start, tree_start;
};

class Interner {
 public:
  explicit Interner(Vocabulary& vocabulary, Listener listener = {})
      : vocabulary_(vocabulary), listener_(std::move(listener)) {}

  // Adds every tree in the text and returns how many there were.
  std::int64_t add_text(std::string_view text);
  void add_missing();  // an empty structure
  // Subtrees of another corpus, children first; returns their ids here.
  std::vector<std::int32_t> add_subtrees(const std::int32_t* label, const std::int64_t* child_start,
                                         const std::int32_t* child, std::int64_t n);
  void add_root(std::int32_t root);
  ForestArrays finish();

  // The sink of read_brackets.
  void open() { frames_.push_back({0, static_cast<std::int64_t>(stack_.size())}); }
  void name(std::string_view label) { frames_.back().label = vocabulary_.add(label); }
  void leaf(std::string_view label) { push(leaf_node(vocabulary_.add(label))); }
  void close();
  void tree();
  void listen(std::int64_t n) { listener_.step(n); }

 private:
  struct Frame {
    std::int32_t label;
    std::int64_t first;
  };

  void push(std::int32_t node) {
    count(node);
    stack_.push_back(node);
  }
  void count(std::int32_t node);
  std::int32_t leaf_node(std::int32_t label);
  std::int32_t inner_node(std::int32_t label, const std::int32_t* child, std::int64_t n);
  std::int32_t new_node(std::int32_t label, const std::int32_t* child, std::int64_t n, std::int32_t height);
  void end_tree(std::int32_t root);
  void count_below(std::int32_t root, std::int64_t first);
  void grow();

  Vocabulary& vocabulary_;
  Listener listener_;
  Hasher hasher_;
  std::vector<Frame> frames_;
  std::vector<std::int32_t> stack_;
  std::vector<std::int32_t> label_, height_, child_, leaf_of_label_;
  std::vector<std::int64_t> child_start_{0};
  std::vector<std::uint32_t> hash_;
  std::vector<std::int32_t> slots_;
  std::int64_t n_inner_ = 0;
  std::vector<std::int32_t> root_, tree_subtree_, tree_count_;
  std::vector<std::int64_t> tree_start_{0};
  std::vector<std::int64_t> seen_at_;  // where the current tree counts this node, if >= the tree's start
};

// Post-order nodes of every tree in a text.
struct PostOrder {
  std::vector<std::int32_t> label, n_children;
  std::vector<std::int64_t> tree_end;
};
PostOrder post_order(std::string_view text, Vocabulary& vocabulary, const Listener& listener = {});

}  // namespace espalier
