// Every primitive of multivectors commutes with Pin(3,0,1): rotations, reflections and translations.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/ops/multivectors/motions.h"
#include "weyl/ops/multivectors/attention.h"
#include "weyl/ops/multivectors/gate.h"
#include "weyl/ops/multivectors/grade_linear.h"
#include "weyl/ops/multivectors/norm.h"
#include "weyl/ops/multivectors/products.h"

namespace weyl {
namespace equivariance_test {

using at::Tensor;

constexpr int64_t tokens = 9, channels = 6;

Tensor random(std::vector<int64_t> shape, at::ScalarType type) {
  return at::randn(shape, at::kDouble).to(type);
}

/// Multivectors (16, N, C) of multivectors.
using Map = std::function<Tensor(const Tensor& x)>;

/// The largest difference of f(moved x) from f(x), moved, relative to the largest number, for all motions, or for
/// those that mirror or do not alone.
double defect(const Map& f, const Tensor& x, const std::vector<Motion>& motions, bool mirrored = true,
              bool proper = true) {
  const Tensor y = f(x);
  double worst = 0;
  for (const Motion& motion : motions) {
    if (motion.mirrored ? mirrored : proper) {
      const Tensor right = motion(y), found = f(motion(x));
      const double scale = std::max(1.0, right.abs().max().item<double>());
      worst = std::max(worst, (found - right).abs().max().item<double>() / scale);
    }
  }
  return worst;
}

/// e123 of the mean over channels: the reference of a graph, which moves with it.
Tensor reference_of(const Tensor& x) {
  return x.select(0, clifford::e123).mean(-1);
}

struct Primitive {
  std::string name;
  Map map;
};

std::vector<Primitive> primitives(at::ScalarType type) {
  at::manual_seed(3);
  const Tensor weight = random({5, channels, 9}, type), part = random({tokens, 5}, type),
               log_weights = random({2, 3}, type), scalars = random({tokens, 4}, type);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{4, 0, 5});
  const auto half = [](const Tensor& x, int64_t i) { return x.narrow(2, 3 * i, 3); };
  return {
      {"linear", [=](const Tensor& x) { return grade_linear(x, weight, part); }},
      {"norm", [](const Tensor& x) { return normalise_multivectors(x, 0.01); }},
      {"norm of small ones", [](const Tensor& x) { return normalise_multivectors(x * 1e-3, 0.01); }},
      {"gelu", [](const Tensor& x) { return gate_multivectors(x); }},
      {"relu", [](const Tensor& x) { return gate_multivectors(x, MultivectorGate::relu); }},
      {"sigmoid", [](const Tensor& x) { return gate_multivectors(x, MultivectorGate::sigmoid); }},
      {"product", [=](const Tensor& x) { return geometric_product(half(x, 0), half(x, 1)); }},
      {"join", [=](const Tensor& x) { return join(half(x, 0), half(x, 1), reference_of(x)); }},
      {"both", [](const Tensor& x) { return product_and_join(at::cat({x, x.flip(2)}, 2), reference_of(x)); }},
      {"attention",
       [=](const Tensor& x) {
         return multivector_attention({x, scalars}, {half(x, 1), scalars.narrow(1, 0, 2)},
                                      {half(x, 0), scalars.narrow(1, 1, 2)}, log_weights, graphs, 2)
             .multivectors;
       }},
      {"attention of many heads",
       [=](const Tensor& x) {
         return multivector_attention({x, {}}, {x.flip(2), {}}, {x, {}}, log_weights, graphs, 2).multivectors;
       }},
  };
}

TEST(Pin301, CommutesWithEveryPrimitive) {
  const std::vector<Motion> all = motions();
  for (const auto& [type, tolerance] : {std::pair{at::kDouble, 1e-11}, {at::kFloat, 1e-5}}) {
    at::manual_seed(1);
    Tensor x = random({16, tokens, channels}, type);
    if (type == at::kFloat) {
      // Attention divides trivectors by e123, so that float32 keeps its digits where that is not near 0.
      x[clifford::e123] += 2 * x[clifford::e123].sign();
    }
    for (const Primitive& p : primitives(type)) {
      EXPECT_LT(defect(p.map, x, all), tolerance) << p.name << ' ' << type;
    }
  }
}

TEST(Pin301, DoesNotCommuteWithADenseMapNorWithAFixedReference) {
  const std::vector<Motion> all = motions();
  at::manual_seed(2);
  const Tensor x = random({16, tokens, channels}, at::kDouble), dense = random({16, 16}, at::kDouble);
  EXPECT_GT(defect([&](const Tensor& y) { return at::matmul(dense, y.flatten(1)).view(y.sizes()); }, x, all),
            0.1);
  // A join with a reference that does not move is one of motions, not of reflections.
  const Map canonical = [](const Tensor& y) { return join(y, y.flip(2), at::ones({tokens}, y.options())); };
  EXPECT_LT(defect(canonical, x, all, /*mirrored=*/false), 1e-11);
  EXPECT_GT(defect(canonical, x, all, /*mirrored=*/true, /*proper=*/false), 0.1);
  // Nor is what treats e0 as the other vectors are treated: a norm of all components.
  EXPECT_GT(defect([](const Tensor& y) { return y / y.square().mean({0, 2}, true).sqrt(); }, x, all), 1e-3);
}

TEST(Pin301, MovesMotionsThatAreOnes) {
  // The motions of these tests are a group's: a reflection is its own inverse, translations add up.
  const Tensor mirror = motion_matrix(random_versor(1), true), unit = at::eye(16, at::kDouble);
  EXPECT_LT((at::matmul(mirror, mirror) - unit).abs().max().item<double>(), 1e-13);
  const Tensor there = motion_matrix(translation({1, 2, 3}), false),
               back = motion_matrix(translation({-1, -2, -3}), false);
  EXPECT_LT((at::matmul(there, back) - unit).abs().max().item<double>(), 1e-13);
  // A point at x moves to x + (1, 2, 3): e123 = 1, e023 = -x, e013 = y, e012 = -z.
  Tensor point = at::zeros({16, 1, 1}, at::kDouble);
  point[clifford::e123] = 1;
  const Tensor moved = at::matmul(there, point.flatten(1)).flatten();
  EXPECT_NEAR(moved[clifford::e023].item<double>(), -1, 1e-13);
  EXPECT_NEAR(moved[clifford::e013].item<double>(), 2, 1e-13);
  EXPECT_NEAR(moved[clifford::e012].item<double>(), -3, 1e-13);
}

}  // namespace equivariance_test
}  // namespace weyl
