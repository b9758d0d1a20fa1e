#include "parsing/parser.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace espalier {
namespace {

// The fewest constituents that cover the sentence, and of these the most probable, side by side below the root. A word
// without a tag stands there alone.
Parse side_by_side(const GrammarView& grammar, const Chart& chart) {
  struct Step {
    std::int64_t n_parts = std::numeric_limits<std::int64_t>::max(), from = -1;
    double weight = kImpossible;
    std::int32_t symbol = -1;
  };
  const std::int64_t n = chart.n_words();
  std::vector<Step> steps(n + 1);
  steps[0] = {0, -1, 0.0, -1};
  for (std::int64_t j = 1; j <= n; ++j) {
    steps[j] = {steps[j - 1].n_parts + n + 1, j - 1, steps[j - 1].weight, -1};
    for (std::int64_t i = 0; i < j; ++i) {
      for (const Entry& entry : chart.cell(i, j)) {
        if (entry.symbol >= grammar.n_base) break;
        // The root stands above all parts: what is below it by a unary rule does without another.
        if (entry.symbol == grammar.root && entry.best > entry.split) continue;
        const std::int64_t n_parts = steps[i].n_parts + 1;
        const double weight = steps[i].weight + entry.best;
        if (n_parts > steps[j].n_parts || (n_parts == steps[j].n_parts && weight <= steps[j].weight)) continue;
        steps[j] = {n_parts, i, weight, entry.symbol};
      }
    }
  }
  Parse out{steps[n].weight, {}, {}};
  std::vector<std::int64_t> ends;
  for (std::int64_t j = n; j > 0; j = steps[j].from) ends.push_back(j);
  BestParses parses(grammar, chart, 1, std::numeric_limits<std::int64_t>::max());
  Parse part;
  for (std::size_t k = ends.size(); k-- > 0;) {
    const Step& step = steps[ends[k]];
    if (step.symbol >= 0) {
      parses.parse(step.from, ends[k], step.symbol, 0, part);
    } else {
      part = {0.0, {static_cast<std::int32_t>(-1 - step.from)}, {0}};
    }
    out.symbol.insert(out.symbol.end(), part.symbol.begin(), part.symbol.end());
    out.n_children.insert(out.n_children.end(), part.n_children.begin(), part.n_children.end());
  }
  out.symbol.push_back(grammar.root);
  out.n_children.push_back(static_cast<std::int32_t>(ends.size()));
  return out;
}

// Every word below its best tag, and all side by side: what needs no chart.
Parse best_tags(const GrammarView& grammar, const WordsView& words) {
  Parse out{0.0, {}, {}};
  for (std::int64_t i = 0; i < words.n_words; ++i) {
    std::int64_t best = words.start[i];
    for (std::int64_t k = best; k < words.start[i + 1]; ++k) {
      if (words.weight[k] > words.weight[best]) best = k;
    }
    out.symbol.push_back(static_cast<std::int32_t>(-1 - i));
    out.n_children.push_back(0);
    if (best == words.start[i + 1]) continue;
    out.symbol.push_back(words.tag[best]);
    out.n_children.push_back(1);
    out.weight += words.weight[best];
  }
  out.symbol.push_back(grammar.root);
  out.n_children.push_back(static_cast<std::int32_t>(words.n_words));
  return out;
}

// The search for the parses of one sentence, again and again with other pruning until there are some.
class SentenceSearch {
 public:
  SentenceSearch(const GrammarView& grammar, const WordsView& words, const Search& search, Team& team, int worker)
      : grammar_(grammar), words_(words), search_(search), team_(team), worker_(worker) {}

  SentenceParses run() {
    beam_ = search_.beam;
    margin_ = search_.margin;
    for (int n_widened = 0; words_.n_words > 0;) {
      const Outcome outcome = attempt(out_.narrowed || n_widened == kMostWider);
      if (outcome == Outcome::done) break;
      out_.parses.clear();
      if (outcome == Outcome::no_parse) {
        ++n_widened;
        beam_ *= 2.0;
        margin_ *= 2.0;
        continue;
      }
      out_.narrowed = true;
      beam_ = beam_ == std::numeric_limits<double>::infinity() ? kFirstBeam : beam_ / 2.0;
      if (beam_ > kLastBeam) continue;
      out_.exact = out_.complete = false;
      out_.parses.push_back(best_tags(grammar_, words_));
      break;
    }
    return std::move(out_);
  }

 private:
  enum class Outcome { done, no_parse, no_memory };
  static constexpr int kMostWider = 2;
  static constexpr double kFirstBeam = 20.0, kLastBeam = 0.05;

  // What a coarse parse allows; null where it is not asked for, where there is none, and where it takes too much memory.
  std::unique_ptr<Allowed> look_ahead() {
    if (!search_.coarse || margin_ == std::numeric_limits<double>::infinity()) return nullptr;
    const GrammarView& coarse = search_.coarse->grammar;
    Pruning pruning;
    pruning.words_as = search_.coarse->symbol;
    pruning.memory = search_.memory / 2;
    const Chart chart(coarse, words_, pruning, &team_, worker_);
    if (!chart.fits() || !chart.find(0, words_.n_words, coarse.root)) return nullptr;
    auto allowed = std::make_unique<Allowed>(coarse, chart, margin_, search_.memory - chart.bytes(), &team_, worker_);
    if (allowed->fits()) out_.bytes = std::max(out_.bytes, chart.bytes() + allowed->most_bytes());
    return allowed->fits() ? std::move(allowed) : nullptr;
  }

  Outcome attempt(bool is_last) {
    const std::unique_ptr<Allowed> allowed = look_ahead();
    const std::int64_t memory = search_.memory - (allowed ? allowed->bytes() : 0);
    Pruning pruning{beam_,   search_.prior,      allowed.get(), allowed ? search_.coarse->symbol : nullptr,
                    nullptr, memory - memory / 4};  // the rest is for the search in the chart
    const Chart chart(grammar_, words_, pruning, &team_, worker_);
    Pace pace(team_, worker_);
    BestParses parses(grammar_, chart, search_.most, memory - chart.bytes(), &pace);
    if (chart.fits()) extract(parses);
    if (!chart.fits() || (out_.parses.empty() && !parses.fits())) return Outcome::no_memory;
    out_.bytes = std::max(out_.bytes, search_.memory - memory + chart.bytes() + parses.bytes());
    out_.complete = !out_.parses.empty();
    out_.exact = !chart.is_pruned() && parses.fits();
    if (!parses.fits()) out_.narrowed = true;
    if (out_.complete) return Outcome::done;
    if (chart.is_pruned() && !is_last) return Outcome::no_parse;
    out_.parses.push_back(side_by_side(grammar_, chart));
    return Outcome::done;
  }

  void extract(BestParses& parses) {
    Parse parse;
    while (static_cast<std::int64_t>(out_.parses.size()) < search_.most) {
      team_.breathe(worker_);
      const auto rank = static_cast<std::int64_t>(out_.parses.size());
      if (!parses.parse(0, words_.n_words, grammar_.root, rank, parse)) return;
      out_.parses.push_back(parse);
    }
  }

  const GrammarView& grammar_;
  const WordsView& words_;
  const Search& search_;
  Team& team_;
  int worker_;
  double beam_ = 0.0, margin_ = 0.0;
  SentenceParses out_;
};

}  // namespace

std::vector<SentenceParses> parse_sentences(const GrammarView& grammar, const Sentences& sentences,
                                            const Search& search, Team& team) {
  std::vector<SentenceParses> out(sentences.n_sentences);
  team.run(sentences.n_sentences, [&](std::int64_t s, int worker) {
    const WordsView words = sentences.words(s);
    out[s] = SentenceSearch(grammar, words, search, team, worker).run();
  });
  return out;
}

}  // namespace espalier
