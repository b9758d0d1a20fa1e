#include "parsing/dependency_chart.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace espalier {

void ArcGraph::set(std::int32_t n_words, std::vector<Arc> arcs, bool several_roots) {
  n_words_ = n_words;
  several_roots_ = several_roots;
  arcs_ = std::move(arcs);
  std::sort(arcs_.begin(), arcs_.end(),
            [](const Arc& x, const Arc& y) { return x.head != y.head ? x.head < y.head : x.modifier < y.modifier; });
  const std::int32_t n = n_words + 1;
  first_.assign(n + 1, 0);
  middle_.assign(n, 0);
  above_start_.assign(n + 1, 0);
  for (const Arc& arc : arcs_) {
    ++first_[arc.head + 1];
    ++above_start_[arc.modifier + 1];
    if (arc.modifier < arc.head) ++middle_[arc.head];
  }
  above_start_[1] = 1;
  for (std::int32_t token = 0; token < n; ++token) {
    first_[token + 1] += first_[token];
    above_start_[token + 1] += above_start_[token];
    middle_[token] += first_[token];
  }
  above_.assign(arcs_.size() + 1, 0);
  rank_.assign(arcs_.size() + 1, 0);
  above_[0] = top();
  std::vector<std::int32_t> next(above_start_.begin(), above_start_.end() - 1);
  for (std::int32_t arc = 0; arc < n_arcs(); ++arc) {
    const std::int32_t m = arcs_[arc].modifier;
    rank_[arc] = next[m] - above_start_[m];
    above_[next[m]++] = arc;
  }
  pair_start_.assign(1, 0);
  sibling_start_.assign(1, 0);
  grand_sibling_start_.assign(1, 0);
  for (std::int32_t arc = 0; arc < n_arcs(); ++arc) {
    const std::int32_t n_upper = n_above(arcs_[arc].head);
    const std::int64_t own = 1 + last_inside(arc) - first_inside(arc);
    pair_start_.push_back(pair_start_.back() + n_upper);
    sibling_start_.push_back(sibling_start_.back() + own);
    for (std::int32_t k = 0; k < n_upper; ++k) grand_sibling_start_.push_back(grand_sibling_start_.back() + own);
  }
}

std::int32_t ArcGraph::first_inside(std::int32_t arc) const {
  const Arc own = arcs_[arc];
  return own.head < own.modifier ? (own.head == 0 && !several_roots_ ? arc : middle_[own.head]) : arc + 1;
}

std::int32_t ArcGraph::last_inside(std::int32_t arc) const {
  const Arc own = arcs_[arc];
  return own.head < own.modifier ? arc : middle_[own.head];
}

// Every way to make a span is listed by one of these, for the best score as for the best derivations. Ways through
// spans without a tree are left out.

template <class Each>
void DependencyChart::ways_complete(std::int32_t arc, std::int32_t end, const Each& each) const {
  const std::int32_t h = graph_->modifier(arc);
  const bool right = end > h;
  const std::int32_t from = right ? graph_->middle(h) : graph_->first(h);
  const std::int32_t to = right ? graph_->last(h) : graph_->middle(h);
  for (std::int32_t lower = from; lower < to; ++lower) {
    const std::int32_t m = (*graph_)[lower].modifier;
    if (right ? m > end : m < end) continue;
    each(Way{0.0, open(lower, arc), complete(lower, end)});
  }
}

template <class Each>
void DependencyChart::ways_open(std::int32_t arc, std::int32_t upper, const Each& each) const {
  const auto [h, m] = (*graph_)[arc];
  const std::int64_t pair = graph_->pair_start(arc) + graph_->rank(upper);
  const PartScores& part = *scores_;
  const bool has_siblings = !part.sibling.empty(), has_grand = !part.grand_sibling.empty();
  const double own = part.arc[arc] + (part.pair.empty() ? 0.0 : part.pair[pair]);
  const auto with = [&](std::int64_t place) {
    return own + (has_siblings ? part.sibling[graph_->sibling_start(arc) + place] : 0.0) +
           (has_grand ? part.grand_sibling[graph_->grand_sibling_start(pair) + place] : 0.0);
  };
  each(Way{with(0), complete(arc, h < m ? h + 1 : h - 1), -1});
  const std::int32_t from = graph_->first_inside(arc), to = graph_->last_inside(arc);
  for (std::int32_t inner = from; inner < to; ++inner) {
    const std::int64_t place = 1 + inner - from;
    each(Way{with(place), open(inner, upper), between(arc, place)});
  }
}

template <class Each>
void DependencyChart::ways_between(std::int32_t arc, std::int64_t place, const Each& each) const {
  std::int32_t left = graph_->first_inside(arc) + static_cast<std::int32_t>(place) - 1, right = arc;
  if ((*graph_)[left].modifier > (*graph_)[right].modifier) std::swap(left, right);
  const std::int32_t i = (*graph_)[left].modifier, j = (*graph_)[right].modifier;
  for (std::int32_t r = i; r < j; ++r) each(Way{0.0, complete(left, r), complete(right, r + 1)});
}

void DependencyChart::fill(const ArcGraph& graph, const PartScores& scores, Pace& pace) {
  graph_ = &graph;
  scores_ = &scores;
  const std::int32_t n = graph.n_words() + 1, n_arcs = graph.n_arcs();
  n_ = n;
  opens_ = (n_arcs + 1) * n_;
  betweens_ = opens_ + graph.n_pairs();
  value_.assign(betweens_ + graph.n_siblings(), kNoTree);
  for (std::int32_t arc = 0; arc <= n_arcs; ++arc) value_[complete(arc, graph.modifier(arc))] = 0.0;

  // Arcs and pairs of siblings by length: all spans of one length need only shorter ones, or those listed before.
  length_start_.assign(n + 1, 0);
  sibling_length_start_.assign(n + 1, 0);
  const auto each_sibling = [&](const auto& visit) {
    for (std::int32_t arc = 0; arc < n_arcs; ++arc) {
      const std::int32_t from = graph.first_inside(arc);
      for (std::int32_t inner = from; inner < graph.last_inside(arc); ++inner) {
        visit(arc, 1 + inner - from, std::abs(graph[inner].modifier - graph[arc].modifier));
      }
    }
  };
  for (std::int32_t arc = 0; arc < n_arcs; ++arc) ++length_start_[std::abs(graph[arc].head - graph[arc].modifier) + 1];
  each_sibling([&](std::int32_t, std::int64_t, std::int32_t length) { ++sibling_length_start_[length + 1]; });
  for (std::int32_t w = 0; w < n; ++w) {
    length_start_[w + 1] += length_start_[w];
    sibling_length_start_[w + 1] += sibling_length_start_[w];
  }
  by_length_.resize(n_arcs);
  sibling_by_length_.resize(sibling_length_start_[n]);
  outer_of_.resize(graph.n_siblings());
  std::vector<std::int32_t> next(length_start_.begin(), length_start_.end());
  std::vector<std::int64_t> next_sibling(sibling_length_start_.begin(), sibling_length_start_.end());
  for (std::int32_t arc = 0; arc < n_arcs; ++arc) {
    by_length_[next[std::abs(graph[arc].head - graph[arc].modifier)]++] = arc;
  }
  each_sibling([&](std::int32_t arc, std::int64_t place, std::int32_t length) {
    const std::int64_t number = graph.sibling_start(arc) + place;
    outer_of_[number] = arc;
    sibling_by_length_[next_sibling[length]++] = number;
  });

  double best = kNoTree;
  const auto better = [&](const Way& way) { best = std::max(best, value_of(way)); };
  for (std::int32_t w = 1; w < n; ++w) {
    for (std::int64_t k = sibling_length_start_[w]; k < sibling_length_start_[w + 1]; ++k) {
      const std::int64_t number = sibling_by_length_[k];
      const std::int32_t arc = outer_of_[number];
      best = kNoTree;
      ways_between(arc, number - graph.sibling_start(arc), better);
      value_[betweens_ + number] = best;
      pace.step(w);
    }
    for (std::int32_t k = length_start_[w]; k < length_start_[w + 1]; ++k) {
      const std::int32_t arc = by_length_[k], h = graph[arc].head;
      for (std::int32_t u = 0; u < graph.n_above(h); ++u) {
        const std::int32_t upper = graph.above(h)[u];
        if (!graph.fits(upper, arc)) continue;
        best = kNoTree;
        ways_open(arc, upper, better);
        value_[open(arc, upper)] = best;
        pace.step(1 + graph.last_inside(arc) - graph.first_inside(arc));
      }
    }
    for (std::int32_t arc = 0; arc <= n_arcs; ++arc) {
      const std::int32_t h = graph.modifier(arc), g = arc == n_arcs ? -1 : graph[arc].head;
      for (const std::int32_t end : {h + w, h - w}) {
        if (end >= n || end < 1 || (g >= std::min(h, end) && g <= std::max(h, end))) continue;
        best = kNoTree;
        ways_complete(arc, end, better);
        value_[complete(arc, end)] = best;
        pace.step(1 + (end > h ? graph.last(h) - graph.middle(h) : graph.middle(h) - graph.first(h)));
      }
    }
  }
}

bool DependencyChart::worse(const Derivation& x, const Derivation& y) {
  if (x.score != y.score) return x.score < y.score;
  if (x.way != y.way) return x.way > y.way;
  return x.left != y.left ? x.left > y.left : x.right > y.right;
}

DependencyChart::Node& DependencyChart::node(Span span) {
  if (node_of_[span] < 0) {
    node_of_[span] = static_cast<std::int32_t>(n_nodes_);
    if (n_nodes_ == nodes_.size()) nodes_.emplace_back();
    Node& made = nodes_[n_nodes_++];
    made.ways.clear();
    made.waiting.clear();
    made.found.clear();
    made.exhausted = false;
    made.followed = true;
    list_ways(span, made);
  }
  return nodes_[node_of_[span]];
}

void DependencyChart::list_ways(Span span, Node& made) const {
  const auto list = [&](const Way& way) {
    const double value = value_of(way);
    if (value == kNoTree) return;
    made.waiting.push_back({value, static_cast<std::int32_t>(made.ways.size()), 0, 0});
    made.ways.push_back(way);
  };
  const auto owner = [](const auto& start_of, std::int64_t number, std::int32_t n) {
    std::int32_t low = 0, high = n;  // the last whose numbers start at this or before
    while (high - low > 1) {
      const std::int32_t half = (low + high) / 2;
      (start_of(half) <= number ? low : high) = half;
    }
    return low;
  };
  const std::int32_t n_arcs = graph_->n_arcs();
  if (span < opens_) {
    const auto arc = static_cast<std::int32_t>(span / n_), end = static_cast<std::int32_t>(span % n_);
    if (end == graph_->modifier(arc)) {  // a word by itself, which has one derivation
      made.found.push_back({0.0, -1, 0, 0});
      made.exhausted = true;
      return;
    }
    ways_complete(arc, end, list);
  } else if (span < betweens_) {
    const auto start = [this](std::int32_t arc) { return graph_->pair_start(arc); };
    const std::int32_t arc = owner(start, span - opens_, n_arcs);
    ways_open(arc, graph_->above((*graph_)[arc].head)[span - opens_ - graph_->pair_start(arc)], list);
  } else {
    const std::int32_t arc = outer_of_[span - betweens_];
    ways_between(arc, span - betweens_ - graph_->sibling_start(arc), list);
  }
  std::make_heap(made.waiting.begin(), made.waiting.end(), worse);
}

double DependencyChart::score(Span span, std::int32_t rank) const {
  return rank == 0 ? value_[span] : nodes_[node_of_[span]].found[rank].score;
}

// Puts what comes after the last derivation that was found into the heap; false where a span below must answer first.
bool DependencyChart::follow(Span span) {
  const Derivation last = nodes_[node_of_[span]].found.back();
  const Way way = nodes_[node_of_[span]].ways[last.way];
  // Each derivation comes after one other: that with one less on the right, or else that with one less on the left.
  const bool goes_right = way.right >= 0, goes_left = last.right == 0;
  if (goes_right && !answered(way.right, last.right + 1)) return false;
  if (goes_left && !answered(way.left, last.left + 1)) return false;
  if (goes_right) push(span, {0.0, last.way, last.left, last.right + 1});
  if (goes_left) push(span, {0.0, last.way, last.left + 1, 0});
  return true;
}

// Whether it is known if a span has a derivation of this rank; if not, that is asked for.
bool DependencyChart::answered(Span span, std::int32_t rank) {
  const Node& own = node(span);
  if (own.exhausted || std::ssize(own.found) > rank) return true;
  requests_.push_back({span, rank});
  return false;
}

void DependencyChart::push(Span span, Derivation next) {
  const Way way = nodes_[node_of_[span]].ways[next.way];
  next.score = way.score;
  for (const auto& [part, rank] : {std::pair{way.left, next.left}, std::pair{way.right, next.right}}) {
    if (part < 0) continue;
    if (rank > 0 && rank >= std::ssize(nodes_[node_of_[part]].found)) return;  // there is none
    next.score += score(part, rank);
  }
  Node& own = nodes_[node_of_[span]];
  own.waiting.push_back(next);
  std::push_heap(own.waiting.begin(), own.waiting.end(), worse);
}

bool DependencyChart::find(Span span, std::int32_t rank, Pace& pace) {
  requests_.push_back({span, rank});
  while (!requests_.empty()) {
    pace.step(16);
    const Request request = requests_.back();
    Node& own = node(request.span);
    if (own.exhausted || std::ssize(own.found) > request.rank) {
      requests_.pop_back();
      continue;
    }
    if (!own.followed) {
      if (!follow(request.span)) continue;
      nodes_[node_of_[request.span]].followed = true;
    }
    Node& again = nodes_[node_of_[request.span]];
    if (again.waiting.empty()) {
      again.exhausted = true;
      continue;
    }
    std::pop_heap(again.waiting.begin(), again.waiting.end(), worse);
    again.found.push_back(again.waiting.back());
    again.waiting.pop_back();
    again.followed = false;
  }
  return std::ssize(nodes_[node_of_[span]].found) > rank;
}

void DependencyChart::read(Span span, std::int32_t rank, DependencyParse& parse, Pace& pace) {
  std::vector<Request> left{{span, rank}};
  while (!left.empty()) {
    const Request next = left.back();
    left.pop_back();
    find(next.span, next.rank, pace);
    const Node& own = nodes_[node_of_[next.span]];
    const Derivation derivation = own.found[next.rank];
    if (derivation.way < 0) continue;
    const Way way = own.ways[derivation.way];
    if (next.span < opens_ && way.right >= 0) {  // the way names the arc whose modifier the span reaches
      const auto arc = static_cast<std::int32_t>(way.right / n_);
      parse.head[(*graph_)[arc].modifier] = (*graph_)[arc].head;
    } else if (next.span >= opens_ && next.span < betweens_ && way.right >= 0) {
      const std::int32_t from = graph_->first_inside(outer_of_[way.right - betweens_]);
      const auto place = way.right - betweens_ - graph_->sibling_start(outer_of_[way.right - betweens_]);
      const auto inner = (*graph_)[from + static_cast<std::int32_t>(place) - 1];
      parse.head[inner.modifier] = inner.head;
    }
    left.push_back({way.left, derivation.left});
    if (way.right >= 0) left.push_back({way.right, derivation.right});
  }
}

std::vector<DependencyParse> DependencyChart::best(std::int64_t most, Pace& pace) {
  std::vector<DependencyParse> out;
  node_of_.assign(value_.size(), -1);
  n_nodes_ = 0;
  const Span whole = complete(graph_->top(), graph_->n_words());
  if (value_[whole] == kNoTree) return out;
  for (std::int32_t k = 0; k < most && find(whole, k, pace); ++k) {
    out.push_back({nodes_[node_of_[whole]].found[k].score, std::vector<std::int32_t>(n_, -1)});
    read(whole, k, out.back(), pace);
  }
  return out;
}

}  // namespace espalier
