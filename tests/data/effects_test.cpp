// Every option of data sets that a maker can make does something to what is read, or is refused: see tests/effects.h.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/data/folder.h"
#include "tests/effects.h"
#include "weyl/data/bodies/rigid_scenes.h"
#include "weyl/data/open.h"
#include "weyl/makers/images/lesions.h"
#include "weyl/makers/particles/nbody.h"
#include "weyl/makers/poses/pose_sequences.h"
#include "weyl/makers/shapes/solids.h"
#include "weyl/makers/slabs/slabs.h"

namespace weyl {
namespace effects_test {

void record(const std::string& name, const Input& input, Effect& outcome) {
  if (const auto* points = std::get_if<Points>(&input)) {
    for (const auto& [field, tensor] : {std::pair("positions", points->positions),
                                        {"types", points->types},
                                        {"scalars", points->scalars},
                                        {"vectors", points->vectors}}) {
      if (tensor.defined()) {
        outcome.numbers[name + field] = tensor;
      }
    }
  } else if (const auto* poses = std::get_if<Poses>(&input)) {
    outcome.numbers[name + "elements"] = poses->elements;
  } else {
    outcome.numbers[name + "values"] = std::get<Grid>(input).values;
  }
}

/// The sizes of the splits, what is known of them, and their first and last samples.
Effect data_outcome(const DataOptions& options) {
  return outcome_of([&] {
    require_effects(options);
    Effect outcome;
    const Splits splits = open_splits(options);
    for (const auto& [split, data] :
         {std::pair("train ", splits.train), {"valid ", splits.valid}, {"test ", splits.test}}) {
      const std::string name = split;
      outcome.words[name + "size"] = data ? std::to_string(data->size()) : "none";
      if (data == nullptr || data->size() == 0) {
        continue;
      }
      for (const Quantity& q : data->schema().interface.features) {
        outcome.words[name + "features"] += q.name + ", ";
      }
      for (const int64_t i : {int64_t{0}, data->size() - 1}) {
        const Batch sample = data->batch({&i, 1});
        const std::string at = name + (i == 0 ? "first " : "last ");
        record(at, sample.input, outcome);
        for (const auto& [label, value] : sample.labels) {
          outcome.numbers[at + label] = value;
        }
        record(at + "in training ", data->augmented({&i, 1}, {&i, 1}, {7, 3}).input, outcome);
      }
    }
    return outcome;
  });
}

template <class Options>
void expect_all_to_act(const std::string& name, const Options& base,
                       const std::map<std::string, std::string>& exceptions = {}) {
  expect_effects(name, base, [](const Options& o) { return data_outcome({o}); }, {}, exceptions);
}

TEST(EffectsOfData, Nbody) {
  const Folder folder;
  ASSERT_TRUE(make_nbody({.train = 6, .valid = 3, .test = 2, .steps = 600}, folder.path()));
  expect_all_to_act("nbody",
                    NbodyDataOptions{.path = folder.path(), .train = 4, .input_frame = 1, .target_frame = 3});
}

TEST(EffectsOfData, PoseSequences) {
  const Folder folder;
  ASSERT_TRUE(make_pose_sequences({.train = 4, .valid = 3, .test = 2}, folder.path()));
  expect_all_to_act("pose_sequences", PoseSequencesDataOptions{.path = folder.path()});
}

TEST(EffectsOfData, PoseWindows) {
  expect_all_to_act(
      "pose_windows",
      PoseWindowsDataOptions{.path = WEYL_SOURCE_DIR "/tests/fixtures/poses/loop.truth.tum",
                             .group = LieGroup::se2,
                             .length = 5,
                             .ahead = 1,
                             .noise = 0.1},
      {{"repeated", "no time stands there twice, which files alone show (PoseFile.RepeatedTimes...)"}});
}

TEST(EffectsOfData, Oc20) {
  const Folder folder;
  ASSERT_TRUE(make_slabs({.train = 3, .valid = 3, .test = 3}, folder.path()));
  OtherValues values;
  values.strings["elements"] = {{"Au", "Pt", "Ag", "Pd", "Ni", "Cu", "Al", "O", "N", "C", "H"}};
  expect_effects(
      "oc20",
      Oc20DataOptions{.path = folder.path(), .noisy_nodes = NoisyNodes{.probability = 0.9}, .train = 2},
      [](const Oc20DataOptions& o) { return data_outcome({o}); }, values);
}

TEST(EffectsOfData, RigidBodies) {
  const Folder folder;
  const RigidScenesFile two(WEYL_SOURCE_DIR "/tests/fixtures/rigid/tetrahedra.safetensors");
  RigidScenes scenes{.frames = 6, .interval = two.interval(), .shapes = two.shapes()};
  for (int64_t i = 0; i < 4; ++i) {  // six frames: the fixture's three, twice
    RigidScene scene = two.scene(i % 2);
    RigidScene longer{.objects = scene.objects};
    for (size_t k = 0; k < scene.objects.size(); ++k) {
      for (int twice = 0; twice < 2; ++twice) {
        longer.poses.insert(longer.poses.end(), scene.poses.begin() + 21 * k,
                            scene.poses.begin() + 21 * (k + 1));
        longer.contacts.insert(longer.contacts.end(), scene.contacts.begin() + 3 * k,
                               scene.contacts.begin() + 3 * (k + 1));
      }
    }
    scenes.add(longer);
  }
  for (const char* split : {"train", "valid", "test"}) {
    write_rigid_scenes(folder / (std::string(split) + ".safetensors"), scenes, {});
  }
  expect_all_to_act("rigid_bodies", RigidBodiesDataOptions{.path = folder.path()});
}

TEST(EffectsOfData, Ph2) {
  const Folder folder;
  ASSERT_TRUE(make_lesions({.count = 8, .height = 32, .width = 32}, folder.path()));
  expect_all_to_act(
      "ph2", Ph2DataOptions{.path = folder.path(), .height = 16, .width = 16},
      {{"mask_threshold",
        "masks of two values, as these are, need none: it is for greys, which files alone show"}});
}

/// Of clouds every way to change them in training is on, so that each acts by itself.
const CloudInput all_inputs{
    .centres = 6,
    .neighbours = 4,
    .frame = CloudFrame::up,
    .augment = CloudAugmentation{.draw = true, .rotate = Turning::z, .scale = 1.25, .jitter = 0.02}};

TEST(EffectsOfData, ModelnetOfPointsAndOfVoxels) {
  const Folder folder;
  make_solids({.train = 20, .test = 10, .points = 60}, folder.path());
  const std::map<std::string, std::string> exceptions{{"limit", "of small files: the least is a MiB"}};
  ModelnetDataOptions o{.path = folder.path(), .carrier = ShapeCarrier::points, .points = 40};
  o.input = all_inputs;
  expect_all_to_act("modelnet", o, exceptions);
  expect_all_to_act(
      "modelnet",
      ModelnetDataOptions{
          .path = folder.path(), .voxels = 8, .points = 40, .fill = VoxelFill::density, .rotate = Turning::z},
      exceptions);
}

/// Of folders of two classes, 20 clouds of 40 points each, in text without names.
TEST(EffectsOfData, Clouds) {
  const Folder folder;
  for (int k = 0; k < 40; ++k) {
    const std::string place = folder / (k % 2 == 0 ? "ball" : "rod");
    std::filesystem::create_directories(place);
    std::ofstream file(place + "/" + std::to_string(k) + ".txt");
    for (int p = 0; p < 40; ++p) {
      file << p << " " << k << " " << (p * p) % 11 << " " << 0.5 * p << "\n";
    }
  }
  const std::string files = "text and folders of classes have no arrays: it is read of .npz and HDF5";
  expect_all_to_act("clouds",
                    CloudsDataOptions{.path = folder.path(),
                                      .columns = {"x", "y", "z", "mass"},
                                      .features = {{.key = "mass"}},
                                      .points = 10,
                                      .input = all_inputs},
                    {{"positions", files}, {"label", files}, {"limit", files}});
}

}  // namespace effects_test
}  // namespace weyl
