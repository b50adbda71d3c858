// Energies and stresses of other units are doubted, and those of the right ones are not.
#include "weyl/data/atoms/unit_doubts.h"

#include <gtest/gtest.h>

#include "tests/data/trajectory.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/frame_reader.h"

namespace weyl {
namespace unit_doubts_test {

const std::string reports = WEYL_SOURCE_DIR "/tests/fixtures/reports/";

/// The frames of a file, as they would be added, their numbers times factors.
std::vector<WorkFrame> frames_of(const std::string& path, double stress = 1) {
  std::vector<WorkFrame> all;
  const auto reader = open_frames(path);
  for (AtomsFrame frame; reader->next(frame);) {
    WorkFrame work{.kinds = {frame.numbers.begin(), frame.numbers.end()},
                   .positions = frame.positions,
                   .cell = frame.cell,
                   .pbc = frame.pbc,
                   .energy = reals_of(frame.value("energy")->values)->front(),
                   .forces = *reals_of(frame.column("forces")->values)};
    const auto numbers = *reals_of(frame.value("stress")->values);
    for (size_t i = 0; i < 9; ++i) {
      work.stress = work.stress.value_or(std::array<double, 9>{});
      (*work.stress)[i] = stress * numbers[i];
    }
    all.push_back(std::move(work));
  }
  return all;
}

/// The likely units, "energy_unit=kcal/mol".
std::string doubted(const std::vector<WorkFrame>& frames, const std::string& energy = "eV",
                    const std::string& stress = "eV/Angstrom^3") {
  UnitDoubts doubts(energy, stress);
  for (const WorkFrame& frame : frames) {
    doubts.add(frame);
  }
  std::string words;
  for (const UnitDoubt& doubt : doubts.doubts("data.molecules")) {
    words += (words.empty() ? "" : ", ") + doubt.key + "=" + doubt.unit;
    if (!doubt.key.empty()) {
      EXPECT_TRUE(doubt.line.ends_with("(data.molecules: " + doubt.key + " = \"" + doubt.unit + "\")"))
          << doubt.line;
    }
  }
  return words;
}

TEST(UnitDoubts, OfStresses) {
  const auto right = frames_of(reports + "04_truth_nine.xyz");
  EXPECT_EQ(doubted(right), "");
  EXPECT_EQ(doubted(frames_of(reports + "11_stress_in_GPa_nothing_said.xyz")), "stress_unit=GPa");
  for (const char* unit : {"GPa", "kbar", "Hartree/Bohr^3"}) {
    const double factor = unit_factor("eV/Angstrom^3", unit);
    EXPECT_EQ(doubted(frames_of(reports + "04_truth_nine.xyz", factor)), std::string("stress_unit=") + unit);
  }
  // The option says GPa, and what is read so are eV/Angstrom^3.
  EXPECT_EQ(
      doubted(frames_of(reports + "04_truth_nine.xyz", unit_factor("GPa", "eV/Angstrom^3")), "eV", "GPa"),
      "stress_unit=eV/Angstrom^3");
}

TEST(UnitDoubts, StressesThatSayNothing) {
  auto wrong = frames_of(reports + "11_stress_in_GPa_nothing_said.xyz");
  for (WorkFrame& frame : wrong) {
    frame.energy = NAN;  // which fits the forces, and not those that follow
  }
  EXPECT_EQ(doubted(wrong), "stress_unit=GPa");
  // Perfect crystals under load, without forces; a stress of zero for want of one; a few frames; a slab.
  auto frames = wrong;
  for (WorkFrame& frame : frames) {
    std::ranges::for_each(frame.forces, [](double& x) { x *= 1e-3; });
  }
  EXPECT_EQ(doubted(frames), "");
  frames = wrong;
  for (WorkFrame& frame : frames) {
    frame.stress->fill(0);
  }
  EXPECT_EQ(doubted(frames), "");
  frames = wrong;
  for (WorkFrame& frame : frames) {
    frame.pbc[2] = false;
  }
  EXPECT_EQ(doubted(frames), "");
  EXPECT_EQ(doubted({wrong.begin(), wrong.begin() + 7}), "");
  // Pressure alone, however much.
  frames = frames_of(reports + "04_truth_nine.xyz");
  for (WorkFrame& frame : frames) {
    for (const size_t i : {0, 4, 8}) {
      (*frame.stress)[i] += 40;
    }
  }
  EXPECT_EQ(doubted(frames), "");
  // A shear of the cell, which has a stress and no forces: each frame by another one, of up to 10 GPa.
  frames = frames_of(reports + "04_truth_nine.xyz");
  for (size_t f = 0; f < frames.size(); ++f) {
    const double shear = 0.06 * (static_cast<double>(f % 11) - 5) / 5;
    (*frames[f].cell)[1] += shear * (*frames[f].cell)[4];
    (*frames[f].stress)[1] += shear;
    (*frames[f].stress)[3] += shear;
  }
  EXPECT_EQ(doubted(frames), "");
}

/// A large cell of diamond under shears of up to 2 %, which add more to the stress than the motion of its atoms does.
TEST(UnitDoubts, StrainedFramesAreNotOfOneCell) {
  constexpr size_t atoms = 216;
  constexpr double length = 10.7, modulus = 3.7;  // Angstrom, eV/Angstrom^3
  std::vector<WorkFrame> frames;
  for (const double shear :
       {0.0, 0.0095, -0.0095, 0.012, -0.012, 0.0145, -0.0145, 0.017, -0.017, 0.0195, -0.0195}) {
    WorkFrame frame{.kinds = std::vector<int64_t>(atoms, 6),
                    .positions = std::vector<double>(3 * atoms),
                    .cell = std::array{length, shear * length, 0.0, 0.0, length, 0.0, 0.0, 0.0, length},
                    .pbc = {true, true, true},
                    .energy = NAN,
                    .forces = std::vector<double>(3 * atoms),
                    .stress = std::array{0.001, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.001}};
    for (size_t i = 0; i < atoms; ++i) {
      frame.forces[3 * i] = i % 2 == 0 ? 0.16 : -0.16;
    }
    (*frame.stress)[1] = (*frame.stress)[3] = modulus * shear;
    frames.push_back(std::move(frame));
  }
  EXPECT_EQ(doubted(frames), "");
}

/// Small molecules whose total energies, of all electrons, are in a unit.
std::vector<WorkFrame> molecules(const std::string& unit, double part = 1) {
  struct Molecule {
    std::vector<int64_t> kinds;
    double hartree;  // B3LYP/6-31G(2df,p), as QM9 has them
  };
  const std::vector<Molecule> all{{{6, 1, 1, 1, 1}, -40.47893}, {{7, 1, 1, 1}, -56.525887},
                                  {{8, 1, 1}, -76.404702},      {{6, 6, 1, 1}, -77.308427},
                                  {{6, 7, 1}, -93.411888},      {{6, 8, 1, 1}, -114.483613}};
  std::vector<WorkFrame> frames;
  for (int i = 0; i < 12; ++i) {
    const Molecule& one = all[static_cast<size_t>(i) % all.size()];
    frames.push_back({.kinds = one.kinds,
                      .positions = std::vector<double>(3 * one.kinds.size()),
                      .energy = part * one.hartree * unit_factor("Hartree", unit)});
  }
  return frames;
}

TEST(UnitDoubts, OfEnergies) {
  EXPECT_EQ(doubted(molecules("eV")), "");
  for (const char* unit : {"kcal/mol", "kJ/mol", "Hartree", "Rydberg", "meV"}) {
    EXPECT_EQ(doubted(molecules(unit)), std::string("energy_unit=") + unit);
  }
  // Of valence electrons, and of bonds, whatever the unit.
  for (const char* unit : {"eV", "kcal/mol", "Hartree"}) {
    EXPECT_EQ(doubted(molecules(unit, 0.2)), "") << unit;
    EXPECT_EQ(doubted(molecules(unit, 0.015)), "") << unit;
  }
  // Read as kcal/mol they are 1/23 of the sum.
  auto frames = molecules("eV");
  for (WorkFrame& frame : frames) {
    frame.energy *= unit_factor("kcal/mol", "eV");
  }
  EXPECT_EQ(doubted(frames, "kcal/mol"), "energy_unit=eV");
  // Dichloromethane with pseudopotentials, in eV: by chance what all electrons have in Hartree.
  std::vector<WorkFrame> chance;
  for (int i = 0; i < 12; ++i) {
    chance.push_back(
        {.kinds = {6, 17, 17, 1, 1}, .positions = std::vector<double>(15), .energy = -960.0 + i});
  }
  EXPECT_EQ(doubted(chance), "");
  // Some frames without energies, and elements that are not known, are no matter; a few frames are too few.
  frames = molecules("kcal/mol");
  frames[3].energy = NAN;
  EXPECT_EQ(doubted(frames), "energy_unit=kcal/mol");
  frames.resize(7);
  EXPECT_EQ(doubted(frames), "");
  for (WorkFrame& frame : frames = molecules("kcal/mol")) {
    std::ranges::fill(frame.kinds, 0);
  }
  EXPECT_EQ(doubted(frames), "");
}

}  // namespace unit_doubts_test
}  // namespace weyl
