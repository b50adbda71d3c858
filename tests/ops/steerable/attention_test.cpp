// Steerable attention: its three forms against one another, its derivatives, its corners.
#include "weyl/ops/steerable/attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <complex>
#include <memory>
#include <numeric>

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/core/instruction_set.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl::steerable {
namespace attention_test {

constexpr kernels::InstructionSet instruction_sets[] = {
    kernels::InstructionSet::v4, kernels::InstructionSet::v3, kernels::InstructionSet::baseline};

struct Case {
  SteerableType type;
  int64_t heads;
  std::vector<int64_t> grid;
  PositionOptions options;
  bool parted = false;  // some tokens take no part; in the second sample none does
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const RadialLaw law :
       {RadialLaw::inverse_square, RadialLaw::gaussian, RadialLaw::table, RadialLaw::none}) {
    const PositionOptions options{law, 1.7, 2.5};
    result.push_back({{2, {4, 2, 2, 6}}, 2, {3, 5}, options});
    result.push_back({{3, {6, 3, 3}}, 3, {2, 3, 4}, options});
    result.push_back({{2, {1, 1, 1}}, 1, {2, 21}, options});
    result.push_back({{3, {2, 1}}, 1, {1, 1, 1}, options});
    result.push_back({{3, {18, 4}}, 2, {2, 1, 3}, options});
  }
  for (size_t k = 0, all = result.size(); k < all; ++k) {
    result.push_back(result[k]);
    result.back().parted = true;
  }
  return result;
}

struct Inputs {
  Tensors in;
  std::shared_ptr<const Positions> positions;
  Tensor taking_part;
  explicit Inputs(const Case& c, at::ScalarType type = at::kDouble, int64_t batch = 2) {
    at::manual_seed(3);
    const int64_t n = std::accumulate(c.grid.begin(), c.grid.end(), int64_t{1}, std::multiplies<>());
    const int64_t multiplicity = std::accumulate(c.type.channels.begin(), c.type.channels.end(), int64_t{0});
    for (int i = 0; i < 3; ++i) {
      in.push_back(at::randn({batch, 2 * c.type.width(), n}, at::kDouble).to(type));
    }
    if (c.parted) {
      taking_part = at::rand({batch, n}, at::kDouble) < 0.6;
      taking_part.select(0, 0)[0] = true;
      taking_part.narrow(0, 1, batch - 1).fill_(false);
    }
    if (c.options.radial == RadialLaw::none) {
      in.resize(5);
      return;
    }
    positions = std::make_shared<Positions>(c.type, c.grid, c.options);
    for (int i = 0; i < 2; ++i) {
      in.push_back(at::randn({positions->radii(), multiplicity, 2}, at::kDouble).to(type));
    }
  }
  Tensor operator()(const Case& c, const Tensors& x) const {
    return attention(x[0], x[1], x[2], c.type, c.heads, 0.4, positions, x[3], x[4], taking_part);
  }
};

double difference(const Tensor& a, const Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).to(at::kDouble).item<double>();
}

TEST(SteerableAttention, FormsAndKernelAgree) {
  for (const Case& c : cases()) {
    const Inputs x(c);
    const Heads heads(c.type, c.heads);
    const Tensor pairs = attention_of_pairs(x.in, heads, 0.4, x.positions.get(), x.taking_part);
    const Tensor contracted = attention_contracted(x.in, heads, 0.4, x.positions.get(), x.taking_part);
    EXPECT_LT(difference(contracted, pairs), 1e-12);
    const Inputs narrow(c, at::kFloat);
    for (const auto set : instruction_sets) {
      const kernels::UseInstructionSet only(set);
      EXPECT_LT(difference(x(c, x.in), pairs), 1e-12);
      EXPECT_LT(difference(narrow(c, narrow.in).to(at::kDouble), pairs), 1e-5);
    }
  }
}

/// The definition, query by query, over the keys that take part alone: (2 F, N) of the first sample.
Tensor by_hand(const Case& c, const Inputs& x) {
  using Complex = std::complex<double>;
  const Heads heads(c.type, c.heads);
  const int64_t n = x.in[0].size(2), width = c.type.width();
  const auto number = [&](const Tensor& t, int64_t f, int64_t i) {
    const double* p = t.const_data_ptr<double>();
    return Complex(p[f * n + i], p[(width + f) * n + i]);
  };
  const Tensor offsets = x.positions ? x.positions->offsets() : Tensor();
  const auto positional = [&](const Tensor& w, int64_t h, int64_t f, int64_t i, int64_t j) -> Complex {
    if (!x.positions) {
      return 0;
    }
    const int64_t offset = offsets[i][j].item<int64_t>(),
                  radius = x.positions->radius()[offset].item<int64_t>();
    const Tensor of_weight = w[radius][heads.copy_of_all[h * heads.multiplicity + heads.copy[f]]],
                 harmonic = x.positions->harmonics()[offset][heads.component[f]];
    return Complex(of_weight[0].item<double>(), of_weight[1].item<double>()) *
           Complex(harmonic[0].item<double>(), harmonic[1].item<double>());
  };
  Tensor y = at::zeros({2 * width, n}, at::kDouble);
  for (int64_t h = 0; h < c.heads; ++h) {
    for (int64_t i = 0; i < n; ++i) {
      if (!x.taking_part[0][i].item<bool>()) {
        continue;
      }
      std::vector<Complex> sum(static_cast<size_t>(heads.width));
      double total = 0;
      for (int64_t j = 0; j < n; ++j) {
        if (!x.taking_part[0][j].item<bool>()) {
          continue;
        }
        Complex score = 0;
        for (int64_t f = 0; f < heads.width; ++f) {
          const int64_t at = heads.features[h * heads.width + f];
          score +=
              std::conj(number(x.in[0], at, i)) * (number(x.in[1], at, j) + positional(x.in[3], h, f, i, j));
        }
        const double weight = std::exp(0.4 * std::abs(score));
        total += weight;
        for (int64_t f = 0; f < heads.width; ++f) {
          sum[f] += weight * (number(x.in[2], heads.features[h * heads.width + f], j) +
                              positional(x.in[4], h, f, i, j));
        }
      }
      for (int64_t f = 0; f < heads.width; ++f) {
        const int64_t at = heads.features[h * heads.width + f];
        y[at][i] = sum[f].real() / total;
        y[width + at][i] = sum[f].imag() / total;
      }
    }
  }
  return y;
}

TEST(SteerableAttention, IsThatOfTheTokensThatTakePart) {
  for (Case c : cases()) {
    if (!c.parted || c.grid.back() > 5) {
      continue;
    }
    const Inputs x(c);
    const Tensor y = x(c, x.in), right = by_hand(c, x);
    EXPECT_LT((y[0] - right).abs().max().item<double>(), 1e-12 * right.abs().max().item<double>());
    EXPECT_EQ(y[1].abs().max().item<double>(), 0);
    Inputs all = x;  // the control: with all tokens it is something else
    all.taking_part = Tensor();
    if (!x.taking_part[0].all().item<bool>()) {
      EXPECT_GT((all(c, x.in)[0] - right).abs().max().item<double>(), 1e-3);
    }
  }
}

TEST(SteerableAttention, StreamsTheGradientsOfTheForms) {
  for (const Case& c : cases()) {
    const auto gradients = [&](at::ScalarType type, bool plain) {
      Inputs x(c, type);
      Tensors wanted;
      for (Tensor& t : x.in) {
        if (t.defined()) {
          wanted.push_back(t.requires_grad_());
        }
      }
      const std::unique_ptr<UseReferences> scope(plain ? new UseReferences() : nullptr);
      const Tensor y = x(c, x.in);
      return torch::autograd::grad({(y * gradients_detail::weights_like(y).to(type)).sum()}, wanted);
    };
    const Tensors right = gradients(at::kDouble, true);
    for (const auto set : instruction_sets) {
      const kernels::UseInstructionSet only(set);
      const Tensors found = gradients(at::kDouble, false), narrow = gradients(at::kFloat, false);
      for (size_t i = 0; i < right.size(); ++i) {
        const double scale = right[i].abs().max().item<double>() + 1e-2;
        EXPECT_LT((found[i] - right[i]).abs().max().item<double>(), 1e-10 * scale) << i;
        EXPECT_LT((narrow[i].to(at::kDouble) - right[i]).abs().max().item<double>(), 1e-4 * scale) << i;
      }
    }
  }
}

TEST(SteerableAttention, HasItsDerivatives) {
  for (const RadialLaw law : {RadialLaw::inverse_square, RadialLaw::table}) {
    for (const bool parted : {false, true}) {
      const Case c{{3, {2, 2}}, 2, {2, 2, 1}, {law, 1, 1.5}, parted};
      const Inputs x(c, at::kDouble, 1);
      expect_second_gradients([&](const Tensors& in) { return x(c, in); }, x.in);
    }
  }
}

TEST(SteerableAttention, TakesInputsThatAreNotContiguous) {
  const Case c = cases().front();
  const Inputs x(c);
  Tensors across;
  for (const Tensor& t : x.in) {
    across.push_back(t.transpose(0, 1).contiguous().transpose(0, 1));
  }
  EXPECT_TRUE(at::equal(x(c, across), x(c, x.in)));
}

TEST(SteerableAttention, WeighsToOne) {
  for (const Case& c : cases()) {
    if (c.parted) {
      continue;
    }
    Inputs x(c);
    x.in[2] = at::randn({2, 2 * c.type.width(), 1}, at::kDouble).expand_as(x.in[0]);
    if (x.positions) {
      x.in[4] = at::zeros_like(x.in[4]);
    }
    EXPECT_LT(difference(x(c, x.in), x.in[2]), 1e-13);
  }
}

TEST(SteerableAttention, IsFiniteWhereScoresAreZero) {
  for (const Case& c : cases()) {
    Inputs x(c);
    x.in[0] = at::zeros_like(x.in[0]);
    const Tensor mean = x.in[2].mean(2, true).expand_as(x.in[2]);
    if (!x.positions && !c.parted) {
      EXPECT_LT(difference(x(c, x.in), mean), 1e-13);
    }
    Tensors wanted;
    for (Tensor& t : x.in) {
      if (t.defined()) {
        wanted.push_back(t.requires_grad_());
      }
    }
    const Tensors g = torch::autograd::grad({x(c, x.in).square().sum()}, wanted);
    for (size_t i = 0; i < g.size(); ++i) {
      EXPECT_TRUE(at::isfinite(g[i]).all().item<bool>()) << i;
    }
    EXPECT_EQ(g[0].abs().max().item<double>(), 0);  // |s| has no slope at s = 0
    EXPECT_EQ(g[1].abs().max().item<double>(), 0);
  }
}

TEST(SteerableAttention, GivesTheSameWithManyThreads) {
  const ShareAll however_little;
  const Case c{{3, {6, 3}}, 3, {3, 4, 5}, {}};
  const Inputs x(c, at::kDouble, 1);
  const Tensor one = x(c, x.in);
  const int threads = at::get_num_threads();
  at::set_num_threads(4);
  const auto gradient = [&] {
    Tensors in = x.in;
    for (Tensor& t : in) {
      t = t.detach().requires_grad_();
    }
    return torch::autograd::grad({x(c, in).square().sum()}, in);
  };
  EXPECT_LT(difference(x(c, x.in), one), 1e-14);
  const Tensors many = gradient(), again = gradient();
  at::set_num_threads(threads);
  const Tensors single = gradient();
  for (size_t i = 0; i < many.size(); ++i) {
    EXPECT_TRUE(at::equal(many[i], again[i]));
    EXPECT_LT(difference(many[i], single[i]), 1e-12);
  }
}

TEST(SteerablePositions, OfATableAreZeroBeyondItsReach) {
  const PositionOptions options{RadialLaw::table, 1, 2};
  EXPECT_EQ(position_radii(2, options), 3);  // 1, sqrt 2, 2
  EXPECT_EQ(position_radii(3, options), 4);  // and sqrt 3
  const Positions p({2, {1, 1}}, {1, 5}, options);
  const Tensor size = p.harmonics().square().sum(2).select(1, 1);
  EXPECT_TRUE(at::equal(size > 0.5, at::tensor({0, 0, 1, 1, 0, 1, 1, 0, 0}, at::kLong).to(at::kBool)));
  EXPECT_EQ(position_radii(2, {}), 1);
  EXPECT_THROW(position_radii(2, {RadialLaw::table, 1, 0.5}), ShapeError);
  EXPECT_THROW(position_radii(2, {RadialLaw::gaussian, 0, 1}), ShapeError);
  EXPECT_THROW(Positions({2, {1}}, {3, 3, 3}, {}), ShapeError);
}

TEST(SteerableAttention, RefusesWhatDoesNotFit) {
  const Case c = cases().front();
  const Inputs x(c);
  const Tensors& in = x.in;
  EXPECT_THROW(attention(in[0], in[1], in[2], c.type, 4, 1, nullptr), ShapeError);
  EXPECT_THROW(attention(in[0], in[1].narrow(2, 0, 4), in[2], c.type, 2, 1, nullptr), ShapeError);
  EXPECT_THROW(attention(in[0], in[1], in[2], c.type, 2, 1, x.positions, in[3], {}), ShapeError);
  const auto other = std::make_shared<Positions>(c.type, std::vector<int64_t>{4, 4}, c.options);
  EXPECT_THROW(attention(in[0], in[1], in[2], c.type, 2, 1, other, in[3], in[4]), ShapeError);
  const Tensor numbers = at::ones({2, in[0].size(2)}), few = at::ones({2, 3}, at::kBool);
  EXPECT_THROW(attention(in[0], in[1], in[2], c.type, 2, 1, nullptr, {}, {}, numbers), ShapeError);
  EXPECT_THROW(attention(in[0], in[1], in[2], c.type, 2, 1, nullptr, {}, {}, few), ShapeError);
}

}  // namespace attention_test
}  // namespace weyl::steerable
