#include "weyl/ops/lie/elements.h"

#include "tests/gradients.h"
#include "tests/ops/lie/samples.h"
#include "weyl/algebra/lie/group.h"
#include "weyl/core/check.h"

namespace weyl::lie {
namespace elements_test {

constexpr int64_t N = 21;

TEST(LieElements, AreThoseOfTheAlgebraRowByRow) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const Lie<double> lie(group);
    const int64_t c = compact_size(group), dof = degrees_of_freedom(group), m = matrix_size(group);
    const Tensor w = normal_rows("w", N, dof, 0.4);
    const Tensor a = exp(w, group), b = random_elements(group, N, 0.6, "b");
    const Tensor ab = compose(a, b, group), between = lie::between(a, b, group);
    const Tensor matrices = element_matrices(a, group), back = compact_elements(matrices, group);
    const auto row = [](const Tensor& x, int64_t i) {
      return std::span<const double>(x.const_data_ptr<double>() + i * x[i].numel(), x[i].numel());
    };
    std::vector<double> g(c), X(m * m);
    for (int64_t i = 0; i < N; ++i) {
      const auto expect = [&](const Tensor& found, const std::vector<double>& wanted, const char* what) {
        for (size_t k = 0; k < wanted.size(); ++k) {
          EXPECT_NEAR(row(found, i)[k], wanted[k], 1e-12 * (1 + std::abs(wanted[k]))) << what;
        }
      };
      lie.exp(row(w, i), g);
      expect(a, g, "exp");
      lie.compose(row(a, i), row(b, i), g);
      expect(ab, g, "compose");
      lie.between(row(a, i), row(b, i), g);
      expect(between, g, "between");
      lie.to_matrix(row(a, i), X);
      expect(matrices, X, "to_matrix");
    }
    EXPECT_LE(largest(element_matrices(back, group) - matrices), 1e-12);  // the sign of a quaternion is free
    // A product of elements is one of matrices.
    EXPECT_LE(largest(element_matrices(ab, group) - at::matmul(matrices, element_matrices(b, group))), 1e-12);
    EXPECT_GT(largest(ab - compose(b, a, group)), group == LieGroup::so2 ? -1 : 1e-3);  // control
  }
}

TEST(LieElements, KernelsAndTorchExpressionsAgree) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const Tensor w = normal_rows("w", N, degrees_of_freedom(group), 0.4), b = random_elements(group, N, 0.3);
    const auto all = [&](at::ScalarType type) {
      const Tensor a = exp(w.to(type), group), m = element_matrices(a, group);
      return Tensors{a, compose(a, b.to(type), group), between(a, b.to(type), group), m,
                     compact_elements(m, group)};
    };
    for (const auto type : {at::kFloat, at::kDouble}) {
      const Tensors kernel = all(type);
      const UseReferences scope;
      const Tensors plain = all(type);
      for (size_t i = 0; i < plain.size(); ++i) {
        EXPECT_EQ(kernel[i].scalar_type(), type);
        EXPECT_LE(largest(kernel[i] - plain[i]),
                  (type == at::kFloat ? 2e-5 : 1e-12) * (1 + largest(plain[i])))
            << i;
      }
    }
  }
}

TEST(LieElements, DerivativesAreRightAlsoAtTheIdentity) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const int64_t dof = degrees_of_freedom(group);
    Tensor w = normal_rows("w", 2, dof, 0.7);
    w[1].zero_();
    expect_second_gradients([&](const Tensors& x) { return exp(x[0], group); }, {w}, {1e-5, 1e-5, 1e-6, 12});
    const Tensor a = random_elements(group, 2, 0.7, "a"), b = random_elements(group, 2, 0.7, "b");
    expect_second_gradients([&](const Tensors& x) { return compose(x[0], x[1], group); }, {a, b},
                            {1e-5, 1e-5, 1e-6, 8});
    expect_second_gradients([&](const Tensors& x) { return between(x[0], x[1], group); }, {a, b},
                            {1e-5, 1e-5, 1e-6, 8});
    expect_second_gradients(
        [&](const Tensors& x) { return compact_elements(element_matrices(x[0], group), group); }, {a},
        {1e-5, 1e-5, 1e-6, 8});
    expect_finite_gradients([&](const Tensors& x) { return exp(x[0], group); }, {at::zeros({2, dof})});
  }
}

TEST(LieElements, ExpIsDifferentiableWhereABlockIsZero) {
  for (const LieGroup group : lie_groups) {
    for (const LieBlock& block : blocks_of(group)) {
      SCOPED_TRACE(testing::Message() << name_of(group) << ", coordinate " << block.begin);
      const Tensor w = normal_rows("w", 2, degrees_of_freedom(group), 0.7);
      w.slice(1, block.begin, block.begin + block.size).zero_();
      for (const bool plain : {false, true}) {
        const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
        expect_second_gradients([&](const Tensors& x) { return exp(x[0], group); }, {w},
                                {1e-5, 1e-5, 1e-6, 12});
      }
    }
  }
}

TEST(LieElements, ExpOfWhatIsNotFiniteIsNotANumber) {
  for (const LieGroup group : lie_groups) {
    for (const double bad : {HUGE_VAL, std::nan("")}) {
      Tensor w = normal_rows("w", 3, degrees_of_freedom(group), 0.3);
      w[1][-1] = bad;
      for (const bool plain : {false, true}) {
        const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
        const Tensor g = exp(w, group);
        EXPECT_TRUE(at::isnan(g[1]).all().item<bool>()) << name_of(group);
        EXPECT_TRUE(at::isfinite(g[0]).all().item<bool>() && at::isfinite(g[2]).all().item<bool>());
      }
    }
  }
}

TEST(LieElements, OrthonormalCoordinatesHaveTheFrobeniusNorm) {
  for (const LieGroup group : lie_groups) {
    const Lie<double> lie(group);
    const Tensor w = normal_rows("w", 1, degrees_of_freedom(group), 1);
    std::vector<double> X(matrix_size(group) * matrix_size(group));
    lie.hat({w.const_data_ptr<double>(), static_cast<size_t>(w.numel())}, X);
    double norm = 0;
    for (const double x : X) {
      norm += x * x;
    }
    const Tensor o = to_orthonormal(w, group);
    EXPECT_NEAR((o * o).sum().item<double>(), norm, 1e-12 * norm);
    EXPECT_LE(largest(from_orthonormal(o, group) - w), 1e-15);
  }
}

TEST(LieElements, RoundedMatricesMoveAsElementsDo) {
  for (const LieGroup group : {LieGroup::so2, LieGroup::se2, LieGroup::so3, LieGroup::se3}) {
    SCOPED_TRACE(name_of(group));
    const Tensor a = element_matrices(random_elements(group, 200, 0.6, "a"), group);
    const Tensor exact = element_matrices(random_elements(group, 200, 0.6, "g"), group);
    const Tensor rounded = exact.to(at::kFloat).to(at::kDouble);  // off the group by 1e-7
    const auto elements = [&](const Tensor& m) {
      return element_matrices(compact_elements(m, group), group);
    };
    const int64_t n = dimension_of(group);
    const Tensor off = elements(at::matmul(a, rounded)) - at::matmul(a, elements(rounded));
    EXPECT_LE(largest(off.slice(1, 0, n).slice(2, 0, n)), 1e-13);
    EXPECT_GT(largest(elements(rounded) - rounded), 1e-9);
  }
}

TEST(LieElements, WrongShapesAreRefusedAndNoRowsAreFine) {
  EXPECT_THROW(exp(at::zeros({2, 5}), LieGroup::se3), ShapeError);
  EXPECT_THROW(compact_elements(at::zeros({2, 3, 3}), LieGroup::se3), ShapeError);
  EXPECT_THROW(compact_elements(at::zeros({2, 4, 4}, at::kLong), LieGroup::se3), ShapeError);
  EXPECT_THROW(compose(at::zeros({2, 7}), at::zeros({3, 7}), LieGroup::se3), ShapeError);
  // A quaternion of norm 0.
  EXPECT_THROW(compose(at::zeros({2, 7}), at::zeros({2, 7}), LieGroup::se3), ShapeError);
  EXPECT_THROW(element_matrices(at::zeros({2, 2}), LieGroup::so2), ShapeError);
  EXPECT_THROW(to_orthonormal(at::zeros({2, 5}), LieGroup::se3), ShapeError);
  EXPECT_EQ(exp(at::zeros({0, 6}), LieGroup::se3).sizes(), (std::vector<int64_t>{0, 7}));
}

}  // namespace elements_test
}  // namespace weyl::lie
