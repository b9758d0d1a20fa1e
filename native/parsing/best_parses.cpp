#include "parsing/best_parses.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace espalier {
namespace {

constexpr std::int64_t kMapped = 64;  // what a map and the allocator add to a value, about

}  // namespace

bool BestParses::Choice::operator<(const Choice& other) const {
  if (weight != other.weight) return weight < other.weight;
  if (edge != other.edge) return edge > other.edge;
  if (first != other.first) return first > other.first;
  return second > other.second;
}

bool BestParses::parse(std::int64_t i, std::int64_t j, std::int32_t symbol, std::int64_t rank, Parse& out) {
  Node* top = node(i, j, symbol, grammar_.max_unary);
  if (!reach(*top, rank)) return false;
  out.weight = top->found[rank].weight;
  out.symbol.clear();
  out.n_children.clear();
  write(*top, rank, out);
  return true;
}

// A symbol over a span with at most `layer` unary rules on top, in the chart or not.
BestParses::Node* BestParses::node(std::int64_t i, std::int64_t j, std::int32_t symbol, std::int32_t layer) {
  const auto cell = static_cast<std::uint64_t>(Chart::index(i, j));
  const std::uint64_t key = (cell * grammar_.n_symbols + symbol) * (grammar_.max_unary + 1) + layer;
  const auto found = nodes_.find(key);
  if (found != nodes_.end()) return found->second.get();
  auto made = std::make_unique<Node>();
  made->i = i;
  made->j = j;
  made->symbol = symbol;
  made->layer = layer;
  bytes_ += static_cast<std::int64_t>(sizeof(Node)) + kMapped;
  return nodes_.emplace(key, std::move(made)).first->second.get();
}

// The weight of the best parse of a node.
double BestParses::estimate(std::int64_t i, std::int64_t j, std::int32_t symbol, std::int32_t layer) {
  const Entry* entry = chart_.find(i, j, symbol);
  if (!entry) return kImpossible;
  if (layer == 0 || symbol >= grammar_.n_base) return entry->split;
  if (layer == grammar_.max_unary) return entry->best;
  const ChartCell& cell = chart_.cell(i, j);
  const std::int64_t n = cell.n_base;
  std::vector<double>& table = layers_[Chart::index(i, j)];
  if (table.empty()) {
    table.assign(n * grammar_.max_unary, kImpossible);
    bytes_ += n * grammar_.max_unary * static_cast<std::int64_t>(sizeof(double)) + kMapped;
    for (std::int64_t k = 0; k < n; ++k) table[k] = cell.first[k].split;
    for (std::int32_t l = 1; l < grammar_.max_unary; ++l) {
      if (l > 1 && std::equal(table.begin() + (l - 1) * n, table.begin() + l * n, table.begin() + (l - 2) * n)) {
        // One more rule changed nothing, so no number of rules will.
        std::copy_n(table.begin() + (l - 1) * n, n, table.begin() + l * n);
        continue;
      }
      for (std::int64_t k = 0; k < n; ++k) {
        double& value = table[l * n + k];
        value = cell.first[k].split;
        const std::int32_t parent = cell.first[k].symbol;
        if (pace_) pace_->step(16 * (grammar_.down_start[parent + 1] - grammar_.down_start[parent]));
        for (std::int64_t r = grammar_.down_start[parent]; r < grammar_.down_start[parent + 1]; ++r) {
          const Entry* child = chart_.find(i, j, grammar_.down_child[r]);
          if (child) value = std::max(value, grammar_.down_weight[r] + table[(l - 1) * n + (child - cell.first)]);
        }
      }
    }
  }
  return table[layer * n + (entry - cell.first)];
}

// Lists the edges of a node that can lead to one of its best parses.
void BestParses::open(Node& node) {
  node.opened = true;
  std::vector<Option> options;
  if (node.layer > 0) {
    list_unary(node, options);
  } else if (node.j == node.i + 1) {
    const double own = estimate(node.i, node.j, node.symbol, 0);
    if (own > kImpossible) options.push_back({own, word, 0, 0});
  } else {
    list_binary(node, options);
  }
  keep_best(options);
  node.edges.reserve(options.size());
  node.heap.reserve(options.size());
  for (const Option& option : options) {
    node.heap.push_back({option.weight, static_cast<std::int32_t>(node.edges.size()), 0, 0});
    node.edges.push_back(edge_of(node, option));
  }
  std::make_heap(node.heap.begin(), node.heap.end());
  bytes_ += static_cast<std::int64_t>(options.size() * (sizeof(Edge) + sizeof(Choice)));
}

// No more edges can take part than parses are asked for. Those that stay keep their order, for it decides between
// parses of equal weight: with every number of parses in the same way.
void BestParses::keep_best(std::vector<Option>& options) const {
  if (static_cast<std::int64_t>(options.size()) <= most_) return;
  std::vector<std::size_t> order(options.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto better = [&](std::size_t x, std::size_t y) {
    return options[x].weight != options[y].weight ? options[x].weight > options[y].weight : x < y;
  };
  std::nth_element(order.begin(), order.begin() + most_, order.end(), better);
  order.resize(most_);
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < order.size(); ++k) options[k] = options[order[k]];
  options.resize(order.size());
}

void BestParses::list_unary(const Node& node, std::vector<Option>& options) {
  const double own = estimate(node.i, node.j, node.symbol, 0);
  if (own > kImpossible) options.push_back({own, alias, 0, 0});
  for (std::int64_t r = grammar_.down_start[node.symbol]; r < grammar_.down_start[node.symbol + 1]; ++r) {
    const double below = estimate(node.i, node.j, grammar_.down_child[r], node.layer - 1);
    if (below > kImpossible) options.push_back({grammar_.down_weight[r] + below, unary, r, 0});
  }
}

// The rules of a parent are in the order of their left children, as the entries of a cell are.
void BestParses::list_binary(const Node& node, std::vector<Option>& options) {
  const GrammarView& g = grammar_;
  const std::int32_t* first = g.parent_rule + g.parent_start[node.symbol];
  const std::int32_t* last = g.parent_rule + g.parent_start[node.symbol + 1];
  if (first == last) return;
  const auto before = [&](std::int32_t r, std::int32_t symbol) { return g.left[r] < symbol; };
  for (std::int64_t k = node.i + 1; k < node.j; ++k) {
    if (chart_.cell(k, node.j).n_base == 0) continue;
    const std::int32_t* rule = first;
    for (const Entry& left : chart_.cell(node.i, k)) {
      if (g.left[*rule] < left.symbol) rule = std::lower_bound(rule, last, left.symbol, before);
      for (; rule != last && g.left[*rule] == left.symbol; ++rule) {
        const Entry* right = chart_.find(k, node.j, g.right[*rule]);
        if (right) options.push_back({left.best + right->best + g.weight[*rule], binary, *rule, k});
      }
      if (rule == last) break;
    }
  }
}

BestParses::Edge BestParses::edge_of(const Node& node, const Option& option) {
  const GrammarView& g = grammar_;
  const std::int64_t i = node.i, j = node.j, r = option.rule;
  switch (option.kind) {
    case word:
      return {word, option.weight, nullptr, nullptr};
    case alias:
      return {alias, 0.0, this->node(i, j, node.symbol, 0), nullptr};
    case unary:
      return {unary, g.down_weight[r], this->node(i, j, g.down_child[r], node.layer - 1), nullptr};
    default:
      const std::int32_t layer = g.left[r] < g.n_base ? g.max_unary : 0;
      return {binary, g.weight[r], this->node(i, option.split, g.left[r], layer),
              this->node(option.split, j, g.right[r], g.max_unary)};
  }
}

// Finds parses until there is one of the rank; false where there is none. Searches wait on a stack, for parses can be
// as deep as a sentence is long.
bool BestParses::reach(Node& top, std::int64_t rank) {
  std::vector<Search> stack{{&top, rank, start, {}}};
  bool found = false;  // what the last search came to
  Search below{};
  while (!stack.empty()) {
    if (!fits()) return false;
    if (step(stack.back(), found, below)) {
      stack.pop_back();
    } else {
      stack.push_back(below);
    }
  }
  return found;
}

// Goes on with a search, `found` saying what the one below it came to. True where it is over, and `found` tells with
// what; else it waits for `below`.
bool BestParses::step(Search& search, bool& found, Search& below) {
  Node& node = *search.node;
  const auto wait = [&](Stage stage, Node* child, std::int64_t rank) {
    search.stage = stage;
    below = {child, rank, start, {}};
    return false;
  };
  for (;;) {
    Choice& choice = search.choice;
    switch (search.stage) {
      case start: {
        if (!node.opened) open(node);
        const bool is_there = static_cast<std::int64_t>(node.found.size()) > search.rank;
        if (is_there || node.finished) {
          found = is_there;
          return true;
        }
        search.stage = take;
        if (node.found.empty()) break;
        // The neighbours of the last choice; where the second child is not at its best, the first stays.
        choice = node.found.back();
        search.stage = after_second;
        found = false;
        const Edge& edge = node.edges[choice.edge];
        if (edge.kind == binary) return wait(after_second, edge.second, choice.second + 1);
        break;
      }
      case after_second: {
        if (found) push(node, choice.edge, choice.first, choice.second + 1);
        search.stage = after_first;
        found = false;
        const Edge& edge = node.edges[choice.edge];
        if (edge.kind != word && choice.second == 0) return wait(after_first, edge.first, choice.first + 1);
        break;
      }
      case after_first:
        if (found) push(node, choice.edge, choice.first + 1, 0);
        search.stage = take;
        break;
      case take: {
        if (node.heap.empty()) {
          node.finished = true;
          search.stage = start;
          break;
        }
        std::pop_heap(node.heap.begin(), node.heap.end());
        choice = node.heap.back();
        node.heap.pop_back();
        // The best parses of the children are looked at only now: up to here the chart has said what they weigh.
        search.stage = accept;
        const Edge& edge = node.edges[choice.edge];
        if (choice.first == 0 && choice.second == 0 && edge.first) return wait(check_second, edge.first, 0);
        found = true;
        break;
      }
      case check_second: {
        search.stage = accept;
        const Edge& edge = node.edges[choice.edge];
        if (found && edge.second) return wait(accept, edge.second, 0);
        break;
      }
      case accept:
        search.stage = found ? start : take;
        if (!found) break;
        node.found.push_back(choice);
        bytes_ += static_cast<std::int64_t>(sizeof(Choice));
        break;
    }
  }
}

void BestParses::push(Node& node, std::int32_t edge, std::int32_t first, std::int32_t second) {
  const Edge& e = node.edges[edge];
  double weight = e.weight + e.first->found[first].weight;
  if (e.second) weight += e.second->found[second].weight;
  node.heap.push_back({weight, edge, first, second});
  bytes_ += static_cast<std::int64_t>(sizeof(Choice));
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
