// Forces and stress as derivatives of the energy, and what is learned through them.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "tests/tasks/force_field.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl {
namespace force_field_gradients_test {

TEST(ForceFieldGradients, ForcesAreMinusTheSlopeOfTheEnergy) {
  const auto data = set();
  for (const char* system : {"platonic", "transformer"}) {
    ForceField task({});
    task.fit(*data);
    const auto model = model_of(system, task, *data);
    Batch batch = all_of(*data);
    const at::NoGradGuard as_evaluation_does;
    model->train(false);
    const Tensor forces = task.predict(*model, batch).at("forces").squeeze(1);
    EXPECT_FALSE(forces.requires_grad());
    const double largest = number(forces.abs().max());
    EXPECT_GT(largest, 1e-3) << system;
    auto& x = std::get<Points>(batch.input).positions;
    const Tensor start = x.clone();
    const double h = 1e-4;
    double worst = 0;
    for (int64_t i = 0; i < 13; ++i) {
      for (int64_t d = 0; d < 3; ++d) {
        double energies[2];
        for (int side = 0; side < 2; ++side) {
          x = start.clone();
          x[i][d] += side == 0 ? h : -h;
          // This graph alone: the references of all would cost digits.
          energies[side] = number(task.predict(*model, batch).at("energy").sum());
        }
        worst = worst_of(worst, std::abs(number(forces[i][d]) + (energies[0] - energies[1]) / (2 * h)));
      }
    }
    x = start;
    EXPECT_LT(worst / largest, 2e-6) << system;
    // No graph pushes itself.
    for (int64_t g = 0; g < 4; ++g) {
      const auto& o = std::get<Points>(batch.input).graphs.offsets;
      EXPECT_LT(number(forces.slice(0, o[g], o[g + 1]).sum(0).abs().max()), 1e-12 + 1e-12 * largest)
          << system;
    }
  }
}

TEST(ForceFieldGradients, WeightsLearnFromForces) {
  // The slope of a loss of forces by weights, a second derivative, against finite differences.
  const auto data = set();
  const Batch batch = all_of(*data);
  for (const char* system : {"platonic", "transformer", "geomformer", "et", "painn", "gatr"}) {
    SCOPED_TRACE(system);
    ForceFieldOptions o;
    o.energy_weight = 0.5;
    ForceField task(o);
    task.fit(*data);
    const auto model = model_of(system, task, *data);
    std::vector<Tensor> weights;
    std::vector<std::string> names;
    for (const Parameter& p : model->parameters()) {
      if (p.trainable && p.tensor.numel() > 0) {
        weights.push_back(p.tensor);
        names.push_back(p.name);
      }
    }
    const auto slopes = torch::autograd::grad({task.step(*model, batch).loss}, weights, {}, false, false,
                                              /*allow_unused=*/true);
    Stream stream(12, "weights");
    const auto order = stream.permutation(static_cast<int64_t>(weights.size()));
    int checked = 0, felt = 0;
    for (size_t w = 0; checked < 24 && w < 4 * order.size(); ++w) {
      const auto of = static_cast<size_t>(order[w % order.size()]);
      if (!slopes[of].defined()) {
        continue;
      }
      const int64_t i = stream.below(weights[of].numel());
      const double h = 2e-6;  // PaiNN's lengths of vectors bend within 1e-4
      double losses[2];
      for (int side = 0; side < 2; ++side) {
        const at::NoGradGuard quiet;
        weights[of].view({-1})[i] += side == 0 ? h : -2 * h;
        const at::AutoGradMode on(true);
        losses[side] = number(task.step(*model, batch).loss.detach());
      }
      {
        const at::NoGradGuard quiet;
        weights[of].view({-1})[i] += h;
      }
      const double difference = (losses[0] - losses[1]) / (2 * h),
                   found = number(slopes[of].reshape({-1})[i]);
      EXPECT_NEAR(found, difference, 1e-8 + 1e-6 * std::abs(difference)) << names[of] << " " << i;
      ++checked;
      felt += std::abs(difference) > 1e-5 ? 1 : 0;
    }
    EXPECT_EQ(checked, 24);
    EXPECT_GT(felt, 12);
  }
}

TEST(ForceFieldGradients, ExpectsSecondDerivativesOnlyWhileItTrains) {
  class Watched : public Springs {
   public:
    using Springs::Springs;
    Named operator()(const Input& input) override {
      expected = ExpectSecondDerivatives::active();
      return Springs::operator()(input);
    }
    bool expected = false;
  };
  const auto data = set();
  ForceField task({});
  task.fit(*data);
  Watched model(task.interface(data->schema()));
  task.step(model, all_of(*data));
  EXPECT_TRUE(model.expected);
  task.predict(model, all_of(*data));
  EXPECT_FALSE(model.expected);
  EXPECT_FALSE(ExpectSecondDerivatives::active());
}

TEST(ForceFieldGradients, AFewStepsReduceTheLoss) {
  const auto data = set();
  const Batch batch = all_of(*data);
  for (const char* system : {"platonic", "transformer"}) {
    ForceField task({});
    task.fit(*data);
    const auto model = model_of(system, task, *data);
    std::vector<Tensor> weights;
    for (const Parameter& p : model->parameters()) {
      weights.push_back(p.tensor);
    }
    double first = 0, last = 0;
    for (int step = 0; step < 15; ++step) {
      const Tensor loss = task.step(*model, batch).loss;
      last = number(loss.detach());
      first = step == 0 ? last : first;
      const auto slopes = torch::autograd::grad({loss}, weights, {}, false, false, true);
      double norm = 0;
      for (const Tensor& s : slopes) {
        norm += s.defined() ? number(s.square().sum()) : 0;
      }
      const at::NoGradGuard quiet;
      for (size_t w = 0; w < weights.size(); ++w) {
        if (slopes[w].defined()) {
          weights[w] -= slopes[w] * (0.02 / std::sqrt(norm));
        }
      }
    }
    EXPECT_LT(last, 0.9 * first) << system;
  }
}

TEST(ForceFieldGradients, StressIsTheDerivativeByStrainOverTheVolume) {
  const auto data = set();
  ForceFieldOptions o;
  o.stress = true;
  ForceField task(o);
  task.fit(*data);
  Springs model(task.interface(data->schema()));
  Batch batch = periodic(data);
  const Tensor stress = task.predict(model, batch).at("stress");
  ASSERT_EQ(stress.sizes(), (std::vector<int64_t>{4, 1, 3, 3}));
  EXPECT_TRUE(at::allclose(stress, stress.transpose(2, 3), 0, 1e-14));
  const double scale = number(task.state().at("scale")), h = 1e-5;
  const auto& p = std::get<Points>(batch.input);
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = a; b < 3; ++b) {
      Tensor energies[2];
      for (int side = 0; side < 2; ++side) {
        Tensor strain = at::eye(3, at::kDouble);
        const double e = side == 0 ? h : -h;
        strain[a][b] += e / 2;  // both halves: symmetric
        strain[b][a] += e / 2;
        Points moved = p;
        moved.positions = at::matmul(p.positions, strain);
        moved.cell = at::matmul(p.cell, strain);
        energies[side] = model(moved).at("energy").detach().squeeze(1) * scale;
      }
      const Tensor slope = (energies[0] - energies[1]) / (2 * h) / at::linalg_det(p.cell).abs();
      EXPECT_TRUE(at::allclose(stress.squeeze(1).select(1, a).select(1, b), slope, 1e-7, 1e-8)) << a << b;
    }
  }
  // Forces do not notice the strain.
  ForceField plain({});
  plain.load(task.state());
  EXPECT_TRUE(at::allclose(plain.predict(model, batch).at("forces"), task.predict(model, batch).at("forces"),
                           1e-12, 1e-14));
}

TEST(ForceFieldGradients, WithoutAVolumeThereIsNoStress) {
  const auto data = set();
  ForceFieldOptions o;
  o.stress = true;
  ForceField task(o);
  task.fit(*data);
  Springs model(task.interface(data->schema()));
  Batch batch = periodic(data);
  std::get<Points>(batch.input).pbc[2][1].fill_(false);
  batch.labels["stress"] = at::randn({4, 1, 3, 3}, at::kDouble);
  const Tensor stress = task.predict(model, batch).at("stress");
  EXPECT_TRUE(at::isnan(stress[2]).all().item<bool>());
  EXPECT_TRUE(at::isfinite(stress[0]).all().item<bool>());
  // Its label does not count, whatever it is, and the slope of the loss stays finite.
  const double loss = number(task.step(model, batch).loss.detach());
  batch.labels["stress"][2].fill_(1e9);
  const Tensor other = task.step(model, batch).loss;
  EXPECT_NEAR(number(other.detach()), loss, 1e-12);
  EXPECT_TRUE(at::isfinite(torch::autograd::grad({other}, {model.k})[0]).all().item<bool>());
  batch.labels["stress"][1] += 1;
  EXPECT_NE(number(task.step(model, batch).loss.detach()), loss);
  // Without any cell too.
  Batch open = all_of(*data);
  EXPECT_TRUE(at::isnan(task.predict(model, open).at("stress")).all().item<bool>());
}

}  // namespace force_field_gradients_test
}  // namespace weyl
