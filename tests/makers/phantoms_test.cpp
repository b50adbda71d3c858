// The maker `phantoms`, and the set that reads what it made.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/data/folder.h"
#include "tests/data/phantoms.h"
#include "weyl/carriers/consistency.h"
#include "weyl/core/check.h"
#include "weyl/data/images/prediction.h"
#include "weyl/data/volumes/decathlon.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {
namespace phantoms_test {

namespace fs = std::filesystem;

TEST(Phantoms, AreTheSameForTheSameSeedAndHaveNestedRegions) {
  const PhantomsMakerOptions o{.size = {32, 36, 32}, .spacing = {5, 5, 5}};
  std::set<std::vector<int16_t>> different;
  int64_t labelled[4] = {};
  for (int64_t i = 0; i < 6; ++i) {
    const Phantom a = make_phantom(o, i);
    EXPECT_EQ(a.image, make_phantom(o, i).image);
    different.insert(a.image);
    const auto voxels = static_cast<int64_t>(a.mask.size());
    ASSERT_EQ(static_cast<int64_t>(a.image.size()), 4 * voxels);
    for (int64_t v = 0; v < voxels; ++v) {
      ASSERT_LE(a.mask[v], 3);
      ++labelled[a.mask[v]];
      for (int m = 1; m < 4; ++m) {  // all modalities have one brain
        ASSERT_EQ(a.image[v] == 0, a.image[m * voxels + v] == 0);
      }
      ASSERT_TRUE(a.mask[v] == 0 || a.image[v] > 0);
    }
  }
  EXPECT_EQ(different.size(), 6u);
  for (int k = 0; k < 4; ++k) {
    EXPECT_GT(labelled[k], 50) << k;
  }
  EXPECT_GT(labelled[1], labelled[2]);  // edema is the largest
}

TEST(Phantoms, AreASetForTheReader) {
  const Folder folder;
  const auto o = small_phantoms();
  ASSERT_TRUE(make_phantoms(o, folder / "set"));
  const auto splits = open_set(set_at(folder / "set"));
  EXPECT_EQ(splits.train->size(), 2);
  EXPECT_EQ(splits.valid->size(), 1);
  EXPECT_EQ(splits.test->size(), 2);
  std::set<std::string> sources;
  for (const auto& set : {splits.train, splits.valid, splits.test}) {
    EXPECT_EQ(set->schema().interface, [&] {
      Interface wanted = declared_schema(set_at("")).interface;
      wanted.typical_nodes = 20 * 24 * 18;
      return wanted;
    }());
    for (int64_t i = 0; i < set->size(); ++i) {
      sources.insert(set->source(i));
      const Batch batch = set->batch(std::vector<int64_t>{i});
      require_consistent(batch, set->schema());
      const auto& grid = std::get<Grid>(batch.input);
      EXPECT_EQ(grid.values.sizes(), (at::IntArrayRef{1, 4, 20, 24, 18}));
      EXPECT_EQ(grid.spacing, (std::array<double, 3>{8, 7.5, 8}));
      EXPECT_EQ(batch.labels.at("mask").sizes(), (at::IntArrayRef{1, 1, 20, 24, 18}));
      // Mean 0 and deviation 1 over the brain.
      for (int m = 0; m < 4; ++m) {
        const Tensor x = grid.values[0][m].to(at::kDouble);
        const Tensor inside = x.masked_select(x != 0);
        EXPECT_NEAR(inside.mean().item<double>(), 0, 1e-4);
        EXPECT_NEAR(inside.std(false).item<double>(), 1, 1e-4);
      }
    }
  }
  EXPECT_EQ(sources.size(), 5u);
  // The values themselves, in canonical order: the files run left and back, x and y are turned.
  auto raw = set_at(folder / "set");
  raw.normalise = false;
  raw.fractions = {0, 0, 1};
  const auto all = open_set(raw).test;
  ASSERT_EQ(all->size(), 5);
  EXPECT_TRUE(all->source(3).ends_with("imagesTr/PHANTOM_004.nii.gz"));
  const Phantom made = make_phantom(o, 3);
  const Batch read = all->batch(std::vector<int64_t>{3});
  const Tensor image = at::tensor(std::vector<int64_t>(made.image.begin(), made.image.end()))
                           .reshape({4, 18, 24, 20})
                           .permute({0, 3, 2, 1})
                           .flip({1, 2});
  EXPECT_TRUE(at::equal(std::get<Grid>(read.input).values[0], image.to(at::kFloat)));
  const Tensor mask = at::tensor(std::vector<int64_t>(made.mask.begin(), made.mask.end()))
                          .reshape({18, 24, 20})
                          .permute({2, 1, 0})
                          .flip({0, 1});
  EXPECT_TRUE(at::equal(read.labels.at("mask")[0][0], mask));
  // A prediction equal to the mask is the mask's file again.
  const auto path = write_prediction(all->source(3), folder / "predicted", read.labels.at("mask")[0][0]);
  EXPECT_EQ(read_nifti(path).bytes, read_nifti(folder / "set/labelsTr/PHANTOM_004.nii.gz").bytes);
  EXPECT_EQ(read_nifti(path).header.geometry,
            read_nifti(folder / "set/labelsTr/PHANTOM_004.nii.gz").header.geometry);
}

TEST(Phantoms, KeepsOrLeavesNothing) {
  const Folder folder;
  EXPECT_FALSE(make_phantoms(small_phantoms(200), folder / "a", {{}, [] { return true; }}));
  EXPECT_FALSE(fs::exists(folder / "a"));
  ASSERT_TRUE(make_phantoms(small_phantoms(1), folder / "b"));
  EXPECT_THROW(make_phantoms(small_phantoms(1), folder / "b"), ConfigError);
  EXPECT_EQ(read_volume_index(folder / "b").training.size(), 1u);
  PhantomsMakerOptions flat = small_phantoms();
  flat.size = {20, 20};
  EXPECT_THROW(make_phantom(flat, 0), ConfigError);
}

}  // namespace phantoms_test
}  // namespace weyl
