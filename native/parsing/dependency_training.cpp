#include "parsing/dependency_training.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "parsing/dependency_workspace.hpp"

namespace espalier {
namespace {

// Gains smaller than this, of parts or of heads, are not worth the time that they take.
constexpr double kLeastGain = 0.005;

// Rows in a random order that is the same everywhere: the shuffle of the standard library is not.
void shuffle(std::vector<std::int64_t>& rows, std::mt19937_64& random) {
  for (std::size_t k = rows.size(); k > 1; --k) std::swap(rows[k - 1], rows[random() % k]);
}

// Weights that are averaged over all moments of learning.
class AveragedWeights {
 public:
  explicit AveragedWeights(int bits) : bits_(bits), weight_(std::size_t{1} << bits), moved_(weight_.size()) {}

  WeightView view() const { return {weight_.data(), bits_}; }
  void next() { ++time_; }
  void add(std::size_t place, double by) {
    weight_[place] = static_cast<float>(weight_[place] + by);
    moved_[place] += by * static_cast<double>(time_ - 1);
  }
  // Rounded to multiples of 2^-14, so that sums of some thousands are exact in any order.
  LargeVector<float> average() {
    const auto n_moments = static_cast<double>(std::max<std::int64_t>(time_, 1));
    for (std::size_t k = 0; k < weight_.size(); ++k) {
      const double mean = weight_[k] - moved_[k] / n_moments;
      weight_[k] = static_cast<float>(std::round(mean * 16384.0) / 16384.0);
    }
    return std::move(weight_);
  }

 private:
  int bits_;
  LargeVector<float> weight_;
  LargeVector<double> moved_;
  std::int64_t time_ = 0;  // how many moments there were, with this one
};

// How much each part of some trees is to gain. Trees share most of their parts, so gains are summed up by parts before
// there are features.
class Gains {
 public:
  void clear() { gains_.clear(); }
  void add(const Part& part, double by) { gains_.push_back({part, by}); }
  // Calls visit(part, gain) for every part, once.
  template <class Visit>
  void visit(const Visit& visit) {
    std::sort(gains_.begin(), gains_.end());
    for (std::size_t k = 0; k < gains_.size();) {
      const Part part = gains_[k].first;
      double sum = 0.0;
      while (k < gains_.size() && gains_[k].first == part) sum += gains_[k++].second;
      visit(part, sum);
    }
  }

 private:
  std::vector<std::pair<Part, double>> gains_;
};

using Heads = std::vector<std::int32_t>;

// Gives the gold tree more probability among its rivals.
class SoftmaxMargin {
 public:
  SoftmaxMargin(AveragedWeights& weights, const ParserTraining& settings) : weights_(weights), settings_(settings) {}

  void learn(const SentenceKeys& keys, const Heads& gold, const std::vector<DependencyParse>& rivals) {
    const double of_gold = tree_score(weights_.view(), keys, gold.data(), settings_.order);
    double most = of_gold, sum = 0.0;
    for (const DependencyParse& tree : rivals) most = std::max(most, tree.score);
    for (const DependencyParse& tree : rivals) sum += std::exp(tree.score - most);
    const double all = sum + std::exp(of_gold - most);
    if (sum / all < kLeastGain) return;
    gains_.clear();
    visit_parts(keys, gold.data(), settings_.order, [&](const Part& part) { gains_.add(part, sum / all); });
    for (const DependencyParse& tree : rivals) {
      const double gain = -std::exp(tree.score - most) / all;
      visit_parts(keys, tree.head.data(), settings_.order, [&](const Part& part) { gains_.add(part, gain); });
    }
    gains_.visit([&](const Part& part, double gain) {
      if (std::abs(gain) < kLeastGain) return;
      part_features(keys, part, [&](std::uint64_t key, std::uint64_t slot) {
        weights_.add(weights_.view().place(key, slot), settings_.step * gain);
      });
    });
  }

 private:
  AveragedWeights& weights_;
  const ParserTraining& settings_;
  Gains gains_;
};

// Takes the smallest step after which the gold tree beats every rival by its number of wrong heads, or nearly: each rival
// has at most the share `settings.step` in it. The shares are found by Hildreth's method, one after another.
class Mira {
 public:
  Mira(AveragedWeights& weights, const ParserTraining& settings) : weights_(weights), settings_(settings) {}

  void learn(const SentenceKeys& keys, const Heads& gold, const std::vector<DependencyParse>& rivals) {
    const std::size_t n = rivals.size();
    std::vector<Difference> differences;
    std::vector<double> missing;  // how far the gold tree is from beating each rival
    for (const DependencyParse& tree : rivals) {
      differences.push_back(difference(keys, gold, tree.head));
      double wrong = 0.0, lead = 0.0;
      for (std::size_t m = 1; m < gold.size(); ++m) wrong += tree.head[m] != gold[m];
      for (const auto& [place, by] : differences.back())
        lead += by * static_cast<double>(weights_.view().weight[place]);
      missing.push_back(settings_.margin * wrong - lead);
    }
    std::vector<double> products(n * n), share(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j < n; ++j)
        products[i * n + j] = products[j * n + i] = product(differences[i], differences[j]);
    }
    for (int round = 0; round < kRounds; ++round) {
      double moved = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        if (products[i * n + i] == 0.0) continue;
        double left = missing[i];
        for (std::size_t j = 0; j < n; ++j) left -= products[i * n + j] * share[j];
        const double next = std::clamp(share[i] + left / products[i * n + i], 0.0, settings_.step);
        moved = std::max(moved, std::abs(next - share[i]));
        share[i] = next;
      }
      if (moved < 1e-3 * settings_.step) break;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (share[i] == 0.0) continue;
      for (const auto& [place, by] : differences[i]) weights_.add(place, share[i] * by);
    }
  }

 private:
  static constexpr int kRounds = 100;
  using Difference = std::vector<std::pair<std::size_t, double>>;  // places of features in order, and how often

  Difference difference(const SentenceKeys& keys, const Heads& gold, const Heads& rival) {
    gains_.clear();
    visit_parts(keys, gold.data(), settings_.order, [&](const Part& part) { gains_.add(part, 1.0); });
    visit_parts(keys, rival.data(), settings_.order, [&](const Part& part) { gains_.add(part, -1.0); });
    Difference all, out;
    gains_.visit([&](const Part& part, double gain) {
      if (gain == 0.0) return;
      part_features(keys, part, [&](std::uint64_t key, std::uint64_t slot) {
        all.push_back({weights_.view().place(key, slot), gain});
      });
    });
    std::sort(all.begin(), all.end());
    for (std::size_t k = 0; k < all.size();) {
      const std::size_t place = all[k].first;
      double sum = 0.0;
      while (k < all.size() && all[k].first == place) sum += all[k++].second;
      if (sum != 0.0) out.push_back({place, sum});
    }
    return out;
  }

  static double product(const Difference& x, const Difference& y) {
    double out = 0.0;
    for (auto a = x.begin(), b = y.begin(); a != x.end() && b != y.end();) {
      if (a->first == b->first) {
        out += a++->second * b++->second;
      } else {
        a->first < b->first ? ++a : ++b;
      }
    }
    return out;
  }

  AveragedWeights& weights_;
  const ParserTraining& settings_;
  Gains gains_;
};

}  // namespace

LargeVector<float> train_pruner(const DependencyView& treebank, const std::vector<std::int64_t>& rows,
                                const PrunerTraining& settings, Team& team) {
  LargeVector<float> weight(std::size_t{1} << settings.bits), squares(weight.size(), 1e-2f);
  const WeightView view{weight.data(), settings.bits};
  std::mt19937_64 random(settings.seed);
  std::vector<std::int64_t> order = rows;
  SentenceKeys keys;
  std::vector<double> probability;
  const auto [begin, end] = team.span();
  for (int epoch = 0; epoch < settings.epochs; ++epoch) {
    shuffle(order, random);
    team.span(begin + (end - begin) * epoch / settings.epochs, begin + (end - begin) * (epoch + 1) / settings.epochs);
    team.run(std::ssize(order), [&](std::int64_t k, int worker) {
      Pace pace(team, worker);
      const std::int64_t s = order[k];
      const std::int32_t n = treebank.n_words(s);
      const std::int32_t* head = treebank.heads(s);
      keys.set(treebank.tokens(s), n);
      for (std::int32_t m = 1; m <= n; ++m) {
        probability.resize(n + 1);
        for (std::int32_t h = 0; h <= n; ++h) probability[h] = h == m ? 0.0 : rough_score(view, keys, h, m);
        normalize(probability, m);
        pace.step(64 * n);
        for (std::int32_t h = 0; h <= n; ++h) {
          const double gradient = (h == head[m] ? 1.0 : 0.0) - probability[h];
          if (h == m || std::abs(gradient) < kLeastGain) continue;
          rough_arc_features(keys, h, m, [&](std::uint64_t key, std::uint64_t slot) {
            const std::size_t place = view.place(key, slot);
            squares[place] += static_cast<float>(gradient * gradient);
            weight[place] += static_cast<float>(settings.step * gradient / std::sqrt(squares[place]));
          });
        }
      }
    });
  }
  team.span(begin, end);
  for (float& own : weight) own = std::round(own * 16384.0f) / 16384.0f;
  return weight;
}

LargeVector<float> train_parser(const DependencyView& treebank, const std::vector<WeightView>& pruners,
                                const std::int32_t* part, const ParserTraining& settings, Team& team) {
  AveragedWeights weights(settings.bits);
  std::mt19937_64 random(settings.seed);
  std::vector<std::int64_t> order(treebank.n_sentences);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<ArcGraph::Arc>> arcs(treebank.n_sentences);
  Workspace work;
  SoftmaxMargin softmax(weights, settings);
  Mira mira(weights, settings);
  const auto [begin, end] = team.span();
  for (int epoch = 0; epoch < settings.epochs; ++epoch) {
    shuffle(order, random);
    team.span(begin + (end - begin) * epoch / settings.epochs, begin + (end - begin) * (epoch + 1) / settings.epochs);
    team.run(std::ssize(order), [&](std::int64_t k, int worker) {
      Pace pace(team, worker);
      const std::int64_t s = order[k];
      const std::int32_t n = treebank.n_words(s);
      const std::int32_t* head = treebank.heads(s);
      if (n == 0) return;
      weights.next();
      work.keys.set(treebank.tokens(s), n);
      if (epoch == 0) {
        arcs[s] = work.kept(pruners[part[s]], settings.pruning, pace);
        for (std::int32_t m = 1; m <= n; ++m) {
          const auto is_gold = [&](const ArcGraph::Arc& arc) { return arc.head == head[m] && arc.modifier == m; };
          if (std::none_of(arcs[s].begin(), arcs[s].end(), is_gold)) arcs[s].push_back({head[m], m});
        }
      }
      work.graph.set(n, arcs[s], settings.several_roots);
      work.score_parts(weights.view(), settings.order, pace);
      for (std::int32_t arc = 0; arc < work.graph.n_arcs(); ++arc) {
        if (work.graph[arc].head != head[work.graph[arc].modifier]) work.scores.arc[arc] += settings.margin;
      }
      work.chart.fill(work.graph, work.scores, pace);
      const std::vector<std::int32_t> gold(head, head + n + 1);
      std::vector<DependencyParse> rivals = work.chart.best(settings.rivals, pace);
      std::erase_if(rivals, [&](const DependencyParse& tree) { return tree.head == gold; });
      if (settings.learning == Learning::kMira) {
        mira.learn(work.keys, gold, rivals);
      } else {
        softmax.learn(work.keys, gold, rivals);
      }
    });
  }
  team.span(begin, end);
  return weights.average();
}

}  // namespace espalier
