// Options that are set but have no effect: which they are, and that a recipe that is read warns of them. What needs the model's own interface is in tests/models/effects_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/recipe_files.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace unused_options_test {

namespace fs = std::filesystem;

Recipe read(const std::vector<std::string>& overrides, std::string_view toml = "") {
  Recipe recipe;
  read_toml_text(toml, "c.toml", overrides, [&](Fields& f) { fields(f, recipe); });
  return recipe;
}

std::string refusal(const std::vector<std::string>& overrides, std::string_view toml = "") {
  try {
    require_effects(read(overrides, toml));
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

struct Case {
  std::vector<std::string> overrides;
  std::string begins;  // of the message; empty: accepted
};

void expect(const std::string& choice, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    std::vector<std::string> overrides{choice};
    overrides.insert(overrides.end(), c.overrides.begin(), c.overrides.end());
    const std::string found = refusal(overrides);
    EXPECT_EQ(found.substr(0, std::max<size_t>(c.begins.size(), c.begins.empty() ? 300 : 0)), c.begins)
        << c.overrides.front() << ": " << found;
    EXPECT_EQ(found.find('\n'), std::string::npos);
  }
}

TEST(IdleOptions, OfPlatonic) {
  const std::string p = "model.platonic.";
  expect(
      "model.system=platonic",
      {{{p + "linear_norm=mean"}, "model.platonic.linear_norm: has no effect with attention = \"softmax\""},
       {{p + "linear_norm=mean", p + "attention=linear"}, ""},
       {{p + "linear_norm=typical"}, ""},  // as it is by default
       {{p + "drop_path_by=node"}, "model.platonic.drop_path_by: has no effect with drop_path = 0; must be"},
       {{p + "drop_path_by=node", p + "drop_path=0.1"}, ""},
       {{p + "axis=[1,0,0]"}, "model.platonic.axis: has no effect with group = \"tetrahedron\""},
       {{p + "axis=[1,0,0]", p + "group=cyclic_4"},
        "model.platonic.axis: has no effect with group = \"cyclic_4\""},
       {{p + "axis=[1,0,0]", p + "group=dihedral_3d_4"}, ""},
       {{p + "group=octahedron", p + "generators=[[0,-1,0,1,0,0,0,0,1]]"},
        "model.platonic.group: has no effect beside generators"},
       {{p + "generators=[[0,-1,0,1,0,0,0,0,1]]"}, ""},
       {{p + "use_key=true", p + "rope=false"}, "model.platonic.use_key: has no effect with rope = false"}});
}

TEST(IdleOptions, OfOtherSystems) {
  expect("model.system=lie", {{{"model.lie.variant=A", "model.lie.chart=polar"},
                               "model.lie.chart: has no effect with variant = \"A\""},
                              {{"model.lie.chart=polar"}, ""},
                              {{"model.lie.blocks=1", "model.lie.move_tokens=true"},
                               "model.lie.move_tokens: has no effect with fewer"}});
  const std::string g = "model.geomformer.";
  expect(
      "model.system=geomformer",
      {{{g + "preset=et", g + "activation=gelu"}, ""},  // axial vectors, which may be asked for, have an MLP
       {{g + "preset=et", g + "activation=silu"}, ""},  // the preset's own
       {{g + "preset=painn", g + "heads=4"},
        "model.geomformer.heads: has no effect with normaliser = \"constant\""},
       {{g + "preset=painn", g + "width=20"}, ""},  // which the 8 heads that are not there need not divide
       {{g + "preset=painn", g + "activation=gelu"}, ""},
       {{g + "preset=et", g + "order=sequential"},
        "model.geomformer.order: has no effect without interaction = attention; must be left out or be "
        "\"parallel\", got \"sequential\""},
       {{g + "norm=whiten", g + "parts.equ_norm=false"},
        "model.geomformer.norm: has no effect with parts.equ_norm"},
       {{g + "bias=none", g + "kernels=32"}, "model.geomformer.kernels: has no effect without messages"}});
  const std::string s = "model.steerable.";
  expect("model.system=steerable", {{{s + "attention=false", s + "encoder.heads=4"},
                                     "model.steerable.encoder.heads: has no effect with attention"},
                                    {{s + "encoder.depth=0", s + "encoder.norm=joint"},
                                     "model.steerable.encoder.norm: has no effect with encoder"},
                                    {{s + "encoder.positions.width=2"},
                                     "model.steerable.encoder.positions.width: has no effect without radial"},
                                    {{s + "profile=gaussian", s + "spline=2"},
                                     "model.steerable.spline: has no effect with another profile"}});
}

TEST(IdleOptions, AreJudgedByAStatedInterface) {
  const std::string points =
      "[interface]\ntypes = 3\noutputs = [{name = 'energy', level = 'graph', extensive = true}]\n";
  const auto refused = [&](const std::string& system, const std::string& option, const std::string& toml) {
    return refusal({"model.system=" + system, "model." + system + "." + option}, toml);
  };
  EXPECT_EQ(refused("transformer", "pooling=mean", points),
            "model.transformer.pooling: has no effect where every output is of nodes or extensive; must be "
            "left out or be \"sum\", got \"mean\"");
  EXPECT_NE(refused("platonic", "pooling=mean", points), "");
  EXPECT_NE(refused("geomformer", "pooling=sum", points), "");
  EXPECT_EQ(refused("transformer", "pooling=mean", ""), "");  // not known yet
  EXPECT_EQ(
      refused("transformer", "pooling=mean", "[interface]\noutputs = [{name = 'class', level = 'graph'}]"),
      "");
  const std::vector<std::string> et{"model.system=geomformer", "model.geomformer.preset=et",
                                    "model.geomformer.least_width=0.1"};
  EXPECT_EQ(refusal(et, points).find("model.geomformer.least_width: has no effect without Gaussians"), 0u);
  EXPECT_EQ(refusal(et, points + "features = [{name = 'velocity', kind = 'vector'}]"),
            "");  // has Gaussians of its own
  EXPECT_EQ(
      refusal({"model.system=geomformer", "model.geomformer.preset=et", "model.geomformer.activation=gelu"},
              points)
          .find("model.geomformer.activation: has no effect without feed-forward"),
      0u);
  const std::string image =
      "[interface]\ndimension = 2\ngrid = true\nfeatures = [{name = 'grey'}]\n"
      "outputs = [{name = 'logits', level = 'graph', channels = 3}]\n";
  for (const std::string option : {"degree=3", "skips=concatenate", "head.scale_and_bias=false",
                                   "head.irreps=trivial", "stages=[{decoder='gelu'}]"}) {
    EXPECT_NE(refused("steerable", option, image).find("has no effect"), std::string::npos) << option;
  }
  EXPECT_EQ(refused("steerable", "orders=3", image), "");
}

TEST(IdleOptions, OfPoses) {
  const std::string windows = "data.pose_windows.", weight = "task.pose_correction.angle_weight=2";
  for (const std::string group : {"so3", "so2"}) {
    EXPECT_EQ(refusal({"data.set=pose_windows", "task.name=pose_correction", "model.system=lie",
                       windows + "group=" + group, weight})
                  .find("task.pose_correction.angle_weight: has no effect on rotations alone"),
              0u)
        << group;
  }
  EXPECT_EQ(refusal({"data.set=pose_windows", "task.name=pose_correction", "model.system=lie", weight}), "");
  // All motions have a logarithm; affine maps do not.
  const std::string outputs = "outputs = [{name = 'element', level = 'graph', kind = 'element'}]\n";
  const std::vector<std::string> chart{"model.system=lie", "model.lie.chart=error"};
  EXPECT_EQ(refusal(chart, "[interface]\ngroup = 'se3'\n" + outputs)
                .find("model.lie.chart: has no effect on rigid motions"),
            0u);
  EXPECT_EQ(refusal(chart, "[interface]\ngroup = 'aff2'\ndimension = 2\n" + outputs), "");
}

TEST(IdleOptions, OfTraining) {
  const std::string t = "train.", s = "train.schedule.";
  expect(
      "train.epochs=3",
      {{{t + "average_warmup=false"}, "train.average_warmup: has no effect without average"},
       {{t + "average_warmup=false", t + "average=0.9"}, ""},
       {{t + "batch=8", t + "batch_tokens=100"}, ""},  // in its place, and predictions of grids still read it
       {{t + "crop_foreground=0.5"}, "train.crop_foreground: has no effect without crop"},
       {{s + "factor=0.5"}, "train.schedule.factor: has no effect with train.schedule.name = \"cosine\""},
       {{s + "factor=0.5", s + "name=step"}, ""},
       {{s + "name=exponential"}, "train.schedule.final_factor: must be above 0"},
       {{s + "every=5", s + "name=plateau"}, "train.schedule.every: has no effect with train.schedule.name"},
       {{s + "patience=5", s + "name=step"}, "train.schedule.patience: has no effect"},
       {{s + "final_factor=0.5", s + "name=constant"}, "train.schedule.final_factor: has no effect"},
       {{s + "final_factor=0.5"}, ""},
       {{s + "per_epoch=true", s + "name=constant"}, "train.schedule.per_epoch: has no effect"},
       {{s + "per_epoch=true", s + "name=constant", s + "warmup=2"}, ""}});
}

TEST(IdleOptions, OfTasks) {
  const std::string f = "task.force_field.", s = "task.segmentation.", p = "task.property.";
  expect("task.name=force_field",
         {{{f + "huber_delta=0.1"}, "task.force_field.huber_delta: has no effect where no loss is \"huber\""},
          {{f + "huber_delta=0.1", f + "force_loss=huber"}, ""},
          {{f + "huber_delta=0.1", f + "force_loss=norm"}, f + "huber_delta: has no effect where no loss is"},
          {{f + "references=a.txt", f + "reference=mean"},
           f + "references: has no effect without reference = \"elements\""},
          {{f + "references=a.txt"}, ""},
          {{f + "stress_weight=2"}, "task.force_field.stress_weight: has no effect with stress = false"},
          {{f + "forces=none"}, ""},
          {{f + "forces=none", f + "force_weight=0"}, ""},
          {{f + "forces=none", f + "force_weight=3"},
           "task.force_field.force_weight: has no effect with forces"}});
  expect(
      "task.name=segmentation",
      {{{s + "focal_gamma=1"}, "task.segmentation.focal_gamma: has no effect with focal = 0"},
       {{s + "focal_gamma=1", s + "focal=1"}, ""},
       {{s + "window.overlap=0.1"}, "task.segmentation.window.overlap: has no effect without window.size"}});
  expect("task.name=property", {{{p + "test_time_rotations.axis=x"},
                                 "task.property.test_time_rotations.axis: has no effect with test_time"},
                                {{p + "test_time_rotations.axis=x", p + "test_time_rotations.count=3"}, ""},
                                {{p + "test_time_rotations.random=true"},
                                 "task.property.test_time_rotations.random: has no effect"}});
}

TEST(IdleOptions, OfData) {
  const std::string m = "data.modelnet.";
  expect("data.set=modelnet",
         {{{m + "sigma=2"}, "data.modelnet.sigma: has no effect without fill = \"density\""},
          {{m + "sigma=2", m + "fill=density"}, ""},
          {{m + "carrier=points", m + "voxels=16"},
           "data.modelnet.voxels: has no effect with carrier = \"points\""}});
  expect("data.set=decathlon", {{{"data.decathlon.normalise=false", "data.decathlon.normalise_over=all"},
                                 "data.decathlon.normalise_over: has no effect with normalise = false"},
                                {{"data.decathlon.interpolation=cubic"},
                                 "data.decathlon.interpolation: has no effect without spacing"},
                                {{"data.fold=1"}, "data.fold: has no effect with folds = 0"},
                                {{"data.fold=1", "data.folds=3"}, ""}});
  expect("data.set=md17",
         {{{"data.md17.fractions=[0.5,0.2,0.3]"}, "data.md17.fractions: has no effect beside"},
          {{"data.md17.fractions=[0.5,0.2,0.3]", "data.md17.train=0", "data.md17.valid=0"}, ""}});
  expect(
      "data.set=cifar10",
      {{{"data.cifar10.patch=2"}, "data.cifar10.patch: has no effect with carrier = \"grid\""},
       {{"data.cifar10.patch=2", "data.cifar10.carrier=points"}, ""},
       {{"data.cifar10.patch=5", "data.cifar10.carrier=points"},
        "data.cifar10.patch: must divide the 32 pixels of a side, got 5"},
       {{"data.cifar10.augment.pad=33"}, "data.cifar10.augment.pad: must be at most the 32 pixels of a side"},
       {{"data.cifar10.augment.pad=32"}, ""}});
  expect("data.set=images",
         {{{"data.images.mask_threshold=0.5"}, "data.images.mask_threshold: has no effect with"}});
  const std::string a = "data.cifar10.augment.", g = "data.images.augment.";
  expect(
      "data.set=cifar10",
      {{{"data.cifar10.augment=true"},
        "data.cifar10.augment: must have one at least of pad, resized_crop, flip, three, jitter, hue, mixup "
        "and cutmix on, got none"},
       {{a + "flip=false", a + "pad=0"}, "data.cifar10.augment: must have one at least of"},
       {{a + "pad=1"}, ""},
       {{a + "resized_crop=0.5"}, ""},
       {{a + "flip=true"}, ""},
       {{a + "three=true"}, ""},
       {{a + "jitter=0.1"}, ""},
       {{a + "hue=0.1"}, ""},
       {{a + "mixup=1"}, ""},
       {{a + "cutmix=1"}, ""}});
  const std::string off = ": must be off for images without colours, got 1 channel";
  expect("data.set=images",
         {{{"data.images.channels=1", g + "flip=true"}, ""},
          {{"data.images.channels=1", g + "flip=true", g + "three=true"}, g + "three" + off},
          {{"data.images.channels=1", g + "jitter=0.1"}, g + "jitter" + off},
          {{"data.images.channels=1", g + "hue=0.1"}, g + "hue" + off},
          {{"data.images.channels=3", g + "hue=0.1"}, ""}});
}

/// A file may have the tables of several systems, to choose between; behind a verb a key of another one is a slip.
TEST(IdleOptions, OverridesOfWhatIsNotChosenAreRefused) {
  const auto message = [](const std::vector<std::string>& overrides, std::string_view toml) -> std::string {
    try {
      read(overrides, toml);
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "";
  };
  const std::string both = "[model]\nsystem = 'lie'\n[model.lie]\nwidth = 8\n[model.platonic]\nwidth = 24\n";
  EXPECT_EQ(message({}, both), "");
  EXPECT_EQ(message({"model.lie.blocks=2"}, both), "");
  EXPECT_EQ(message({"model.system=platonic", "model.platonic.blocks=2"}, both), "");
  EXPECT_EQ(message({"model.platonic.blocks=2"}, both),
            "override 'model.platonic.blocks=2': has no effect with model.system = \"lie\"");
  EXPECT_EQ(message({"model.platonic.rope.sigma=2"}, ""),
            "override 'model.platonic.rope.sigma=2': has no effect with model.system = \"transformer\"");
  EXPECT_EQ(message({"task.property.loss=l1"}, ""),
            "override 'task.property.loss=l1': has no effect with task.name = \"trajectory\"");
  EXPECT_EQ(message({"data.qm9.seed=1"}, ""),
            "override 'data.qm9.seed=1': has no effect with data.set = \"nbody\"");
}

/// A config that several systems or runs share has keys that one override makes idle: it runs, and a line says so.
TEST(IdleOptions, OfAFileAreWarnedOf) {
  const fs::path configs = fs::path(WEYL_SOURCE_DIR) / "configs";
  const auto expect_warning = [&](const std::string& config, const std::string& override,
                                  const std::string& key, const std::string& why) {
    const Recipe recipe = read_recipe((configs / config).string(), {override});
    ASSERT_FALSE(recipe.warnings.empty()) << config << " " << override;
    for (const std::string& line : recipe.warnings) {
      EXPECT_NE(line.find(" has no effect "), std::string::npos) << line;
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    }
    EXPECT_TRUE(recipe.warnings.front().starts_with(key + " = ")) << recipe.warnings.front();
    EXPECT_TRUE(recipe.warnings.front().ends_with(" has no effect " + why)) << recipe.warnings.front();
  };
  const std::string s = "model.steerable.";
  expect_warning("lesions/steerable-transformer.toml", s + "attention=false", s + "encoder.heads",
                 "with attention = false");
  expect_warning("glyphs/platonic.toml", "model.platonic.rope=false", "model.platonic.use_key",
                 "with rope = false, where keys are always learned");
  expect_warning("md/et.toml", "task.force_field.energy_weight=0", "task.force_field.energy_per_atom",
                 "with energy_weight = 0");
  expect_warning("nbody/geomformer.toml", "model.geomformer.input=zero", "model.geomformer.smoothing",
                 "without an input");
  for (const auto& [config, override] :
       {std::pair{"ph2/steerable.paper.toml", "model.steerable.encoder.depth=0"},
        {"md17/et.paper.toml", "train.schedule.name=constant"},
        {"md17/et.paper.toml", "task.force_field.forces=none"},
        {"nbody/geomformer.toml", "model.geomformer.preset=painn"},
        {"solids/steerable-conv.toml", "data.modelnet.carrier=points"}}) {
    EXPECT_FALSE(read_recipe((configs / config).string(), {override}).warnings.empty()) << config;
  }
  EXPECT_TRUE(read_recipe((configs / "md/et.toml").string(), {"train.epochs=3"}).warnings.empty());
}

/// All of them are told, and what stands behind the verb is told as what stands in the file.
TEST(IdleOptions, AreAllWarnedOf) {
  const fs::path folder = fs::path(testing::TempDir()) / "weyl-idle-options";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string config = (folder / "config.toml").string();
  std::ofstream(config) << "[model]\nsystem = 'platonic'\n[model.platonic]\nlinear_norm = 'mean'\n"
                        << "attention = 'linear'\ndrop_path = 0.1\ndrop_path_by = 'node'\n";
  using Lines = std::vector<std::string>;
  EXPECT_EQ(read_recipe(config).warnings, Lines{});
  const std::string norm = "model.platonic.linear_norm = \"mean\" has no effect with attention = \"softmax\"";
  EXPECT_EQ(read_recipe(config, {"model.platonic.attention=softmax"}).warnings, Lines{norm});
  const Lines both =
      read_recipe(config, {"model.platonic.attention=softmax", "model.platonic.drop_path=0"}).warnings;
  ASSERT_EQ(both.size(), 2u);
  EXPECT_NE(std::ranges::find(both, norm), both.end());
  EXPECT_NE(
      std::ranges::find(both, "model.platonic.drop_path_by = \"node\" has no effect with drop_path = 0"),
      both.end());
}

/// Nothing idle stands in the recipes, and what they resolve to, in which every key is written, loads again.
TEST(IdleOptions, NoneAreInTheRecipes) {
  size_t recipes = 0;
  for (const std::string& file : recipe_files()) {
    ++recipes;
    Recipe recipe = read_recipe(file);
    EXPECT_NO_THROW(require_effects(recipe)) << file;
    const std::string resolved = write_toml([&](Fields& f) { fields(f, recipe); });
    EXPECT_EQ(refusal({}, resolved), "") << file;
    Recipe again = read({}, resolved);
    EXPECT_EQ(write_toml([&](Fields& f) { fields(f, again); }), resolved) << file;
  }
  EXPECT_GT(recipes, 30u);
}

}  // namespace unused_options_test
}  // namespace weyl
