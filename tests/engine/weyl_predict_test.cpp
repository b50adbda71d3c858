// Named tensors in, named tensors out: for every carrier what `weyl predict` writes for a tensor file of the same.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/engine/saved_models.h"
#include "tests/models/steerable/nets.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/engine/weyl.h"
#include "weyl/models/lie/options.h"
#include "weyl/saved/tensors.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl {
namespace weyl_predict_test {

using Tensors = std::unique_ptr<weyl_tensors, void (*)(weyl_tensors*)>;

weyl_dtype dtype_of(const Tensor& t) {
  return t.scalar_type() == at::kDouble ? WEYL_F64
         : t.scalar_type() == at::kLong ? WEYL_I64
         : t.scalar_type() == at::kBool ? WEYL_BOOL
                                        : WEYL_F32;
}

at::ScalarType type_of(weyl_dtype dtype) {
  return dtype == WEYL_F64    ? at::kDouble
         : dtype == WEYL_I64  ? at::kLong
         : dtype == WEYL_BOOL ? at::kBool
                              : at::kFloat;
}

/// What the C interface makes of the tensors of a file.
NamedTensors by_interface(const std::string& model_path, const std::string& file, bool gradient) {
  const char* path = model_path.c_str();
  weyl_model* model = nullptr;
  EXPECT_EQ(weyl_load(&path, 1, nullptr, 0, &model), WEYL_OK) << weyl_last_error();
  const std::unique_ptr<weyl_model, void (*)(weyl_model*)> owner(model, weyl_free);
  const NamedTensors given = load_tensors(file);
  std::vector<weyl_tensor> inputs;
  for (const auto& [name, t] : given) {
    inputs.push_back(
        {name.c_str(), dtype_of(t), static_cast<size_t>(t.dim()), t.sizes().data(), t.const_data_ptr()});
  }
  weyl_tensors* found = nullptr;
  EXPECT_EQ(weyl_predict(model, inputs.data(), inputs.size(), gradient ? 1 : 0, &found), WEYL_OK)
      << weyl_last_error();
  const Tensors outputs(found, weyl_tensors_free);
  NamedTensors result;
  for (size_t i = 0; i < weyl_tensors_count(found); ++i) {
    const weyl_tensor t = weyl_tensors_get(found, i);
    result[t.name] = at::from_blob(const_cast<void*>(t.data), {t.shape, t.axes}, type_of(t.dtype)).clone();
  }
  EXPECT_EQ(weyl_tensors_get(found, result.size()).name, nullptr);
  return result;
}

/// The same by the library, as the program does it.
NamedTensors by_library(const std::string& model_path, const std::string& file, bool gradient) {
  const Predictor predictor(model_path);
  TensorFile read = read_tensor_file(file, schema_of(predictor.interface()));
  PredictionTensors tensors(predictor);
  predictor.each(std::make_shared<InMemory>(read.batch, read.schema), file,
                 [&](const Batch& batch) { tensors.add(predictor(batch.input)); });
  NamedTensors all = tensors.done();
  if (gradient) {
    all["gradient"] = predictor.gradient(read.batch.input);
  }
  return all;
}

void expect_same(const SavedModel& saved, bool gradient) {
  const Folder folder;
  const std::string model = saved_in(folder, "model", saved), file = folder / "data.safetensors";
  Schema schema = schema_of(saved.model->interface);
  schema.labels.clear();
  const std::array<int64_t, 1> cells{9};
  Batch batch =
      schema.carrier() == Carrier::grid ? random_grids(schema, 2, cells, 7) : random_tokens(schema, 3, 5, 7);
  batch.labels.clear();
  write_tensor_file(file, batch, schema);
  const NamedTensors expected = by_library(model, file, gradient),
                     found = by_interface(model, file, gradient);
  const bool rows = schema.carrier() != Carrier::grid;  // which say whose they are
  ASSERT_EQ(found.size(), expected.size() + (rows ? 1 : 0));
  EXPECT_EQ(found.contains("offsets"), rows);
  for (const auto& [name, tensor] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_EQ(found.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(at::equal(found.at(name), tensor)) << name;
  }
}

SavedModel untrained(const SystemOptions& system, const Interface& interface) {
  SavedModel saved;
  saved.recipe.model.system = system;
  saved.interface = interface;
  at::manual_seed(2);
  saved.model = build(saved.recipe.model, interface);
  saved.model->train(false);
  return saved;
}

TEST(WeylPredict, PointsOfEverySystem) {
  for (const char* system : {"painn", "platonic", "transformer", "gatr"}) {
    expect_same(potential(system, *set()), true);
  }
}

TEST(WeylPredict, Poses) {
  Interface interface;
  interface.group = LieGroup::se3;
  interface.dimension = 3;
  interface.features = {{"mark", Level::node, Kind::scalar, 2}};
  interface.outputs = {{"energy", Level::node, Kind::scalar}};
  lie::Options options;
  options.width = 16;
  options.heads = 2;
  options.blocks = 1;
  expect_same(untrained(options, interface), false);
}

TEST(WeylPredict, Grids) {
  for (const int64_t dimension : {2, 3}) {
    for (const Level level : {Level::graph, Level::node}) {
      expect_same(untrained(steerable::small(), steerable::images(dimension, level)), false);
    }
  }
}

// Nothing of it needs to be known: tensors are in the model's own units.
TEST(WeylPredict, AModelWhoseLengthsHaveNoUnit) {
  SavedModel saved = potential("painn", *set());
  Interface interface = saved.model->interface;
  interface.length_unit.clear();
  expect_same(untrained(saved.recipe.model.system, interface), false);
}

TEST(WeylPredict, RefusesWhatIsNoInputOfTheModel) {
  const Folder folder;
  const std::string path = saved_in(folder, "model", potential("painn", *set()));
  const char* name = path.c_str();
  weyl_model* model = nullptr;
  ASSERT_EQ(weyl_load(&name, 1, nullptr, 0, &model), WEYL_OK) << weyl_last_error();
  const std::array<int64_t, 2> shape{2, 3};
  const std::array<double, 6> places{0, 0, 0, 1, 0, 0};
  const std::array<int64_t, 1> two{2};
  const std::array<int64_t, 2> offsets{0, 3};
  std::vector<weyl_tensor> inputs{{"positions", WEYL_F64, 2, shape.data(), places.data()},
                                  {"offsets", WEYL_I64, 1, two.data(), offsets.data()}};
  weyl_tensors* found = nullptr;
  EXPECT_EQ(weyl_predict(model, inputs.data(), 2, 0, &found), WEYL_DATA);
  EXPECT_STREQ(weyl_last_error(), "weyl_predict: offsets: must end with the number of rows, 2, got 3");
  EXPECT_EQ(weyl_predict(model, inputs.data(), 1, 0, &found), WEYL_DATA);
  EXPECT_STREQ(weyl_last_error(), "weyl_predict: offsets: is absent");
  inputs.push_back(inputs[0]);
  EXPECT_EQ(weyl_predict(model, inputs.data(), 3, 0, &found), WEYL_USAGE);
  EXPECT_STREQ(weyl_last_error(), "weyl_predict: positions: must be given once");
  EXPECT_EQ(found, nullptr);
  weyl_free(model);
}

}  // namespace weyl_predict_test
}  // namespace weyl
