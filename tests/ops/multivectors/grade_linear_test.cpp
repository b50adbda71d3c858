#include "weyl/ops/multivectors/grade_linear.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/autocast.h"
#include "tests/gradients.h"
#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"
#include "weyl/ops/multivectors/gate.h"
#include "weyl/ops/multivectors/norm.h"
#include "weyl/ops/multivectors/tables.h"

namespace weyl {
namespace grade_linear_test {

using at::Tensor;
namespace c = clifford;

Tensor random(std::vector<int64_t> shape) {
  return at::randn(shape, at::kDouble);
}

/// The (out, in) pairs of the nine maps, written out.
const std::vector<std::vector<std::pair<int, int>>> pairs{{{0, 0}},
                                                          {{1, 1}, {2, 2}, {3, 3}, {4, 4}},
                                                          {{5, 5}, {6, 6}, {7, 7}, {8, 8}, {9, 9}, {10, 10}},
                                                          {{11, 11}, {12, 12}, {13, 13}, {14, 14}},
                                                          {{15, 15}},
                                                          {{1, 0}},
                                                          {{5, 2}, {6, 3}, {7, 4}},
                                                          {{11, 8}, {12, 9}, {13, 10}},
                                                          {{15, 14}}};

Tensor by_loops(const Tensor& x, const Tensor& weight) {
  Tensor y = at::zeros({16, x.size(1), weight.size(0)}, x.options());
  for (size_t a = 0; a < pairs.size(); ++a) {
    for (const auto& [out, in] : pairs[a]) {
      y[out] += at::matmul(x[in], weight.select(2, static_cast<int64_t>(a)).t()) /
                std::sqrt(static_cast<double>(pairs[a].size()));
    }
  }
  return y;
}

TEST(GradeLinear, IsNineMapsOfUnitNorm) {
  at::manual_seed(1);
  const Tensor basis = grade_basis(at::zeros({}, at::kDouble));
  EXPECT_TRUE(at::allclose(basis.square().sum({1, 2}), at::ones({9}, at::kDouble)));
  for (const auto& [tokens, inputs, outputs] : {std::tuple{7, 3, 5},
                                                {1, 1, 1},
                                                {30, 16, 16},
                                                {5, 20, 40},
                                                {0, 3, 2},
                                                {13, 2, 4},
                                                {3, 0, 4},
                                                {3, 4, 0}}) {
    const Tensor x = random({16, tokens, inputs}), weight = random({outputs, inputs, 9}),
                 part = random({tokens, outputs});
    const Tensor right = by_loops(x, weight);
    EXPECT_TRUE(at::allclose(grade_linear(x, weight), right, 1e-12, 1e-12));
    Tensor with_part = right.clone();
    with_part[0] += part;
    EXPECT_TRUE(at::allclose(grade_linear(x, weight, part), with_part, 1e-12, 1e-12));
    EXPECT_TRUE(at::allclose(grade_linear(at::cat({x, x}, 2).narrow(2, inputs, inputs),
                                          weight.transpose(0, 1).contiguous().transpose(0, 1)),
                             right, 1e-12, 1e-12));
  }
}

TEST(GradeLinear, IsMultiplicationByE0BesidesTheGrades) {
  // y = e0 x: maps 5 to 8 with their norms.
  Tensor weight = at::zeros({1, 1, 9}, at::kDouble);
  weight.slice(2, 5, 9).copy_(at::tensor({1.0, std::sqrt(3.0), std::sqrt(3.0), 1.0}, at::kDouble));
  const Tensor x = random({16, 3, 1});
  Tensor right = at::zeros_like(x);
  for (const c::Term& t : c::geometric_terms) {
    if (t.left == c::e0) {
      right[t.out] += t.sign * x[t.right];
    }
  }
  EXPECT_TRUE(at::allclose(grade_linear(x, weight), right, 1e-13, 1e-13));
}

TEST(GradeLinear, DerivativesAreRight) {
  at::manual_seed(2);
  for (const auto& [inputs, outputs] : {std::pair{3, 2}, {1, 1}, {17, 5}}) {
    const Tensor x = random({16, 5, inputs}), weight = random({outputs, inputs, 9}),
                 part = random({5, outputs});
    const GradientCheck few{.samples = 20};
    const auto f = [](const auto& in) { return grade_linear(in[0], in[1], in[2]); };
    expect_second_gradients(f, {x, weight, part}, few);
    expect_second_gradients(f, {x, weight, Tensor()}, few);
    expect_second_gradients([&](const auto& in) { return grade_linear(in[0], weight, part).pow(2); }, {x},
                            few);
    expect_second_gradients([&](const auto& in) { return grade_linear(x, in[0], part).pow(2); }, {weight},
                            few);
    expect_second_gradients([&](const auto& in) { return grade_linear(x, weight, in[0]).pow(2); }, {part},
                            few);
    expect_second_gradients([&](const auto& in) { return grade_linear(in[0], in[1], {}).pow(2); },
                            {x, weight}, few);
  }
}

TEST(GradeLinear, OtherShapesAreErrors) {
  const Tensor x = random({16, 4, 3}), weight = random({2, 3, 9});
  EXPECT_THROW(grade_linear(x, random({2, 4, 9})), ShapeError);
  EXPECT_THROW(grade_linear(x, random({2, 3, 5})), ShapeError);
  EXPECT_THROW(grade_linear(random({9, 4, 3}), weight), ShapeError);
  EXPECT_THROW(grade_linear(x, weight, random({3, 2})), ShapeError);
}

TEST(Multivectors, KeepTheirPrecisionUnderAutocast) {
  at::manual_seed(3);
  const Tensor x = random({16, 5, 4}).to(at::kFloat), weight = random({4, 4, 9}).to(at::kFloat);
  const Tensor exact = grade_linear(x, weight), norm = normalise_multivectors(x, 0.01);
  const Autocast scope;
  const Tensor y = grade_linear(x, weight);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::allclose(y.to(at::kFloat), exact, 0.05, 0.1));
  EXPECT_EQ(gate_multivectors(y).scalar_type(), at::kBFloat16);
  EXPECT_EQ(normalise_multivectors(y, 0.01).scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(normalise_multivectors(x, 0.01), norm));
}

}  // namespace grade_linear_test
}  // namespace weyl
