// The second order of evaluation of steerable convolutions against the first: values and derivatives.
#include "weyl/ops/steerable/conv.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/core/instruction_set.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl::steerable {
namespace conv_test {

struct Case {
  SteerableType in, out;
  KernelOptions options;
  std::vector<int64_t> pixels;
  bool same;
};

KernelOptions options_of(int64_t size, int64_t rings, RingProfile profile = RingProfile::interpolated,
                         bool restricted = false, OrderCoupling coupling = OrderCoupling::exact) {
  KernelOptions o;
  o.rings.size = size;
  o.rings.rings = rings;
  o.rings.profile = profile;
  o.restricted = restricted;
  o.coupling = coupling;
  return o;
}

std::vector<Case> cases() {
  const SteerableType plane{2, {3, 2, 5}}, even{2, {4, 4, 4, 4}}, space{3, {5, 2, 1}}, wide{3, {3, 9}};
  return {
      {plane, even, options_of(5, 2), {6, 9}, true},
      {even, plane, options_of(3, 1, RingProfile::gaussian), {7, 20}, false},
      {{2, {1}}, even, options_of(4, 2), {9, 9}, false},
      {even, even, options_of(5, 2, RingProfile::analytic, true), {5, 6}, true},
      {even,
       plane,
       options_of(5, 2, RingProfile::interpolated, false, OrderCoupling::triangular),
       {5, 6},
       true},
      {plane, even, options_of(5, 2, RingProfile::interpolated, false, OrderCoupling::cyclic), {5, 6}, true},
      {space, wide, options_of(5, 2), {4, 6, 5}, true},
      {wide, space, options_of(3, 1, RingProfile::gaussian), {3, 4, 18}, true},
      {wide, space, options_of(4, 2), {5, 4, 6}, false},
      {{3, {2}}, space, options_of(5, 2, RingProfile::analytic, true), {9, 9, 9}, true},
      {space, {3, {1}}, options_of(3, 1), {3, 3, 3}, false}};
}

Tensor dense(const Case& c, const Kernel& kernel, const Tensor& x, const Tensor& w) {
  const std::vector<int64_t> padding(c.pixels.size(), c.same ? (c.options.rings.size - 1) / 2 : 0),
      one(c.pixels.size(), 1);
  const Tensor k = kernel.expand(w);
  return c.in.dimension == 2 ? at::conv2d(x, k, {}, one, padding) : at::conv3d(x, k, {}, one, padding);
}

struct Inputs {
  std::shared_ptr<const Kernel> kernel;
  Tensor x, w;
  explicit Inputs(const Case& c, int64_t batch = 2)
      : kernel(std::make_shared<Kernel>(c.in, c.out, c.options)) {
    at::manual_seed(5);
    std::vector<int64_t> shape{batch, 2 * c.in.width()};
    shape.insert(shape.end(), c.pixels.begin(), c.pixels.end());
    x = at::randn(shape, at::kDouble);
    w = at::randn({kernel->weights(), 2}, at::kDouble);
  }
};

constexpr kernels::InstructionSet instruction_sets[] = {
    kernels::InstructionSet::v4, kernels::InstructionSet::v3, kernels::InstructionSet::baseline};

double difference(const Tensor& a, const Tensor& b) {
  return ((a.to(at::kDouble) - b).abs().max() / b.abs().max()).item<double>();
}

TEST(SteerableConvOrders, GiveTheSame) {
  int number = 0;
  for (const Case& c : cases()) {
    const Inputs in(c);
    ASSERT_NE(in.kernel->plan(), nullptr) << number;
    const Tensor right = dense(c, *in.kernel, in.x, in.w);
    for (const auto set : instruction_sets) {
      const kernels::UseInstructionSet only(set);
      EXPECT_LT(difference(conv(in.x, in.w, in.kernel, c.same), right), 1e-12) << number;
      const Tensor narrow = conv(in.x.to(at::kFloat), in.w.to(at::kFloat), in.kernel, c.same);
      EXPECT_LT(difference(narrow, right), 1e-5) << number;
    }
    ++number;
  }
}

TEST(SteerableConvOrders, HaveTheSameGradients) {
  int number = 0;
  for (const Case& c : cases()) {
    const Inputs in(c);
    const Tensor x = in.x.clone().requires_grad_(), w = in.w.clone().requires_grad_();
    const auto of = [&](const Tensor& y, const Tensors& wanted) {
      return torch::autograd::grad({(y * gradients_detail::weights_like(y)).sum()}, wanted);
    };
    const Tensors right = of(dense(c, *in.kernel, x, w), {x, w});
    for (const auto set : instruction_sets) {
      const kernels::UseInstructionSet only(set);
      const Tensors found = of(conv(x, w, in.kernel, c.same), {x, w});
      EXPECT_LT(difference(found[0], right[0]), 1e-11) << number;
      EXPECT_LT(difference(found[1], right[1]), 1e-11) << number;
      EXPECT_LT(difference(of(conv(x, w, in.kernel, c.same), {x})[0], right[0]), 1e-11);
      EXPECT_LT(difference(of(conv(x, w, in.kernel, c.same), {w})[0], right[1]), 1e-11);
    }
    ++number;
  }
}

TEST(SteerableConvOrders, HaveSecondDerivatives) {
  const Case c{{3, {1, 1}}, {3, {1, 1}}, options_of(3, 1), {2, 3, 2}, true};
  const Inputs in(c, 1);
  expect_second_gradients([&](const Tensors& t) { return conv(t[0], t[1], in.kernel, true); }, {in.x, in.w});
}

TEST(SteerableConvOrders, GiveTheSameBitsWithTheSameThreads) {
  const ShareAll however_little;
  const Case c{{3, {5, 2, 1}}, {3, {3, 9}}, options_of(5, 2), {14, 14, 10}, true};
  const Inputs in(c);
  const Tensor one = conv(in.x, in.w, in.kernel, true);
  const int threads = at::get_num_threads();
  at::set_num_threads(3);
  const auto gradients = [&] {
    const Tensor x = in.x.clone().requires_grad_(), w = in.w.clone().requires_grad_();
    return torch::autograd::grad({conv(x, w, in.kernel, true).square().sum()}, {x, w});
  };
  EXPECT_LT(difference(conv(in.x, in.w, in.kernel, true), one), 1e-14);
  const Tensors many = gradients(), again = gradients();
  at::set_num_threads(threads);
  const Tensors single = gradients();
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(at::equal(many[i], again[i]));
    EXPECT_LT(difference(many[i], single[i]), 1e-12);
  }
}

TEST(SteerableConvOrders, ArePickedByCost) {
  const SteerableType in{3, {32, 16, 8}}, out{3, {64, 32, 16}};
  const Kernel wide(in, out, options_of(5, 2)), narrow({3, {1}}, {3, {1}}, options_of(2, 1));
  EXPECT_TRUE(conv_pays(at::zeros({1, 2 * in.width(), 14, 14, 10}), wide, true, true));
  EXPECT_FALSE(conv_pays(at::zeros({1, 2, 14, 14, 10}), narrow, false, true));
  EXPECT_FALSE(conv_pays(at::zeros({1, 2 * in.width(), 4, 4, 4}), wide, false, true));
  EXPECT_FALSE(conv_pays(at::zeros({1, 2 * in.width(), 14, 14, 10}, at::kHalf), wide, true, true));
}

TEST(SteerableConvOrders, RefuseWhatDoesNotFit) {
  const Case c = cases().front();
  const Inputs in(c);
  EXPECT_THROW(conv(in.x.narrow(1, 0, 2), in.w, in.kernel, true), ShapeError);
  EXPECT_THROW(conv(in.x, in.w.narrow(0, 0, 2), in.kernel, true), ShapeError);
  EXPECT_THROW(conv(in.x.narrow(2, 0, 3), in.w, in.kernel, false), ShapeError);
}

}  // namespace conv_test
}  // namespace weyl::steerable
