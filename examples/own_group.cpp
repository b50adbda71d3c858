// A group of your own: the full symmetry of a hexagonal prism, D_6h, from three generators; a Platonic
// Transformer with one frame for each of its elements; and an audit of it. In a config the same is
//
//   [model]
//   system = "platonic"
//   platonic.generators = [[0.5, -0.8660254037844386, 0, 0.8660254037844386, 0.5, 0, 0, 0, 1], ...]
//
// Exit code 1 when the audit fails.
#include <ATen/ops/randn.h>
#include <weyl/models/platonic/options.h>
#include <weyl/models/systems.h>
#include <weyl/study/audit.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

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
  const auto model = weyl::build({options}, interface);

  // Eight random graphs of five nodes: positions (N, D), vectors (N, V, D).
  weyl::Points points;
  points.graphs = weyl::Segments::of_sizes(std::vector<int64_t>(8, 5));
  points.positions = at::randn({40, 3}, at::TensorOptions(at::kDouble));
  points.vectors = at::randn({40, 1, 3}, at::TensorOptions(at::kDouble));
  const auto report = weyl::audit(*model, nullptr, {points, {}}, schema);
  for (const auto& claim : report.claims) {
    std::printf("%-14s %-14s %-8s error %.1e (at most %.0e) %s\n", claim.group.c_str(), claim.output.c_str(),
                claim.dtype.c_str(), claim.error, claim.tolerance, claim.passed ? "holds" : "FAILS");
  }
  for (const auto& control : report.controls) {
    std::printf("%-14s not claimed: error %.1e (at least %.0e) %s\n", control.transformation.c_str(),
                control.error, control.at_least, control.passed ? "as it must" : "FAILS");
  }
  return report.passed ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_group: %s\n", error.what());
  return 2;
}
