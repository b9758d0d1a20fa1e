#include "parsing/tagger.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace espalier {
namespace {

using Choices = std::vector<std::int32_t>;  // by position, which of the tags of its word

// A sequence that is not written down yet: the one it leaves, where, and for which of the tags of the word.
struct Branch {
  double loss;
  std::int64_t from, position, choice;
};

// For a heap whose top is the best: that of the least loss, and of these the first in the order of tags.
struct Worse {
  const std::vector<Choices>* found;

  bool operator()(const Branch& x, const Branch& y) const {
    if (x.loss != y.loss) return x.loss > y.loss;
    // Up to the place where the first of the two leaves its sequence both are written down, and they differ there at
    // the latest: all that begin as a branch does are found after it.
    const std::int64_t last = std::min(x.position, y.position);
    for (std::int64_t i = x.from == y.from ? last : 0; i < last; ++i) {
      const std::int32_t a = (*found)[x.from][i], b = (*found)[y.from][i];
      if (a != b) return a > b;
    }
    return at(x, last) > at(y, last);
  }

  std::int64_t at(const Branch& branch, std::int64_t i) const {
    return i == branch.position ? branch.choice : (*found)[branch.from][i];
  }
};

class BestTags {
 public:
  BestTags(const TrigramView& trigrams, const WordsView& words, std::int64_t most, Team& team, int worker)
      : trigrams_(trigrams), words_(words), most_(most), team_(team), worker_(worker) {
    look_ahead();
  }

  std::vector<TagSequence> sequences() {
    std::vector<TagSequence> out;
    if (!possible()) return out;
    write({0.0, -1, -1, 0});
    while (static_cast<std::int64_t>(found_.size()) < most_ && !branches_.empty()) {
      const Branch next = branches_.top();
      branches_.pop();
      write(next);
    }
    for (const auto& choices : found_) out.push_back(sequence(choices));
    // Losses and weights are sums of the same numbers in another order: where these are not exact, as in sentences of
    // many thousands of words, the last digits may differ.
    std::stable_sort(out.begin(), out.end(),
                     [](const TagSequence& x, const TagSequence& y) { return x.weight > y.weight; });
    return out;
  }

 private:
  std::int64_t n_choices(std::int64_t i) const { return i < 0 ? 1 : words_.start[i + 1] - words_.start[i]; }
  std::int32_t tag(std::int64_t i, std::int64_t choice) const {
    return i < 0 ? trigrams_.n_tags : words_.tag[words_.start[i] + choice];
  }

  // What each choice c at position i adds after choices a and b, with the best that can follow.
  struct Steps {
    const double *next, *ahead;
    const std::int32_t* tag;
    std::int64_t n;
    double operator[](std::int64_t c) const { return next[tag[c]] + ahead[c]; }
    // Four at a time, for a maximum waits for the one before it.
    double highest() const {
      double out[4] = {kImpossible, kImpossible, kImpossible, kImpossible};
      std::int64_t c = 0;
      for (; c + 4 <= n; c += 4) {
        for (std::int64_t k = 0; k < 4; ++k) out[k] = std::max(out[k], (*this)[c + k]);
      }
      for (; c < n; ++c) out[0] = std::max(out[0], (*this)[c]);
      return std::max(std::max(out[0], out[1]), std::max(out[2], out[3]));
    }
    std::int64_t best() const {
      std::int64_t out = 0;
      for (std::int64_t c = 1; c < n; ++c) out = (*this)[c] > (*this)[out] ? c : out;
      return out;
    }
  };
  Steps steps(std::int64_t i, std::int64_t a, std::int64_t b) const {
    const std::int64_t n = n_choices(i);
    return {trigrams_.after(tag(i - 2, a), tag(i - 1, b)), ahead_.data() + first_[i] + b * n,
            words_.tag + words_.start[i], n};
  }

  void look_ahead() {
    const std::int64_t n = words_.n_words;
    first_.assign(n + 1, 0);
    for (std::int64_t i = 0; i < n; ++i) first_[i + 1] = first_[i] + n_choices(i - 1) * n_choices(i);
    ahead_.assign(first_[n], kImpossible);
    for (std::int64_t i = n - 1; i >= 0; --i) {
      team_.breathe(worker_);
      for (std::int64_t a = 0; a < n_choices(i - 1); ++a) {
        for (std::int64_t b = 0; b < n_choices(i); ++b) {
          double best = kImpossible;
          if (i == n - 1) {
            best = trigrams_.after(tag(i - 1, a), tag(i, b))[trigrams_.n_tags];
          } else {
            best = steps(i + 1, a, b).highest();
          }
          ahead_[first_[i] + a * n_choices(i) + b] = words_.weight[words_.start[i] + b] + best;
        }
      }
    }
  }

  bool possible() const {
    if (words_.n_words == 0) return trigrams_.after(trigrams_.n_tags, trigrams_.n_tags)[trigrams_.n_tags] > kImpossible;
    return steps(0, 0, 0).highest() > kImpossible;
  }

  // Writes a sequence down and lists those that leave it behind the place where it left another.
  void write(const Branch& branch) {
    team_.breathe(worker_);
    const auto own = static_cast<std::int64_t>(found_.size());
    Choices choices;
    if (branch.from >= 0) {
      choices.assign(found_[branch.from].begin(), found_[branch.from].begin() + branch.position);
      choices.push_back(static_cast<std::int32_t>(branch.choice));
    }
    leaving_.clear();
    for (auto i = static_cast<std::int64_t>(choices.size()); i < words_.n_words; ++i) {
      const std::int64_t a = i < 2 ? 0 : choices[i - 2], b = i < 1 ? 0 : choices[i - 1];
      const Steps next = steps(i, a, b);
      const std::int64_t best = next.best();
      for (std::int64_t c = 0; c < next.n; ++c) {
        if (c != best && next[c] > kImpossible) leaving_.push_back({branch.loss + (next[best] - next[c]), own, i, c});
      }
      choices.push_back(static_cast<std::int32_t>(best));
    }
    found_.push_back(std::move(choices));
    for (const Branch& other : leaving_) push(other);  // which are compared by what they leave
  }

  // Every branch is another sequence, so one that is behind as many as are asked for is not needed. One that is level
  // with the last of them may come before it in the order of tags.
  void push(const Branch& branch) {
    if (most_ == 1) return;
    if (static_cast<std::int64_t>(needed_.size()) >= most_ - 1) {
      if (branch.loss > needed_.top()) return;
      needed_.pop();
    }
    needed_.push(branch.loss);
    branches_.push(branch);
  }

  TagSequence sequence(const Choices& choices) const {
    TagSequence out{0.0, {}};
    std::int32_t a = trigrams_.n_tags, b = trigrams_.n_tags;
    for (std::int64_t i = 0; i < words_.n_words; ++i) {
      const std::int32_t c = tag(i, choices[i]);
      out.weight += trigrams_.after(a, b)[c] + words_.weight[words_.start[i] + choices[i]];
      out.tag.push_back(c);
      a = b;
      b = c;
    }
    out.weight += trigrams_.after(a, b)[trigrams_.n_tags];
    return out;
  }

  const TrigramView& trigrams_;
  const WordsView& words_;
  const std::int64_t most_;
  Team& team_;
  const int worker_;
  std::vector<double> ahead_;        // V(i; a, b), where a and b are choices at i - 1 and i
  std::vector<std::int64_t> first_;  // of each position in ahead_
  std::vector<Choices> found_;
  std::vector<Branch> leaving_;
  std::priority_queue<Branch, std::vector<Branch>, Worse> branches_{Worse{&found_}};
  std::priority_queue<double> needed_;  // the smallest losses so far, the largest of them on top
};

}  // namespace

std::vector<std::vector<TagSequence>> tag_sentences(const TrigramView& trigrams, const Sentences& sentences,
                                                    std::int64_t most, Team& team) {
  std::vector<std::vector<TagSequence>> out(sentences.n_sentences);
  team.run(sentences.n_sentences, [&](std::int64_t s, int worker) {
    const WordsView words = sentences.words(s);
    out[s] = BestTags(trigrams, words, most, team, worker).sequences();
  });
  return out;
}

}  // namespace espalier
