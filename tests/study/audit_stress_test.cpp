// Audits of a force field whose samples have a volume, or some, or none.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/study/audit/audit.h"
#include "weyl/study/samples/random_samples.h"
#include "weyl/tasks/force_field.h"

namespace weyl {
namespace audit_stress_test {

/// E = sum over pairs of exp(-d^2), and of a cell C the squares of C C^T; `crooked` adds a component of C.
class Pairs : public PointsModel {
 public:
  Pairs(Interface interface, bool crooked) : PointsModel(std::move(interface)), crooked_(crooked) {
    k_ = parameter("k", at::full({1}, 0.5, at::kDouble));
  }
  bool periodic() const override { return true; }
  Named forward(const Points& p) override {
    std::vector<Tensor> energies;
    for (int64_t g = 0; g < p.count(); ++g) {
      const Tensor x = p.positions.slice(0, p.graphs.offsets[g], p.graphs.offsets[g + 1]);
      Tensor apart = x.unsqueeze(0) - x.unsqueeze(1);
      if (p.cell.defined() && p.pbc[g][0].item<bool>()) {  // the nearest image
        const Tensor images = at::matmul(apart, at::linalg_inv(p.cell[g])).detach().round();
        apart = apart - at::matmul(images, p.cell[g]);
      }
      energies.push_back((at::exp(-apart.square().sum(2)) * k_).sum().view({1}));
    }
    Tensor energy = at::cat(energies);
    if (p.cell.defined()) {
      energy = energy + at::matmul(p.cell, p.cell.transpose(1, 2)).square().sum({1, 2}) * 1e-3;
      energy = crooked_ ? energy + p.cell.select(1, 0).select(1, 0).square() * 0.1 : energy;
    }
    return {{"energy", energy.unsqueeze(1)}};
  }
  Symmetry symmetry() const override {
    return {.exact = {{.of = Claim::Of::rotoreflections, .group = "O(3)"},
                      {.of = Claim::Of::translations, .group = "translations"},
                      {.of = Claim::Of::permutations, .group = "permutations"}}};
  }
  Work work(double /*nodes*/) const override { return {}; }

 private:
  bool crooked_;
  Tensor k_;
};

/// Eight graphs, of which so many are periodic.
AuditReport report_of(int64_t periodic, bool crooked = false) {
  Schema schema;
  schema.interface.typical_nodes = 4;
  ForceFieldOptions o;
  o.stress = true;
  const ForceField task(o);
  Batch samples = random_tokens(schema, 8, 4, 3);
  auto& points = std::get<Points>(samples.input);
  if (periodic > 0) {
    at::manual_seed(2);
    points.cell = at::eye(3, at::kDouble).expand({8, 3, 3}) * 3 + at::randn({8, 3, 3}, at::kDouble) * 0.3;
    points.pbc = (at::arange(8) < periodic).unsqueeze(1).expand({8, 3}).contiguous();
  }
  Pairs model(task.interface(schema), crooked);
  AuditOptions options;
  options.elements = 8;
  return audit(model, &task, samples, schema, options);
}

int64_t claims_of(const AuditReport& report, const std::string& output, bool passed) {
  return std::ranges::count_if(report.claims, [&](const AuditClaim& c) {
    EXPECT_FALSE(std::isnan(c.error));
    return c.output == output && c.passed == passed;
  });
}

TEST(AuditOfStress, LeavesOutWhatNoSampleHas) {
  const AuditReport report = report_of(0);
  EXPECT_TRUE(report.passed);
  EXPECT_EQ(report.absent, std::vector<std::string>{"prediction.stress"});
  EXPECT_EQ(claims_of(report, "prediction.stress", true), 0);
  EXPECT_EQ(claims_of(report, "prediction.stress", false), 0);
  EXPECT_EQ(claims_of(report, "prediction.forces", true), 8);  // four claims, two dtypes
}

TEST(AuditOfStress, IsOfTheSamplesThatHaveAVolume) {
  for (const int64_t periodic : {1, 3, 8}) {
    const AuditReport report = report_of(periodic);
    EXPECT_TRUE(report.passed) << periodic;
    EXPECT_TRUE(report.absent.empty());
    EXPECT_EQ(claims_of(report, "prediction.stress", true), 8) << periodic;
  }
}

TEST(AuditOfStress, SeesAStressThatDoesNotTurn) {
  const AuditReport report = report_of(3, true);
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(claims_of(report, "prediction.stress", false), 2);  // under rotations, in two dtypes
  EXPECT_EQ(claims_of(report, "prediction.stress", true), 6);
}

}  // namespace audit_stress_test
}  // namespace weyl
