#include "weyl/makers/slabs/slabs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/input_file.h"
#include "weyl/makers/slabs/effective_medium.h"

namespace weyl {
namespace slabs_test {

const std::vector<double>& reals(const AtomsFrame& frame, const char* column) {
  return std::get<std::vector<double>>(frame.column(column)->values);
}

std::string word(const AtomsFrame& frame, const char* key) {
  return std::get<std::vector<std::string>>(frame.value(key)->values)[0];
}

TEST(SlabsMaker, RelaxesFreeAtomsAlone) {
  for (int64_t i = 0; i < 6; ++i) {
    const AtomsFrame slab = make_slab({}, "train", i);
    const auto& tags = std::get<std::vector<int64_t>>(slab.column("tags")->values);
    const auto& fixed = std::get<std::vector<uint8_t>>(slab.column("fixed")->values);
    const auto& relaxed = reals(slab, "relaxed");
    EXPECT_EQ(tags.back(), 2);
    const SinglePoint there = EffectiveMedium(slab.numbers, rows_of(slab.cell->data()), slab.pbc)(relaxed);
    for (size_t a = 0; a < slab.numbers.size(); ++a) {
      EXPECT_EQ(fixed[a] == 1, tags[a] == 0);
      const double* x = &relaxed[3 * a];
      const double* f = &there.forces[3 * a];
      const bool moved = x[0] != slab.positions[3 * a] || x[1] != slab.positions[3 * a + 1];
      EXPECT_EQ(moved, fixed[a] == 0) << a;
      if (fixed[a] == 0) {
        EXPECT_LE(std::hypot(f[0], f[1], f[2]), 0.01);
      }
    }
    // Adsorbed: less than apart.
    EXPECT_LT(std::get<std::vector<double>>(slab.value("energy")->values)[0], 0);
  }
}

TEST(SlabsMaker, HoldsOutPairsOfMetalAndAdsorbate) {
  std::set<std::string> pairs[3];
  std::set<std::string> touched;  // pairs of the training set, guests too
  const char* splits[] = {"train", "valid", "test"};
  for (int s = 0; s < 3; ++s) {
    for (int64_t i = 0; i < 25; ++i) {
      const AtomsFrame slab = make_slab({}, splits[s], i);
      const std::string adsorbate = word(slab, "adsorbate");
      pairs[s].insert(word(slab, "host") + adsorbate);
      for (size_t a = 0; s == 0 && a + 1 < slab.numbers.size(); ++a) {
        touched.insert(std::string(element_symbol(slab.numbers[a])) + adsorbate);
      }
    }
  }
  EXPECT_EQ(pairs[1].size(), 4u);
  EXPECT_EQ(pairs[2].size(), 4u);
  for (const std::string& pair : pairs[2]) {
    EXPECT_FALSE(touched.contains(pair) || pairs[1].contains(pair)) << pair;
  }
  for (const std::string& pair : pairs[1]) {
    EXPECT_FALSE(touched.contains(pair)) << pair;
  }
}

TEST(SlabsMaker, SlabsDependOnSeedSplitAndIndexAlone) {
  EXPECT_EQ(make_slab({}, "valid", 3), make_slab({.train = 7, .threads = 2}, "valid", 3));
  EXPECT_NE(make_slab({}, "valid", 3), make_slab({}, "valid", 4));
  EXPECT_NE(make_slab({}, "valid", 3), make_slab({}, "test", 3));
  EXPECT_NE(make_slab({}, "valid", 3), make_slab({.seed = 1}, "valid", 3));
}

TEST(SlabsMaker, WritesFilesThatItNeverReplaces) {
  const Folder folder;
  const SlabsMakerOptions options{.train = 3, .valid = 2, .test = 0, .threads = 1};
  EXPECT_TRUE(make_slabs(options, folder / "a"));
  EXPECT_TRUE(make_slabs({.train = 3, .valid = 2, .test = 0, .threads = 2}, folder / "b"));
  for (const char* file : {"/train.extxyz", "/valid.extxyz"}) {
    EXPECT_EQ(contents_of(folder / "a" + file), contents_of(folder / "b" + file));
  }
  EXPECT_THROW(make_slabs(options, folder / "a"), ConfigError);
  EXPECT_THROW(make_slabs({.train = 0, .valid = 0, .test = 0}, folder / "c"), ConfigError);
}

}  // namespace slabs_test
}  // namespace weyl
