// What a model of multivectors predicts: near the origin inside, at its place outside, in families by level.
#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "tests/models/multivector_probe.h"
#include "weyl/core/check.h"
#include "weyl/predict/subject.h"
#include "weyl/saved/predictor.h"
#include "weyl/saved/tensors.h"

namespace weyl {
namespace multivectors_test {

constexpr const char* kAlone = WEYL_SOURCE_DIR "/tests/fixtures/points/multivectors_alone.safetensors";

Interface asked() {
  Interface interface;
  interface.features = {{"frame", Level::node, Kind::multivector}};
  interface.outputs = {{"size"},
                       {"moved", Level::node, Kind::multivector},
                       {"again", Level::node, Kind::multivector},
                       {"mean", Level::graph, Kind::multivector},
                       {"body", Level::object, Kind::multivector}};
  return interface;
}

SavedModel saved_of(const Interface& interface, at::ScalarType dtype = at::kDouble) {
  const BuildOn build_on(at::kCPU, dtype);
  const std::vector<Claim> exact{{Claim::Of::translations, "translations", nullptr}};
  SavedModel saved;
  saved.model = std::make_shared<MultivectorProbe>(interface, MultivectorProbe::Does::scales, exact);
  return saved;
}

Points frames() {
  at::manual_seed(5);
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{3, 1});
  p.objects = Segments::of_sizes(std::vector<int64_t>{1, 2, 1});
  p.positions = at::randn({4, 3}, at::kDouble);
  p.multivectors = at::randn({4, 1, 16}, at::kDouble);
  return p;
}

TEST(PredictedMultivectors, StandInFamiliesByLevel) {
  const Predictor predictor(saved_of(asked()), {});
  const Points points = frames();
  PredictionTensors tensors(predictor);
  tensors.add(predictor(points));
  const NamedTensors done = tensors.done();
  EXPECT_TRUE(at::equal(done.at("moved"), 2.5 * points.multivectors));
  EXPECT_EQ(done.at("node_multivectors").sizes(), at::IntArrayRef({4, 2, 16}));
  EXPECT_TRUE(at::equal(done.at("node_multivectors").slice(1, 1, 2), done.at("again")));
  EXPECT_TRUE(at::equal(done.at("graph_multivectors"), done.at("mean")));
  EXPECT_EQ(done.at("graph_multivectors").sizes(), at::IntArrayRef({2, 1, 16}));
  EXPECT_TRUE(at::equal(done.at("object_multivectors"), done.at("body")));
  EXPECT_EQ(done.at("object_multivectors").sizes(), at::IntArrayRef({3, 1, 16}));
  EXPECT_EQ(done.at("node_scalars").sizes(), at::IntArrayRef({4, 1}));
}

TEST(PredictedMultivectors, OfSamplesFarAwayStandThere) {
  const auto predicted = [](const Points& points, at::ScalarType dtype) {
    return Predictor(saved_of(asked(), dtype), {})(points);
  };
  Schema schema = schema_of(asked());
  schema.labels.clear();
  const Points near = frames();
  Tensor by = at::zeros({2, 3}, at::kDouble);
  by.select(1, 0).fill_(1 << 20);
  const Motions away{at::eye(3, at::kDouble).expand({2, 3, 3}), by};
  const Points far = std::get<Points>(transform(Batch{near, {}}, away, schema).input);
  const Named here = predicted(near, at::kFloat), there = predicted(far, at::kFloat);
  const Named expected = transform(here, asked().outputs, away, near);
  for (const char* name : {"moved", "mean", "body"}) {
    // The model saw float32; numbers without e0 would show what a million did to them.
    const Tensor off = (there.at(name).to(at::kDouble) - expected.at(name).to(at::kDouble)).abs();
    EXPECT_LT(off.slice(2, 2, 5).max().item<double>(), 1e-6) << name;
    EXPECT_GT(there.at(name).slice(2, 1, 2).abs().max().item<double>(), 1e5) << name;
  }
  const Tensor back = (expected.at("moved") - there.at("moved")).abs();
  EXPECT_LT(back.max().item<double>(), 0.5);  // float32 rounds what stands a million away
}

// Without positions the points among the multivectors say where a sample is.
TEST(PredictedMultivectors, WithoutPositionsFarSamplesAreMovedToo) {
  Points near = frames();
  near.positions.zero_();
  near.multivectors.select(2, 14).fill_(1);
  Schema schema = schema_of(asked());
  schema.labels.clear();
  Tensor by = at::zeros({2, 3}, at::kDouble);
  by.select(1, 0).fill_(1 << 20);
  const Motions away{at::eye(3, at::kDouble).expand({2, 3, 3}), by};
  Points far = std::get<Points>(transform(Batch{near, {}}, away, schema).input);
  far.positions.zero_();
  const Predictor predictor(saved_of(asked(), at::kFloat), {});
  const Named expected = transform(predictor(near), asked().outputs, away, near), there = predictor(far);
  for (const char* name : {"moved", "mean", "body"}) {
    const Tensor off = (there.at(name).to(at::kDouble) - expected.at(name).to(at::kDouble)).abs();
    EXPECT_LT(off.slice(2, 2, 5).max().item<double>(), 1e-6) << name;
  }
  EXPECT_LT((there.at("size") - predictor(near).at("size")).abs().max().item<double>(), 1e-3);
}

TEST(PredictedMultivectors, NeedNoPositionsInTheFile) {
  const auto with_channels = [](int64_t channels) {
    Interface interface = asked();
    interface.features[0].channels = channels;
    Subject subject;
    subject.model = saved_of(interface).model;
    subject.schema = schema_of(interface);
    subject.schema.labels.clear();
    return subject;
  };
  const std::shared_ptr<const Dataset> data = open_for_prediction(with_channels(2), kAlone).data;
  EXPECT_EQ(data->size(), 2);
  EXPECT_EQ(std::get<Points>(data->batch(std::vector<int64_t>{0, 1}).input).multivectors.sizes(),
            at::IntArrayRef({3, 2, 16}));
  EXPECT_NE(message_of<DataError>([&] {
              open_for_prediction(with_channels(3), kAlone);
            }).find("multivectors: must be (3, 3, 16), got (3, 2, 16)"),
            std::string::npos);
}

}  // namespace multivectors_test
}  // namespace weyl
