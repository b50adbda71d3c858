#include "weyl/saved/tensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "weyl/carriers/layout.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl {
namespace tensors_test {

/// A predictor of the outputs in D dimensions, by an untrained transformer.
Predictor predictor_of(std::vector<Quantity> outputs, int64_t dimension) {
  transformer::Options options;
  options.width = 8;
  options.heads = 2;
  options.blocks = 1;
  SavedModel saved;
  Interface interface;
  interface.dimension = dimension;
  interface.outputs = std::move(outputs);
  saved.model = build({options}, interface);
  return Predictor(std::move(saved));
}

Batch samples_of(const Predictor& predictor) {
  Schema asked;
  asked.interface.dimension = predictor.interface().dimension;
  asked.labels = predictor.outputs();
  return random_tokens(asked, 2, 5, 1);
}

TEST(PredictionTensors, StandInFamiliesByLevelAndKind) {
  std::vector<Quantity> outputs;
  for (const Level level : {Level::node, Level::object, Level::graph}) {
    const std::string of(level_names[static_cast<int>(level)]);
    outputs.push_back({of + " energy", level, Kind::scalar});
    outputs.push_back({of + " handedness", level, Kind::pseudoscalar, 2});
    outputs.push_back({of + " shift", level, Kind::vector});
    outputs.push_back({of + " turn", level, Kind::axial_vector, 2});
  }
  const Predictor predictor = predictor_of(outputs, 3);
  const Batch batch = samples_of(predictor);
  const Named predictions = predictor(batch.input);
  PredictionTensors tensors(predictor);
  tensors.add(predictions);
  const NamedTensors all = tensors.done();
  for (const Level level : {Level::node, Level::object, Level::graph}) {
    const std::string of(level_names[static_cast<int>(level)]);
    EXPECT_TRUE(at::equal(all.at(of + "_scalars"),
                          at::cat({predictions.at(of + " energy"), predictions.at(of + " handedness")}, 1)));
    EXPECT_TRUE(at::equal(all.at(of + "_vectors"),
                          at::cat({predictions.at(of + " shift"), predictions.at(of + " turn")}, 1)));
    EXPECT_EQ(all.at(of + "_vectors").size(0), rows_of(batch.input, level));
  }
  EXPECT_EQ(all.size(), 12u + 6u);
}

TEST(PredictionTensors, TurnsInThePlaneAreNumbers) {
  const Predictor predictor = predictor_of({{"shift", Level::object, Kind::vector},
                                            {"turn", Level::object, Kind::axial_vector},
                                            {"torque", Level::node, Kind::axial_vector}},
                                           2);
  const Batch batch = samples_of(predictor);
  const Named predictions = predictor(batch.input);
  PredictionTensors tensors(predictor);
  tensors.add(predictions);
  const NamedTensors all = tensors.done();
  EXPECT_TRUE(at::equal(all.at("object_scalars"), predictions.at("turn")));
  EXPECT_TRUE(at::equal(all.at("object_vectors"), predictions.at("shift")));
  EXPECT_TRUE(at::equal(all.at("node_scalars"), predictions.at("torque")));
}

}  // namespace tensors_test
}  // namespace weyl
