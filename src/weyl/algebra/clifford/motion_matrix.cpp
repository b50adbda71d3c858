#include "weyl/algebra/clifford/motion_matrix.h"

#include <cmath>

#include "weyl/algebra/clifford/multivector.h"
#include "weyl/core/check.h"

namespace weyl::clifford {

std::array<double, 256> motion_matrix(std::span<const double, 9> rotation,
                                      std::span<const double, 3> translation) {
  const auto& R = rotation;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const double product = R[3 * i] * R[3 * j] + R[3 * i + 1] * R[3 * j + 1] + R[3 * i + 2] * R[3 * j + 2];
      require(std::abs(product - (i == j ? 1 : 0)) <= 1e-6,
              "motion_matrix: multivectors move by orthogonal matrices, to 1e-6; rows ", i, " and ", j,
              " have the scalar product ", product);
    }
  }
  return affine_matrix(rotation, translation);
}

std::array<double, 256> affine_matrix(std::span<const double, 9> planes,
                                      std::span<const double, 3> translation) {
  std::array<Multivector<double>, components> images;
  images[one] = blade(one, 1.0);
  images[e0] = blade(e0, 1.0);
  for (int axis = 0; axis < 3; ++axis) {
    Multivector<double> plane = zero<double>();
    for (int i = 0; i < 3; ++i) {
      plane[e1 + i] = planes[3 * i + axis];
      plane[e0] -= translation[i] * planes[3 * i + axis];
    }
    images[e1 + axis] = plane;
  }
  // Every further blade is a vector ^ a blade that stands before it.
  for (const Term& term : outer_terms) {
    if (grade_of[term.left] == 1 && grade_of[term.right] >= 1) {
      images[term.out] = scaled<double>(term.sign, outer_product(images[term.left], images[term.right]));
    }
  }

  std::array<double, 256> matrix;
  for (int j = 0; j < components; ++j) {
    for (int i = 0; i < components; ++i) {
      matrix[components * i + j] = images[j][i];
    }
  }
  return matrix;
}

}  // namespace weyl::clifford
