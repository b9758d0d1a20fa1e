// The bindings of smoothed partial trees.
#include "kernels/smoothed_partial_tree.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/bindings.hpp"

namespace espalier {

using namespace nb::literals;

namespace {

// The ids of the labels that have a number, by it.
std::vector<std::int32_t> labels_of(const SmoothedPattern& pattern, const std::vector<std::int32_t>& number) {
  std::vector<std::int32_t> out;
  for (std::size_t slot = 0; slot < number.size(); ++slot) {
    if (number[slot] < 0) continue;
    out.resize(std::max<std::size_t>(out.size(), number[slot] + 1));
    out[number[slot]] = pattern.labels[slot];
  }
  return out;
}

}  // namespace

void bind_smoothed_partial_tree(nb::module_& m) {
  bind_plan<SmoothedTreePlan>(m, "SmoothedTreePlan")
      .def(
          "__init__",
          [](SmoothedTreePlan* self, Arrays a, std::optional<Arrays> b, bool per_tree, bool soft_labels) {
            make_plan(a, b, [&](const ForestView& rows, const ForestView* columns, Listener listener) {
              new (self) SmoothedTreePlan(rows, columns, per_tree, soft_labels, std::move(listener));
            });
          },
          "a"_a, "b"_a, "per_tree"_a, "soft_labels"_a)
      .def_prop_ro("row_labels",
                   [](const SmoothedTreePlan& self) { return labels_of(self.pattern(), self.pattern().row_label); })
      .def_prop_ro("column_labels",
                   [](const SmoothedTreePlan& self) { return labels_of(self.pattern(), self.pattern().column_label); })
      .def_prop_ro("row_words", [](const SmoothedTreePlan& self) { return self.pattern().rows.words; })
      .def_prop_ro("column_words", [](const SmoothedTreePlan& self) { return self.pattern().cols().words; })
      .def_prop_ro("is_symmetric", [](const SmoothedTreePlan& self) { return self.pattern().symmetric; })
      .def_prop_ro("table_bytes", &SmoothedTreePlan::table_bytes)
      .def(
          "link",
          [](SmoothedTreePlan& self, ConstMatrix labels, ConstMatrix word_labels, ConstMatrix label_words) {
            nb::gil_scoped_release release;
            const Entered entered(self.gate());
            if (!self.pattern().is_linked()) self.link({labels.data(), word_labels.data(), label_words.data()});
          },
          "labels"_a, "word_labels"_a, "label_words"_a)
      .def("matrix_bytes", &SmoothedTreePlan::matrix_bytes)
      .def("pull_back_bytes", &SmoothedTreePlan::pull_back_bytes)
      .def(
          "matrix",
          [](SmoothedTreePlan& self, In<double> decay, In<double> depth_decay, double mix, ConstMatrix words,
             ConstMatrix labels, ConstMatrix word_labels, ConstMatrix label_words, int n_threads, Progress progress,
             Matrix out) {
            const SmoothedSettings settings{decay.data(),       depth_decay.data(), mix, words.data(), labels.data(),
                                            word_labels.data(), label_words.data()};
            bool finite = true;
            run_released(self.gate(), n_threads, progress,
                         [&](Team& team) { finite = self.matrix(settings, team, out.data()); });
            return finite;
          },
          "decay"_a, "depth_decay"_a, "mix"_a, "words"_a, "labels"_a, "word_labels"_a, "label_words"_a, "n_threads"_a,
          "progress"_a, "out"_a)
      .def(
          "pull_back",
          [](SmoothedTreePlan& self, In<double> decay, In<double> depth_decay, double mix, ConstMatrix words,
             ConstMatrix labels, ConstMatrix word_labels, ConstMatrix label_words, ConstMatrix cotangent, int n_threads,
             Progress progress, Vector decay_bar, Vector depth_decay_bar, Vector mix_bar) {
            const SmoothedSettings settings{decay.data(),       depth_decay.data(), mix, words.data(), labels.data(),
                                            word_labels.data(), label_words.data()};
            run_released(self.gate(), n_threads, progress, [&](Team& team) {
              self.pull_back(settings, cotangent.data(), team, decay_bar.data(), depth_decay_bar.data(),
                             mix_bar.data());
            });
          },
          "decay"_a, "depth_decay"_a, "mix"_a, "words"_a, "labels"_a, "word_labels"_a, "label_words"_a, "cotangent"_a,
          "n_threads"_a, "progress"_a, "decay_bar"_a, "depth_decay_bar"_a, "mix_bar"_a);
}

}  // namespace espalier
