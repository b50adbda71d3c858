#include "weyl/study/audit/pose_equivariance.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "weyl/models/lie/options.h"
#include "weyl/models/systems.h"
#include "weyl/study/samples/random_samples.h"
#include "weyl/tasks/completion.h"

namespace weyl {
namespace pose_equivariance_test {

Schema schema_of(LieGroup group) {
  Schema schema;
  schema.interface.group = group;
  schema.interface.dimension = dimension_of(group);
  schema.interface.typical_nodes = 7;
  return schema;
}

std::shared_ptr<Model> model_of(LieGroup group, lie::Variant variant) {
  at::manual_seed(2);
  lie::Options options;
  options.variant = variant;
  const auto model = build({options}, Completion({}).interface(schema_of(group)));
  model->train(false);
  return model;
}

// The limits of a trained model, in float32; and the model that does not have the symmetry.
TEST(PoseEquivariance, OfThePredictionWithItsControl) {
  const struct {
    LieGroup group;
    double limit;
  } rows[] = {{LieGroup::so2, 1e-13}, {LieGroup::so3, 1e-13}, {LieGroup::se2, 4e-10},
              {LieGroup::se3, 4e-10}, {LieGroup::aff2, 1e-9}, {LieGroup::aff3, 1e-9}};
  const Completion task({});
  for (const auto& [group, limit] : rows) {
    const Schema schema = schema_of(group);
    const Batch samples = random_tokens(schema, 12, 7, 4);
    for (const lie::Variant variant : {lie::Variant::G, lie::Variant::C}) {
      const auto found = pose_equivariance(*model_of(group, variant), task, samples, schema);
      EXPECT_EQ(found.count, 120);
      EXPECT_LE(found.flips, 6);
      EXPECT_LT(found.mean_square, limit) << name_of(group);
      EXPECT_GT(found.mean_square, 0) << name_of(group);
      EXPECT_DOUBLE_EQ(found.root_mean_square * found.root_mean_square, found.mean_square);
      EXPECT_LE(found.median_square, found.largest);
    }
    const auto control = pose_equivariance(*model_of(group, lie::Variant::A), task, samples, schema);
    EXPECT_TRUE(control.flips == control.count || control.mean_square > 1e-4) << name_of(group);
  }
}

// The data of a run may lie anywhere: rounded to float32 at 1e8 they would be other data.
TEST(PoseEquivariance, OfSamplesFarFromTheOriginIsThatOfOthers) {
  const Schema schema = schema_of(LieGroup::se3);
  Batch samples = random_tokens(schema, 12, 7, 4);
  std::get<Poses>(samples.input).elements.slice(1, 0, 3).select(2, 3).add_(1e8);
  const auto found =
      pose_equivariance(*model_of(LieGroup::se3, lie::Variant::G), Completion({}), samples, schema);
  EXPECT_LE(found.flips, 6);
  EXPECT_LT(found.mean_square, 4e-10);
}

TEST(PoseEquivariance, InFloat64TheErrorIsThatOfFloat64) {
  const Schema schema = schema_of(LieGroup::aff2);
  const Batch samples = random_tokens(schema, 8, 7, 4);
  const auto model = model_of(LieGroup::aff2, lie::Variant::G);
  model->to(at::kDouble);
  EXPECT_LT(pose_equivariance(*model, Completion({}), samples, schema).mean_square, 1e-24);
}

}  // namespace pose_equivariance_test
}  // namespace weyl
