#include "weyl/algebra/finite/lifted_spectrum.h"

#include <gtest/gtest.h>

#include "tests/algebra/finite/spectra.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

using spectra::spectrum;

// x(g) = S_g^-1 f for every frame, S_g = R_g or 1, times det R_g when axial.
std::vector<double> lifted(const FiniteGroup& group, const std::vector<double>& f, bool axial) {
  const int64_t D = group.dimension();
  std::vector<double> x;
  for (int64_t g = 0; g < group.order(); ++g) {
    const double sign = axial ? group.determinant(g) : 1;
    if (f.size() == 1) {
      x.push_back(sign * f[0]);
      continue;
    }
    for (int64_t a = 0; a < D; ++a) {
      double sum = 0;
      for (int64_t b = 0; b < D; ++b) {
        sum += sign * group.element(g)[b * D + a] * f[b];
      }
      x.push_back(sum);
    }
  }
  return x;
}

TEST(LiftedSpectrum, IsTheTransformOfWhatFramesSee) {
  for (const auto& group : spectra::groups()) {
    SCOPED_TRACE(group->name());
    const auto& of = spectrum(*group);
    const int64_t G = of.order();
    for (const bool vector : {false, true}) {
      for (const bool axial : {false, true}) {
        const auto lift = vector ? lifted_vector(*group, of, axial) : lifted_scalar(*group, of, axial);
        const int64_t n = lift.components;
        EXPECT_EQ(n, vector ? group->dimension() : 1);
        const auto f = spectra::some_numbers(n, 0.2);
        std::vector<double> found(G * n, 0.0), back(n, 0.0);
        for (int64_t ca = 0; ca < G * n; ++ca) {
          for (int64_t b = 0; b < n; ++b) {
            found[ca] += lift.coefficients[ca * n + b] * f[b];
          }
        }
        EXPECT_LT(spectra::largest_difference(found, spectra::analysed(of, lifted(*group, f, axial), n)),
                  1e-13);
        for (int64_t ca = 0; ca < G * n; ++ca) {
          for (int64_t b = 0; b < n; ++b) {
            back[b] += lift.coefficients[ca * n + b] * found[ca] / static_cast<double>(G);
          }
        }
        EXPECT_LT(spectra::largest_difference(back, f), 1e-13);
        int64_t rows = 0;  // dimensions of the irreps that are touched: no more than there are components
        for (const int64_t r : lift.irreps) {
          rows += of.irreps()[r].dimension;
        }
        EXPECT_LE(rows, n);
      }
    }
  }
}

TEST(LiftedSpectrum, ScalarsAreTrivialAndVectorsAreTheDefiningIrrep) {
  const auto irreps = [](const char* name, bool axial) {
    const auto group = named_group(name);
    return lifted_vector(*group, spectrum(*group), axial).irreps;
  };
  const auto octahedron = named_group("octahedron");
  const auto scalar = lifted_scalar(*octahedron, spectrum(*octahedron));
  EXPECT_EQ(scalar.irreps, (std::vector<int64_t>{0}));
  EXPECT_NEAR(scalar.coefficients[0], std::sqrt(24.0), 1e-15);
  EXPECT_EQ(irreps("tetrahedron", false), (std::vector<int64_t>{2}));
  EXPECT_EQ(irreps("octahedron", false), (std::vector<int64_t>{3}));  // trace 1 at quarter-turns
  EXPECT_EQ(irreps("icosahedron", false).size(), 1U);
  EXPECT_EQ(irreps("trivial", false), (std::vector<int64_t>{0}));
  EXPECT_EQ(irreps("flop_3d_1", false), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(irreps("octahedron_reflections", false).size(), 3U);
  EXPECT_EQ(irreps("cyclic_3d_6", false).size(), 2U);
  EXPECT_NE(irreps("octahedron_full", false), irreps("octahedron_full", true));
  const auto full = named_group("octahedron_full");
  const auto pseudoscalar = lifted_scalar(*full, spectrum(*full), true);
  ASSERT_EQ(pseudoscalar.irreps.size(), 1U);
  EXPECT_GT(pseudoscalar.irreps[0], 0);
}

TEST(LiftedSpectrum, RefusesAnotherGroupsSpectrum) {
  EXPECT_THROW(lifted_scalar(*named_group("tetrahedron"), spectrum(*named_group("octahedron"))), ShapeError);
}

}  // namespace
}  // namespace weyl
