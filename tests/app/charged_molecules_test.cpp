// Ions and radicals through the program: the recipe of OMol25 at reduced width, told charge and multiplicity, on rows
// as ASE's database has them (tools/goldens/ase_lmdb_fixtures.py), streamed from disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "tests/app/program.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/core/json.h"

namespace weyl {
namespace charged_molecules_test {

const std::string recipe =
    "'" WEYL_SOURCE_DIR
    "/configs/omol/platonic.paper.toml' "
    "data.molecules.path='" WEYL_SOURCE_DIR
    "/tests/fixtures/molecules/lmdb/omol' "
    "model.platonic.width=48 model.platonic.heads=12 model.platonic.blocks=2 train.batch=8 ";
const std::string told =
    "'data.molecules.states=[{key=\"charge\",least=-2,most=2},{key=\"spin\",least=1,most=4}]' ";

double number(const Json& json, const std::vector<std::string>& keys) {
  const Json* at = &json;
  for (const std::string& key : keys) {
    at = at != nullptr ? at->find(key) : nullptr;
  }
  return at != nullptr ? at->number_or(NAN) : NAN;
}

void write(const std::string& path, const std::string& contents) {
  std::ofstream(path) << contents;
}

std::string hydroxide(const std::string& info) {
  return "2\nProperties=species:S:1:pos:R:3 " + info + "\nO 0 0 0\nH 0 0 0.97\n";
}

TEST(ChargedMolecules, TrainByTheRecipeOfThePaper) {
  const std::string folder = scratch("omol");
  const Outcome trained =
      weyl_program("train " + recipe + told +
                       "train.epochs=1 train.schedule.warmup=0 --threads 1 --quiet --json --out run",
                   folder);
  ASSERT_EQ(trained.code, exit_done) << trained.err;
  const Json said = Json::parse(trained.out, "stdout");
  EXPECT_EQ(number(said, {"steps"}), 4) << trained.out;  // 80 % of 40 frames, eight a step

  const std::string where =
      "eval run --data '" WEYL_SOURCE_DIR "/tests/fixtures/molecules/lmdb/omol' --quiet --json";
  const Outcome seen = weyl_program(where, folder);
  ASSERT_EQ(seen.code, exit_done) << seen.err;
  const Json measured = Json::parse(seen.out, "stdout");
  for (const char* metric : {"energy_mae_per_atom", "direct_force_norm_mae"}) {
    EXPECT_GT(number(measured, {"metrics", metric, "value"}), 0) << seen.out;
  }

  // The same atoms of another charge have another energy; what the training data had no frame of is refused by name.
  write(folder + "/anion.xyz", hydroxide("charge=-1 spin=1"));
  write(folder + "/radical.xyz", hydroxide("charge=0 spin=2"));
  const auto energy_of = [&](const std::string& file) {
    const Outcome predicted = weyl_program("predict run " + file + " --out said.xyz --force --quiet", folder);
    EXPECT_EQ(predicted.code, exit_done) << predicted.err;
    const std::string text = contents(folder + "/said.xyz");
    const size_t at = text.find("weyl_energy=");
    return at == std::string::npos ? NAN : std::stod(text.substr(at + 12));
  };
  const double anion = energy_of("anion.xyz"), radical = energy_of("radical.xyz");
  EXPECT_LT(std::abs(anion + 2055), 20);  // eV: of hydroxide, by the composition alone
  EXPECT_NE(anion, radical);
  for (const auto& [info, fault] :
       {std::pair{"charge=2 spin=1",
                  "'charge' must be one that the model's training data had, -1, 0, 1, got 2"},
        {"charge=3 spin=1", "'charge' must be one whole number of -2 .. 2 (data.molecules.states), got 3"},
        {"charge=0.5 spin=1",
         "'charge' must be one whole number of -2 .. 2 (data.molecules.states), got 0.5"},
        {"charge=0", "must have 'spin' (data.molecules.states), has 'charge'"}}) {
    write(folder + "/other.xyz", hydroxide(info));
    const Outcome refused = weyl_program("predict run other.xyz --out said.xyz --force --quiet", folder);
    EXPECT_EQ(refused.code, exit_data) << info;
    EXPECT_NE(refused.err.find(std::string("other.xyz: frame 1")), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find(fault), std::string::npos) << refused.err;
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  }
  EXPECT_NE(weyl_program("info run", folder).out.find("'charge' -1, 0, 1"), std::string::npos);
}

// Without states the recipe is as it stands, and knows nothing of a charge.
TEST(ChargedMolecules, NeedNoStates) {
  const std::string folder = scratch("omol-plain");
  const Outcome trained = weyl_program(
      "train " + recipe + "train.steps=1 train.schedule.warmup=0 --threads 1 --quiet --out run", folder);
  ASSERT_EQ(trained.code, exit_done) << trained.err;
  write(folder + "/other.xyz", hydroxide("charge=7"));
  EXPECT_EQ(weyl_program("predict run other.xyz --out said.xyz --quiet", folder).code, exit_done);
  EXPECT_EQ(weyl_program("info run", folder).out.find("'charge'"), std::string::npos);
}

// A run is evaluated on the frames that it kept for tests, though they have a state that those of training lack.
TEST(ChargedMolecules, AreTestedOnTheirOwnSplits) {
  const std::string folder = scratch("omol-states");
  std::string frames;
  for (const int charge : {0, -1, 0, 1}) {
    frames +=
        "2\nProperties=species:S:1:pos:R:3:forces:R:3 energy=-2055 spin=1 charge=" + std::to_string(charge) +
        "\nO 0 0 0 0 0 0.1\nH 0 0 0.97 0 0 -0.1\n";
  }
  write(folder + "/ions.xyz", frames);
  const Outcome trained = weyl_program(
      "train " + recipe + told +
          "data.molecules.path=ions.xyz data.molecules.stream=false data.molecules.order=file "
          "data.molecules.train=2 data.molecules.valid=1 train.steps=1 train.schedule.warmup=0 --threads 1 "
          "--quiet --out run",
      folder);
  ASSERT_EQ(trained.code, exit_done) << trained.err;
  EXPECT_EQ(weyl_program("eval run --split train --quiet", folder).code, exit_done);
  const Outcome test = weyl_program("eval run --as-is --quiet", folder);
  EXPECT_EQ(test.code, exit_done) << test.err;
  // Of other data they are refused.
  EXPECT_EQ(weyl_program("eval run --data ions.xyz --quiet", folder).code, exit_data);
}

// What the task learns is no state.
TEST(ChargedMolecules, MayNotBeToldTheAnswer) {
  const std::string folder = scratch("omol-answer");
  const Outcome refused = weyl_program(
      "train " + recipe + "'data.molecules.states=[{key=\"energy\",least=0,most=2}]' --out run", folder);
  EXPECT_EQ(refused.code, exit_usage);
  EXPECT_NE(refused.err.find("data.molecules.states: 'energy' must not be a feature"), std::string::npos)
      << refused.err;
}

}  // namespace charged_molecules_test
}  // namespace weyl
