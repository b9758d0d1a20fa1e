// What the files of bindings share: arrays in and out, forests as views, work without the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "corpus/forest_view.hpp"
#include "jobs/gate.hpp"
#include "jobs/team.hpp"
#include "kernels/pattern_bytes.hpp"

namespace espalier {

namespace nb = nanobind;

template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Vector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Types that Python has and C++ has not, as the stubs of the module show them.
struct AnyArray {};
template <class... T>
using Tuple = nb::typed<nb::tuple, T...>;
template <class T>
using List = nb::typed<nb::list, T>;
using Arrays = nb::typed<nb::dict, nb::str, AnyArray>;
using Settings = nb::typed<nb::dict, nb::str, nb::any>;  // arrays and numbers
using Progress = std::optional<nb::typed<nb::callable, nb::object(double)>>;

template <class T, class Allocator>
Out<T> to_numpy(std::vector<T, Allocator>&& values) {
  using Values = std::vector<T, Allocator>;
  auto made = std::make_unique<Values>(std::move(values));  // until there is a capsule that deletes it
  T* data = made->data();
  nb::capsule owner(made.get(), [](void* p) noexcept { delete static_cast<Values*>(p); });
  const Values* kept = made.release();
  return Out<T>(data, {kept->size()}, owner);
}

template <class... T>
Tuple<Out<T>...> to_tuple(std::vector<T>&&... values) {
  return nb::make_tuple(to_numpy(std::move(values))...);
}

// Runs compiled work without the interpreter's lock; asks for signals and reports progress now and then.
template <class Work>
void run_released(Gate& gate, int n_threads, const Progress& progress, const Work& work) {
  std::exception_ptr raised;
  const auto poll = [&](double fraction) {
    nb::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (progress) (*progress)(fraction);
      return true;
    } catch (...) {
      raised = std::current_exception();
      return false;
    }
  };
  try {
    nb::gil_scoped_release release;
    const Entered entered(gate);
    Team team(n_threads, poll);
    work(team);
  } catch (const Interrupted&) {
    if (raised) std::rethrow_exception(raised);
    throw;
  }
  if (raised) std::rethrow_exception(raised);
}

template <class T>
std::span<const T> span_of(nb::dict arrays, const char* name, std::vector<nb::object>& kept) {
  auto array = nb::cast<In<T>>(arrays[name]);
  kept.push_back(nb::cast(array));
  return {array.data(), array.size()};
}

template <class T>
const T* array_of(nb::dict arrays, const char* name, std::vector<nb::object>& kept) {
  return span_of<T>(arrays, name, kept).data();
}

inline ForestView view_of(nb::dict arrays, std::vector<nb::object>& kept) {
  ForestView view{};
  view.n_subtrees = static_cast<std::int64_t>(nb::len(nb::object(arrays["label"])));
  view.n_trees = static_cast<std::int64_t>(nb::len(nb::object(arrays["tree_start"]))) - 1;
  view.label = array_of<std::int32_t>(arrays, "label", kept);
  view.height = array_of<std::int32_t>(arrays, "height", kept);
  view.child = array_of<std::int32_t>(arrays, "child", kept);
  view.child_start = array_of<std::int64_t>(arrays, "child_start", kept);
  view.tree_start = array_of<std::int64_t>(arrays, "tree_start", kept);
  view.tree_subtree = array_of<std::int32_t>(arrays, "tree_subtree", kept);
  view.tree_count = array_of<std::int32_t>(arrays, "tree_count", kept);
  return view;
}

// For work in one thread that does not hold the interpreter's lock.
inline Listener released_signals() {
  return Listener([] {
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
}

// Two forests (or one and None) as the compiled plans take them; they listen to signals while they are made.
template <class Make>
void make_plan(const Arrays& a, const std::optional<Arrays>& b, const Make& make) {
  std::vector<nb::object> kept;
  const ForestView rows = view_of(a, kept);
  ForestView columns{};
  if (b) columns = view_of(*b, kept);
  const ForestView* other = b ? &columns : nullptr;
  nb::gil_scoped_release release;
  make(rows, other, released_signals());
}

template <class Plan>
nb::class_<Plan> bind_plan(nb::module_& m, const char* name) {
  return nb::class_<Plan>(m, name)
      .def_prop_ro("labels", [](const Plan& self) { return self.pattern().labels; })
      .def_prop_ro("shape",
                   [](const Plan& self) -> Tuple<std::int64_t, std::int64_t> {
                     return nb::make_tuple(self.n_rows(), self.n_columns());
                   })
      .def_prop_ro("n_pairs", [](const Plan& self) { return self.pattern().n_pairs; })
      .def_prop_ro("pattern_bytes", [](const Plan& self) { return bytes_of(self.pattern()); })
      .def_prop_ro("n_buckets", [](const Plan& self) { return self.pattern().n_buckets; })
      .def("release", [](Plan& self) {
        nb::gil_scoped_release release;
        const Entered entered(self.gate());
        self.release();
      });
}

void bind_corpus(nb::module_& m);
void bind_subset_tree(nb::module_& m);
void bind_partial_tree(nb::module_& m);
void bind_smoothed_partial_tree(nb::module_& m);
void bind_sequences(nb::module_& m);
void bind_spaces(nb::module_& m);
void bind_parsing(nb::module_& m);
void bind_dependencies(nb::module_& m);
void bind_rerank(nb::module_& m);
void bind_selection(nb::module_& m);
void bind_gp(nb::module_& m);

}  // namespace espalier

template <>
struct nanobind::detail::type_caster<espalier::AnyArray> {
  static constexpr auto Name = const_name("numpy.typing.NDArray[typing.Any]");
};
