// Fragments: mining what weighs most, and matching many at once.
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "spaces/attribution.hpp"
#include "spaces/fragment_hashing.hpp"
#include "spaces/fragment_trie.hpp"
#include "spaces/partial_tree_mining.hpp"
#include "spaces/subset_tree_mining.hpp"

namespace espalier {

using namespace nb::literals;

namespace {

// A forest to be searched, and what a search tells about itself.
struct Miner {
  std::vector<nb::object> kept;  // keeps the arrays alive
  ForestView forest{};
  MiningCounts counts;
  Gate gate;

  explicit Miner(Arrays arrays) { forest = view_of(arrays, kept); }
  void reset() {
    counts.visited = counts.pruned = counts.kept = 0;
    counts.threshold = 0.0;
  }
};

// With its productions, ready to be searched with any masses.
struct SubsetMiner : Miner {
  Productions productions;

  explicit SubsetMiner(Arrays arrays) : Miner(arrays), productions(number_productions(forest)) {}
  SubsetSearch search(In<double> mass, In<double> decay, In<double> frontier, int max_depth, int max_size,
                      const double* count = nullptr) const {
    return {forest, productions, mass.data(), {decay.data(), frontier.data(), max_depth, max_size}, count};
  }
};

PartialWeights partial_weights(In<double> decay, In<double> depth_decay) {  // the last value is that of all leaves
  return {decay.data(), depth_decay.data(), decay.data()[decay.size() - 1], depth_decay.data()[depth_decay.size() - 1]};
}

struct PartialMiner : Miner {
  using Miner::Miner;
  PartialSearch search(In<double> mass, In<double> decay, In<double> depth_decay, int max_size,
                       const double* count = nullptr) const {
    return {forest, mass.data(), partial_weights(decay, depth_decay), max_size, count};
  }
};

Settings to_dict(Mined&& mined) {
  Settings out;
  out["weight"] = to_numpy(std::move(mined.weight));
  out["start"] = to_numpy(std::move(mined.start));
  out["code"] = to_numpy(std::move(mined.code));
  out["bound"] = mined.bound;
  out["complete"] = mined.complete;
  return out;
}

FragmentCodes codes_of(In<std::int64_t> production_start, In<std::int32_t> production_part, In<std::int64_t> start,
                       In<std::int32_t> code) {
  return {static_cast<std::int64_t>(production_start.size()) - 1,
          static_cast<std::int64_t>(start.size()) - 1,
          production_start.data(),
          start.data(),
          production_part.data(),
          code.data()};
}

void bind_trie(nb::module_& m) {
  nb::class_<FragmentTrie>(m, "FragmentTrie")
      .def(
          "__init__",
          [](FragmentTrie* self, In<std::int64_t> production_start, In<std::int32_t> production_part,
             In<std::int64_t> start, In<std::int32_t> code) {
            const FragmentCodes fragments = codes_of(production_start, production_part, start, code);
            nb::gil_scoped_release release;
            new (self) FragmentTrie(fragments);
          },
          "production_start"_a, "production_part"_a, "start"_a, "code"_a)
      .def(
          "match",
          [](const FragmentTrie& self, Arrays arrays, In<std::int32_t> label_of, int n_threads, Progress progress) {
            std::vector<nb::object> kept;
            const ForestView forest = view_of(arrays, kept);
            Gate gate;
            Matches matches;
            run_released(gate, n_threads, progress,
                         [&](Team& team) { matches = self.match(forest, label_of.data(), team); });
            return to_tuple(std::move(matches.start), std::move(matches.fragment));
          },
          "forest"_a, "label_of"_a, "n_threads"_a, "progress"_a)
      .def(
          "score",
          [](const FragmentTrie& self, Arrays arrays, In<std::int32_t> label_of, ConstMatrix weight, int n_threads,
             Progress progress, Matrix out) {
            std::vector<nb::object> kept;
            const ForestView forest = view_of(arrays, kept);
            Gate gate;
            run_released(gate, n_threads, progress, [&](Team& team) {
              self.score(forest, label_of.data(), weight.data(), static_cast<std::int64_t>(weight.shape(1)), team,
                         out.data());
            });
          },
          "forest"_a, "label_of"_a, "weight"_a, "n_threads"_a, "progress"_a, "out"_a);
}

void bind_partial_mining(nb::module_& m) {
  nb::class_<PartialMiner, Miner>(m, "PartialMiner")
      .def(nb::init<Arrays>(), "forest"_a)
      .def(
          "exact",
          [](PartialMiner& self, In<double> mass, In<double> decay, In<double> depth_decay, int max_size,
             std::int64_t n, std::int64_t max_visits, std::int64_t memory, int n_threads, Progress progress) {
            Mined mined;
            run_released(self.gate, n_threads, progress, [&](Team& team) {
              self.reset();
              mined = mine_partial(self.search(mass, decay, depth_decay, max_size), n, {max_visits, memory},
                                   self.counts, team);
            });
            return to_dict(std::move(mined));
          },
          "mass"_a, "decay"_a, "depth_decay"_a, "max_size"_a, "n"_a, "max_visits"_a, "memory"_a, "n_threads"_a,
          "progress"_a)
      .def(
          "local",
          [](PartialMiner& self, In<double> mass, In<double> decay, In<double> depth_decay, int max_size,
             In<double> count, std::int64_t n, std::int64_t max_visits, std::int64_t memory, int n_threads) {
            Mined mined;
            run_released(self.gate, n_threads, {}, [&](Team& team) {
              self.reset();
              mined = mine_partial(self.search(mass, decay, depth_decay, max_size, count.data()), n,
                                   {max_visits, memory}, self.counts, team);
            });
            return to_dict(std::move(mined));
          },
          "mass"_a, "decay"_a, "depth_decay"_a, "max_size"_a, "count"_a, "n"_a, "max_visits"_a, "memory"_a,
          "n_threads"_a);
  m.def(
      "match_partial",
      [](In<std::int64_t> start, In<std::int32_t> code, Arrays arrays, In<std::int32_t> label_of, In<double> decay,
         In<double> depth_decay, int n_threads, Progress progress) {
        std::vector<nb::object> kept;
        const ForestView forest = view_of(arrays, kept);
        const PartialCodes fragments{static_cast<std::int64_t>(start.size()) - 1, start.data(), code.data()};
        Gate gate;
        PartialMatches matches;
        run_released(gate, n_threads, progress, [&](Team& team) {
          matches = match_partial(fragments, forest, label_of.data(), partial_weights(decay, depth_decay), team);
        });
        return to_tuple(std::move(matches.start), std::move(matches.fragment), std::move(matches.weight));
      },
      "start"_a, "code"_a, "forest"_a, "label_of"_a, "decay"_a, "depth_decay"_a, "n_threads"_a, "progress"_a);
}

}  // namespace

void bind_spaces(nb::module_& m) {
  nb::class_<Miner>(m, "Miner")
      .def_prop_ro("n_visited", [](const Miner& self) { return self.counts.visited.load(); })
      .def_prop_ro("n_pruned", [](const Miner& self) { return self.counts.pruned.load(); })
      .def_prop_ro("n_kept", [](const Miner& self) { return self.counts.kept.load(); })
      .def_prop_ro("threshold", [](const Miner& self) { return self.counts.threshold.load(); });
  bind_trie(m);
  bind_partial_mining(m);
  m.def(
      "hash_fragments",
      [](Arrays arrays, In<std::uint64_t> label_hash, In<double> decay, In<double> frontier, int max_depth,
         int max_size) {
        std::vector<nb::object> kept;
        const ForestView forest = view_of(arrays, kept);
        const SubsetWeights weights{decay.data(), frontier.data(), max_depth, max_size};
        Gate gate;
        HashedFragments found;
        run_released(gate, 1, {},
                     [&](Team& team) { found = hash_fragments(forest, label_hash.data(), weights, team); });
        return to_tuple(std::move(found.start), std::move(found.hash), std::move(found.value));
      },
      "forest"_a, "label_hash"_a, "decay"_a, "frontier"_a, "max_depth"_a, "max_size"_a);
  m.def(
      "code_parents",
      [](In<std::int64_t> production_start, In<std::int32_t> production_part, In<std::int64_t> start,
         In<std::int32_t> code) {
        return to_numpy(code_parents(codes_of(production_start, production_part, start, code)));
      },
      "production_start"_a, "production_part"_a, "start"_a, "code"_a);
  nb::class_<SubsetMiner, Miner>(m, "SubsetMiner")
      .def(nb::init<Arrays>(), "forest"_a)
      .def_prop_ro("production_start", [](const SubsetMiner& self) { return self.productions.start; })
      .def_prop_ro("production_part", [](const SubsetMiner& self) { return self.productions.part; })
      .def(
          "exact",
          [](SubsetMiner& self, In<double> mass, In<double> decay, In<double> frontier, int max_depth, int max_size,
             std::int64_t n, std::int64_t max_visits, std::int64_t memory, int n_threads, Progress progress) {
            Mined mined;
            run_released(self.gate, n_threads, progress, [&](Team& team) {
              self.reset();
              mined = mine_exact(self.search(mass, decay, frontier, max_depth, max_size), n, {max_visits, memory},
                                 self.counts, team);
            });
            return to_dict(std::move(mined));
          },
          "mass"_a, "decay"_a, "frontier"_a, "max_depth"_a, "max_size"_a, "n"_a, "max_visits"_a, "memory"_a,
          "n_threads"_a, "progress"_a)
      .def(
          "local",
          [](SubsetMiner& self, In<double> mass, In<double> decay, In<double> frontier, int max_depth, int max_size,
             In<double> count, std::int64_t n, std::int64_t max_visits, std::int64_t memory) {
            Mined mined;
            run_released(self.gate, 1, {}, [&](Team& team) {
              self.reset();
              mined = mine_exact(self.search(mass, decay, frontier, max_depth, max_size, count.data()), n,
                                 {max_visits, memory}, self.counts, team);
            });
            return to_dict(std::move(mined));
          },
          "mass"_a, "decay"_a, "frontier"_a, "max_depth"_a, "max_size"_a, "count"_a, "n"_a, "max_visits"_a, "memory"_a)
      .def(
          "attribute",
          [](SubsetMiner& self, In<double> mass, In<double> decay, In<double> frontier, std::int32_t root,
             const std::vector<double>& point, const std::vector<double>& weight) {
            std::vector<double> shares;
            run_released(self.gate, 1, {}, [&](Team& team) {
              Pace pace(team, 0);
              shares = attribute_subset(self.search(mass, decay, frontier, 0, 0), root, point, weight, pace);
            });
            return to_numpy(std::move(shares));
          },
          "mass"_a, "decay"_a, "frontier"_a, "root"_a, "point"_a, "weight"_a)
      .def(
          "greedy",
          [](SubsetMiner& self, In<double> mass, In<double> decay, In<double> frontier, int max_depth, int max_size,
             std::int64_t n, std::int64_t max_expansions, Progress progress) {
            Mined mined;
            run_released(self.gate, 1, progress, [&](Team& team) {
              self.reset();
              mined = mine_greedy(self.search(mass, decay, frontier, max_depth, max_size), n, max_expansions,
                                  self.counts, team);
            });
            return to_dict(std::move(mined));
          },
          "mass"_a, "decay"_a, "frontier"_a, "max_depth"_a, "max_size"_a, "n"_a, "max_expansions"_a, "progress"_a);
}

}  // namespace espalier
