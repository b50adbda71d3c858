// A data set of your own, made as it is asked for: n masses in the plane, every two joined by a spring of
// stiffness k, a new k and n for every sample. About their centre each swings with w = sqrt(n k),
//
//   x(t) = c(t) + (x - c) cos(w t) + (v - u) sin(w t) / w,   c(t) = c + u t,
//
// so the positions one second later are known exactly. A Platonic Transformer with the eight frames of a
// square learns them from positions, velocities and k. It leaves a run folder (runs/springs-001, ...), like
// any training. Exit code 1 when it is not better than a straight line.
#include <ATen/TensorOperators.h>
#include <weyl/core/random_tensor.h>
#include <weyl/models/platonic/options.h>
#include <weyl/train/train.h>

#include <cstdio>
#include <exception>
#include <vector>

using weyl::Tensor;

class Springs : public weyl::Dataset {
 public:
  Springs(int64_t size, uint64_t seed) : size_(size), seed_(seed) {
    using weyl::Kind, weyl::Level, weyl::Role;
    schema_.interface.dimension = 2;
    schema_.interface.typical_nodes = 4;
    schema_.interface.features = {{.name = "velocity", .kind = Kind::vector, .unit = "m/s"},
                                  {.name = "stiffness", .level = Level::graph, .unit = "N/m"}};
    schema_.labels = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset, .unit = "m"}};
    schema_.horizon = 1;
  }
  int64_t size() const override { return size_; }
  const weyl::Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override { return 3 + index % 3; }

  /// A sample is a pure function of seed and index, whatever the batch it stands in.
  weyl::Batch batch(std::span<const int64_t> indices) const override {
    std::vector<weyl::Batch> samples;
    for (const int64_t index : indices) {
      weyl::Stream stream(seed_, "springs", {static_cast<uint64_t>(index)});
      samples.push_back(sample(tokens(index), stream));
    }
    return weyl::concatenate(samples, schema_);
  }

 private:
  static weyl::Batch sample(int64_t n, weyl::Stream& stream) {
    weyl::Points points;
    points.graphs = weyl::Segments::of_sizes(std::vector<int64_t>{n});
    const Tensor x = points.positions = weyl::normal_tensor({n, 2}, stream);
    const Tensor v = weyl::normal_tensor({n, 2}, stream);
    const Tensor k = points.of_graphs["stiffness"] = weyl::uniform_tensor({1, 1}, 0.2, 1, stream);
    points.vectors = v.unsqueeze(1);
    const Tensor c = x.mean(0), u = v.mean(0), w = (k * n).sqrt();
    const Tensor later = c + u + (x - c) * w.cos() + (v - u) * w.sin() / w;
    return {points, {{"displacement", (later - x).unsqueeze(1)}}};
  }

  int64_t size_;
  uint64_t seed_;
  weyl::Schema schema_;
};

/// Says what simple answers reach, and how training goes.
struct Watch : weyl::TrainObserver {
  double straight_line = 0;
  void opened(const weyl::Splits& data, const weyl::Task& task) override {
    for (const auto& [name, metrics] : task.baselines(*data.test)) {
      std::printf("%-20s test mse %.4f m^2\n", name.c_str(), metrics.at("mse").value);
      straight_line = name == "straight line" ? metrics.at("mse").value : straight_line;
    }
  }
  void validated(const weyl::TrainTick& tick, const weyl::Metrics& metrics, bool) override {
    std::printf("epoch %-14.0f valid mse %.4f m^2\n", tick.elapsed.epoch, metrics.at("mse").value);
  }
};

int main() try {
  weyl::Recipe recipe;
  recipe.model.system = weyl::platonic::Options{.group = "dihedral_4", .width = 64, .heads = 8, .blocks = 2};
  recipe.train.epochs = 8;
  recipe.train.optimiser.rate = 3e-3;

  Watch watch;
  weyl::TrainRequest request;
  request.name = "springs";
  request.observer = &watch;
  request.data = {std::make_shared<Springs>(1000, 1), std::make_shared<Springs>(100, 2),
                  std::make_shared<Springs>(100, 3)};
  const weyl::TrainResult result = weyl::train(recipe, request);
  const double mse = result.test->metrics.at("mse").value;
  std::printf("%-20s test mse %.4f m^2, %.0f s, in %s\n", "platonic", mse, result.seconds,
              result.run.c_str());
  return mse < watch.straight_line ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_dataset: %s\n", error.what());
  return 2;
}
