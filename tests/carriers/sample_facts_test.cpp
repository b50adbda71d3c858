// What a model keeps of the data that it was trained on beside their shapes, and when others contradict it.
#include "weyl/carriers/sample_facts.h"

#include <gtest/gtest.h>

#include <functional>

#include "weyl/core/check.h"

namespace weyl {
namespace sample_facts_test {

using Spacing = SampleFacts::Spacing;
constexpr auto inputs = FactsCompared::inputs, all = FactsCompared::inputs_and_classes;

SampleFacts cells(std::vector<double> least, std::vector<double> most) {
  SampleFacts facts;
  facts.spacing = Spacing{std::move(least), std::move(most)};
  facts.unit = "mm";
  return facts;
}
SampleFacts cells(double side) {
  return cells({side, side, side}, {side, side, side});
}
SampleFacts called(std::vector<std::string> channels, std::vector<std::string> classes = {}) {
  SampleFacts facts;
  facts.channels = std::move(channels);
  facts.classes = std::move(classes);
  return facts;
}

TEST(SampleFacts, SpacingsAgreeWithinAFewPerCentOnEveryAxis) {
  EXPECT_EQ(contradiction(cells(3.5), cells(3.5 * 1.029), inputs), "");
  EXPECT_EQ(contradiction(cells(3.5), cells(3.5 * 0.971), inputs), "");
  EXPECT_EQ(contradiction(cells(3.5), cells(1), inputs),
            "the model was trained on cells of 3.5 x 3.5 x 3.5 mm, the data have 1 x 1 x 1 mm (more than 3 % "
            "apart)");
  EXPECT_NE(contradiction(cells(3.5), cells(3.5 * 1.031), inputs), "");
  EXPECT_NE(contradiction(cells(3.5), cells({3.5, 3.5, 3.6}, {3.5, 3.5, 3.7}), inputs), "");
}

TEST(SampleFacts, OfMixedSpacingTheRangeIsKept) {
  const SampleFacts mixed = covering(covering(SampleFacts{}, cells(1)), cells({0.5, 2, 1}, {0.5, 2, 1}));
  EXPECT_EQ(mixed.spacing, (Spacing{{0.5, 1, 1}, {1, 2, 1}}));
  EXPECT_EQ(mixed.unit, "mm");
  EXPECT_EQ(contradiction(mixed, cells({0.7, 1.5, 1}, {0.7, 1.5, 1}), inputs), "");
  EXPECT_EQ(contradiction(mixed, cells({0.7, 3, 1}, {0.7, 3, 1}), inputs),
            "the model was trained on cells of 0.5 to 1 x 1 to 2 x 1 mm, the data have 0.7 x 3 x 1 mm (more "
            "than 3 % apart)");
}

TEST(SampleFacts, NamesMustBeTheSameInTheSameOrder) {
  const SampleFacts model = called({"FLAIR", "T1w"}, {"background", "edema"});
  EXPECT_EQ(contradiction(model, called({"FLAIR", "T1w"}), inputs), "");
  EXPECT_EQ(contradiction(model, called({"T1w", "FLAIR"}), inputs),
            "the model knows the channels FLAIR, T1w in this order, the data have T1w, FLAIR in this order");
  EXPECT_EQ(contradiction(model, called({"CT"}), inputs),
            "the model knows the channels FLAIR, T1w, the data have CT");
  const SampleFacts turned = called({"FLAIR", "T1w"}, {"edema", "background"});
  EXPECT_EQ(contradiction(model, turned, inputs),
            "");  // predictions are of the model's classes whatever the data
  EXPECT_NE(contradiction(model, turned, all), "");
  EXPECT_NE(contradiction(model, called({}, {"background", "edema", "tumour"}), all), "");
  // Of long lists the first difference alone.
  std::vector<std::string> many, swapped;
  for (int i = 0; i < 40; ++i) {
    many.push_back("c" + std::to_string(i));
  }
  swapped = many;
  std::swap(swapped[7], swapped[9]);
  EXPECT_EQ(
      contradiction(called({}, many), called({}, swapped), all),
      "the model knows 40 classes, the data have 40 in another order; the first that differs is number 7, "
      "'c7' and 'c9'");
  swapped = many;
  swapped.pop_back();
  EXPECT_NE(contradiction(called({}, many), called({}, swapped), all).find("number 39, 'c39' and none"),
            std::string::npos);
}

TEST(SampleFacts, WhatOneSideDoesNotKnowContradictsNothing) {
  SampleFacts model = cells(3.5);
  model.channels = {"CT"};
  EXPECT_EQ(contradiction(model, {}, all), "");
  EXPECT_EQ(contradiction({}, cells(1), all), "");
  EXPECT_EQ(contradiction(model, cells({1, 1}, {1, 1}), all), "");  // of other axes: the carrier's to refuse
}

TEST(SampleFacts, ModelsAgreeWhereOneSampleMaySuitBoth) {
  EXPECT_EQ(disagreement(cells(3.5), cells(3.6)), "");
  EXPECT_EQ(disagreement(cells({1, 1, 1}, {1, 1, 3}), cells({1, 1, 2}, {1, 1, 5})), "");
  EXPECT_EQ(
      disagreement(cells(3.5), cells(1)),
      "one was trained on cells of 3.5 x 3.5 x 3.5 mm, the other of 1 x 1 x 1 mm (more than 3 % apart)");
  EXPECT_EQ(disagreement(cells(1), cells(3.5)).substr(0, 34), "one was trained on cells of 1 x 1 ");
  EXPECT_EQ(disagreement(called({"T1", "FLAIR"}), called({"FLAIR", "T1"})),
            "one knows the channels T1, FLAIR in this order, the other FLAIR, T1 in this order");
  EXPECT_NE(disagreement(called({}, {"a", "b"}), called({}, {"b", "a"})), "");
  EXPECT_EQ(disagreement(called({"T1"}), {}), "");
}

TEST(SampleFacts, AreReadAsTheyWereWritten) {
  SampleFacts facts = cells({0.1, 1. / 3, 2}, {0.7, 1, 2});
  facts.channels = {"FLAIR", "\"quoted\" Ä"};
  facts.classes = {"background", "tumour"};
  EXPECT_EQ(sample_facts(to_json_text(facts), "x"), facts);
  EXPECT_EQ(sample_facts(to_json_text(called({}, {"a"})), "x"), called({}, {"a"}));
  EXPECT_EQ(to_json_text({}), "");
  EXPECT_EQ(description(cells(2)), "cells of 2 x 2 x 2 mm");
  EXPECT_EQ(description(called({"CT"}, {"a", "b"})), "channels CT; classes a, b");
}

SampleFacts charged(std::vector<int64_t> charges) {
  SampleFacts facts;
  facts.states["charge"] = std::move(charges);
  return facts;
}

TEST(SampleFacts, StatesMustBeAmongTheModels) {
  EXPECT_EQ(contradiction(charged({-1, 0, 2}), charged({-1, 2}), inputs), "");
  EXPECT_EQ(contradiction(charged({-1, 0}), charged({0, 1, 2}), inputs),
            "the model was trained on 'charge' -1, 0, the data have 'charge' 1, 2");
  EXPECT_EQ(contradiction({}, charged({1}), inputs), "");
  EXPECT_EQ(contradiction(charged({1}), {}, inputs), "");
  EXPECT_EQ(disagreement(charged({0}), charged({0, 1})),
            "one was trained on 'charge' 0, the other on 'charge' 0, 1");
  EXPECT_EQ(disagreement(charged({0}), charged({0})), "");
  EXPECT_EQ(covering(charged({-1, 3}), charged({0, 3})), charged({-1, 0, 3}));
  EXPECT_EQ(covering({}, charged({1})), charged({1}));
  EXPECT_EQ(sample_facts(to_json_text(charged({-10, 0, 7})), "x"), charged({-10, 0, 7}));
  EXPECT_EQ(description(charged({-1, 0})), "'charge' -1, 0");
  EXPECT_FALSE(charged({0}).empty());
}

TEST(SampleFacts, BrokenOnesAreOneLine) {
  for (const char* broken :
       {"{", R"({"spacing": {}})", R"({"spacing": {"least": [1], "most": [1, 2]}})",
        R"({"spacing": {"least": [0], "most": [1]}})", R"({"spacing": {"least": [2], "most": [1]}})",
        R"({"spacing": {"least": ["a"], "most": [1]}})", R"({"spacing": 3})", R"({"states": {"charge": []}})",
        R"({"states": {"charge": [1, 0]}})", R"({"states": {"charge": ["a"]}})",
        R"({"states": {"charge": [1e300]}})"}) {
    try {
      sample_facts(broken, "m.safetensors: metadata 'trained_on'");
      ADD_FAILURE() << broken;
    } catch (const DataError& error) {
      const std::string said = error.what();
      EXPECT_TRUE(said.starts_with("m.safetensors: metadata 'trained_on'")) << said;
      EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    }
  }
}

}  // namespace sample_facts_test
}  // namespace weyl
