#include "weyl/makers/slabs/effective_medium.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "weyl/core/check.h"
#include "weyl/dynamics/relaxation.h"

namespace weyl {
namespace effective_medium_test {

struct System {
  std::vector<int> numbers;
  std::vector<double> positions, forces;
  CellRows cell{};
  std::array<bool, 3> periodic{};
  double energy = 0;
};

std::vector<System> systems() {
  std::vector<System> all;
  std::ifstream file(WEYL_SOURCE_DIR "/tests/goldens/effective_medium.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    System s;
    size_t n = 0;
    words >> n;
    for (bool& p : s.periodic) {
      words >> p;
    }
    for (Vector3& row : s.cell) {
      words >> row[0] >> row[1] >> row[2];
    }
    words >> s.energy;
    s.positions.resize(3 * n);
    s.forces.resize(3 * n);
    for (size_t i = 0; i < n; ++i) {
      words >> s.numbers.emplace_back() >> s.positions[3 * i] >> s.positions[3 * i + 1] >>
          s.positions[3 * i + 2];
      words >> s.forces[3 * i] >> s.forces[3 * i + 1] >> s.forces[3 * i + 2];
    }
    EXPECT_TRUE(words) << line.substr(0, 40);
    all.push_back(s);
  }
  return all;
}

// tools/goldens/effective_medium.py
TEST(EffectiveMedium, IsAses) {
  const auto all = systems();
  ASSERT_EQ(all.size(), 11u);
  for (const System& s : all) {
    const SinglePoint found = EffectiveMedium(s.numbers, s.cell, s.periodic)(s.positions);
    EXPECT_NEAR(found.energy, s.energy, 2e-8) << s.numbers.back();
    for (size_t k = 0; k < s.forces.size(); ++k) {
      EXPECT_NEAR(found.forces[k], s.forces[k], 2e-8) << s.numbers.back() << " " << k;
    }
  }
}

TEST(EffectiveMedium, ForcesAreSlopes) {
  const System s = systems()[4];
  const EffectiveMedium surface(s.numbers, s.cell, s.periodic);
  const SinglePoint here = surface(s.positions);
  double sum = 0;
  for (size_t k = 0; k < s.positions.size(); k += 5) {
    constexpr double h = 1e-5;
    auto x = s.positions;
    x[k] += h;
    const double above = surface(x).energy;
    x[k] -= 2 * h;
    EXPECT_NEAR(-(above - surface(x).energy) / (2 * h), here.forces[k], 1e-7) << k;
  }
  for (size_t k = 0; k < here.forces.size(); k += 3) {
    sum += here.forces[k];
  }
  EXPECT_NEAR(sum, 0, 1e-12);
}

TEST(EffectiveMedium, RelaxesDownhill) {
  const System s = systems()[1];
  const EffectiveMedium surface(s.numbers, s.cell, s.periodic);
  const Relaxed relaxed = relax(surface, s.positions, 0.01, 500);
  EXPECT_LT(relaxed.point.energy, surface(s.positions).energy - 0.1);
}

TEST(EffectiveMedium, RefusesWhatItHasNoNumbersFor) {
  EXPECT_THROW(EffectiveMedium({26}, {}, {}), ConfigError);
  const EffectiveMedium pair({29, 29}, {}, {});
  EXPECT_THROW(pair(std::vector<double>{0, 0, 0, 0, 0, 0}), DataError);
  EXPECT_THROW(pair(std::vector<double>{0, 0, NAN, 0, 0, 1}), DataError);
  EXPECT_NEAR(EffectiveMedium::bond_length(29), 2.556, 1e-3);
  EXPECT_EQ(EffectiveMedium({29}, {}, {})(std::vector<double>{0, 0, 0}).energy,
            EffectiveMedium::energy_of_atom(29));
}

}  // namespace effective_medium_test
}  // namespace weyl
