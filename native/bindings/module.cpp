// The module espalier._core. The files of this folder alone know Python: arrays in, arrays out, errors by name.
#include "bindings/bindings.hpp"

using namespace espalier;
using namespace nb::literals;

NB_MODULE(_core, m) {
  // Objects that a program still holds when the interpreter ends are no leak worth a page of warnings.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled loops of Espalier.";
  m.def(
      "set_patience", [](int microseconds) { return Team::patience.exchange(microseconds); }, "microseconds"_a,
      "How long a call lasts before each further thread joins it; returns what was set before. 0: all join at once.");
  bind_corpus(m);
  bind_subset_tree(m);
  bind_partial_tree(m);
  bind_smoothed_partial_tree(m);
  bind_sequences(m);
  bind_spaces(m);
  bind_gp(m);
  bind_parsing(m);
  bind_dependencies(m);
  bind_rerank(m);
  bind_selection(m);
}
