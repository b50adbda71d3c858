#include "weyl/nn/module.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "weyl/core/check.h"
#include "weyl/nn/derived.h"
#include "weyl/nn/linear.h"
#include "weyl/nn/mlp.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl {
namespace module_test {

struct Tree : Module {
  Tree() {
    scale = parameter("scale", {3}, Init::constant(0.5));
    first = child("first", std::make_shared<Mlp>(3, 5, 2));
    fixed = parameter("fixed", at::arange(4, at::kDouble), /*decay=*/false, /*trainable=*/false);
    second = child("second.0", std::make_shared<Linear>(2, 2, false));
  }
  void mode_changed() override { ++changes; }
  Tensor scale, fixed;
  std::shared_ptr<Mlp> first;
  std::shared_ptr<Linear> second;
  int changes = 0;
};

TEST(Module, NamesStandInTheOrderOfDeclaration) {
  std::vector<std::string> names, decaying;
  for (const auto& p : Tree().parameters()) {
    names.push_back(p.name);
    if (p.decay) {
      decaying.push_back(p.name);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"scale", "fixed", "first.0.weight", "first.0.bias",
                                             "first.2.weight", "first.2.bias", "second.0.weight"}));
  EXPECT_EQ(decaying, (std::vector<std::string>{"first.0.weight", "first.2.weight", "second.0.weight"}));
}

TEST(Module, CountsWhatIsTrained) {
  const Tree tree;
  EXPECT_EQ(tree.parameter_count(), 3 + (15 + 5) + (10 + 2) + 4);
  EXPECT_EQ(tree.parameter_count_real(), tree.parameter_count());
  EXPECT_EQ(tree.parts(), (std::vector<std::pair<std::string, int64_t>>{
                              {"scale", 3}, {"fixed", 0}, {"first", 32}, {"second", 4}}));
  EXPECT_FALSE(tree.fixed.requires_grad());
  EXPECT_TRUE(tree.scale.requires_grad());
}

TEST(Module, ConvertsInPlaceOfTheSameTensors) {
  Tree tree;
  const Tensor member = tree.scale;
  tree.to(at::kDouble);
  EXPECT_EQ(tree.dtype(), at::kDouble);
  EXPECT_EQ(member.scalar_type(), at::kDouble);
  EXPECT_TRUE(member.is_same(tree.parameters()[0].tensor));
  EXPECT_TRUE(member.requires_grad());
  EXPECT_EQ(tree.second->parameters()[0].tensor.scalar_type(), at::kDouble);
}

TEST(Module, StartsTheSameInEveryDtype) {
  const auto weights = [](at::ScalarType dtype) {
    const BuildOn on(at::kCPU, dtype);
    at::manual_seed(4);
    return Linear(7, 3).parameters()[0].tensor.detach();
  };
  const Tensor wide = weights(at::kDouble);
  EXPECT_EQ(wide.scalar_type(), at::kDouble);
  EXPECT_TRUE(at::equal(wide.to(at::kFloat), weights(at::kFloat)));
}

TEST(Module, ModeReachesEveryChild) {
  Tree tree;
  EXPECT_TRUE(tree.second->training());
  tree.train(false);
  EXPECT_FALSE(tree.training());
  EXPECT_FALSE(tree.second->training());
  EXPECT_EQ(tree.changes, 1);
  tree.to(at::kDouble);  // what was cached has the old dtype
  EXPECT_EQ(tree.changes, 2);
}

TEST(Module, RefusesANameTwice) {
  struct Twice : Module {
    Twice() {
      parameter("w", {1}, Init::ones());
      parameter("w", {1}, Init::ones());
    }
  };
  EXPECT_THROW(Twice(), ShapeError);
}

TEST(Module, ShapesAloneOnTheMetaDevice) {
  const BuildOn meta(at::kMeta, at::kFloat);
  const Linear huge(1 << 20, 1 << 20);  // 4 TiB of numbers
  EXPECT_EQ(huge.parameter_count(), (int64_t{1} << 40) + (1 << 20));
  EXPECT_TRUE(huge.parameters()[0].tensor.is_meta());
}

// Below a prefix is what a dot stands after: "second" has second.0.weight, "fi" has nothing.
TEST(Module, FreezesWhatStandsBelowAPrefix) {
  Tree tree;
  EXPECT_EQ(tree.freeze("fi"), 0);
  EXPECT_EQ(tree.freeze("second.0.weight.x"), 0);
  EXPECT_EQ(tree.freeze(""), 0);
  EXPECT_EQ(tree.freeze("first"), 4);
  EXPECT_EQ(tree.freeze("scale"), 1);
  std::vector<std::string> frozen;
  for (const Parameter& p : tree.parameters()) {
    if (p.frozen) {
      frozen.push_back(p.name);
      EXPECT_FALSE(p.tensor.requires_grad()) << p.name;
    }
  }
  EXPECT_EQ(frozen, (std::vector<std::string>{"scale", "first.0.weight", "first.0.bias", "first.2.weight",
                                              "first.2.bias"}));
  EXPECT_FALSE(tree.scale.requires_grad());
  EXPECT_TRUE(tree.second->parameters()[0].tensor.requires_grad());
  EXPECT_EQ(tree.parameter_count(), 3 + (15 + 5) + (10 + 2) + 4);  // what is frozen is a parameter still
  // A module that is frozen as a whole stays in evaluation mode, the others follow.
  tree.train(true);
  EXPECT_TRUE(tree.training());
  EXPECT_FALSE(tree.first->training());
  EXPECT_TRUE(tree.second->training());
  Tree other;
  EXPECT_EQ(other.freeze("second"), 1);
  EXPECT_FALSE(other.second->training());
  EXPECT_TRUE(other.first->training());
}

TEST(Derived, IsMadeOnceInEvaluationAndEachTimeInTraining) {
  Derived derived;
  const Tensor weight = at::ones({2});
  std::atomic<int> made = 0;
  const auto make = [&] {
    ++made;
    return at::ones({2});
  };
  derived.get(true, weight, make);
  derived.get(true, weight, make);
  EXPECT_EQ(made, 2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(derived.get(false, weight, make).sum().item<float>(), 2); });
  }
  for (auto& t : threads) {
    t.join();
  }
  EXPECT_EQ(made, 3);
  derived.drop();
  derived.get(false, weight, make);
  EXPECT_EQ(made, 4);
  const UseReferences anew;
  derived.get(false, weight, make);
  derived.get(false, weight, make);
  EXPECT_EQ(made, 6);
}

// One rule for what follows from weights and for the weights themselves: a gradient for each that requires one.
TEST(Derived, KeepsItsGraphToWeightsThatRequireGradients) {
  const Derived derived;
  const Tensor weight = at::ones({2}).requires_grad_(), other = at::ones({2});
  const auto make = [&] { return weight * other; };
  EXPECT_TRUE(derived.get(false, {weight, other}, make).requires_grad());
  EXPECT_TRUE(derived.get(false, {at::Tensor(), weight}, make).requires_grad());
  EXPECT_TRUE(derived.get(true, other, make).requires_grad());
  EXPECT_FALSE(derived.get(false, other, make).requires_grad());  // a constant, kept
  {
    const at::NoGradGuard quiet;
    EXPECT_FALSE(derived.get(false, weight, make).requires_grad());
  }
  EXPECT_TRUE(derived.get(false, weight, make).requires_grad());
  weight.set_requires_grad(false);
  EXPECT_FALSE(derived.get(false, weight, make).requires_grad());
}

}  // namespace module_test
}  // namespace weyl
