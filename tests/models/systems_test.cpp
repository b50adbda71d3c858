#include "weyl/models/systems.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/train/small_training.h"
#include "weyl/config/toml.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/transformer/options.h"
#include "weyl/train/loop/checkpoint.h"

namespace weyl {
namespace systems_test {

struct PushOptions {
  static constexpr const char* name_in_config = "push";
  double strength = 0.5;
};
void fields(Fields& f, PushOptions& o) {
  f("strength", o.strength, "how far a node is pushed along its velocity", {-10, 10});
}

/// A system that is not one of weyl's: the displacement is the velocity times one weight.
class Push : public PointsModel {
 public:
  using Options = PushOptions;
  Push(const PushOptions& options, const Interface& interface) : PointsModel(interface) {
    strength_ = parameter("strength", {1}, Init::constant(options.strength));
  }
  Named forward(const Points& points) override {
    return {{interface.outputs[0].name, points.vectors.slice(1, 0, 1) * strength_}};
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {3}; }

 private:
  Tensor strength_;
};

Systems with_push() {
  Systems systems = built_in_systems();
  systems.push_back(system_of<Push>());
  return systems;
}

TEST(Systems, AreThoseThatConfigsKnow) {
  const std::vector<SystemOptions> known = built_in_options();
  ASSERT_EQ(known.size(), built_in_systems().size());
  for (size_t i = 0; i < known.size(); ++i) {
    EXPECT_EQ(known[i].name(), built_in_systems()[i].options.name());
  }
}

TEST(Systems, OptionsAreValues) {
  SystemOptions a = platonic::Options{.blocks = 3}, b = a;
  b.get_if<platonic::Options>()->blocks = 4;
  EXPECT_EQ(a.get_if<platonic::Options>()->blocks, 3);
  EXPECT_EQ(a.get_if<lie::Options>(), nullptr);
  a = b;
  EXPECT_EQ(a.get_if<platonic::Options>()->blocks, 4);
  a = SystemOptions(PushOptions{.strength = 2});
  EXPECT_EQ(a.name(), "push");
}

TEST(Systems, AProgramsOwnIsReadFromConfigsAndWritten) {
  ModelOptions options = options_of(with_push());
  const auto read = [&](const std::string& toml) {
    ModelOptions o = options_of(with_push());
    read_toml_text(toml, "m.toml", {}, [&](Fields& f) { fields(f, o); });
    return o;
  };
  options = read("system = 'push'\n[push]\nstrength = 2.0\n[platonic]\nblocks = 7");
  ASSERT_NE(options.system.get_if<PushOptions>(), nullptr);
  EXPECT_EQ(options.system.get_if<PushOptions>()->strength, 2);
  const std::string written = write_toml([&](Fields& f) { fields(f, options); });
  EXPECT_NE(written.find("[push]"), std::string::npos) << written;
  EXPECT_EQ(read(written).system.get_if<PushOptions>()->strength, 2);
  EXPECT_THROW(read("system = 'push'\n[push]\nstrength = 20.0"), ConfigError);
  EXPECT_THROW(read("system = 'push'\n[platonic]\nblock = 7"), ConfigError);
  ModelOptions plain;
  EXPECT_THROW(read_toml_text("system = 'push'", "m.toml", {}, [&](Fields& f) { fields(f, plain); }),
               ConfigError);
}

TEST(Systems, AProgramsOwnIsTrainedSavedAndLoaded) {
  const ScratchFolder folder;
  const Systems systems = with_push();
  Recipe recipe = small_recipe();
  recipe.model = options_of(systems);
  recipe.model.system = PushOptions{.strength = 0};
  recipe.train.epochs = 2;
  TrainRequest request;
  request.out = folder / "run";
  request.data = small_data();
  request.systems = &systems;
  const TrainResult result = train(recipe, request);
  const SavedModel saved = load_model(result.run, at::kCPU, {}, systems);
  EXPECT_EQ(system_name(saved.recipe.model), "push");
  EXPECT_NE(saved.model->parameters()[0].tensor.item<double>(), 0);
  EXPECT_EQ(resume(result.run, request).steps, result.steps);
  try {
    load_model(result.run);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("model.system: must be"), std::string::npos) << error.what();
  }
}

TEST(Systems, ThatCannotCarryMultivectorsSayWhichQuantity) {
  for (const SystemOptions& system :
       {SystemOptions(transformer::Options{}), SystemOptions(platonic::Options{}),
        SystemOptions(geomformer::Options{})}) {
    const auto refusal = [&](Quantity feature, Quantity output) {
      Interface interface;
      interface.features = {std::move(feature)};
      interface.outputs = {std::move(output)};
      try {
        build({system}, interface);
      } catch (const ConfigError& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    const Quantity vector{"velocity", Level::node, Kind::vector},
        frame{"frame", Level::node, Kind::multivector};
    EXPECT_EQ(refusal(vector, {"push", Level::node, Kind::vector}), "");
    for (const std::string& said :
         {refusal(frame, {"push", Level::node, Kind::vector}), refusal(vector, frame)}) {
      EXPECT_TRUE(said.starts_with(std::string(system.name()) + ": ")) << said;
      EXPECT_NE(said.find("'frame'"), std::string::npos) << said;
      EXPECT_NE(said.find("multivector"), std::string::npos) << said;
      EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    }
  }
}

TEST(Systems, BuildRefusesOptionsOfNoSystem) {
  Interface interface;
  interface.features = {{"velocity", Level::node, Kind::vector}};
  interface.outputs = {{"displacement", Level::node, Kind::vector}};
  EXPECT_NO_THROW(build({PushOptions{}}, interface, with_push()));
  EXPECT_THROW(build({PushOptions{}}, interface), ConfigError);
  interface.grid = true;
  interface.dimension = 2;
  EXPECT_THROW(build({PushOptions{}}, interface, with_push()), ConfigError);
}

}  // namespace systems_test
}  // namespace weyl
