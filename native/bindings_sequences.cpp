// Bindings of the kernels over sequences.
#include "bindings.hpp"
#include "subsequence.hpp"
#include "tagging.hpp"

namespace espalier {

using namespace nb::literals;

namespace {

using Symbols = In<std::int32_t>;
using Starts = In<std::int64_t>;

SequencesView sequences_of(const Symbols& symbol, const Starts& start) {
  return {static_cast<std::int64_t>(start.size()) - 1, start.data(), symbol.data()};
}

SubsequenceValues subsequence_settings(const In<double>& gap, const In<double>& match, const In<double>& order) {
  return {gap.data(), match.data(), order.data(), static_cast<std::int64_t>(order.size()),
          static_cast<std::int64_t>(gap.size())};
}

TaggedView tagged_of(const Symbols& tag, const Symbols& word, const Starts& start) {
  return {sequences_of(tag, start), word.data()};
}

TaggingValues tagging_settings(const In<double>& decay, const In<double>& word_weight) {
  return {decay.data(), word_weight.data(), static_cast<std::int64_t>(decay.size())};
}

void bind_subsequence(nb::module_& m) {
  m.def(
      "subsequence_values",
      [](Symbols a_symbol, Starts a_start, Symbols b_symbol, Starts b_start, int pairs, In<double> gap,
         In<double> match, In<double> order, int n_threads, nb::object progress, Vector out) {
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          subsequence_values(sequences_of(a_symbol, a_start), sequences_of(b_symbol, b_start),
                             static_cast<Pairs>(pairs), subsequence_settings(gap, match, order), team, out.data());
        });
      },
      "a_symbol"_a, "a_start"_a, "b_symbol"_a, "b_start"_a, "pairs"_a, "gap"_a, "match"_a, "order"_a, "n_threads"_a,
      "progress"_a.none(), "out"_a);
  m.def(
      "subsequence_pull_back",
      [](Symbols a_symbol, Starts a_start, Symbols b_symbol, Starts b_start, int pairs, In<double> gap,
         In<double> match, In<double> order, int n_threads, nb::object progress, In<double> cotangent, Vector gap_bar,
         Vector match_bar, Vector order_bar) {
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          subsequence_pull_back(sequences_of(a_symbol, a_start), sequences_of(b_symbol, b_start),
                                static_cast<Pairs>(pairs), subsequence_settings(gap, match, order), cotangent.data(),
                                team, gap_bar.data(), match_bar.data(), order_bar.data());
        });
      },
      "a_symbol"_a, "a_start"_a, "b_symbol"_a, "b_start"_a, "pairs"_a, "gap"_a, "match"_a, "order"_a, "n_threads"_a,
      "progress"_a.none(), "cotangent"_a, "gap_bar"_a, "match_bar"_a, "order_bar"_a);
}

void bind_tagging(nb::module_& m) {
  m.def(
      "tagging_values",
      [](Symbols a_tag, Symbols a_word, Starts a_start, Symbols b_tag, Symbols b_word, Starts b_start, int pairs,
         In<double> decay, In<double> word_weight, int n_threads, nb::object progress, Vector out) {
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          tagging_values(tagged_of(a_tag, a_word, a_start), tagged_of(b_tag, b_word, b_start),
                         static_cast<Pairs>(pairs), tagging_settings(decay, word_weight), team, out.data());
        });
      },
      "a_tag"_a, "a_word"_a, "a_start"_a, "b_tag"_a, "b_word"_a, "b_start"_a, "pairs"_a, "decay"_a, "word_weight"_a,
      "n_threads"_a, "progress"_a.none(), "out"_a);
  m.def(
      "tagging_pull_back",
      [](Symbols a_tag, Symbols a_word, Starts a_start, Symbols b_tag, Symbols b_word, Starts b_start, int pairs,
         In<double> decay, In<double> word_weight, int n_threads, nb::object progress, In<double> cotangent,
         Vector decay_bar, Vector word_bar) {
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          tagging_pull_back(tagged_of(a_tag, a_word, a_start), tagged_of(b_tag, b_word, b_start),
                            static_cast<Pairs>(pairs), tagging_settings(decay, word_weight), cotangent.data(), team,
                            decay_bar.data(), word_bar.data());
        });
      },
      "a_tag"_a, "a_word"_a, "a_start"_a, "b_tag"_a, "b_word"_a, "b_start"_a, "pairs"_a, "decay"_a, "word_weight"_a,
      "n_threads"_a, "progress"_a.none(), "cotangent"_a, "decay_bar"_a, "word_bar"_a);
}

}  // namespace

void bind_sequences(nb::module_& m) {
  bind_subsequence(m);
  bind_tagging(m);
}

}  // namespace espalier
