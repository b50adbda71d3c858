#include "weyl/carriers/multivector_motion.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/gradients.h"
#include "weyl/algebra/clifford/motion_matrix.h"
#include "weyl/algebra/clifford/multivector.h"
#include "weyl/carriers/motion.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace multivector_motion_test {

constexpr int64_t kMotions = 6;

Motions random_motions(uint64_t seed) {
  Stream stream(seed, "multivector motions");
  Motions m = random_rotations(kMotions, 3, true, stream);
  at::manual_seed(seed);
  m.translation = at::randn({kMotions, 3}, at::kDouble);
  return m;
}

Motions composed(const Motions& outer, const Motions& inner) {
  return {at::matmul(outer.linear, inner.linear),
          at::matmul(outer.linear, inner.translation.unsqueeze(2)).squeeze(2) + outer.translation};
}

Tensor moved(const Motions& m, const Tensor& x) {
  return MultivectorMotions(m.linear, m.translation).moved(x, {});
}

double largest(const Tensor& x) {
  return x.abs().max().item<double>();
}

/// e123 - x e023 + y e013 - z e012 of points (L, 3), as (L, 1, 16).
Tensor embedded_points(const Tensor& p) {
  Tensor x = at::zeros({p.size(0), 1, 16}, at::kDouble);
  x.select(2, 14).fill_(1);
  x.select(2, 13).copy_(-p.slice(1, 0, 1));
  x.select(2, 12).copy_(p.slice(1, 1, 2));
  x.select(2, 11).copy_(-p.slice(1, 2, 3));
  return x;
}

/// The plane through points p with normals n, as (L, 1, 16).
Tensor embedded_planes(const Tensor& n, const Tensor& p) {
  Tensor x = at::zeros({p.size(0), 1, 16}, at::kDouble);
  x.slice(2, 2, 5).copy_(n.unsqueeze(1));
  x.select(2, 1).copy_(-(n * p).sum(1, true));
  return x;
}

Tensor on_points(const Motions& m, const Tensor& p) {
  return at::matmul(m.linear, p.unsqueeze(2)).squeeze(2) + m.translation;
}

TEST(MultivectorMotions, ComposeAsMotionsDo) {
  const Motions g = random_motions(1), h = random_motions(2);
  const Tensor x = at::randn({kMotions, 3, 16}, at::kDouble);
  const Tensor twice = moved(g, moved(h, x));
  EXPECT_LT(largest(twice - moved(composed(g, h), x)), 1e-13);
  // Controls: in the other order, and the product of the inverses, which would be a right action.
  EXPECT_GT(largest(twice - moved(composed(h, g), x)), 0.1);
  const auto transposed = [](const Motions& m) { return Motions{m.linear.transpose(1, 2), m.translation}; };
  EXPECT_GT(largest(moved(transposed(g), moved(transposed(h), x)) - moved(transposed(composed(g, h)), x)),
            0.1);
}

TEST(MultivectorMotions, TakePointsAndPlanesWhereTheyBelong) {
  const Motions m = random_motions(3);
  const Tensor det = at::linalg_det(m.linear).view({-1, 1, 1});
  ASSERT_LT(det.min().item<double>(), 0);
  ASSERT_GT(det.max().item<double>(), 0);
  const Tensor p = at::randn({kMotions, 3}, at::kDouble), n = at::randn({kMotions, 3}, at::kDouble);
  const Tensor points = moved(m, embedded_points(p)), expected = embedded_points(on_points(m, p));
  EXPECT_LT(largest(points - det * expected), 1e-14);
  EXPECT_GT(largest(points - expected), 0.1);  // a mirrored point changes its sign
  const Tensor turned = at::matmul(m.linear, n.unsqueeze(2)).squeeze(2);
  EXPECT_LT(largest(moved(m, embedded_planes(n, p)) - embedded_planes(turned, on_points(m, p))), 1e-14);
}

// The matrix of the versor's sandwich, which algebra/clifford tests against products of reflections.
TEST(MultivectorMotions, AreTheSandwichOfTheVersor) {
  const Motions m = random_motions(4);
  const Tensor x = at::randn({kMotions, 2, 16}, at::kDouble);
  const Tensor y = moved(m, x);
  for (int64_t b = 0; b < kMotions; ++b) {
    const Tensor R = m.linear[b].contiguous(), t = m.translation[b].contiguous();
    const auto matrix = clifford::motion_matrix(std::span<const double, 9>(R.const_data_ptr<double>(), 9),
                                                std::span<const double, 3>(t.const_data_ptr<double>(), 3));
    const Tensor whole = at::tensor(at::ArrayRef<double>(matrix.data(), matrix.size()), at::kDouble);
    EXPECT_LT(largest(at::matmul(x[b], whole.view({16, 16}).t()) - y[b]), 1e-13);
  }
  // One reflection by hand: in the plane x = 1, the versor e1 - e0.
  clifford::Multivector<double> versor = clifford::zero<double>(), one;
  versor[clifford::e1] = 1;
  versor[clifford::e0] = -1;
  std::copy_n(x[0][0].const_data_ptr<double>(), 16, one.begin());
  const auto expected = clifford::sandwich(versor, one);
  const Motions mirror{at::diag(at::tensor({-1.0, 1.0, 1.0}, at::kDouble)).unsqueeze(0),
                       at::tensor({2.0, 0.0, 0.0}, at::kDouble).unsqueeze(0)};
  const Tensor reflected = moved(mirror, x.slice(0, 0, 1).slice(1, 0, 1));
  for (int i = 0; i < 16; ++i) {
    EXPECT_NEAR(reflected[0][0][i].item<double>(), expected[i], 1e-14) << i;
  }
}

// Under any invertible matrix points and planes that meet still meet.
TEST(MultivectorMotions, OfShearsKeepIncidence) {
  at::manual_seed(5);
  const Motions m{at::randn({kMotions, 3, 3}, at::kDouble), at::randn({kMotions, 3}, at::kDouble)};
  const Tensor p = at::randn({kMotions, 3}, at::kDouble), n = at::randn({kMotions, 3}, at::kDouble);
  const Tensor points = moved(m, embedded_points(p)), planes = moved(m, embedded_planes(n, p));
  const Tensor weight = points.slice(2, 14, 15);
  EXPECT_LT(largest(points - weight * embedded_points(on_points(m, p))) / largest(points), 1e-11);
  const Tensor meet =
      (planes.slice(2, 2, 5).squeeze(1) * on_points(m, p)).sum(1) + planes.select(2, 1).squeeze(1);
  EXPECT_LT(largest(meet) / largest(planes), 1e-11);
}

TEST(MultivectorMotions, TranslationsOfRowsAreThoseOfGraphs) {
  at::manual_seed(6);
  const Tensor x = at::randn({kMotions, 3, 16}, at::kDouble), t = at::randn({kMotions, 3}, at::kDouble);
  const Motions shift{at::eye(3, at::kDouble).expand({kMotions, 3, 3}), t};
  const Tensor there = translated_multivectors(x, t);
  EXPECT_LT(largest(there - moved(shift, x)), 1e-15);
  EXPECT_GT(largest(there - x), 0.1);
  EXPECT_LT(largest(translated_multivectors(there, -t) - x), 1e-14);
  const Tensor s = at::randn({kMotions, 3}, at::kDouble);  // a sum, since no two parts multiply
  EXPECT_LT(largest(translated_multivectors(there, s) - translated_multivectors(x, s + t)), 1e-14);
  EXPECT_EQ(translated_multivectors(x.to(at::kFloat), t).scalar_type(), at::kDouble);
}

// Also by the translation, which is a centroid where places are asked for their gradient.
TEST(MultivectorMotions, TranslationsHaveDerivatives) {
  at::manual_seed(8);
  const Tensor x = at::randn({2, 2, 16}, at::kDouble), t = at::randn({2, 3}, at::kDouble);
  const Expression square = [](const std::vector<Tensor>& in) {
    return translated_multivectors(in[0], in[1]).square();
  };
  expect_second_gradients(square, {x, t}, {.relative = 1e-5});
}

TEST(MultivectorMotions, GoByRowsAndKeepTheDtype) {
  const Motions m = random_motions(7);
  const MultivectorMotions motions(m.linear, m.translation);
  const Tensor x = at::randn({4, 2, 16}, at::kDouble),
               rows = at::tensor(std::vector<int64_t>{5, 0, 0, 3}, at::kLong);
  const Tensor y = motions.moved(x, rows);
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t g = rows[i].item<int64_t>();
    const MultivectorMotions alone(m.linear.slice(0, g, g + 1), m.translation.slice(0, g, g + 1));
    EXPECT_LT(largest(alone.moved(x.slice(0, i, i + 1), {}) - y.slice(0, i, i + 1)), 1e-15);
  }
  EXPECT_EQ(motions.moved(x.to(at::kFloat), rows).scalar_type(), at::kFloat);
  EXPECT_LT(largest(motions.moved(x.to(at::kFloat), rows).to(at::kDouble) - y), 1e-5);
  EXPECT_EQ(motions.moved(x.slice(0, 0, 0), rows.slice(0, 0, 0)).sizes(), at::IntArrayRef({0, 2, 16}));
}

TEST(MultivectorMotions, AreOfThreeDimensions) {
  EXPECT_THROW(MultivectorMotions(at::eye(2, at::kDouble).unsqueeze(0), {}), ShapeError);
  EXPECT_THROW(MultivectorMotions(at::eye(3, at::kDouble).unsqueeze(0), at::zeros({2, 3}, at::kDouble)),
               ShapeError);
  Interface plane;
  plane.dimension = 2;
  plane.features = {{"line", Level::node, Kind::multivector, 1}};
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{1});
  p.positions = at::zeros({1, 2});
  p.multivectors = at::zeros({1, 1, 16});
  EXPECT_THROW(shape_of(plane.features[0], p), ShapeError);
}

}  // namespace multivector_motion_test
}  // namespace weyl
