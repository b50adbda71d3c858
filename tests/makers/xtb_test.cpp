#include "weyl/makers/molecules/xtb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"
#include "weyl/dynamics/molecular_dynamics.h"
#include "weyl/makers/molecules/molecule_walker.h"

namespace weyl {
namespace xtb_test {

using Numbers = std::vector<double>;

class XtbTest : public testing::Test {
 protected:
  void SetUp() override {
    if (xtb_version().empty()) {
      GTEST_SKIP() << "no xtb library: " << message_of<ConfigError>([] { require_xtb(); });
    }
  }
};

AtomsFrame shaken(const std::string& name, uint64_t seed) {
  AtomsFrame frame = molecule_by_name(name);
  Stream stream(seed, "test");
  for (double& x : frame.positions) {
    x += 0.05 * stream.normal();
  }
  return frame;
}

bool equal(const SinglePoint& a, const SinglePoint& b) {
  return a.energy == b.energy && a.forces == b.forces && a.dipole == b.dipole && a.charges == b.charges;
}

// Numbers of tools/goldens/gfn2.py: another implementation of the method, so they differ by its cut-offs.
TEST_F(XtbTest, AgreesWithAnotherImplementation) {
  Xtb methanol({6, 8, 1, 1, 1, 1}, {.accuracy = 0.001});
  const SinglePoint point = methanol(Numbers{-0.36, 0.02, 0.03, 0.95, -0.07, -0.16, -0.83, -0.90, -0.35,
                                             -0.60, 0.13, 1.09, -0.69, 0.91, -0.55, 1.37, 0.72, 0.11});
  EXPECT_NEAR(point.energy, -223.6287746, 2e-4);
  const Numbers forces{-2.5331101, 0.648397,   -0.2037184, 2.9888033,  -1.9545087, -0.8114341,
                       0.0308647,  0.3661028,  0.050904,   -0.4110222, 0.1107366,  0.1754588,
                       -0.8257476, -0.3747782, 0.3455955,  0.7502118,  1.2040505,  0.4431942};
  for (size_t i = 0; i < forces.size(); ++i) {
    EXPECT_NEAR(point.forces[i], forces[i], 5e-4) << i;
  }
  const std::array<double, 3> dipole{-0.101231, 0.317654, 0.145481};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(point.dipole[i], dipole[i], 2e-4);
  }
  const Numbers charges{0.061336, -0.428584, 0.046892, 0.013514, 0.010492, 0.29635};
  for (size_t i = 0; i < charges.size(); ++i) {
    EXPECT_NEAR(point.charges[i], charges[i], 2e-4);
  }

  Xtb hydroxide({8, 1}, {.charge = -1, .accuracy = 0.001});
  const SinglePoint ion = hydroxide(Numbers{0, 0, -0.1, 0.3, 0.1, 0.85});
  EXPECT_NEAR(ion.energy, -127.3851571, 2e-4);
  EXPECT_NEAR(ion.forces[5], -0.7858123, 5e-4);
  EXPECT_NEAR(ion.charges[0] + ion.charges[1], -1, 1e-8);
}

TEST_F(XtbTest, ForcesAreMinusTheGradient) {
  for (const char* name : {"ethanol", "carbon_dioxide", "benzene"}) {
    AtomsFrame frame = shaken(name, 2);
    Xtb xtb(frame.numbers, {.accuracy = 0.001});
    const Numbers forces = xtb(frame.positions).forces;
    double largest = 0;
    for (const double f : forces) {
      largest = worst_of(largest, std::abs(f));
    }
    constexpr double kStep = 2e-3;
    for (size_t i = 0; i < frame.positions.size(); i += 2) {
      const auto at = [&](double shift) {
        Numbers x = frame.positions;
        x[i] += shift;
        return xtb(x).energy;
      };
      // Fourth order.
      const double slope = (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
      EXPECT_NEAR(-slope, forces[i], 3e-6 * largest) << name << " " << i;
    }
  }
}

TEST_F(XtbTest, NeitherForceNorTorqueOnTheWhole) {
  const AtomsFrame frame = shaken("aspirin", 4);
  const SinglePoint point = Xtb(frame.numbers, {.accuracy = 1e-4})(frame.positions);
  std::array<double, 3> force{}, torque{};
  const auto& x = frame.positions;
  for (size_t i = 0; i < x.size(); i += 3) {
    for (size_t a = 0; a < 3; ++a) {
      const size_t b = (a + 1) % 3, c = (a + 2) % 3;
      force[a] += point.forces[i + a];
      torque[a] += x[i + b] * point.forces[i + c] - x[i + c] * point.forces[i + b];
    }
  }
  for (size_t a = 0; a < 3; ++a) {
    EXPECT_NEAR(force[a], 0, 1e-10);
    EXPECT_NEAR(torque[a], 0, 1e-6);  // of forces of several eV/A
  }
}

TEST_F(XtbTest, IsAFunctionOfPositionsToTheBit) {
  const AtomsFrame a = shaken("ethanol", 5), b = shaken("ethanol", 6);
  Xtb fresh(a.numbers, {}), used(a.numbers, {});
  const SinglePoint point = fresh(a.positions);
  used(b.positions);
  EXPECT_FALSE(equal(used(b.positions), point));
  EXPECT_TRUE(equal(used(a.positions), point));
  Numbers together = a.positions;
  std::copy_n(together.begin(), 3, together.begin() + 3);
  EXPECT_THROW(used(together), DataError);
  EXPECT_TRUE(equal(used(a.positions), point));

  std::array<SinglePoint, 3> points;
  {
    std::vector<std::jthread> threads;
    for (auto& mine : points) {
      threads.emplace_back([&] {
        Xtb own(a.numbers, {});
        for (int i = 0; i < 20; ++i) {
          mine = own(i % 2 == 0 ? b.positions : a.positions);
        }
      });
    }
  }
  for (const auto& mine : points) {
    EXPECT_TRUE(equal(mine, point));
  }
}

TEST_F(XtbTest, VerletKeepsItsEnergy) {
  const AtomsFrame frame = molecule_by_name("water");
  Xtb xtb(frame.numbers, {});
  Numbers masses;
  for (const int z : frame.numbers) {
    masses.push_back(standard_mass(z));
  }
  Stream stream(1, "test");
  MolecularDynamics dynamics(
      masses, 0.5, [&](std::span<const double> x) { return xtb(x); }, frame.positions, Numbers(9));
  dynamics.draw_velocities(500, stream);
  const double energy = dynamics.kinetic_energy() + dynamics.point().energy;
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    dynamics.verlet_step();
    worst = worst_of(worst, std::abs(dynamics.kinetic_energy() + dynamics.point().energy - energy));
  }
  EXPECT_LT(worst / 3, 5e-3) << "eV/atom: a bound of a few meV for bonds of hydrogen at 0.5 fs";
}

TEST_F(XtbTest, RefusesWhatItCannotDo) {
  const auto refused = [](std::vector<int> numbers, Xtb::Options options) {
    return message_of<ConfigError>([&] { Xtb(std::move(numbers), options); });
  };
  EXPECT_EQ(refused({92, 1}, {}), "molecules: GFN2-xTB knows the elements H to Rn, not U");
  EXPECT_EQ(refused({0, 1}, {}), "molecules: GFN2-xTB knows the elements H to Rn, not X");
  EXPECT_NE(refused({}, {}).find("an atom"), std::string::npos);
  EXPECT_EQ(refused({8, 1}, {}),
            "molecules: with charge 0 there are 9 electrons, of which 0 cannot be unpaired; set charge or "
            "unpaired");
  EXPECT_NE(refused({1, 1}, {.charge = 4}).find("-2 electrons"), std::string::npos);
  EXPECT_NE(refused({1, 1}, {.unpaired = 4}).find("of which 4"), std::string::npos);
  EXPECT_EQ(refused({8, 1}, {.unpaired = 1}), "");
  EXPECT_EQ(refused({8, 1}, {.charge = -1}), "");

  Xtb water({8, 1, 1}, {});
  EXPECT_THROW(water(Numbers(6)), ShapeError);
  EXPECT_EQ(message_of<DataError>([&] { water(Numbers{0, 0, 0, 0, 0, 0.9, 0, 0.1, 0.9}); }),
            "atoms 2 and 3 must be at least 0.3 A apart, are 0.1");
}

TEST(MoleculeTable, EveryMoleculeIsOne) {
  const auto names = molecule_names();
  EXPECT_TRUE(std::ranges::is_sorted(names)) << "as the table is searched";
  for (const auto& name : names) {
    const AtomsFrame frame = molecule_by_name(name);
    ASSERT_EQ(frame.positions.size(), 3 * frame.numbers.size()) << name;
    ASSERT_GE(frame.size(), 3) << name;
    for (int64_t i = 0; i < frame.size(); ++i) {
      double nearest = 1e9;
      for (int64_t j = 0; j < frame.size(); ++j) {
        if (i != j) {
          const double* a = &frame.positions[3 * i];
          const double* b = &frame.positions[3 * j];
          nearest = std::min(nearest, std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
        }
      }
      EXPECT_GT(nearest, 0.9) << name << " " << i;
      EXPECT_LT(nearest, 1.6) << name << " " << i;
    }
  }
  // Formulas of some.
  const auto count = [](const std::string& name, int z) {
    return std::ranges::count(molecule_by_name(name).numbers, z);
  };
  EXPECT_EQ(count("aspirin", 6), 9);
  EXPECT_EQ(count("aspirin", 1), 8);
  EXPECT_EQ(count("aspirin", 8), 4);
  EXPECT_EQ(count("uracil", 7), 2);
  EXPECT_EQ(count("azobenzene", 6), 12);
  EXPECT_EQ(molecule_by_name("Salicylic-acid"), molecule_by_name("salicylic_acid"));
  EXPECT_EQ(message_of<ConfigError>([] { molecule_by_name("etanol"); }),
            "molecules: there is no molecule 'etanol'; did you mean 'ethanol'?");
  EXPECT_NE(
      message_of<ConfigError>([] { molecule_by_name("CCO"); }).find("give file=PATH, or one of acetic_acid"),
      std::string::npos);
}

}  // namespace xtb_test
}  // namespace weyl
