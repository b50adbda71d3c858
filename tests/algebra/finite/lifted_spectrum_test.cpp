#include "weyl/algebra/finite/lifted_spectrum.h"

#include <gtest/gtest.h>

#include "tests/algebra/finite/spectra.h"
#include "weyl/core/check.h"

namespace weyl {
namespace lifted_spectrum_test {

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

// The coefficients that factors stand for.
std::vector<double> multiplied(const std::vector<LiftedFactors>& factors, const GroupSpectrum& of,
                               int64_t n) {
  std::vector<double> all(of.order() * n * n, 0.0);
  for (const LiftedFactors& f : factors) {
    const RealIrrep& irrep = of.irreps()[f.irrep];
    const int64_t m = irrep.multiplicity, d = irrep.dimension;
    for (int64_t k = 0; k < f.rank; ++k) {
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t l = 0; l < d; ++l) {
          for (int64_t a = 0; a < n; ++a) {
            for (int64_t b = 0; b < n; ++b) {
              all[((irrep.offset + i * d + l) * n + a) * n + b] +=
                  f.onto[(k * m + i) * n + b] * f.along[(k * d + l) * n + a];
            }
          }
        }
      }
    }
  }
  return all;
}

// The same elements to seven digits, no group of matrices any more.
FiniteGroup rounded(const char* name) {
  const auto exact = named_group(name);
  std::vector<std::vector<double>> elements;
  for (int64_t g = 0; g < exact->order(); ++g) {
    std::vector<double> element;
    for (const double x : exact->element(g)) {
      element.push_back(static_cast<float>(x));
    }
    elements.push_back(std::move(element));
  }
  return {std::string("rounded ") + name, exact->dimension(), std::move(elements)};
}

TEST(LiftedSpectrum, IsOfAsFewTermsAsIrrepsAndTheirTypesSay) {
  for (const auto& group : spectra::groups()) {
    SCOPED_TRACE(group->name());
    const auto& of = spectrum(*group);
    for (const bool vector : {false, true}) {
      const auto lift = vector ? lifted_vector(*group, of, true) : lifted_scalar(*group, of, true);
      const int64_t n = lift.components;
      EXPECT_LT(lift.remainder, 1e-13);
      const std::vector<LiftedFactors> factors = factors_of(lift, of);
      int64_t terms = 0;
      for (const LiftedFactors& f : factors) {
        const RealIrrep& irrep = of.irreps()[f.irrep];
        EXPECT_GE(f.rank, 1);
        EXPECT_LE(f.rank, std::min(irrep.multiplicity, irrep.dimension) * n);
        terms += f.rank;
        if (n == 1) {
          EXPECT_EQ(f.onto, (std::vector<double>{1}));
        }
      }
      EXPECT_LT(spectra::largest_difference(multiplied(factors, of, n), lift.coefficients), 1e-13);
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

// Matrices of seven digits are no representation: what a vector has in other irreps is told, and what it has in its own is
// of more terms, the further ones 1e-8 as large, which are as exact as the first.
TEST(LiftedSpectrum, TellsWhatRoundedElementsLeaveOut) {
  const FiniteGroup icosahedron = rounded("icosahedron"), dihedral = rounded("dihedral_3");
  const double remainder = lifted_vector(icosahedron, spectrum(icosahedron)).remainder;
  EXPECT_GT(remainder, 1e-9);
  EXPECT_LT(remainder, 1e-6);
  const auto& of = spectrum(dihedral);
  const auto lift = lifted_vector(dihedral, of);
  EXPECT_LT(lift.remainder, 1e-13);  // sines are rounded alike, and stay in the irrep
  const std::vector<LiftedFactors> factors = factors_of(lift, of);
  ASSERT_EQ(factors.size(), 1u);
  EXPECT_EQ(factors[0].rank, 2);
  EXPECT_LT(spectra::largest_difference(multiplied(factors, of, 2), lift.coefficients), 1e-14);
}

TEST(LiftedSpectrum, RefusesAnotherGroupsSpectrum) {
  EXPECT_THROW(lifted_scalar(*named_group("tetrahedron"), spectrum(*named_group("octahedron"))), ShapeError);
}

}  // namespace lifted_spectrum_test
}  // namespace weyl
