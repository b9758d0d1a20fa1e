#include "best_parses.hpp"

#include <algorithm>
#include <utility>

namespace espalier {

bool BestParses::Choice::operator<(const Choice& other) const {
  if (weight != other.weight) return weight < other.weight;
  if (edge != other.edge) return edge > other.edge;
  if (first != other.first) return first > other.first;
  return second > other.second;
}

bool BestParses::parse(std::int64_t i, std::int64_t j, std::int32_t symbol, std::int64_t rank, Parse& out) {
  Node* top = node(i, j, symbol, grammar_.max_unary);
  if (!top || !reach(*top, rank)) return false;
  out.weight = top->found[rank].weight;
  out.symbol.clear();
  out.n_children.clear();
  write(*top, rank, out);
  return true;
}

// A symbol over a span with at most `layer` unary rules on top; null where the chart has none.
BestParses::Node* BestParses::node(std::int64_t i, std::int64_t j, std::int32_t symbol, std::int32_t layer) {
  const std::uint64_t cell = static_cast<std::uint64_t>(i * (chart_.n_words() + 1) + j);
  const std::uint64_t key = (cell * grammar_.n_symbols + symbol) * (grammar_.max_unary + 1) + layer;
  const auto found = nodes_.find(key);
  if (found != nodes_.end()) return found->second.get();
  auto made = std::make_unique<Node>();
  made->i = i;
  made->j = j;
  made->symbol = symbol;
  made->layer = layer;
  return nodes_.emplace(key, std::move(made)).first->second.get();
}

// The weight of the best parse of a node.
double BestParses::estimate(std::int64_t i, std::int64_t j, std::int32_t symbol, std::int32_t layer) {
  const Entry* entry = chart_.find(i, j, symbol);
  if (!entry) return kImpossible;
  if (layer == 0 || symbol >= grammar_.n_base) return entry->split;
  if (layer == grammar_.max_unary) return entry->best;
  const std::vector<Entry>& cell = chart_.cell(i, j);
  const auto n = static_cast<std::int64_t>(cell.size());
  std::vector<double>& table = layers_[i * (chart_.n_words() + 1) + j];
  if (table.empty()) {
    table.assign(n * grammar_.max_unary, kImpossible);
    for (std::int64_t k = 0; k < n; ++k) table[k] = cell[k].split;
    for (std::int32_t l = 1; l < grammar_.max_unary; ++l) {
      for (std::int64_t k = 0; k < n; ++k) {
        double& value = table[l * n + k];
        value = cell[k].split;
        if (cell[k].symbol >= grammar_.n_base) continue;
        for (std::int64_t r = grammar_.down_start[cell[k].symbol]; r < grammar_.down_start[cell[k].symbol + 1]; ++r) {
          const Entry* child = chart_.find(i, j, grammar_.down_child[r]);
          if (child) value = std::max(value, grammar_.down_weight[r] + table[(l - 1) * n + (child - cell.data())]);
        }
      }
    }
  }
  return table[layer * n + (entry - cell.data())];
}

// Lists the edges of a node that can lead to one of its best parses.
void BestParses::open(Node& node) {
  node.opened = true;
  std::vector<std::pair<double, Edge>> edges;
  if (node.layer > 0) {
    const double own = estimate(node.i, node.j, node.symbol, 0);
    if (own > kImpossible) edges.push_back({own, {alias, 0.0, this->node(node.i, node.j, node.symbol, 0), nullptr}});
    for (std::int64_t r = grammar_.down_start[node.symbol]; r < grammar_.down_start[node.symbol + 1]; ++r) {
      const std::int32_t child = grammar_.down_child[r];
      const double below = estimate(node.i, node.j, child, node.layer - 1);
      if (below == kImpossible) continue;
      const double weight = grammar_.down_weight[r];
      edges.push_back({weight + below, {unary, weight, this->node(node.i, node.j, child, node.layer - 1), nullptr}});
    }
  } else if (node.j == node.i + 1) {
    const double own = estimate(node.i, node.j, node.symbol, 0);
    if (own > kImpossible) edges.push_back({own, {word, own, nullptr, nullptr}});
  } else {
    add_binary(node, edges);
  }
  // No more edges can take part than parses are asked for.
  const auto better = [](const auto& x, const auto& y) { return x.first > y.first; };
  if (static_cast<std::int64_t>(edges.size()) > most_) {
    std::stable_sort(edges.begin(), edges.end(), better);
    edges.resize(most_);
  }
  for (const auto& [weight, edge] : edges) node.edges.push_back(edge);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    node.heap.push_back({edges[e].first, static_cast<std::int32_t>(e), 0, 0});
  }
  std::make_heap(node.heap.begin(), node.heap.end());
}

void BestParses::add_binary(Node& node, std::vector<std::pair<double, Edge>>& edges) {
  const GrammarView& g = grammar_;
  for (std::int64_t k = node.i + 1; k < node.j; ++k) {
    const std::vector<Entry>&lefts = chart_.cell(node.i, k), &rights = chart_.cell(k, node.j);
    if (lefts.empty() || rights.empty()) continue;
    for (std::int64_t p = g.parent_start[node.symbol]; p < g.parent_start[node.symbol + 1]; ++p) {
      const std::int32_t r = g.parent_rule[p];
      const Entry* left = chart_.find(node.i, k, g.left[r]);
      if (!left) continue;
      const Entry* right = chart_.find(k, node.j, g.right[r]);
      if (!right) continue;
      const std::int32_t left_layer = g.left[r] < g.n_base ? g.max_unary : 0;
      edges.push_back({left->best + right->best + g.weight[r],
                       {binary, g.weight[r], this->node(node.i, k, g.left[r], left_layer),
                        this->node(k, node.j, g.right[r], g.max_unary)}});
    }
  }
}

// Finds parses until there is one of the rank; false where there is none.
bool BestParses::reach(Node& node, std::int64_t rank) {
  if (!node.opened) open(node);
  while (static_cast<std::int64_t>(node.found.size()) <= rank) {
    if (!node.found.empty()) {
      const Choice last = node.found.back();
      const Edge& edge = node.edges[last.edge];
      // The neighbours of the last choice; where the second child is not at its best, the first stays.
      if (edge.kind == binary && reach(*edge.second, last.second + 1)) {
        push(node, last.edge, last.first, last.second + 1);
      }
      if (edge.kind != word && last.second == 0 && reach(*edge.first, last.first + 1)) {
        push(node, last.edge, last.first + 1, 0);
      }
    }
    if (node.heap.empty()) return false;
    std::pop_heap(node.heap.begin(), node.heap.end());
    Choice best = node.heap.back();
    node.heap.pop_back();
    const Edge& edge = node.edges[best.edge];
    if (best.first == 0 && best.second == 0) {
      // The best parses of the children are looked at only now: up to here the chart has said what they weigh.
      if (edge.first && !reach(*edge.first, 0)) continue;
      if (edge.second && !reach(*edge.second, 0)) continue;
    }
    node.found.push_back(best);
  }
  return true;
}

void BestParses::push(Node& node, std::int32_t edge, std::int32_t first, std::int32_t second) {
  const Edge& e = node.edges[edge];
  double weight = e.weight + e.first->found[first].weight;
  if (e.second) weight += e.second->found[second].weight;
  node.heap.push_back({weight, edge, first, second});
  std::push_heap(node.heap.begin(), node.heap.end());
}

// Writes a parse in post-order, prefixes left out; without recursion.
void BestParses::write(const Node& top, std::int64_t rank, Parse& out) const {
  struct Frame {
    const Node* node;
    std::int64_t rank;
    std::int32_t step, n_children;
  };
  std::vector<Frame> stack{{&top, rank, 0, 0}};
  std::int32_t returned = 0;  // how many nodes the last frame left for its parent
  while (!stack.empty()) {
    Frame& frame = stack.back();
    const Choice& choice = frame.node->found[frame.rank];
    const Edge& edge = frame.node->edges[choice.edge];
    if (frame.step > 0) frame.n_children += returned;
    const std::int32_t step = frame.step++;
    if (edge.kind == word) {
      out.symbol.push_back(static_cast<std::int32_t>(-1 - frame.node->i));
      out.n_children.push_back(0);
      frame.n_children = 1;
    } else if (step == 0) {
      const Node* next = edge.first;
      const std::int64_t next_rank = choice.first;
      stack.push_back({next, next_rank, 0, 0});
      continue;
    } else if (step == 1 && edge.kind == binary) {
      const Node* next = edge.second;
      const std::int64_t next_rank = choice.second;
      stack.push_back({next, next_rank, 0, 0});
      continue;
    }
    if (edge.kind == alias || frame.node->symbol >= grammar_.n_base) {
      returned = frame.n_children;
    } else {
      out.symbol.push_back(frame.node->symbol);
      out.n_children.push_back(frame.n_children);
      returned = 1;
    }
    stack.pop_back();
  }
}

}  // namespace espalier
