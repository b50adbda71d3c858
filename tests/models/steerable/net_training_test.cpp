// Steerable nets that learn: the law after steps, autocast, weights without a gradient, batches of one.
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "tests/models/steerable/nets.h"

namespace weyl::steerable {
namespace net_training_test {

TEST(SteerableNets, TurnExactlyAfterTraining) {
  for (Case c : cases()) {
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(3);
    Net net(c.options, images(c.dimension, c.level));
    const Grid grid = random_grid(c.shape, at::kDouble);
    double first = 0, loss = 0;
    for (int step = 0; step < 8; ++step) {
      const Tensor logits = net(grid).at("logits");
      std::vector<int64_t> shape = logits.sizes().vec();
      shape.erase(shape.begin() + 1);
      at::manual_seed(8);
      const Tensor off = at::cross_entropy_loss(logits, at::randint(3, shape));
      off.backward();
      loss = off.item<double>();
      first = step == 0 ? loss : first;
      for (const auto& p : net.parameters()) {
        if (p.trainable) {
          const at::NoGradGuard quiet;
          p.tensor.sub_(p.tensor.grad() / (p.tensor.grad().abs() + 1e-3) * 0.01);  // signs, so that all move
          p.tensor.mutable_grad().zero_();
        }
      }
    }
    EXPECT_LT(loss, first) << c.name;
    net.train(false);
    EXPECT_LT(error_of(net, grid), 1e-12) << c.name;
  }
}

/// What training in bf16 does around a forward pass, on the CPU.
struct Autocast {
  Autocast() {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  ~Autocast() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
  }
};

TEST(SteerableNets, LearnUnderAutocast) {
  for (const Case& c : cases()) {
    const BuildOn on(at::kCPU, at::kFloat);
    at::manual_seed(3);
    Net net(c.options, images(c.dimension, c.level));
    const Grid grid = random_grid(c.shape, at::kFloat);
    const Tensor full = net(grid).at("logits");
    Tensor half;
    {
      const Autocast autocast;
      half = net(grid).at("logits");
      half.to(at::kFloat).square().mean().backward();
    }
    EXPECT_LT(((half - full).norm() / full.norm()).item<double>(), 0.5) << c.name;
    EXPECT_GT(((half - full).norm() / full.norm()).item<double>(), 1e-5) << c.name << " was not in bf16";
    for (const auto& p : net.parameters()) {
      EXPECT_TRUE(!p.trainable || at::isfinite(p.tensor.grad()).all().item<bool>())
          << c.name << " " << p.name;
    }
  }
}

TEST(SteerableNets, HaveNoDeadWeights) {
  for (const Case& c : cases()) {
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(3);
    Net net(c.options, images(c.dimension, c.level));
    std::vector<Tensor> weights;
    std::vector<std::string> names;
    for (const auto& p : net.parameters()) {
      if (p.trainable) {
        EXPECT_TRUE(p.tensor.requires_grad()) << p.name;
        weights.push_back(p.tensor);
        names.push_back(p.name);
      }
    }
    const Tensor y = net(random_grid(c.shape, at::kDouble)).at("logits");
    const Tensor loss = (y * at::randn(y.sizes(), at::kDouble)).sum();
    loss.backward();
    for (size_t i = 0; i < weights.size(); ++i) {
      ASSERT_TRUE(weights[i].grad().defined()) << c.name << ": " << names[i];
      EXPECT_EQ((weights[i].grad() == 0).sum().item<int64_t>(), 0) << c.name << ": " << names[i];
    }
  }
}

TEST(SteerableNets, HaveNoDeadWeightsWithManyOrders) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const bool restricted : {false, true}) {
    Options o = small();
    o.orders = 8;
    o.restricted = restricted;
    o.stages = {{2, 2, 5}, {2, 2, 5}};
    at::manual_seed(3);
    Net net(o, images(2, Level::node));
    const Tensor y = net(random_grid({2, 3, 8, 8}, at::kDouble)).at("logits");
    (y * at::randn(y.sizes(), at::kDouble)).sum().backward();
    for (const auto& p : net.parameters()) {
      EXPECT_TRUE(!p.trainable || (p.tensor.grad() == 0).sum().item<int64_t>() == 0) << p.name;
    }
  }
}

TEST(SteerableNets, TakeBatchesOfOneAndOfNone) {
  for (const Case& c : cases()) {
    at::manual_seed(3);
    Net net(c.options, images(c.dimension, c.level));
    for (const int64_t batch : {1, 0}) {
      std::vector<int64_t> shape = c.shape;
      shape[0] = batch;
      const Tensor y = net(random_grid(shape, at::kFloat)).at("logits");
      EXPECT_EQ(y.size(0), batch) << c.name;
      y.square().sum().backward();
      for (const auto& p : net.parameters()) {
        EXPECT_TRUE(at::isfinite(p.tensor).all().item<bool>()) << c.name << " " << p.name << " " << batch;
        EXPECT_TRUE(!p.trainable || at::isfinite(p.tensor.grad()).all().item<bool>()) << c.name << p.name;
      }
    }
    net.train(false);
    EXPECT_TRUE(at::isfinite(net(random_grid(c.shape, at::kFloat)).at("logits")).all().item<bool>())
        << c.name;
  }
}

}  // namespace net_training_test
}  // namespace weyl::steerable
