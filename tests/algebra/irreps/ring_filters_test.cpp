// Steerable filters on pixels: exact turns of the square and the cube, and what the authors' basis would
// give.
#include "weyl/algebra/irreps/ring_filters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/algebra/irreps/wigner.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace ring_filters_test {

using Complex = std::complex<double>;
constexpr RingProfile profiles[] = {RingProfile::interpolated, RingProfile::gaussian, RingProfile::analytic};

double largest(const RingFilters& f) {
  double worst = 0;
  for (const Complex& x : f.values) {
    worst = worst_of(worst, std::abs(x));
  }
  return worst;
}

/// max |F_k(R p) - exp(-i k pi/2) F_k(p)|, R the quarter turn from axis 0 to axis 1.
double error_in_the_plane(const RingFilters& f, int64_t highest, int64_t size) {
  double worst = 0;
  for (int64_t x = 0; x < size; ++x) {
    for (int64_t y = 0; y < size; ++y) {
      const int64_t p = x * size + y, turned = (size - 1 - y) * size + x;
      for (int64_t k = -highest; k <= highest; ++k) {
        const Complex phase = std::polar(1.0, -std::acos(-1.0) / 2 * static_cast<double>(k));
        for (int64_t ring = 0; ring < f.rings; ++ring) {
          worst = worst_of(worst, std::abs(f(k + highest, ring, turned) - phase * f(k + highest, ring, p)));
        }
      }
    }
  }
  return worst;
}

/// max over the 24 rotations of |F(R p) - D(R) F(p)|.
double error_in_space(const RingFilters& f, int64_t highest, int64_t size) {
  double worst = 0;
  const GroupPtr cube = named_group("octahedron");
  for (int64_t g = 0; g < cube->order(); ++g) {
    const auto r = cube->element(g);
    const auto d = wigner(highest, std::span<const double, 9>(r.data(), 9));
    for (int64_t pixel = 0; pixel < f.pixels; ++pixel) {
      const int64_t p[3] = {pixel / size / size, pixel / size % size, pixel % size};
      int64_t turned = 0;
      for (int64_t i = 0; i < 3; ++i) {
        double twice = 0;  // of the centred position, a whole number
        for (int64_t k = 0; k < 3; ++k) {
          twice += r[3 * i + k] * static_cast<double>(2 * p[k] - size + 1);
        }
        turned = turned * size + (std::llround(twice) + size - 1) / 2;
      }
      for (int64_t ring = 0; ring < f.rings; ++ring) {
        for (int64_t l = 0; l <= highest; ++l) {
          for (int64_t m = 0; m <= 2 * l; ++m) {
            Complex sum = 0;
            for (int64_t n = 0; n <= 2 * l; ++n) {
              sum += d[l][m * (2 * l + 1) + n] * f(l * l + n, ring, pixel);
            }
            worst = worst_of(worst, std::abs(sum - f(l * l + m, ring, turned)));
          }
        }
      }
    }
  }
  return worst;
}

TEST(RingFilters, TurnExactlyWithTheSquare) {
  for (const RingProfile profile : profiles) {
    for (const int64_t spline : {0, 1, 2, 3, 4, 5}) {
      for (const int64_t size : {4, 5, 7}) {
        const RingFilters f = circular_filters(7, {size, 2, profile, spline, false});
        EXPECT_LT(error_in_the_plane(f, 7, size), 1e-14 + 1e-13 * largest(f)) << size << " " << spline;
      }
    }
  }
}

TEST(RingFilters, TurnExactlyWithTheCube) {
  for (const RingProfile profile : profiles) {
    for (const int64_t size : {3, 4, 5}) {
      const RingFilters f = spherical_filters(4, {size, 2, profile, 1, false});
      EXPECT_LT(error_in_space(f, 4, size), 1e-13 * largest(f)) << size;
    }
  }
  EXPECT_LT(error_in_space(spherical_filters(2, {5, 2, RingProfile::interpolated, 3, true}), 2, 5), 1e-13);
}

TEST(RingFilters, OfAnotherOrderDoNot) {
  RingFilters f = spherical_filters(2, {5, 2, RingProfile::interpolated, 1, false});
  std::swap(f.values[(1 * 2) * f.pixels + 57], f.values[(1 * 2) * f.pixels + 37]);
  EXPECT_GT(error_in_space(f, 2, 5), 1e-3 * largest(f));
}

/// Root of the sum of squares of a filter's pixels.
double norm(const RingFilters& f, int64_t component, int64_t ring) {
  double sum = 0;
  for (int64_t p = 0; p < f.pixels; ++p) {
    sum += std::norm(f(component, ring, p));
  }
  return std::sqrt(sum);
}

TEST(RingFilters, HaveTheContentThatWasMeasuredOfTheAuthorsBasis) {
  // Fact sheet 2.6: |F_k| on the inner ring of a kernel of 5 for k = 0 .. 7.
  const double sheet[] = {0.090, 0.081, 0.062, 0.039, 0.022, 0.010, 0.005, 0.005};
  const RingFilters f = circular_filters(7, {5, 2, RingProfile::interpolated, 1, false});
  for (int64_t k = 0; k < 8; ++k) {
    EXPECT_NEAR(norm(f, 7 + k, 0), sheet[k], 0.002) << k;
    EXPECT_NEAR(norm(f, 7 - k, 0), norm(f, 7 + k, 0), 1e-14);
  }
}

TEST(RingFilters, AreCutWhereARingDoesNotCarryThem) {
  const RingFilters f = circular_filters(9, {5, 2, RingProfile::interpolated, 1, true});
  for (int64_t k = -9; k <= 9; ++k) {
    EXPECT_EQ(f.kept[(k + 9) * 2], std::abs(k) <= 3) << k;  // pi
    EXPECT_EQ(norm(f, k + 9, 0) > 0, std::abs(k) <= 3);
    EXPECT_EQ(f.kept[(k + 9) * 2 + 1], std::abs(k) <= 7) << k;  // 16 pixels on the edge
    EXPECT_EQ(norm(f, k + 9, 1) > 0, std::abs(k) <= 7);
  }
  const RingFilters three = circular_filters(4, {3, 1, RingProfile::interpolated, 1, true});
  EXPECT_TRUE(three.kept[7]);
  EXPECT_FALSE(three.kept[8]);
  const RingFilters s = spherical_filters(4, {5, 2, RingProfile::interpolated, 1, true});
  EXPECT_TRUE(s.kept[9 * 2]);
  EXPECT_FALSE(s.kept[16 * 2]);
}

TEST(RingFilters, ProfilesOfTheAnalyticOnesAddUpToOne) {
  const RingFilters f = circular_filters(0, {7, 3, RingProfile::analytic, 1, true});
  for (int64_t x = 0; x < 7; ++x) {
    for (int64_t y = 0; y < 7; ++y) {
      const double r = std::hypot(x - 3.0, y - 3.0);
      if (r >= 1 && r <= 3) {
        EXPECT_NEAR(std::abs(f(0, 0, 7 * x + y) + f(0, 1, 7 * x + y) + f(0, 2, 7 * x + y)), 1, 1e-14);
      }
    }
  }
}

TEST(RingFilters, KeepConstantImagesConstantUpToTheEdge) {
  // The response of order k to an image of ones: the ring's share of the disc for 0, nothing for others.
  for (int64_t spline = 0; spline <= 5; ++spline) {
    for (const int64_t size : {2, 3, 5, 6}) {
      const RingFilters f = circular_filters(3, {size, 2, RingProfile::interpolated, spline, false});
      const RingFilters s = spherical_filters(1, {size, 2, RingProfile::interpolated, spline, false});
      for (int64_t ring = 0; ring < 2; ++ring) {
        const double share = 0.5 * static_cast<double>(ring + 1);
        const auto sum = [&](const RingFilters& filters, int64_t component) {
          Complex total = 0;
          for (int64_t p = 0; p < filters.pixels; ++p) {
            total += filters(component, ring, p);
          }
          return total;
        };
        for (int64_t k = -3; k <= 3; ++k) {
          EXPECT_LT(std::abs(sum(f, k + 3) - (k == 0 ? share / 2 : 0)), 1e-12) << spline << " " << size;
        }
        EXPECT_LT(std::abs(sum(s, 0) - share * share / 4), 1e-12) << spline << " " << size;
        EXPECT_LT(std::abs(sum(s, 1)), 1e-12) << spline << " " << size;
      }
    }
  }
}

TEST(RingFilters, RefuseOptionsOutOfRange) {
  EXPECT_THROW(circular_filters(65, {}), ShapeError);
  EXPECT_THROW(spherical_filters(17, {}), ShapeError);
  EXPECT_THROW(circular_filters(1, {1, 2}), ShapeError);
  EXPECT_THROW(circular_filters(1, {5, 0}), ShapeError);
  EXPECT_THROW(circular_filters(1, {5, 2, RingProfile::interpolated, 6}), ShapeError);
}

}  // namespace ring_filters_test
}  // namespace weyl
