// The set `ph2`.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/data/folder.h"
#include "tests/data/images.h"
#include "weyl/core/check.h"
#include "weyl/data/images/ph2.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"

namespace weyl {
namespace ph2_test {

namespace fs = std::filesystem;

void write_case(const Folder& folder, const std::string& name, int red, bool mask = true,
                int64_t mask_width = 8) {
  const fs::path place = fs::path(folder.path()) / "PH2 Dataset images" / name;
  write(place / (name + "_Dermoscopic_Image") / (name + ".bmp"), plain(6, 8, {red, 0, 0}));
  if (mask) {
    Array lesion = plain(6, mask_width, {0});
    std::fill_n(lesion.bytes.begin(), 3 * mask_width, std::byte{255});  // the upper half
    write(place / (name + "_lesion") / (name + "_lesion.bmp"), lesion);
  }
}

TEST(AllOf, AnotherFolderIsForTestingWhole) {
  const Folder folder;
  for (int i = 0; i < 5; ++i) {
    write_case(folder, text("IMD00", i), 20 * i);
    write(folder / text("classes/a/", i, ".png"), plain(2, 2, {i, i, i}));
  }
  const DataOptions ph2{Ph2DataOptions{.height = 6, .width = 8, .train = 2, .valid = 1, .test = 1}},
      images{ImagesDataOptions{}};
  for (const Splits& splits :
       {open_splits(all_of(ph2, folder.path())), open_splits(all_of(images, folder / "classes"))}) {
    EXPECT_FALSE(splits.train);
    EXPECT_FALSE(splits.valid);
    ASSERT_TRUE(splits.test);
    EXPECT_EQ(splits.test->size(), 5);
  }
}

TEST(Ph2, IsInspectedThoughSizesDiffer) {
  const Folder folder;
  for (int i = 0; i < 4; ++i) {
    write_case(folder, text("IMD00", i), 20 * i);
  }
  const fs::path other = fs::path(folder.path()) / "PH2 Dataset images/IMD004";
  write(other / "IMD004_Dermoscopic_Image/IMD004.bmp", plain(5, 7, {1, 2, 3}));
  write(other / "IMD004_lesion/IMD004_lesion.bmp", plain(5, 7, {0}));
  int64_t found = 0;
  for (const auto& split : open_for_inspection(folder.path())) {
    found += split.second->size();
  }
  EXPECT_EQ(found, 5);
}

TEST(Ph2, SplitsAreDisjointAndMasksResized) {
  const Folder folder;
  for (int i = 0; i < 8; ++i) {
    write_case(folder, text("IMD00", i), 20 * i);
  }
  const Splits splits = open_set(Ph2DataOptions{.path = folder.path(), .height = 12, .width = 4});
  EXPECT_EQ(splits.train->size(), 4);
  EXPECT_EQ(splits.valid->size(), 2);
  EXPECT_EQ(splits.test->size(), 2);
  std::set<int64_t> seen;
  for (const auto& set : {splits.train, splits.valid, splits.test}) {
    const Batch batch = all_of_set(*set);
    const Tensor x = std::get<Grid>(batch.input).values, m = batch.labels.at("mask");
    EXPECT_EQ(x.sizes(), (at::IntArrayRef{set->size(), 3, 12, 4}));
    EXPECT_EQ(m.sizes(), (at::IntArrayRef{set->size(), 1, 12, 4}));
    EXPECT_TRUE(at::equal(m.slice(2, 0, 6), at::ones_like(m.slice(2, 0, 6))));
    EXPECT_EQ(m.slice(2, 6).sum().item<int64_t>(), 0);
    for (int64_t i = 0; i < set->size(); ++i) {
      EXPECT_TRUE(seen.insert(std::lround(255 * x[i][0][0][0].item<float>())).second);
    }
    EXPECT_EQ(set->schema().labels, declared_schema(Ph2DataOptions{}).labels);
  }
  EXPECT_EQ(seen.size(), 8u);
  const Splits other = open_set(
      Ph2DataOptions{.path = folder.path(), .height = 0, .width = 0, .train = 1, .valid = 0, .test = 2});
  EXPECT_EQ(values(*other.train).sizes(), (at::IntArrayRef{1, 3, 6, 8}));
  EXPECT_FALSE(other.valid);
  EXPECT_EQ(open_for_inspection(folder.path()).size(), 3u);
}

TEST(Ph2, SplitsOfASeedStayWhatTheyAre) {
  const Folder folder;
  for (int i = 0; i < 8; ++i) {
    write_case(folder, text("IMD00", i), 20 * i);
  }
  const auto stems = [&](const Ph2DataOptions& o) {
    const Splits splits = open_set(o);
    std::string result;
    for (const auto& set : {splits.train, splits.valid, splits.test}) {
      for (int64_t i = 0; set && i < set->size(); ++i) {
        result += fs::path(set->source(i)).stem().string().back();
      }
      result += "/";
    }
    return result;
  };
  Ph2DataOptions o{.path = folder.path(), .height = 6, .width = 8};
  EXPECT_EQ(stems(o), "2145/63/07/");
  o.seed = 3;
  o.fractions = {0.4, 0.2, 0.4};
  EXPECT_EQ(stems(o), "423/50/176/");
  o.train = 3;
  o.test = 2;
  EXPECT_EQ(stems(o), "423//50/");
}

TEST(Ph2, SaysWhatIsWrong) {
  const Folder folder;
  const auto message = [&](const Ph2DataOptions& o) { return message_of<DataError>([&] { open_set(o); }); };
  EXPECT_NE(message({.path = "/nowhere/ph2"}).find("weyl data make lesions --out /nowhere/ph2"),
            std::string::npos);
  EXPECT_NE(message({.path = folder.path()}).find("holds no IMDxxx"), std::string::npos);
  for (int i = 0; i < 4; ++i) {
    write_case(folder, text("IMD00", i), 20 * i);
  }
  EXPECT_NE(message({.path = folder.path(), .train = 5}).find("must add up to at most 4"), std::string::npos);
  write_case(folder, "IMD009", 1, false);
  EXPECT_NE(message({.path = folder.path()}).find("IMD009_lesion.bmp: there is no such image"),
            std::string::npos);
  write_case(folder, "IMD009", 1, true, 9);
  EXPECT_NE(
      message({.path = folder.path(), .train = 5}).find("must have 6 x 8 pixels as its image, got 6 x 9"),
      std::string::npos);
}

}  // namespace ph2_test
}  // namespace weyl
