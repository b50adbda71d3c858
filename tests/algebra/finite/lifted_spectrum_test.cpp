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

TEST(LiftedSpectrum, IsOfAsFewTermsAsIrrepsAndTheirTypesSay) {
  for (const auto& group : spectra::groups()) {
    SCOPED_TRACE(group->name());
    const auto& of = spectrum(*group);
    for (const bool vector : {false, true}) {
      const auto lift = vector ? lifted_vector(*group, of, true) : lifted_scalar(*group, of, true);
      const int64_t n = lift.components;
      EXPECT_LT(lift.remainder, 1e-13);
      std::vector<double> again(lift.coefficients.size(), 0.0);
      int64_t terms = 0;
      for (const LiftedFactors& f : factors_of(lift, of)) {
        const RealIrrep& irrep = of.irreps()[f.irrep];
        const int64_t m = irrep.multiplicity, d = irrep.dimension;
        EXPECT_GE(f.rank, 1);
        EXPECT_LE(f.rank, std::min(m, d) * n);
        terms += f.rank;
        for (int64_t k = 0; k < f.rank; ++k) {
          for (int64_t i = 0; i < m; ++i) {
            for (int64_t l = 0; l < d; ++l) {
              for (int64_t a = 0; a < n; ++a) {
                for (int64_t b = 0; b < n; ++b) {
                  again[((irrep.offset + i * d + l) * n + a) * n + b] +=
                      f.onto[(k * m + i) * n + b] * f.along[(k * d + l) * n + a];
                }
              }
            }
          }
        }
        if (n == 1) {
          EXPECT_EQ(f.onto, (std::vector<double>{1}));
        }
      }
      EXPECT_LT(spectra::largest_difference(again, lift.coefficients), 1e-13);
      EXPECT_LE(terms, n * n);
    }
  }
  const auto ranks = [](const char* name) {
    const auto group = named_group(name);
    std::vector<int64_t> all;
    for (const auto& f : factors_of(lifted_vector(*group, spectrum(*group)), spectrum(*group))) {
      all.push_back(f.rank);
    }
    return all;
  };
  EXPECT_EQ(ranks("octahedron"), (std::vector<int64_t>{1}));
  EXPECT_EQ(ranks("icosahedron"), (std::vector<int64_t>{1}));
  EXPECT_EQ(ranks("octahedron_reflections"), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(ranks("trivial"), (std::vector<int64_t>{3}));
  EXPECT_EQ(ranks("flop_3d_1"), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(ranks("cyclic_6"), (std::vector<int64_t>{2}));  // of the complex type
  EXPECT_EQ(ranks("dihedral_3"), (std::vector<int64_t>{1}));
}

// Matrices of seven digits are no representation: what a vector has in other irreps is told, not hidden.
TEST(LiftedSpectrum, TellsWhatRoundedElementsLeaveOut) {
  const auto exact = named_group("icosahedron");
  std::vector<std::vector<double>> elements;
  for (int64_t g = 0; g < exact->order(); ++g) {
    std::vector<double> element;
    for (const double x : exact->element(g)) {
      element.push_back(static_cast<float>(x));
    }
    elements.push_back(std::move(element));
  }
  const FiniteGroup rounded("rounded", 3, std::move(elements));
  const double remainder = lifted_vector(rounded, spectrum(rounded)).remainder;
  EXPECT_GT(remainder, 1e-9);
  EXPECT_LT(remainder, 1e-6);
}

TEST(LiftedSpectrum, RefusesAnotherGroupsSpectrum) {
  EXPECT_THROW(lifted_scalar(*named_group("tetrahedron"), spectrum(*named_group("octahedron"))), ShapeError);
}

}  // namespace
}  // namespace weyl
