#include "parsing/dependency_labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace espalier {
namespace {

using features::salt;

constexpr features::Two kPairs[] = {
    {kWord, kNothing},   {kTag, kNothing},    {kNothing, kWord},      {kNothing, kTag},  {kNothing, kWordTag},
    {kNothing, kSuffix}, {kNothing, kPrefix}, {kNothing, kTagAround}, {kWord, kWord},    {kTag, kTag},
    {kTag, kWord},       {kWord, kTag},       {kTag, kTagBefore},     {kTag, kTagAfter}, {kTag, kSuffix},
    {kSuffix, kTag},     {kTagAround, kTag},  {kCoarse, kCoarse},     {kCoarse, kWord},  {kWord, kCoarse},
    {kSuffix, kSuffix},  {kCoarse, kSuffix},
};

// The shape of a tree around each token. Without such a token: keys.none().
struct Surroundings {
  std::vector<std::int32_t> leftmost, rightmost, nearest_left, nearest_right;  // of its dependents
  std::vector<std::int32_t> n_left, n_right;
  std::vector<std::int32_t> previous, next;  // dependents of the same head
  std::vector<std::int32_t> order;           // heads before their dependents

  Surroundings(const SentenceKeys& keys, const std::int32_t* head) {
    const std::int32_t n = keys.n_words(), none = keys.none();
    for (auto* list : {&leftmost, &rightmost, &nearest_left, &nearest_right, &previous, &next})
      list->assign(n + 1, none);
    n_left.assign(n + 1, 0);
    n_right.assign(n + 1, 0);
    std::vector<std::int32_t> last(n + 1, none), start(n + 2, 0), below(n);
    for (std::int32_t m = 1; m <= n; ++m) {
      const std::int32_t h = head[m];
      if (leftmost[h] == none) leftmost[h] = m;
      rightmost[h] = m;
      if (m < h) nearest_left[h] = m;
      if (m > h && nearest_right[h] == none) nearest_right[h] = m;
      ++(m < h ? n_left : n_right)[h];
      if (last[h] != none) {
        previous[m] = last[h];
        next[last[h]] = m;
      }
      last[h] = m;
      ++start[h + 1];
    }
    for (std::int32_t h = 0; h <= n; ++h) start[h + 1] += start[h];
    std::vector<std::int32_t> at(start.begin(), start.end());
    for (std::int32_t m = 1; m <= n; ++m) below[at[head[m]]++] = m;
    order.push_back(0);
    for (std::size_t k = 0; k < order.size(); ++k) {
      order.insert(order.end(), below.begin() + start[order[k]], below.begin() + start[order[k] + 1]);
    }
    order.erase(order.begin());
  }
};

// All that the features of one arc depend on, beside the words and tags of its sentence.
struct Arc {
  std::int32_t modifier, head, grandparent;
  std::int32_t of_head;  // the label of the head, -1 below the root
  std::int32_t rank;     // how many dependents of the head stand between, on this side; at most 3
  std::int32_t shape;    // how many dependents the modifier has on each side; at most 3
  std::int32_t others[6];

  Arc(const SentenceKeys& keys, const std::int32_t* heads, const Surroundings& around, std::int32_t m,
      std::int32_t label_of_head)
      : modifier(m),
        head(heads[m]),
        grandparent(head == 0 ? keys.none() : heads[head]),
        of_head(label_of_head),
        rank(0),
        shape(std::min(around.n_left[m], 3) * 4 + std::min(around.n_right[m], 3)),
        others{around.leftmost[m],      around.rightmost[m], around.nearest_left[m],
               around.nearest_right[m], around.previous[m],  around.next[m]} {
    const bool right = head < m;
    const auto& nearer = right ? around.previous : around.next;
    for (std::int32_t k = nearer[m]; k != keys.none() && (right ? k > head : k < head) && rank < 3; k = nearer[k])
      ++rank;
  }

  // Equal arcs of one sentence have equal keys.
  std::uint64_t key() const {
    std::uint64_t out = 0;
    for (const std::int32_t part : {modifier, head, grandparent, of_head, rank, shape}) out = salt(out + part);
    for (const std::int32_t part : others) out = salt(out + part);
    return out;
  }
};

// Calls emit(key) for the features of one arc.
template <class Emit>
void label_features(const SentenceKeys& keys, const Arc& arc, const Emit& emit) {
  const std::int32_t h = arc.head, m = arc.modifier;
  const std::uint64_t direction = h < m;
  const auto shape = static_cast<std::uint64_t>(arc.shape), rank = static_cast<std::uint64_t>(arc.rank);
  const auto above = static_cast<std::uint64_t>(arc.of_head + 1);
  const std::uint64_t *own_head = keys.of(kHead, h), *own = keys.of(kModifier, m);
  const auto with = [&](std::uint64_t number, std::uint64_t value) { return salt(9000 + number * 4096 + value); };
  const std::uint64_t plain = with(1, direction);
  for (const features::Two& use : kPairs) emit(own_head[use.head] + own[use.modifier] + plain);
  const std::uint64_t tags = own_head[kTag] + own[kTag];
  emit(tags + with(2, direction * 16 + static_cast<std::uint64_t>(distance_bin(h, m))));
  emit(own[kTag] + with(3, shape * 2 + direction));
  emit(tags + with(4, shape * 2 + direction));
  emit(own[kTag] + with(5, above * 2 + direction));
  emit(own[kWord] + with(6, above * 2 + direction));
  emit(tags + with(7, above * 2 + direction));
  emit(tags + keys.of(kGrandparent, arc.grandparent)[kTag] + with(8, direction));
  emit(tags + with(9, rank * 2 + direction));
  emit(own_head[kWord] + own[kTag] + with(10, rank * 2 + direction));
  std::uint64_t number = 20;
  for (const std::int32_t other : arc.others) {
    const std::uint64_t* theirs = keys.of(kSibling, other);
    emit(theirs[kTag] + own[kTag] + with(number, direction));
    emit(theirs[kWord] + own[kTag] + with(number, direction));
    emit(theirs[kTag] + tags + with(number, direction));
    emit(theirs[kWord] + tags + with(number, direction));
    emit(theirs[kWord] + own_head[kWord] + own[kTag] + with(number, direction));
    ++number;
  }
}

std::int32_t best_of(const std::vector<double>& score) {
  return static_cast<std::int32_t>(std::max_element(score.begin(), score.end()) - score.begin());
}

// The logarithm of the share that the best score has in a softmax. The scores of an averaged perceptron are some tens
// apart, and far too sure of themselves.
double log_share(const std::vector<double>& score, double best) {
  constexpr double kScale = 0.1;
  double sum = 0.0;
  for (const double own : score) sum += std::exp(kScale * (own - best));
  return -std::log(sum);
}

}  // namespace

ClassifierArrays train_labels(const DependencyView& treebank, const std::int32_t* label, const LabelTraining& settings,
                              Team& team) {
  LearningClassifier model;
  std::mt19937_64 random(settings.seed);
  std::vector<std::int64_t> order(treebank.n_sentences);
  std::iota(order.begin(), order.end(), 0);
  SentenceKeys keys;
  std::vector<double> score(settings.n_labels);
  const auto [begin, end] = team.span();
  for (int epoch = 0; epoch < settings.epochs; ++epoch) {
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
    team.span(begin + (end - begin) * epoch / settings.epochs, begin + (end - begin) * (epoch + 1) / settings.epochs);
    team.run(std::ssize(order), [&](std::int64_t k, int) {
      const std::int64_t s = order[k];
      const std::int32_t* head = treebank.heads(s);
      keys.set(treebank.tokens(s), treebank.n_words(s));
      const Surroundings around(keys, head);
      std::vector<std::int32_t> found(treebank.n_words(s) + 1, -1);
      for (const std::int32_t m : around.order) {
        model.next();
        std::fill(score.begin(), score.end(), 0.0);
        const Arc arc(keys, head, around, m, found[head[m]]);
        const std::int32_t right = label[treebank.start[s] + m];
        label_features(keys, arc, [&](std::uint64_t key) { model.add(key, score.data()); });
        found[m] = best_of(score);
        if (found[m] == right) continue;
        label_features(keys, arc, [&](std::uint64_t key) {
          model.move(key, right, 1.0);
          model.move(key, found[m], -1.0);
        });
      }
    });
  }
  team.span(begin, end);
  return model.average();
}

LabelledTree TreeLabeller::operator()(const std::int32_t* head) {
  const Surroundings around(keys_, head);
  LabelledTree out;
  out.label.assign(keys_.n_words() + 1, -1);
  for (const std::int32_t m : around.order) {
    const Arc arc(keys_, head, around, m, out.label[head[m]]);
    const auto [found, is_new] = known_.try_emplace(arc.key(), Known{-1, 0.0});
    if (is_new) {
      std::fill(score_.begin(), score_.end(), 0.0);
      features_.clear();
      label_features(keys_, arc, [&](std::uint64_t key) {
        model_.expect(key);
        features_.push_back(key);
      });
      for (const std::uint64_t key : features_) model_.add(key, score_.data());
      const std::int32_t best = best_of(score_);
      found->second = {best, log_share(score_, score_[best])};
    }
    out.label[m] = found->second.label;
    out.score += found->second.score;
  }
  return out;
}

}  // namespace espalier
