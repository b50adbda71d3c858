#include "weyl/algebra/finite/group_spectrum.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/algebra/finite/spectra.h"
#include "tests/laws.h"
#include "tests/sanitized.h"
#include "weyl/algebra/finite/group_table.h"

namespace weyl {
namespace group_spectrum_test {

using spectra::spectrum;

std::string irreps_of(const FiniteGroup& group) {
  std::string list;
  for (const auto& irrep : spectrum(group).irreps()) {
    list += list.empty() ? "" : " ";
    list += std::to_string(irrep.dimension);
    list += irrep.type == IrrepType::real ? "" : irrep.type == IrrepType::complex ? "c" : "q";
  }
  return list;
}

TEST(GroupSpectrum, IrrepsAreThoseOfTheBooks) {
  const std::map<std::string, std::string> expected{{"trivial", "1"},
                                                    {"flop_3d_2", "1 1"},
                                                    {"octahedron_reflections", "1 1 1 1 1 1 1 1"},
                                                    {"tetrahedron", "1 2c 3"},
                                                    {"tetrahedron_full", "1 1 2 3 3"},
                                                    {"octahedron", "1 1 2 3 3"},
                                                    {"octahedron_full", "1 1 1 1 2 2 3 3 3 3"},
                                                    {"icosahedron", "1 3 3 4 5"},
                                                    {"icosahedron_full", "1 1 3 3 3 3 4 4 5 5"},
                                                    {"cyclic_4", "1 1 2c"},
                                                    {"cyclic_7", "1 2c 2c 2c"},
                                                    {"dihedral_2", "1 1 1 1"},
                                                    {"dihedral_5", "1 1 2 2"},
                                                    {"dihedral_6", "1 1 1 1 2 2"},
                                                    {"D6h", "1 1 1 1 1 1 1 1 2 2 2 2"},
                                                    {"Q8", "1 1 1 1 4q"},
                                                    {"binary_tetrahedral", "1 2c 3 4c 4q"},
                                                    {"binary_icosahedral", "1 3 3 4 4q 4q 5 8q 12q"},
                                                    {"C3xS3", "1 1 2 2c 2c 4c"},
                                                    {"Q8xS3", "1 1 1 1 1 1 1 1 2 2 2 2 4q 4q 8q"},
                                                    {"Heisenberg3", "1 2c 2c 2c 2c 6c"}};
  size_t seen = 0;
  for (const auto& group : spectra::groups()) {
    const auto known = expected.find(group->name());
    if (known != expected.end()) {
      EXPECT_EQ(irreps_of(*group), known->second) << group->name();
      ++seen;
    }
  }
  EXPECT_EQ(seen, expected.size());
}

TEST(GroupSpectrum, IrrepsObeyTheirLaws) {
  for (const auto& group : spectra::groups()) {
    SCOPED_TRACE(group->name());
    const auto& of = spectrum(*group);
    const auto abstract = laws::operations(*group);
    const auto all = laws::indices(*group);
    int64_t columns = 0;
    double reversed = 0;
    for (const auto& irrep : of.irreps()) {
      const int64_t d = irrep.dimension;
      EXPECT_EQ(irrep.multiplicity * commutant_dimension(irrep.type), d);
      EXPECT_EQ(irrep.offset, columns);
      columns += irrep.multiplicity * d;
      const auto matrices = laws::orthogonal_matrices(d);
      const std::function<std::vector<double>(const int64_t&)> rho = [&](const int64_t& g) {
        return std::vector<double>(irrep.matrix(g).begin(), irrep.matrix(g).end());
      };
      EXPECT_LE(laws::homomorphism_defect(rho, abstract, matrices, all), 1e-14);
      if (of.order() <= 24) {
        reversed = worst_of(reversed, laws::homomorphism_defect(rho, abstract, matrices, all, true));
      }
      for (const int64_t g : all) {
        EXPECT_LE(matrices.distance(matrices.compose(matrices.inverse(rho(g)), rho(g)), matrices.identity),
                  1e-14);
        double trace = 0;
        for (int64_t i = 0; i < d; ++i) {
          trace += irrep.matrix(g)[i * d + i];
        }
        EXPECT_NEAR(trace, irrep.character[g], 1e-14);
      }
      EXPECT_EQ(rho(group->identity()), matrices.identity);
      EXPECT_EQ(static_cast<int64_t>(irrep.rows.size()), irrep.multiplicity * d);
      if (irrep.type == IrrepType::real) {
        EXPECT_EQ(irrep.rows, matrices.identity);
      }
    }
    EXPECT_EQ(columns, of.order());
    if (of.order() <= 24) {  // the control: the reversed order is a homomorphism of abelian groups alone
      EXPECT_EQ(reversed > 0.1, !group->abelian());
    }
  }
}

TEST(GroupSpectrum, TransformIsOrthogonal) {
  for (const auto& group : spectra::groups()) {
    const auto matrices = laws::orthogonal_matrices(group->order());
    const std::vector<double> q(spectrum(*group).transform().begin(), spectrum(*group).transform().end());
    EXPECT_LE(matrices.distance(matrices.compose(matrices.inverse(q), q), matrices.identity), 1e-13)
        << group->name();
  }
}

TEST(GroupSpectrum, ColumnsAreEntriesOfIrreps) {
  for (const auto& group : spectra::groups()) {
    const auto& of = spectrum(*group);
    const int64_t G = of.order();
    double wrong = 0;
    for (const auto& irrep : of.irreps()) {
      const int64_t d = irrep.dimension;
      const double scale = std::sqrt(static_cast<double>(d) / static_cast<double>(G));
      for (int64_t g = 0; g < G; ++g) {
        for (int64_t i = 0; i < irrep.multiplicity; ++i) {
          for (int64_t l = 0; l < d; ++l) {
            double entry = -of.transform()[g * G + irrep.offset + i * d + l];
            for (int64_t k = 0; k < d; ++k) {
              entry += scale * irrep.rows[i * d + k] * irrep.matrix(g)[k * d + l];
            }
            wrong = worst_of(wrong, std::abs(entry));
          }
        }
      }
    }
    EXPECT_LE(wrong, 1e-15) << group->name();
  }
}

// On the largest subgroup of the chain an irrep is that subgroup's irreps in their order.
TEST(GroupSpectrum, BasesAreAdaptedToTheChain) {
  for (const auto& group : spectra::groups()) {
    const auto& of = spectrum(*group);
    const auto chain = subgroup_chain(of.table());
    if (chain.size() < 2) {
      continue;
    }
    const auto& subgroup = chain[chain.size() - 2];
    const GroupSpectrum below(of.table().subgroup(subgroup));
    double wrong = 0;
    for (const auto& irrep : of.irreps()) {
      const int64_t d = irrep.dimension;
      int64_t first = 0;
      std::vector<double> rest = irrep.matrices;
      for (const auto& part : below.irreps()) {
        double common = 0;
        for (size_t h = 0; h < subgroup.size(); ++h) {
          common += irrep.character[subgroup[h]] * part.character[h];
        }
        const auto each =
            static_cast<double>(subgroup.size()) * static_cast<double>(commutant_dimension(part.type));
        for (int64_t copy = std::lround(common / each); copy > 0; --copy, first += part.dimension) {
          for (size_t h = 0; h < subgroup.size(); ++h) {
            for (int64_t i = 0; i < part.dimension; ++i) {
              for (int64_t j = 0; j < part.dimension; ++j) {
                rest[(subgroup[h] * d + first + i) * d + first + j] -=
                    part.matrix(static_cast<int64_t>(h))[i * part.dimension + j];
              }
            }
          }
        }
      }
      EXPECT_EQ(first, d);
      for (const int64_t h : subgroup) {
        for (int64_t i = 0; i < d * d; ++i) {
          wrong = worst_of(wrong, std::abs(rest[h * d * d + i]));
        }
      }
    }
    EXPECT_LE(wrong, 1e-15) << group->name();
  }
}

// The matrix of an irrep in Q^T x is u_i^T sum_g x(g) rho(g), and moving x multiplies the sum by rho(h) from the left:
// so Q^T L_h Q has blocks on the diagonal alone.
TEST(GroupSpectrum, TranslationsAreBlockDiagonal) {
  for (const auto& group : spectra::groups()) {
    SCOPED_TRACE(group->name());
    const auto& of = spectrum(*group);
    const int64_t G = of.order();
    for (int64_t h = 0; h < G; h += G > 30 ? G / 5 : 1) {
      std::vector<double> moved(G * G);  // L_h Q
      for (int64_t g = 0; g < G; ++g) {
        std::copy_n(of.transform().data() + of.table().left_quotient(h, g) * G, G, moved.data() + g * G);
      }
      const auto action = spectra::analysed(of, moved, G);
      double outside = 0, wrong = 0;
      for (const auto& irrep : of.irreps()) {
        const int64_t d = irrep.dimension, m = irrep.multiplicity, first = irrep.offset, last = first + m * d;
        for (int64_t r = first; r < last; ++r) {
          for (int64_t c = 0; c < G; ++c) {
            outside = worst_of(outside, c < first || c >= last ? std::abs(action[r * G + c]) : 0);
          }
        }
        for (int64_t i = 0; i < m * d && irrep.type == IrrepType::real; ++i) {
          for (int64_t j = 0; j < m * d; ++j) {
            const double expected = i % d == j % d ? irrep.matrix(h)[i / d * d + j / d] : 0;
            wrong = worst_of(wrong, std::abs(action[(first + i) * G + first + j] - expected));
          }
        }
      }
      EXPECT_LE(outside, 1e-13);
      EXPECT_LE(wrong, 1e-13);
    }
  }
}

// Another group's transform does not do: the cyclic group's on the dihedral one of the same order.
TEST(GroupSpectrum, TheTransformOfAnotherGroupIsNotBlockDiagonal) {
  const auto& other = spectrum(*named_group("cyclic_12"));
  const GroupTable group(*named_group("dihedral_6"));
  std::vector<double> moved(144);
  for (int64_t g = 0; g < 12; ++g) {
    std::copy_n(other.transform().data() + group.left_quotient(7, g) * 12, 12, moved.data() + g * 12);
  }
  const auto action = spectra::analysed(other, moved, 12);
  EXPECT_GT(std::abs(action[1 * 12 + 0]) + std::abs(action[3 * 12 + 5]) + std::abs(action[6 * 12 + 2]), 0.1);
}

TEST(GroupSpectrum, SimpleGroupsHaveTheMatricesOneWouldWrite) {
  const auto near = [](std::span<const double> a, std::vector<double> b) {
    return spectra::largest_difference({a.begin(), a.end()}, b) < 1e-15;
  };
  const auto& turns = spectrum(*named_group("cyclic_3")).irreps()[1];
  const double s = std::sqrt(0.75);
  EXPECT_TRUE(near(turns.matrix(1), {-0.5, -s, s, -0.5}) || near(turns.matrix(1), {-0.5, s, -s, -0.5}));
  const auto& triangle = spectrum(*named_group("dihedral_3")).irreps()[2];
  EXPECT_TRUE(near(triangle.matrix(3), {1, 0, 0, -1}));
  const auto& cube = spectrum(*named_group("octahedron")).irreps()[3];
  for (const double x : cube.matrices) {
    EXPECT_TRUE(x == 0 || x == 1 || x == -1);  // permutations with signs, exactly
  }
}

// FNV-1a of all bits of Q, the irreps and the stages: they are the same whatever compiles and runs this.
uint64_t fingerprint(const GroupSpectrum& spectrum) {
  uint64_t hash = 1469598103934665603U;
  const auto mix = [&](std::span<const double> numbers) {
    for (const double x : numbers) {
      uint64_t bits = 0;
      std::memcpy(&bits, &x, sizeof(bits));
      hash = (hash ^ bits) * 1099511628211U;
    }
  };
  mix(spectrum.transform());
  for (const auto& irrep : spectrum.irreps()) {
    mix(irrep.matrices);
  }
  for (const auto& stage : spectrum.fast().stages) {
    mix(stage.coefficients);
  }
  return hash;
}

TEST(GroupSpectrum, BitsAreTheSameEverywhere) {
  const std::map<std::string, uint64_t> expected{{"tetrahedron", 0x83d55779accc1401U},
                                                 {"icosahedron_full", 0x3263d2f84d32eb2dU},
                                                 {"dihedral_20", 0x1a3641dc16ed98d5U},
                                                 {"cyclic_7", 0x1ab8c2303524960eU}};
  for (const auto& [name, hash] : expected) {
    EXPECT_EQ(fingerprint(spectrum(*named_group(name))), hash) << name;
  }
}

TEST(GroupSpectrum, OfTheLargestGroupsIsMade) {
  const auto d120 = FiniteGroup::from_generators("D120", 2, {spectra::rotation(1, 120), {1, 0, 0, -1}});
  const auto c240 = FiniteGroup::from_generators("C240", 2, {spectra::rotation(1, 240)});
  const auto full = named_group("icosahedron_full");
  const std::vector<const FiniteGroup*> groups{&*full, &d120, &c240};
  for (int64_t g = 0; g < under_sanitizers(1, 3); ++g) {
    const GroupSpectrum made{GroupTable(*groups[static_cast<size_t>(g)])};
    const auto x = spectra::some_numbers(made.order(), 1);
    EXPECT_LT(spectra::largest_difference(spectra::synthesised(made, spectra::analysed(made, x, 1), 1), x),
              1e-13);
  }
}

}  // namespace group_spectrum_test
}  // namespace weyl
