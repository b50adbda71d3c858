#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "tests/equivariance.h"
#include "tests/relative_poses.h"
#include "weyl/core/check.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"

namespace weyl {
namespace poses_model_test {

Poses identities(LieGroup group, at::ScalarType dtype = at::kFloat) {
  Poses poses;
  poses.group = group;
  poses.graphs = Segments::of_sizes(std::vector<int64_t>{2, 1});
  poses.elements = at::eye(matrix_size(group), dtype).repeat({3, 1, 1});
  return poses;
}

std::string refused(Model& model, const Input& input) {
  return message_of<ShapeError>([&] { model(input); });
}

TEST(PosesModel, TakesItsGroupAloneInOneLineEach) {
  RelativePoses model(poses_interface(LieGroup::se3));
  const Poses good = identities(LieGroup::se3);
  EXPECT_EQ(model(good).at("moved").sizes(), (std::vector<int64_t>{3, 4, 4}));
  EXPECT_EQ(model(good).at("centre").sizes(), (std::vector<int64_t>{2, 4, 4}));
  EXPECT_EQ(refused(model, identities(LieGroup::aff3)), "model input: poses: must be of se3, got aff3");
  EXPECT_EQ(refused(model, Points{}), "model input: must be poses, got points");
  EXPECT_EQ(refused(model, identities(LieGroup::se3, at::kDouble)),
            "model input: elements: must be Float on cpu like the weights, got Double on cpu");
  Poses bad = good;
  bad.elements = at::eye(3).repeat({3, 1, 1});
  EXPECT_EQ(refused(model, bad), "model input: elements: must be (3, 4, 4), got (3, 3, 3)");
  bad.elements = Tensor();
  EXPECT_EQ(refused(model, bad), "model input: elements: must be (3, 4, 4), absent");
  bad.elements = good.elements.slice(0, 0, 2);
  EXPECT_EQ(refused(model, bad), "model input: elements: must be (3, 4, 4), got (2, 4, 4)");
}

TEST(PosesModel, ThatSeesRelativePosesCommutesWithItsGroup) {
  for (const LieGroup group : {LieGroup::so3, LieGroup::se2, LieGroup::aff3}) {
    const BuildOn build_on(at::kCPU, at::kDouble);
    at::manual_seed(2);
    RelativePoses model(poses_interface(group));
    Schema schema;
    schema.interface = model.interface;
    Stream stream(4, "poses");
    Poses poses = identities(group, at::kDouble);
    poses.elements = random_elements(group, 3, 1, stream);
    equivariance::expect_claims_hold(model, {poses, {}}, schema);
  }
}

TEST(PosesModel, ChecksItsScalars) {
  Interface interface = poses_interface(LieGroup::so2);
  interface.features = {{"weight"}, {.name = "side", .kind = Kind::pseudoscalar, .channels = 2}};
  RelativePoses model(interface);
  Poses poses = identities(LieGroup::so2);
  EXPECT_NE(refused(model, poses).find("scalars: must be (3, 3), absent"), std::string::npos);
  poses.scalars = at::ones({3, 2});
  EXPECT_EQ(refused(model, poses), "model input: scalars: must be (3, 3), got (3, 2)");
  poses.scalars = at::ones({3, 3}, at::kDouble);
  EXPECT_NE(refused(model, poses).find("must be Float"), std::string::npos);
  poses.scalars = at::ones({3, 3});
  EXPECT_EQ(model(poses).at("gap").sizes(), (std::vector<int64_t>{3, 1}));
}

TEST(PosesModel, NeedsAnInterfaceOfPoses) {
  Interface interface = poses_interface(LieGroup::se2);
  interface.group.reset();
  EXPECT_NE(message_of<ConfigError>([&] { RelativePoses{interface}; }).find("must name their Lie group"),
            std::string::npos);
  interface = poses_interface(LieGroup::se2);
  interface.dimension = 3;
  EXPECT_EQ(message_of<ConfigError>([&] { RelativePoses{interface}; }),
            "model of poses: se2 moves 2 dimensions, the interface has 3");
  interface.dimension = 2;
  interface.features = {{"velocity", Level::node, Kind::vector}};
  EXPECT_NE(
      message_of<ConfigError>([&] { RelativePoses{interface}; }).find("'velocity' must be a scalar of nodes"),
      std::string::npos);
  interface.features = {{"charge", Level::graph}};
  EXPECT_THROW(RelativePoses{interface}, ConfigError);
}

TEST(PosesModel, SystemsOfPointsDoNotTakePoses) {
  const std::string message =
      message_of<ConfigError>([] { build({platonic::Options{}}, poses_interface(LieGroup::se3)); });
  EXPECT_NE(message.find("'platonic' does not work on poses"), std::string::npos) << message;
}

}  // namespace poses_model_test
}  // namespace weyl
