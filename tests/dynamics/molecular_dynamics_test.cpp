#include "weyl/dynamics/molecular_dynamics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"
#include "weyl/dynamics/relaxation.h"

namespace weyl {
namespace molecular_dynamics_test {

using Numbers = std::vector<double>;

/// Springs of strength k (eV/A^2) and length 1 A between all atoms.
EnergySurface springs(double k) {
  return [k](std::span<const double> x) {
    SinglePoint point;
    point.forces.assign(x.size(), 0.0);
    for (size_t i = 0; i < x.size(); i += 3) {
      for (size_t j = 0; j < i; j += 3) {
        const std::array<double, 3> d{x[i] - x[j], x[i + 1] - x[j + 1], x[i + 2] - x[j + 2]};
        const double r = std::hypot(d[0], d[1], d[2]);
        point.energy += k / 2 * (r - 1) * (r - 1);
        for (size_t a = 0; a < 3; ++a) {
          point.forces[i + a] -= k * (r - 1) * d[a] / r;
          point.forces[j + a] += k * (r - 1) * d[a] / r;
        }
      }
    }
    return point;
  };
}

const Numbers kTriangle{0, 0, 0, 1, 0, 0, 0.5, std::sqrt(0.75), 0};
const Numbers kMasses{12.011, 15.999, 1.008};

Numbers momentum(const Numbers& m, const Numbers& v) {
  Numbers p(3);
  for (size_t i = 0; i < v.size(); ++i) {
    p[i % 3] += m[i / 3] * v[i];
  }
  return p;
}

Numbers angular_momentum(const Numbers& m, const Numbers& x, const Numbers& v) {
  Numbers centred = x, l(3);
  centre_masses(m, centred);
  for (size_t i = 0; i < v.size(); i += 3) {
    for (size_t a = 0; a < 3; ++a) {
      const size_t b = (a + 1) % 3, c = (a + 2) % 3;
      l[a] += m[i / 3] * (centred[i + b] * v[i + c] - centred[i + c] * v[i + b]);
    }
  }
  return l;
}

double largest(const Numbers& x) {
  double most = 0;
  for (const double value : x) {
    most = worst_of(most, std::abs(value));
  }
  return most;
}

// 1 eV/(A amu) = 0.00964853321 A/fs^2 (CODATA), so a diatomic's period is 2 pi sqrt(mu / (0.0096485 k)).
TEST(MolecularDynamics, ADiatomicSwingsWithItsPeriod) {
  const double k = 36, mu = 12.011 * 15.999 / (12.011 + 15.999);
  const double period = 2 * std::numbers::pi * std::sqrt(mu / (0.00964853321 * k));
  MolecularDynamics dynamics({12.011, 15.999}, period / 1000, springs(k), {0, 0, 0, 1.1, 0, 0}, Numbers(6));
  const Numbers start = dynamics.positions();
  for (int i = 0; i < 500; ++i) {
    dynamics.verlet_step();
  }
  EXPECT_NEAR(dynamics.positions()[3] - dynamics.positions()[0], 0.9, 1e-5);
  for (int i = 0; i < 500; ++i) {
    dynamics.verlet_step();
  }
  EXPECT_NEAR(dynamics.positions()[3] - dynamics.positions()[0], 1.1, 1e-5);
  EXPECT_NEAR(dynamics.positions()[0], start[0], 1e-5);
}

TEST(MolecularDynamics, VerletKeepsEnergyToSecondOrderAndGoesBack) {
  const auto worst = [&](double step) {
    Stream stream(3, "test");
    MolecularDynamics dynamics(kMasses, step, springs(20), kTriangle, Numbers(9));
    dynamics.draw_velocities(800, stream);
    const double energy = dynamics.kinetic_energy() + dynamics.point().energy;
    double most = 0;
    for (int i = 0; i < static_cast<int>(200 / step); ++i) {
      dynamics.verlet_step();
      most = worst_of(most, std::abs(dynamics.kinetic_energy() + dynamics.point().energy - energy));
    }
    return most;
  };
  const double coarse = worst(0.5), fine = worst(0.25);
  EXPECT_GT(coarse, 1e-5);
  EXPECT_NEAR(coarse / fine, 4, 0.4);

  Stream stream(3, "test");
  MolecularDynamics there(kMasses, 0.5, springs(20), kTriangle, Numbers(9));
  there.draw_velocities(800, stream);
  const Numbers velocities = there.velocities();
  for (int i = 0; i < 100; ++i) {
    there.verlet_step();
  }
  Numbers turned = there.velocities();
  for (double& v : turned) {
    v = -v;
  }
  MolecularDynamics back(kMasses, 0.5, springs(20), there.positions(), turned);
  for (int i = 0; i < 100; ++i) {
    back.verlet_step();
  }
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(back.positions()[i], kTriangle[i], 1e-10);
    EXPECT_NEAR(back.velocities()[i], -velocities[i], 1e-10);
  }
}

TEST(MolecularDynamics, NeitherDriftsNorSpins) {
  const Numbers linear{0, 0, 0, 0.3, 0.4, 1.1, 0.6, 0.8, 2.2};
  for (const Numbers& place : {kTriangle, linear}) {
    Stream stream(5, "test");
    Numbers v(9);
    for (double& x : v) {
      x = 0.01 * stream.normal();
    }
    EXPECT_GT(largest(momentum(kMasses, v)), 1e-2);
    EXPECT_GT(largest(angular_momentum(kMasses, place, v)), 1e-2);
    Numbers kept = v;
    remove_rigid_motion(kMasses, place, kept);
    EXPECT_LT(largest(momentum(kMasses, kept)), 1e-14);
    EXPECT_LT(largest(angular_momentum(kMasses, place, kept)), 1e-14);
    EXPECT_GT(largest(kept), 1e-4) << "what swings stays";
    Numbers twice = kept;
    remove_rigid_motion(kMasses, place, twice);
    for (size_t i = 0; i < 9; ++i) {
      EXPECT_NEAR(twice[i], kept[i], 1e-14);
    }
  }
  Numbers one{1, 2, 3};
  remove_rigid_motion(Numbers{12}, Numbers{0.5, 0, 0}, one);
  EXPECT_EQ(one, Numbers(3));

  Stream noise(6, "test");
  MolecularDynamics dynamics(kMasses, 0.5, springs(20), kTriangle, Numbers(9));
  for (int i = 0; i < 500; ++i) {
    dynamics.langevin_step(500, 0.02, noise);
  }
  EXPECT_LT(largest(momentum(kMasses, dynamics.velocities())), 1e-12);
  EXPECT_LT(largest(angular_momentum(kMasses, dynamics.positions(), dynamics.velocities())), 1e-12);
  Numbers centre = dynamics.positions(), start = kTriangle;
  centre_masses(kMasses, centre);
  centre_masses(kMasses, start);
  EXPECT_NEAR(dynamics.positions()[0] - centre[0], kTriangle[0] - start[0], 1e-11);
}

// A triangle has 3 N - 6 = 3 degrees of freedom left: 3/2 kT of kinetic and, harmonic, 3/2 kT of potential
// energy.
TEST(MolecularDynamics, TheThermostatSharesTheEnergyEqually) {
  const double temperature = 300, expected = 1.5 * kBoltzmann * temperature;
  Stream noise(7, "test"), drawn(8, "test");
  MolecularDynamics dynamics(kMasses, 0.5, springs(20), kTriangle, Numbers(9));
  double kinetic = 0, potential = 0;
  constexpr int kSteps = 200000, kDropped = 5000;
  for (int i = 0; i < kSteps; ++i) {
    dynamics.langevin_step(temperature, 0.05, noise);
    if (i >= kDropped) {
      kinetic += dynamics.kinetic_energy() / (kSteps - kDropped);
      potential += dynamics.point().energy / (kSteps - kDropped);
    }
  }
  EXPECT_NEAR(kinetic / expected, 1, 0.04);
  EXPECT_NEAR(potential / expected, 1, 0.04);

  double start = 0;
  for (int i = 0; i < 5000; ++i) {
    dynamics.draw_velocities(temperature, drawn);
    start += dynamics.kinetic_energy() / 5000;
  }
  EXPECT_NEAR(start / expected, 1, 0.04);
}

TEST(Relaxation, FindsTheMinimum) {
  const auto relaxed = relax(springs(20), {0, 0, 0, 1.4, 0.1, 0, 0.3, 0.8, 0.2}, 1e-6, 2000);
  EXPECT_LT(relaxed.point.energy, 1e-12);
  EXPECT_LT(largest(relaxed.point.forces), 1e-6);
  EXPECT_EQ(relaxed.point.forces, springs(20)(relaxed.positions).forces);
  const std::string said = message_of<DataError>([] { relax(springs(20), {0, 0, 0, 2, 0, 0}, 1e-6, 2); });
  EXPECT_NE(said.find("does not relax in 2 steps"), std::string::npos) << said;
  const Numbers far{0, 0, 0, 2, 0, 0};
  EXPECT_EQ(relax(springs(20), far, 1e-6, 2, [] { return true; }).positions, far);
}

}  // namespace molecular_dynamics_test
}  // namespace weyl
