#include "weyl/ops/multivectors/products.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/gradients.h"
#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"
#include "weyl/ops/multivectors/layout.h"
#include "weyl/ops/multivectors/tables.h"

namespace weyl {
namespace products_test {

using at::Tensor;

Tensor random(std::vector<int64_t> shape) {
  return at::randn(shape, at::kDouble);
}

/// out = sum sign left right, number by number.
template <int terms>
Tensor by_loops(const clifford::Product<terms>& product, const Tensor& x, const Tensor& y) {
  Tensor z = at::zeros_like(x);
  for (const clifford::Term& t : product) {
    z[t.out] += t.sign * x[t.left] * y[t.right];
  }
  return z;
}

TEST(Layout, IsThereAndBack) {
  const Tensor x = random({5, 3, 16});
  const Tensor first = components_first(x);
  EXPECT_EQ(first.sizes(), at::IntArrayRef({16, 5, 3}));
  EXPECT_TRUE(first.is_contiguous());
  EXPECT_TRUE(at::equal(first[7], x.select(2, 7)));
  EXPECT_TRUE(at::equal(components_last(first), x));
  EXPECT_THROW(components_first(random({5, 3, 15})), ShapeError);
  EXPECT_THROW(components_last(x), ShapeError);
}

TEST(Products, AreTheirTables) {
  at::manual_seed(1);
  // Channels of more and fewer than a vector holds, and none at all.
  for (const auto& [tokens, channels] :
       {std::pair{7, 3}, {1, 1}, {4, 16}, {2, 35}, {0, 4}, {5, 0}, {40, 2}}) {
    const Tensor x = random({16, tokens, channels}), y = random({16, tokens, channels}),
                 u = random({16, tokens, channels}), v = random({16, tokens, channels}), r = random({tokens});
    const Tensor product = by_loops(clifford::geometric_terms, x, y),
                 joined = by_loops(clifford::join_terms, u, v) * r.unsqueeze(1);
    EXPECT_TRUE(at::allclose(geometric_product(x, y), product, 1e-12, 1e-13));
    EXPECT_TRUE(at::allclose(join(u, v, r), joined, 1e-12, 1e-13));
    const Tensor both = at::cat({product, joined}, 2);
    EXPECT_TRUE(at::allclose(product_and_join(x, y, u, v, r), both, 1e-12, 1e-13));
    EXPECT_TRUE(at::allclose(product_and_join(at::cat({x, y, u, v}, 2), r), both, 1e-12, 1e-13));
    // Slices of something wider, and channels that do not lie side by side.
    const Tensor wide = at::cat({v, x, y}, 2), across = at::stack({x, y}, 3);
    EXPECT_TRUE(at::allclose(
        geometric_product(wide.narrow(2, channels, channels), wide.narrow(2, 2 * channels, channels)),
        product, 1e-12, 1e-13));
    EXPECT_TRUE(
        at::allclose(geometric_product(across.select(3, 0), across.select(3, 1)), product, 1e-12, 1e-13));
  }
}

TEST(Products, TablesAsTensorsAreTheTerms) {
  const Tensor like = at::zeros({}, at::kDouble);
  const Tensor geometric = dense_table(MultivectorProduct::geometric, like),
               joins = dense_table(MultivectorProduct::join, like);
  EXPECT_EQ(geometric.count_nonzero().item<int64_t>(), 192);
  EXPECT_EQ(joins.count_nonzero().item<int64_t>(), 81);
  // 1 is the unit of the product, e0123 that of the join.
  const Tensor x = random({16, 2, 3});
  Tensor one = at::zeros({16, 2, 3}, at::kDouble), pseudoscalar = one.clone();
  one[0] = 1;
  pseudoscalar[15] = 1;
  EXPECT_TRUE(at::allclose(geometric_product(one, x), x));
  EXPECT_TRUE(at::allclose(geometric_product(x, one), x));
  const Tensor joined = join(x, pseudoscalar, at::ones({2}, at::kDouble));
  EXPECT_TRUE(at::allclose(joined.abs(), x.abs()));  // dual twice: a sign for each grade
  // e0 squares to 0, e1 to 1, e12 to -1.
  const auto square = [&](int64_t blade) {
    return by_loops(clifford::geometric_terms, at::eye(16, at::kDouble)[blade].view({16, 1, 1}),
                    at::eye(16, at::kDouble)[blade].view({16, 1, 1}))[0]
        .item<double>();
  };
  EXPECT_EQ(square(clifford::e0), 0);
  EXPECT_EQ(square(clifford::e1), 1);
  EXPECT_EQ(square(clifford::e12), -1);
}

TEST(Products, DerivativesAreRight) {
  at::manual_seed(2);
  for (const int64_t channels : {1, 3, 17}) {
    const Tensor x = random({16, 2, channels}), y = random({16, 2, channels}), u = random({16, 2, channels}),
                 v = random({16, 2, channels}), r = random({2});
    const GradientCheck few{.samples = 12};
    expect_second_gradients([](const auto& in) { return geometric_product(in[0], in[1]); }, {x, y}, few);
    expect_second_gradients([](const auto& in) { return join(in[0], in[1], in[2]); }, {x, y, r}, few);
    expect_second_gradients(
        [](const auto& in) { return product_and_join(in[0], in[1], in[2], in[3], in[4]); }, {x, y, u, v, r},
        few);
    expect_second_gradients([](const auto& in) { return product_and_join(in[0], in[1]); },
                            {at::cat({x, y, u, v}, 2), r}, few);
    // Some inputs alone, and one input twice.
    expect_second_gradients([&](const auto& in) { return geometric_product(x, in[0]); }, {y}, few);
    expect_second_gradients([&](const auto& in) { return join(x, y, in[0]); }, {r}, few);
    expect_second_gradients([&](const auto& in) { return join(in[0], y, r); }, {x}, few);
    expect_second_gradients([](const auto& in) { return geometric_product(in[0], in[0]); }, {x}, few);
    expect_second_gradients([&](const auto& in) { return product_and_join(at::cat({x, y, u, v}, 2), in[0]); },
                            {r}, few);
  }
}

TEST(Products, OtherShapesAreErrors) {
  const Tensor x = random({16, 4, 3}), r = random({4});
  EXPECT_THROW(geometric_product(x, random({16, 4, 2})), ShapeError);
  EXPECT_THROW(geometric_product(random({15, 4, 3}), random({15, 4, 3})), ShapeError);
  EXPECT_THROW(geometric_product(x, x.to(at::kFloat)), ShapeError);
  EXPECT_THROW(join(x, x, random({3})), ShapeError);
  EXPECT_THROW(join(x, x, {}), ShapeError);
  EXPECT_THROW(product_and_join(x, x, x, random({16, 3, 3}), r), ShapeError);
  EXPECT_THROW(product_and_join(x, r), ShapeError);
}

}  // namespace products_test
}  // namespace weyl
