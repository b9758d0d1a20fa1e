// Bindings of large matrices in pieces.
#include "bindings/bindings.hpp"
#include "gp/tiled.hpp"

namespace espalier {

using namespace nb::literals;

namespace {

// The function in a capsule of scipy's; Python has looked at its type.
template <class Function>
void take(Settings functions, const char* name, Function& out) {
  out = reinterpret_cast<Function>(nb::cast<nb::capsule>(functions[name]).data());
}

Blas blas_of(Settings functions) {
  Blas blas{};
  take(functions, "dgemm", blas.gemm);
  take(functions, "dsyrk", blas.syrk);
  take(functions, "dtrsm", blas.trsm);
  take(functions, "dtrmm", blas.trmm);
  take(functions, "dpotrf", blas.potrf);
  take(functions, "dlauum", blas.lauum);
  take(functions, "dtrtri", blas.trtri);
  return blas;
}

template <class Work>
int in_pieces(Settings functions, Matrix matrix, int n_threads, const Work& work) {
  const Blas blas = blas_of(functions);
  Gate gate;
  int info = 0;
  run_released(gate, n_threads, {},
               [&](Team& team) { info = work(blas, matrix.data(), static_cast<int>(matrix.shape(0)), team); });
  return info;
}

}  // namespace

void bind_gp(nb::module_& m) {
  m.def(
      "factorize_tiled",
      [](Settings functions, Matrix matrix, int n_threads) {
        return in_pieces(functions, matrix, n_threads, factorize_tiled);
      },
      "functions"_a, "matrix"_a, "n_threads"_a);
  m.def(
      "invert_factor_tiled",
      [](Settings functions, Matrix matrix, int n_threads) {
        return in_pieces(functions, matrix, n_threads, invert_factor_tiled);
      },
      "functions"_a, "matrix"_a, "n_threads"_a);
  m.def(
      "invert_tiled",
      [](Settings functions, Matrix matrix, int n_threads) {
        return in_pieces(functions, matrix, n_threads, invert_tiled);
      },
      "functions"_a, "matrix"_a, "n_threads"_a);
}

}  // namespace espalier
