// Every primitive commutes with Pin(3,0,1): rotations, reflections and translations, in float64 and float32; and the
// matrix of a motion is the sandwich of its versor.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/algebra/clifford/multivectors.h"
#include "weyl/core/check.h"

namespace weyl::clifford {
namespace pin_test {

template <class T>
using Binary = std::function<Multivector<T>(const Multivector<T>&, const Multivector<T>&)>;

/// Products of 0 .. 4 mirrors, or pure translations, ten of each.
enum class Motions { shifts, even, odd };

/// The largest of |f(M x, M y) - sign(M) M f(x, y)| in units of |f|; sign(M) is 1, or det R when `odd_sign`.
template <class T>
double equivariance_defect(const Binary<T>& f, Motions which, bool odd_sign = false) {
  Stream stream(4, "pin", {static_cast<uint64_t>(which)});
  double worst = 0;
  for (int sample = 0; sample < 20; ++sample) {
    const int half = sample % 2;
    const Motion<T> motion =
        which == Motions::shifts
            ? random_shift<T>(stream)
            : random_motion<T>(stream, which == Motions::even ? 2 + 2 * half : 1 + 2 * half);
    const auto x = random_multivector<T>(stream), y = random_multivector<T>(stream);
    const auto moved = scaled(odd_sign ? static_cast<T>(motion.sign) : T(1), motion(f(x, y)));
    worst = worst_of(worst, defect(f(motion(x), motion(y)), moved));
  }
  return worst;
}

template <class T>
struct Primitive {
  std::string name;
  Binary<T> f;
};
template <class T>
std::vector<Primitive<T>> primitives() {
  using M = Multivector<T>;
  std::vector<Primitive<T>> all{
      {"geometric product", geometric_product<T>},
      {"outer product", outer_product<T>},
      {"inner product", [](const M& x, const M& y) { return blade(one, inner_product(x, y)); }},
      {"reverse", [](const M& x, const M&) { return reverse(x); }},
      {"involution", [](const M& x, const M&) { return involution(x); }},
      {"times e0", [](const M& x, const M&) { return geometric_product(blade(e0, T(1)), x); }},
      {"equivariant join", [](const M& x, const M& y) { return scaled(x[e123], join(x, y)); }},
      {"equivariant join with a reference of both",
       [](const M& x, const M& y) { return scaled(x[e123] + y[e123], join(y, x)); }},
  };
  for (int k = 0; k <= 4; ++k) {
    all.push_back({"grade " + std::to_string(k), [k](const M& x, const M&) { return grade(k, x); }});
  }
  return all;
}

template <class T>
class Pin : public testing::Test {
 public:
  static constexpr double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-11;
};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(Pin, Numbers);

TYPED_TEST(Pin, PrimitivesCommuteWithMotions) {
  for (const auto& [name, f] : primitives<TypeParam>()) {
    EXPECT_LT(equivariance_defect<TypeParam>(f, Motions::shifts), this->tolerance) << name;
    EXPECT_LT(equivariance_defect<TypeParam>(f, Motions::even), this->tolerance) << name;
    EXPECT_LT(equivariance_defect<TypeParam>(f, Motions::odd), this->tolerance) << name;
  }
  EXPECT_LT(equivariance_defect<TypeParam>(join<TypeParam>, Motions::odd, true), this->tolerance);
}

TYPED_TEST(Pin, OtherMapsDoNot) {
  using T = TypeParam;
  using M = Multivector<T>;
  Stream stream(5, "controls");
  std::array<M, 16> dense;
  for (M& row : dense) {
    row = random_multivector<T>(stream);
  }
  const Binary<T> linear = [&](const M& x, const M&) {
    M y = zero<T>();
    for (int i = 0; i < components; ++i) {
      for (int j = 0; j < components; ++j) {
        y[i] += dense[i][j] * x[j];
      }
    }
    return y;
  };
  const Binary<T> all_components = [](const M& x, const M& y) {
    T total(0);
    for (int i = 0; i < components; ++i) {
      total += x[i] * y[i];
    }
    return blade(one, total);
  };
  const Binary<T> one_sign = [](const M& x, const M& y) {
    M z = geometric_product(x, y);
    z[e12] += T(2) * x[e13] * y[e23];  // one of the 192 terms with the other sign
    return z;
  };
  // The canonical reference is a constant, so the join is right for motors alone.
  const Binary<T> canonical = join<T>;
  const Binary<T> complement = [](const M& x, const M&) { return dual(x); };
  for (const Motions which : {Motions::shifts, Motions::even, Motions::odd}) {
    EXPECT_GT(equivariance_defect<T>(linear, which), 0.1);
    EXPECT_GT(equivariance_defect<T>(all_components, which), 0.1);
    EXPECT_GT(equivariance_defect<T>(one_sign, which), 0.1);
    EXPECT_GT(equivariance_defect<T>(complement, which), 0.1);
  }
  EXPECT_LT(equivariance_defect<T>(canonical, Motions::shifts), this->tolerance);
  EXPECT_LT(equivariance_defect<T>(canonical, Motions::even), this->tolerance);
  EXPECT_GT(equivariance_defect<T>(canonical, Motions::odd), 0.1);
}

TEST(PinOfTheOrigin, TheDualCommutesAboutTheOrigin) {
  Stream stream(18, "dual");
  for (int sample = 0; sample < 20; ++sample) {
    const Motion<double> motion = random_motion<double>(stream, sample % 5);
    const auto matrix = motion_matrix(motion.rotation, std::array<double, 3>{});
    const auto moved = [&](const Multivector<double>& x) {
      Multivector<double> y = zero<double>();
      for (int i = 0; i < components; ++i) {
        for (int j = 0; j < components; ++j) {
          y[i] += matrix[components * i + j] * x[j];
        }
      }
      return y;
    };
    const auto x = random_multivector<double>(stream);
    EXPECT_LT(defect(dual(moved(x)), scaled(motion.sign, moved(dual(x)))), 1e-12);
    EXPECT_GT(defect(dual(moved(x)), scaled(-motion.sign, moved(dual(x)))), 0.1);
  }
}

double largest_difference(const std::array<double, 256>& a, const std::array<double, 256>& b) {
  double most = 0;
  for (int i = 0; i < 256; ++i) {
    most = worst_of(most, std::abs(a[i] - b[i]));
  }
  return most;
}
std::array<double, 256> product(const std::array<double, 256>& a, const std::array<double, 256>& b) {
  std::array<double, 256> c{};
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      for (int k = 0; k < 16; ++k) {
        c[16 * i + j] += a[16 * i + k] * b[16 * k + j];
      }
    }
  }
  return c;
}

TEST(MotionMatrix, IsTheSandwichOfTheVersor) {
  Stream stream(6, "matrix");
  for (int sample = 0; sample < 25; ++sample) {
    const Motion<double> motion =
        sample < 20 ? random_motion<double>(stream, sample % 5) : random_shift<double>(stream);
    const auto matrix = motion_matrix(motion.rotation, motion.translation);
    EXPECT_LT(largest_difference(matrix, sandwich_matrix(motion.versor)), 1e-12) << sample;
    // Also of a versor from R and t, and of a multiple of one.
    Matrix<double, 3> R;
    Vector<double, 3> t;
    for (int i = 0; i < 9; ++i) {
      R[i / 3][i % 3] = motion.rotation[i];
      t[i / 3] = motion.translation[i / 3];
    }
    const auto again = scaled(-2.5, versor(R, t));
    EXPECT_LT(largest_difference(matrix, sandwich_matrix(again)), 1e-12) << sample;
    // The control: an odd versor without the involution is another action.
    std::array<double, 256> plain;
    const auto& u = motion.versor;
    for (int j = 0; j < 16; ++j) {
      const auto column =
          geometric_product(geometric_product(u, blade(static_cast<Blade>(j), 1.0)), reverse(u));
      for (int i = 0; i < 16; ++i) {
        plain[16 * i + j] = column[i] / inner_product(u, u);
      }
    }
    if (motion.sign < 0) {
      EXPECT_GT(largest_difference(matrix, plain), 0.1);
    } else {
      EXPECT_LT(largest_difference(matrix, plain), 1e-12);
    }
  }
}

TEST(MotionMatrix, IsAHomomorphism) {
  Stream stream(7, "homomorphism");
  double right = 0, reversed = INFINITY;
  for (int sample = 0; sample < 20; ++sample) {
    const Motion<double> a = random_motion<double>(stream, 1 + sample % 4),
                         b = random_motion<double>(stream, 3);
    std::array<double, 9> rotation{};
    std::array<double, 3> translation = a.translation;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) {
        translation[i] += a.rotation[3 * i + k] * b.translation[k];
        for (int j = 0; j < 3; ++j) {
          rotation[3 * i + j] += a.rotation[3 * i + k] * b.rotation[3 * k + j];
        }
      }
    }
    const auto A = motion_matrix(a.rotation, a.translation), B = motion_matrix(b.rotation, b.translation);
    const auto both = motion_matrix(rotation, translation);
    right = worst_of(right, largest_difference(both, product(A, B)));
    reversed = std::min(reversed, largest_difference(both, product(B, A)));
    EXPECT_LT(largest_difference(both, sandwich_matrix(compose(a.versor, b.versor))), 1e-11);
  }
  EXPECT_LT(right, 1e-12);
  EXPECT_GT(reversed, 1e-3);
}

TEST(MotionMatrix, RefusesWhatIsNoMotion) {
  const std::array<double, 3> t{};
  const std::array<double, 9> wide{1, 0, 0, 0, 1, 0, 0, 0, 1.1}, sheared{1, 0.1, 0, 0, 1, 0, 0, 0, 1};
  std::array<double, 9> broken{1, 0, 0, 0, 1, 0, 0, 0, 1};
  broken[4] = NAN;
  EXPECT_THROW(motion_matrix(wide, t), ShapeError);
  EXPECT_THROW(motion_matrix(sheared, t), ShapeError);
  EXPECT_THROW(motion_matrix(broken, t), ShapeError);
}

}  // namespace pin_test
}  // namespace weyl::clifford
