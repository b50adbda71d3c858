#include "weyl/algebra/finite/lifted_spectrum.h"

#include <cmath>

#include "weyl/core/check.h"

namespace weyl {
namespace {

// matrices (G, n, n): S.
LiftedSpectrum lifted_by(const FiniteGroup& group, const GroupSpectrum& spectrum, int64_t n,
                         const std::vector<double>& matrices) {
  const int64_t G = group.order();
  require(spectrum.order() == G, "lifted_spectrum: the spectrum must be of a group of ", G, " elements, got ",
          spectrum.order());
  LiftedSpectrum lifted{n, {}, std::vector<double>(G * n * n, 0.0)};
  for (size_t r = 0; r < spectrum.irreps().size(); ++r) {
    const auto& irrep = spectrum.irreps()[r];
    double common = 0;  // times the irrep is in S, times delta
    for (int64_t g = 0; g < G; ++g) {
      for (int64_t a = 0; a < n; ++a) {
        common += irrep.character[g] * matrices[(g * n + a) * n + a] / static_cast<double>(G);
      }
    }
    if (common < 0.5) {
      continue;
    }
    lifted.irreps.push_back(static_cast<int64_t>(r));
    const int64_t last = irrep.offset + irrep.multiplicity * irrep.dimension;
    for (int64_t c = irrep.offset; c < last; ++c) {
      for (int64_t a = 0; a < n; ++a) {
        for (int64_t b = 0; b < n; ++b) {
          DoubleDouble sum;
          for (int64_t g = 0; g < G; ++g) {
            sum += DoubleDouble::product(spectrum.transform()[g * G + c], matrices[(g * n + b) * n + a]);
          }
          lifted.coefficients[(c * n + a) * n + b] = std::abs(sum.high) < 1e-14 ? 0 : sum.high;
        }
      }
    }
  }
  return lifted;
}

}  // namespace

LiftedSpectrum lifted_scalar(const FiniteGroup& group, const GroupSpectrum& spectrum, bool axial) {
  std::vector<double> signs;
  for (int64_t g = 0; g < group.order(); ++g) {
    signs.push_back(axial ? group.determinant(g) : 1);
  }
  return lifted_by(group, spectrum, 1, signs);
}

LiftedSpectrum lifted_vector(const FiniteGroup& group, const GroupSpectrum& spectrum, bool axial) {
  std::vector<double> matrices;
  for (int64_t g = 0; g < group.order(); ++g) {
    for (const double x : group.element(g)) {
      matrices.push_back(axial ? group.determinant(g) * x : x);
    }
  }
  return lifted_by(group, spectrum, group.dimension(), matrices);
}

}  // namespace weyl
