// Data whose features are multivectors, from the set through augmentation, training and checkpoint to the audit.
#include <gtest/gtest.h>

#include "tests/train/small_training.h"
#include "weyl/models/systems.h"
#include "weyl/study/audit/audit.h"
#include "weyl/train/loop/checkpoint.h"

namespace weyl {
namespace multivector_training_test {

struct DriftOptions {
  static constexpr const char* name_in_config = "drift";
  bool crooked = false;
};
void fields(Fields& f, DriftOptions& o) {
  f("crooked", o.crooked, "mixes the components as no motion allows");
}

/// The displacement is a weight times the ideal part (e01, e02, e03) of a line at infinity, which is a velocity.
class Drift : public PointsModel {
 public:
  using Options = DriftOptions;
  Drift(const DriftOptions& options, const Interface& interface) : PointsModel(interface), options_(options) {
    weight_ = parameter("weight", {1}, Init::zeros());
  }
  Named forward(const Points& points) override {
    const Tensor velocity = points.multivectors.slice(2, 5, 8);
    return {{interface.outputs[0].name, weight_ * (options_.crooked ? velocity.roll(1, 2) : velocity)}};
  }
  Symmetry symmetry() const override {
    return {{{Claim::Of::rotoreflections, "O(3)", nullptr},
             {Claim::Of::translations, "translations", nullptr},
             {Claim::Of::permutations, "permutations", nullptr}},
            {}};
  }
  Work work(double /*nodes*/) const override { return {3}; }

 private:
  DriftOptions options_;
  Tensor weight_;
};

/// small_set with its velocities as multivectors.
std::shared_ptr<const Dataset> lines(int64_t samples, uint64_t seed) {
  const auto plain = std::dynamic_pointer_cast<const InMemory>(small_set(samples, seed));
  Batch all = plain->all();
  Schema schema = plain->schema();
  auto& points = std::get<Points>(all.input);
  points.multivectors = at::zeros({points.nodes(), 1, 16}, at::kDouble);
  points.multivectors.slice(2, 5, 8).copy_(points.vectors);
  all.labels["displacement"] = 0.5 * points.vectors;
  points.vectors = points.scalars = Tensor();
  schema.interface.features = {{"velocity", Level::node, Kind::multivector}};
  return std::make_shared<InMemory>(std::move(all), std::move(schema));
}

TrainResult trained(const ScratchFolder& folder, const Systems& systems, bool crooked) {
  Recipe recipe = small_recipe();
  recipe.model = options_of(systems);
  recipe.model.system = DriftOptions{.crooked = crooked};
  recipe.task.task = TrajectoryOptions{.normalise = false};
  recipe.train.augment = Augmentation::rotoreflections;
  recipe.train.epochs = 30;
  recipe.train.optimiser.rate = 0.05;
  recipe.train.optimiser.weight_decay = 0;
  TrainRequest request;
  request.out = folder / (crooked ? "crooked" : "straight");
  request.data = {lines(70, 1), lines(20, 2), lines(20, 3)};
  request.systems = &systems;
  return train(recipe, request);
}

TEST(MultivectorTraining, LearnsAuditsAndIsReadAgain) {
  const ScratchFolder folder;
  Systems systems = built_in_systems();
  systems.push_back(system_of<Drift>());
  const auto samples = std::dynamic_pointer_cast<const InMemory>(lines(10, 4));
  for (const bool crooked : {false, true}) {
    const TrainResult result = trained(folder, systems, crooked);
    const SavedModel saved = load_model(result.run, at::kCPU, {}, systems);
    ASSERT_EQ(saved.interface.features.size(), 1u);
    EXPECT_EQ(saved.interface.features[0], samples->schema().interface.features[0]);
    // Samples are turned as they are learned: along mixed components nothing can be.
    const double weight = saved.model->parameters()[0].tensor.item<double>();
    EXPECT_NEAR(weight, crooked ? 0 : 0.5, crooked ? 0.15 : 0.02);
    const AuditReport report = audit(*saved.model, nullptr, samples->all(), samples->schema());
    EXPECT_EQ(report.passed, !crooked);
  }
}

}  // namespace multivector_training_test
}  // namespace weyl
