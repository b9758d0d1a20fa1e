// Bindings of partial trees.
#include "kernels/partial_tree.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"

namespace espalier {

using namespace nb::literals;

void bind_partial_tree(nb::module_& m) {
  bind_plan<PartialTreePlan>(m, "PartialTreePlan")
      .def(
          "__init__",
          [](PartialTreePlan* self, Arrays a, std::optional<Arrays> b, bool per_tree) {
            make_plan(a, b, [&](const ForestView& rows, const ForestView* columns, Listener listener) {
              new (self) PartialTreePlan(rows, columns, per_tree, std::move(listener));
            });
          },
          "a"_a, "b"_a, "per_tree"_a)
      .def("matrix_bytes", &PartialTreePlan::matrix_bytes)
      .def("pull_back_bytes", &PartialTreePlan::pull_back_bytes)
      .def(
          "matrix",
          [](PartialTreePlan& self, In<double> decay, In<double> depth_decay, int n_threads, Progress progress,
             Matrix out) {
            bool finite = true;
            run_released(self.gate(), n_threads, progress,
                         [&](Team& team) { finite = self.matrix(decay.data(), depth_decay.data(), team, out.data()); });
            return finite;
          },
          "decay"_a, "depth_decay"_a, "n_threads"_a, "progress"_a, "out"_a)
      .def(
          "pull_back",
          [](PartialTreePlan& self, In<double> decay, In<double> depth_decay, ConstMatrix cotangent, int n_threads,
             Progress progress, Vector decay_bar, Vector depth_decay_bar) {
            run_released(self.gate(), n_threads, progress, [&](Team& team) {
              self.pull_back(decay.data(), depth_decay.data(), cotangent.data(), team, decay_bar.data(),
                             depth_decay_bar.data());
            });
          },
          "decay"_a, "depth_decay"_a, "cotangent"_a, "n_threads"_a, "progress"_a, "decay_bar"_a, "depth_decay_bar"_a);
}

}  // namespace espalier
