// Bindings of the kernels over sequences and dependency trees.
#include "bindings/bindings.hpp"
#include "kernels/dependency_subtree.hpp"
#include "kernels/subsequence.hpp"
#include "kernels/tagging.hpp"

namespace espalier {

using namespace nb::literals;

namespace {

using Symbols = In<std::int32_t>;
using Starts = In<std::int64_t>;

SequencesView sequences_of(const Symbols& symbol, const Starts& start) {
  return {static_cast<std::int64_t>(start.size()) - 1, start.data(), symbol.data()};
}

// `similar` is None, or the values of symbols with all others and the row of each symbol among them.
SubsequenceValues subsequence_settings(const In<double>& gap, const In<double>& match, const In<double>& order,
                                       const In<double>& mix, const std::optional<Settings>& similar,
                                       std::vector<nb::object>& kept) {
  SubsequenceValues out{gap.data(),
                        match.data(),
                        order.data(),
                        static_cast<std::int64_t>(order.size()),
                        static_cast<std::int64_t>(gap.size()),
                        {}};
  if (!similar) return out;
  out.soft = {array_of<double>(*similar, "value", kept), array_of<std::int32_t>(*similar, "row", kept),
              nb::cast<std::int64_t>((*similar)["width"]), mix.data()[0]};
  return out;
}

TaggedView tagged_of(const Symbols& tag, const Symbols& word, const Starts& start) {
  return {sequences_of(tag, start), word.data()};
}

TaggingValues tagging_settings(const In<double>& decay, const In<double>& word_weight, const In<double>& gap) {
  return {decay.data(), word_weight.data(), gap.data(), static_cast<std::int64_t>(decay.size())};
}

void bind_subsequence(nb::module_& m) {
  m.def(
      "subsequence_values",
      [](Symbols a_symbol, Starts a_start, Symbols b_symbol, Starts b_start, int pairs, In<double> gap,
         In<double> match, In<double> order, In<double> mix, std::optional<Settings> similar, int n_threads,
         Progress progress, Vector out) {
        std::vector<nb::object> kept;
        const SubsequenceValues values = subsequence_settings(gap, match, order, mix, similar, kept);
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          subsequence_values(sequences_of(a_symbol, a_start), sequences_of(b_symbol, b_start),
                             static_cast<Pairs>(pairs), values, team, out.data());
        });
      },
      "a_symbol"_a, "a_start"_a, "b_symbol"_a, "b_start"_a, "pairs"_a, "gap"_a, "match"_a, "order"_a, "mix"_a,
      "similar"_a, "n_threads"_a, "progress"_a, "out"_a);
  m.def(
      "subsequence_pull_back",
      [](Symbols a_symbol, Starts a_start, Symbols b_symbol, Starts b_start, int pairs, In<double> gap,
         In<double> match, In<double> order, In<double> mix, std::optional<Settings> similar, int n_threads,
         Progress progress, In<double> cotangent, Vector gap_bar, Vector match_bar, Vector order_bar, Vector mix_bar) {
        std::vector<nb::object> kept;
        const SubsequenceValues values = subsequence_settings(gap, match, order, mix, similar, kept);
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          subsequence_pull_back(sequences_of(a_symbol, a_start), sequences_of(b_symbol, b_start),
                                static_cast<Pairs>(pairs), values, cotangent.data(), team,
                                {gap_bar.data(), match_bar.data(), order_bar.data(), mix_bar.data()});
        });
      },
      "a_symbol"_a, "a_start"_a, "b_symbol"_a, "b_start"_a, "pairs"_a, "gap"_a, "match"_a, "order"_a, "mix"_a,
      "similar"_a, "n_threads"_a, "progress"_a, "cotangent"_a, "gap_bar"_a, "match_bar"_a, "order_bar"_a, "mix_bar"_a);
}

void bind_tagging(nb::module_& m) {
  m.def(
      "tagging_values",
      [](Symbols a_tag, Symbols a_word, Starts a_start, Symbols b_tag, Symbols b_word, Starts b_start, int pairs,
         In<double> decay, In<double> word_weight, In<double> gap, int n_threads, Progress progress, Vector out) {
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          tagging_values(tagged_of(a_tag, a_word, a_start), tagged_of(b_tag, b_word, b_start),
                         static_cast<Pairs>(pairs), tagging_settings(decay, word_weight, gap), team, out.data());
        });
      },
      "a_tag"_a, "a_word"_a, "a_start"_a, "b_tag"_a, "b_word"_a, "b_start"_a, "pairs"_a, "decay"_a, "word_weight"_a,
      "gap"_a, "n_threads"_a, "progress"_a, "out"_a);
  m.def(
      "tagging_pull_back",
      [](Symbols a_tag, Symbols a_word, Starts a_start, Symbols b_tag, Symbols b_word, Starts b_start, int pairs,
         In<double> decay, In<double> word_weight, In<double> gap, int n_threads, Progress progress,
         In<double> cotangent, Vector decay_bar, Vector word_bar, Vector gap_bar) {
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          tagging_pull_back(tagged_of(a_tag, a_word, a_start), tagged_of(b_tag, b_word, b_start),
                            static_cast<Pairs>(pairs), tagging_settings(decay, word_weight, gap), cotangent.data(),
                            team, {decay_bar.data(), word_bar.data(), gap_bar.data()});
        });
      },
      "a_tag"_a, "a_word"_a, "a_start"_a, "b_tag"_a, "b_word"_a, "b_start"_a, "pairs"_a, "decay"_a, "word_weight"_a,
      "gap"_a, "n_threads"_a, "progress"_a, "cotangent"_a, "decay_bar"_a, "word_bar"_a, "gap_bar"_a);
}

ArcsView arcs_of(Arrays arrays, std::vector<nb::object>& kept) {
  ArcsView view{};
  view.n_trees = static_cast<std::int64_t>(nb::len(nb::object(arrays["start"]))) - 1;
  view.start = array_of<std::int64_t>(arrays, "start", kept);
  view.feature_start = array_of<std::int64_t>(arrays, "feature_start", kept);
  view.head = array_of<std::int32_t>(arrays, "head", kept);
  view.previous = array_of<std::int32_t>(arrays, "previous", kept);
  view.order = array_of<std::int32_t>(arrays, "order", kept);
  view.feature = array_of<std::int32_t>(arrays, "feature", kept);
  return view;
}

ArcValues arc_settings(double decay, const In<double>& weight, const Symbols& part, bool contiguous, int max_arcs) {
  return {decay,
          weight.data(),
          part.data(),
          static_cast<std::int64_t>(part.size()),
          static_cast<std::int64_t>(weight.size()),
          contiguous,
          max_arcs};
}

void bind_dependency_subtree(nb::module_& m) {
  m.def(
      "dependency_subtree_values",
      [](Arrays a, Arrays b, int pairs, double decay, In<double> weight, Symbols part, bool contiguous, int max_arcs,
         int n_threads, Progress progress, Vector out) {
        std::vector<nb::object> kept;
        const ArcsView rows = arcs_of(a, kept), columns = arcs_of(b, kept);
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          dependency_subtree_values(rows, columns, static_cast<Pairs>(pairs),
                                    arc_settings(decay, weight, part, contiguous, max_arcs), team, out.data());
        });
      },
      "a"_a, "b"_a, "pairs"_a, "decay"_a, "weight"_a, "part"_a, "contiguous"_a, "max_arcs"_a, "n_threads"_a,
      "progress"_a, "out"_a);
  m.def(
      "dependency_subtree_pull_back",
      [](Arrays a, Arrays b, int pairs, double decay, In<double> weight, Symbols part, bool contiguous, int max_arcs,
         int n_threads, Progress progress, In<double> cotangent, Vector decay_bar, Vector weight_bar) {
        std::vector<nb::object> kept;
        const ArcsView rows = arcs_of(a, kept), columns = arcs_of(b, kept);
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          dependency_subtree_pull_back(rows, columns, static_cast<Pairs>(pairs),
                                       arc_settings(decay, weight, part, contiguous, max_arcs), cotangent.data(), team,
                                       decay_bar.data(), weight_bar.data());
        });
      },
      "a"_a, "b"_a, "pairs"_a, "decay"_a, "weight"_a, "part"_a, "contiguous"_a, "max_arcs"_a, "n_threads"_a,
      "progress"_a, "cotangent"_a, "decay_bar"_a, "weight_bar"_a);
}

}  // namespace

void bind_sequences(nb::module_& m) {
  bind_subsequence(m);
  bind_tagging(m);
  bind_dependency_subtree(m);
}

}  // namespace espalier
