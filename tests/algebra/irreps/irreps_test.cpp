// Irreps of SO(3): harmonics, Wigner matrices, couplings and changes of basis, against their laws and against
// e3nn, escnn, SciPy and SymPy (tools/goldens/irreps.py).
#include "weyl/algebra/irreps/irreps.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <numbers>
#include <sstream>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/algebra/irreps/harmonics.h"
#include "weyl/algebra/irreps/wigner.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace irreps_test {

using Complex = std::complex<double>;
using Matrix = std::array<double, 9>;
constexpr int64_t highest = 8;

const std::vector<double>& golden(const std::string& name) {
  static const auto blocks = [] {
    std::map<std::string, std::vector<double>> read;
    std::ifstream file(WEYL_SOURCE_DIR "/tests/goldens/irreps.txt");
    std::string title, line;
    while (std::getline(file, title) && std::getline(file, line)) {
      std::istringstream numbers(line);
      for (double x = 0; numbers >> x;) {
        read[title].push_back(x);
      }
    }
    return read;
  }();
  return blocks.at(name);
}

Matrix product3(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) {
        c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
      }
    }
  }
  return c;
}

Matrix about(int axis, double angle) {
  Matrix r{};
  const int j = (axis + 1) % 3, k = (axis + 2) % 3;
  r[4 * axis] = 1;
  r[4 * j] = r[4 * k] = std::cos(angle);
  r[3 * k + j] = std::sin(angle);
  r[3 * j + k] = -std::sin(angle);
  return r;
}

Matrix random_rotation(Stream& stream) {
  const auto angle = [&] { return 6 * stream.uniform() - 3; };
  return product3(about(2, angle()), product3(about(1, angle()), about(0, angle())));
}

std::array<double, 3> turned(const Matrix& r, const std::array<double, 3>& p) {
  std::array<double, 3> q{};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      q[i] += r[3 * i + k] * p[k];
    }
  }
  return q;
}

double largest_difference(const IrrepMatrix& a, const IrrepMatrix& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size(); ++i) {
    worst = worst_of(worst, std::abs(a[i] - b[i]));
  }
  return worst;
}

IrrepMatrix identity(int64_t n) {
  IrrepMatrix one(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) {
    one[i * n + i] = 1;
  }
  return one;
}

TEST(Harmonics, AreThoseOfScipy) {
  const std::array<double, 3> p{0.3, -0.5, 0.8};
  const auto y = spherical_harmonics(highest, p);
  for (int64_t l = 0; l <= highest; ++l) {
    const auto& expected = golden("scipy harmonics " + std::to_string(l));
    for (int64_t k = 0; k <= 2 * l; ++k) {
      EXPECT_NEAR(std::abs(y[l * l + k] - Complex(expected[2 * k], expected[2 * k + 1])), 0, 1e-14)
          << l << " " << k;
    }
  }
}

TEST(Harmonics, HaveTheirSumRuleAndAreFiniteAtPolesAndOrigin) {
  for (const std::array<double, 3> p : {std::array{0., 0., 1.},
                                        {0., 0., -2.},
                                        {1e-300, 0., 1e-300},
                                        {1e200, -1e200, 1e100},
                                        {0.1, 0.7, -0.2}}) {
    const auto y = spherical_harmonics(highest, p);
    for (int64_t l = 0; l <= highest; ++l) {
      double sum = 0;
      for (int64_t k = 0; k <= 2 * l; ++k) {
        sum += std::norm(y[l * l + k]);
      }
      EXPECT_NEAR(sum, static_cast<double>(2 * l + 1) / (4 * std::numbers::pi), 1e-13) << l;
    }
  }
  const auto origin = spherical_harmonics(3, std::array{0., 0., 0.});
  EXPECT_GT(origin[0].real(), 0.28);
  EXPECT_EQ(largest_difference({origin.begin() + 1, origin.end()}, IrrepMatrix(15)), 0);
  EXPECT_THROW(spherical_harmonics(65, std::array{0., 0., 1.}), ShapeError);
  EXPECT_THROW(spherical_harmonics(1, std::array{0., 0., double(NAN)}), ShapeError);
}

TEST(Harmonics, OfTheCircleTurnByPhases) {
  const auto a = circular_harmonics(6, 0.7), b = circular_harmonics(6, 0.7 + 0.4);
  for (int k = 0; k < 6; ++k) {
    EXPECT_NEAR(std::abs(b[k] - std::exp(Complex(0, 0.4 * k)) * a[k]), 0, 1e-14);
  }
}

TEST(Wigner, TurnsHarmonicsAndIsAHomomorphism) {
  Stream stream(1, "wigner");
  for (int trial = 0; trial < 100; ++trial) {
    const Matrix r1 = random_rotation(stream), r2 = random_rotation(stream);
    const auto d1 = wigner(highest, r1), d2 = wigner(highest, r2), both = wigner(highest, product3(r1, r2));
    const std::array<double, 3> p{stream.normal(), stream.normal(), stream.normal()};
    const auto y = spherical_harmonics(highest, p), there = spherical_harmonics(highest, turned(r1, p));
    for (int64_t l = 0; l <= highest; ++l) {
      const int64_t n = 2 * l + 1;
      EXPECT_LT(largest_difference(product(d1[l], d2[l], n), both[l]), 1e-12) << l;
      EXPECT_LT(largest_difference(product(d1[l], adjoint(d1[l], n), n), identity(n)), 1e-12) << l;
      for (int64_t i = 0; i < n; ++i) {
        Complex sum = 0;
        for (int64_t k = 0; k < n; ++k) {
          sum += d1[l][i * n + k] * y[l * l + k];
        }
        EXPECT_LT(std::abs(sum - there[l * l + i]), 1e-12) << l;
      }
    }
  }
}

TEST(Wigner, OfReflectionsHasTheParityOfHarmonics) {
  const Matrix inversion{-1, 0, 0, 0, -1, 0, 0, 0, -1};
  const auto d = wigner(4, inversion);
  for (int64_t l = 0; l <= 4; ++l) {
    IrrepMatrix expected = identity(2 * l + 1);
    for (auto& x : expected) {
      x *= l % 2 == 0 ? 1 : -1;
    }
    EXPECT_LT(largest_difference(d[l], expected), 1e-14);
  }
  EXPECT_THROW(wigner(1, Matrix{1, 0, 0, 0, 1, 0, 0, 0, 1.1}), ShapeError);
}

TEST(Wigner, IsExactEnoughOnTheCube) {
  const GroupPtr cube = named_group("octahedron");
  for (int64_t g = 0; g < cube->order(); ++g) {
    for (int64_t h = 0; h < cube->order(); ++h) {
      const auto of = [&](int64_t element) {
        return wigner(4, std::span<const double, 9>(cube->element(element).data(), 9));
      };
      EXPECT_LT(largest_difference(product(of(g)[4], of(h)[4], 9), of(cube->product(g, h))[4]), 1e-13);
    }
  }
}

TEST(RealBases, AreThoseOfE3nnAndEscnn) {
  const auto& r = golden("rotation");
  const auto d = wigner(4, std::span<const double, 9>(r.data(), 9));
  const auto y = spherical_harmonics(4, std::array{0.3, -0.5, 0.8});
  for (int64_t l = 0; l <= 4; ++l) {
    const int64_t n = 2 * l + 1;
    const auto expect_real = [&](const IrrepMatrix& q, const std::string& name) {
      EXPECT_LT(largest_difference(product(q, adjoint(q, n), n), identity(n)), 1e-14);
      const IrrepMatrix turned_there = product(product(q, d[l], n), adjoint(q, n), n);
      const auto& expected = golden(name + " rotation " + std::to_string(l));
      EXPECT_LT(largest_difference(turned_there, {expected.begin(), expected.end()}), 1e-13)
          << name << " " << l;
    };
    expect_real(to_e3nn(l), "e3nn");
    expect_real(to_escnn(l), "escnn");
    const IrrepMatrix q = to_e3nn(l);
    const auto& expected = golden("e3nn harmonics " + std::to_string(l));
    for (int64_t i = 0; i < n; ++i) {
      Complex sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        sum += q[i * n + k] * y[l * l + k];
      }
      EXPECT_NEAR(std::abs(sum - expected[i]), 0, 1e-14) << l << " " << i;
    }
    if (l > 0) {  // the two conventions do differ
      EXPECT_GT(largest_difference(to_e3nn(l), to_escnn(l)), 0.1);
    }
  }
}

TEST(ClebschGordan, AreThoseOfSympy) {
  for (const auto& [l1, l2, l] : {std::array<int64_t, 3>{1, 1, 0},
                                  {1, 1, 1},
                                  {1, 1, 2},
                                  {2, 1, 2},
                                  {2, 2, 3},
                                  {3, 2, 4},
                                  {4, 4, 4},
                                  {8, 8, 8}}) {
    const ClebschGordan c(l1, l2, l);
    std::ostringstream name;
    name << "coupling " << l1 << " " << l2 << " " << l;
    const auto& expected = golden(name.str());
    for (int64_t m1 = -l1; m1 <= l1; ++m1) {
      for (int64_t m2 = -l2; m2 <= l2; ++m2) {
        const double found = std::abs(m1 + m2) <= l ? c(m1 + m2, m1, m2) : 0;
        EXPECT_NEAR(found, expected[(m1 + l1) * (2 * l2 + 1) + m2 + l2], 1e-14) << name.str();
      }
    }
  }
  EXPECT_NEAR(ClebschGordan(1, 1, 2)(0, 0, 0), std::sqrt(2. / 3), 1e-15);
  EXPECT_NEAR(ClebschGordan(1, 1, 0)(0, 0, 0), -std::sqrt(1. / 3), 1e-15);
  EXPECT_THROW(ClebschGordan(1, 65, 64), ShapeError);
}

TEST(ClebschGordan, AreOrthonormalAndCoupleWhatTurns) {
  Stream stream(2, "coupling");
  const auto d = wigner(6, random_rotation(stream));
  for (int64_t l1 = 0; l1 <= 4; ++l1) {
    for (int64_t l2 = 0; l2 <= 4; ++l2) {
      const int64_t a = 2 * l1 + 1, b = 2 * l2 + 1;
      std::vector<double> complete(static_cast<size_t>(a * b * a * b));
      for (int64_t l = 0; l <= 9; ++l) {
        const ClebschGordan c(l1, l2, l);
        const auto& v = c.values();
        for (int64_t i = 0; i < a * b; ++i) {
          for (int64_t j = 0; j < a * b; ++j) {
            for (int64_t m = 0; m < 2 * l + 1; ++m) {
              complete[i * a * b + j] += v[m * a * b + i] * v[m * a * b + j];
            }
          }
        }
        if (!triangle(l1, l2, l)) {
          EXPECT_EQ(*std::max_element(v.begin(), v.end()), 0);
        } else if (l <= 6) {
          // C (D1 x D2) = D C
          for (int64_t m = 0; m < 2 * l + 1; ++m) {
            for (int64_t j = 0; j < a * b; ++j) {
              Complex left = 0, right = 0;
              for (int64_t i = 0; i < a * b; ++i) {
                left += v[m * a * b + i] * d[l1][(i / b) * a + j / b] * d[l2][(i % b) * b + j % b];
              }
              for (int64_t k = 0; k < 2 * l + 1; ++k) {
                right += d[l][m * (2 * l + 1) + k] * v[k * a * b + j];
              }
              EXPECT_LT(std::abs(left - right), 1e-12);
            }
          }
        }
      }
      for (int64_t i = 0; i < a * b; ++i) {
        for (int64_t j = 0; j < a * b; ++j) {
          EXPECT_NEAR(complete[i * a * b + j], i == j ? 1 : 0, 1e-14);
        }
      }
    }
  }
}

TEST(Irreps, AreReadAndWritten) {
  const Irreps irreps = Irreps::parse("8x0e + 4x1o+2e");
  EXPECT_EQ(irreps.text(), "8x0e+4x1o+1x2e");
  EXPECT_EQ(Irreps::parse(irreps.text()), irreps);
  EXPECT_EQ(irreps.dimension(), 8 + 12 + 5);
  EXPECT_EQ(irreps.highest(), 2);
  EXPECT_EQ(Irreps::parse("8x0+4x1+2x2").dimension(), 30);
}

TEST(Irreps, RefuseWhatIsNone) {
  for (const char* text : {"", "+", "8x", "x1", "8x0e+", "0x1", "8x0e+4x1", "8x65", "-1x0", "8x0ee", "8 x0",
                           "99999999999999999999x0"}) {
    EXPECT_THROW(Irreps::parse(text), ConfigError) << text;
  }
}

}  // namespace irreps_test
}  // namespace weyl
