// Parameter counts of the paper's models (sheet, 3.1), as shapes only, from the interface of the task.
#include <gtest/gtest.h>

#include "weyl/core/check.h"
#include "weyl/data/poses/pose_sequences.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/systems.h"
#include "weyl/tasks/completion.h"

namespace weyl::lie {
namespace counts_test {

Interface completion(LieGroup group) {
  PoseSequencesDataOptions data;
  data.group = group;
  return Completion({}).interface(declared_schema(data));
}

std::shared_ptr<Model> model(LieGroup group, Variant variant, Options options = {}) {
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  options.variant = variant;
  return build({options}, completion(group));
}

int64_t score_of(const Model& model) {
  for (const auto& [name, count] : model.parts()) {
    if (name == "score") {
      return count;
    }
  }
  return 0;
}

TEST(LieCounts, AreThoseOfThePaper) {
  struct Row {
    LieGroup group;
    int64_t total[3], score[3];
  };
  const Row rows[] = {{LieGroup::se2, {33384, 35280, 39524}, {36, 1932, 0}},
                      {LieGroup::so3, {33372, 35280, 39684}, {24, 1932, 0}},
                      {LieGroup::aff2, {33795, 36819, 39687}, {60, 3084, 0}}};
  for (const Row& row : rows) {
    for (const Variant variant : {Variant::G, Variant::C, Variant::A}) {
      const auto v = static_cast<int>(variant);
      const auto built = model(row.group, variant);
      EXPECT_EQ(built->parameter_count(), row.total[v]) << name_of(row.group) << v;
      EXPECT_EQ(score_of(*built), row.score[v]) << name_of(row.group) << v;
    }
  }
}

// total_G = d + L (4d + d (d + g) + d + d^2 + d + 8 d^2 + 5d + H (K + 1)) + 2d + d^2 + d + g d + g + d + 1
TEST(LieCounts, FollowTheClosedForm) {
  for (const LieGroup group :
       {LieGroup::so2, LieGroup::se2, LieGroup::so3, LieGroup::se3, LieGroup::aff2, LieGroup::aff3}) {
    const int64_t d = 48, L = 2, H = 6, g = degrees_of_freedom(group),
                  K = static_cast<int64_t>(blocks_of(group).size());
    const int64_t layer = 4 * d + d * (d + g) + d + d * d + d + 8 * d * d + 5 * d + H * (K + 1);
    Options options;
    options.width = d;
    options.heads = H;
    options.blocks = L;
    EXPECT_EQ(model(group, Variant::G, options)->parameter_count(),
              d + L * layer + 2 * d + d * d + d + g * d + g + d + 1)
        << name_of(group);
  }
}

// The score alone, of L layers and H heads: 2 numbers a head; E (E + 1) / 2.
TEST(LieCounts, OfTheOtherMetrics) {
  for (const LieGroup group : {LieGroup::so2, LieGroup::se2, LieGroup::se3, LieGroup::aff2, LieGroup::aff3}) {
    const int64_t E = degrees_of_freedom(group), K = static_cast<int64_t>(blocks_of(group).size());
    Options options;
    const int64_t others = model(group, Variant::G, options)->parameter_count() - 12 * (K + 1);
    options.metric = Metric::isotropic;
    EXPECT_EQ(score_of(*model(group, Variant::G, options)), 12 * 2) << name_of(group);
    options.metric = Metric::full;
    EXPECT_EQ(score_of(*model(group, Variant::G, options)), 12 * E * (E + 1) / 2) << name_of(group);
    EXPECT_EQ(model(group, Variant::G, options)->parameter_count(), others + 12 * E * (E + 1) / 2);
  }
}

TEST(LieCounts, OptionsThatCannotBeAreRefused) {
  Options options;
  options.metric = Metric::full;
  options.chart = ChartPolicy::frobenius;
  EXPECT_THROW(model(LieGroup::se2, Variant::G, options), ConfigError);
  options = {};
  options.directed = true;
  EXPECT_THROW(model(LieGroup::se2, Variant::C, options), ConfigError);
  options = {};
  options.order = Order::causal;
  EXPECT_THROW(model(LieGroup::se2, Variant::A, options), ConfigError);
  options = {};
  options.neighbours = 1;
  EXPECT_THROW(model(LieGroup::se2, Variant::A, options), ConfigError);
  options = {};
  options.heads = 5;
  EXPECT_THROW(model(LieGroup::se2, Variant::G, options), ConfigError);
  options.heads = 4;
  options.move_tokens = true;
  EXPECT_THROW(model(LieGroup::se2, Variant::A, options), ConfigError);
  Interface interface = completion(LieGroup::se2);
  interface.outputs.push_back({"force", Level::node, Kind::vector});
  EXPECT_THROW(build({Options{}}, interface), ConfigError);
  Interface points = completion(LieGroup::se2);
  points.group.reset();
  EXPECT_THROW(build({Options{}}, points), ConfigError);
}

}  // namespace counts_test
}  // namespace weyl::lie
