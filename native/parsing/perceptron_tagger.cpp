#include "parsing/perceptron_tagger.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "parsing/feature_keys.hpp"

namespace espalier {
namespace {

using features::joined;

// The features of one place in a sentence that do not depend on tags.
class Place {
 public:
  Place(const TaggerView& view, std::int64_t s, std::int64_t i) {
    const std::int64_t n = view.start[s + 1] - view.start[s];
    const auto at = [&](std::int64_t place, std::int32_t attribute) -> std::uint64_t {
      if (place < 0 || place >= n) return place < 0 ? 1 : 2;
      return view.attribute[view.word[view.start[s] + place] * kAttributes + attribute];
    };
    const bool first = i == 0;
    word_ = at(i, kLower);
    next_ = at(i + 1, kLower);
    class_ = at(i, kClass);
    put(0);
    put(at(i, kForm));
    put(word_);
    put(at(i - 1, kLower));
    put(next_);
    put(at(i - 2, kLower));
    put(at(i + 2, kLower));
    put(joined(word_, next_));
    put(joined(word_, at(i - 1, kLower)));
    put(joined(at(i - 1, kLower), next_));
    put(joined(class_, first));
    put(at(i, kWordShape));
    put(joined(at(i, kWordShape), first));
    for (std::int32_t k = 0; k < 4; ++k) {
      put(at(i, kSuffixes + k));
      put(at(i, kPrefixes + k));
    }
    put(at(i - 1, kSuffixes + 2));
    put(at(i + 1, kSuffixes + 2));
    put(joined(at(i, kSuffixes + 2), at(i - 1, kSuffixes + 2)));
    put(joined(at(i, kSuffixes + 2), at(i + 1, kSuffixes + 2)));
    put(joined(at(i + 1, kClass), at(i, kClass)));
  }

  template <class Emit>
  void of_words(const Emit& emit) const {
    for (int k = 0; k < n_; ++k) emit(key_[k]);
  }
  // With the tag before and the one before that; -1 before the first.
  template <class Emit>
  void of_tags(std::int32_t before, std::int32_t earlier, const Emit& emit) const {
    const std::uint64_t one = joined(features::salt(500), static_cast<std::uint64_t>(before + 1));
    const std::uint64_t two = joined(one, static_cast<std::uint64_t>(earlier + 1));
    emit(one);
    emit(joined(two, 11));
    emit(joined(one + 1, word_));
    emit(joined(one + 2, next_));
    emit(joined(one + 3, class_));
    emit(joined(two + 4, word_));
  }

 private:
  void put(std::uint64_t value) {
    key_[n_] = joined(features::salt(600 + static_cast<std::uint64_t>(n_)), value);
    ++n_;
  }

  std::uint64_t word_, next_, class_;
  std::uint64_t key_[32];
  int n_ = 0;
};

// One tagging of the beginning of a sentence.
struct Step {
  double score;
  std::int32_t tag, from;  // from: the place of what it continues in the beam before
};

template <class Model>
class Beam {
 public:
  Beam(const Model& model, std::int32_t n_tags, std::int32_t width)
      : model_(model), n_tags_(n_tags), width_(width), score_(n_tags) {}

  void start() { steps_.assign(1, {{0.0, -1, -1}}); }
  // Goes on by one word.
  void advance(const Place& place) {
    const std::vector<Step>& last = steps_.back();
    std::vector<double> base(n_tags_);
    place.of_words([&](std::uint64_t key) { model_.add(key, base.data()); });
    std::vector<Step> next;
    for (std::int32_t k = 0; k < std::ssize(last); ++k) {
      score_ = base;
      place.of_tags(last[k].tag, before(k), [&](std::uint64_t key) { model_.add(key, score_.data()); });
      for (std::int32_t tag = 0; tag < n_tags_; ++tag) next.push_back({last[k].score + score_[tag], tag, k});
    }
    const auto better = [](const Step& x, const Step& y) {
      if (x.score != y.score) return x.score > y.score;
      return x.from != y.from ? x.from < y.from : x.tag < y.tag;
    };
    const auto kept = std::min<std::ptrdiff_t>(width_, std::ssize(next));
    std::partial_sort(next.begin(), next.begin() + kept, next.end(), better);
    next.resize(kept);
    steps_.push_back(std::move(next));
  }
  const std::vector<Step>& steps() const { return steps_.back(); }
  // The tags of one of the taggings after so many words.
  std::vector<std::int32_t> tags(std::int64_t n_words, std::int32_t k) const {
    std::vector<std::int32_t> out(n_words);
    for (std::int64_t i = n_words; i > 0; --i) {
      out[i - 1] = steps_[i][k].tag;
      k = steps_[i][k].from;
    }
    return out;
  }

 private:
  // The tag before the last one of a tagging in the beam.
  std::int32_t before(std::int32_t k) const {
    return steps_.size() < 3 ? -1 : steps_[steps_.size() - 2][steps_.back()[k].from].tag;
  }

  const Model& model_;
  std::int32_t n_tags_, width_;
  std::vector<double> score_;
  std::vector<std::vector<Step>> steps_;
};

std::int32_t tag_at(const std::vector<std::int32_t>& tags, std::int64_t i) { return i < 0 ? -1 : tags[i]; }

}  // namespace

ClassifierArrays train_tagger(const TaggerView& sentences, const TaggerTraining& settings, Team& team) {
  LearningClassifier model;
  std::mt19937_64 random(settings.seed);
  std::vector<std::int64_t> order(sentences.n_sentences);
  std::iota(order.begin(), order.end(), 0);
  Beam beam(model, settings.n_tags, settings.width);
  std::vector<double> score(settings.n_tags);
  std::vector<Place> places;
  for (int epoch = 0; epoch < settings.epochs; ++epoch) {
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
    team.span(static_cast<double>(epoch) / settings.epochs, (epoch + 1.0) / settings.epochs);
    team.run(std::ssize(order), [&](std::int64_t k, int) {
      const std::int64_t s = order[k], n = sentences.start[s + 1] - sentences.start[s];
      const std::int32_t* gold = sentences.tag + sentences.start[s];
      const std::vector<std::int32_t> right(gold, gold + n);
      model.next();
      places.clear();
      beam.start();
      double of_gold = 0.0, largest = 0.0;
      std::int64_t n_compared = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const Place& place = places.emplace_back(sentences, s, i);
        beam.advance(place);
        std::fill(score.begin(), score.end(), 0.0);
        const auto add = [&](std::uint64_t key) { model.add(key, score.data()); };
        place.of_words(add);
        place.of_tags(tag_at(right, i - 1), tag_at(right, i - 2), add);
        of_gold += score[right[i]];
        const double violation = beam.steps()[0].score - of_gold;
        if ((violation > largest || n_compared == 0 || violation == largest) && violation >= 0.0) {
          largest = violation;
          n_compared = i + 1;
        }
      }
      const std::vector<std::int32_t> found = beam.tags(n_compared, 0);
      for (std::int64_t i = 0; i < n_compared; ++i) {
        const auto move = [&](const std::vector<std::int32_t>& tags, double by) {
          const std::int32_t own = tags[i];
          if (found[i] != right[i]) places[i].of_words([&](std::uint64_t key) { model.move(key, own, by); });
          places[i].of_tags(tag_at(tags, i - 1), tag_at(tags, i - 2),
                            [&](std::uint64_t key) { model.move(key, own, by); });
        };
        const bool same_before = tag_at(found, i - 1) == tag_at(right, i - 1);
        if (found[i] == right[i] && same_before && tag_at(found, i - 2) == tag_at(right, i - 2)) continue;
        move(right, 1.0);
        move(found, -1.0);
      }
    });
  }
  team.span(0.0, 1.0);
  return model.average();
}

std::vector<std::vector<TagSequence>> tag_by_beam(const SparseClassifier& model, const TaggerView& sentences,
                                                  std::int32_t n_tags, std::int32_t width, std::int64_t most,
                                                  Team& team) {
  std::vector<std::vector<TagSequence>> out(sentences.n_sentences);
  team.run(sentences.n_sentences, [&](std::int64_t s, int worker) {
    Beam beam(model, n_tags, width);
    beam.start();
    const std::int64_t n = sentences.start[s + 1] - sentences.start[s];
    for (std::int64_t i = 0; i < n; ++i) {
      beam.advance(Place(sentences, s, i));
      team.breathe(worker);
    }
    const auto n_found = std::min<std::int64_t>(most, std::ssize(beam.steps()));
    for (std::int32_t k = 0; k < n_found; ++k) out[s].push_back({beam.steps()[k].score, beam.tags(n, k)});
  });
  return out;
}

}  // namespace espalier
