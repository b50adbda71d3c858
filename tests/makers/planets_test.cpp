// Planets around a star: the law that moves them, what is drawn, and files that depend on nothing else.
#include "weyl/makers/particles/planets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"

namespace weyl {
namespace planets_test {

using Vector = std::vector<double>;

TEST(PlanetsMaker, MovesBodiesAsDecimalNumbersDo) {
  // tools/goldens/planets.py
  Vector x{0, 0, 0, 0.5, 0, 0.1, -0.3, 0.4, 0}, v{0, 0, 0, 0, 2, 0, 1.5, 1, -0.25};
  move_planets(100, {2, 0.05, 0.1}, x, v);
  const Vector later{-0.000082070649686827203, 0.0019035704785640448, 0.00015335778605042849,
                     0.46170396613460343,      0.19534323615422766,   0.092377415848029299,
                     -0.12921057007356517,     0.46425697235160527,   -0.024255863645023219};
  const Vector speeds{0.00017978553216040273, 0.040496107244479008, 0.0026300350939057377,
                      -0.75090614499042365,   1.8599121640311927,   -0.14953513452271147,
                      1.8718573618520038,     0.26012177309482348,  -0.22783313461675902};
  for (size_t k = 0; k < later.size(); ++k) {
    EXPECT_NEAR(x[k], later[k], 1e-13) << k;
    EXPECT_NEAR(v[k], speeds[k], 1e-12) << k;
  }
}

TEST(PlanetsMaker, KeepsMomentumAndFollowsACircle) {
  Vector x{0, 0, 0, 1, 0, 0}, v{0, 0, 0, 0, std::sqrt(3.0), 0};
  const Vector masses{3, 1e-9};
  move_planets(2000, masses, x, v);
  EXPECT_NEAR(std::hypot(x[3] - x[0], x[4] - x[1]), 1, 5e-3);
  EXPECT_NEAR(std::atan2(x[4], x[3]), std::remainder(2 * std::sqrt(3.0), 2 * M_PI), 5e-3);
  for (int d = 0; d < 3; ++d) {
    EXPECT_NEAR(3 * v[d] + 1e-9 * v[3 + d], d == 1 ? 1e-9 * std::sqrt(3.0) : 0, 1e-15);
  }
}

TEST(PlanetsMaker, DrawsWhatThePaperSays) {
  const PlanetsMakerOptions options{.planets = 4, .spread = 0};
  double mean_star = 0;
  int turned = 0;
  const int systems = 200;
  for (int64_t i = 0; i < systems; ++i) {
    const PlanetSystem s = make_planet_system(options, "train", i);
    ASSERT_EQ(s.masses.size(), 5u);
    const auto star = std::ranges::max_element(s.masses) - s.masses.begin();
    mean_star += std::log(s.masses[star]) / systems;
    EXPECT_GE(s.masses[star], 1);
    EXPECT_LE(s.masses[star], 10);
    turned += star != 0;
    for (int64_t k = 0; k < 5; ++k) {
      const double* x = &s.positions[3 * k];
      const double* v = &s.velocities[3 * k];
      const double* later = &s.later[3 * k];
      const double r = std::hypot(x[0], x[1], x[2]), speed = std::hypot(v[0], v[1], v[2]);
      EXPECT_LE(std::hypot(later[0] - x[0], later[1] - x[1], later[2] - x[2]), 2);
      if (k == star) {
        EXPECT_EQ(r, 0);
        EXPECT_EQ(speed, 0);
        continue;
      }
      EXPECT_GE(s.masses[k], 0.01);
      EXPECT_LE(s.masses[k], 0.1);
      EXPECT_GE(r, 0.1 - 1e-12);
      EXPECT_LE(r, 1 + 1e-12);
      EXPECT_NEAR(speed, std::sqrt(s.masses[star] / r), 0.08);
      EXPECT_NEAR((x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) / r, 0, 0.08);
    }
  }
  EXPECT_NEAR(mean_star, std::log(10.0) / 2, 0.15);  // log-uniform
  EXPECT_GT(turned, systems / 2);                    // bodies stand in any order
}

TEST(PlanetsMaker, ShiftsAndTurnsTheSameSystem) {
  // The shift does not take part in the motion; what is left is a plane, turned anyhow.
  const PlanetSystem near = make_planet_system({.spread = 0}, "train", 3);
  const PlanetSystem far = make_planet_system({.spread = 20, .offset = 200}, "train", 3);
  for (size_t k = 3; k < near.positions.size(); ++k) {
    const size_t d = k % 3;
    EXPECT_NEAR(far.positions[k] - far.positions[d], near.positions[k] - near.positions[d], 1e-12);
    EXPECT_EQ(far.velocities[k], near.velocities[k]);
  }
  EXPECT_GT(far.positions[0], 100);
  EXPECT_GT(std::abs(near.velocities[2]) + std::abs(near.velocities[5]), 1e-3);  // not in the plane z = 0
}

TEST(PlanetsMaker, FilesDependOnSeedSplitAndIndexAlone) {
  const Folder folder;
  const PlanetsMakerOptions one{.train = 20, .valid = 3, .test = 2, .threads = 1};
  PlanetsMakerOptions more = one;
  more.threads = 3;
  more.valid = 0;
  EXPECT_TRUE(make_planets(one, folder / "one"));
  EXPECT_TRUE(make_planets(more, folder / "more"));
  EXPECT_EQ(contents_of(folder / "one/train.safetensors"), contents_of(folder / "more/train.safetensors"));
  EXPECT_EQ(contents_of(folder / "one/test.safetensors"), contents_of(folder / "more/test.safetensors"));
  more.seed = 1;
  EXPECT_TRUE(make_planets(more, folder / "other"));
  EXPECT_NE(contents_of(folder / "one/train.safetensors"), contents_of(folder / "other/train.safetensors"));
  const PlanetSystem a = make_planet_system(one, "train", 0), b = make_planet_system(one, "test", 0);
  EXPECT_NE(a.masses, b.masses);
}

TEST(PlanetsMaker, RefusesWhatCannotBe) {
  const Folder folder;
  EXPECT_EQ(message_of<ConfigError>([&] { make_planets({.train = 0, .valid = 0, .test = 0}, folder / "x"); }),
            "planets: train, valid and test are all 0, there is nothing to make");
  EXPECT_EQ(message_of<ConfigError>([] { make_planet_system({.planets = 0}, "train", 0); }),
            "planets: planets and steps must be at least 1, got 0 and 100");
}

}  // namespace planets_test
}  // namespace weyl
