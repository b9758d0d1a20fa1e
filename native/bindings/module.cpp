// The files of bindings alone know Python: arrays in, arrays out, errors by name.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "corpus/forest_check.hpp"
#include "corpus/intern.hpp"
#include "corpus/vocabulary.hpp"
#include "kernels/partial_tree.hpp"
#include "kernels/subset_tree.hpp"
#include "kernels/subset_tree_self.hpp"
#include "structures/brackets.hpp"

using namespace espalier;
using namespace nb::literals;

namespace {

nb::object bracket_error;

std::string_view utf8(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!data) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

// Raises BracketError(message, position in characters, index of the text).
[[noreturn]] void raise_bracket_error(const BracketError& error, std::string_view text, std::int64_t index) {
  std::int64_t position = 0;
  for (std::size_t k = 0; k < std::min(error.position, text.size()); ++k) {
    position += (static_cast<unsigned char>(text[k]) & 0xC0) != 0x80;
  }
  PyErr_SetObject(bracket_error.ptr(), nb::make_tuple(error.what(), position, index).ptr());
  throw nb::python_error();
}

// For work that holds the interpreter's lock.
Listener signals() {
  return Listener([] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
}

void bind_structures(nb::module_& m) {
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(nb::init<>())
      .def(
          "add", [](Vocabulary& self, nb::str label) { return self.add(utf8(label)); }, "label"_a)
      .def(
          "find", [](const Vocabulary& self, nb::str label) { return self.find(utf8(label)); }, "label"_a)
      .def(
          "label", [](const Vocabulary& self, std::int32_t id) { return self.label(id); }, "id"_a)
      .def("extends", &Vocabulary::extends, "other"_a)
      .def("__len__", &Vocabulary::size);
  m.def("set_hash_seed", [](std::uint64_t seed) { hash_seed() = seed; }, "seed"_a);
  m.def(
      "extend_vocabulary",
      [](std::shared_ptr<Vocabulary> base) {
        return std::make_shared<Vocabulary>(std::shared_ptr<const Vocabulary>(base));
      },
      "base"_a);

  m.def(
      "parse_brackets",
      [](nb::str text) {
        Vocabulary vocabulary;
        const std::string_view view = utf8(text);
        try {
          PostOrder nodes = post_order(view, vocabulary, signals());
          nb::list labels;
          for (std::int32_t id = 0; id < vocabulary.size(); ++id) labels.append(vocabulary.label(id));
          return nb::make_tuple(labels, to_numpy(std::move(nodes.label)), to_numpy(std::move(nodes.n_children)),
                                to_numpy(std::move(nodes.tree_end)));
        } catch (const BracketError& error) {
          raise_bracket_error(error, view, 0);
        }
      },
      "text"_a);

  m.def(
      "forest_fault",
      [](nb::dict arrays, std::int64_t n_labels) {
        std::vector<nb::object> kept;
        ForestParts parts;
        parts.label = span_of<std::int32_t>(arrays, "label", kept);
        parts.height = span_of<std::int32_t>(arrays, "height", kept);
        parts.child = span_of<std::int32_t>(arrays, "child", kept);
        parts.root = span_of<std::int32_t>(arrays, "root", kept);
        parts.tree_subtree = span_of<std::int32_t>(arrays, "tree_subtree", kept);
        parts.tree_count = span_of<std::int32_t>(arrays, "tree_count", kept);
        parts.child_start = span_of<std::int64_t>(arrays, "child_start", kept);
        parts.tree_start = span_of<std::int64_t>(arrays, "tree_start", kept);
        nb::gil_scoped_release release;
        return forest_fault(parts, n_labels);
      },
      "arrays"_a, "n_labels"_a);

  nb::class_<Interner>(m, "Interner")
      .def(
          "__init__", [](Interner* self, Vocabulary& vocabulary) { new (self) Interner(vocabulary, signals()); },
          nb::keep_alive<1, 2>(), "vocabulary"_a)
      .def(
          "add_texts",
          [](Interner& self, nb::list texts) {
            std::int64_t index = 0;
            for (nb::handle text : texts) {
              const std::string_view view = utf8(text);
              try {
                const std::int64_t n = self.add_text(view);
                if (n == 0) throw BracketError("there is no tree in this text", 0);
                if (n > 1) throw BracketError("more than one tree stands in this text", 0);
              } catch (const BracketError& error) {
                raise_bracket_error(error, view, index);
              }
              ++index;
            }
          },
          "texts"_a)
      .def(
          "add_text",
          [](Interner& self, nb::str text) {
            const std::string_view view = utf8(text);
            try {
              return self.add_text(view);
            } catch (const BracketError& error) {
              raise_bracket_error(error, view, 0);
            }
          },
          "text"_a)
      .def("add_missing", &Interner::add_missing)
      .def(
          "add_subtrees",
          [](Interner& self, In<std::int32_t> label, In<std::int64_t> child_start, In<std::int32_t> child) {
            return to_numpy(self.add_subtrees(label.data(), child_start.data(), child.data(),
                                              static_cast<std::int64_t>(label.size())));
          },
          "label"_a, "child_start"_a, "child"_a)
      .def(
          "add_roots",
          [](Interner& self, In<std::int32_t> roots) {
            for (std::size_t t = 0; t < roots.size(); ++t) {
              if (roots.data()[t] < 0) {
                self.add_missing();
              } else {
                self.add_root(roots.data()[t]);
              }
            }
          },
          "roots"_a)
      .def("finish", [](Interner& self) {
        ForestArrays arrays = self.finish();
        nb::dict out;
        out["label"] = to_numpy(std::move(arrays.label));
        out["height"] = to_numpy(std::move(arrays.height));
        out["child_start"] = to_numpy(std::move(arrays.child_start));
        out["child"] = to_numpy(std::move(arrays.child));
        out["root"] = to_numpy(std::move(arrays.root));
        out["tree_start"] = to_numpy(std::move(arrays.tree_start));
        out["tree_subtree"] = to_numpy(std::move(arrays.tree_subtree));
        out["tree_count"] = to_numpy(std::move(arrays.tree_count));
        return out;
      });
}

void bind_subset_tree(nb::module_& m) {
  bind_plan<SubsetTreePlan>(m, "SubsetTreePlan")
      .def(
          "__init__",
          [](SubsetTreePlan* self, nb::dict a, nb::object b, bool identity, bool leaves, bool per_tree) {
            make_plan(a, b, [&](const ForestView& rows, const ForestView* columns, Listener listener) {
              new (self) SubsetTreePlan(rows, columns, PatternOptions{identity, leaves, per_tree}, std::move(listener));
            });
          },
          "a"_a, "b"_a.none(), "identity"_a, "leaves"_a, "per_tree"_a)
      .def("matrix_bytes", &SubsetTreePlan::matrix_bytes, "max_depth"_a)
      .def("pull_back_bytes", &SubsetTreePlan::pull_back_bytes, "max_depth"_a)
      .def(
          "matrix",
          [](SubsetTreePlan& self, In<double> decay, In<double> frontier, int max_depth, int n_threads,
             nb::object progress, Matrix out) {
            bool finite = true;
            run_released(self.gate(), n_threads, progress, [&](Team& team) {
              finite = self.matrix(decay.data(), frontier.data(), max_depth, team, out.data());
            });
            return finite;
          },
          "decay"_a, "frontier"_a, "max_depth"_a, "n_threads"_a, "progress"_a.none(), "out"_a)
      .def(
          "pull_back",
          [](SubsetTreePlan& self, In<double> decay, In<double> frontier, int max_depth, ConstMatrix cotangent,
             int n_threads, nb::object progress, Vector decay_bar, Vector frontier_bar) {
            run_released(self.gate(), n_threads, progress, [&](Team& team) {
              self.pull_back(decay.data(), frontier.data(), max_depth, cotangent.data(), team, decay_bar.data(),
                             frontier_bar.data());
            });
          },
          "decay"_a, "frontier"_a, "max_depth"_a, "cotangent"_a, "n_threads"_a, "progress"_a.none(), "decay_bar"_a,
          "frontier_bar"_a);
  m.def(
      "subset_self",
      [](nb::dict arrays, In<double> decay, In<double> frontier, double leaf, bool identity, std::int64_t memory,
         int n_threads, nb::object progress, Vector out) {
        std::vector<nb::object> kept;
        const ForestView forest = view_of(arrays, kept);
        Gate gate;
        bool fits = true;
        run_released(gate, n_threads, progress, [&](Team& team) {
          fits = subset_self(forest, {decay.data(), frontier.data(), leaf, identity}, memory, team, out.data());
        });
        return fits;
      },
      "forest"_a, "decay"_a, "frontier"_a, "leaf"_a, "identity"_a, "memory"_a, "n_threads"_a, "progress"_a.none(),
      "out"_a);
}

void bind_partial_tree(nb::module_& m) {
  bind_plan<PartialTreePlan>(m, "PartialTreePlan")
      .def(
          "__init__",
          [](PartialTreePlan* self, nb::dict a, nb::object b, bool per_tree) {
            make_plan(a, b, [&](const ForestView& rows, const ForestView* columns, Listener listener) {
              new (self) PartialTreePlan(rows, columns, per_tree, std::move(listener));
            });
          },
          "a"_a, "b"_a.none(), "per_tree"_a)
      .def("matrix_bytes", &PartialTreePlan::matrix_bytes)
      .def("pull_back_bytes", &PartialTreePlan::pull_back_bytes)
      .def(
          "matrix",
          [](PartialTreePlan& self, In<double> decay, In<double> depth_decay, int n_threads, nb::object progress,
             Matrix out) {
            bool finite = true;
            run_released(self.gate(), n_threads, progress,
                         [&](Team& team) { finite = self.matrix(decay.data(), depth_decay.data(), team, out.data()); });
            return finite;
          },
          "decay"_a, "depth_decay"_a, "n_threads"_a, "progress"_a.none(), "out"_a)
      .def(
          "pull_back",
          [](PartialTreePlan& self, In<double> decay, In<double> depth_decay, ConstMatrix cotangent, int n_threads,
             nb::object progress, Vector decay_bar, Vector depth_decay_bar) {
            run_released(self.gate(), n_threads, progress, [&](Team& team) {
              self.pull_back(decay.data(), depth_decay.data(), cotangent.data(), team, decay_bar.data(),
                             depth_decay_bar.data());
            });
          },
          "decay"_a, "depth_decay"_a, "cotangent"_a, "n_threads"_a, "progress"_a.none(), "decay_bar"_a,
          "depth_decay_bar"_a);
}

}  // namespace

NB_MODULE(_core, m) {
  // Objects that a program still holds when the interpreter ends are no leak worth a page of warnings.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled loops of Espalier.";
  bracket_error = nb::steal(PyErr_NewException("espalier._core.BracketError", PyExc_ValueError, nullptr));
  m.attr("BracketError") = bracket_error;
  m.def(
      "set_patience", [](int microseconds) { return Team::patience.exchange(microseconds); }, "microseconds"_a,
      "How long a call lasts before each further thread joins it; returns what was set before. 0: all join at once.");
  bind_structures(m);
  bind_tiled(m);
  bind_subset_tree(m);
  bind_sequences(m);
  bind_parsing(m);
  bind_tagger(m);
  bind_rerank(m);
  bind_partial_tree(m);
  bind_smoothed_tree(m);
  bind_fragments(m);
}
