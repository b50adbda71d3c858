// Point clouds in HDF5 files, and archives that are the splits of a folder.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/clouds/cloud_samples.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/clouds/cloud_layout.h"
#include "weyl/data/clouds/clouds.h"
#include "weyl/data/clouds/files.h"
#include "weyl/data/clouds/point_clouds.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"

namespace weyl {
namespace cloud_archives_test {

/// tools/goldens/h5_fixtures.py: as h5py writes them.
TEST(CloudsOfHdf5, AreReadAsH5pyWritesThem) {
  const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/clouds/";
  const auto value = [](int64_t i) { return static_cast<double>(i) / 256 - 0.375; };
  CloudsDataOptions one{
      .path = fixtures + "one.h5", .points = 0, .fit = false, .train_fraction = 1, .valid_fraction = 0};
  one.features = {{"normal", CloudFeatureKind::normal}};
  const auto single = open_set(one).train;
  ASSERT_EQ(single->size(), 1);
  EXPECT_EQ(classes_of(single), std::vector<int64_t>{1});  // a number without axes
  EXPECT_EQ(points_of(sample(single, 0)).positions[15][2].item<double>(), value(47));
  EXPECT_EQ(points_of(sample(single, 0)).vectors[3][0][2].item<double>(), 1);
  CloudsDataOptions many = one;
  many.path = fixtures + "many.h5";
  many.features = {{"colour", CloudFeatureKind::scalar, 3}};
  const auto all = open_set(many).train;
  EXPECT_EQ(classes_of(all), (std::vector<int64_t>{2, 0, 1, 4}));
  EXPECT_EQ(points_of(sample(all, 3)).positions[15][2].item<double>(), value(4 * 48 - 1));
  EXPECT_EQ(points_of(sample(all, 3)).scalars[0][0].item<double>(), 0.2);
  many.features.clear();
  many.positions = "scan/places";  // within a group
  EXPECT_EQ(points_of(sample(open_set(many).train, 1)).positions[0][0].item<double>(), value(48));
  // What is there instead is named, though nobody asked for it.
  many.positions = "places";
  EXPECT_NE(message_of<DataError>([&] {
              open_set(many);
            }).find("its arrays are 'colour' [4, 16, 3], 'xyz' [4, 16, 3], 'y' [4]"),
            std::string::npos);
  // A single file is clouds wherever nobody says otherwise, and ModelNet's are not.
  EXPECT_TRUE(CloudFiles::takes(fixtures + "one.h5", {}));
  EXPECT_FALSE(CloudFiles::takes(fixtures + "one.h5", AskedSet(ModelnetDataOptions{})));
  EXPECT_FALSE(CloudFiles::takes(WEYL_SOURCE_DIR "/tests/fixtures/shapes/gzip.h5", {}));
  EXPECT_EQ(open_file(fixtures + "many.h5", {})->size(), 4);
}

TEST(CloudsOfHdf5, AreRecognisedInFolders) {
  const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/";
  const Folder folder;
  for (const char* name : {"classes/ball/a.h5", "classes/rod/b.h5"}) {
    fs::create_directories(fs::path(folder / name).parent_path());
    fs::copy_file(fixtures + "clouds/one.h5", folder / name);
  }
  EXPECT_TRUE(is_cloud_folder(folder / "classes"));
  // An archive with classes of its own is of no one class.
  fs::create_directories(folder / "sets/first");
  fs::copy_file(fixtures + "clouds/many.h5", folder / "sets/first/a.h5");
  EXPECT_FALSE(is_cloud_folder(folder / "sets"));
  EXPECT_TRUE(is_cloud_folder(folder / "sets/first"));
  fs::create_directory(folder / "splits");
  for (const char* name : {"splits/train.h5", "splits/test.h5"}) {
    fs::copy_file(fixtures + "clouds/many.h5", folder / name);
  }
  write(folder / "splits/README.txt", "notes\n");
  EXPECT_TRUE(is_cloud_folder(folder / "splits"));
  const Splits splits = open_set(CloudsDataOptions{.path = folder / "splits", .points = 0});
  EXPECT_EQ(splits.train->size(), 4);
  EXPECT_EQ(splits.test->size(), 4);
  EXPECT_EQ(splits.valid, nullptr);
  write(folder / "splits/more.ply", "");  // neither a split nor a note
  EXPECT_FALSE(is_cloud_folder(folder / "splits"));
  fs::create_directory(folder / "modelnet");
  fs::copy_file(fixtures + "shapes/gzip.h5", folder / "modelnet/train.h5");
  EXPECT_FALSE(is_cloud_folder(folder / "modelnet"));
}

/// train.npz and its like are a data set to whoever looks at the folder.
TEST(CloudFolders, OfArchivesOfSplitsAreInspected) {
  const Folder folder;
  for (const char* split : {"train", "valid", "test"}) {
    write_npz(folder / (std::string(split) + ".npz"),
              std::vector<NamedArray>{array("points", ElementType::f32, {1, 3, 3}, places),
                                      array("label", ElementType::i64, {1}, std::vector<int64_t>{0})});
  }
  std::vector<std::string> seen;
  inspect_path(folder.path(), [&](const std::string& split, const AnyInspection& found) {
    seen.push_back(split);
    EXPECT_EQ(std::get<Inspection>(found).samples, 1);
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"train", "valid", "test"}));
}

}  // namespace cloud_archives_test
}  // namespace weyl
