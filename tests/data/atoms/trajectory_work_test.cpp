// Energies of a trajectory change by the work of its forces: units and signs that do not fit are found by it.
#include "weyl/data/atoms/trajectory_work.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/data/folder.h"
#include "tests/data/trajectory.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/makers/molecules/molecules.h"
#include "weyl/makers/molecules/xtb.h"

namespace weyl {
namespace trajectory_work_test {

TEST(TrajectoryWork, OfOneSystemOfUnitsFits) {
  const auto law = work_law(trajectory_frames(120));
  ASSERT_TRUE(law);
  EXPECT_GE(law->pairs, 55);
  EXPECT_EQ(law->atoms, 4);
  EXPECT_GT(law->correlation, 0.98);
  EXPECT_NEAR(law->slope, 1, 0.05);
  EXPECT_NEAR(law->spread, 1, 0.05);
  EXPECT_FALSE(law->is_wrong());
}

TEST(TrajectoryWork, OfOthersIsRefusedWithTheLikelyUnit) {
  const auto frames = trajectory_frames(120);
  const double kcal = unit_factor("eV", "kcal/mol"), hartree = unit_factor("eV", "Hartree"),
               atomic = unit_factor("eV/Angstrom", "Hartree/Bohr");
  const auto fault = [&](double energy, double forces) {
    const auto law = work_law(scaled(frames, energy, forces));
    return law && law->is_wrong() ? work_fault(*law, "data.molecules") : "(fits)";
  };
  EXPECT_EQ(fault(1, 1), "(fits)");
  EXPECT_EQ(fault(kcal, kcal), "(fits)");
  for (const auto& [energy, forces, words] :
       {std::tuple{1., -1.,
                   "as with the gradient of the energy in place of the forces (data.molecules: force_sign = "
                   "\"gradient\")"},
        {kcal, 1.,
         "as with forces in eV/Angstrom beside energies in kcal/mol (data.molecules: energy_unit = "
         "\"kcal/mol\", force_unit = \"eV/Angstrom\")"},
        {1., kcal,
         "as with forces in kcal/mol/Angstrom beside energies in eV (data.molecules: force_unit = "
         "\"kcal/mol/Angstrom\")"},
        {1., hartree, "forces in Hartree/Angstrom beside energies in eV (data.molecules: force_unit = "},
        {hartree, 1., "forces in eV/Angstrom beside energies in Hartree (data.molecules: energy_unit = "},
        {1., atomic,
         "forces in Hartree/Bohr beside energies in eV (data.molecules: force_unit = "
         "\"Hartree/Bohr\")"},
        {hartree, atomic,
         "forces in Hartree/Bohr beside energies in Hartree (data.molecules: energy_unit = "
         "\"Hartree\", force_unit = \"Hartree/Bohr\")"},
        {1., -atomic, "gradient of the energy in place of the forces, and with forces in Hartree/Bohr"},
        {0.25, 1., "energies per atom in place of those of all atoms"}}) {
    EXPECT_NE(fault(energy, forces).find(words), std::string::npos) << fault(energy, forces);
    EXPECT_NE(fault(energy, forces).find(" pairs of frames that follow one another"), std::string::npos);
  }
  // A factor that nobody knows is said as it is.
  EXPECT_NE(fault(3, 1).find(" times the work of the forces, not once (correlation 0.99"), std::string::npos)
      << fault(3, 1);
  EXPECT_EQ(fault(3, 1).find("as with"), std::string::npos) << fault(3, 1);
  // Within the limits nothing is said, beyond them something.
  EXPECT_EQ(fault(1.15, 1), "(fits)");
  EXPECT_EQ(fault(0.88, 1), "(fits)");
  EXPECT_NE(fault(1.4, 1), "(fits)");
}

TEST(TrajectoryWork, OfPlacesInBohrIsFound) {
  auto frames = trajectory_frames(120);
  for (AtomsFrame& frame : frames) {
    for (double& x : frame.positions) {
      x *= unit_factor("Angstrom", "Bohr");
    }
  }
  const auto law = work_law(frames);
  ASSERT_TRUE(law && law->is_wrong());
  EXPECT_NE(work_fault(*law, "data.molecules").find("places in Bohr (data.molecules: length_unit = \"Bohr\""),
            std::string::npos)
      << work_fault(*law, "data.molecules");
  EXPECT_EQ(work_fault(*law, "").find("length_unit"), std::string::npos);
}

TEST(TrajectoryWork, IsSilentWhereNothingFollows) {
  auto frames = trajectory_frames(120);
  std::mt19937_64 random(2);
  auto shuffled = frames;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  const auto law = work_law(shuffled);
  EXPECT_FALSE(law && law->is_wrong());
  // Forces of something else.
  std::normal_distribution<double> number;
  for (AtomsFrame& frame : frames) {
    std::vector<double> forces(12);
    std::ranges::generate(forces, [&] { return 30 * number(random); });
    frame.set(AtomColumn{"forces", 3, forces});
  }
  ASSERT_TRUE(work_law(frames));
  EXPECT_FALSE(work_law(frames)->is_wrong());
  // Too few, of other atoms each time, at one place.
  EXPECT_FALSE(work_law(trajectory_frames(10)));
  auto mixed = trajectory_frames(60);
  for (size_t i = 0; i < mixed.size(); i += 2) {
    mixed[i].numbers[0] = 9;
  }
  EXPECT_FALSE(work_law(mixed));
  EXPECT_FALSE(work_law(std::vector<AtomsFrame>(60, mixed[0])));
}

// Frames that are shaken one by one follow no trajectory: their work correlates with the energies all the same, but it
// is not that of the way from one to the next.
TEST(TrajectoryWork, IsSilentAboutStructuresThatAreShakenOneByOne) {
  for (const double deviation : {0.05, 0.1, 0.2, 0.3}) {
    std::mt19937_64 random(4);
    std::normal_distribution<double> number(0, deviation);
    std::vector<AtomsFrame> frames = trajectory_frames(1);
    const AtomsFrame at_rest = frames[0];
    frames.assign(200, at_rest);
    for (AtomsFrame& frame : frames) {
      std::ranges::for_each(frame.positions, [&](double& x) { x += number(random); });
      const SinglePoint point = morse_chain(frame.positions);
      frame.set("energy", point.energy);
      frame.set(AtomColumn{"forces", 3, point.forces});
    }
    const auto law = work_law(frames);
    ASSERT_TRUE(law);
    EXPECT_NEAR(law->onward, 1, 0.2) << deviation;
    EXPECT_FALSE(law->is_wrong()) << deviation << ": " << work_fault(*law, "");
  }
  const auto law = work_law(trajectory_frames(120));
  EXPECT_GT(law->onward, 2.5);  // above the limits, of which 2.25 is the larger
}

/// The curve of a dimer, energies and forces exact, by a Morse bond: eV, Angstrom.
void add_curve(std::vector<AtomsFrame>& frames, int element, double depth, double rest, double step) {
  constexpr double steep = 1.6;
  for (double r = 1; r < 5.01; r += step) {
    const double e = std::exp(-steep * (r - rest)), slope = 2 * depth * steep * (1 - e) * e;
    AtomsFrame frame;
    frame.numbers = {6, element};
    frame.positions = {0, 0, 0, 0, 0, r};
    frame.set("energy", depth * ((1 - e) * (1 - e) - 1));
    frame.set(AtomColumn{"forces", 3, std::vector<double>{0, 0, slope, 0, 0, -slope}});
    frames.push_back(std::move(frame));
  }
}

// The mean of two forces half an Angstrom apart is not that of the way between them: on a steep wall the slopes are half of
// what they should be, and there the works are largest.
TEST(TrajectoryWork, IsSilentAboutCurvesOfLongSteps) {
  for (const double step : {0.1, 0.25, 0.4, 0.5, 0.6}) {
    std::vector<AtomsFrame> frames;
    add_curve(frames, 14, 3, 1.9, step);
    add_curve(frames, 6, 5, 1.4, step);
    add_curve(frames, 32, 4, 1.6, step);
    const auto law = work_law(frames);
    ASSERT_TRUE(law) << step;
    EXPECT_FALSE(law->is_wrong()) << step << ": " << work_fault(*law, "");
    const auto wrong = work_law(scaled(frames, unit_factor("eV", "kcal/mol"), 1));
    EXPECT_TRUE(wrong && wrong->is_wrong()) << step;
  }
  // Walls alone.
  std::vector<AtomsFrame> walls;
  for (const int element : {6, 7, 8, 9, 14}) {
    add_curve(walls, element, 4, 4.5, 0.6);
    walls.resize(walls.size() - 3);
  }
  const auto law = work_law(walls);
  ASSERT_TRUE(law);
  EXPECT_FALSE(law->is_wrong()) << work_fault(*law, "");
}

TEST(TrajectoryWork, OfTheReportedCurvesFits) {
  const auto reader = open_frames(WEYL_SOURCE_DIR "/tests/fixtures/reports/02a_dimer_curves_0.5A.xyz");
  std::vector<AtomsFrame> frames;
  for (AtomsFrame frame; reader->next(frame);) {
    frames.push_back(frame);
  }
  ASSERT_EQ(frames.size(), 27u);
  const auto law = work_law(frames);
  ASSERT_TRUE(law);
  EXPECT_FALSE(law->is_wrong()) << work_fault(*law, "");
}

TEST(TrajectoryWork, AFewLongStepsDecideNothing) {
  WorkLaw law{.pairs = 15,
              .atoms = 8,
              .correlation = 0.97,
              .slope = 0.5,
              .spread = 0.59,
              .onward = 2.98,
              .below = 0.4};
  EXPECT_FALSE(law.is_wrong());
  law.below = 0.7;
  EXPECT_TRUE(law.is_wrong());
  law.onward = 4;  // a scan, whose forces allow the changes
  EXPECT_FALSE(law.is_wrong());
  law.beyond = 0.5;
  EXPECT_TRUE(law.is_wrong());
}

TEST(TrajectoryWork, ASlopeThatNoUnitsHaveMustBeOfFramesThatAreClose) {
  WorkLaw law{.pairs = 32,
              .atoms = 8,
              .correlation = 0.995,
              .slope = 0.784,
              .spread = 0.76,
              .onward = 1.72,
              .below = 1};
  EXPECT_FALSE(law.is_wrong());  // of long steps of a relaxation
  law.onward = 2;
  EXPECT_FALSE(law.is_wrong());
  law.onward = 2.5;
  EXPECT_TRUE(law.is_wrong());
  law.onward = 2;
  law.slope = law.spread = 1.89;  // places in Bohr
  law.below = 0;
  law.above = 1;
  EXPECT_TRUE(law.is_wrong());
  law.slope = law.spread = -1;
  law.below = 1;
  EXPECT_TRUE(law.is_wrong());
}

TEST(TrajectoryWork, DoesNotCompareWhatDigitsDoNotTell) {
  auto frames = trajectory_frames(120);
  ASSERT_TRUE(work_law(frames));
  for (AtomsFrame& frame : frames) {
    frame.set("energy", std::round(reals_of(frame.value("energy")->values)->front()));
  }
  EXPECT_FALSE(work_law(frames));
}

TEST(TrajectoryWork, OneBrokenFrameDoesNotDecide) {
  for (const auto& [energy, force] : {std::pair{-1234., 1.}, {-2000., 1e30}, {-1e9, 1e9}, {NAN, 1.}}) {
    auto frames = trajectory_frames(120);
    frames[40].set("energy", energy);
    auto forces = *reals_of(frames[40].column("forces")->values);
    forces[2] *= force;
    frames[40].set(AtomColumn{"forces", 3, forces});
    const auto law = work_law(frames);
    ASSERT_TRUE(law);
    EXPECT_NEAR(law->slope, 1, 0.05) << energy;
    EXPECT_GT(law->correlation, 0.98) << energy;
    const auto wrong = work_law(scaled(frames, 1, unit_factor("eV", "Hartree")));
    EXPECT_TRUE(wrong && wrong->is_wrong()) << energy;
  }
}

TEST(TrajectoryWork, OfPeriodicAtomsThatLeaveTheCellGoesToTheNearestImage) {
  const auto plain = trajectory_frames(120);
  auto wrapped = plain;
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> image(-2, 2);
  const std::array<double, 9> cell{1.7, 0, 0, 0.3, 1.9, 0, -0.2, 0.1, 2.1};
  for (AtomsFrame& frame : wrapped) {
    frame.cell = cell;
    frame.pbc = {true, true, true};
    for (size_t i = 0; i < 12; ++i) {  // any image of each atom
      const int turns = image(random);
      for (size_t k = 0; k < 3; ++k) {
        frame.positions[i / 3 * 3 + k] += turns * cell[i % 3 * 3 + k];
      }
    }
  }
  const auto law = work_law(wrapped), expected = work_law(plain);
  ASSERT_TRUE(law && expected);
  EXPECT_NEAR(law->slope, expected->slope, 1e-9);
  EXPECT_NEAR(law->correlation, expected->correlation, 1e-9);
  for (AtomsFrame& frame : wrapped) {  // without images the steps are none
    frame.cell.reset();
    frame.pbc = {};
  }
  EXPECT_LT(std::abs(work_law(wrapped)->correlation), 0.9);
}

// What our own maker writes, in the order of time and as MD17's protocol draws it.
TEST(TrajectoryWork, OfTheMakersFramesFits) {
  if (xtb_version().empty()) {
    GTEST_SKIP() << "no xtb library";
  }
  const Folder folder;
  ASSERT_TRUE(
      make_molecules({.molecule = "ethanol", .frames = 80, .train = 0, .valid = 0, .equilibration = 100},
                     folder / "ordered"));
  ASSERT_TRUE(
      make_molecules({.molecule = "ethanol", .frames = 80, .train = 60, .valid = 10, .equilibration = 100},
                     folder / "drawn"));
  const auto frames_of = [&](const std::string& path) {
    const auto reader = open_frames(path);
    std::vector<AtomsFrame> frames;
    for (AtomsFrame frame; reader->next(frame);) {
      frames.push_back(frame);
    }
    return frames;
  };
  const auto ordered = frames_of(folder / "ordered/all.extxyz");
  const auto law = work_law(ordered);
  ASSERT_TRUE(law);
  EXPECT_GT(law->correlation, 0.9);
  EXPECT_FALSE(law->is_wrong()) << work_fault(*law, "");
  const auto gradients = work_law(scaled(ordered, 1, -1));
  EXPECT_TRUE(gradients && gradients->is_wrong());
  const auto drawn = work_law(frames_of(folder / "drawn/train.extxyz"));
  EXPECT_FALSE(drawn && drawn->is_wrong()) << work_fault(*drawn, "");
}

}  // namespace trajectory_work_test
}  // namespace weyl
