#include "weyl/train/loop/optimiser.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl {
namespace optimiser_test {

std::vector<Parameter> three_parameters(at::ScalarType dtype) {
  at::manual_seed(3);
  std::vector<Parameter> ps;
  for (const auto& [name, shape, decay] : {std::tuple{"block.weight", std::vector<int64_t>{5, 7}, true},
                                           {"block.bias", std::vector<int64_t>{7}, false},
                                           {"head.weight", std::vector<int64_t>{3, 5, 2}, true}}) {
    Parameter p;
    p.name = name;
    p.tensor = at::randn(shape, at::kDouble).to(dtype).requires_grad_();
    p.decay = decay;
    ps.push_back(p);
  }
  return ps;
}

void set_gradients(std::vector<Parameter>& ps, int64_t step, double scale = 1) {
  at::manual_seed(100 + step);
  for (auto& p : ps) {
    p.tensor.mutable_grad() = at::randn(p.tensor.sizes(), at::kDouble).mul(scale).to(p.tensor.scalar_type());
  }
}

// The formulas of the papers (Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019, algorithm 2; You et al. 2020,
// algorithm 2), by hand.
struct Textbook {
  OptimiserOptions o;
  std::vector<double> w, m, v;
  double decay;
  bool scaled;
  int t = 0;
  Textbook(const OptimiserOptions& o, const Parameter& p)
      : o(o), decay(p.decay ? o.weight_decay : 0), scaled(p.decay) {
    const Tensor flat = p.tensor.detach().reshape(-1);
    for (int64_t i = 0; i < flat.numel(); ++i) w.push_back(flat[i].item<double>());
    m.resize(w.size());
    v.resize(w.size());
  }
  void step(const Tensor& gradient, double factor) {
    const Tensor flat = gradient.reshape(-1);
    ++t;
    const double rate = o.rate * factor;
    std::vector<double> before = w;
    for (size_t i = 0; i < w.size(); ++i) {
      double g = flat[static_cast<int64_t>(i)].item<double>();
      if (o.name == OptimiserLaw::adam) g += decay * w[i];
      m[i] = o.beta1 * m[i] + (1 - o.beta1) * g;
      v[i] = o.beta2 * v[i] + (1 - o.beta2) * g * g;
      const double mh = m[i] / (1 - std::pow(o.beta1, t)), vh = v[i] / (1 - std::pow(o.beta2, t));
      const double shrunk = o.name == OptimiserLaw::adamw ? w[i] - rate * decay * w[i] : w[i];
      w[i] = shrunk - rate * mh / (std::sqrt(vh) + o.epsilon);
    }
    if (o.name == OptimiserLaw::lamb && scaled) {
      std::vector<double> r(w.size());
      double of_w = 0, of_r = 0;
      for (size_t i = 0; i < w.size(); ++i) {
        r[i] = (before[i] - w[i]) / rate + decay * before[i];
        of_w += before[i] * before[i];
        of_r += r[i] * r[i];
      }
      for (size_t i = 0; i < w.size(); ++i) w[i] = before[i] - rate * std::sqrt(of_w / of_r) * r[i];
    }
  }
};

OptimiserOptions options(OptimiserLaw law) {
  OptimiserOptions o;
  o.name = law;
  o.rate = 0.01;
  o.weight_decay = 0.1;
  return o;
}

enum class By { kernels, expressions, device };

double against_the_textbook(OptimiserLaw law, OptimiserOptions reference, By by) {
  auto ps = three_parameters(at::kDouble);
  Optimiser optimiser(ps, options(law));
  std::vector<Textbook> books;
  for (const auto& p : ps) books.emplace_back(reference, p);
  std::optional<UseReferences> plain;
  if (by == By::expressions) plain.emplace();
  const Tensor found_inf = by == By::device ? at::zeros({}) : Tensor();
  double error = 0;
  for (int64_t step = 0; step < 50; ++step) {
    set_gradients(ps, step);
    const double factor = 1 - 0.01 * static_cast<double>(step);
    optimiser.step(factor, found_inf);
    for (size_t p = 0; p < ps.size(); ++p) {
      books[p].step(ps[p].tensor.grad(), factor);
      const Tensor expected = at::tensor(books[p].w, at::kDouble).reshape(ps[p].tensor.sizes());
      error = worst_of(error, (ps[p].tensor.detach() - expected).abs().max().item<double>());
    }
  }
  return error;
}

TEST(Optimiser, EqualsTheTextbook) {
  for (auto law : {OptimiserLaw::adamw, OptimiserLaw::adam, OptimiserLaw::lamb}) {
    const double rounding = law == OptimiserLaw::lamb ? 1e-13 : 3e-15;  // the textbook divides by the rate
    for (const By by : {By::kernels, By::expressions, By::device}) {
      EXPECT_LT(against_the_textbook(law, options(law), by), rounding)
          << names_of(law)[static_cast<int>(law)] << static_cast<int>(by);
    }
  }
}

TEST(Optimiser, ControlTheTextbookTellsLawsAndDecayApart) {
  OptimiserOptions other = options(OptimiserLaw::adam);
  EXPECT_GT(against_the_textbook(OptimiserLaw::adamw, other, By::kernels), 1e-4);
  EXPECT_GT(against_the_textbook(OptimiserLaw::lamb, options(OptimiserLaw::adamw), By::kernels), 1e-4);
  other = options(OptimiserLaw::adamw);
  other.weight_decay = 0;
  EXPECT_GT(against_the_textbook(OptimiserLaw::adamw, other, By::kernels), 1e-3);
}

TEST(Optimiser, DecayTouchesDeclaredMatricesOnly) {
  auto ps = three_parameters(at::kFloat);
  const Tensor bias = ps[1].tensor.detach().clone(), weight = ps[0].tensor.detach().clone();
  Optimiser optimiser(ps, options(OptimiserLaw::adamw));
  for (auto& p : ps) p.tensor.mutable_grad() = at::zeros_like(p.tensor);
  optimiser.step();
  EXPECT_TRUE(at::equal(ps[1].tensor, bias));
  EXPECT_LT((ps[0].tensor - weight * (1 - 0.01 * 0.1)).abs().max().item<double>(), 1e-7);
  EXPECT_FALSE(at::equal(ps[0].tensor, weight));
}

TEST(Optimiser, DecayTouchesAllWhereAskedTo) {
  auto ps = three_parameters(at::kFloat);
  const Tensor bias = ps[1].tensor.detach().clone();
  auto o = options(OptimiserLaw::adamw);
  o.decaying = Decaying::all;
  Optimiser optimiser(ps, o);
  for (auto& p : ps) p.tensor.mutable_grad() = at::zeros_like(p.tensor);
  optimiser.step();
  EXPECT_LT((ps[1].tensor - bias * (1 - 0.01 * 0.1)).abs().max().item<double>(), 1e-7);
  EXPECT_FALSE(at::equal(ps[1].tensor, bias));
}

// What a device is told of gradients that the host has not seen.
TEST(Optimiser, AStepThatFoundInfinityChangesNothing) {
  const Tensor none = at::zeros({}), found = at::ones({});
  for (const auto law : {OptimiserLaw::adamw, OptimiserLaw::adam, OptimiserLaw::lamb}) {
    auto ps = three_parameters(at::kFloat), qs = three_parameters(at::kFloat);
    auto o = options(law);
    o.clip = 0.5;
    Optimiser skips(ps, o), goes_on(qs, o);
    for (int64_t step = 0; step < 6; ++step) {
      if (step % 2 == 0) {  // the first of all is one of them
        set_gradients(ps, 77);
        ps[static_cast<size_t>(step / 2)].tensor.mutable_grad().view(-1)[0] = step == 0 ? NAN : INFINITY;
        EXPECT_FALSE(std::isfinite(skips.clip_gradients_on_device().item<double>()));
        skips.step(1, found);
      }
      set_gradients(ps, step);
      set_gradients(qs, step);
      const Tensor norm = skips.clip_gradients_on_device();
      EXPECT_EQ(norm.item<double>(), goes_on.clip_gradients());
      skips.step(0.5, none);
      goes_on.step(0.5, none);
    }
    for (size_t p = 0; p < ps.size(); ++p) EXPECT_TRUE(at::equal(ps[p].tensor, qs[p].tensor));
    const auto a = skips.state(), b = goes_on.state();
    for (const auto& [name, t] : a) EXPECT_TRUE(at::equal(t, b.at(name))) << name;
    EXPECT_EQ(a.at("steps.block.weight").item<double>(), 6);
  }
}

TEST(Optimiser, WithoutGradientsTheNormIsZero) {
  auto ps = three_parameters(at::kFloat);
  Optimiser optimiser(ps, options(OptimiserLaw::adamw));
  EXPECT_EQ(optimiser.clip_gradients(), 0);
  const Tensor norm = optimiser.clip_gradients_on_device();
  EXPECT_EQ(norm.scalar_type(), at::kDouble);
  EXPECT_EQ(norm.dim(), 0);
  EXPECT_EQ(norm.item<double>(), 0);
}

TEST(Optimiser, LambLeavesWeightsOfZeroToAdam) {
  auto ps = three_parameters(at::kDouble), qs = three_parameters(at::kDouble);
  auto without = options(OptimiserLaw::adam);
  without.weight_decay = 0;
  Optimiser lamb(ps, options(OptimiserLaw::lamb)), adam(qs, without);
  for (auto* all : {&ps, &qs}) {
    (*all)[0].tensor.detach().zero_();
    set_gradients(*all, 0);
  }
  lamb.step();
  adam.step();
  EXPECT_LT((ps[0].tensor - qs[0].tensor).abs().max().item<double>(), 1e-15);  // a quotient of zero is 1
  EXPECT_LT((ps[1].tensor - qs[1].tensor).abs().max().item<double>(), 1e-15);  // a bias does not decay
}

TEST(Optimiser, LeavesParametersWithoutAGradientAlone) {
  auto ps = three_parameters(at::kDouble);
  ps[2].trainable = false;
  const Tensor bias = ps[1].tensor.detach().clone(), head = ps[2].tensor.detach().clone();
  Optimiser optimiser(ps, options(OptimiserLaw::adamw));
  for (int64_t step = 0; step < 3; ++step) {
    set_gradients(ps, step);
    ps[1].tensor.mutable_grad().reset();
    optimiser.step();
  }
  EXPECT_TRUE(at::equal(ps[1].tensor, bias));
  EXPECT_TRUE(at::equal(ps[2].tensor, head));
  const auto state = optimiser.state();
  EXPECT_EQ(state.at("steps.block.weight").item<double>(), 3);
  EXPECT_EQ(state.at("steps.block.bias").item<double>(), 0);
  EXPECT_EQ(state.count("first.head.weight"), 0u);
  optimiser.clear_gradients();
  EXPECT_FALSE(ps[0].tensor.grad().defined());
}

TEST(Optimiser, ClipsByTheGlobalNorm) {
  auto ps = three_parameters(at::kDouble);
  auto o = options(OptimiserLaw::adamw);
  o.clip = 0.5;
  Optimiser optimiser(ps, o);
  set_gradients(ps, 0, 3);
  double squares = 0;
  for (auto& p : ps) squares += p.tensor.grad().square().sum().item<double>();
  EXPECT_NEAR(optimiser.clip_gradients(), std::sqrt(squares), 1e-12);
  EXPECT_NEAR(optimiser.clip_gradients(), 0.5 * std::sqrt(squares) / (std::sqrt(squares) + 1e-6), 1e-12);
  set_gradients(ps, 0, 1e-3);
  const Tensor small = ps[0].tensor.grad().clone();
  EXPECT_LT(optimiser.clip_gradients(), 0.5);
  EXPECT_TRUE(at::equal(ps[0].tensor.grad(), small));
  ps[1].tensor.mutable_grad()[2] = NAN;
  EXPECT_FALSE(std::isfinite(optimiser.clip_gradients()));
  EXPECT_TRUE(at::equal(ps[0].tensor.grad(), small));
}

TEST(Optimiser, ContinuesFromItsStateBitForBit) {
  for (auto dtype : {at::kFloat, at::kDouble}) {
    auto ps = three_parameters(dtype), qs = three_parameters(dtype);
    Optimiser through(ps, options(OptimiserLaw::adamw));
    std::optional<Optimiser> parted(std::in_place, qs, options(OptimiserLaw::adamw));
    for (int64_t step = 0; step < 12; ++step) {
      set_gradients(ps, step);
      set_gradients(qs, step);
      through.step();
      parted->step();
      if (step == 6) {
        const auto state = parted->state();
        std::reverse(qs.begin(), qs.end());  // state belongs to names, not to positions
        parted.emplace(qs, options(OptimiserLaw::adamw));
        parted->load(state, "state.safetensors");
        std::reverse(qs.begin(), qs.end());
      }
    }
    for (size_t p = 0; p < ps.size(); ++p) EXPECT_TRUE(at::equal(ps[p].tensor, qs[p].tensor));
  }
}

TEST(Optimiser, RefusesAStateThatIsNotItsOwn) {
  auto ps = three_parameters(at::kFloat);
  Optimiser optimiser(ps, options(OptimiserLaw::adamw));
  auto state = optimiser.state();
  auto broken = state;
  broken.erase("second.block.bias");
  EXPECT_THROW(optimiser.load(broken, "f"), DataError);
  broken = state;
  broken["first.block.bias"] = at::zeros({8});
  EXPECT_THROW(optimiser.load(broken, "f"), DataError);
  broken = state;
  broken["first.block.bias"] = at::zeros({7}, at::kDouble);
  EXPECT_THROW(optimiser.load(broken, "f"), DataError);
  broken = state;
  broken["first.other"] = at::zeros({7});
  EXPECT_THROW(optimiser.load(broken, "f"), DataError);
  optimiser.load(state, "f");
  ps[1].name = ps[0].name;
  EXPECT_THROW(Optimiser(ps, options(OptimiserLaw::adamw)), ShapeError);
}

}  // namespace optimiser_test
}  // namespace weyl
