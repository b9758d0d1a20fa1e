// Bindings of subset trees.
#include "kernels/subset_tree.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "kernels/subset_tree_self.hpp"

namespace espalier {

using namespace nb::literals;

void bind_subset_tree(nb::module_& m) {
  bind_plan<SubsetTreePlan>(m, "SubsetTreePlan")
      .def(
          "__init__",
          [](SubsetTreePlan* self, Arrays a, std::optional<Arrays> b, bool identity, bool leaves, bool per_tree) {
            make_plan(a, b, [&](const ForestView& rows, const ForestView* columns, Listener listener) {
              new (self) SubsetTreePlan(rows, columns, PatternOptions{identity, leaves, per_tree}, std::move(listener));
            });
          },
          "a"_a, "b"_a, "identity"_a, "leaves"_a, "per_tree"_a)
      .def("matrix_bytes", &SubsetTreePlan::matrix_bytes, "max_depth"_a)
      .def("pull_back_bytes", &SubsetTreePlan::pull_back_bytes, "max_depth"_a)
      .def(
          "matrix",
          [](SubsetTreePlan& self, In<double> decay, In<double> frontier, int max_depth, int n_threads,
             Progress progress, Matrix out) {
            bool finite = true;
            run_released(self.gate(), n_threads, progress, [&](Team& team) {
              finite = self.matrix(decay.data(), frontier.data(), max_depth, team, out.data());
            });
            return finite;
          },
          "decay"_a, "frontier"_a, "max_depth"_a, "n_threads"_a, "progress"_a, "out"_a)
      .def(
          "pull_back",
          [](SubsetTreePlan& self, In<double> decay, In<double> frontier, int max_depth, ConstMatrix cotangent,
             int n_threads, Progress progress, Vector decay_bar, Vector frontier_bar) {
            run_released(self.gate(), n_threads, progress, [&](Team& team) {
              self.pull_back(decay.data(), frontier.data(), max_depth, cotangent.data(), team, decay_bar.data(),
                             frontier_bar.data());
            });
          },
          "decay"_a, "frontier"_a, "max_depth"_a, "cotangent"_a, "n_threads"_a, "progress"_a, "decay_bar"_a,
          "frontier_bar"_a);
  m.def(
      "subset_self",
      [](Arrays arrays, In<double> decay, In<double> frontier, double leaf, bool identity, std::int64_t memory,
         int n_threads, Progress progress, Vector out) {
        std::vector<nb::object> kept;
        const ForestView forest = view_of(arrays, kept);
        Gate gate;
        bool fits = true;
        run_released(gate, n_threads, progress, [&](Team& team) {
          fits = subset_self(forest, {decay.data(), frontier.data(), leaf, identity}, memory, team, out.data());
        });
        return fits;
      },
      "forest"_a, "decay"_a, "frontier"_a, "leaf"_a, "identity"_a, "memory"_a, "n_threads"_a, "progress"_a, "out"_a);
}

}  // namespace espalier
