// Every layer of GeoMFormer, ET and PaiNN alone, in both dtypes: its vectors turn and its numbers stay when
// atoms and vectors are turned, reflected and shifted. The control: a ReLU of vectors, one component at a
// time, fails the same check.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/equivariance.h"
#include "tests/models/geomformer/fixtures.h"
#include "weyl/core/worst_of.h"

namespace weyl::geomformer {
namespace layers_test {

using Streams = StreamAttention::Streams;

struct State {
  Points points;
  Streams streams;  // (N, 16), (N, 3, 16)
};

State state() {
  auto generator = at::detail::createCPUGenerator(6);
  const auto options = at::TensorOptions(at::kDouble);
  return {std::get<Points>(featured_batch({5, 1, 4}).input),
          {at::randn({10, 16}, generator, options), at::randn({10, 3, 16}, generator, options)}};
}

State moved(const State& s, const Tensor& turn, const Tensor& shift) {
  const int64_t graphs = s.points.count();
  const Motions motions{turn.repeat({graphs, 1, 1}), shift.repeat({graphs, 1})};
  const Batch batch = transform(Batch{s.points, {}}, motions, featured_schema());
  return {std::get<Points>(batch.input), {s.streams.inv, at::matmul(turn, s.streams.equ)}};
}

State rounded(const State& s, at::ScalarType dtype) {
  return {std::get<Points>(to(Input(s.points), at::kCPU, dtype)),
          {s.streams.inv.to(dtype), s.streams.equ.to(dtype)}};
}

/// A layer: its modules, and from a state to numbers (R, c) and vectors (R, 3, c) of nodes or edges.
struct Layer {
  std::string name;
  std::vector<std::shared_ptr<Module>> modules;
  std::function<Streams(const State&)> run;
};

/// What the layer is off by, turned by a rotation and by a reflection; `broken`: with a ReLU of its vectors.
double error_of(const Layer& layer, at::ScalarType dtype, bool broken = false) {
  for (const auto& module : layer.modules) {
    module->to(dtype);
  }
  const at::NoGradGuard quiet;
  const auto run = [&](const State& s) {
    Streams y = layer.run(rounded(s, dtype));
    return Streams{y.inv, broken ? y.equ.relu() : y.equ};
  };
  Stream stream(4, "layers");
  const State start = state();
  const Streams y = run(start);
  double worst = 0;
  for (const double sign : {1.0, -1.0}) {
    const Tensor turn = sign * random_rotations(1, 3, false, stream).linear[0];
    const Streams found = run(moved(start, turn, at::tensor({1.5, -0.5, 2.0}, at::kDouble)));
    const Named expected{{"inv", y.inv}, {"equ", at::matmul(turn, y.equ.to(at::kDouble))}};
    worst = worst_of(worst, equivariance::relative_error({{"inv", found.inv}, {"equ", found.equ}}, expected));
  }
  return worst;
}

std::vector<Layer> layers() {
  at::manual_seed(3);
  const BuildOn float64(at::kCPU, at::kDouble);
  const Interface interface = featured_interface();
  std::vector<Layer> all;
  const auto add = [&](const std::string& name, const auto& module, const auto& run) {
    all.push_back({name, {module}, [=](const State& s) { return run(*module, s); }});
  };
  /// Those that take pairs.
  const auto add_near = [&](const std::string& name, const Options& o, const auto& module, const auto& run) {
    const auto geometry = std::make_shared<PairGeometry>(o, interface.types);
    const auto bias = std::make_shared<StructuralBias>(o.kernels, o.heads, o.bias_heads, o.init);
    all.push_back({name, {geometry, bias, module}, [=](const State& s) {
                     const Neighbourhood near = (*geometry)(s.points);
                     return run(*module, s, near, (*bias)(near));
                   }});
  };
  for (const auto& [name, o] : geomformer_variants()) {
    add_near("start, " + name, o, std::make_shared<Embedding>(o, interface, true, true),
             [interface](const Embedding& layer, const State& s, const Neighbourhood& near, const Tensor&) {
               return layer(s.points, interface, near);
             });
    if (attends(o.interaction)) {
      add_near("attention, " + name, o, std::make_shared<StreamAttention>(o),
               [](const StreamAttention& layer, const State& s, const Neighbourhood& near, const Tensor& b) {
                 return layer(s.streams.inv, s.streams.equ, {}, s.points.graphs, near, {b, b, b, b},
                              layer.attentions());
               });
    }
    if (sends_messages(o.interaction)) {
      add_near("messages, " + name, o, std::make_shared<FilteredMessages>(o),
               [](const FilteredMessages& layer, const State& s, const Neighbourhood& near, const Tensor&) {
                 return layer(s.streams.inv, s.streams.equ, near);
               });
    }
    add_near("block, " + name, o, std::make_shared<Block>(o),
             [](const Block& layer, const State& s, const Neighbourhood& near, const Tensor& b) {
               return layer(s.streams, layer.normed(s.streams), {}, s.points.graphs, near, b);
             });
  }
  Options joined = small_geomformer();
  joined.towers = Towers::joined;
  add_near("block, joined towers", joined, std::make_shared<Block>(joined),
           [](const Block& layer, const State& s, const Neighbourhood& near, const Tensor& b) {
             const Streams read = layer.normed(s.streams);
             return layer(s.streams, read, at::cat({read.equ, read.equ.flip(2)}, 2), s.points.graphs, near,
                          b);
           });
  Options published = small_preset(Preset::et);
  published.vector_cutoff = false;
  add_near("messages without a cut-off of vectors", published, std::make_shared<FilteredMessages>(published),
           [](const FilteredMessages& layer, const State& s, const Neighbourhood& near, const Tensor&) {
             return layer(s.streams.inv, s.streams.equ, near);
           });
  for (const auto& [name, o] : {std::pair("pairs of all", small_geomformer()),
                                {"pairs within a cut-off", small_preset(Preset::painn)}}) {
    add(name, std::make_shared<PairGeometry>(o, interface.types),
        [](const PairGeometry& layer, const State& s) {
          const Neighbourhood near = layer(s.points);
          return Streams{near.basis, near.directions.unsqueeze(2)};
        });
  }
  add("gated feed-forward", std::make_shared<GatedFeedForward>(small_geomformer()),
      [](const GatedFeedForward& layer, const State& s) { return layer(s.streams.inv, s.streams.equ); });
  add("mixing", std::make_shared<StreamMixing>(small_preset(Preset::painn)),
      [](const StreamMixing& layer, const State& s) { return layer(s.streams.inv, s.streams.equ); });
  for (const auto law : {VectorNormLaw::rms, VectorNormLaw::whiten}) {
    add(law == VectorNormLaw::rms ? "rms" : "whiten", std::make_shared<VectorNorm>(16, law, 0.05, 1e-2),
        [](const VectorNorm& layer, const State& s) { return Streams{s.streams.inv, layer(s.streams.equ)}; });
  }
  for (const bool last : {false, true}) {
    add("gated block", std::make_shared<GatedBlock>(16, 5, last),
        [](const GatedBlock& layer, const State& s) { return layer(s.streams); });
  }
  for (const auto head : {Head::mlp, Head::gated}) {
    Options o = small_geomformer();
    o.head = head;
    const auto numbers = std::make_shared<Output>(Quantity{"q", Level::node, Kind::scalar, 3}, 16, o),
               vectors = std::make_shared<Output>(Quantity{"v", Level::node, Kind::vector, 2}, 16, o);
    all.push_back({"outputs", {numbers, vectors}, [=](const State& s) {
                     return Streams{(*numbers)(s.streams), (*vectors)(s.streams).transpose(1, 2)};
                   }});
  }
  return all;
}

TEST(GeomformerLayers, AreEquivariant) {
  for (const Layer& layer : layers()) {
    SCOPED_TRACE(layer.name);
    EXPECT_LT(error_of(layer, at::kDouble), 1e-12);
    EXPECT_GT(error_of(layer, at::kDouble, /*broken=*/true), 1e-2) << "the control passed";
    EXPECT_LT(error_of(layer, at::kFloat), 3e-5);  // a moved place, rounded, in Gaussians of width 0.05
  }
}

// Numbers made of vectors are invariants because products are of vectors as a whole: of vectors whose
// components went through a ReLU first they are none.
TEST(GeomformerLayers, ReadVectorsAsAWhole) {
  const Options own = small_geomformer(), painn = small_preset(Preset::painn);
  at::manual_seed(3);
  const BuildOn float64(at::kCPU, at::kDouble);
  const StreamAttention attention(own);
  const StreamMixing mixing(painn);
  const GatedBlock gated(16, 5, /*last=*/true);
  const PairGeometry geometry(own, featured_interface().types);
  const std::vector<
      std::pair<std::string, std::function<Tensor(const Points&, const Tensor&, const Tensor&)>>>
      numbers{{"attention",
               [&](const Points& p, const Tensor& i, const Tensor& e) {
                 return attention(i, e, {}, p.graphs, geometry(p), {}, attention.attentions()).inv;
               }},
              {"mixing", [&](const Points&, const Tensor& i, const Tensor& e) { return mixing(i, e).inv; }},
              {"gated", [&](const Points&, const Tensor& i, const Tensor& e) { return gated({i, e}).inv; }}};
  Stream stream(9, "layers");
  const State start = state();
  const State turned =
      moved(start, random_rotations(1, 3, false, stream).linear[0], at::zeros({3}, at::kDouble));
  for (const auto& [name, of] : numbers) {
    SCOPED_TRACE(name);
    const auto run = [&](const State& s, bool relu) {
      const at::NoGradGuard quiet;
      return Named{{"inv", of(s.points, s.streams.inv, relu ? s.streams.equ.relu() : s.streams.equ)}};
    };
    EXPECT_LT(equivariance::relative_error(run(turned, false), run(start, false)), 1e-12);
    EXPECT_GT(equivariance::relative_error(run(turned, true), run(start, true)), 1e-2);
  }
}

}  // namespace layers_test
}  // namespace weyl::geomformer
