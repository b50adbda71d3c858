// A short training of the paper's experiment on SO(3): what sees logarithms alone finds the gap and what
// stands in it, what sees raw numbers does not.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "weyl/core/random.h"
#include "weyl/data/poses/pose_sequences.h"
#include "weyl/makers/poses/pose_sequences.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/systems.h"
#include "weyl/tasks/completion.h"
#include "weyl/train/loop/optimiser.h"

namespace weyl {
namespace completion_training_test {

InMemory sequences(std::string_view split, int64_t count) {
  PoseSequencesMakerOptions options;
  options.group = LieGroup::so3;
  std::vector<double> tokens, missing;
  std::vector<int64_t> flank, sizes;
  for (int64_t i = 0; i < count; ++i) {
    const PoseSequence s = make_pose_sequence(options, split, i);
    tokens.insert(tokens.end(), s.tokens.begin(), s.tokens.end());
    missing.insert(missing.end(), s.element.begin(), s.element.end());
    flank.insert(flank.end(), s.flank.begin(), s.flank.end());
    sizes.push_back(static_cast<int64_t>(s.flank.size()));
  }
  Poses poses;
  poses.group = LieGroup::so3;
  poses.graphs = Segments::of_sizes(sizes);
  poses.elements = at::tensor(tokens, at::kDouble).view({poses.nodes(), 3, 3});
  Batch batch{poses, {}};
  batch.labels["element"] = at::tensor(missing, at::kDouble).view({count, 3, 3});
  batch.labels["flank"] = at::tensor(flank, at::kLong).unsqueeze(1);
  PoseSequencesDataOptions data;
  data.group = LieGroup::so3;
  return {std::move(batch), declared_schema(data)};
}

Metrics trained(lie::Variant variant, const InMemory& train, const InMemory& test) {
  const Completion task({});
  at::manual_seed(1);
  lie::Options options;
  options.variant = variant;
  const auto model = build({options}, task.interface(train.schema()));
  OptimiserOptions adam;
  adam.name = OptimiserLaw::adam;
  adam.clip = 2.0;
  Optimiser optimiser(model->parameters(), adam);
  for (int64_t epoch = 0; epoch < 75; ++epoch) {
    Stream stream(1, "order", {static_cast<uint64_t>(epoch)});
    const auto order = stream.permutation(train.size());
    for (int64_t begin = 0; begin + 64 <= train.size(); begin += 64) {
      const Batch batch = train.batch(std::span(order).subspan(begin, 64));
      task.step(*model, to(batch, at::kCPU, at::kFloat)).loss.backward();
      optimiser.clip_gradients();
      optimiser.step();
      optimiser.clear_gradients();
    }
  }
  model->train(false);
  const auto meter = task.meter(model->interface);
  const Batch all = to(test.all(), at::kCPU, at::kFloat);
  meter->add(all, task.predict(*model, all));
  return meter->values();
}

TEST(CompletionTraining, LogarithmsLearnWhatRawNumbersDoNot) {
  const InMemory train = sequences("train", 2048), test = sequences("test", 400);
  const double copy = Completion({}).baselines(test)[0].second.at("pose_error").value;
  const Metrics G = trained(lie::Variant::G, train, test), A = trained(lie::Variant::A, train, test);
  RecordProperty("G", std::to_string(G.at("pose_error").value));
  EXPECT_GT(G.at("flanking_accuracy").value, 0.95);
  EXPECT_LT(G.at("pose_error").value, copy / 3);
  EXPECT_GT(A.at("pose_error").value, 3 * G.at("pose_error").value);
}

}  // namespace completion_training_test
}  // namespace weyl
