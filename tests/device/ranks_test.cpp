// Ranks whose tensors are on the device: by NCCL where each has a card of its own, else by Gloo through the host's memory. On the
// CPU the same checks are made of Gloo alone.
#include "weyl/parallel/ranks.h"

#include <ATen/detail/CUDAHooksInterface.h>

#include "tests/closeness.h"
#include "tests/data/folder.h"
#include "tests/device/device.h"
#include "tests/parallel/processes.h"
#include "weyl/nn/shared_batch.h"
#include "weyl/train/loop/gradient_sums.h"

namespace weyl {
namespace ranks_test {

constexpr double float64 = 1e-12;
constexpr int too_few_cards = 77;

/// What one rank has, on the CPU.
at::Tensor numbers(int rank, at::IntArrayRef sizes) {
  return (at::arange(c10::multiply_integers(sizes), at::kDouble) * 0.37 + rank * 1.3).sin().view(sizes);
}

/// `f` of all ranks, added.
template <class F>
at::Tensor of_all(const Ranks& ranks, const F& f) {
  at::Tensor sum = f(0);
  for (int rank = 1; rank < ranks.size(); ++rank) {
    sum = sum + f(rank);
  }
  return sum;
}

void expect_sums(Ranks& ranks, at::Device device) {
  for (const auto type : {at::kFloat, at::kDouble, at::kLong}) {
    const auto own = [&](int rank) { return (numbers(rank, {100'003}) * 1000).round().to(type); };
    // Two at a time, of whole numbers, so that they are exact in each type.
    const at::Tensor x = own(ranks.rank()).to(device), y = x * 2;
    Ranks::Sum first = ranks.start_sum(x), second = ranks.start_sum(y);
    second.wait();
    first.wait();
    const at::Tensor expected = of_all(ranks, own);
    EXPECT_TRUE(at::equal(x.cpu(), expected)) << type;
    EXPECT_TRUE(at::equal(y.cpu(), expected * 2)) << type;
    const at::Tensor sent = own(ranks.rank()).to(device);
    ranks.broadcast(sent, ranks.size() - 1);
    EXPECT_TRUE(at::equal(sent.cpu(), own(ranks.size() - 1))) << type;
  }
}

void expect_gradients(const std::shared_ptr<Ranks>& ranks, at::Device device) {
  const auto loss_of = [](const at::Tensor& a, const at::Tensor& b, const at::Tensor& x) {
    return (x.matmul(a).tanh() * b).square().sum();
  };
  const auto weights = [&](at::Device on) {
    return std::vector{numbers(7, {40, 30}).to(on).requires_grad_(),
                       numbers(8, {30}).to(on).requires_grad_()};
  };
  const auto samples = [](int rank) { return numbers(rank, {50, 40}); };
  const std::vector<at::Tensor> right = weights(at::kCPU), found = weights(device);
  const at::Tensor whole =
      of_all(*ranks, [&](int rank) { return loss_of(right[0], right[1], samples(rank)); });
  whole.backward();
  GradientSums sums(ranks, {{.name = "a", .tensor = found[0]}, {.name = "b", .tensor = found[1]}},
                    /*bucket=*/1000);  // one for each
  for (int step = 0; step < 2; ++step) {
    const at::Tensor share = at::full({}, ranks->rank() + 1, found[0].options().requires_grad(false));
    EXPECT_EQ(sums.whole({share})[0].item<double>(), ranks->size() * (ranks->size() + 1) / 2.0);
    for (const at::Tensor& weight : found) {
      weight.mutable_grad().reset();
    }
    const at::Tensor loss = loss_of(found[0], found[1], samples(ranks->rank()).to(device));
    sums.begin();
    loss.backward();
    const at::Tensor total = sums.finish(loss);
    expect_close(on_host({total, found[0].grad(), found[1].grad()}),
                 {whole.detach(), right[0].grad(), right[1].grad()}, float64, "loss and gradients");
  }
}

void expect_batch_moments(const std::shared_ptr<Ranks>& ranks, at::Device device) {
  const auto part = [](int rank) { return numbers(rank, {6, 20 + rank}); };
  std::vector<at::Tensor> parts;
  for (int rank = 0; rank < ranks->size(); ++rank) {
    parts.push_back(part(rank));
  }
  const at::Tensor all = at::cat(parts, 1).requires_grad_(),
                   own = part(ranks->rank()).to(device).requires_grad_();
  const at::Tensor mean = all.mean(1), variance = (all - mean.unsqueeze(1)).square().mean(1);
  (variance.square() * 3 + mean).sum().backward();
  const SharedBatch shared(ranks, true);
  const BatchMoments found = moments_of_shared_batch(own);
  // Each rank has a term of the loss.
  ((found.variance.square() * 3 + found.mean).sum() / ranks->size()).backward();
  const at::Tensor gradient = all.grad().split_with_sizes(
      [&] {
        std::vector<int64_t> widths;
        for (const at::Tensor& of_rank : parts) {
          widths.push_back(of_rank.size(1));
        }
        return widths;
      }(),
      1)[static_cast<size_t>(ranks->rank())];
  expect_close(on_host({found.mean, found.variance, own.grad()}),
               {mean.detach(), variance.detach(), gradient}, float64, "moments of the batch");
}

/// Processes whose device is asked for in them alone: CUDA does not survive a fork.
std::vector<int> run_on(int count, const std::function<at::Device(int rank)>& device_of, bool by_nccl) {
  const Folder folder;
  return run_ranks(count, folder / "meet", [&](const std::shared_ptr<Ranks>& ranks) {
    ranks->barrier();  // one may end where it is asked for its device
    const at::Device device = device_of(ranks->rank());
    if (device.is_cuda()) {
      ranks->use_card(device);
    }
    EXPECT_EQ(ranks->has_nccl(), by_nccl && device.is_cuda());
    expect_sums(*ranks, device);
    expect_gradients(ranks, device);
    expect_batch_moments(ranks, device);
    ranks->barrier();
  });
}

at::Device first_device() {
  const at::Device device = test_device();
  return device.is_cuda() && !device.has_index() ? at::Device(at::kCUDA, 0) : device;
}

TEST(DeviceRanks, OneRankByNccl) {
  EXPECT_EQ(run_on(1, [](int) { return first_device(); }, true), std::vector{0});
}

TEST(DeviceRanks, TwoOnOneCardByGloo) {
  EXPECT_EQ(run_on(2, [](int) { return first_device(); }, false), (std::vector{0, 0}));
}

TEST(DeviceRanks, TwoWithACardEachByNccl) {
  const auto card_of = [](int rank) {
    if (!test_device().is_cuda() || at::detail::getCUDAHooks().deviceCount() < 2) {
      _exit(too_few_cards);
    }
    return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(rank));
  };
  const std::vector<int> codes = run_on(2, card_of, true);
  if (codes == std::vector{too_few_cards, too_few_cards}) {
    GTEST_SKIP() << "fewer than two cards";
  }
  EXPECT_EQ(codes, (std::vector{0, 0}));
}

}  // namespace ranks_test
}  // namespace weyl
