// Bindings of feature selection: graphs of candidates, tries of features, counts and scores.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/bindings.hpp"
#include "selection/arc_sets.hpp"
#include "selection/blocked_filter.hpp"
#include "selection/mining.hpp"
#include "selection/ranked_features.hpp"

namespace espalier {

using namespace nb::literals;

namespace {

template <class T>
std::span<const T> view(const In<T>& array) {
  return {array.data(), array.size()};
}

SentenceArrays sentences_of(nb::dict arrays, std::vector<nb::object>& kept) {
  return {.start = span_of<std::int64_t>(arrays, "start", kept),
          .word = span_of<std::int32_t>(arrays, "word", kept),
          .candidate_start = span_of<std::int64_t>(arrays, "candidate_start", kept),
          .tag_start = span_of<std::int64_t>(arrays, "tag_start", kept),
          .tag = span_of<std::int32_t>(arrays, "tag", kept),
          .tagging = span_of<std::int32_t>(arrays, "tagging", kept),
          .head = span_of<std::int32_t>(arrays, "head", kept),
          .relation = span_of<std::int32_t>(arrays, "relation", kept)};
}

std::vector<ArcTemplate> templates_of(List<nb::any> listed) {
  std::vector<ArcTemplate> out;
  for (nb::handle one : listed) {
    const auto [parts, length, direction] = nb::cast<std::tuple<nb::list, bool, bool>>(one);
    ArcTemplate own{{}, length, direction};
    for (nb::handle part : parts) own.parts.push_back(static_cast<ArcPart>(nb::cast<int>(part)));
    out.push_back(std::move(own));
  }
  return out;
}

// What every function of grown features takes after the graphs: trie, atoms, first features, open ones, order.
Growing growing_of(const FeatureTrie& trie, std::int64_t n_atoms, const In<std::uint32_t>& first,
                   const In<std::uint8_t>& open) {
  return {&trie, n_atoms, first.data(), open.data()};
}

Settings as_dict(CountedFeatures found) {
  Settings out;
  out["key"] = to_numpy(std::move(found.key));
  out["plus"] = to_numpy(std::move(found.plus));
  out["minus"] = to_numpy(std::move(found.minus));
  out["n_occurrences"] = found.n_occurrences;
  out["n_emitted"] = found.n_emitted;
  out["n_distinct"] = found.n_distinct;
  out["n_spilled"] = found.n_spilled;
  return out;
}

// Errors of the core that have a class of their own in Python.
template <class Work>
void counting(Gate& gate, int n_threads, const Progress& progress, const Work& work) {
  try {
    run_released(gate, n_threads, progress, work);
  } catch (const CountingNeedsMemory& error) {
    PyErr_SetString(nb::module_::import_("espalier.errors").attr("MemoryBudgetError").ptr(), error.what());
    throw nb::python_error();
  } catch (const SpillError& error) {
    PyErr_SetString(PyExc_OSError, error.what());
    throw nb::python_error();
  }
}

template <class Graphs>
void bind_mining(nb::module_& m) {
  m.def(
      "count_features",
      [](const Graphs& graphs, const FeatureTrie& trie, std::int64_t n_atoms, In<std::uint32_t> first,
         In<std::uint8_t> open, In<std::int32_t> right, In<std::int32_t> predicted, In<std::int32_t> root_of,
         In<std::uint64_t> watched, int order, double threshold, std::int64_t memory, std::string folder,
         std::int64_t filter_memory, int n_threads, Progress progress) {
        CountedFeatures found;
        Gate gate;
        counting(gate, n_threads, progress, [&](Team& team) {
          found = count_features(graphs, growing_of(trie, n_atoms, first, open),
                                 {view(right), view(predicted), view(root_of)}, view(watched),
                                 {order, threshold, memory, folder, filter_memory}, team);
        });
        return as_dict(std::move(found));
      },
      "graphs"_a, "trie"_a, "n_atoms"_a, "first"_a, "open"_a, "right"_a, "predicted"_a, "root_of"_a, "watched"_a,
      "order"_a, "threshold"_a, "memory"_a, "folder"_a, "filter_memory"_a, "n_threads"_a, "progress"_a);
  m.def(
      "count_changes",
      [](const Graphs& graphs, const FeatureTrie& trie, std::int64_t n_atoms, In<std::uint32_t> first,
         In<std::uint8_t> open, In<std::int32_t> right, In<std::int32_t> predicted, In<std::int32_t> before,
         In<std::int32_t> root_of, KeptCounts& kept, int order, double threshold, std::int64_t memory,
         std::string folder, int n_threads, Progress progress) {
        CountChanges found;
        Gate gate;
        counting(gate, n_threads, progress, [&](Team& team) {
          found = count_changes(graphs, growing_of(trie, n_atoms, first, open),
                                {view(right), view(predicted), view(root_of)}, view(before), kept,
                                {order, threshold, memory, folder, 0}, team);
        });
        Settings out;
        out["node"] = to_numpy(std::move(found.node));
        out["plus"] = to_numpy(std::move(found.plus));
        out["minus"] = to_numpy(std::move(found.minus));
        out["key"] = to_numpy(std::move(found.key));
        out["key_plus"] = to_numpy(std::move(found.key_plus));
        out["key_minus"] = to_numpy(std::move(found.key_minus));
        out["n_occurrences"] = found.n_occurrences;
        out["n_kept"] = found.n_kept;
        out["n_spilled"] = found.n_spilled;
        return out;
      },
      "graphs"_a, "trie"_a, "n_atoms"_a, "first"_a, "open"_a, "right"_a, "predicted"_a, "before"_a, "root_of"_a,
      "kept"_a, "order"_a, "threshold"_a, "memory"_a, "folder"_a, "n_threads"_a, "progress"_a);
  m.def(
      "count_frequent",
      [](const Graphs& graphs, const FeatureTrie& trie, std::int64_t n_atoms, In<std::uint32_t> first,
         In<std::uint8_t> open, int order, double threshold, std::int64_t memory, std::string folder, int n_threads,
         Progress progress) {
        CountedFeatures found;
        Gate gate;
        counting(gate, n_threads, progress, [&](Team& team) {
          found = count_frequent(graphs, growing_of(trie, n_atoms, first, open), {order, threshold, memory, folder, 0},
                                 team);
        });
        return as_dict(std::move(found));
      },
      "graphs"_a, "trie"_a, "n_atoms"_a, "first"_a, "open"_a, "order"_a, "threshold"_a, "memory"_a, "folder"_a,
      "n_threads"_a, "progress"_a);
  m.def(
      "feature_scores",
      [](const Graphs& graphs, const FeatureTrie& trie, std::int64_t n_atoms, In<std::uint32_t> first,
         In<std::uint8_t> open, In<double> weight, In<std::int32_t> root_of, int order, bool presence, int n_threads,
         Progress progress) {
        std::vector<double> out;
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          const auto values = presence ? FeatureValues::kPresence : FeatureValues::kOccurrences;
          out = feature_scores(graphs, growing_of(trie, n_atoms, first, open), view(weight), view(root_of), order,
                               values, team);
        });
        return to_numpy(std::move(out));
      },
      "graphs"_a, "trie"_a, "n_atoms"_a, "first"_a, "open"_a, "weight"_a, "root_of"_a, "order"_a, "presence"_a,
      "n_threads"_a, "progress"_a);
  m.def(
      "feature_rows",
      [](const Graphs& graphs, const FeatureTrie& trie, std::int64_t n_atoms, In<std::uint32_t> first,
         In<std::uint8_t> open, In<std::uint8_t> wanted, int order, int n_threads, Progress progress) {
        FeatureRows found;
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          found = feature_rows(graphs, growing_of(trie, n_atoms, first, open), view(wanted), order, team);
        });
        Settings out;
        out["start"] = to_numpy(std::move(found.start));
        out["node"] = to_numpy(std::move(found.node));
        out["count"] = to_numpy(std::move(found.count));
        return out;
      },
      "graphs"_a, "trie"_a, "n_atoms"_a, "first"_a, "open"_a, "wanted"_a, "order"_a, "n_threads"_a, "progress"_a);
}

template <class Graphs, class Class>
void bind_extraction(Class& ranked) {
  ranked.def_static(
      "extracted",
      [](const Graphs& graphs, const FeatureTrie& trie, std::int64_t n_atoms, In<std::uint32_t> first,
         In<std::uint8_t> open, In<std::int32_t> index, In<float> value, int order, std::int64_t memory, int n_threads,
         Progress progress) {
        RankedFeatures found;
        Gate gate;
        run_released(gate, n_threads, progress, [&](Team& team) {
          found = RankedFeatures::extracted(graphs, growing_of(trie, n_atoms, first, open), view(index), view(value),
                                            order, memory, team);
        });
        return found;
      },
      "graphs"_a, "trie"_a, "n_atoms"_a, "first"_a, "open"_a, "index"_a, "value"_a, "order"_a, "memory"_a,
      "n_threads"_a, "progress"_a);
}

template <class T>
std::vector<T> copied(nb::dict arrays, const char* name) {
  if (!arrays.contains(name)) return {};
  std::vector<nb::object> kept;
  const std::span<const T> own = span_of<T>(arrays, name, kept);
  return {own.begin(), own.end()};
}

}  // namespace

void bind_selection(nb::module_& m) {
  m.attr("MOST_ATOMS") = kMostAtoms;
  m.attr("MOST_CANDIDATES") = kMostCandidates;
  m.attr("MOST_ORDER") = kMostOrder;
  m.def(
      "frequent_codes",
      [](Arrays arrays, List<nb::any> templates, bool root, double threshold, int n_threads, Progress progress) {
        std::vector<nb::object> kept;
        const SentenceArrays sentences = sentences_of(arrays, kept);
        const std::vector<ArcTemplate> listed = templates_of(templates);
        std::vector<std::uint64_t> out;
        Gate gate;
        run_released(gate, n_threads, progress,
                     [&](Team& team) { out = frequent_codes(sentences, listed, root, threshold, team); });
        return to_numpy(std::move(out));
      },
      "arrays"_a, "templates"_a, "root"_a, "threshold"_a, "n_threads"_a, "progress"_a);
  nb::class_<AtomTable>(m, "AtomTable")
      .def(
          "__init__",
          [](AtomTable* self, In<std::uint64_t> codes) {
            new (self) AtomTable(std::vector<std::uint64_t>(codes.data(), codes.data() + codes.size()));
          },
          "codes"_a);
  nb::class_<ArcUnions>(m, "ArcUnions")
      .def(
          "__init__",
          [](ArcUnions* self, Arrays arrays, List<nb::any> templates, bool root, const AtomTable& atoms, int n_threads,
             Progress progress) {
            std::vector<nb::object> kept;
            const SentenceArrays sentences = sentences_of(arrays, kept);
            const std::vector<ArcTemplate> listed = templates_of(templates);
            std::unique_ptr<ArcUnions> made;
            Gate gate;
            run_released(gate, n_threads, progress,
                         [&](Team& team) { made = std::make_unique<ArcUnions>(sentences, listed, root, atoms, team); });
            new (self) ArcUnions(std::move(*made));
          },
          "arrays"_a, "templates"_a, "root"_a, "atoms"_a, "n_threads"_a, "progress"_a)
      .def("__len__", &ArcUnions::size)
      .def_prop_ro("n_bytes", &ArcUnions::n_bytes);
  nb::class_<FeatureTrie>(m, "FeatureTrie")
      .def(nb::init<std::uint32_t>(), "n_roots"_a)
      .def("__len__", &FeatureTrie::size)
      .def_prop_ro("n_bytes", &FeatureTrie::n_bytes)
      .def("keys",
           [](const FeatureTrie& trie) {
             return to_numpy(std::vector<std::uint64_t>(trie.keys().begin(), trie.keys().end()));
           })
      .def(
          "insert",
          [](FeatureTrie& trie, In<std::uint64_t> keys) {
            std::vector<std::uint32_t> out(keys.size());
            trie.reserve(trie.size() + keys.size());
            for (std::size_t k = 0; k < keys.size(); ++k) {
              if (k + 16 < keys.size()) trie.prefetch(keys.data()[k + 16]);
              out[k] = trie.insert(keys.data()[k]);
            }
            return to_numpy(std::move(out));
          },
          "keys"_a)
      .def(
          "find",
          [](const FeatureTrie& trie, In<std::uint64_t> keys) {
            std::vector<std::uint32_t> out(keys.size());
            for (std::size_t k = 0; k < keys.size(); ++k) out[k] = trie.find(keys.data()[k]);
            return to_numpy(std::move(out));
          },
          "keys"_a);
  nb::class_<KeptCounts>(m, "KeptCounts")
      .def(nb::init<std::int64_t>(), "most_bytes"_a)
      .def("__len__", &KeptCounts::size)
      .def_prop_ro("n_bytes", &KeptCounts::n_bytes)
      .def_prop_ro("is_full", &KeptCounts::is_full);
  m.attr("MOST_KEPT_THRESHOLD") = KeptCounts::kMostThreshold;
  nb::class_<SlotGraphs>(m, "SlotGraphs")
      .def(
          "__init__",
          [](SlotGraphs* self, int kind, std::int32_t gap, Arrays arrays) {
            new (self)
                SlotGraphs(static_cast<SlotKind>(kind), gap,
                           {copied<std::int64_t>(arrays, "start"), copied<std::int32_t>(arrays, "n_starts"),
                            copied<std::int32_t>(arrays, "n_candidates"), copied<std::int32_t>(arrays, "slot"),
                            copied<std::uint32_t>(arrays, "atom"), copied<Mask>(arrays, "mask"),
                            copied<std::int32_t>(arrays, "first_child"), copied<std::int32_t>(arrays, "last_child"),
                            copied<std::int32_t>(arrays, "last_sibling"), copied<std::uint32_t>(arrays, "above")});
          },
          "kind"_a, "gap"_a, "arrays"_a)
      .def("__len__", &SlotGraphs::size)
      .def_prop_ro("n_bytes", &SlotGraphs::n_bytes);
  m.def(
      "arc_sets",
      [](const ArcUnions& sentences, int n_threads) {
        std::unique_ptr<SlotGraphs> out;
        Gate gate;
        run_released(gate, n_threads, {},
                     [&](Team& team) { out = std::make_unique<SlotGraphs>(arc_sets(sentences, team)); });
        return std::move(*out);
      },
      "sentences"_a, "n_threads"_a, "The atoms of all arcs of each sentence as a set.");
  m.def(
      "count_occurrences",
      [](In<std::uint64_t> keys, In<std::int64_t> start, double threshold, std::int64_t memory, std::string folder,
         int n_threads) {
        Counted found;
        Gate gate;
        counting(gate, n_threads, {}, [&](Team& team) {
          OccurrenceCounter counter(team.size(), memory, folder);
          constexpr std::int64_t kRun = 64;  // examples of a task
          const std::int64_t n = std::ssize(view(start)) - 1;
          team.run((n + kRun - 1) / kRun, [&](std::int64_t task, int worker) {
            for (std::int64_t k = task * kRun; k < std::min(n, (task + 1) * kRun); ++k) {
              counter.begin(worker, k);
              for (std::int64_t at = start.data()[k]; at < start.data()[k + 1]; ++at) {
                counter.add(worker, keys.data()[at], OccurrenceCounter::kPlus);
              }
            }
          });
          found = counter.count(team, threshold);
        });
        return as_dict({std::move(found)});
      },
      "keys"_a, "start"_a, "threshold"_a, "memory"_a, "folder"_a, "n_threads"_a,
      "In how many examples each key of 62 bits is, for keys in more than `threshold` of them.");
  m.def(
      "filter_occurrences",
      [](In<std::uint64_t> keys, int threshold, std::int64_t memory) {
        std::vector<std::uint8_t> passed(keys.size(), 0);
        {
          nb::gil_scoped_release release;
          BlockedFilter filter(memory, threshold);
          filter.add_batch(view(keys), [&](std::size_t k) { passed[k] = 1; });
        }
        return to_numpy(std::move(passed));
      },
      "keys"_a, "threshold"_a, "memory"_a, "Which keys a filter lets pass, one after the other.");
  m.def(
      "open_parts",
      [](const FeatureTrie& trie, int kind, In<std::uint32_t> top, In<std::uint8_t> needed, int n_threads) {
        std::vector<std::uint8_t> open(trie.size(), 0);
        std::int64_t n_lost = 0;
        Gate gate;
        run_released(gate, n_threads, {}, [&](Team& team) {
          const auto own = kind < 0 ? SlotKind::kSets : static_cast<SlotKind>(kind);
          n_lost = open_parts(trie, kind < 0, own, view(top), view(needed), open, team);
        });
        return std::make_pair(to_numpy(std::move(open)), n_lost);
      },
      "trie"_a, "kind"_a, "top"_a, "needed"_a, "n_threads"_a);
  m.def(
      "first_features",
      [](const FeatureTrie& trie, std::int64_t n_atoms, In<std::uint8_t> open) {
        return to_numpy(first_features(trie, n_atoms, view(open)));
      },
      "trie"_a, "n_atoms"_a, "open"_a);
  nb::class_<RankedFeatures> ranked(m, "RankedFeatures");
  bind_extraction<ArcUnions>(ranked);
  bind_extraction<SlotGraphs>(ranked);
  ranked.def("__len__", &RankedFeatures::size)
      .def_prop_ro("is_whole", &RankedFeatures::is_whole)
      .def_prop_ro(
          "n_bytes",
          [](const RankedFeatures& self) {
            return to_numpy(std::vector<std::int64_t>(self.n_bytes().begin(), self.n_bytes().end()));
          },
          nb::rv_policy::move)
      .def_prop_ro("n_features", &RankedFeatures::n_features)
      .def(
          "scores",
          [](const RankedFeatures& self, In<float> weight, int n_threads) {
            std::vector<double> out;
            Gate gate;
            run_released(gate, n_threads, {}, [&](Team& team) { out = self.scores(view(weight), team); });
            return to_numpy(std::move(out));
          },
          "weight"_a, "n_threads"_a);
  nb::class_<RankingLearner>(m, "RankingLearner")
      .def(
          "__init__",
          [](RankingLearner* self, std::int64_t n_features, int loss, double margin, double step, double l1,
             double l2) {
            new (self) RankingLearner(n_features, {static_cast<RankingLoss>(loss), margin, step, l1, l2});
          },
          "n_features"_a, "loss"_a, "margin"_a, "step"_a, "l1"_a, "l2"_a)
      .def(
          "run_pass",
          [](RankingLearner& self, const RankedFeatures& features, In<std::int64_t> order, In<std::int64_t> start,
             In<std::int32_t> target, In<double> base, In<double> cost, Progress progress) {
            std::int64_t out = 0;
            Gate gate;
            run_released(gate, 1, progress, [&](Team& team) {
              out = self.pass(features, view(order), view(start), view(target), view(base), view(cost), team);
            });
            return out;
          },
          "features"_a, "order"_a, "start"_a, "target"_a, "base"_a, "cost"_a, "progress"_a)
      .def("weights", [](const RankingLearner& self) { return to_numpy(self.weights()); })
      .def("averaged", [](const RankingLearner& self) { return to_numpy(self.averaged()); });
  bind_mining<ArcUnions>(m);
  bind_mining<SlotGraphs>(m);
}

}  // namespace espalier
