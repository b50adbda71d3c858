#include "weyl/makers/particles/nbody.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace nbody_test {

namespace fs = std::filesystem;

class NbodyMaker : public ::testing::Test {
 protected:
  NbodyMaker() : folder_(fs::path(::testing::TempDir()) / ("nbody_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
  }
  ~NbodyMaker() override { fs::remove_all(folder_); }
  fs::path folder_;
};

std::vector<double> values(const SafetensorsFile& file, const std::string& name) {
  const auto bytes = file.bytes(name);
  std::vector<double> result(bytes.size() / sizeof(double));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

TEST_F(NbodyMaker, ReplaysNumpyNumberForNumber) {
  // Simulations of the seed-43 stream by tools/goldens/nbody.py. Close encounters are chaotic: frames must
  // agree to 1e-6 while the trajectory is smooth, and the start always.
  std::ifstream file(WEYL_SOURCE_DIR "/tests/data/nbody_golden.txt");
  std::string line;
  int rows = 0, smooth = 0;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    int64_t number;
    in >> number;
    std::vector<double> golden;
    for (double x; in >> x;) golden.push_back(x);
    ASSERT_EQ(golden.size(), 5u + 30 + 90);
    const auto made = simulate_nbody({}, number, 1);
    ASSERT_EQ(made.frames, 49);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(made.charges[i], golden[i]);
    }
    double worst[3] = {};
    const int frames[] = {0, 30, 40};
    for (int f = 0; f < 3; ++f) {
      for (int k = 0; k < 15; ++k) {
        worst[f] = worst_of(worst[f], std::abs(made.positions[frames[f] * 15 + k] - golden[35 + 30 * f + k]));
        worst[f] =
            worst_of(worst[f], std::abs(made.velocities[frames[f] * 15 + k] - golden[50 + 30 * f + k]));
      }
    }
    std::printf("simulation %ld: largest differences %.1e %.1e %.1e\n", long(number), worst[0], worst[1],
                worst[2]);
    EXPECT_LT(worst[0], 1e-9) << number;  // t = 0.1
    smooth += worst[1] < 1e-6 && worst[2] < 1e-6;
    ++rows;
  }
  EXPECT_EQ(rows, 10);
  EXPECT_GE(smooth, 8);
}

TEST_F(NbodyMaker, GivesTheRowsOfTheSheet) {
  const auto made = simulate_nbody({}, 0, 1);
  const double charges[] = {-1, 1, -1, -1, -1};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(made.charges[i], charges[i]);
  }
  const auto near = [](const double* found, std::initializer_list<double> expected) {
    for (const double x : expected) {
      EXPECT_NEAR(*found++, x, 1e-7);
    }
  };
  near(&made.positions[0], {0.4452783, 1.4597732, -0.5162394});
  near(&made.positions[30 * 15], {2.9891163, 1.7693701, -1.1712943});
  near(&made.velocities[30 * 15], {1.1338110, 0.3956806, -0.2266066});
  near(&made.positions[40 * 15], {4.1654998, 2.1913091, -1.3826188});
}

TEST_F(NbodyMaker, HasTheStatisticsOfTheOriginal) {
  // tools/goldens/nbody.py --statistics 120: no motion 0.2674, x + v 0.0978, best c 0.7466 with 0.0757
  const auto made = simulate_nbody({.threads = 2}, 0, 120);
  double dd = 0, dv = 0, vv = 0, straight = 0;
  for (int64_t s = 0; s < 120; ++s) {
    for (int k = 0; k < 15; ++k) {
      const double d = made.positions[(s * 49 + 40) * 15 + k] - made.positions[(s * 49 + 30) * 15 + k];
      const double v = made.velocities[(s * 49 + 30) * 15 + k];
      dd += d * d;
      dv += d * v;
      vv += v * v;
      straight += (d - v) * (d - v);
    }
  }
  EXPECT_NEAR(dd / 1800, 0.2674, 0.005);
  EXPECT_NEAR(straight / 1800, 0.0978, 0.005);
  EXPECT_NEAR(dv / vv, 0.7466, 0.02);
  EXPECT_NEAR((dd - dv * dv / vv) / 1800, 0.0757, 0.005);
}

TEST_F(NbodyMaker, ThreadsChangeNothing) {
  const auto one = simulate_nbody({.threads = 1}, 5, 9), many = simulate_nbody({.threads = 4}, 5, 9);
  EXPECT_EQ(one.positions, many.positions);
  EXPECT_EQ(one.velocities, many.velocities);
  EXPECT_NE(one.positions, simulate_nbody({.seed = 44}, 5, 9).positions);
}

TEST_F(NbodyMaker, ConservesMomentumAndRespectsTheNumberOfParticles) {
  const auto made = simulate_nbody({.particles = 20, .steps = 300}, 0, 2);  // frames 0 and 1
  EXPECT_EQ(made.frames, 2);
  EXPECT_EQ(made.positions.size(), 2u * 2 * 20 * 3);
  EXPECT_EQ(made.charges.size(), 40u);
  for (int d = 0; d < 3; ++d) {
    double before = 0, after = 0;
    for (int i = 0; i < 20; ++i) {
      before += made.velocities[3 * i + d];
      after += made.velocities[60 + 3 * i + d];
    }
    EXPECT_NEAR(before, after, 1e-9);  // unless a force was clipped
  }
}

TEST_F(NbodyMaker, WritesSplitsFromTheirPlacesInTheStream) {
  const NbodyMakerOptions options{.train = 3, .valid = 2, .test = 2, .steps = 500};
  int64_t reported = 0;
  EXPECT_TRUE(make_nbody(options, folder_.string(),
                         {[&](int64_t done, int64_t total) {
                            reported = done;
                            EXPECT_EQ(total, 7);
                          },
                          {}}));
  EXPECT_EQ(reported, 7);
  const std::pair<const char*, int64_t> splits[] = {{"train", 0}, {"valid", 10000}, {"test", 12000}};
  for (const auto& [split, first] : splits) {
    const SafetensorsFile file((folder_ / (std::string(split) + ".safetensors")).string());
    const auto count = file.entry("charges").shape[0];
    EXPECT_EQ(file.entry("positions").shape, (std::vector<int64_t>{count, 4, 5, 3}));
    const auto made = simulate_nbody(options, first, count);
    EXPECT_EQ(values(file, "positions"), made.positions);
    EXPECT_EQ(values(file, "velocities"), made.velocities);
    EXPECT_EQ(values(file, "charges"), made.charges);
    const auto& metadata = file.header().metadata;
    EXPECT_EQ(metadata.at("format"), "weyl.nbody");
    EXPECT_EQ(metadata.at("first_simulation"), std::to_string(first));
    EXPECT_EQ(metadata.at("seed"), "43");
    EXPECT_EQ(metadata.at("frame_interval"), "0.1");
  }
}

TEST_F(NbodyMaker, NeverReplacesAFile) {
  const NbodyMakerOptions options{.train = 1, .valid = 1, .test = 0, .steps = 200};
  fs::create_directories(folder_);
  std::ofstream(folder_ / "valid.safetensors") << "mine";
  EXPECT_THROW(make_nbody(options, folder_.string()), ConfigError);
  EXPECT_FALSE(fs::exists(folder_ / "train.safetensors"));
  EXPECT_EQ(fs::file_size(folder_ / "valid.safetensors"), 4u);
}

TEST_F(NbodyMaker, StoppedWritesNothing) {
  int64_t asked = 0;
  EXPECT_FALSE(make_nbody({.train = 10000}, folder_.string(), {{}, [&] { return ++asked > 0; }}));
  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_GE(asked, 1);
}

TEST_F(NbodyMaker, LeavesNothingWhenTheFolderCannotBeWritten) {
  fs::create_directories(folder_.parent_path());
  std::ofstream(folder_) << "a file where the folder should be";
  EXPECT_THROW(make_nbody({.train = 1, .valid = 0, .test = 0, .steps = 200}, folder_.string()), DataError);
  EXPECT_TRUE(fs::is_regular_file(folder_));
}

TEST_F(NbodyMaker, RefusesImpossibleOptions) {
  EXPECT_THROW(simulate_nbody({.particles = 1}, 0, 1), ConfigError);
  EXPECT_THROW(simulate_nbody({.steps = 250}, 0, 1), ConfigError);
  EXPECT_THROW(simulate_nbody({.steps = 100}, 0, 1), ConfigError);
  EXPECT_THROW(make_nbody({.train = 10001}, folder_.string()), ConfigError);
  EXPECT_THROW(make_nbody({.train = 0, .valid = 0, .test = 0}, folder_.string()), ConfigError);
}

}  // namespace nbody_test
}  // namespace weyl
