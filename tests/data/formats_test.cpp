// The list of file formats: each format has an example here that it alone takes, and whoever goes over the
// list finds its words there.
#include "weyl/data/formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/data/folder.h"
#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/convert.h"
#include "weyl/data/format_words.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"
#include "weyl/makers/particles/nbody.h"

namespace weyl {
namespace formats_test {

namespace fs = std::filesystem;

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/";

/// Makes the files that no fixture holds.
class Formats : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_nbody({.train = 2, .valid = 0, .test = 0}, folder_ / "nbody"));
    std::ofstream amat(folder_ / "digits.amat");
    for (int pixel = 0; pixel < 784; ++pixel) {
      amat << "0.5 ";
    }
    amat << "7\n";
    std::ofstream(folder_ / "cloud.ply")
        << "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n"
           "property float z\nend_header\n0 0 0\n1 2 3\n";
    const NamedArray positions{"positions", {ElementType::f32, {5, 4, 3}, std::vector<std::byte>(240)}};
    write_npz(folder_ / "clouds.npz", {&positions, 1});
    std::ofstream(folder_ / "test_batch.bin", std::ios::binary) << std::string(2 * 3073, '\0');
  }

  /// By what a format holds: paths that `open_file` opens by it.
  std::map<std::string, std::vector<std::string>> examples() const {
    return {
        {"point clouds", {folder_ / "cloud.ply", folder_ / "clouds.npz"}},
        {"frames of atoms",
         {fixtures + "molecules/ase.xyz", fixtures + "molecules/npz/md17.npz", fixtures + "molecules/deepmd",
          fixtures + "molecules/qm9", fixtures + "molecules/lmdb/ase.aselmdb",
          fixtures + "molecules/lmdb/folder"}},
        {"particles", {folder_ / "nbody/train.safetensors"}},
        {"rigid bodies", {fixtures + "rigid/tetrahedra.safetensors"}},
        {"tensors", {fixtures + "points/two_graphs.safetensors"}},
        {"volumes",
         {fixtures + "volumes/two.nii.gz", fixtures + "volumes/small.mha", fixtures + "volumes/small.nrrd"}},
        {"shapes", {fixtures + "shapes/gzip.h5", fixtures + "shapes/tetrahedron.off"}},
        {"poses", {fixtures + "poses/desk.tum.txt", fixtures + "poses/hall.euroc.csv"}},
        {"CIFAR-10", {folder_ / "test_batch.bin"}},
        {"digits", {folder_ / "digits.amat"}},
        {"images", {fixtures + "images/colours.jpg", fixtures + "images/rgb_16.png"}}};
  }

  Folder folder_;
};

TEST_F(Formats, HaveWordsOfTheirOwn) {
  std::set<std::string> seen;
  each_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    EXPECT_TRUE(seen.insert(Format::holds).second) << Format::holds;
    EXPECT_FALSE(Format::names().empty()) << Format::holds;
    EXPECT_TRUE(CanOpen<Format> || HasLayout<Format> || CanConvert<Format> || CanInspect<Format>)
        << Format::holds;
    EXPECT_FALSE(AsTensors<Format> && (CanConvert<Format> || CanSplit<Format>)) << Format::holds;
  });
  EXPECT_EQ(seen.size(), std::variant_size_v<FileFormats>);
}

TEST_F(Formats, TakeTheirExamplesAndNobodyBeforeThemDoes) {
  const auto all = examples();
  size_t opened = 0;
  each_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (CanOpen<Format>) {
      ++opened;
      ASSERT_TRUE(all.contains(Format::holds)) << "a new format needs an example: " << Format::holds;
      for (const std::string& path : all.at(Format::holds)) {
        std::string first;
        any_alternative<FileFormats>([&]<class Other>(std::type_identity<Other>) {
          if constexpr (CanOpen<Other>) {
            first = Other::takes(path, {}) ? Other::holds : "";
          }
          return !first.empty();
        });
        EXPECT_EQ(first, Format::holds) << path;
        EXPECT_GT(open_file(path, {}, nullptr, Values::any)->size(), 0) << path;
      }
    }
  });
  EXPECT_EQ(opened, all.size());
}

TEST_F(Formats, AreInspectedWhateverTheyAre) {
  for (const auto& [holds, paths] : examples()) {
    for (const std::string& path : paths) {
      int64_t samples = 0;
      inspect_path(path, [&](const std::string& split, const AnyInspection& any) {
        EXPECT_EQ(split, "") << path;
        EXPECT_EQ(std::holds_alternative<FrameInspection>(any), holds == "frames of atoms") << path;
        const auto* found = std::get_if<Inspection>(&any);
        samples += found != nullptr ? found->samples : std::get<FrameInspection>(any).frames;
      });
      EXPECT_GT(samples, 0) << path;
    }
  }
}

TEST_F(Formats, FoldersAreToldByTheirLayout) {
  const auto splits_in = [](const std::string& folder) {
    std::string names;
    for (const auto& [split, data] : open_for_inspection(folder)) {
      names += split + "," + std::string(carrier_names[static_cast<size_t>(data->schema().carrier())]) + " ";
    }
    return names;
  };
  EXPECT_EQ(splits_in(folder_ / "nbody"), "train,points ");
  fs::copy_file(fixtures + "images/rgb_8.png", folder_ / "nbody/picture.png");
  EXPECT_EQ(splits_in(folder_ / "nbody"), "train,points ");  // a picture may lie beside anything
  fs::create_directory(folder_ / "bodies");
  fs::copy_file(fixtures + "rigid/tetrahedra.safetensors", folder_ / "bodies/train.safetensors");
  EXPECT_EQ(splits_in(folder_ / "bodies"), "train,points ");
  fs::create_directory(folder_ / "pictures");
  fs::copy_file(fixtures + "images/rgb_8.png", folder_ / "pictures/a.png");
  EXPECT_EQ(splits_in(folder_ / "pictures"), ",grid ");
  fs::copy_file(fixtures + "molecules/ase.xyz", folder_ / "pictures/a.xyz");
  EXPECT_EQ(splits_in(folder_ / "pictures"), ",points ");  // frames first
  fs::create_directory(folder_ / "nothing");
  EXPECT_EQ(message_of<DataError>([&] { splits_in(folder_ / "nothing"); }),
            folder_ / "nothing: is an empty folder");
}

TEST_F(Formats, OptionsOfTheSetDecideWhatNamesDoNot) {
  const std::string archive = fixtures + "numpy/stored.npz";
  EXPECT_FALSE(DigitFiles::takes(archive, {}));
  EXPECT_TRUE(DigitFiles::takes(archive, AskedSet(RotatedMnistDataOptions{})));
  EXPECT_FALSE(CifarBatches::takes("any.bin", {}));
  EXPECT_TRUE(CifarBatches::takes("any.bin", AskedSet(Cifar10DataOptions{})));
  const CloudsDataOptions clouds;
  for (const char* name : {"a.ply", "a.pcd", "a.las", "a.off", "a.bin", "a.h5", "a.hdf5", "a.xyz", "a.txt",
                           "a.csv", "a.pts", "a.asc", "a.npz"}) {
    EXPECT_TRUE(CloudFiles::takes(name, AskedSet(clouds))) << name;
    EXPECT_EQ(CloudFiles::takes(name, {}),
              std::string(name) == "a.ply" || std::string(name) == "a.pcd" || std::string(name) == "a.las")
        << name;
  }
  EXPECT_FALSE(CloudFiles::takes(archive, {}));  // no positions
  EXPECT_FALSE(CloudFiles::takes(fixtures + "molecules/npz/md17.npz", {}));
}

TEST_F(Formats, AreAllNamedWhereAPathIsOfNone) {
  const std::string path = folder_ / "a.docx";
  std::ofstream(path) << "words";
  EXPECT_EQ(
      message_of<DataError>([&] { open_file(path, {}); }),
      path +
          ": must be point clouds (.ply, .pcd, .las, .npz), frames of atoms (.xyz, .extxyz, .sdf, .sd, .mol, .npz, "
          ".aselmdb, .lmdb, .tar, DeePMD, PCQM4Mv2, Molecule3D), particles "
          "(.safetensors), rigid bodies (.safetensors), tensors (.safetensors), volumes (.nii, "
          ".nii.gz, .mha, .nrrd), shapes (.h5, .off), poses "
          "(.txt, .csv, .tum, .kitti), CIFAR-10 (.bin), digits (.amat, IDX), images (.png, .jpg, .bmp) "
          "or a folder");
  const std::string converted = message_of<ConfigError>([&] { convert(path, folder_ / "b.docx"); });
  for (const std::string& words : formats_for(FormatUse::convert)) {
    EXPECT_NE(converted.find(words), std::string::npos) << words;
  }
  EXPECT_TRUE(converted.ends_with(", got " + path + " to " + folder_ / "b.docx")) << converted;
  const std::string split = message_of<DataError>([&] { split_file(path, folder_ / "parts", {}); });
  for (const std::string& words : formats_for(FormatUse::split)) {
    EXPECT_NE(split.find(words), std::string::npos) << words;
  }
  EXPECT_EQ(message_of<DataError>([&] { split_file(folder_ / "none.xyz", folder_ / "parts", {}); }),
            folder_ / "none.xyz: there is no such file");
}

TEST_F(Formats, ConversionsRefuseOptionsThatTheyHaveNot) {
  const std::string out = folder_ / "out.safetensors";
  EXPECT_EQ(message_of<ConfigError>([&] { convert(fixtures + "images/rgb_8.png", out, {"length=4"}); }),
            "convert: images to .safetensors take no options, got 'length=4'");
  EXPECT_EQ(message_of<ConfigError>([&] { convert(fixtures + "numpy/stored.npz", out, {"to=eV"}); }),
            "override 'to=eV': to: unknown key; the keys here are group, length_unit, time_unit");
  EXPECT_NE(message_of<ConfigError>([&] {
              convert(fixtures + "poses/desk.tum.txt", out, {"lenght=4"});
            }).find("did you mean 'length'?"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(out));
  // A trajectory of another name, when the options say its format.
  fs::copy_file(fixtures + "poses/desk.tum.txt", folder_ / "desk.log");
  EXPECT_THROW(convert(folder_ / "desk.log", out), ConfigError);
  EXPECT_EQ(convert(folder_ / "desk.log", out, {"format=tum"}).files, std::vector<std::string>{out});
}

TEST_F(Formats, ConvertedFramesSayWhatIsLeftOut) {
  const Converted converted = convert(fixtures + "molecules/npz/rmd17.npz", folder_ / "a.xyz");
  EXPECT_TRUE(converted.left_out.empty());
  const Converted back = convert(folder_ / "a.xyz", folder_ / "b.npz");
  EXPECT_EQ(back.files, std::vector<std::string>{folder_ / "b.npz"});
  EXPECT_FALSE(back.left_out.empty());
  const auto& names = back.left_out;
  EXPECT_TRUE(std::ranges::find(names, "old_indices") != names.end());
}

}  // namespace formats_test
}  // namespace weyl
