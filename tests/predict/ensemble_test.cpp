#include "weyl/saved/ensemble.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "tests/predict/potentials.h"
#include "weyl/saved/predictor.h"

namespace weyl {
namespace ensemble_test {

/// The same potential with other weights: the larger `factor`, the farther from the first.
Predictor with_weights(const Dataset& data, double factor) {
  SavedModel saved = potential("geomformer", data);
  for (const Parameter& p : saved.model->parameters()) {
    p.tensor.detach().mul_(factor);
  }
  return Predictor(std::move(saved));
}

Named together(const std::vector<Named>& members, const std::vector<Quantity>& outputs,
               const Task* task = nullptr) {
  EnsembleMean all(outputs);
  for (const Named& member : members) {
    all.add(member);
  }
  return all.done(task);
}

TEST(Ensemble, GivesMeanAndDeviationOfEachNumber) {
  const auto data = set();
  const at::NoGradGuard no_grad;
  const Input input = all_of(*data).input;
  const double factors[] = {1, 1.1, 0.9};
  std::vector<Named> members;
  for (const double factor : factors) {
    members.push_back(with_weights(*data, factor)(input));
  }
  Predictor all = with_weights(*data, factors[0]);
  all.join(with_weights(*data, factors[1]), "a", "b");
  all.join(with_weights(*data, factors[2]), "a", "c");
  const Named mean_of_all = all(input);
  for (const char* name : {"energy", "forces"}) {
    const Tensor a = members[0].at(name), b = members[1].at(name), c = members[2].at(name);
    const Tensor mean = (a + b + c) / 3;
    const Tensor variance = ((a - mean).square() + (b - mean).square() + (c - mean).square()) / 3;
    EXPECT_TRUE(at::allclose(mean_of_all.at(name), mean, 1e-12, 1e-12)) << name;
    EXPECT_TRUE(at::allclose(mean_of_all.at(std::string(name) + "_std"), variance.sqrt(), 1e-9, 1e-12))
        << name;
    EXPECT_GT(variance.max().item<double>(), 1e-12) << name;  // or nothing was tried
  }
  std::vector<std::string> names;
  for (const Quantity& q : all.outputs()) {
    names.push_back(q.name);
    EXPECT_EQ(q.unit, find_quantity(all.outputs(), without_deviation(all.outputs(), q.name))->unit);
  }
  EXPECT_NE(std::find(names.begin(), names.end(), "energy_std"), names.end());
  EXPECT_THROW(all.gradient(input), ConfigError);
}

TEST(Ensemble, OfOneModelTwiceHasNoDeviation) {
  const auto data = set();
  const Input input = all_of(*data).input;
  Predictor twice = with_weights(*data, 1);
  twice.join(with_weights(*data, 1), "a", "b");
  EXPECT_EQ(twice(input).at("energy_std").abs().max().item<double>(), 0);
}

TEST(Ensemble, TakesTheClassOfTheLargestMeanProbability) {
  const std::vector<Quantity> outputs{
      {.name = "probabilities", .level = Level::graph, .channels = 3},
      {.name = "class", .level = Level::graph, .kind = Kind::category, .categories = 3}};
  // Each of two models is sure of another class; together they are surest of the third.
  const Named a{{"probabilities", at::tensor({0.55, 0.0, 0.45}).reshape({1, 3})}, {"class", at::tensor({0})}};
  const Named b{{"probabilities", at::tensor({0.0, 0.55, 0.45}).reshape({1, 3})}, {"class", at::tensor({1})}};
  const Named both = together({a, b}, outputs);
  EXPECT_EQ(both.at("class").item<int64_t>(), 2);
  EXPECT_NEAR(both.at("probabilities_std")[0][0].item<double>(), 0.275, 1e-7);
  EXPECT_FALSE(both.contains("class_std"));
  EXPECT_EQ(ensemble_outputs(outputs).size(), 3u);
}

TEST(Ensemble, TakesMasksOfTheMeanAsItsTaskDoes) {
  const std::vector<Quantity> outputs{{.name = "probabilities", .channels = 2},
                                      {.name = "mask", .kind = Kind::category, .categories = 2}};
  const auto member = [](std::vector<double> sure) {
    const Tensor p = at::tensor(sure).view({1, 1, 1, 5}).to(at::kFloat);
    return Named{{"probabilities", at::cat({1 - p, p}, 1)}, {"mask", p.gt(0.5).to(at::kLong)}};
  };
  const std::vector<Named> members{member({0.9, 0.9, 0.1, 0.9, 0.1}), member({0.9, 0.2, 0.1, 0.9, 0.1})};
  const auto task = make_task({SegmentationOptions{.largest_component = LargestComponent{}}});
  const Named plain = together(members, outputs), kept = together(members, outputs, task.get());
  EXPECT_EQ(plain.at("mask").sum().item<int64_t>(), 3);
  EXPECT_EQ(kept.at("mask").sum().item<int64_t>(), 2);
  EXPECT_TRUE(plain.at("probabilities").equal(kept.at("probabilities")));
  EXPECT_EQ(members[0].at("probabilities").scalar_type(), at::kFloat);  // and unchanged
  EXPECT_NEAR(members[0].at("probabilities")[0][1][0][1].item<double>(), 0.9, 1e-6);
}

TEST(Ensemble, RefusesModelsThatAreToldOrSayOther) {
  const auto data = set();
  const auto refusal = [&](SavedModel second) -> std::string {
    Predictor first = with_weights(*data, 1);
    try {
      first.join(Predictor(std::move(second)), "one", "two");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(potential("painn", *data)), "");  // other systems predict the same things
  SavedModel other = potential("geomformer", *data);
  const_cast<Interface&>(other.model->interface).elements = {"Xe"};
  EXPECT_NE(refusal(std::move(other)).find("several models must have the same elements, but one has "),
            std::string::npos);
  SavedModel coarse = potential("geomformer", *data);
  coarse.trained_on = {.spacing = SampleFacts::Spacing{{3.5}, {3.5}}, .unit = "mm"};
  SavedModel fine = potential("geomformer", *data);
  fine.trained_on = {.spacing = SampleFacts::Spacing{{1}, {1}}, .unit = "mm"};
  const SampleFacts kept = coarse.trained_on;
  Predictor both = with_weights(*data, 1);
  both.join(Predictor(std::move(coarse)), "one",
            "two");  // the first keeps nothing, which contradicts nothing
  EXPECT_EQ(both.trained_on(), (std::vector<SampleFacts>{{}, kept}));
  try {
    both.join(Predictor(std::move(fine)), "one", "three");
    ADD_FAILURE() << "models of 3.5 mm and of 1 mm were taken together";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "several models must be of the same kind of data, but of two and three one was trained on "
                 "cells of 3.5 mm, the other of 1 mm (more than 3 % apart)");
  }
  EXPECT_THROW(ensemble_outputs({{.name = "element", .level = Level::graph, .kind = Kind::element}}),
               ConfigError);
}

}  // namespace ensemble_test
}  // namespace weyl
