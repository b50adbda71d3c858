// A group of your own: the full symmetry of a hexagonal prism, D_6h, from three generators; a Platonic
// Transformer with one frame for each of its elements, whose linear maps go by the irreps that weyl finds for the
// group; a short training; the same weights by dense matrices; and an audit. In a config the same is
//
//   [model]
//   system = "platonic"
//   platonic.generators = [[0.5, -0.8660254037844386, 0, 0.8660254037844386, 0.5, 0, 0, 0, 1], ...]
//   platonic.linear = "spectral"
//
// Exit code 1 when the loss does not fall, the two forms differ, or the audit fails.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <weyl/models/platonic/options.h>
#include <weyl/models/systems.h>
#include <weyl/study/audit/audit.h>
#include <weyl/train/loop/optimiser.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

using at::Tensor;

// What prisms do to a node: it goes on along the axis half as fast as across, a law with the symmetry of D_6h alone (or of
// any other prism), not of space.
weyl::Named answer(const weyl::Points& points) {
  const Tensor across = at::tensor({1.0, 1.0, 0.5}, points.vectors.options());
  const Tensor z = points.positions.select(1, 2).view({points.count(), -1}), height = z - z.mean(1, true);
  return {{"displacement", points.vectors * across}, {"energy", height.square().sum(1, true)}};
}

Tensor loss_of(weyl::Model& model, const weyl::Points& points) {
  const weyl::Named found = model(points), want = answer(points);
  return at::mse_loss(found.at("displacement"), want.at("displacement")) +
         0.1 * at::mse_loss(found.at("energy"), want.at("energy"));
}

// The largest difference of two models' outputs beside the largest output.
double difference(weyl::Model& a, weyl::Model& b, const weyl::Points& points) {
  const at::NoGradGuard constants;
  const weyl::Named left = a(points), right = b(points);
  double worst = 0;
  for (const auto& [name, value] : left) {
    worst = std::max(worst, ((value - right.at(name)).abs().max() / value.abs().max()).item<double>());
  }
  return worst;
}

}  // namespace

int main() try {
  const double c = 0.5, s = std::sqrt(0.75);
  const std::vector<std::vector<double>> generators{
      {c, -s, 0, s, c, 0, 0, 0, 1},   // a sixth of a turn about z
      {1, 0, 0, 0, -1, 0, 0, 0, -1},  // half a turn about x
      {1, 0, 0, 0, 1, 0, 0, 0, -1},   // the mirror z -> -z
  };
  const auto group = weyl::FiniteGroup::from_generators("D_6h", 3, generators);
  std::printf("%s: %ld elements, %s reflections, %s\n", group.name().c_str(),
              static_cast<long>(group.order()), group.has_reflections() ? "with" : "without",
              group.abelian() ? "abelian" : "not abelian");

  // What the model is told (a velocity of each node) and asked (a displacement of each node, an energy of
  // each graph).
  using weyl::Kind, weyl::Level;
  weyl::Schema schema;
  schema.interface.typical_nodes = 5;
  schema.interface.features = {{.name = "velocity", .level = Level::node, .kind = Kind::vector}};
  auto interface = schema.interface;
  interface.outputs = {{.name = "displacement", .level = Level::node, .kind = Kind::vector},
                       {.name = "energy", .level = Level::graph, .kind = Kind::scalar}};
  weyl::platonic::Options options;
  options.generators = generators;
  options.width = 4 * group.order();  // 4 channels in each frame
  options.heads = group.order();      // 1 head in each frame
  options.blocks = 2;
  options.linear = weyl::platonic::LinearForm::spectral;
  const auto model = weyl::build({options}, interface);
  options.linear = weyl::platonic::LinearForm::dense;
  const auto dense = weyl::build({options}, interface);

  // Eight random graphs of five nodes: positions (N, D), vectors (N, V, D).
  weyl::Points points;
  points.graphs = weyl::Segments::of_sizes(std::vector<int64_t>(8, 5));
  points.positions = at::randn({40, 3}, at::TensorOptions(at::kDouble));
  points.vectors = at::randn({40, 1, 3}, at::TensorOptions(at::kDouble));

  const auto single = std::get<weyl::Points>(weyl::to(weyl::Input(points), at::kCPU, at::kFloat));
  weyl::OptimiserOptions adam;
  adam.rate = 3e-3;
  weyl::Optimiser optimiser(model->parameters(), adam);
  const double before = loss_of(*model, single).item<double>();
  for (int step = 0; step < 30; ++step) {
    optimiser.clear_gradients();
    loss_of(*model, single).backward();
    optimiser.step();
  }
  const double after = loss_of(*model, single).item<double>();
  std::printf("30 steps by irreps: loss %.3f, then %.3f\n", before, after);

  // Weights are the same in either form.
  {
    const at::NoGradGuard constants;
    const auto from = model->parameters(), into = dense->parameters();
    for (size_t i = 0; i < from.size(); ++i) {
      into[i].tensor.copy_(from[i].tensor);
    }
  }
  model->train(false);
  dense->train(false);
  const double apart = difference(*model, *dense, single);
  std::printf("the same weights by dense matrices: outputs differ by %.1e\n", apart);

  const auto report = weyl::audit(*model, nullptr, {points, {}}, schema);
  double worst = 0;
  for (const auto& claim : report.claims) {
    worst = std::max(worst, claim.error);
    std::printf("%-14s %-14s %-8s error %.1e (at most %.0e) %s\n", claim.group.c_str(), claim.output.c_str(),
                claim.dtype.c_str(), claim.error, claim.tolerance, claim.passed ? "holds" : "FAILS");
  }
  for (const auto& control : report.controls) {
    std::printf("%-14s not claimed: error %.1e (at least %.0e) %s\n", control.transformation.c_str(),
                control.error, control.at_least, control.passed ? "as it must" : "FAILS");
  }
  std::printf("largest equivariance error %.1e\n", worst);
  return report.passed && after < 0.5 * before && apart < 1e-4 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_group: %s\n", error.what());
  return 2;
}
