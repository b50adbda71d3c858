// A short training on made slabs: the energy of adsorption and the relaxed places are learned from initial structures of pairs
// of metal and adsorbate that training never had.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/all_samples.h"
#include "tests/data/folder.h"
#include "weyl/carriers/loader.h"
#include "weyl/data/atoms/oc20.h"
#include "weyl/makers/slabs/slabs.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/systems.h"
#include "weyl/tasks/relaxation.h"
#include "weyl/train/loop/optimiser.h"

namespace weyl {
namespace relaxation_training_test {

TEST(RelaxationTraining, BeatsNoMotionAndTheMeanOnOtherPairs) {
  const Folder folder;
  ASSERT_TRUE(make_slabs({.train = 200, .valid = 30, .test = 0, .threads = 1}, folder.path()));
  const Splits data =
      open_set(Oc20DataOptions{.path = folder.path(), .image_radius = 3, .noisy_nodes = NoisyNodes{}});
  RelaxationOptions options;
  options.target = "energy";
  Relaxation task(options);
  task.fit(*data.train);
  geomformer::Options net;
  net.width = 32;
  net.heads = 4;
  net.blocks = 2;
  net.kernels = 16;
  net.input = geomformer::VectorInput::local;
  at::manual_seed(1);
  const auto model = build({net}, task.interface(data.train->schema()));
  Optimiser optimiser(model->parameters(), {.name = OptimiserLaw::adam, .rate = 3e-3, .clip = 5.0});
  LoaderOptions loading;
  loading.batch = 10;
  loading.augment = true;
  loading.ahead = 0;
  Loader loader(data.train, loading, 1);
  constexpr int64_t epochs = 12;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    loader.start(epoch);
    const double left = 1 - static_cast<double>(epoch) / epochs;
    for (auto batch = loader.next(); batch; batch = loader.next()) {
      task.step(*model, *batch).loss.backward();
      optimiser.clip_gradients();
      optimiser.step(left);
      optimiser.clear_gradients();
    }
  }
  model->train(false);
  const auto meter = task.meter(model->interface);
  const Batch batch = to(all_of(*data.valid), at::kCPU, at::kFloat);
  meter->add(batch, task.predict(*model, batch));
  const Metrics found = meter->values();
  const auto baselines = task.baselines(*data.valid);
  const Metrics &mean = baselines[0].second, &still = baselines[2].second;
  EXPECT_LT(found.at("mae").value, 0.3 * mean.at("mae").value);
  EXPECT_LT(found.at("displacement_mae").value, 0.85 * still.at("displacement_mae").value);
  EXPECT_GT(found.at("adwt").value, still.at("adwt").value);
}

}  // namespace relaxation_training_test
}  // namespace weyl
