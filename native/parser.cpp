#include "parser.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace espalier {
namespace {

// The fewest constituents that cover the sentence, and of these the most probable, side by side below the root. A word
// without a tag stands there alone.
Parse side_by_side(const GrammarView& grammar, const Chart& chart, BestParses& parses) {
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

SentenceParses parse_sentence(const GrammarView& grammar, const WordsView& words, Pruning pruning, std::int64_t most,
                              Team& team, int worker) {
  SentenceParses out;
  if (words.n_words == 0) return out;
  for (int attempt = 0;; ++attempt) {
    const Chart chart(grammar, words, pruning, &team, worker);
    out.n_entries = std::max(out.n_entries, chart.n_entries());
    BestParses parses(grammar, chart, most);
    Parse parse;
    while (static_cast<std::int64_t>(out.parses.size()) < most &&
           parses.parse(0, words.n_words, grammar.root, static_cast<std::int64_t>(out.parses.size()), parse)) {
      out.parses.push_back(parse);
    }
    out.complete = !out.parses.empty();
    if (out.complete) return out;
    if (attempt == 2 || pruning.beam == std::numeric_limits<double>::infinity()) {
      out.parses.push_back(side_by_side(grammar, chart, parses));
      return out;
    }
    out.widened = true;
    pruning.beam *= 2.0;
  }
}

}  // namespace

std::vector<SentenceParses> parse_sentences(const GrammarView& grammar, const Sentences& sentences,
                                            const Pruning& pruning, std::int64_t most, Team& team) {
  std::vector<SentenceParses> out(sentences.n_sentences);
  team.run(sentences.n_sentences, [&](std::int64_t s, int worker) {
    const std::int64_t first = sentences.sentence_start[s];
    const WordsView words{sentences.sentence_start[s + 1] - first, sentences.word_start + first, sentences.tag,
                          sentences.weight};
    out[s] = parse_sentence(grammar, words, pruning, most, team, worker);
  });
  return out;
}

}  // namespace espalier
