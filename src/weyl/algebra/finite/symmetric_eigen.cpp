#include "weyl/algebra/finite/symmetric_eigen.h"

#include <cmath>

namespace weyl {
namespace {

// Columns (or rows) p and q turn by the angle of cosine c and sine s; `step` is from one entry to the next.
void turn_pair(DoubleDouble* p, DoubleDouble* q, int64_t n, int64_t step, DoubleDouble c, DoubleDouble s) {
  for (int64_t i = 0; i < n; ++i) {
    const DoubleDouble a = p[i * step], b = q[i * step];
    p[i * step] = c * a - s * b;
    q[i * step] = s * a + c * b;
  }
}

}  // namespace

std::vector<DoubleDouble> top_eigenvector(int64_t n, std::vector<DoubleDouble> matrix) {
  std::vector<DoubleDouble> vectors(n * n);  // as columns
  double size = 0;
  for (int64_t i = 0; i < n; ++i) {
    vectors[i * n + i] = 1;
    for (int64_t j = 0; j < n; ++j) {
      size += std::abs(matrix[i * n + j].high);
    }
  }
  for (bool turned = true; turned;) {
    turned = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const DoubleDouble off = matrix[p * n + q];
        if (std::abs(off.high) < 1e-29 * size) {
          continue;
        }
        turned = true;
        const DoubleDouble theta = (matrix[q * n + q] - matrix[p * n + p]) / (off * 2);
        const DoubleDouble root = abs(theta) + sqrt(theta * theta + 1);
        const DoubleDouble t = (theta.high < 0 ? DoubleDouble(-1) : DoubleDouble(1)) / root;
        const DoubleDouble c = DoubleDouble(1) / sqrt(t * t + 1), s = t * c;
        turn_pair(&matrix[p], &matrix[q], n, n, c, s);
        turn_pair(&matrix[p * n], &matrix[q * n], n, 1, c, s);
        turn_pair(&vectors[p], &vectors[q], n, n, c, s);
      }
    }
  }
  int64_t top = 0;
  for (int64_t i = 1; i < n; ++i) {
    top = matrix[i * n + i] > matrix[top * n + top] ? i : top;
  }
  std::vector<DoubleDouble> vector(n);
  for (int64_t i = 0; i < n; ++i) {
    vector[i] = vectors[i * n + top];
  }
  return vector;
}

}  // namespace weyl
