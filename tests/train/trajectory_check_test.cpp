// Energies and forces of a trajectory that are not of one system of units are doubted before they are learned.
#include "weyl/train/preflight/data_checks.h"

#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "tests/data/trajectory.h"
#include "weyl/core/check.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/open.h"

namespace weyl {
namespace trajectory_check_test {

class TrajectoryCheck : public ::testing::Test {
 protected:
  void SetUp() override { recipe.task.task = ForceFieldOptions{}; }

  /// The set of a file of such frames, drawn at random: its training samples are seldom steps of one another.
  MoleculesDataOptions written(const std::vector<AtomsFrame>& frames,
                               const std::string& name = "a.xyz") const {
    ExtendedXyzWriter out(folder_ / name);
    for (const AtomsFrame& frame : frames) {
      out.write(frame);
    }
    out.commit();
    MoleculesDataOptions o;
    o.path = folder_ / name;
    o.train = 30;
    o.valid = 10;
    return o;
  }

  std::string fault(const MoleculesDataOptions& options) {
    recipe.data.set = options;
    const Splits splits = open_splits(recipe.data, nullptr);
    const auto lines = warnings_about_units(recipe, *splits.train);
    EXPECT_LE(lines.size(), 1);
    return lines.empty() ? "" : lines.front();
  }

  Recipe recipe;

 private:
  Folder folder_;
};

TEST_F(TrajectoryCheck, DoubtsForcesInOtherUnits) {
  const auto frames = trajectory_frames(120);
  EXPECT_EQ(fault(written(frames)), "");
  auto o = written(scaled(frames, 1, unit_factor("eV/Angstrom", "Hartree/Bohr")), "b.xyz");
  const std::string said = fault(o);
  EXPECT_TRUE(
      said.starts_with(o.path + ": energies and forces seem not to be of one system of units: along "))
      << said;
  EXPECT_TRUE(
      said.ends_with("as with forces in Hartree/Bohr beside energies in eV (data.molecules: force_unit = "
                     "\"Hartree/Bohr\")"))
      << said;
  o.force_unit = "Hartree/Bohr";
  EXPECT_EQ(fault(o), "");
  o = written(scaled(frames, 1, -1), "c.xyz");
  EXPECT_NE(fault(o).find("force_sign = \"gradient\""), std::string::npos) << fault(o);
  o.force_sign = ForceSign::gradient;
  EXPECT_EQ(fault(o), "");
  o = written(scaled(frames, unit_factor("eV", "kcal/mol"), 1), "d.xyz");
  EXPECT_NE(fault(o).find("energy_unit = \"kcal/mol\", force_unit = \"eV/Angstrom\""), std::string::npos)
      << fault(o);
  o.energy_unit = "kcal/mol";
  EXPECT_NE(fault(o), "");  // which makes forces kcal/mol/Angstrom, too
  o.force_unit = "eV/Angstrom";
  EXPECT_EQ(fault(o), "");
}

TEST_F(TrajectoryCheck, DoubtsNoExactCurves) {
  MoleculesDataOptions o;
  o.path = WEYL_SOURCE_DIR "/tests/fixtures/reports/02a_dimer_curves_0.5A.xyz";
  o.train = 20;
  o.valid = 4;
  EXPECT_EQ(fault(o), "");
  o.energy_unit = "kcal/mol";  // whatever the unit of both
  EXPECT_EQ(fault(o), "");
  o.force_unit = "eV/Angstrom";  // which they are not
  EXPECT_NE(fault(o), "");
}

TEST_F(TrajectoryCheck, IsOfTrainingsThatLearnBoth) {
  const auto o = written(scaled(trajectory_frames(120), 1, -1));
  EXPECT_NE(fault(o), "");
  ForceFieldOptions task;
  task.energy_weight = 0;
  recipe.task.task = task;
  EXPECT_EQ(fault(o), "");
  task = {};
  task.forces = ForceSource::none;
  recipe.task.task = task;
  EXPECT_EQ(fault(o), "");
  task = {};
  task.force_weight = 0;
  recipe.task.task = task;
  EXPECT_EQ(fault(o), "");
  recipe.task.task = PropertyOptions{.targets = {"energy"}};
  EXPECT_EQ(fault(o), "");
}

/// Stresses whose unit nobody gives are read in those of energies and lengths.
TEST_F(TrajectoryCheck, DoubtsStressesInTheUnitsThatTheyAreReadIn) {
  MoleculesDataOptions o;
  o.path = WEYL_SOURCE_DIR "/tests/fixtures/reports/11_stress_in_GPa_nothing_said.xyz";
  ForceFieldOptions task;
  task.energy_weight = 0;
  task.stress = true;
  recipe.task.task = task;
  const std::string line = "stresses seem to be in GPa, not ",
                    advice = "(data.molecules: stress_unit = \"GPa\")";
  EXPECT_NE(fault(o).find(line + "eV/Angstrom^3: "), std::string::npos) << fault(o);
  EXPECT_TRUE(fault(o).ends_with(advice)) << fault(o);
  o.energy_unit = "Hartree";
  o.force_unit = "eV/Angstrom";
  EXPECT_NE(fault(o).find(line + "Hartree/(Angstrom)^3: "), std::string::npos) << fault(o);
  EXPECT_TRUE(fault(o).ends_with(advice)) << fault(o);
  o.stress_unit = "GPa";
  EXPECT_EQ(fault(o), "");
  // Forces that are not learned are what a stress is compared with; a stress that is not learned is no matter.
  o.stress_unit.clear();
  task.force_weight = 0;
  recipe.task.task = task;
  EXPECT_TRUE(fault(o).ends_with(advice)) << fault(o);
  task.force_weight = 1;
  task.stress_weight = 0;
  recipe.task.task = task;
  EXPECT_EQ(fault(o), "");
}

TEST_F(TrajectoryCheck, KnowsNothingOfFramesThatDoNotFollow) {
  auto frames = scaled(trajectory_frames(120), 1, unit_factor("eV/Angstrom", "Hartree/Bohr"));
  for (size_t i = 0; i < frames.size(); i += 2) {  // of other molecules each time
    frames[i].numbers[0] = 9;
  }
  EXPECT_EQ(fault(written(frames)), "");
  EXPECT_EQ(fault(written(trajectory_frames(41), "few.xyz")), "");
}

}  // namespace trajectory_check_test
}  // namespace weyl
