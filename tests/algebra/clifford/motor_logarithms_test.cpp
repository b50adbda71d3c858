// log and exp of motors: against the logarithms of SE(3) in 50 digits, at the identity, translations and half turns, and
// their derivatives.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "tests/algebra/clifford/multivectors.h"
#include "weyl/algebra/clifford/motors.h"
#include "weyl/algebra/lie/dual.h"
#include "weyl/algebra/lie/formulas.h"

namespace weyl::clifford {
namespace motor_logarithms_test {

using std::numbers::pi;
using M = Multivector<double>;
using V = Vector<double, 3>;

M bivector(const V& ideal, const V& e12_e13_e23) {
  M B = zero<double>();
  for (int i = 0; i < 3; ++i) {
    B[e01 + i] = ideal[i];
    B[e12 + i] = e12_e13_e23[i];
  }
  return B;
}
/// The logarithm of the motor of a twist (v, omega) of SE(3): half of each, with the signs of the embeddings.
M half_twist(const V& v, const V& omega) {
  return bivector(-0.5 * v, {{-0.5 * omega[2], 0.5 * omega[1], -0.5 * omega[0]}});
}
M random_motor(Stream& stream) {
  return motor(random_unit<double, 4>(stream), random_vector<double, 3>(stream));
}
double unit_defect(const M& m) {
  return distance(geometric_product(m, reverse(m)), blade(one, 1.0));
}

TEST(MotorLogarithms, LogIsThatOfRigidMotionsIn50Digits) {
  std::ifstream file(WEYL_SOURCE_DIR "/tests/goldens/lie_logs.txt");
  std::string line, group, regime, format;
  int rows = 0;
  double worst = 0, control = INFINITY;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    if (line[0] >= 'a' && line[0] <= 'z') {
      words >> group >> regime >> format;
    } else if (group == "se3" && format == "f64") {
      std::vector<double> x;
      for (double value = 0; words >> value;) {
        x.push_back(value);
      }
      ASSERT_EQ(x.size(), 13u);
      const auto q = SO3::exactly_normalised(Vector<double, 4>{{x[3], x[4], x[5], x[6]}});
      const M found = log(motor(q, V{{x[0], x[1], x[2]}}));
      worst = worst_of(worst, defect(found, half_twist({{x[7], x[8], x[9]}}, {{x[10], x[11], x[12]}})));
      if (regime == "uniform") {  // the control: the translation itself is no logarithm
        control = std::min(control, defect(found, half_twist({{x[0], x[1], x[2]}}, {{x[10], x[11], x[12]}})));
      }
      const M there = exp(found), back = motor(q, V{{x[0], x[1], x[2]}});
      worst = worst_of(worst, std::min(distance(there, back), distance(there, scaled(-1.0, back))));
      ++rows;
    }
  }
  EXPECT_EQ(rows, 120);  // uniform, small, half turns
  EXPECT_LT(worst, 1e-12);
  EXPECT_GT(control, 1e-3);
}

TEST(MotorLogarithms, LogAndExpAreInverse) {
  Stream stream(10, "inverse");
  double there = 0, back = 0;
  for (int sample = 0; sample < 2000; ++sample) {
    const M m = random_motor(stream), again = exp(log(m));
    there = worst_of(there, distance(again, m[one] < 0 ? scaled(-1.0, m) : m));
    // Angles from 1e-12 to the cut at pi, which is |b| = pi/2.
    const double angle = sample % 2 == 0 ? std::pow(10.0, -12 * stream.uniform()) : pi * stream.uniform();
    const M B = bivector(random_vector<double, 3>(stream), 0.5 * angle * random_unit<double, 3>(stream));
    back = worst_of(back, distance(log(exp(B)), B));
    EXPECT_LT(unit_defect(exp(B)), 1e-13);
  }
  EXPECT_LT(there, 1e-12);
  EXPECT_LT(back, 1e-12);
  // Beyond the cut the logarithm is that of the shorter way round, about the same line.
  const M B = bivector({{0, 0, 0}}, {{0.6 * pi, 0, 0}});
  EXPECT_LT(distance(log(exp(B)), bivector({{0, 0, 0}}, {{-0.4 * pi, 0, 0}})), 1e-14);
  // Powers: half the logarithm is half the way.
  const M m = random_motor(stream), half = exp(scaled(0.5, log(m)));
  const M whole = compose(half, half);
  EXPECT_LT(std::min(distance(whole, m), distance(whole, scaled(-1.0, m))), 1e-13);
}

TEST(MotorLogarithms, CornersOfLogAndExp) {
  const V none{{0, 0, 0}}, t{{0.3, -2, 5}};
  EXPECT_EQ(distance(exp(zero<double>()), blade(one, 1.0)), 0);
  EXPECT_EQ(distance(log(blade(one, 1.0)), zero<double>()), 0);
  EXPECT_EQ(distance(log(blade(one, -1.0)), zero<double>()), 0);  // a full turn is no motion
  // Translations, far and near.
  for (const double size : {1e-300, 1e-8, 1.0, 1e8}) {
    const M shift = translation(size * t);
    EXPECT_EQ(distance(log(shift), bivector(-0.5 * size * t, none)), 0);
    EXPECT_EQ(distance(exp(log(shift)), shift), 0);
    EXPECT_EQ(distance(log(scaled(-1.0, shift)), log(shift)), 0);
  }
  // Angles of which squares underflow.
  for (const double angle : {1e-300, 1e-160, 1e-20, 1e-9}) {
    const M B = bivector(t, {{0, 0.6 * angle, -0.8 * angle}});
    EXPECT_LE(distance(log(exp(B)), B), 1e-15);
    EXPECT_NEAR(log(exp(B))[e13] / (0.6 * angle), 1, 1e-14);
  }
  // Half turns, about lines through the origin and elsewhere, along which something moves or not.
  Stream stream(11, "half turns");
  for (int sample = 0; sample < 50; ++sample) {
    const V axis = random_unit<double, 3>(stream);
    const M turn = rotation(Vector<double, 4>{{axis[0], axis[1], axis[2], 0}});
    const M moved = compose(translation(random_vector<double, 3>(stream)), turn);
    ASSERT_EQ(moved[one], 0);
    const M B = log(moved);
    EXPECT_NEAR(inner_product(B, B), pi * pi / 4, 1e-14);
    EXPECT_LT(distance(exp(B), moved), 1e-13);
    EXPECT_LT(distance(log(turn), scaled(pi / 2, turn)), 1e-14);
    // The other sign is the same half turn the other way round.
    EXPECT_LT(distance(exp(log(scaled(-1.0, moved))), scaled(-1.0, moved)), 1e-13);
    // Through the cut both sides stay finite, and are the same motion.
    for (const double beside : {-1e-9, -1e-15, 1e-15, 1e-9}) {
      M near = moved;
      near[one] = beside;
      near = normalise(near);
      const M there = exp(log(near));
      EXPECT_LT(std::min(distance(there, near), distance(there, scaled(-1.0, near))), 1e-12);
    }
  }
}

/// B -> log(exp(B)) is the identity, and so is its derivative; exp's derivative is that of differences.
TEST(MotorLogarithms, DerivativesOfLogAndExp) {
  using numbers::Dual;
  using D = Dual<double, 6>;
  using DD = Dual<Dual<double, 1>, 1>;
  Stream stream(12, "derivatives");
  for (const double angle : {0.0, 1e-200, 1e-9, 1e-3, 0.3, 0.499, 0.501, 1.0, 1.999, 2.001, 3.1}) {
    for (const double shift : {0.0, 1.0}) {
      const M B =
          bivector(shift * random_vector<double, 3>(stream), 0.5 * angle * random_unit<double, 3>(stream));
      Multivector<D> x;
      for (int i = 0; i < components; ++i) {
        x[i] = D(B[i]);
      }
      for (int k = 0; k < 6; ++k) {
        x[e01 + k].d[k] = 1;
      }
      const Multivector<D> m = exp(x), again = log(m);
      for (int k = 0; k < 6; ++k) {
        const auto at = [&](double h) {
          M y = B;
          y[e01 + k] += h;
          return exp(y);
        };
        const double h = 1e-3;
        const M near = sum(at(h), scaled(-1.0, at(-h))), far = sum(at(2 * h), scaled(-1.0, at(-2 * h)));
        for (int i = 0; i < components; ++i) {
          EXPECT_NEAR(m[i].d[k], (8 * near[i] - far[i]) / (12 * h), 1e-10)
              << angle << ", " << i << " by " << k;
          EXPECT_NEAR(again[i].d[k], i == e01 + k ? 1 : 0, 1e-11) << angle << ", " << i << " by " << k;
        }
      }
      // The second derivative of log(exp(B)) along a direction is 0, and finite at the identity and translations.
      Multivector<DD> y;
      for (int i = 0; i < components; ++i) {
        y[i] = DD(Dual<double, 1>(B[i]));
        if (grade_of[i] == 2) {
          const double along = stream.normal();
          y[i].value.d[0] = along;
          y[i].d[0] = Dual<double, 1>(along);
        }
      }
      const Multivector<DD> twice = log(exp(y));
      for (int i = 0; i < components; ++i) {
        EXPECT_NEAR(twice[i].d[0].d[0], 0, 1e-9) << angle << ", " << i;
      }
    }
  }
}

TEST(MotorLogarithms, SinglePrecision) {
  using F = Multivector<float>;
  Stream stream(13, "single");
  double worst = 0, unit = 0;
  for (int sample = 0; sample < 500; ++sample) {
    const auto q = random_unit<double, 4>(stream);
    const auto t = random_vector<double, 3>(stream);
    const M m = motor(q, t), B = log(m);
    F single, wide;
    for (int i = 0; i < components; ++i) {
      single[i] = static_cast<float>(m[i]);
      wide[i] = static_cast<float>(B[i]);
    }
    if (std::abs(m[one]) > 1e-3) {  // away from the cut, at which the two may differ by its sign
      worst = worst_of(worst, defect(log(single), wide));
    }
    const F e = exp(wide);
    unit = worst_of(unit, distance(geometric_product(e, reverse(e)), blade(one, 1.0f)));
  }
  EXPECT_LT(worst, 3e-6);
  EXPECT_LT(unit, 3e-6);
}

}  // namespace motor_logarithms_test
}  // namespace weyl::clifford
