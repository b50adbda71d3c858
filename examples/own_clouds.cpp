// Point clouds of your own with a class of each point, held in memory: screws, whose heads are wider than their shafts, lying any way.
// A Platonic Transformer with the twelve frames of a tetrahedron learns which points belong to the head. It leaves a run folder
// (runs/screws-001, ...), like any training. Exit code 1 when it is not better than to call every point the commoner class.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <weyl/core/random_tensor.h>
#include <weyl/models/platonic/options.h>
#include <weyl/train/train.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <numbers>
#include <vector>

using weyl::Tensor;

namespace {

constexpr int64_t points = 48;  // of a screw

/// Rows 0 .. points / 3 lie on the head, the others on the shaft; both around the axis z, which is turned at last.
weyl::Batch screw(weyl::Stream& stream) {
  const int64_t head = points / 3;
  const auto cylinder = [&](int64_t count, double radius, double from, double to) {
    const Tensor angle = weyl::uniform_tensor({count, 1}, 0, 2 * std::numbers::pi, stream);
    return at::cat(
        {radius * angle.cos(), radius * angle.sin(), weyl::uniform_tensor({count, 1}, from, to, stream)}, 1);
  };
  weyl::Points cloud;
  cloud.positions = at::cat({cylinder(head, 0.5, 0, 0.3), cylinder(points - head, 0.2, -1.2, 0)});
  cloud.graphs = weyl::Segments::of_sizes(std::vector<int64_t>{points});
  Tensor mask = at::zeros({points, 1}, at::kLong);
  mask.slice(0, 0, head).fill_(1);
  return {cloud, {{"mask", mask}}};
}

std::shared_ptr<const weyl::Dataset> screws(int64_t count, uint64_t seed) {
  weyl::Schema schema;
  schema.interface.typical_nodes = points;
  schema.labels = {{.name = "mask", .kind = weyl::Kind::category, .categories = 2}};
  weyl::Stream stream(seed, "screws");
  std::vector<weyl::Batch> all;
  for (int64_t i = 0; i < count; ++i) {
    all.push_back(weyl::transform(screw(stream), weyl::random_rotations(1, 3, false, stream), schema));
  }
  return std::make_shared<weyl::InMemory>(weyl::concatenate(all, schema), schema);
}

}  // namespace

int main() try {
  weyl::Recipe recipe;
  recipe.task.task = weyl::SegmentationOptions{.names = {"shaft", "head"}};
  recipe.model.system =
      weyl::platonic::Options{.group = "tetrahedron", .width = 48, .heads = 12, .blocks = 2};
  recipe.train.epochs = 12;
  recipe.train.batch = 10;
  recipe.train.optimiser.rate = 3e-3;

  weyl::TrainRequest request;
  request.name = "screws";
  request.data = {screws(120, 0), screws(20, 1), screws(20, 2)};
  const weyl::TrainResult result = weyl::train(recipe, request);
  const weyl::Metrics& test = result.test->metrics;
  std::printf("test IoU %.3f, of the head %.3f, in %s\n", test.at("iou").value, test.at("iou_head").value,
              result.run.c_str());
  return test.at("iou").value > 0.5 ? 0 : 1;  // with every point a shaft it is (2/3 + 0) / 2
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_clouds: %s\n", error.what());
  return 2;
}
