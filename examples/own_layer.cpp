// A layer of your own: nodes pull and push each other along the lines between them, as strongly as a small
// network of their distance says,
//
//   y_i = sum_j phi(|x_j - x_i|^2, s_i, s_j) (x_j - x_i),
//
// which turns with the space, knows no origin and no order of nodes. A model of it says so in `symmetry`, and
// the audit checks what it says. A second model has a mistake: it measures lengths from the origin. The audit
// must find it. Exit code 1 when the audit is wrong about either.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <weyl/core/random_tensor.h>
#include <weyl/models/model.h>
#include <weyl/nn/mlp.h>
#include <weyl/ops/edges/edges.h>
#include <weyl/ops/segment.h>
#include <weyl/study/audit/audit.h>

#include <cstdio>
#include <exception>
#include <vector>

using weyl::Tensor;

/// x (N, D), s (N, S) -> y (N, D).
class Pull : public weyl::Module {
 public:
  Pull(int64_t scalars, bool mistaken)
      : mistaken_(mistaken), phi_(child("phi", std::make_shared<weyl::Mlp>(1 + 2 * scalars, 16, 1))) {}

  Tensor operator()(const Tensor& x, const Tensor& s, const weyl::Segments& graphs) const {
    const weyl::Edges pairs = weyl::all_pairs(graphs);
    const auto of = [](const Tensor& nodes, const Tensor& rows) { return nodes.index_select(0, rows); };
    const Tensor line = of(x, pairs.neighbour) - of(x, pairs.centre);  // (P, D)
    const Tensor length = (mistaken_ ? of(x, pairs.neighbour) : line).square().sum(1, /*keepdim=*/true);
    const Tensor pull = (*phi_)(at::cat({length, of(s, pairs.centre), of(s, pairs.neighbour)}, 1));  // (P, 1)
    return weyl::segment_sum(pull * line, pairs.of_centre);
  }

 private:
  bool mistaken_;
  std::shared_ptr<weyl::Mlp> phi_;
};

class PullModel : public weyl::PointsModel {
 public:
  PullModel(const weyl::Interface& interface, bool mistaken)
      : PointsModel(interface), pull_(child("pull", std::make_shared<Pull>(1, mistaken))) {}

  weyl::Named forward(const weyl::Points& points) override {
    return {{"force", (*pull_)(points.positions, points.scalars, points.graphs).unsqueeze(1)}};  // (N, 1, D)
  }
  weyl::Symmetry symmetry() const override {
    using weyl::Claim;
    return {{{Claim::Of::rotoreflections, "O(3)", nullptr},
             {Claim::Of::translations, "translations", nullptr},
             {Claim::Of::permutations, "permutations", nullptr}},
            {}};
  }
  weyl::Work work(double nodes) const override { return {nodes * 2 * (3 + 1) * 16}; }

 private:
  std::shared_ptr<Pull> pull_;
};

int main() try {
  weyl::Schema schema;
  schema.interface.typical_nodes = 5;
  schema.interface.features = {{.name = "charge"}};
  weyl::Interface interface = schema.interface;
  interface.outputs = {{.name = "force", .kind = weyl::Kind::vector}};

  weyl::Points points;  // eight graphs of five nodes
  weyl::Stream stream(1, "own_layer");
  points.graphs = weyl::Segments::of_sizes(std::vector<int64_t>(8, 5));
  points.positions = weyl::normal_tensor({40, 3}, stream);
  points.scalars = weyl::normal_tensor({40, 1}, stream);

  bool right = true;
  for (const bool mistaken : {false, true}) {
    PullModel model(interface, mistaken);
    const auto report = weyl::audit(model, nullptr, {points, {}}, schema);
    std::printf("%s\n", mistaken ? "with lengths from the origin" : "with lengths of the lines");
    for (const auto& claim : report.claims) {
      std::printf("  %-14s %-8s error %.1e %s\n", claim.group.c_str(), claim.dtype.c_str(), claim.error,
                  claim.passed ? "holds" : "FAILS");
    }
    right = right && report.passed == !mistaken;
  }
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_layer: %s\n", error.what());
  return 2;
}
