// Rigid bodies through the program: trained on tensor files, predicted, audited, their films drawn.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/app/program.h"
#include "tests/tasks/rigid_scenes.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/core/json.h"

namespace weyl {
namespace rigid_motion_test {

namespace fs = std::filesystem;

constexpr int64_t steps = 3;

std::string config(const std::string& system) {
  return R"([data]
set = "tensors"
[data.tensors]
path = "data"
[interface]
typical_nodes = 20
length_unit = "m"
features = [
  { name = "height" },
  { name = "vertices", kind = "vector", channels = 3, role = "offset" },
  { name = "arms", kind = "vector", channels = 3, role = "normal" },
  { name = "normal", kind = "vector", role = "normal" },
  { name = "vertex_velocities", kind = "vector", channels = 3 },
  { name = "velocity", kind = "vector" },
  { name = "up", kind = "vector", role = "normal" },
]
outputs = [
  { name = "displacement", level = "object", kind = "vector", channels = 3, unit = "m" },
  { name = "turn", level = "object", kind = "axial_vector", channels = 3, unit = "rad" },
  { name = "contact", level = "object" },
  { name = "vertex_count", level = "object" },
  { name = "vertex_mean", level = "object", kind = "vector", unit = "m" },
  { name = "vertex_moment", level = "object", kind = "symmetric_tensor" },
  { name = "past_displacement", level = "object", kind = "vector", unit = "m" },
  { name = "past_turn", level = "object", kind = "axial_vector", unit = "rad" },
]
[task]
name = "rigid_motion"
[model]
system = ")" +
         system + R"("
[model.platonic]
width = 48
heads = 12
blocks = 2
[train]
epochs = 120
batch = 8
augment = "rotoreflections"
evaluate_every = 20
[train.optimiser]
rate = 3e-3
clip = 1.0
)";
}

std::string trained() {
  static const std::string folder = [] {
    const std::string place = scratch("rigid-motion");
    fs::create_directories(place + "/data");
    uint64_t seed = 1;
    for (const char* split : {"train", "valid", "test"}) {
      const auto data = rigid::data(split[1] == 'r' ? 24 : 9, steps, seed++);
      write_tensor_file(place + "/data/" + split + ".safetensors", data->all(), data->schema());
    }
    std::ofstream(place + "/net.toml") << config("platonic");
    const Outcome out = weyl_program("train net.toml --out run --threads 1 --json", place);
    EXPECT_EQ(out.code, 0) << out.err;
    return place;
  }();
  return folder;
}

TEST(RigidMotionProgram, TrainsAndMeasuresEachStep) {
  const std::string folder = trained();
  const Json eval = Json::parse(weyl_program("eval run --json --threads 1", folder).out, "stdout");
  const Json* metrics = eval.find("metrics");
  ASSERT_NE(metrics, nullptr);
  for (const char* name : {"mse", "angle_error", "mse_free", "centre_error_contact", "mse_step_3"}) {
    EXPECT_NE(metrics->find(name), nullptr) << name;
  }
  const std::string result = contents(folder + "/run/result.json");
  EXPECT_NE(result.find("constant velocity"), std::string::npos);
}

TEST(RigidMotionProgram, PredictsObjectsAndTheirCorners) {
  const std::string folder = trained();
  const Outcome out =
      weyl_program("predict run data/test.safetensors --out said.safetensors --threads 1", folder);
  ASSERT_EQ(out.code, 0) << out.err;
  const NamedTensors said = load_tensors(folder + "/said.safetensors");
  const int64_t objects = load_tensors(folder + "/data/test.safetensors").at("object_offsets").size(0) - 1;
  EXPECT_EQ(said.at("displacement").sizes(), at::IntArrayRef({objects, 1, 3}));
  EXPECT_EQ(said.at("turn").sizes(), at::IntArrayRef({objects, 1, 3}));
  EXPECT_EQ(said.at("corners").size(1), 3);
  EXPECT_FALSE(said.contains("object_vectors"));  // families hold what the model itself gives
  const Outcome inspected = weyl_program("data inspect said.safetensors --json", folder);
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  const Json found = Json::parse(inspected.out, "stdout");
  EXPECT_EQ(found.find("carrier")->string_or(""), "points");
  EXPECT_EQ(found.find("samples")->number_or(0), 9);
  EXPECT_GT(found.find("tokens")->find("mean")->number_or(0), 0);
  EXPECT_EQ(found.find("fields")->items().size(), said.size());
  EXPECT_EQ(found.find("fields")->items()[1].find("name")->string_or(""), "displacement");
  EXPECT_EQ(found.find("fields")->items()[1].find("unit")->string_or(""), "m");
  const Outcome read = weyl_program("predict run said.safetensors --out again.safetensors", folder);
  EXPECT_EQ(read.code, 3);  // predictions are no inputs
}

TEST(RigidMotionProgram, RollsOutAsFarAsItsDataCan) {
  const std::string folder = trained();
  const Outcome said =
      weyl_program("predict run data/test.safetensors --out rolled.safetensors --rollout 5", folder);
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(load_tensors(folder + "/rolled.safetensors").at("displacement").size(1), 5);
  // Labels of a tensor file have the steps that they have.
  const Outcome out = weyl_program("eval run --rollout 2", folder);
  EXPECT_EQ(out.code, 2);
  EXPECT_NE(out.err.find("--rollout: needs data set rigid_bodies"), std::string::npos) << out.err;
}

TEST(RigidMotionProgram, AuditsPredictionsOfObjects) {
  // In both dtypes: after 360 steps turns are so large that float32 rounds them by a third of the limit (after 120 by all of it).
  const Outcome out = weyl_program("audit run --samples 6 --threads 1 --json", trained());
  EXPECT_EQ(out.code, 0) << out.out << out.err;
  EXPECT_NE(out.out.find("float32"), std::string::npos);
  EXPECT_NE(out.out.find("float64"), std::string::npos);
  EXPECT_NE(out.out.find("prediction.turn"), std::string::npos);
  EXPECT_NE(out.out.find("motor_bivector"), std::string::npos);
}

TEST(RigidMotionProgram, DrawsFilms) {
  const std::string folder = trained();
  EXPECT_TRUE(fs::exists(folder + "/run/plots/film_2.safetensors"));
  const Outcome out = weyl_program("plot run --out drawn --json", folder);
  if (out.code == 0) {  // gnuplot is optional
    EXPECT_TRUE(fs::exists(folder + "/drawn/film_0.png"));
    EXPECT_TRUE(fs::exists(folder + "/drawn/film_2.svg"));
  }
}

TEST(RigidMotionProgram, UntrainedConfigsAreAuditedOnRandomObjects) {
  const std::string folder = scratch("rigid-motion-config");
  std::ofstream(folder + "/net.toml") << R"([interface]
typical_nodes = 6
features = [{ name = "velocity", kind = "vector" }]
outputs = [{ name = "push", level = "object", kind = "vector" },
           { name = "spin", level = "object", kind = "axial_vector" }]
[model]
system = "geomformer"
[model.geomformer]
width = 16
heads = 2
blocks = 1
)";
  const Outcome out = weyl_program("audit net.toml --samples 6 --threads 1 --json", folder);
  EXPECT_EQ(out.code, 0) << out.out << out.err;
  EXPECT_NE(out.out.find("spin"), std::string::npos);
}

}  // namespace rigid_motion_test
}  // namespace weyl
