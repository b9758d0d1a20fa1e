// Bindings of the tagger.
#include "parsing/tagger.hpp"

#include "bindings/bindings.hpp"

namespace espalier {

using namespace nb::literals;

namespace {

// All sequences of all sentences in one set of arrays.
nb::dict arrays_of(const std::vector<std::vector<TagSequence>>& found) {
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
  nb::dict out;
  out["sentence_start"] = to_numpy(std::move(sentence_start));
  out["sequence_start"] = to_numpy(std::move(sequence_start));
  out["tag"] = to_numpy(std::move(tag));
  out["weight"] = to_numpy(std::move(weight));
  return out;
}

}  // namespace

void bind_tagger(nb::module_& m) {
  m.def(
      "tag_sentences",
      [](In<double> trigrams, std::int32_t n_tags, In<std::int64_t> sentence_start, In<std::int64_t> word_start,
         In<std::int32_t> tag, In<double> weight, std::int64_t most, int n_threads, nb::object progress) {
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
      "progress"_a.none());
}

}  // namespace espalier
