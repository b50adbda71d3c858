// Motors against rotation matrices, translations and mirrors of points, and their normalisation.
#include "weyl/algebra/clifford/motors.h"

#include <gtest/gtest.h>

#include "tests/algebra/clifford/multivectors.h"
#include "weyl/algebra/lie/formulas.h"

namespace weyl::clifford {
namespace motors_test {

using M = Multivector<double>;
using V = Vector<double, 3>;

double unit_defect(const M& m) {
  return distance(geometric_product(m, reverse(m)), blade(one, 1.0));
}

TEST(Motors, MoveLikeRotationMatricesAndTranslations) {
  Stream stream(8, "motors");
  for (int sample = 0; sample < 50; ++sample) {
    const auto q = random_unit<double, 4>(stream), r = random_unit<double, 4>(stream);
    const V t = random_vector<double, 3>(stream), s = random_vector<double, 3>(stream),
            p = random_vector<double, 3>(stream);
    const M m = motor(q, t);
    const V moved = SO3::to_matrix(q) * p + t;
    EXPECT_LT(distance(sandwich(m, embed_point(p)), embed_point(moved)), 1e-13);
    EXPECT_LT(distance(sandwich(translation(t), embed_point(p)), embed_point(p + t)), 1e-13);
    EXPECT_LT(distance(sandwich(rotation(q), embed_point(p)), embed_point(SO3::act(q, p))), 1e-13);
    // The first factor of the product acts last, as with matrices and quaternions.
    EXPECT_LT(distance(compose(m, motor(r, s)), motor(SO3::compose(q, r), SO3::act(q, s) + t)), 1e-13);
    EXPECT_GT(distance(compose(motor(r, s), m), motor(SO3::compose(q, r), SO3::act(q, s) + t)), 1e-3);
    EXPECT_LT(unit_defect(m), 1e-13);
    EXPECT_LT(distance(rotation_of(m), q), 1e-15);
    EXPECT_LT(distance(translation_of(m), t), 1e-13);
    EXPECT_LT(distance(translation_of(scaled(-1.0, m)), t), 1e-13);
    // A mirror in the plane through s with normal n.
    const V n = random_unit<double, 3>(stream);
    const V image = p - 2 * dot(n, p - s) * n;
    EXPECT_LT(distance(sandwich(reflection(n, s), embed_point(p)), scaled(-1.0, embed_point(image))), 1e-13);
  }
}

TEST(Motors, NormaliseMakesTheMotorThatMovesPointsAlike) {
  Stream stream(9, "normalise");
  for (int sample = 0; sample < 50; ++sample) {
    M m = random_multivector<double>(stream);
    m = scaled(0.5, sum(m, involution(m)));
    const M motor = normalise(m);
    const double size = 1 + largest(motor);
    EXPECT_LT(unit_defect(motor), 1e-14 * size * size);
    EXPECT_LT(distance(normalise(motor), motor), 1e-14 * size * size);
    EXPECT_LT(distance(normalise(scaled(3.0, motor)), motor), 1e-14 * size * size);
    // [V] of the fact sheet: m x m~ of a point is a pure trivector with e123 = s, and the point that `motor` gives.
    const M point = embed_point(random_vector<double, 3>(stream));
    const M raw = geometric_product(geometric_product(m, point), reverse(m));
    const double s = MotorSquare<double>(m).s;
    EXPECT_NEAR(raw[e123], s, 1e-13 * (1 + s));
    EXPECT_LT(distance(raw, grade(3, raw)), 1e-13 * size * size);
    EXPECT_LT(defect(scaled(1 / raw[e123], raw), sandwich(motor, point)), 1e-12);
    // The control: p cancels on odd grades alone, so lines tell m from its motor.
    const M line = embed_ray(Ray<double>{random_vector<double, 3>(stream), {{0, 0, 0}}});
    EXPECT_GT(defect(sandwich(m, line), sandwich(motor, line)), 1e-4);
  }
  // Nothing but ideal parts is no motion.
  EXPECT_FALSE(std::isfinite(largest(normalise(blade(e01, 1.0)))));
}

}  // namespace motors_test
}  // namespace weyl::clifford
