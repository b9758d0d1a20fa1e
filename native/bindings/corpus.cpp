// Bindings of corpora: vocabularies, the parser of brackets, the interner and the check of forests.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string_view>

#include "bindings/bindings.hpp"
#include "corpus/forest_check.hpp"
#include "corpus/intern.hpp"
#include "corpus/vocabulary.hpp"
#include "structures/brackets.hpp"

namespace espalier {

using namespace nb::literals;

namespace {

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
  // Looked up each time: an object kept here would outlive the interpreter.
  const nb::object type = nb::module_::import_("espalier._core").attr("BracketError");
  PyErr_SetObject(type.ptr(), nb::make_tuple(error.what(), position, index).ptr());
  throw nb::python_error();
}

// For work that holds the interpreter's lock.
Listener signals() {
  return Listener([] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
}

}  // namespace

void bind_corpus(nb::module_& m) {
  m.attr("BracketError") = nb::steal(PyErr_NewException("espalier._core.BracketError", PyExc_ValueError, nullptr));
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
      [](nb::str text) -> Tuple<List<nb::str>, Out<std::int32_t>, Out<std::int32_t>, Out<std::int64_t>> {
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
      [](Arrays arrays, std::int64_t n_labels) -> std::optional<std::string> {
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
        const char* fault = forest_fault(parts, n_labels);
        if (!fault) return {};
        return fault;
      },
      "arrays"_a, "n_labels"_a);

  nb::class_<Interner>(m, "Interner")
      .def(
          "__init__", [](Interner* self, Vocabulary& vocabulary) { new (self) Interner(vocabulary, signals()); },
          nb::keep_alive<1, 2>(), "vocabulary"_a)
      .def(
          "add_texts",
          [](Interner& self, List<nb::str> texts) {
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
        Arrays out;
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

}  // namespace espalier
