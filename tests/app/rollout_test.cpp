// `--rollout N`: a run that was trained on one step, measured, drawn and asked for many.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/app/program.h"
#include "weyl/app/terminal/metrics_text.h"
#include "weyl/core/json.h"
#include "weyl/core/random.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/bodies/rigid_scenes.h"

namespace weyl {
namespace rollout_test {

namespace fs = std::filesystem;

constexpr int64_t frames = 20;

/// Scenes of two tetrahedra that fall and turn.
RigidScenes falling(int64_t count, uint64_t seed) {
  const RigidScenesFile file(WEYL_SOURCE_DIR "/tests/fixtures/rigid/tetrahedra.safetensors");
  RigidScenes scenes{.frames = frames, .interval = 1.0 / 48, .shapes = file.shapes()};
  Stream stream(seed, "falling");
  for (int64_t s = 0; s < count; ++s) {
    RigidScene scene;
    for (int body = 0; body < 2; ++body) {
      scene.objects.push_back({0, 1, 1, 0.4, 0.3});
      const double way = 0.1 * stream.normal(), spin = 0.05 * stream.normal();
      for (int frame = 0; frame < frames; ++frame) {
        const double z = 4 - 0.5 * 10 * frame * frame / 48.0 / 48.0, half = spin * frame / 2;
        for (const double x : {way * frame, 3.0 * body, z, std::sin(half), 0.0, 0.0, std::cos(half)}) {
          scene.poses.push_back(static_cast<float>(x));
        }
        scene.contacts.push_back(0);
      }
    }
    scenes.add(scene);
  }
  return scenes;
}

/// A folder with data, a config and a run of one step.
std::string trained() {
  static const std::string folder = [] {
    const std::string place = scratch("rollout");
    fs::create_directories(place + "/data");
    uint64_t seed = 1;
    for (const char* split : {"train", "valid", "test"}) {
      write_rigid_scenes(place + "/data/" + split + ".safetensors", falling(4, seed++), {});
    }
    std::ofstream(place + "/net.toml") << R"([data]
set = "rigid_bodies"
[data.rigid_bodies]
path = "data"
[task]
name = "rigid_motion"
[task.rigid_motion]
baseline = "constant_velocity"
[model]
system = "transformer"
[model.transformer]
width = 16
heads = 2
blocks = 1
[train]
steps = 4
batch = 16
)";
    const Outcome out = weyl_program("train net.toml --out run --threads 1 --quiet", place);
    EXPECT_EQ(out.code, 0) << out.err;
    return place;
  }();
  return folder;
}

double value_of(const Json& metrics, const char* name) {
  const Json* metric = metrics.find(name);
  const Json* value = metric == nullptr ? nullptr : metric->find("value");
  EXPECT_NE(value, nullptr) << name;
  return value == nullptr ? 0 : value->number_or(NAN);
}

TEST(Rollout, EachStepIsMeasuredBesideSimpleAnswers) {
  const std::string folder = trained();
  const Json eval =
      Json::parse(weyl_program("eval run --rollout 6 --json --threads 1", folder).out, "stdout");
  const Json* baselines = eval.find("baselines");
  ASSERT_NE(baselines, nullptr);
  for (const Json* metrics :
       {eval.find("metrics"), baselines->find("no motion"), baselines->find("constant velocity")}) {
    ASSERT_NE(metrics, nullptr);
    for (const char* name : {"mse", "centre_error", "angle_error"}) {
      EXPECT_LT(value_of(*metrics, text(name, "_step_2").c_str()),
                value_of(*metrics, text(name, "_step_6").c_str()) + 1e-6)
          << name;
    }
    EXPECT_EQ(metrics->find("mse_step_7"), nullptr);
  }
  // A fall that goes on with the same velocity is wrong by g k (k + 1) / 2 frames^2 at step k; the axis of the spin, which
  // is not through the centre of the tokens, adds little.
  EXPECT_NEAR(value_of(*baselines->find("constant velocity"), "centre_error_step_6"), 10.0 / 48 / 48 * 21,
              0.01);
  EXPECT_EQ(eval.find("samples")->number_or(0), 4 * (frames - 1 - 6));
  const Outcome people = weyl_program("eval run --rollout 6 --threads 1", folder);
  EXPECT_NE(people.out.find("mse (m^2) at each step\nstep"), std::string::npos) << people.out;
  EXPECT_NE(people.out.find("\n6  "), std::string::npos) << people.out;
}

TEST(Rollout, PredictionsGoAsFarAsTheyAreAsked) {
  const std::string folder = trained();
  for (const int steps : {1, 5}) {
    const Outcome out =
        weyl_program(text("predict run data/test.safetensors --out said.safetensors --force --threads 1",
                          steps > 1 ? " --rollout 5" : ""),
                     folder);
    ASSERT_EQ(out.code, 0) << out.err;
    const NamedTensors said = load_tensors(folder + "/said.safetensors");
    EXPECT_EQ(said.at("displacement").size(1), steps);
    EXPECT_EQ(said.at("corners").size(1), 3 * steps);
    EXPECT_EQ(said.at("position").size(1), steps);
  }
}

TEST(Rollout, FilmsAreOfManySteps) {
  const std::string folder = trained();
  const Outcome out = weyl_program("plot run --rollout 12 --out drawn --threads 1", folder);
  EXPECT_EQ(SafetensorsFile(folder + "/drawn/rollout_2.safetensors").header().metadata.at("times"),
            "start\nstep 3\nstep 6\nstep 9\nstep 12\n");
  EXPECT_FALSE(fs::exists(folder + "/run/plots/rollout_0.safetensors"));
  if (out.code == 0) {  // gnuplot is optional
    EXPECT_TRUE(fs::exists(folder + "/drawn/rollout_0.png"));
    EXPECT_TRUE(fs::exists(folder + "/drawn/film_0.png"));
  }
}

/// As docs/guide/rigid-bodies.md says of the films at the end of a training.
TEST(Rollout, FilmsOfATrainingGoAsFarAsItsLabels) {
  const std::string folder = trained();
  const auto times = [&](const std::string& run) {
    return SafetensorsFile(folder + "/" + run + "/plots/film_0.safetensors").header().metadata.at("times");
  };
  EXPECT_EQ(times("run"), "start\nstep 1\n");
  const Outcome out = weyl_program(
      "train net.toml data.rigid_bodies.rollout=3 train.steps=1 --out far --threads 1 --quiet", folder);
  ASSERT_EQ(out.code, 0) << out.err;
  EXPECT_EQ(times("far"), "start\nstep 1\nstep 2\nstep 3\n");
}

TEST(Rollout, IsRefusedInOneLine) {
  const std::string folder = trained();
  const auto refused = [&](const std::string& call, const std::string& words, int code = 2) {
    const Outcome out = weyl_program(call, folder);
    EXPECT_EQ(out.code, code) << call;
    EXPECT_NE(out.err.find(words), std::string::npos) << call << "\n" << out.err;
    EXPECT_EQ(std::count(out.err.begin(), out.err.end(), '\n'), 1) << out.err;
  };
  refused("eval run --rollout 19", "must have 21 frames or more for a rollout of 19, got 20", 3);
  refused("eval run --rollout 19 --data data/test.safetensors", "--rollout must be at most two less");
  refused("eval run --rollout 0", "--rollout");
  refused("plot run --dtype float64", "go with --rollout N");
  refused("plot run/best/model.safetensors", "run/best/model.safetensors: must be a run folder", 3);
  // Splits that are there are named where one is not.
  fs::create_directories(folder + "/some");
  fs::copy_file(folder + "/data/valid.safetensors", folder + "/some/valid.safetensors",
                fs::copy_options::overwrite_existing);
  refused("eval run --data some", "some: must have a test split, but has none; there is --split valid", 3);
}

TEST(RolloutText, ShowsTwelveStepsAtMost) {
  Metrics model, still;
  for (int k = 1; k <= 30; ++k) {
    const std::string name = k == 1 ? "mse" : text("mse_step_", k);
    model[name] = {0.5 * k, "m^2"};
    still[name] = {1.0 * k, "m^2"};
  }
  model["rmse"] = {1, "m"};
  EXPECT_EQ(of_first_step(model).size(), 2);
  const std::string tables = rollout_text(model, {{"no motion", still}});
  EXPECT_TRUE(tables.starts_with(
      "\nmse (m^2) at each step, 12 of 30 (--json: all)\nstep  model  no motion\n1       0.5          1\n"))
      << tables;
  EXPECT_TRUE(tables.ends_with("30       15         30\n")) << tables;
  EXPECT_EQ(std::count(tables.begin(), tables.end(), '\n'), 3 + 12);
  EXPECT_EQ(rollout_text(of_first_step(model)), "");
}

}  // namespace rollout_test
}  // namespace weyl
