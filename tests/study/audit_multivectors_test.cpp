// Audits of models whose features and outputs are multivectors, which move by translations too.
#include <gtest/gtest.h>

#include <set>

#include "tests/models/multivector_probe.h"
#include "weyl/carriers/points.h"
#include "weyl/study/audit/audit.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl {
namespace audit_multivectors_test {

using Does = MultivectorProbe::Does;

const Claim rotations{Claim::Of::rotations, "SO(3)", nullptr};
const Claim rotoreflections{Claim::Of::rotoreflections, "O(3)", nullptr};
const Claim translations{Claim::Of::translations, "translations", nullptr};
const Claim permutations{Claim::Of::permutations, "permutations", nullptr};

Schema schema_of_frames() {
  Schema schema;
  schema.interface.typical_nodes = 6;
  schema.interface.features = {{"frame", Level::node, Kind::multivector}};
  return schema;
}

enum class Samples { placed, without_positions, points };

Batch samples_of(Samples which) {
  Batch batch = random_tokens(schema_of_frames(), 8, 6, 3);
  auto& points = std::get<Points>(batch.input);
  if (which == Samples::without_positions) {
    points.positions.zero_();
  } else if (which == Samples::points) {  // where the nodes are
    points.multivectors.zero_();
    points.multivectors.select(2, 14).fill_(1);
    points.multivectors.select(2, 13).copy_(-points.positions.slice(1, 0, 1));
    points.multivectors.select(2, 12).copy_(points.positions.slice(1, 1, 2));
    points.multivectors.select(2, 11).copy_(-points.positions.slice(1, 2, 3));
  }
  return batch;
}

AuditReport audited(Does does, std::vector<Claim> exact, Samples samples = Samples::placed) {
  const Schema schema = schema_of_frames();
  Interface interface = schema.interface;
  interface.outputs = {{"size", Level::node, Kind::scalar}};
  if (samples != Samples::points) {
    interface.outputs.push_back({"moved", Level::node, Kind::multivector});
    interface.outputs.push_back({"mean", Level::graph, Kind::multivector});
  }
  MultivectorProbe model(interface, does, std::move(exact));
  AuditOptions options;
  options.elements = 8;
  return audit(model, nullptr, samples_of(samples), schema, options);
}

/// The groups of claims that fail, without repeats.
std::set<std::string> failing(const AuditReport& report) {
  std::set<std::string> groups;
  for (const AuditClaim& claim : report.claims) {
    if (!claim.passed) {
      groups.insert(claim.group);
    }
  }
  return groups;
}

const std::vector<Claim> all{rotoreflections, translations, permutations};

TEST(AuditMultivectors, PassesAModelThatScalesThem) {
  for (const Samples samples : {Samples::placed, Samples::without_positions}) {
    const AuditReport report = audited(Does::scales, all, samples);
    EXPECT_TRUE(report.passed);
    EXPECT_EQ(report.claims.size(), 4u * 3 * 2);  // near and far translations; three outputs; two dtypes
    for (const AuditClaim& claim : report.claims) {
      EXPECT_LE(claim.error, claim.tolerance) << claim.group << " " << claim.output << " " << claim.dtype;
    }
  }
}

TEST(AuditMultivectors, FailsAMapOfFixedComponents) {
  const AuditReport report = audited(Does::fixes_components, all);
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(failing(report), (std::set<std::string>{"O(3)", "translations", "far translations"}));
  // It may claim no more than the order of nodes.
  EXPECT_TRUE(audited(Does::fixes_components, {permutations}).passed);
}

// Dropping what e0 stands in keeps rotations and reflections, so that translations alone tell.
TEST(AuditMultivectors, FailsAModelThatForgetsPlaces) {
  for (const Samples samples : {Samples::placed, Samples::without_positions}) {
    EXPECT_EQ(failing(audited(Does::forgets_places, all, samples)),
              (std::set<std::string>{"translations", "far translations"}));
    EXPECT_TRUE(audited(Does::forgets_places, {rotoreflections, permutations}, samples).passed);
  }
}

TEST(RandomTokens, HaveMultivectorsOfNodesAndGraphs) {
  Schema schema = schema_of_frames();
  schema.interface.features.push_back({"floor", Level::graph, Kind::multivector, 2});
  const auto drawn = [&](uint64_t seed) { return std::get<Points>(random_tokens(schema, 4, 5, seed).input); };
  EXPECT_EQ(drawn(1).multivectors.sizes(), at::IntArrayRef({20, 1, 16}));
  EXPECT_EQ(drawn(1).of_graphs.at("floor").sizes(), at::IntArrayRef({4, 2, 16}));
  EXPECT_TRUE(at::equal(drawn(1).multivectors, drawn(1).multivectors));
  EXPECT_FALSE(at::equal(drawn(1).multivectors, drawn(2).multivectors));
}

// What rounding a moved multivector does to a steep model is a hundred times over the limit.
TEST(AuditMultivectors, DoNotCountWhatTheMovedInputLost) {
  const std::vector<Claim> exact{rotoreflections,
                                 translations};  // the first node is another after a permutation
  EXPECT_EQ(failing(audited(Does::steep, exact, Samples::points)), std::set<std::string>{});
  EXPECT_TRUE(audited(Does::steep, exact, Samples::points).passed);
  EXPECT_FALSE(audited(Does::steep_along_x, exact, Samples::points).passed);
}

}  // namespace audit_multivectors_test
}  // namespace weyl
