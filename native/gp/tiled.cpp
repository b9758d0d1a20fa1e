#include "gp/tiled.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace espalier {

namespace {

constexpr int kTile = 256;  // large enough for a BLAS to be fast, small enough to share

// The matrix as square tiles; those of the last row and column may be smaller.
class Tiles {
 public:
  Tiles(const Blas& blas, double* a, int n) : blas_(blas), a_(a), n_(n) {}

  int count() const { return (n_ + kTile - 1) / kTile; }
  int first(int tile) const { return std::min(tile * kTile, n_); }
  int size(int tile) const { return first(tile + 1) - first(tile); }
  double* at(int row_tile, int column_tile) const {
    return a_ + first(row_tile) + static_cast<std::int64_t>(first(column_tile)) * n_;
  }

  // c (m x n) += alpha * op(a) op(b), with k in the sum.
  void add(char op_a, char op_b, int m, int n, int k, double alpha, double* a, double* b, int stride_b,
           double* c) const {
    double one = 1.0;
    int stride = n_;
    if (m > 0 && n > 0 && k > 0) {
      blas_.gemm(&op_a, &op_b, &m, &n, &k, &alpha, a, &stride, b, &stride_b, &one, c, &stride);
    }
  }
  // The lower triangle of c (n x n) += alpha * a a^T, or a^T a where transposed.
  void add_square(char op, int n, int k, double alpha, double* a, double* c) const {
    char lower = 'L';
    double one = 1.0;
    int stride = n_;
    if (n > 0 && k > 0) blas_.syrk(&lower, &op, &n, &k, &alpha, a, &stride, &one, c, &stride);
  }
  void triangular(Blas::Triangular function, char side, char op, double alpha, double* triangle, int m, int n,
                  double* b) const {
    char lower = 'L', diagonal = 'N';
    int stride = n_;
    function(&side, &lower, &op, &diagonal, &m, &n, &alpha, triangle, &stride, b, &stride);
  }
  int whole(Blas::Factor function, int tile) const {
    char lower = 'L';
    int n = size(tile), stride = n_, info = 0;
    function(&lower, &n, at(tile, tile), &stride, &info);
    return info;
  }
  int invert(int tile) const {
    char lower = 'L', diagonal = 'N';
    int n = size(tile), stride = n_, info = 0;
    blas_.trtri(&lower, &diagonal, &n, at(tile, tile), &stride, &info);
    return info;
  }

  int stride() const { return n_; }

 private:
  const Blas& blas_;
  double* a_;
  int n_;
};

// L^-1 in place of L, from the last column of tiles to the first: below the diagonal, column j of the inverse is the
// inverse of what stands right of it, times the column, times the inverse of tile (j, j), with the sign turned.
int invert_factor(const Blas& blas, const Tiles& tiles, int n, Team& team) {
  const int count = tiles.count();
  std::vector<double> column;
  for (int j = count - 1; j >= 0; --j) {
    const int below = tiles.first(j + 1), rows = n - below, width = tiles.size(j);
    column.resize(static_cast<std::size_t>(rows) * width);
    for (int c = 0; c < width; ++c) {
      const double* from = tiles.at(0, j) + static_cast<std::int64_t>(c) * n + below;
      std::copy(from, from + rows, column.data() + static_cast<std::int64_t>(c) * rows);
    }
    team.run(count - 1 - j, [&](std::int64_t task, int) {
      const int i = count - 1 - static_cast<int>(task);  // the longest sums first
      double* tile = tiles.at(i, j);
      const int height = tiles.size(i);
      tiles.triangular(blas.trmm, 'L', 'N', 1.0, tiles.at(i, i), height, width, tile);
      tiles.add('N', 'N', height, width, tiles.first(i) - below, 1.0, tiles.at(i, j + 1), column.data(), rows, tile);
      tiles.triangular(blas.trsm, 'R', 'N', -1.0, tiles.at(j, j), height, width, tile);
    });
    if (const int info = tiles.invert(j)) return tiles.first(j) + info;
  }
  return 0;
}

}  // namespace

int factorize_tiled(const Blas& blas, double* a, int n, Team& team) {
  const Tiles tiles(blas, a, n);
  const int count = tiles.count();
  for (int k = 0; k < count; ++k) {
    if (const int info = tiles.whole(blas.potrf, k)) return tiles.first(k) + info;
    const int width = tiles.size(k), rest = count - 1 - k;
    team.run(rest, [&](std::int64_t task, int) {
      const int i = k + 1 + static_cast<int>(task);
      tiles.triangular(blas.trsm, 'R', 'T', 1.0, tiles.at(k, k), tiles.size(i), width, tiles.at(i, k));
    });
    std::vector<std::pair<int, int>> pairs;
    for (int j = k + 1; j < count; ++j) {
      for (int i = j; i < count; ++i) pairs.emplace_back(i, j);
    }
    team.run(std::ssize(pairs), [&](std::int64_t task, int) {
      const auto [i, j] = pairs[task];
      if (i == j) {
        tiles.add_square('N', tiles.size(i), width, -1.0, tiles.at(i, k), tiles.at(i, i));
      } else {
        tiles.add('N', 'T', tiles.size(i), tiles.size(j), width, -1.0, tiles.at(i, k), tiles.at(j, k), tiles.stride(),
                  tiles.at(i, j));
      }
    });
  }
  return 0;
}

int invert_factor_tiled(const Blas& blas, double* a, int n, Team& team) {
  return invert_factor(blas, Tiles(blas, a, n), n, team);
}

int invert_tiled(const Blas& blas, double* a, int n, Team& team) {
  const Tiles tiles(blas, a, n);
  if (const int info = invert_factor(blas, tiles, n, team)) return info;
  // The inverse is L^-T L^-1. Row i of tiles needs rows i and below of L^-1, which still stand there.
  for (int i = 0; i < tiles.count(); ++i) {
    const int height = tiles.size(i), below = n - tiles.first(i + 1);
    team.run(i, [&](std::int64_t task, int) {
      const int j = static_cast<int>(task), width = tiles.size(j);
      tiles.triangular(blas.trmm, 'L', 'T', 1.0, tiles.at(i, i), height, width, tiles.at(i, j));
      tiles.add('T', 'N', height, width, below, 1.0, tiles.at(i + 1, i), tiles.at(i + 1, j), tiles.stride(),
                tiles.at(i, j));
    });
    tiles.whole(blas.lauum, i);
    tiles.add_square('T', height, below, 1.0, tiles.at(i + 1, i), tiles.at(i, i));
  }
  return 0;
}

}  // namespace espalier
