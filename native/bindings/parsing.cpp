// Bindings of the parser and of the tagger.
#include "bindings/bindings.hpp"
#include "parsing/parser.hpp"
#include "parsing/tagger.hpp"

namespace espalier {

using namespace nb::literals;

namespace {

GrammarView grammar_of(Settings arrays, std::vector<nb::object>& kept) {
  GrammarView view{};
  view.n_symbols = nb::cast<std::int32_t>(arrays["n_symbols"]);
  view.n_base = nb::cast<std::int32_t>(arrays["n_base"]);
  view.root = nb::cast<std::int32_t>(arrays["root"]);
  view.max_unary = nb::cast<std::int32_t>(arrays["max_unary"]);
  view.left_start = array_of<std::int64_t>(arrays, "left_start", kept);
  view.left = array_of<std::int32_t>(arrays, "left", kept);
  view.right = array_of<std::int32_t>(arrays, "right", kept);
  view.parent = array_of<std::int32_t>(arrays, "parent", kept);
  view.weight = array_of<double>(arrays, "weight", kept);
  view.parent_start = array_of<std::int64_t>(arrays, "parent_start", kept);
  view.parent_rule = array_of<std::int32_t>(arrays, "parent_rule", kept);
  view.up_start = array_of<std::int64_t>(arrays, "up_start", kept);
  view.up_parent = array_of<std::int32_t>(arrays, "up_parent", kept);
  view.up_weight = array_of<double>(arrays, "up_weight", kept);
  view.down_start = array_of<std::int64_t>(arrays, "down_start", kept);
  view.down_child = array_of<std::int32_t>(arrays, "down_child", kept);
  view.down_weight = array_of<double>(arrays, "down_weight", kept);
  return view;
}

// All parses of all sentences in one set of arrays.
Arrays arrays_of(const std::vector<SentenceParses>& found) {
  std::vector<std::int64_t> sentence_start{0}, parse_start{0};
  std::vector<std::int32_t> symbol, n_children;
  std::vector<double> weight;
  std::vector<std::int8_t> complete, exact, narrowed;
  std::vector<std::int64_t> bytes;
  for (const SentenceParses& sentence : found) {
    for (const Parse& parse : sentence.parses) {
      symbol.insert(symbol.end(), parse.symbol.begin(), parse.symbol.end());
      n_children.insert(n_children.end(), parse.n_children.begin(), parse.n_children.end());
      parse_start.push_back(static_cast<std::int64_t>(symbol.size()));
      weight.push_back(parse.weight);
    }
    sentence_start.push_back(static_cast<std::int64_t>(weight.size()));
    complete.push_back(sentence.complete);
    exact.push_back(sentence.exact);
    narrowed.push_back(sentence.narrowed);
    bytes.push_back(sentence.bytes);
  }
  Arrays out;
  out["sentence_start"] = to_numpy(std::move(sentence_start));
  out["parse_start"] = to_numpy(std::move(parse_start));
  out["symbol"] = to_numpy(std::move(symbol));
  out["n_children"] = to_numpy(std::move(n_children));
  out["weight"] = to_numpy(std::move(weight));
  out["complete"] = to_numpy(std::move(complete));
  out["exact"] = to_numpy(std::move(exact));
  out["narrowed"] = to_numpy(std::move(narrowed));
  out["bytes"] = to_numpy(std::move(bytes));
  return out;
}

}  // namespace

// All sequences of all sentences in one set of arrays.
Arrays arrays_of(const std::vector<std::vector<TagSequence>>& found) {
  std::vector<std::int64_t> sentence_start{0}, sequence_start{0};
  std::vector<std::int32_t> tag;
  std::vector<double> weight;
  for (const std::vector<TagSequence>& sentence : found) {
    for (const TagSequence& sequence : sentence) {
      tag.insert(tag.end(), sequence.tag.begin(), sequence.tag.end());
      sequence_start.push_back(static_cast<std::int64_t>(tag.size()));
      weight.push_back(sequence.weight);
    }
    sentence_start.push_back(static_cast<std::int64_t>(weight.size()));
  }
  Arrays out;
  out["sentence_start"] = to_numpy(std::move(sentence_start));
  out["sequence_start"] = to_numpy(std::move(sequence_start));
  out["tag"] = to_numpy(std::move(tag));
  out["weight"] = to_numpy(std::move(weight));
  return out;
}

void bind_parsing(nb::module_& m) {
  m.def(
      "parse_sentences",
      [](Settings grammar, In<std::int64_t> sentence_start, In<std::int64_t> word_start, In<std::int32_t> tag,
         In<double> weight, double beam, In<double> prior, double margin, std::optional<Settings> coarse,
         std::int64_t memory, std::int64_t most, int n_threads, Progress progress) {
        std::vector<nb::object> kept;
        const GrammarView view = grammar_of(grammar, kept);
        const Sentences sentences{static_cast<std::int64_t>(sentence_start.size()) - 1, sentence_start.data(),
                                  word_start.data(), tag.data(), weight.data()};
        CoarseGrammar coarse_grammar{};
        if (coarse) {
          coarse_grammar = {grammar_of(*coarse, kept), array_of<std::int32_t>(*coarse, "symbol", kept)};
        }
        const Search search{beam, prior.data(), margin, coarse ? &coarse_grammar : nullptr, memory, most};
        std::vector<SentenceParses> found;
        Gate gate;
        run_released(gate, n_threads, progress,
                     [&](Team& team) { found = parse_sentences(view, sentences, search, team); });
        return arrays_of(found);
      },
      "grammar"_a, "sentence_start"_a, "word_start"_a, "tag"_a, "weight"_a, "beam"_a, "prior"_a, "margin"_a, "coarse"_a,
      "memory"_a, "most"_a, "n_threads"_a, "progress"_a);
  m.def(
      "tag_sentences",
      [](In<double> trigrams, std::int32_t n_tags, In<std::int64_t> sentence_start, In<std::int64_t> word_start,
         In<std::int32_t> tag, In<double> weight, std::int64_t most, int n_threads, Progress progress) {
        const TrigramView view{n_tags, trigrams.data()};
        const Sentences sentences{static_cast<std::int64_t>(sentence_start.size()) - 1, sentence_start.data(),
                                  word_start.data(), tag.data(), weight.data()};
        std::vector<std::vector<TagSequence>> found;
        Gate gate;
        run_released(gate, n_threads, progress,
                     [&](Team& team) { found = tag_sentences(view, sentences, most, team); });
        return arrays_of(found);
      },
      "trigrams"_a, "n_tags"_a, "sentence_start"_a, "word_start"_a, "tag"_a, "weight"_a, "most"_a, "n_threads"_a,
      "progress"_a);
}

}  // namespace espalier
