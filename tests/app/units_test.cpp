// Units through the program: files in units of their own are trained on and predicted, wrong ones are refused with
// the likely one, folders are inspected past what is broken.
#include <gtest/gtest.h>

#include "tests/app/atoms.h"
#include "tests/data/trajectory.h"
#include "weyl/core/json.h"
#include "weyl/core/units.h"

namespace weyl {
namespace units_test {

using namespace atoms;

const std::string chain = "data.molecules.elements='[\"H\",\"C\",\"O\"]' train.steps=2 --quiet ";

/// data/{train,valid,test}.xyz of trajectories, and c.toml.
std::string with_trajectory(const std::string& name, double energy, double forces) {
  const std::string folder = scratch(name);
  std::filesystem::create_directories(folder + "/data");
  write(folder + "/data/train.xyz", scaled(trajectory_frames(60), energy, forces));
  write(folder + "/data/valid.xyz", scaled(trajectory_frames(10, 2), energy, forces));
  write(folder + "/data/test.xyz", scaled(trajectory_frames(10, 3), energy, forces));
  std::ofstream(folder + "/c.toml") << config;
  return folder;
}

void expect_one_line(const Outcome& outcome, int code, const std::string& words) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(UnitsProgram, ForcesThatDoNotFitTheEnergiesAreDoubtedUntilTheirUnitIsSaid) {
  const double atomic = unit_factor("eV/Angstrom", "Hartree/Bohr");
  const std::string folder = with_trajectory("units-refused", 1, atomic);
  const std::string doubt =
      "forces in Hartree/Bohr beside energies in eV (data.molecules: force_unit = \"Hartree/Bohr\")";
  expect_one_line(weyl_program("train c.toml --strict " + chain + "--out run", folder), 2, doubt);
  EXPECT_FALSE(std::filesystem::exists(folder + "/run"));
  const Outcome doubted = weyl_program("train c.toml " + chain + "--out doubted", folder);
  EXPECT_EQ(doubted.code, 0) << doubted.err;
  EXPECT_NE(contents(folder + "/doubted/log.txt").find(doubt), std::string::npos);
  const Outcome seen = weyl_program("data inspect data --json", folder);
  ASSERT_EQ(seen.code, 0) << seen.err;
  EXPECT_NE(
      Json::parse(seen.out, "stdout").find("warnings")->items().at(0).string_or("").find("Hartree/Bohr"),
      std::string::npos)
      << seen.out;
  const Outcome trained =
      weyl_program("train c.toml data.molecules.force_unit=Hartree/Bohr " + chain + "--out run", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(weyl_program("eval run --quiet", folder).code, 0);  // the run's config loads again

  // Predictions are in the unit of the forces of the training data, and say so; what a file says goes before it.
  const Outcome done = weyl_program("predict run data/valid.xyz --out out.xyz --dtype float64", folder);
  ASSERT_EQ(done.code, 0) << done.err;
  auto said = read(folder + "/data/valid.xyz");
  for (AtomsFrame& frame : said) {
    frame.set(FrameValue{"energy_unit", {}, std::vector<std::string>{"eV"}});
  }
  write(folder + "/said.xyz", said);
  const Outcome again = weyl_program("predict run said.xyz --out again.xyz --dtype float64", folder);
  ASSERT_EQ(again.code, 0) << again.err;
  const auto own = read(folder + "/out.xyz"), plain = read(folder + "/again.xyz");
  const auto text_of = [](const AtomsFrame& frame, const char* name) {
    const FrameValue* value = frame.value(name);
    return value == nullptr ? std::string() : std::get<std::vector<std::string>>(value->values).at(0);
  };
  EXPECT_EQ(text_of(own[0], "force_unit"), "Hartree/Bohr");
  EXPECT_EQ(text_of(own[0], "energy_unit"), "eV");
  EXPECT_EQ(text_of(plain[0], "force_unit"), "");
  const auto a = *reals_of(own[0].column("weyl_forces")->values),
             b = *reals_of(plain[0].column("weyl_forces")->values);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i] * atomic, 1e-9 * std::abs(a[i]) + 1e-15);
  }
  EXPECT_EQ(*reals_of(own[0].value("weyl_energy")->values), *reals_of(plain[0].value("weyl_energy")->values));
  // Every reader knows the labels for what they are.
  const Outcome converted = weyl_program("data convert out.xyz eV.xyz to=eV", folder);
  ASSERT_EQ(converted.code, 0) << converted.err;
  const auto label = *reals_of(read(folder + "/eV.xyz")[0].column("forces")->values),
             expected = *reals_of(trajectory_frames(10, 2)[0].column("forces")->values);
  for (size_t i = 0; i < label.size(); ++i) {
    EXPECT_NEAR(label[i], expected[i], 1e-9);
  }
  const auto predicted = *reals_of(read(folder + "/eV.xyz")[0].column("weyl_forces")->values);
  for (size_t i = 0; i < predicted.size(); ++i) {
    EXPECT_NEAR(predicted[i], b[i], 1e-9 * std::abs(b[i]) + 1e-15);
  }
}

TEST(UnitsProgram, GradientsAreDoubtedAsForces) {
  const std::string folder = with_trajectory("units-gradients", 1, -1);
  expect_one_line(
      weyl_program("train c.toml --strict " + chain + "--out run", folder), 2,
      "the gradient of the energy in place of the forces (data.molecules: force_sign = \"gradient\")");
  const Outcome trained =
      weyl_program("train c.toml data.molecules.force_sign=gradient " + chain + "--out run", folder);
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(weyl_program("eval run --quiet", folder).code, 0);
}

TEST(UnitsProgram, WhatIsNoUnitOrHasNoEffectIsRefused) {
  const std::string folder = with_trajectory("units-wrong", 1, 1);
  const auto refused = [&](const std::string& option, const std::string& words) {
    expect_one_line(weyl_program("train c.toml " + option + " " + chain + "--out run", folder), 2, words);
  };
  refused("task.force_field.units=kcal",
          "task.force_field.units: must be an energy: unit 'kcal': must be of one "
          "molecule's size");
  refused("task.force_field.units=kcal", "did you mean 'kcal/mol'?");
  refused("data.molecules.energy_unit=kcal", "data.molecules.energy_unit: unit 'kcal'");
  refused("data.molecules.energy_unit=Hartre", "did you mean 'Hartree'?");
  refused("data.molecules.force_unit=Hartree", "did you mean 'Hartree/Angstrom'?");
  refused("data.molecules.stress_unit=GPa", "data.molecules.stress_unit: has no effect");
  refused("data.molecules.stress_sign=vasp", "data.molecules.stress_sign: has no effect");
  expect_one_line(weyl_program("train c.toml data.molecules.energy=Energy " + chain + "--out run", folder), 3,
                  "no frame has 'Energy' (data.molecules.energy); values: of 60 frames 60 have 'energy'");
}

TEST(UnitsProgram, FoldersAreInspectedPastABadFile) {
  const std::string folder = with_trajectory("units-folder", 1, 1);
  std::filesystem::create_directories(folder + "/many");
  std::filesystem::rename(folder + "/data/valid.xyz", folder + "/many/b.xyz");
  std::ofstream(folder + "/many/a.xyz") << "2\n\nO 0 0 0\n";
  const Outcome seen = weyl_program("data inspect many --json", folder);
  ASSERT_EQ(seen.code, 0) << seen.err;
  const Json json = Json::parse(seen.out, "stdout");
  EXPECT_EQ(json.find("samples")->number_or(0), 10);
  EXPECT_TRUE(json.find("warnings")->items().at(0).string_or("").starts_with("many/a.xyz: frame 1"))
      << seen.out;
  std::filesystem::remove(folder + "/many/b.xyz");
  expect_one_line(weyl_program("data inspect many", folder), 3, "many/a.xyz: frame 1");
  std::filesystem::create_directories(folder + "/none");
  expect_one_line(weyl_program("data inspect none", folder), 3, "none: is an empty folder");
  std::ofstream(folder + "/none/a.ply") << "ply\nformat ascii 1.0\n";
  expect_one_line(weyl_program("data inspect none/a.ply", folder), 3, "none/a.ply: ");
}

}  // namespace units_test
}  // namespace weyl
