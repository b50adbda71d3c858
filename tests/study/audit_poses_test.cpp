// The audit on the second carrier: left multiplications hold, right factors show, and liars fail.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "tests/lie_groups.h"
#include "tests/relative_poses.h"
#include "weyl/carriers/consistency.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/systems.h"
#include "weyl/study/audit/audit.h"
#include "weyl/study/audit/transformations.h"
#include "weyl/study/samples/random_samples.h"
#include "weyl/tasks/registration.h"

namespace weyl {
namespace audit_poses_test {

Schema schema_of(LieGroup group) {
  Schema schema;
  schema.interface = poses_interface(group);
  schema.interface.outputs.clear();
  return schema;
}

const Tensor& elements_of(const Batch& batch) {
  return std::get<Poses>(batch.input).elements;
}

AuditOptions quick() {
  AuditOptions options;
  options.elements = 8;
  return options;
}

AuditReport audited(Model& model, LieGroup group, int64_t samples = 6) {
  const Schema schema = schema_of(group);
  return audit(model, nullptr, random_tokens(schema, samples, 5, 3), schema, quick());
}

const AuditControl* control(const AuditReport& report, const std::string& name) {
  for (const AuditControl& c : report.controls) {
    if (c.transformation == name) {
      return &c;
    }
  }
  return nullptr;
}

TEST(AuditOfPoses, PassesAModelOfRelativePosesForEveryGroup) {
  for (const LieGroup group : lie_groups) {
    at::manual_seed(1);
    RelativePoses model(poses_interface(group));
    const AuditReport report = audited(model, group);
    EXPECT_TRUE(report.passed) << name_of(group);
    // Left motions, permutations, translations far away (none of SO(n)); three outputs; two dtypes.
    const bool places = matrix_size(group) > dimension_of(group);
    EXPECT_EQ(report.claims.size(), (places ? 3u : 2u) * 3 * 2);
    for (const AuditClaim& c : report.claims) {
      EXPECT_LE(c.error, c.tolerance) << c.group << " " << c.output << " " << c.dtype;
    }
    EXPECT_EQ(report.claims[0].group, symbol_of(group));
    ASSERT_NE(control(report, "right factors"), nullptr);
    EXPECT_GT(control(report, "right factors")->error, 1e-3) << name_of(group);
    EXPECT_EQ(control(report, "left multiplication"), nullptr);  // claimed
    EXPECT_EQ(report.measures.empty(), group == LieGroup::so2);  // where left and right are one
    for (const AuditMeasure& m : report.measures) {
      EXPECT_EQ(m.group, "right multiplication");
      if (m.output == "gap") {
        EXPECT_GT(m.error, 1e-3) << name_of(group);
      }
    }
  }
}

// What it says and what it claims are set apart.
class Liar : public PosesModel {
 public:
  enum class Does { sees_entries, sees_order, constant, sees_relative };
  Liar(Interface interface, Does does, std::vector<Claim> exact)
      : PosesModel(std::move(interface)), does_(does), exact_(std::move(exact)) {
    parameter("weight", {1}, Init::ones());
  }
  Symmetry symmetry() const override { return {exact_, {}}; }
  Work work(double /*nodes*/) const override { return {1}; }
  Named forward(const Poses& poses) override {
    const Tensor& g = poses.elements;
    const Tensor entry = g.select(1, 0).narrow(1, 0, 1);
    switch (does_) {
      case Does::sees_entries:
        return {{"gap", entry}};
      case Does::sees_order:
        return {{"gap", at::linalg_det(g).unsqueeze(1) * at::arange(g.size(0), g.options()).unsqueeze(1)}};
      case Does::constant:
        return {{"gap", at::ones_like(entry)}};
      case Does::sees_relative:
        break;
    }
    const Tensor first = g.index_select(
        0, at::tensor(std::vector<int64_t>(poses.graphs.offsets.begin(), poses.graphs.offsets.end() - 1),
                      at::kLong)
               .index_select(0, poses.graphs.index));
    return {{"gap", at::matmul(at::linalg_inv(first), g).select(1, 0).narrow(1, 0, 1)}};
  }

 private:
  Does does_;
  std::vector<Claim> exact_;
};

const Claim left{Claim::Of::left_motions, "SE(3)", nullptr};
const Claim permuted{Claim::Of::permutations, "permutations", nullptr};

AuditReport audit_liar(Liar::Does does, std::vector<Claim> exact) {
  Interface interface = poses_interface(LieGroup::se3);
  interface.outputs = {{"gap"}};
  Liar model(interface, does, std::move(exact));
  return audited(model, LieGroup::se3);
}

TEST(AuditOfPoses, FailsAModelThatLies) {
  EXPECT_FALSE(audit_liar(Liar::Does::sees_entries, {left, permuted}).passed);
  EXPECT_FALSE(audit_liar(Liar::Does::sees_order, {left, permuted}).passed);
  EXPECT_FALSE(audit_liar(Liar::Does::constant, {left, permuted}).passed);
  EXPECT_FALSE(audit_liar(Liar::Does::sees_relative, {left, permuted}).passed);  // to the first token
  // The same pass with what they may claim; what they do not shows as a control.
  const AuditReport entries = audit_liar(Liar::Does::sees_entries, {permuted});
  EXPECT_TRUE(entries.passed);
  ASSERT_NE(control(entries, "left multiplication"), nullptr);
  const AuditReport relative = audit_liar(Liar::Does::sees_relative, {left});
  EXPECT_TRUE(relative.passed);
  ASSERT_NE(control(relative, "permutation"), nullptr);
}

TEST(AuditOfPoses, FailsAModelThatCouldClaimMore) {
  const AuditReport report = audit_liar(Liar::Does::sees_relative, {});
  EXPECT_FALSE(report.passed);
  EXPECT_FALSE(control(report, "left multiplication")->passed);
}

// Predictions of registration follow each copy by itself; a task that shows the model both at once does not.
TEST(AuditOfPoses, OfRegistrationMovesEachCopyByItself) {
  class SeenTogether : public Registration {
   public:
    using Registration::Registration;
    Named predict(Model& model, const Batch& batch) const override {
      const auto& poses = std::get<Poses>(batch.input);
      const Tensor first = model(batch.input).at("descriptor").narrow(1, 0, 1).unsqueeze(2);
      const Tensor moved = poses.elements.to(at::kDouble) * (1 + 0.1 * first.to(at::kDouble));
      return {{"pose", moved}, {"descriptor", model(batch.input).at("descriptor")}};
    }
  };
  Schema schema;
  schema.interface.group = LieGroup::so3;
  schema.interface.features = {{.name = "copy"}};
  schema.labels = {{.name = "pose", .kind = Kind::element}};
  Batch samples = random_tokens(schema, 6, 8, 3);
  auto& poses = std::get<Poses>(samples.input);
  poses.scalars = at::arange(48, at::kDouble).remainder(2).unsqueeze(1);
  const Registration task({});
  lie::Options o;
  o.width = 16;
  o.blocks = 2;
  at::manual_seed(1);
  const auto model = build({o}, task.interface(schema));
  const auto of_copies = [](const AuditReport& report) {
    int64_t claims = 0, passed = 0;
    for (const AuditClaim& c : report.claims) {
      if (c.group == "each copy by itself") {
        EXPECT_TRUE(c.output.starts_with("prediction.")) << c.output;
        ++claims;
        passed += c.passed ? 1 : 0;
      }
    }
    EXPECT_EQ(claims, 4);  // pose and descriptor, float32 and float64
    return passed;
  };
  const AuditReport report = audit(*model, &task, samples, schema, quick());
  EXPECT_TRUE(report.passed);
  EXPECT_EQ(of_copies(report), 4);
  ASSERT_NE(control(report, "each copy by itself, seen together"), nullptr);
  EXPECT_GT(control(report, "each copy by itself, seen together")->error, 1e-3);
  const SeenTogether wrong{RegistrationOptions{}};
  const AuditReport other = audit(*model, &wrong, samples, schema, quick());
  EXPECT_FALSE(other.passed);
  EXPECT_EQ(of_copies(other), 0);
}

TEST(AuditOfPoses, PutsSamplesOnTheirGroupFirst) {
  // A file of float32: its matrices are off the group by 1e-7, which float64 would see.
  const Schema schema = schema_of(LieGroup::se3);
  Batch samples = random_tokens(schema, 6, 5, 3);
  auto& elements = std::get<Poses>(samples.input).elements;
  elements = elements.to(at::kFloat).to(at::kDouble);
  EXPECT_GT(distances_to_group(LieGroup::se3, elements).max().item<double>(), 1e-9);
  EXPECT_LT(distances_to_group(LieGroup::se3, elements_of(on_grid(samples))).max().item<double>(), 1e-14);
}

TEST(PoseTransformations, MoveInputsAndOutputsAlike) {
  for (const LieGroup group : lie_groups) {
    const Schema schema = schema_of(group);
    const Batch batch = on_grid(random_tokens(schema, 4, 5, 3));
    const std::vector<Quantity> outputs{{"pose", Level::node, Kind::element}, {"gap"}};
    const Named values{{"pose", elements_of(batch)}, {"gap", at::ones({20, 1}, at::kDouble)}};
    for (const Transformation& t :
         {left_motions(schema, "left"), right_motions(schema), right_factors(schema), permutations(schema)}) {
      Stream stream(1, t.name);
      const Moved moved = t.apply(batch, 0, stream);
      const Named acted = moved.act(values, outputs);
      EXPECT_LT((acted.at("pose") - elements_of(moved.batch)).abs().max().item<double>(), 1e-13) << t.name;
      EXPECT_TRUE(at::equal(acted.at("gap"), values.at("gap")));
      EXPECT_FALSE(at::equal(elements_of(moved.batch), elements_of(batch))) << t.name;
      EXPECT_LT(distances_to_group(group, elements_of(moved.batch)).max().item<double>(), 1e-12) << t.name;
    }
  }
}

TEST(PoseTransformations, SayWhatRoundingIsWorthBeforeTheMotion) {
  for (const LieGroup group : lie_groups) {
    const Schema schema = schema_of(group);
    const Batch exact = on_grid(random_tokens(schema, 4, 5, 3));
    for (const auto dtype : {at::kFloat, at::kDouble}) {
      const Batch batch = to(exact, at::kCPU, dtype);
      Stream stream(1, "left");
      const Moved moved = left_motions(schema, "left").apply(batch, 0, stream);
      ASSERT_TRUE(moved.before.has_value());
      const Tensor x = elements_of(batch).to(at::kDouble), there = elements_of(*moved.before);
      const double off = (there - x).abs().max().item<double>() / moved.magnified;
      const double unit = dtype == at::kFloat ? 6e-8 : 1.1e-16;
      EXPECT_GT(off, 0.1 * unit) << name_of(group);
      EXPECT_LT(off, 1000 * unit) << name_of(group);
      if (dtype == at::kFloat) {  // its image is the rounded one, to the digits of float64
        const Named values{{"pose", there}};
        const std::vector<Quantity> outputs{{"pose", Level::node, Kind::element}};
        const Tensor image = moved.act(values, outputs).at("pose");
        EXPECT_LT((image - elements_of(moved.batch)).abs().max().item<double>(), 1e-12) << name_of(group);
      }
    }
  }
}

/// Knows the distances within graphs of five tokens alone, and is as steep in them as a trained network.
class Steep : public RelativePoses {
 public:
  using RelativePoses::RelativePoses;
  Named forward(const Poses& poses) override {
    const Tensor t = poses.elements.slice(1, 0, 2).select(2, 2).reshape({-1, 5, 2}).to(at::kDouble);
    const Tensor squares = (t.unsqueeze(2) - t.unsqueeze(1)).square().sum({2, 3});
    return {{"gap", (1e3 * squares).sin().view({-1, 1}).to(poses.elements.scalar_type())}};
  }
};

TEST(AuditOfPoses, DoesNotCountWhatRoundingOfTheInputDoes) {
  at::manual_seed(1);
  Interface interface = poses_interface(LieGroup::se2);
  interface.outputs = {{"gap"}};
  Steep model(interface);
  AuditOptions options = quick();
  options.dtypes = {at::kDouble};
  const Schema schema = schema_of(LieGroup::se2);
  Batch samples = random_tokens(schema, 6, 5, 3);
  auto& elements = std::get<Poses>(samples.input).elements;  // far from the origin, close to each other
  elements.slice(1, 0, 2).select(2, 2).add_(1000);
  const AuditReport report = audit(model, nullptr, samples, schema, options);
  EXPECT_TRUE(report.passed) << report.claims[0].error;
}

TEST(AuditOfPoses, DoesNotCountWhatRoundingToFloat32Does) {
  at::manual_seed(1);
  Interface interface = poses_interface(LieGroup::se2);
  interface.outputs = {{"gap"}};
  Steep model(interface);
  const AuditReport report = audited(model, LieGroup::se2);
  EXPECT_EQ(report.claims.size(), 3u * 2);
  for (const AuditClaim& c : report.claims) {
    EXPECT_TRUE(c.passed) << c.group << " " << c.dtype << " " << c.error;
  }
}

TEST(PoseTransformations, NeedPoses) {
  Schema points;
  const Batch batch = random_tokens(points, 2, 3, 1);
  Stream stream(1, "x");
  EXPECT_THROW(left_motions(points, "x").apply(batch, 0, stream), ShapeError);
  EXPECT_THROW(right_factors(points).apply(batch, 0, stream), ShapeError);
}

TEST(RandomPoses, LieInsideTheChartAndFollowTheSeed) {
  for (const LieGroup group : lie_groups) {
    Schema schema = schema_of(group);
    schema.interface.features = {{.name = "weight", .channels = 2}};
    const Batch batch = random_tokens(schema, 3, 40, 3);
    require_consistent(batch, schema);
    EXPECT_LT(distances_to_group(group, elements_of(batch)).max().item<double>(), 1e-13);
    for (int64_t g = 0; g < 3; ++g) {
      EXPECT_GT(least_chart_margin(group, elements_of(batch).slice(0, 40 * g, 40 * g + 40)), 0)
          << name_of(group);
    }
    EXPECT_TRUE(at::equal(elements_of(batch), elements_of(random_tokens(schema, 3, 40, 3))));
    EXPECT_FALSE(at::equal(elements_of(batch), elements_of(random_tokens(schema, 3, 40, 4))));
  }
}

}  // namespace audit_poses_test
}  // namespace weyl
