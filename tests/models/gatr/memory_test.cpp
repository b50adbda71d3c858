// A scene of the scaling study's size, 5,470 tokens, without a tensor that grows with their square.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "weyl/models/gatr/gatr.h"
#include "weyl/nn/module.h"
#include "weyl/study/cost/allocation_peak.h"

namespace weyl::gatr {
namespace memory_test {

/// The most bytes that a forward and a backward pass over one scene of so many tokens hold.
int64_t peak_of(int64_t tokens, AttentionScope scope) {
  Interface interface;
  interface.typical_nodes = static_cast<double>(tokens);
  interface.outputs = {{.name = "push", .kind = Kind::vector}};
  Options o;
  o.width = 2;
  o.scalars = 8;
  o.heads = 2;
  o.blocks = 2;
  o.attention = scope;
  const BuildOn float32(at::kCPU, at::kFloat);
  at::manual_seed(2);
  Gatr model(o, interface);
  Points scene;
  scene.graphs = Segments::of_sizes(std::vector<int64_t>{tokens});
  scene.objects = Segments::of_sizes(std::vector<int64_t>(5, tokens / 5));
  scene.positions = at::randn({tokens, 3}, at::kFloat);
  std::vector<Tensor> weights;
  for (const Parameter& p : model.parameters()) {
    weights.push_back(p.tensor);
  }
  const AllocationPeak peak;
  const Tensor loss = model.forward(scene).at("push").square().sum();
  torch::autograd::grad({loss}, weights, {}, false, false, /*allow_unused=*/true);
  return peak.bytes();
}

TEST(GatrMemory, GrowsWithTheTokensNotWithTheirSquare) {
  constexpr int64_t tokens = 5470;
  for (const auto scope : {AttentionScope::global, AttentionScope::hierarchical}) {
    const int64_t whole = peak_of(tokens, scope), half = peak_of(tokens / 2, scope);
    EXPECT_LT(whole, tokens * tokens * static_cast<int64_t>(sizeof(float))) << "one matrix of scores";
    EXPECT_LT(static_cast<double>(whole), 2.3 * static_cast<double>(half));
  }
}

}  // namespace memory_test
}  // namespace weyl::gatr
