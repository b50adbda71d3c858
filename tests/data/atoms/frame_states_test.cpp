// Whole numbers of frames, of each value of which a model learns an embedding: charge and multiplicity.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/molecules.h"
#include "weyl/carriers/dataset.h"
#include "weyl/carriers/dataset_facts.h"
#include "weyl/data/atoms/molecules.h"
#include "weyl/data/open.h"

namespace weyl {
namespace frame_states_test {

const std::string omol = WEYL_SOURCE_DIR "/tests/fixtures/molecules/lmdb/omol";
const std::vector<FrameState> charge_and_spin{{.key = "charge", .least = -1, .most = 1},
                                              {.key = "spin", .least = 1, .most = 3}};

std::string one(const std::string& info) {
  return "1\nProperties=species:S:1:pos:R:3 energy=1 " + info + "\nH 0 0 0\n";
}

TEST_F(Molecules, GiveStatesAChannelForEachValue) {
  MoleculesDataOptions o;
  o.states = {{.key = "charge", .least = -2, .most = 1}};
  o.features = {"field"};
  const auto data = whole(file("a.xyz", one("charge=-2 field=0.5") + one("charge=1.0 field=2")), o);
  EXPECT_EQ(data->schema().interface.features,
            (std::vector<Quantity>{{.name = "field", .level = Level::graph},
                                   {.name = "charge", .level = Level::graph, .channels = 4}}));
  EXPECT_EQ(declared_schema({o}).interface.features, data->schema().interface.features);
  const Batch batch = all_of(*data);
  EXPECT_TRUE(at::equal(points_of(batch).of_graphs.at("charge"),
                        at::tensor({1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0}, at::kDouble).view({2, 4})));
  EXPECT_EQ(points_of(all_of(*whole(file("b.xyz", one("charge=0"))))).of_graphs.size(),
            0U);  // off by default
}

TEST_F(Molecules, RefuseStatesThatAreMissingOrOthers) {
  MoleculesDataOptions o;
  o.states = {{.key = "charge", .least = -2, .most = 1}};
  const auto said = [&](const std::string& info) {
    const std::string line = refusal(file("a.xyz", one("charge=0") + one(info)), o);
    const size_t at = line.find(": ", line.find("frame 2"));
    return line.starts_with(folder + "/a.xyz: frame 2") && at != std::string::npos ? line.substr(at + 2)
                                                                                   : line;
  };
  EXPECT_EQ(said("spin=1"), "must have 'charge' (data.molecules.states), has 'energy', 'spin'");
  const std::string must = "'charge' must be one whole number of -2 .. 1 (data.molecules.states)";
  EXPECT_EQ(said("charge=2"), must + ", got 2");
  EXPECT_EQ(said("charge=0.5"), must + ", got 0.5");
  EXPECT_EQ(said("charge=1e30"), must + ", got 1e+30");
  EXPECT_EQ(said("charge=nan"), must + ", got nan");
  EXPECT_EQ(said("charge=\"0 0\""), must);
  EXPECT_EQ(said("charge=minus"), must);
  o.states[0].known = {-1, 0};
  EXPECT_EQ(said("charge=1"), "'charge' must be one that the model's training data had, -1, 0, got 1");
  EXPECT_EQ(said("charge=-1"), "(accepted)");
}

TEST_F(Molecules, RefuseStatesThatCannotBe) {
  const auto path = file("a.xyz", one("charge=0"));
  const auto said = [&](std::vector<FrameState> states, std::vector<std::string> features = {}) {
    MoleculesDataOptions o;
    o.states = std::move(states);
    o.features = std::move(features);
    return refusal<ConfigError>(path, o);
  };
  EXPECT_EQ(said({{.key = "", .least = 0, .most = 1}}), "data.molecules.states[0]: `key` must be given");
  EXPECT_EQ(said({{.key = "charge"}}), "data.molecules.states[0]: least must be below most, got 0 and 0");
  EXPECT_EQ(said({{.key = "charge", .least = 0, .most = 1}}, {"charge"}),
            "data.molecules.states[0].key: 'charge' is a feature already");
  const std::string kind = "data.molecules: 'config_type' is the label of a frame's kind, and no feature";
  EXPECT_EQ(said({}, {"config_type"}), kind);
  EXPECT_EQ(said({{.key = "config_type", .least = 0, .most = 1}}), kind);
  EXPECT_EQ(said({{.key = "charge", .least = 0, .most = 1}, {.key = "charge", .least = 0, .most = 1}}),
            "data.molecules.states[1].key: 'charge' is a feature already");
}

TEST_F(Molecules, TellStatesAsAModelKnowsThem) {
  MoleculesDataOptions o;
  o.states = charge_and_spin;
  const auto path = file("a.xyz", one("charge=1 spin=2"));
  const Interface model = whole(path, o)->schema().interface;
  const auto data = open_file(path, {o}, &model);
  EXPECT_TRUE(at::equal(points_of(all_of(*data)).of_graphs.at("spin"),
                        at::tensor({0.0, 1.0, 0.0}, at::kDouble).view({1, 3})));
  EXPECT_THROW(open_file(path, know_states({o}, {{"spin", {1, 3}}}), &model), DataError);
  EXPECT_NO_THROW(open_file(path, know_states({o}, {{"spin", {2}}, {"mass", {1}}}), &model));
}

// Charges and spins of ASE's rows stand among their `data`.
TEST_F(Molecules, OfADatabaseHaveStatesAndStayOnDisk) {
  MoleculesDataOptions o;
  o.path = omol;
  o.states = charge_and_spin;
  o.order = SplitOrder::file;
  o.fractions = {0.8, 0.2, 0};
  const Splits kept = open_set(o);
  o.stream = true;
  const Splits streamed = open_set(o);
  ASSERT_EQ(streamed.train->size(), 32);
  ASSERT_EQ(streamed.valid->size(), 8);
  EXPECT_EQ(streamed.test, nullptr);
  const auto whole_of = [](const Splits& splits) {
    return &dynamic_cast<const Subset&>(*splits.train).whole();
  };
  EXPECT_NE(dynamic_cast<const StreamedFrames*>(whole_of(streamed)), nullptr);
  EXPECT_EQ(dynamic_cast<const StreamedFrames*>(whole_of(kept)), nullptr);
  for (const auto& [a, b] : {std::pair(kept.train, streamed.train), {kept.valid, streamed.valid}}) {
    const std::vector<int64_t> some{5, 1, 7, 0};
    const Batch x = a->batch(some), y = b->batch(some);
    EXPECT_TRUE(at::equal(points_of(x).positions, points_of(y).positions));
    for (const char* key : {"charge", "spin"}) {
      EXPECT_TRUE(at::equal(points_of(x).of_graphs.at(key), points_of(y).of_graphs.at(key))) << key;
    }
    EXPECT_TRUE(at::equal(x.labels.at("energy"), y.labels.at("energy")));
    EXPECT_EQ(facts_of(*a), facts_of(*b));
    EXPECT_EQ(a->schema().interface.typical_nodes, b->schema().interface.typical_nodes);
  }
  // The species of the fixture come round every eight frames of a file of twenty: hydroxide first of all, oxygen last.
  const Batch first = streamed.train->batch(std::vector<int64_t>{1, 7});
  EXPECT_TRUE(at::equal(points_of(first).of_graphs.at("charge"),
                        at::tensor({1.0, 0.0, 0.0, 0.0, 1.0, 0.0}, at::kDouble).view({2, 3})));
  EXPECT_TRUE(at::equal(points_of(first).of_graphs.at("spin"),
                        at::tensor({1.0, 0.0, 0.0, 0.0, 0.0, 1.0}, at::kDouble).view({2, 3})));
  EXPECT_EQ(facts_of(*streamed.train).states.at("spin"), (std::vector<int64_t>{1, 2, 3}));
}

TEST_F(Molecules, KnowTheStatesOfEachSplit) {
  MoleculesDataOptions o;
  o.path = file("a.xyz", one("charge=0") + one("charge=-1") + one("charge=0") + one("charge=1"));
  o.states = {charge_and_spin[0]};
  o.order = SplitOrder::file;
  o.train = 2;
  o.valid = 1;
  const Splits splits = open_set(o);
  EXPECT_EQ(facts_of(*splits.train).states.at("charge"), (std::vector<int64_t>{-1, 0}));
  EXPECT_EQ(facts_of(*splits.valid).states.at("charge"), (std::vector<int64_t>{0}));
  EXPECT_EQ(facts_of(*splits.test).states.at("charge"), (std::vector<int64_t>{1}));
  EXPECT_EQ(all_of(*splits.train).labels.size(), 1U);
}

TEST_F(Molecules, StreamOnlyWhatIsReadInAnyOrder) {
  MoleculesDataOptions o;
  o.path = WEYL_SOURCE_DIR "/tests/fixtures/molecules/ase.xyz.gz";
  o.stream = true;
  EXPECT_THROW(open_set(o), ConfigError);
  o.path = file("a.xyz", one("charge=0") + one("charge=1"));
  EXPECT_NO_THROW(open_set(o));
  EXPECT_NO_THROW(open_splits(all_of(DataOptions{o}, folder)));  // for an evaluation
}

TEST_F(Molecules, InOrderOfTheFileOrOfNumpy) {
  MoleculesDataOptions o;
  std::string frames;
  for (int i = 0; i < 10; ++i) {
    frames += "1\nProperties=species:S:1:pos:R:3 energy=" + std::to_string(i) + "\nH 0 0 0\n";
  }
  o.path = file("a.xyz", frames);
  o.fractions = {0.6, 0.2, 0.2};
  const auto first_of = [&](SplitOrder order, int64_t seed) {
    o.order = order;
    o.seed = seed;
    return all_of(*open_set(o).train).labels.at("energy").flatten();
  };
  EXPECT_TRUE(at::equal(first_of(SplitOrder::file, 0), at::arange(6, at::kDouble)));
  // RandomState(42).permutation(10) begins 8 1 5 0 7 2.
  EXPECT_TRUE(
      at::equal(first_of(SplitOrder::numpy, 42), at::tensor({0.0, 1.0, 2.0, 5.0, 7.0, 8.0}, at::kDouble)));
  EXPECT_FALSE(at::equal(first_of(SplitOrder::weyl, 0), first_of(SplitOrder::file, 0)));
}

}  // namespace frame_states_test
}  // namespace weyl
