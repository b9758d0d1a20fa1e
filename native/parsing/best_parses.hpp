// The k best parses of a sentence from its chart, found lazily: the third algorithm of Huang and Chiang (2005).
//
// Parses of one symbol over one span have a total order, which does not depend on how many are asked for: the heavier
// first; of equal ones that without a unary rule on top, then by the unary rule; of those that are split, that with the
// shorter left part, then by the symbols of left and right part, then that with the better left part, then that with
// the better right part, each in its own order. Weights must be such that their sums are exact in any order.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "corpus/hashing.hpp"
#include "jobs/pace.hpp"
#include "parsing/chart.hpp"

namespace espalier {

// One parse in post-order: the symbol and the number of children of each node; words are -1 - position, with none.
struct Parse {
  double weight;
  std::vector<std::int32_t> symbol, n_children;
};

class BestParses {
 public:
  BestParses(const GrammarView& grammar, const Chart& chart, std::int64_t most, std::int64_t memory,
             Pace* pace = nullptr)
      : grammar_(grammar), chart_(chart), pace_(pace), most_(most), memory_(memory) {}

  // The parse of a rank, from 0, of a symbol over a span; false where there is none, or no memory to find it.
  bool parse(std::int64_t i, std::int64_t j, std::int32_t symbol, std::int64_t rank, Parse& out);
  // Whether the memory suffices: once it does not, no further parse is found.
  bool fits() const { return bytes_ <= memory_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  enum Kind : std::int32_t { word, alias, unary, binary };
  struct Node;
  struct Edge {
    Kind kind;
    double weight;  // of the rule, or of the word
    Node *first, *second;
  };
  // An edge before its children are looked for: the number of its rule, and where a binary rule splits the span.
  struct Option {
    double weight;  // of the best parse with it
    Kind kind;
    std::int64_t rule, split;
  };
  // A way to use an edge: the ranks of its children.
  struct Choice {
    double weight;
    std::int32_t edge, first, second;
    bool operator<(const Choice& other) const;  // for a heap whose top is the best
  };
  struct Node {
    std::int64_t i, j;
    std::int32_t symbol, layer;
    bool opened = false, finished = false;
    std::vector<Edge> edges;
    std::vector<Choice> heap, found;
  };
  // A search for one more parse of a node, and how far it is.
  enum Stage : std::int32_t { start, after_second, after_first, take, check_second, accept };
  struct Search {
    Node* node;
    std::int64_t rank;
    Stage stage;
    Choice choice;
  };

  Node* node(std::int64_t i, std::int64_t j, std::int32_t symbol, std::int32_t layer);
  void open(Node& node);
  Edge edge_of(const Node& node, const Option& option);
  void keep_best(std::vector<Option>& options) const;
  void list_unary(const Node& node, std::vector<Option>& options);
  void list_binary(const Node& node, std::vector<Option>& options);
  double estimate(std::int64_t i, std::int64_t j, std::int32_t symbol, std::int32_t layer);
  bool reach(Node& top, std::int64_t rank);
  bool step(Search& search, bool& found, Search& below);
  void push(Node& node, std::int32_t edge, std::int32_t first, std::int32_t second);
  void write(const Node& node, std::int64_t rank, Parse& out) const;

  const GrammarView& grammar_;
  const Chart& chart_;
  Pace* pace_;
  std::int64_t most_, memory_, bytes_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Node>, Hasher> nodes_;
  std::unordered_map<std::int64_t, std::vector<double>> layers_;  // by cell: V_l of its base entries, layer by layer
};

}  // namespace espalier
