#include "weyl/ops/lie/pair_network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/core/instruction_set.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl::lie {
namespace pair_network_test {

Tensor wave(std::vector<int64_t> shape, double seed) {
  const int64_t count = c10::multiply_integers(shape);
  return ((at::arange(count, at::kDouble) + 1) * 0.7 + seed).sin().view(shape);
}

/// {w, first, first_bias, second, second_bias} of H heads with M hidden numbers.
Tensors inputs(int64_t pairs, int64_t coordinates, int64_t heads = 3, int64_t hidden = 5) {
  return {wave({pairs, coordinates}, 0.1) * 3, wave({heads * hidden, coordinates}, 0.5),
          wave({heads * hidden}, 0.9), wave({heads, hidden}, 1.3), wave({heads}, 1.7)};
}
/// All but those of every fourth pair.
Tensor some(int64_t pairs) {
  return at::arange(pairs) % 4 != 0;
}
constexpr ScoreActivation laws[] = {ScoreActivation::relu, ScoreActivation::gelu};
const char* name_of(ScoreActivation law) {
  return law == ScoreActivation::relu ? "relu" : "gelu";
}
Tensor of(const Tensors& in, const Tensor& present, ScoreActivation law) {
  return pair_network(in[0], present, in[1], in[2], in[3], in[4], law);
}
/// Head by head, pair by pair, number by number.
Tensor written_out(const Tensors& in, const Tensor& present, ScoreActivation law) {
  const int64_t pairs = in[0].size(0), heads = in[3].size(0), hidden = in[3].size(1);
  const Tensor y = at::zeros({pairs, heads}, in[0].options());
  for (int64_t p = 0; p < pairs; ++p) {
    for (int64_t h = 0; h < heads && present[p].item<bool>(); ++h) {
      Tensor sum = in[4][h].clone();
      for (int64_t m = 0; m < hidden; ++m) {
        const Tensor t = (in[1][h * hidden + m] * in[0][p]).sum() + in[2][h * hidden + m];
        sum += in[3][h][m] *
               (law == ScoreActivation::relu ? (t > 0) * t : t * 0.5 * (1 + (t / std::sqrt(2.0)).erf()));
      }
      y[p][h] = sum;
    }
  }
  return y;
}

constexpr kernels::InstructionSet sets[] = {kernels::InstructionSet::baseline, kernels::InstructionSet::v3,
                                            kernels::InstructionSet::v4};

TEST(PairNetwork, EqualsTheNetworkWrittenOut) {
  for (const ScoreActivation law : laws) {
    for (const int64_t coordinates : {1, 3, 6, 12, 4}) {
      SCOPED_TRACE(testing::Message() << name_of(law) << " of " << coordinates);
      const Tensors in = inputs(21, coordinates);
      const Tensor want = written_out(in, some(21), law);
      for (const auto set : sets) {
        const kernels::UseInstructionSet use(set);
        const Tensor y = of(in, some(21), law);
        EXPECT_TRUE(at::allclose(y, want, 1e-13, 1e-13));
        EXPECT_FALSE(at::allclose(of(in, at::ones({21}, at::kBool), law), want, 1e-3, 1e-3));
        const ScoreActivation other = law == laws[0] ? laws[1] : laws[0];
        EXPECT_FALSE(at::allclose(of(in, some(21), other), want, 1e-3, 1e-3));
        Tensors single;
        for (const Tensor& x : in) {
          single.push_back(x.to(at::kFloat));
        }
        EXPECT_LT((of(single, some(21), law).to(at::kDouble) - want).abs().max().item<double>(), 1e-5);
      }
    }
  }
}

// Numbers of an implementation of its own, tools/goldens/lie_score_networks.py.
TEST(PairNetwork, KeepsTheGoldens) {
  std::ifstream file(WEYL_SOURCE_DIR "/tests/goldens/lie_score_networks.txt");
  std::map<std::string, std::vector<double>> goldens;  // by law, pair by pair, head by head
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string law;
    words >> law;
    for (double x = 0; law != "#" && words >> x;) {
      goldens[law].push_back(x);
    }
  }
  ASSERT_EQ(goldens.size(), 2u);
  const Tensors in = inputs(8, 6, 4, 32);
  for (const ScoreActivation law : laws) {
    const Tensor want = at::tensor(goldens.at(name_of(law)), at::kDouble).view({8, 4});
    for (const bool plain : {false, true}) {
      const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
      EXPECT_TRUE(at::allclose(of(in, at::ones({8}, at::kBool), law), want, 1e-11, 1e-10)) << name_of(law);
    }
  }
}

// At 0 itself ReLU's derivative is 0: by the kernel and by the torch expression.
TEST(PairNetwork, TheDerivativeOfReluAtZeroIsZero) {
  for (const bool plain : {false, true}) {
    for (const auto set : sets) {
      const kernels::UseInstructionSet use(set);
      const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
      for (const ScoreActivation law : laws) {
        Tensors in = inputs(9, 3);
        in[0] = at::zeros_like(in[0]);
        in[2] = at::zeros_like(in[2]);
        for (Tensor& x : in) {
          x = x.detach().requires_grad_();
        }
        const Tensors g = torch::autograd::grad({of(in, some(9), law).sum()}, in);
        EXPECT_EQ(g[0].abs().max().item<double>() > 0, law == ScoreActivation::gelu) << name_of(law);
        EXPECT_EQ(g[2].abs().max().item<double>() > 0, law == ScoreActivation::gelu) << name_of(law);
        EXPECT_GT(g[4].abs().max().item<double>(), 0);
      }
    }
  }
}

// More pairs than are taken at a time, in both dtypes, present or not in no order.
TEST(PairNetwork, KernelAndReferenceAgreeOnManyPairs) {
  for (const auto& [type, law] : std::vector<std::pair<at::ScalarType, ScoreActivation>>{
           {at::kDouble, laws[0]}, {at::kFloat, laws[0]}, {at::kDouble, laws[1]}, {at::kFloat, laws[1]}}) {
    const int64_t pairs = 2500;
    const Tensor present = wave({pairs}, 0.3) > -0.5, g = wave({pairs, 2}, 0.7).to(type);
    const auto run = [&, type = type, law = law] {
      Tensors in = inputs(pairs, 6, 2, 32);
      for (Tensor& x : in) {
        x = x.to(type).requires_grad_();
      }
      const Tensor y = of(in, present, law);
      Tensors found = torch::autograd::grad({(y * g).sum()}, in);
      found.push_back(y.detach());
      return found;
    };
    Tensors want;
    {
      const UseReferences plain;
      want = run();
    }
    for (const auto set : sets) {
      const kernels::UseInstructionSet use(set);
      const Tensors found = run();
      for (size_t i = 0; i < want.size(); ++i) {
        const double scale = want[i].abs().max().item<double>();
        EXPECT_LT((found[i] - want[i]).abs().max().item<double>(),
                  (type == at::kFloat ? 1e-5 : 1e-13) * scale)
            << i;
      }
      const Tensors again = run();
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_TRUE(at::equal(again[i], found[i])) << i;
      }
    }
  }
}

TEST(PairNetwork, DerivativesAreRight) {
  for (const ScoreActivation law : laws) {  // no number that ReLU meets is nearer to 0 than 0.05
    for (const int64_t coordinates : {1, 3, 4}) {
      const Tensors in = inputs(9, coordinates, 2, 3);
      const auto f = [law](const Tensors& x) { return of(x, some(9), law); };
      expect_second_gradients(f, in);
      expect_second_gradients([&](const Tensors& x) { return f({x[0], in[1], in[2], in[3], in[4]}); },
                              {in[0]});
      expect_second_gradients([&](const Tensors& x) { return f({in[0], x[0], in[2], in[3], in[4]}); },
                              {in[1]});
    }
  }
}

TEST(PairNetwork, TakesRowsAsTheyLie) {
  const Tensors in = inputs(8, 3);
  Tensors planes = in;
  planes[0] = in[0].t().contiguous().t();
  planes[1] = in[1].t().contiguous().t();
  EXPECT_TRUE(at::equal(of(planes, some(8), laws[0]), of(in, some(8), laws[0])));
}

TEST(PairNetwork, OfNoPairs) {
  Tensors in = inputs(0, 3);
  for (Tensor& x : in) {
    x.requires_grad_();
  }
  const Tensor y = of(in, some(0), laws[0]);
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{0, 3}));
  for (const Tensor& g : torch::autograd::grad({y.sum()}, in)) {
    EXPECT_EQ(g.abs().sum().item<double>(), 0);
  }
  const Tensor none = of(inputs(5, 3), at::zeros({5}, at::kBool), laws[0]);
  EXPECT_EQ(none.abs().max().item<double>(), 0);
}

TEST(PairNetwork, WrongShapesAreRefused) {
  const Tensors in = inputs(8, 3);
  EXPECT_THROW(of(in, some(7), laws[0]), ShapeError);
  EXPECT_THROW(of(in, some(8).to(at::kDouble), laws[0]), ShapeError);
  for (size_t i = 1; i < in.size(); ++i) {
    Tensors wrong = in;
    wrong[i] = in[i].slice(in[i].dim() - 1, 0, 1);
    EXPECT_THROW(of(wrong, some(8), laws[0]), ShapeError) << i;
    wrong[i] = in[i].to(at::kFloat);
    EXPECT_THROW(of(wrong, some(8), laws[0]), ShapeError) << i;
  }
}

}  // namespace pair_network_test
}  // namespace weyl::lie
