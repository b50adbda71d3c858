// Labels of frames are converted from the units that files and options say.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>

#include "tests/data/molecules.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"

namespace weyl {
namespace frame_units_test {

constexpr const char* in_cell = " Lattice=\"4 0 0 0 4 0 0 0 4\" ";

TEST_F(Molecules, AreConvertedFromTheUnitsOfTheFile) {
  const auto path =
      file("a.xyz", frame("energy=2 stress=\"1 0 0 0 1 0 0 0 1\" Lattice=\"4 0 0 0 4 0 0 0 4\""));
  MoleculesDataOptions o;
  o.energy_unit = "kcal/mol";
  o.length_unit = "Bohr";
  const Batch batch = all_of(*whole(path, o));
  const double kcal = 4184 / 96485.33212331, bohr = 0.529177210544;
  EXPECT_NEAR(batch.labels.at("energy").item<double>(), 2 * kcal, 1e-9);
  EXPECT_NEAR(batch.labels.at("forces")[0][0][2].item<double>(), 3 * kcal / bohr, 1e-8);
  EXPECT_NEAR(batch.labels.at("stress")[0][0][1][1].item<double>(), kcal / std::pow(bohr, 3), 1e-8);
  EXPECT_NEAR(points_of(batch).positions[0][2].item<double>(), 1.5 * bohr, 1e-9);
  EXPECT_NEAR(points_of(batch).cell[0][1][1].item<double>(), 4 * bohr, 1e-9);
  o.energy_unit = "Angstrom";
  EXPECT_NE(refusal<ConfigError>(path, o).find("measure different things"), std::string::npos);
}

TEST_F(Molecules, AreConvertedFromTheUnitsThatTheFileSays) {
  const auto path = file("a.xyz", frame("energy=2 energy_unit=kcal/mol length_unit=Bohr"));
  const Batch batch = all_of(*whole(path));
  const double kcal = 4184 / 96485.33212331, bohr = 0.529177210544;
  EXPECT_NEAR(batch.labels.at("energy").item<double>(), 2 * kcal, 1e-9);
  EXPECT_NEAR(batch.labels.at("forces")[0][0][2].item<double>(), 3 * kcal / bohr, 1e-8);
  EXPECT_NEAR(points_of(batch).positions[0][2].item<double>(), 1.5 * bohr, 1e-9);
  MoleculesDataOptions o;
  o.energy_unit = "kcal / mol";
  EXPECT_EQ(refusal(path, o), "(accepted)");
  o.energy_unit = "eV";
  EXPECT_NE(refusal(path, o).find("a.xyz: frame 1, line 1: the file says 'kcal/mol', "
                                  "data.molecules.energy_unit says 'eV'"),
            std::string::npos)
      << refusal(path, o);
  // An SDF says no unit, but its format knows no other: a training set's Bohr is not read into it.
  const auto sdf = file("a.sdf",
                        "hydrogen\n\n\n  2  0  0  0  0  0  0  0  0  0999 V2000\n"
                        "    0.0000    0.0000    0.0000 H   0  0\n"
                        "    0.0000    0.0000    0.7400 H   0  0\nM  END\n$$$$\n");
  o = {};
  o.length_unit = "Angstrom";
  EXPECT_EQ(refusal(sdf, o), "(accepted)");
  o.length_unit = "Bohr";
  EXPECT_NE(refusal(sdf, o).find("the file says 'Angstrom', data.molecules.length_unit says 'Bohr'"),
            std::string::npos)
      << refusal(sdf, o);
  o = {};
  o.properties = {{"gap", "xyz"}};
  EXPECT_NE(refusal<ConfigError>(path, o).find("data.molecules.properties: gap: unit 'xyz'"),
            std::string::npos)
      << refusal<ConfigError>(path, o);
}

TEST_F(Molecules, ForcesAndStressMayHaveUnitsOfTheirOwn) {
  const auto path = file("a.xyz", frame(std::string("energy=-10 stress=\"1 2 3 4 5 6\"") + in_cell));
  MoleculesDataOptions o;
  o.force_unit = "Hartree/Bohr";
  o.stress_unit = "GPa";
  const Batch batch = all_of(*whole(path, o));
  EXPECT_EQ(batch.labels.at("energy").item<double>(), -10);
  EXPECT_NEAR(batch.labels.at("forces")[0][0][1].item<double>(), 2 * 51.4220675, 1e-5);
  EXPECT_NEAR(batch.labels.at("stress")[0][0][2][2].item<double>(), 3 / 160.2176634, 1e-12);
  EXPECT_EQ(points_of(batch).positions[0][2].item<double>(), 1.5);
  o.stress_unit = "kbar";
  EXPECT_NEAR(all_of(*whole(path, o)).labels.at("stress")[0][0][2][2].item<double>(), 0.3 / 160.2176634,
              1e-12);
  o.energy_unit = "Hartree";  // alone it would be that of forces per Angstrom, too
  const Batch both = all_of(*whole(path, o));
  EXPECT_NEAR(both.labels.at("energy").item<double>(), -272.11386, 1e-4);
  EXPECT_NEAR(both.labels.at("forces")[0][0][1].item<double>(), 2 * 51.4220675, 1e-5);
  o = {};
  o.force_unit = "Hartree";
  EXPECT_NE(
      refusal<ConfigError>(path, o).find("data.molecules.force_unit: units: 'Hartree' and 'eV/Angstrom' "
                                         "measure different things; did you mean 'Hartree/Angstrom'?"),
      std::string::npos)
      << refusal<ConfigError>(path, o);
  o.force_unit = "eV/Angstro";
  EXPECT_NE(refusal<ConfigError>(path, o).find("did you mean 'Angstrom'?"), std::string::npos);
  o = {};
  o.stress_unit = "kB";
  EXPECT_NE(refusal<ConfigError>(path, o).find("data.molecules.stress_unit: unit 'kB'"), std::string::npos);
  o = {};
  o.energy_unit = "kcal";
  EXPECT_TRUE(refusal<ConfigError>(path, o).ends_with("did you mean 'kcal/mol'?"));
}

TEST_F(Molecules, UnitsOfForcesThatTheFileSaysAreNotContradicted) {
  const auto said = file("a.xyz", frame("energy=-10 force_unit=Hartree/Bohr"));
  EXPECT_NEAR(all_of(*whole(said)).labels.at("forces")[0][0][0].item<double>(), 51.4220675, 1e-5);
  MoleculesDataOptions o;
  o.energy_unit = "eV";
  EXPECT_NEAR(all_of(*whole(said, o)).labels.at("forces")[0][0][0].item<double>(), 51.4220675, 1e-5);
  o.force_unit = "eV/Angstrom";
  EXPECT_NE(
      refusal(said, o).find("the file says 'Hartree/Bohr', data.molecules.force_unit says 'eV/Angstrom'"),
      std::string::npos)
      << refusal(said, o);
  // A file that says its energies says its forces.
  const auto energies = file("b.xyz", frame("energy=-10 energy_unit=eV"));
  o = {};
  o.force_unit = "Hartree/Bohr";
  EXPECT_NE(refusal(energies, o).find("the file says 'eV/(Angstrom)', data.molecules.force_unit says"),
            std::string::npos)
      << refusal(energies, o);
  o.force_unit = "eV/A";
  EXPECT_EQ(refusal(energies, o), "(accepted)");
  // A model that is told such frames goes by what they say.
  o.force_unit = "Hartree/Bohr";
  const FrameLayout told = as_told(layout_of({o}), whole(energies)->schema().interface);
  const auto reader = open_frames(energies);
  AtomsFrame first;
  ASSERT_TRUE(reader->next(first));
  EXPECT_EQ(units_of(told, *reader).forces, "eV/(Angstrom)");
  const auto silent = open_frames(file("c.xyz", frame("energy=-10")));
  ASSERT_TRUE(silent->next(first));
  EXPECT_EQ(units_of(told, *silent).forces, "Hartree/Bohr");
}

TEST_F(Molecules, GradientsAndPressuresBecomeForcesAndStress) {
  const auto path = file("a.xyz", frame(std::string("energy=-10 stress=\"1 2 3 4 5 6\"") + in_cell));
  MoleculesDataOptions o;
  o.force_sign = ForceSign::gradient;
  for (const StressSign sign : {StressSign::compression, StressSign::vasp}) {
    o.stress_sign = sign;
    const Batch batch = all_of(*whole(path, o));
    EXPECT_EQ(batch.labels.at("forces")[0][0][2].item<double>(), -3);
    EXPECT_EQ(batch.labels.at("stress")[0][0][1][1].item<double>(), -2);
  }
  o.stress_sign = StressSign::tension;
  EXPECT_EQ(all_of(*whole(path, o)).labels.at("stress")[0][0][1][1].item<double>(), 2);
  // A virial is minus stress times volume already; its unit is an energy.
  const auto virial =
      file("b.xyz", frame(std::string("energy=-10 virial=\"64 0 0 0 64 0 0 0 64\"") + in_cell));
  o = {};
  o.stress_sign = StressSign::vasp;
  EXPECT_NE(
      refusal<ConfigError>(virial, o).find("data.molecules.stress_sign: is of a stress, the frames have "
                                           "'virial'"),
      std::string::npos)
      << refusal<ConfigError>(virial, o);
  o.stress = "virial";
  EXPECT_NE(refusal<ConfigError>(virial, o).find("data.molecules.stress_sign: has no effect"),
            std::string::npos);
  o = {};
  o.stress_unit = "GPa";
  EXPECT_NE(refusal<ConfigError>(virial, o).find("data.molecules.stress_unit: is of a stress"),
            std::string::npos);
  o.stress = "virial";
  EXPECT_NE(refusal<ConfigError>(virial, o).find("measure different things"), std::string::npos);
  o.stress_unit = "Hartree";
  EXPECT_NEAR(all_of(*whole(virial, o)).labels.at("stress")[0][0][0][0].item<double>(), -27.211386, 1e-5);
}

TEST_F(Molecules, UnitsWithoutLabelsHaveNoEffect) {
  MoleculesDataOptions o;
  o.path = file("a.xyz",
                "1\nProperties=species:S:1:pos:R:3 energy=1\nH 0 0 0\n"
                "1\nProperties=species:S:1:pos:R:3 energy=2\nH 0 0 1\n");
  o.train = 1;
  o.valid = 1;
  EXPECT_NO_THROW(open_set(o));
  const auto fault = [&] {
    try {
      open_set(o);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  o.stress_unit = "GPa";
  EXPECT_EQ(
      fault(),
      "data.molecules.stress_unit: has no effect, the frames give no label 'stress'; leave the option out")
      << fault();
  o.stress_unit = "";
  o.stress_sign = StressSign::vasp;
  EXPECT_NE(fault().find("data.molecules.stress_sign: has no effect"), std::string::npos);
  o.stress_sign = StressSign::tension;
  o.force_unit = "Hartree/Bohr";
  EXPECT_NE(fault().find("data.molecules.force_unit: has no effect"), std::string::npos);
  o.force_unit = "";
  o.force_sign = ForceSign::gradient;
  EXPECT_NE(fault().find("data.molecules.force_sign: has no effect"), std::string::npos);
}

}  // namespace frame_units_test
}  // namespace weyl
