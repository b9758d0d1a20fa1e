// The best projective dependency trees over some arcs, exactly, for scores of parts up to grandparents with siblings.
//
// Koo and Collins (2010), model 1. Every span knows the arc (g, h) above its head:
//   complete(g, h; e)   the words from h to e, on one side of h, all below h,
//   open(g, h; m)       the words from h to m, where m modifies h and the words beyond m are still to come,
//   between(h; x, m)    the words from x to m, where x and m are adjacent modifiers of h on one side.
// A tree has one derivation, so the best derivations are the best trees, without duplicates. The best k of them come by
// Huang and Chiang's (2005) third algorithm: each span lists its derivations lazily, the best first.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "jobs/pace.hpp"

namespace espalier {

constexpr double kNoTree = -std::numeric_limits<double>::infinity();

// The arcs that trees of one sentence may have, in the order of heads and, for one head, of modifiers; and the parts
// that they form. Tokens count from 0, the root.
class ArcGraph {
 public:
  struct Arc {
    std::int32_t head, modifier;
  };

  // In any order, each once. With `several_roots`, several words may modify the root.
  void set(std::int32_t n_words, std::vector<Arc> arcs, bool several_roots);

  std::int32_t n_words() const { return n_words_; }
  std::int32_t n_arcs() const { return static_cast<std::int32_t>(arcs_.size()); }
  Arc operator[](std::int32_t arc) const { return arcs_[arc]; }
  // Number n_arcs() stands for the arc that is above the root.
  std::int32_t top() const { return n_arcs(); }
  std::int32_t modifier(std::int32_t arc) const { return arc == top() ? 0 : arcs_[arc].modifier; }

  // The arcs below a head, in the order of modifiers; those from middle(h) on are to its right.
  std::int32_t first(std::int32_t head) const { return first_[head]; }
  std::int32_t middle(std::int32_t head) const { return middle_[head]; }
  std::int32_t last(std::int32_t head) const { return first_[head + 1]; }

  // The arcs above a modifier; for the root, the one above it.
  const std::int32_t* above(std::int32_t modifier) const { return above_.data() + above_start_[modifier]; }
  std::int32_t n_above(std::int32_t modifier) const { return above_start_[modifier + 1] - above_start_[modifier]; }

  // Pairs of an arc and one above it: numbers pair_start(arc) + the place of the other among above(head).
  std::int64_t pair_start(std::int32_t arc) const { return pair_start_[arc]; }
  std::int64_t n_pairs() const { return pair_start_.back(); }
  std::int32_t rank(std::int32_t arc) const { return rank_[arc]; }  // of an arc among those above its modifier
  // Whether a projective tree can have both: the head of the upper one is not below or inside the lower one.
  bool fits(std::int32_t upper, std::int32_t arc) const {
    if (upper == top()) return true;
    const std::int32_t g = arcs_[upper].head, h = arcs_[arc].head, m = arcs_[arc].modifier;
    return h < m ? g < h || g > m : g > h || g < m;
  }

  // Siblings: those arcs of one head that lie inside an arc on its side. Numbers sibling_start(arc) for none of them,
  // then one for each, from the first to the last.
  std::int32_t first_inside(std::int32_t arc) const;
  std::int32_t last_inside(std::int32_t arc) const;
  std::int64_t sibling_start(std::int32_t arc) const { return sibling_start_[arc]; }
  std::int64_t n_siblings() const { return sibling_start_.back(); }

  // Grandparents with siblings: for each pair, as many as its arc has siblings.
  std::int64_t grand_sibling_start(std::int64_t pair) const { return grand_sibling_start_[pair]; }
  std::int64_t n_grand_siblings() const { return grand_sibling_start_.back(); }

 private:
  std::int32_t n_words_ = 0;
  bool several_roots_ = false;
  std::vector<Arc> arcs_;
  std::vector<std::int32_t> first_, middle_, above_, above_start_, rank_;
  std::vector<std::int64_t> pair_start_, sibling_start_, grand_sibling_start_;
};

// A score for every part; parts that are not scored have empty lists.
struct PartScores {
  std::vector<double> arc, sibling, pair, grand_sibling;
};

struct DependencyParse {
  double score;
  std::vector<std::int32_t> head;  // by token; -1 for the root
};

// Buffers are kept from one sentence to the next.
class DependencyChart {
 public:
  // Finds the score of the best tree below every span.
  void fill(const ArcGraph& graph, const PartScores& scores, Pace& pace);
  // The best trees of what was filled, at most `most`, the best first.
  std::vector<DependencyParse> best(std::int64_t most, Pace& pace);
  // What filling takes.
  static std::int64_t bytes(std::int64_t n_words, std::int64_t n_arcs) { return 8 * (n_arcs + 1) * (n_words + 1); }

 private:
  using Span = std::int64_t;  // places in value_: complete spans, then open ones, then those between siblings

  Span complete(std::int32_t arc, std::int32_t end) const { return static_cast<std::int64_t>(arc) * n_ + end; }
  Span open(std::int32_t arc, std::int32_t upper) const {
    return opens_ + graph_->pair_start(arc) + graph_->rank(upper);
  }
  Span between(std::int32_t arc, std::int64_t place) const { return betweens_ + graph_->sibling_start(arc) + place; }

  // One way to make a span of others; -1 where there is none.
  struct Way {
    double score;
    Span left, right;
  };
  template <class Each>
  void ways_complete(std::int32_t arc, std::int32_t end, const Each& each) const;
  template <class Each>
  void ways_open(std::int32_t arc, std::int32_t upper, const Each& each) const;
  template <class Each>
  void ways_between(std::int32_t arc, std::int64_t place, const Each& each) const;
  double value_of(const Way& way) const {
    return way.score + value_[way.left] + (way.right < 0 ? 0.0 : value_[way.right]);
  }

  // The derivations of a span that were asked for.
  struct Derivation {
    double score;
    std::int32_t way, left, right;  // which way, and which derivation of the spans on its left and right
  };
  static bool worse(const Derivation& x, const Derivation& y);
  struct Node {
    std::vector<Way> ways;
    std::vector<Derivation> waiting, found;   // a heap, and those taken from it in order
    bool exhausted = false, followed = true;  // followed: what comes after the last that was found is in the heap
  };
  struct Request {
    Span span;
    std::int32_t rank;
  };
  Node& node(Span span);
  void list_ways(Span span, Node& node) const;
  // Finds derivation `rank` of a span, or that there are fewer.
  bool find(Span span, std::int32_t rank, Pace& pace);
  bool follow(Span span);
  bool answered(Span span, std::int32_t rank);
  void push(Span span, Derivation next);
  double score(Span span, std::int32_t rank) const;
  void read(Span span, std::int32_t rank, DependencyParse& parse, Pace& pace);

  const ArcGraph* graph_ = nullptr;
  const PartScores* scores_ = nullptr;
  std::int64_t n_ = 0;
  Span opens_ = 0, betweens_ = 0;
  std::vector<double> value_;
  std::vector<std::int32_t> by_length_, length_start_;
  std::vector<std::int32_t> outer_of_;  // of each pair of siblings, by number: the outer arc
  std::vector<std::int64_t> sibling_by_length_, sibling_length_start_;
  std::vector<std::int32_t> node_of_;  // of each span; -1 where it was not asked for
  std::vector<Node> nodes_;
  std::size_t n_nodes_ = 0;
  std::vector<Request> requests_;
};

}  // namespace espalier
