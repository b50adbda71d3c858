// The FLOPs that models say they need, against every matrix product of a real forward and backward pass.
#include "weyl/study/operation_counts.h"

#include <gtest/gtest.h>

#include "weyl/models/systems.h"
#include "weyl/ops/autograd/without_kernels.h"
#include "weyl/study/random_tokens.h"
#include "weyl/study/training_steps.h"
#include "weyl/train/accumulate.h"

namespace weyl {
namespace {

constexpr int64_t graphs = 2, nodes = 11;

Interface interface_of_nodes() {
  Interface i;
  i.typical_nodes = nodes;
  i.features = {{.name = "s", .channels = 5}, {.name = "v", .kind = Kind::vector, .channels = 3}};
  i.outputs = {{.name = "y", .channels = 2}, {.name = "w", .kind = Kind::vector, .channels = 1}};
  return i;
}

struct Counted {
  double said = 0, forward = 0, step = 0;  // of a token
};

Counted counted(const SystemOptions& options, const Interface& interface) {
  ModelOptions choice;
  choice.system = options;
  const auto model = build(choice, interface);
  const Batch batch = to(random_tokens(schema_of(interface), graphs, nodes, 3), at::kCPU, at::kFloat);
  const WithoutKernels expressions;
  model->train(true);
  Counted c;
  c.said = model->flops_per_token().forward;
  const double tokens = graphs * nodes;
  c.forward = product_flops([&] { loss_of(*model, nullptr, batch); }) / tokens;
  c.step = product_flops([&] { add_gradients(loss_of(*model, nullptr, batch), *model); }) / tokens;
  return c;
}

TEST(ProductFlops, CountsPlainAndBatchedProducts) {
  const at::Tensor a = at::randn({3, 4}), b = at::randn({5, 4}).set_requires_grad(true);
  EXPECT_EQ(product_flops([&] { at::mm(a, b.t()); }), 2 * 3 * 4 * 5);
  EXPECT_EQ(product_flops([&] { at::linear(a, b, at::randn({5})); }), 2 * 3 * 4 * 5);
  EXPECT_EQ(product_flops([&] { at::bmm(at::randn({2, 3, 4}), at::randn({2, 4, 5})); }), 2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(product_flops([&] { at::linear(a, b).sum().backward(); }), 2 * 2 * 3 * 4 * 5);  // of `a` none
  EXPECT_EQ(product_flops([] {}), 0);
}

TEST(ModelFlops, OfATransformer) {
  transformer::Options o;
  o.width = 24;
  o.heads = 3;
  o.blocks = 2;
  const Counted c = counted(o, interface_of_nodes());
  EXPECT_DOUBLE_EQ(c.forward, c.said);
  // The backward pass of a product is two, but for the inputs', 5 scalars and 4 vectors, which need no gradient.
  EXPECT_DOUBLE_EQ(c.step, 3 * c.said - 2 * (5 + 3 * 4) * 24);
}

TEST(ModelFlops, OfPlatonic) {
  platonic::Options o;
  o.width = 72;
  o.heads = 12;
  o.blocks = 2;
  const Counted c = counted(o, interface_of_nodes());
  EXPECT_NEAR(c.forward, c.said, 0.01 * c.said);
  EXPECT_NEAR(c.step, 3 * c.said, 0.03 * c.said * 3);  // inputs need no gradient
}

}  // namespace
}  // namespace weyl
