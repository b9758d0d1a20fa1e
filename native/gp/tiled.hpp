// A large symmetric matrix factorized and inverted piece by piece, so that threads of a team can share the work.
// Every piece is the same whoever computes it: the bits do not depend on the number of threads. The pieces are
// computed by the BLAS that Python already has, whose functions are handed over as pointers.
#pragma once

#include <cstdint>

#include "jobs/team.hpp"

namespace espalier {

// As Fortran declares them: everything by address, matrices in columns.
struct Blas {
  using Gemm = void (*)(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*, double*, double*, int*);
  using Syrk = void (*)(char*, char*, int*, int*, double*, double*, int*, double*, double*, int*);
  using Triangular = void (*)(char*, char*, char*, char*, int*, int*, double*, double*, int*, double*, int*);
  using Factor = void (*)(char*, int*, double*, int*, int*);
  using Invert = void (*)(char*, char*, int*, double*, int*, int*);

  Gemm gemm;
  Syrk syrk;
  Triangular trsm, trmm;  // solve by, and multiply with, a triangular matrix
  Factor potrf, lauum;    // the Cholesky factor L, and L^T L
  Invert trtri;
};

// Puts the Cholesky factor in place of the lower triangle of `a`, n x n in columns; the upper one is not touched.
// Returns 0, or where the matrix is not positive definite.
int factorize_tiled(const Blas& blas, double* a, int n, Team& team);

// Puts the inverse of a Cholesky factor in its place, lower triangle only. Returns 0, or where the factor is singular.
int invert_factor_tiled(const Blas& blas, double* a, int n, Team& team);

// Puts the inverse in place of its Cholesky factor, lower triangle only. Returns 0, or where the factor is singular.
int invert_tiled(const Blas& blas, double* a, int n, Team& team);

}  // namespace espalier
