// Bindings of what rerankers use.
#include "bindings.hpp"
#include "compressed_trees.hpp"

namespace espalier {

using namespace nb::literals;

void bind_rerank(nb::module_& m) {
  nb::class_<CompressedTrees>(m, "CompressedTrees")
      .def(
          "__init__",
          [](CompressedTrees* self, In<double> decay, In<double> frontier, double leaf, std::int32_t max_depth) {
            SubsetWeights weights;
            weights.decay.assign(decay.data(), decay.data() + decay.size());
            weights.frontier.assign(frontier.data(), frontier.data() + frontier.size());
            weights.leaf = leaf;
            weights.max_depth = max_depth;
            new (self) CompressedTrees(std::move(weights));
          },
          "decay"_a, "frontier"_a, "leaf"_a, "max_depth"_a)
      .def(
          "add",
          [](CompressedTrees& self, nb::dict forest, std::int64_t tree, double coefficient) {
            std::vector<nb::object> kept;
            self.add(view_of(forest, kept), tree, coefficient);
          },
          "forest"_a, "tree"_a, "coefficient"_a)
      .def(
          "scores",
          [](CompressedTrees& self, nb::dict forest, std::int64_t first, std::int64_t last, Vector out) {
            std::vector<nb::object> kept;
            self.scores(view_of(forest, kept), first, last, out.data());
          },
          "forest"_a, "first"_a, "last"_a, "out"_a)
      .def(
          "set_labels",
          [](CompressedTrees& self, In<double> decay, In<double> frontier) {
            self.set_labels({decay.data(), decay.data() + decay.size()},
                            {frontier.data(), frontier.data() + frontier.size()});
          },
          "decay"_a, "frontier"_a)
      .def_prop_ro("n_subtrees", &CompressedTrees::n_subtrees)
      .def_prop_ro("n_bytes", &CompressedTrees::n_bytes)
      .def_prop_ro("n_bytes_in_all", &CompressedTrees::n_bytes_in_all);
}

}  // namespace espalier
