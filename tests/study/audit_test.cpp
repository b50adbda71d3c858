#include "weyl/study/audit/audit.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/ops/segment.h"
#include "weyl/study/audit/audit_summary.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl {
namespace audit_test {

Schema schema_of_points() {
  Schema schema;
  schema.interface.dimension = 3;
  schema.interface.typical_nodes = 6;
  schema.interface.features = {{"charge"}, {"velocity", Level::node, Kind::vector}};
  return schema;
}

Interface asked(Interface interface) {
  interface.outputs = {{"energy", Level::graph, Kind::scalar}, {"forces", Level::node, Kind::vector}};
  return interface;
}

std::shared_ptr<Model> platonic(const std::string& group, int64_t width, int64_t heads) {
  platonic::Options options;
  options.group = group;
  options.width = width;
  options.heads = heads;
  options.blocks = 2;
  at::manual_seed(1);
  return build({options}, asked(schema_of_points().interface));
}

AuditOptions quick() {
  AuditOptions options;
  options.elements = 8;
  return options;
}

const AuditControl& control(const AuditReport& report, const std::string& name) {
  for (const AuditControl& c : report.controls) {
    if (c.transformation == name) {
      return c;
    }
  }
  throw std::runtime_error("no control " + name);
}

TEST(Audit, PassesAPlatonicModelAndTellsWhatIsNotClaimed) {
  const Schema schema = schema_of_points();
  const auto model = platonic("tetrahedron", 48, 12);
  const AuditReport report = audit(*model, nullptr, random_tokens(schema, 12, 6, 3), schema, quick());
  EXPECT_TRUE(report.passed);
  // Group, translations, permutations, translations far away; two outputs; two dtypes.
  EXPECT_EQ(report.claims.size(), 4u * 2 * 2);
  for (const AuditClaim& c : report.claims) {
    EXPECT_LE(c.error, c.tolerance) << c.group << " " << c.output << " " << c.dtype;
    EXPECT_GE(c.tolerance, c.dtype == "float64" ? 1e-11 : 1e-5);
    EXPECT_LE(c.tolerance, c.dtype == "float64" ? 1e-11 : 1e-4);
  }
  for (const char* name : {"shear", "rotation", "reflection"}) {
    EXPECT_GT(control(report, name).error, 1e-4) << name;
  }
  // Told beyond the controls: SO(3), which holds approximately, for each output.
  ASSERT_EQ(report.measures.size(), 2u);
  EXPECT_EQ(report.measures[0].group, "SO(3)");
  EXPECT_EQ(report.measures[0].output, "energy");
  EXPECT_EQ(report.measures[1].output, "forces");
}

/// The sum of |x|^2 over the nodes, whose coordinates float32 rounds as it does numbers that are 400 larger; and, where it is
/// planted, an error of float32 alone.
class Rounded : public PointsModel {
 public:
  Rounded(const Interface& interface, double planted) : PointsModel(interface), planted_(planted) {
    offset_ = parameter("offset", at::full({1}, 400.0));
  }
  Named forward(const Points& p) override {
    const Tensor large = offset_.to(p.positions.scalar_type());
    const Tensor r2 = ((p.positions + large) - large).square().sum(1, true);
    Tensor energy = segment_sum(r2, p.graphs);
    if (p.positions.scalar_type() == at::kFloat) {
      energy = energy + planted_ * segment_sum(p.positions.narrow(1, 0, 1), p.graphs);
    }
    return {{"energy", energy}};
  }
  Symmetry symmetry() const override {
    return {
        {{Claim::Of::rotoreflections, "O(3)", nullptr}, {Claim::Of::permutations, "permutations", nullptr}},
        {},
        {}};
  }
  Work work(double /*nodes*/) const override { return {}; }

 private:
  Tensor offset_;
  double planted_;
};

TEST(Audit, RoundingOfFloat32IsNoLackOfSymmetryButAnErrorOfFloat32Is) {
  Schema schema = schema_of_points();
  Interface interface = schema.interface;
  interface.outputs = {{"energy", Level::graph, Kind::scalar}};
  const Batch samples = random_tokens(schema, 12, 6, 3);
  const auto worst = [&](const AuditReport& report, const char* dtype) {
    double error = 0;
    for (const AuditClaim& c : report.claims) {
      error = c.dtype == dtype ? std::max(error, c.error) : error;
    }
    return error;
  };
  Rounded sound(interface, 0);
  const AuditReport rounded = audit(sound, nullptr, samples, schema, quick());
  for (const AuditControl& c : rounded.controls) {
    EXPECT_TRUE(c.passed) << c.transformation << " " << c.error;
  }
  EXPECT_TRUE(rounded.passed);
  EXPECT_GT(worst(rounded, "float32"), 1e-5);
  for (const AuditClaim& c : rounded.claims) {
    EXPECT_TRUE(c.passed) << c.group << " " << c.dtype << " " << c.error << " of " << c.tolerance;
    EXPECT_EQ(c.rounding, c.error > 1e-5 && c.dtype == "float32") << c.error;
  }
  EXPECT_LT(worst(rounded, "float64"), 1e-11);
  AuditOptions tight = quick();
  tight.tolerance_float32 = 1e-9;  // as asked for
  EXPECT_FALSE(audit(sound, nullptr, samples, schema, tight).passed);
  AuditOptions alone = quick();
  alone.dtypes = {at::kFloat};
  for (const AuditClaim& c : audit(sound, nullptr, samples, schema, alone).claims) {
    EXPECT_EQ(c.tolerance, 1e-5);
  }
  Rounded broken(interface, 1e-3);
  const AuditReport planted = audit(broken, nullptr, samples, schema, quick());
  EXPECT_FALSE(planted.passed);
  EXPECT_GT(worst(planted, "float32"), 1e-4);
}

TEST(Audit, MeasuresRotationOfThePlainTransformerWithoutJudgingIt) {
  const Schema schema = schema_of_points();
  transformer::Options options;
  options.width = 16;
  options.heads = 2;
  options.blocks = 1;
  const auto model = build({options}, asked(schema.interface));
  const AuditReport report = audit(*model, nullptr, random_tokens(schema, 12, 6, 3), schema, quick());
  EXPECT_TRUE(report.passed);
  for (const AuditClaim& c : report.claims) {
    EXPECT_EQ(c.group.find("SO("), std::string::npos);
  }
  EXPECT_GT(control(report, "rotation").error, 1e-3);
  ASSERT_EQ(report.measures.size(), 2u);
  double worst = 0;
  for (const AuditMeasure& m : report.measures) {
    EXPECT_EQ(m.group, "SO(3)");
    EXPECT_EQ(m.dtype, "float64");
    EXPECT_GT(m.error, 1e-3) << m.output;
    worst = worst_of(worst, m.error);
  }
  EXPECT_EQ(worst, control(report, "rotation").error);
}

TEST(Audit, KnowsTheLine) {
  Schema schema;
  schema.interface.dimension = 1;
  schema.interface.typical_nodes = 6;
  schema.interface.features = {{"charge"}, {"velocity", Level::node, Kind::vector}};
  transformer::Options options;
  options.width = 16;
  options.heads = 2;
  options.blocks = 1;
  const Batch samples = random_tokens(schema, 12, 6, 3);
  const auto model = build({options}, asked(schema.interface));
  const AuditReport report = audit(*model, nullptr, samples, schema, quick());
  EXPECT_TRUE(report.passed);
  EXPECT_EQ(report.claims.size(),
            3u * 2 * 2);                  // translations near and far, permutations; two outputs; two dtypes
  ASSERT_EQ(report.controls.size(), 2u);  // there are no rotations to show
  EXPECT_GT(control(report, "shear").error, 1e-3);
  EXPECT_GT(control(report, "reflection").error, 1e-3);
  EXPECT_TRUE(report.measures.empty());
  options.centre = false;
  const auto fixed = build({options}, asked(schema.interface));
  EXPECT_GT(control(audit(*fixed, nullptr, samples, schema, quick()), "translation").error, 1e-3);
}

TEST(Audit, RefusesCrossProductsOfALine) {
  Schema schema;
  schema.interface.dimension = 1;
  schema.interface.features = {{"spin", Level::node, Kind::axial_vector}};
  EXPECT_THROW(build({transformer::Options{}}, asked(schema.interface)), ConfigError);
}

TEST(Audit, GivesTheModelBackBitForBit) {
  const Schema schema = schema_of_points();
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const BuildOn build_on(at::kCPU, dtype);
    const auto model = platonic("tetrahedron", 48, 12);
    std::vector<Tensor> before;
    for (const Parameter& p : model->parameters()) {
      before.push_back(p.tensor.detach().clone());
    }
    model->train(true);
    audit(*model, nullptr, random_tokens(schema, 4, 5, 3), schema, quick());
    EXPECT_TRUE(model->training());
    size_t i = 0;
    for (const Parameter& p : model->parameters()) {
      EXPECT_EQ(p.tensor.scalar_type(), dtype);
      EXPECT_TRUE(at::equal(p.tensor, before[i++])) << p.name;
    }
  }
}

// A network that can be told to lie.
class Liar : public PointsModel {
 public:
  enum class Does { sees_x, sees_length, constant, sees_order, steep, steep_along_x };
  Liar(Interface interface, Does does, std::vector<Claim> exact)
      : PointsModel(std::move(interface)), does_(does), exact_(std::move(exact)) {
    parameter("weight", {1}, Init::ones());
  }
  Symmetry symmetry() const override { return {exact_, {}}; }
  Work work(double /*nodes*/) const override { return {1}; }
  Named forward(const Points& points) override {
    const Tensor& x = points.positions;
    Tensor node;
    switch (does_) {
      case Does::sees_x:
        node = x.narrow(1, 0, 1);
        break;
      case Does::sees_length:
        node = x.square().sum(1, true);
        break;
      case Does::constant:
        node = at::ones_like(x.narrow(1, 0, 1));
        break;
      case Does::sees_order:
        node = at::arange(x.size(0), x.options()).unsqueeze(1) * x.square().sum(1, true);
        break;
      case Does::steep:
        node = steep(x.to(at::kDouble).square().sum(1, true)).to(x.scalar_type());
        break;
      case Does::steep_along_x:
        node = steep(x.to(at::kDouble).narrow(1, 0, 1)).to(x.scalar_type());
        break;
    }
    return {{"s", node}};
  }

 private:
  static Tensor steep(const Tensor& x) { return (300 * x).sin(); }

  Does does_;
  std::vector<Claim> exact_;
};

AuditReport audit_liar(Liar::Does does, std::vector<Claim> exact) {
  Schema schema;
  schema.interface.typical_nodes = 6;
  Interface interface = schema.interface;
  interface.outputs = {{"s", Level::node, Kind::scalar}};
  Liar model(interface, does, std::move(exact));
  return audit(model, nullptr, random_tokens(schema, 8, 6, 3), schema, quick());
}

const Claim rotations{Claim::Of::rotations, "SO(3)", nullptr};
const Claim rotoreflections{Claim::Of::rotoreflections, "O(3)", nullptr};
const Claim permutations{Claim::Of::permutations, "permutations", nullptr};
const Claim translations{Claim::Of::translations, "translations", nullptr};

TEST(Audit, FailsAModelThatLies) {
  EXPECT_FALSE(audit_liar(Liar::Does::sees_x, {rotations, permutations}).passed);
  EXPECT_FALSE(audit_liar(Liar::Does::sees_length, {rotoreflections, permutations, translations}).passed);
  EXPECT_FALSE(audit_liar(Liar::Does::sees_order, {rotoreflections, permutations}).passed);
  // The same networks pass with what they may claim.
  EXPECT_TRUE(audit_liar(Liar::Does::sees_length, {rotoreflections, permutations}).passed);
  EXPECT_TRUE(audit_liar(Liar::Does::sees_x, {permutations}).passed);
  EXPECT_TRUE(audit_liar(Liar::Does::sees_order, {rotoreflections}).passed);
}

// Its float32 is as good as float64, and yet what rounding does to a turned position shows a hundred times
// over the limit.
TEST(Audit, DoesNotCountWhatTheInputLostBefore) {
  const AuditReport report = audit_liar(Liar::Does::steep, {rotoreflections, permutations});
  EXPECT_TRUE(report.passed);
  EXPECT_FALSE(audit_liar(Liar::Does::steep_along_x, {rotoreflections, permutations}).passed);
}

TEST(Audit, FailsAConstantOutput) {
  const AuditReport report = audit_liar(Liar::Does::constant, {rotoreflections, permutations});
  EXPECT_FALSE(report.passed);
  ASSERT_FALSE(report.claims.empty());
  for (const AuditClaim& claim : report.claims) {
    EXPECT_TRUE(claim.constant);
    EXPECT_FALSE(claim.passed);
    EXPECT_EQ(claim.error, 1);  // a number, which infinity is not in JSON
  }
  for (const AuditClaim& claim :
       audit_liar(Liar::Does::sees_length, {rotoreflections, permutations}).claims) {
    EXPECT_FALSE(claim.constant);
  }
}

TEST(Audit, FailsAControlThatDoesNotShow) {
  // Sees lengths, so rotations hold, but claims permutations alone: it should claim more.
  const AuditReport report = audit_liar(Liar::Does::sees_length, {permutations});
  EXPECT_FALSE(report.passed);
  EXPECT_FALSE(control(report, "rotation").passed);
}

/// Knows left from right: the sum of |x|^2, and the volume that three moments of the positions span. It claims rotations and
/// the order of nodes.
class Handed : public PointsModel {
 public:
  Handed(Interface interface, std::vector<Claim> exact)
      : PointsModel(std::move(interface)), exact_(std::move(exact)) {
    parameter("weight", {1}, Init::ones());
  }
  Symmetry symmetry() const override { return {exact_, {}, {}}; }
  Work work(double /*nodes*/) const override { return {}; }
  Named forward(const Points& p) override {
    const Tensor square = p.positions.square().sum(1, true), near = 1 / (1 + square);
    const auto moment = [&](const Tensor& weight) { return segment_sum(weight * p.positions, p.graphs); };
    const Tensor volume =
        at::linalg_det(at::stack({moment(near), moment(near * near), moment(square * near)}, 1));
    return {{"energy", segment_sum(square, p.graphs) + volume.unsqueeze(1)}};
  }

 private:
  std::vector<Claim> exact_;
};

/// Audits Handed, or a model that knows lengths alone, on samples of six nodes at these positions (B, 6, 3).
AuditReport audit_handed(const Tensor& positions, std::vector<Claim> exact, bool handed = true) {
  Schema schema;
  schema.interface.typical_nodes = static_cast<double>(positions.size(1));
  Interface interface = schema.interface;
  interface.outputs = {{"energy", Level::graph, Kind::scalar}};
  Batch samples = random_tokens(schema, positions.size(0), positions.size(1), 3);
  std::get<Points>(samples.input).positions = positions.reshape({-1, 3}).contiguous();
  AuditOptions options = quick();
  options.dtypes = {at::kDouble};  // that of controls
  if (handed) {
    Handed model(interface, std::move(exact));
    return audit(model, nullptr, samples, schema, options);
  }
  interface.outputs = {{"s", Level::node, Kind::scalar}};
  Liar model(interface, Liar::Does::sees_length, std::move(exact));
  return audit(model, nullptr, samples, schema, options);
}

std::vector<std::string> skipped(const AuditReport& report) {
  std::vector<std::string> names;
  for (const SkippedControl& c : report.skipped) {
    names.push_back(c.transformation);
  }
  return names;
}

TEST(Audit, SkipsAControlOnlyWhereEverySampleIsItsOwnImage) {
  at::manual_seed(2);
  const std::vector<Claim> claims{rotations, permutations};
  const std::vector<std::string> reflection{"reflection"};
  const Tensor any = at::randn({4, 6, 3}, at::kDouble);
  const AuditReport seen = audit_handed(any, claims);
  EXPECT_TRUE(seen.passed);
  EXPECT_TRUE(seen.skipped.empty());
  EXPECT_GT(control(seen, "reflection").error, 1e-3);
  // Planar, and turned out of the plane of the axes.
  const Tensor turn = std::get<0>(at::linalg_qr(at::randn({3, 3}, at::kDouble)));
  Tensor flat = any.clone();
  flat.select(2, 2).zero_();
  flat = at::matmul(flat, turn);
  const AuditReport planar = audit_handed(flat, claims);
  EXPECT_TRUE(planar.passed);
  EXPECT_EQ(skipped(planar), reflection);
  // Of three pairs each: its own mirror image in another order of the nodes.
  Tensor twins = any.clone();
  twins.slice(1, 3, 6).copy_(twins.slice(1, 0, 3));
  twins.slice(1, 3, 6).select(2, 0).neg_();
  twins = at::matmul(twins, turn);
  EXPECT_TRUE(audit_handed(twins, claims).passed);
  EXPECT_EQ(skipped(audit_handed(twins, claims)), reflection);
  // One sample of four that is not: the control is judged, and a model that knows lengths alone fails by it.
  Tensor mixed = flat.clone();
  mixed.select(0, 3).copy_(any.select(0, 3));
  EXPECT_TRUE(audit_handed(mixed, claims).passed);
  EXPECT_TRUE(audit_handed(mixed, claims).skipped.empty());
  const AuditReport blind = audit_handed(mixed, claims, false);
  EXPECT_FALSE(blind.passed);
  EXPECT_TRUE(blind.skipped.empty());
  EXPECT_FALSE(control(blind, "reflection").passed);
  // What differs by more than rounding is another thing.
  const Tensor bent = flat + 1e-3 * at::randn({4, 6, 3}, at::kDouble);
  EXPECT_TRUE(skipped(audit_handed(bent, claims, false)).empty());
}

// A single node at the centroid is its own image whatever is done to it.
TEST(Audit, HasNotPassedWhereNoControlWasJudged) {
  const AuditReport report =
      audit_handed(at::zeros({4, 1, 3}, at::kDouble), {rotations, permutations, translations}, false);
  EXPECT_TRUE(report.controls.empty());
  EXPECT_EQ(skipped(report), (std::vector<std::string>{"shear", "reflection"}));
  EXPECT_FALSE(report.passed);
}

/// The mean removed from the vectors of each graph, and a planted error of them.
class Differences : public PointsModel {
 public:
  Differences(Interface interface, double planted) : PointsModel(std::move(interface)), planted_(planted) {
    parameter("weight", {1}, Init::ones());
  }
  Symmetry symmetry() const override { return {{rotations, permutations}, {}, {}}; }
  Work work(double /*nodes*/) const override { return {}; }
  Named forward(const Points& p) override {
    const Tensor mean = segment_sum(p.vectors.flatten(1), p.graphs) / 6;
    const Tensor rest = p.vectors - at::index_select(mean, 0, p.graphs.index).view_as(p.vectors);
    return {{"rest", rest * (1 + planted_ * p.positions.select(1, 0).view({-1, 1, 1}).sign())}};
  }

 private:
  double planted_;
};

// Velocities of 1 that differ by 1e-7: turning them rounds 1e-16, which is 1e-9 of what is left.
TEST(Audit, JudgesSmallDifferencesByTheRoundingOfWhatTheyAreComputedFrom) {
  Schema schema;
  schema.interface.typical_nodes = 6;
  schema.interface.features = {{"velocity", Level::node, Kind::vector}};
  Interface interface = schema.interface;
  interface.outputs = {{"rest", Level::node, Kind::vector}};
  Batch samples = random_tokens(schema, 8, 6, 3);
  Tensor& velocities = std::get<Points>(samples.input).vectors;
  velocities = 1 + 1e-7 * velocities;
  AuditOptions options = quick();
  options.dtypes = {at::kDouble};
  Differences sound(interface, 0);
  const AuditReport slow = audit(sound, nullptr, samples, schema, options);
  for (const AuditClaim& c : slow.claims) {
    EXPECT_TRUE(c.passed) << c.group << " " << c.error;
    EXPECT_EQ(c.tolerance, 1e-11);
  }
  Differences broken(interface, 1e-6);
  EXPECT_FALSE(audit(broken, nullptr, samples, schema, options).claims.front().passed);
  // Where nothing cancels the spread of the output is what counts, as ever.
  velocities = 1e7 * (velocities - 1);
  Differences faint(interface, 1e-10);
  EXPECT_FALSE(audit(faint, nullptr, samples, schema, options).claims.front().passed);
  EXPECT_TRUE(audit(sound, nullptr, samples, schema, options).claims.front().passed);
}

/// The sum over nodes of |x|^2 + c, and a planted error of float32 alone.
class Offset : public PointsModel {
 public:
  Offset(Interface interface, double c, double planted)
      : PointsModel(std::move(interface)), planted_(planted) {
    offset_ = parameter("offset", at::full({1}, c));
  }
  Symmetry symmetry() const override { return {{rotations, permutations}, {}, {}}; }
  Work work(double /*nodes*/) const override { return {}; }
  Named forward(const Points& p) override {
    const bool narrow = p.positions.scalar_type() == at::kFloat;
    const Tensor node =
        p.positions.square().sum(1, true) + offset_ + (narrow ? planted_ : 0) * p.positions.narrow(1, 0, 1);
    return {{"energy", segment_sum(node, p.graphs)}};
  }

 private:
  Tensor offset_;
  double planted_;
};

// Energies of 6e5 that differ by 5: float32 rounds them to 1e-2, which is 2e-3 of what they differ by.
TEST(Audit, JudgesEnergiesThatHardlyDifferByWhatRoundsThem) {
  Schema schema;
  schema.interface.typical_nodes = 6;
  Interface interface = schema.interface;
  interface.outputs = {{"energy", Level::graph, Kind::scalar}};
  const Batch samples = random_tokens(schema, 12, 6, 3);
  const auto claims_pass = [&](double c, double planted) {
    Offset model(interface, c, planted);
    const AuditReport report = audit(model, nullptr, samples, schema, quick());
    return std::ranges::all_of(report.claims, [](const AuditClaim& claim) { return claim.passed; });
  };
  EXPECT_TRUE(claims_pass(1e3, 0));
  EXPECT_FALSE(
      claims_pass(1e3, 1e-2));  // whatever is rounded, an error of float32 of 1e-3 of the spread never passes
  EXPECT_TRUE(claims_pass(1, 0));
  EXPECT_FALSE(claims_pass(1, 1e-3));  // where nothing cancels, the error that must never pass
}

/// A small energy, with a planted error, beside one that no weight and no place changes: that of the composition.
class Referred : public PointsModel {
 public:
  Referred(Interface interface, double planted) : PointsModel(std::move(interface)), planted_(planted) {
    parameter("weight", {1}, Init::ones());
  }
  Symmetry symmetry() const override { return {{rotations, permutations}, {}, {}}; }
  Work work(double /*nodes*/) const override { return {}; }
  Named forward(const Points& p) override {
    const Tensor x = (p.positions + 1e5) - 1e5;  // 1e-11 of it is rounded away
    const Tensor node = x.square().sum(1, true) + planted_ * p.positions.narrow(1, 0, 1);
    return {{"energy", 1e-3 * segment_sum(node, p.graphs) - 4209}};
  }

 private:
  double planted_;
};

// The last place of -4209 is 9e-13, which is 1e-10 of what the energies differ by.
TEST(Audit, JudgesTotalEnergiesByTheirOwnLastPlace) {
  Schema schema;
  schema.interface.typical_nodes = 6;
  Interface interface = schema.interface;
  interface.outputs = {{"energy", Level::graph, Kind::scalar}};
  const Batch samples = random_tokens(schema, 200, 6, 3);
  AuditOptions options = quick();
  options.dtypes = {at::kDouble};
  const auto worst = [&](double planted) {
    Referred model(interface, planted);
    double error = 0;
    for (const AuditClaim& c : audit(model, nullptr, samples, schema, options).claims) {
      error = std::max(error, c.error);
    }
    return error;
  };
  EXPECT_GT(worst(0), 0);  // the sum is rounded
  EXPECT_LT(worst(0), 1e-11);
  EXPECT_GT(worst(1e-6), 1e-11);
}

TEST(AuditSummary, SaysUnderWhatItIsExactHowFarOffElseAndWhatThatMeans) {
  const Schema schema = schema_of_points();
  const auto model = platonic("tetrahedron", 48, 12);
  const Batch samples = random_tokens(schema, 12, 6, 3);
  const auto said = [&](Model& of, const AuditReport& report, bool augmented) {
    std::string all;
    for (const std::string& line :
         summary_of(report, of.symmetry_for(samples.input), of.interface.outputs, augmented)) {
      all += line + "\n";
    }
    return all;
  };
  const AuditReport report = audit(*model, nullptr, samples, schema, quick());
  const std::string finite = said(*model, report, false);
  EXPECT_TRUE(finite.starts_with("for this task: under the motions of tetrahedron "))
      << finite;  // what to know first
  EXPECT_NE(
      finite.find("\nexact under tetrahedron, translations, permutations, far translations: off by at most "),
      std::string::npos)
      << finite;
  EXPECT_NE(finite.find("\noff under SO(3) by up to "), std::string::npos) << finite;
  EXPECT_NE(finite.find(", reflection by up to "), std::string::npos) << finite;
  EXPECT_NE(finite.find("train.augment"), std::string::npos) << finite;
  EXPECT_EQ(said(*model, report, true).find("train.augment"), std::string::npos);
  // Exact under all rotations: what stays and what moves along is named.
  Interface interface = schema_of_points().interface;
  interface.outputs = {{"energy", Level::graph, Kind::scalar}};
  Handed handed(interface, {rotations, permutations});
  const std::string all = said(handed, audit(handed, nullptr, samples, schema, quick()), false);
  EXPECT_NE(all.find("for this task: when a sample is turned, energy stays, "), std::string::npos) << all;
  EXPECT_TRUE(all.starts_with("for this task: "));
  // A lie is said first of all.
  interface.outputs = {{"s", Level::node, Kind::scalar}};
  Liar liar(interface, Liar::Does::sees_x, {rotations, permutations});
  const std::string lie = said(liar, audit(liar, nullptr, samples, schema, quick()), false);
  EXPECT_TRUE(
      lie.starts_with("for this task: answers for a sample and for its image differ by more than rounding"));
  EXPECT_NE(lie.find("NOT exact, though claimed, under SO(3) (s is off by "), std::string::npos) << lie;
}

TEST(Audit, RefusesLooserLimits) {
  const Schema schema = schema_of_points();
  const auto model = platonic("tetrahedron", 48, 12);
  AuditOptions options;
  options.tolerance_float32 = 1e-3;
  EXPECT_THROW(audit(*model, nullptr, random_tokens(schema, 4, 5, 3), schema, options), ConfigError);
}

TEST(RandomTokens, AreAPureFunctionOfTheSeed) {
  const Schema schema = schema_of_points();
  const auto positions = [&](uint64_t seed) {
    return std::get<Points>(random_tokens(schema, 4, 5, seed).input).positions;
  };
  EXPECT_TRUE(at::equal(positions(1), positions(1)));
  EXPECT_FALSE(at::equal(positions(1), positions(2)));
  EXPECT_EQ(positions(1).sizes(), (std::vector<int64_t>{20, 3}));
}

}  // namespace audit_test
}  // namespace weyl
