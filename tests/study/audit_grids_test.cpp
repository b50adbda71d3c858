#include <gtest/gtest.h>

#include "tests/toy_grid.h"
#include "weyl/core/worst_of.h"
#include "weyl/study/audit/audit.h"
#include "weyl/study/samples/random_samples.h"
#include "weyl/tasks/classification.h"
#include "weyl/tasks/segmentation.h"

namespace weyl {
namespace audit_grids_test {

AuditReport report_of(int64_t dimension, const Task& task, const std::string& label, const std::string& group,
                      bool broken, int64_t side = 8) {
  const Schema schema = toy_schema(dimension, 1, label, 3);
  at::manual_seed(5);
  ToyGrid model(task.interface(schema), named_group(group), broken);
  return audit(model, &task, random_grids(schema, 4, std::vector<int64_t>{side}, 1), schema);
}

double worst_claim(const AuditReport& report) {
  double worst = 0;
  for (const AuditClaim& c : report.claims) {
    worst = worst_of(worst, c.error);
  }
  return worst;
}

TEST(AuditOfGrids, AnExactModelPassesAndABrokenOneFails) {
  const Classification classification({});
  SegmentationOptions options;
  const Segmentation segmentation(options);
  for (const auto& [dimension, group] : {std::pair{2, "cyclic_4"}, {3, "octahedron"}}) {
    for (const auto& [task, label] :
         {std::pair<const Task*, const char*>{&classification, "class"}, {&segmentation, "mask"}}) {
      const AuditReport exact = report_of(dimension, *task, label, group, false);
      EXPECT_TRUE(exact.passed) << dimension << " " << label << " " << worst_claim(exact);
      const AuditReport broken = report_of(dimension, *task, label, group, true);
      EXPECT_FALSE(broken.passed);
      EXPECT_GT(worst_claim(broken), 1e-2);
    }
  }
}

TEST(AuditOfGrids, ChecksTheWholeGroupOnOutputsAndPredictionsButNoCategories) {
  const AuditReport report = report_of(2, Classification({}), "class", "cyclic_4", false);
  std::vector<std::string> outputs, controls;
  for (const AuditClaim& c : report.claims) {
    EXPECT_EQ(c.group, "cyclic_4");
    outputs.push_back(c.output + " " + c.dtype);
  }
  EXPECT_EQ(outputs, (std::vector<std::string>{
                         "logits float32", "prediction.logits float32", "prediction.probabilities float32",
                         "logits float64", "prediction.logits float64", "prediction.probabilities float64"}));
  for (const AuditControl& c : report.controls) {
    EXPECT_TRUE(c.passed) << c.transformation;
    controls.push_back(c.transformation);
  }
  EXPECT_EQ(controls, (std::vector<std::string>{"shear", "reflection"}));
}

TEST(AuditOfGrids, ReflectionsAreClaimsWhereTheGroupHasThem) {
  const AuditReport report = report_of(2, Classification({}), "class", "dihedral_4", false);
  EXPECT_TRUE(report.passed);
  EXPECT_EQ(report.controls.size(), 1U);
  // the control of the control: a model without mirrors that claims them fails
  const Schema schema = toy_schema(2, 2, "class", 3);
  class Overclaims : public ToyGrid {
   public:
    using ToyGrid::ToyGrid;
    Symmetry symmetry() const override {
      return {{{Claim::Of::finite, "dihedral_4", named_group("dihedral_4")}}, {}, {}};
    }
  };
  at::manual_seed(5);
  Overclaims model(Classification({}).interface(schema), named_group("cyclic_4"));
  EXPECT_FALSE(audit(model, nullptr, random_grids(schema, 4, std::vector<int64_t>{8}, 1), schema).passed);
}

TEST(AuditOfGrids, OfSamplesWithoutContentFailsItsControls) {
  const Schema schema = toy_schema(2, 2, "class", 3);
  const Classification task({});
  ToyGrid model(task.interface(schema), named_group("cyclic_4"));
  Batch symmetric = random_grids(schema, 4, std::vector<int64_t>{8}, 1);
  auto& values = std::get<Grid>(symmetric.input).values;
  values = values.mean({2, 3}, true).expand({4, 2, 8, 8}).contiguous();
  const AuditReport report = audit(model, &task, symmetric, schema);
  for (const AuditClaim& c : report.claims) {
    EXPECT_TRUE(c.passed) << c.output << " " << c.dtype;
  }
  EXPECT_TRUE(report.controls.empty());
  EXPECT_EQ(report.skipped.size(), 2U);
  EXPECT_FALSE(report.passed);
}

// Pictures that are their own mirror images, as letters like A and T nearly are: a mirror can show nothing.
/// Nothing is there to fail of a net that claims nothing, but what it does not claim must show.
TEST(AuditOfGrids, ANetThatClaimsNothingPassesWhereItsControlsShow) {
  class Silent : public ToyGrid {
   public:
    using ToyGrid::ToyGrid;
    Symmetry symmetry() const override { return {}; }
  };
  const Schema schema = toy_schema(2, 1, "class", 3);
  const Classification task({});
  for (const bool turns : {false, true}) {  // as a matter of fact, though it does not say so
    at::manual_seed(5);
    Silent model(task.interface(schema), named_group("cyclic_4"), /*broken=*/!turns);
    const AuditReport report =
        audit(model, &task, random_grids(schema, 4, std::vector<int64_t>{8}, 1), schema);
    EXPECT_TRUE(report.claims.empty());
    ASSERT_EQ(report.controls.size(), 3U);
    EXPECT_EQ(report.controls.back().transformation, "quarter turn");
    EXPECT_EQ(report.controls.back().passed, !turns);
    EXPECT_EQ(report.passed, !turns);
  }
}

TEST(AuditOfGrids, AMirrorIsSkippedOnPicturesThatAreTheirOwnMirrorImages) {
  const Schema schema = toy_schema(2, 1, "class", 3);
  const Classification task({});
  at::manual_seed(5);
  ToyGrid model(task.interface(schema), named_group("cyclic_4"));
  Batch pictures = random_grids(schema, 4, std::vector<int64_t>{8}, 1);
  auto& values = std::get<Grid>(pictures.input).values;
  values = values + values.flip({3});
  const AuditReport report = audit(model, &task, pictures, schema);
  EXPECT_TRUE(report.passed);
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].transformation, "reflection");
  ASSERT_EQ(report.controls.size(), 1U);
  EXPECT_EQ(report.controls[0].transformation, "shear");
}

}  // namespace audit_grids_test
}  // namespace weyl
