// Stars with planets as a data set.
#include "weyl/data/particles/options.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "weyl/carriers/batch.h"
#include "weyl/core/check.h"
#include "weyl/data/open.h"
#include "weyl/makers/particles/planets.h"

namespace weyl {
namespace planets_test {

TEST(Planets, AreWhatWasMade) {
  const Folder folder;
  ASSERT_TRUE(make_planets({.planets = 3, .train = 4, .valid = 2, .test = 0}, folder.path()));
  const Splits splits = open_splits({PlanetsDataOptions{.path = folder.path(), .train = 3}});
  EXPECT_EQ(splits.train->size(), 3);
  EXPECT_EQ(splits.valid->size(), 2);
  EXPECT_EQ(splits.test, nullptr);
  EXPECT_DOUBLE_EQ(splits.train->schema().horizon, 0.1);
  EXPECT_EQ(splits.train->schema().interface.features,
            declared_schema(PlanetsDataOptions{}).interface.features);
  const std::vector<int64_t> second{1};
  const Batch batch = splits.train->batch(second);
  const Points& points = std::get<Points>(batch.input);
  const PlanetSystem made = make_planet_system({.planets = 3}, "train", 1);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(points.scalars[i][0].item<double>(), made.masses[i]);
    for (int64_t d = 0; d < 3; ++d) {
      const size_t k = 3 * i + d;
      EXPECT_EQ(points.positions[i][d].item<double>(), made.positions[k]);
      EXPECT_EQ(points.vectors[i][0][d].item<double>(), made.velocities[k]);
      EXPECT_EQ(batch.labels.at("displacement")[i][0][d].item<double>(), made.later[k] - made.positions[k]);
    }
  }
}

TEST(Planets, AreFollowedAsLongAsTheFilesSay) {
  const Folder folder;
  ASSERT_TRUE(make_planets({.train = 2, .valid = 0, .test = 0, .steps = 50}, folder.path()));
  EXPECT_DOUBLE_EQ(open_set(PlanetsDataOptions{.path = folder.path()}).train->schema().horizon, 0.05);
  ASSERT_TRUE(make_planets({.train = 0, .valid = 2, .test = 0, .steps = 20}, folder.path()));
  EXPECT_EQ(message_of<DataError>([&] { open_set(PlanetsDataOptions{.path = folder.path()}); }),
            (folder / "valid.safetensors") + ": its systems must be followed as long as those of " +
                (folder / "train.safetensors") + ", 0.05, got 0.02");
}

TEST(Planets, SayWhatIsMissing) {
  const Folder folder;
  EXPECT_EQ(message_of<DataError>([&] { open_set(PlanetsDataOptions{.path = folder / "none"}); }),
            (folder / "none") + ": there is no such folder; make it with `weyl data make planets --out " +
                (folder / "none") + "`");
  ASSERT_TRUE(make_planets({.train = 2, .valid = 0, .test = 0}, folder.path()));
  EXPECT_EQ(message_of<DataError>([&] { open_set(PlanetsDataOptions{.path = folder.path(), .train = 3}); }),
            (folder / "train.safetensors") +
                ": data.planets.train must be at most 2, the samples there are (0: all), got 3");
}

}  // namespace planets_test
}  // namespace weyl
