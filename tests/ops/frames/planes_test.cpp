// Ops on functions that come and go as planes of irreps: what the same ops on rows do, between two transforms.
#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/frames/bias_activation.h"
#include "weyl/ops/frames/frame_norm.h"
#include "weyl/ops/frames/group_fourier.h"

namespace weyl {
namespace planes_test {

using at::Tensor;
using Tensors = std::vector<Tensor>;

Tensor wave(std::vector<int64_t> shape, double seed) {
  int64_t count = 1;
  for (const int64_t n : shape) {
    count *= n;
  }
  return ((at::arange(count, at::kDouble) + 1) * 0.7 + seed).sin().view(shape);
}

struct Case {
  explicit Case(const std::string& name, int64_t n, int64_t channels)
      : tables(named_group(name)),
        x(wave({n, tables.group().order() * channels}, 0.1)),
        branch(wave(x.sizes().vec(), 0.8)),
        noise(wave(x.sizes().vec(), 1.9)),
        rows(wave({n}, 0.2)),
        bias(wave({channels}, 0.5)),
        weight(wave({channels}, 1.5)),
        scale(wave({channels}, 2.5)) {}
  Tensor back(const Tensors& planes) const { return inverse_group_fourier(planes, tables); }
  GroupTables tables;
  Tensor x, branch, noise, rows, bias, weight, scale;
};

void expect_equal(const Tensor& found, const Tensor& wanted, const std::string& what) {
  EXPECT_TRUE(at::allclose(found, wanted, 1e-11, 1e-12)) << what << ": " << (found - wanted).abs().max();
}

// One tile, many of them, of one worker and of all.
TEST(Planes, OpsOnThemAreThoseOnRows) {
  for (const char* name : {"trivial", "cyclic_5", "octahedron_reflections", "tetrahedron", "octahedron"}) {
    for (const auto& [n, channels] : {std::pair<int64_t, int64_t>{5, 4}, {0, 4}, {300, 37}}) {
      const Case c(name, n, channels);
      std::unique_ptr<ShareAll> all = n == 300 ? std::make_unique<ShareAll>() : nullptr;
      for (const ActivationLaw law : {ActivationLaw::gelu, ActivationLaw::mish}) {
        expect_equal(c.back(bias_activation(group_fourier(c.x, c.tables), c.tables, c.bias, law, c.noise)),
                     bias_activation(c.x, c.bias, law, c.noise), "activation");
      }
      for (const bool centred : {true, false}) {
        const NormLaw law{c.weight, centred ? c.bias : Tensor(), 1e-3, centred};
        expect_equal(c.back(frame_norm_planes(c.x, law, c.tables)), frame_norm(c.x, law), "norm");
        for (const BranchFactors& factors :
             {BranchFactors{}, BranchFactors{c.scale, c.rows, c.noise}, BranchFactors{{}, c.rows, {}}}) {
          const Tensors branch = group_fourier(c.branch, c.tables);
          const Tensor sum = add_branch(c.x, c.branch, c.bias, factors);
          expect_equal(add_branch_planes(c.x, branch, c.tables, c.bias, factors), sum, "sum");
          const NormedPlanes both = add_branch_and_norm_planes(c.x, branch, c.tables, c.bias, law, factors);
          expect_equal(both.sum, sum, "sum beside the norm");
          expect_equal(c.back(both.normed), frame_norm(sum, law), "norm of the sum");
        }
      }
    }
  }
}

TEST(Planes, DerivativesAreRight) {
  for (const char* name : {"cyclic_5", "tetrahedron"}) {
    const Case c(name, 2, 3);
    const auto planes = [&](const Tensor& x) { return group_fourier(x, c.tables); };
    for (const Tensor& noise : {c.noise, Tensor()}) {
      expect_second_gradients(
          [&](const auto& in) {
            return c.back(bias_activation(planes(in[0]), c.tables, in[1], ActivationLaw::gelu, noise));
          },
          {c.x, c.bias}, {.samples = 10});
    }
    for (const bool centred : {true, false}) {
      const auto law = [&](const Tensors& in) {
        return NormLaw{in[2], centred ? in[3] : Tensor(), 1e-3, centred};
      };
      expect_second_gradients(
          [&](const auto& in) {
            return c.back(frame_norm_planes(in[0], law(in), c.tables)).pow(2) * c.branch;
          },
          {c.x, Tensor(), c.weight, c.bias}, {.samples = 10});
      for (const BranchFactors& constant : {BranchFactors{}, BranchFactors{{}, c.rows, c.noise}}) {
        for (const Tensor& scale : {Tensor(), c.scale}) {
          expect_second_gradients(
              [&](const auto& in) {
                BranchFactors factors = constant;
                factors.scale = in[5];
                const NormedPlanes y =
                    add_branch_and_norm_planes(in[0], planes(in[1]), c.tables, in[4], law(in), factors);
                return y.sum.pow(2) + c.back(y.normed);
              },
              {c.x, c.branch, c.weight, c.bias, c.bias, scale}, {.samples = 10});
          expect_second_gradients(
              [&](const auto& in) {
                BranchFactors factors = constant;
                factors.scale = in[3];
                return add_branch_planes(in[0], planes(in[1]), c.tables, in[2], factors).pow(2);
              },
              {c.x, c.branch, c.bias, scale}, {.samples = 10});
        }
      }
    }
  }
}

TEST(Planes, WrongShapesAreRefused) {
  const Case c("tetrahedron", 2, 3);
  Tensors branch = group_fourier(c.branch, c.tables);
  EXPECT_THROW(add_branch_planes(c.x, branch, c.tables, wave({4}, 0)), ShapeError);
  EXPECT_THROW(add_branch_planes(c.x.narrow(0, 0, 1), branch, c.tables, {}), ShapeError);
  EXPECT_THROW(add_branch_planes(c.x, branch, c.tables, {}, {{}, wave({3}, 0), {}}), ShapeError);
  EXPECT_THROW(frame_norm_planes(c.x, {c.weight, {}}, c.tables), ShapeError);
  EXPECT_THROW(frame_norm_planes(c.x, {c.weight, c.bias, 1e-5, false}, c.tables), ShapeError);
  EXPECT_THROW(frame_norm_planes(wave({2, 35}, 0), {}, c.tables), ShapeError);
  EXPECT_THROW(bias_activation(branch, c.tables, wave({4}, 0), ActivationLaw::gelu), ShapeError);
  EXPECT_THROW(bias_activation(branch, c.tables, {}, ActivationLaw::gelu, wave({2, 35}, 0)), ShapeError);
  branch.pop_back();
  EXPECT_THROW(bias_activation(branch, c.tables, {}, ActivationLaw::gelu), ShapeError);
}

}  // namespace planes_test
}  // namespace weyl
