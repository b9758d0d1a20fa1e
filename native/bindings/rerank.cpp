// Bindings of what rerankers use.
#include "bindings/bindings.hpp"
#include "rerank/compressed_trees.hpp"

namespace espalier {

using namespace nb::literals;

namespace {

// What a sum of trees says about itself, when nobody is changing it.
template <auto Count>
std::int64_t counted(const CompressedTrees& self) {
  nb::gil_scoped_release release;
  const Entered entered(self.gate());
  return (self.*Count)();
}

}  // namespace

void bind_rerank(nb::module_& m) {
  nb::class_<CompressedTrees>(m, "CompressedTrees")
      .def(
          "__init__",
          [](CompressedTrees* self, In<double> decay, In<double> frontier, double leaf, std::int32_t max_depth) {
            CompressedWeights weights;
            weights.decay.assign(decay.data(), decay.data() + decay.size());
            weights.frontier.assign(frontier.data(), frontier.data() + frontier.size());
            weights.leaf = leaf;
            weights.max_depth = max_depth;
            new (self) CompressedTrees(std::move(weights));
          },
          "decay"_a, "frontier"_a, "leaf"_a, "max_depth"_a)
      .def(
          "add",
          [](CompressedTrees& self, Arrays forest, std::int64_t tree, double coefficient) {
            std::vector<nb::object> kept;
            const ForestView view = view_of(forest, kept);
            nb::gil_scoped_release release;  // or this would wait for one who waits for the interpreter
            const Entered entered(self.gate());
            self.add(view, tree, coefficient);
          },
          "forest"_a, "tree"_a, "coefficient"_a)
      .def(
          "scores",
          [](CompressedTrees& self, Arrays forest, std::int64_t first, std::int64_t last, Vector out) {
            std::vector<nb::object> kept;
            const ForestView view = view_of(forest, kept);
            run_released(self.gate(), 1, {}, [&](Team& team) {
              Pace pace(team, 0);
              self.scores(view, first, last, pace, out.data());
            });
          },
          "forest"_a, "first"_a, "last"_a, "out"_a)
      .def(
          "set_labels",
          [](CompressedTrees& self, In<double> decay, In<double> frontier) {
            std::vector<double> decays(decay.data(), decay.data() + decay.size());
            std::vector<double> frontiers(frontier.data(), frontier.data() + frontier.size());
            nb::gil_scoped_release release;
            const Entered entered(self.gate());
            self.set_labels(std::move(decays), std::move(frontiers));
          },
          "decay"_a, "frontier"_a)
      .def_prop_ro("n_subtrees",
                   [](const CompressedTrees& self) { return counted<&CompressedTrees::n_subtrees>(self); })
      .def_prop_ro("n_bytes", [](const CompressedTrees& self) { return counted<&CompressedTrees::n_bytes>(self); })
      .def_prop_ro("n_bytes_in_all",
                   [](const CompressedTrees& self) { return counted<&CompressedTrees::n_bytes_in_all>(self); });
}

}  // namespace espalier
