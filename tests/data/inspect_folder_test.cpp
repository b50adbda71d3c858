// Folders with broken files are inspected all the same, and what is no data set gets advice that fits.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/advice.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/inspect.h"
#include "weyl/makers/particles/nbody.h"

namespace weyl {
namespace inspect_folder_test {

namespace fs = std::filesystem;

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/";

std::map<std::string, Inspection> inspected(const std::string& path) {
  std::map<std::string, Inspection> all;
  inspect_path(path, [&](const std::string& split, const AnyInspection& any) {
    all[split] = std::get<Inspection>(any);
  });
  return all;
}

std::string refused(const std::string& path) {
  return message_of<DataError>([&] { inspected(path); });
}

void write(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

bool any_starts(const std::vector<std::string>& warnings, const std::string& with) {
  return std::ranges::any_of(warnings, [&](const std::string& w) { return w.starts_with(with); });
}

TEST(InspectFolder, GoesOnPastABadSplitOfTensors) {
  const Folder folder;
  ASSERT_TRUE(make_nbody({.train = 3, .valid = 2, .test = 1}, folder / "set"));
  EXPECT_EQ(inspected(folder / "set").size(), 3u);
  const std::string bad = folder / "set/valid.safetensors";
  write(bad, "no tensors");
  const auto found = inspected(folder / "set");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("train").samples, 3);
  EXPECT_EQ(found.at("test").samples, 1);
  ASSERT_EQ(found.at("train").warnings.size(), 1u);
  EXPECT_TRUE(found.at("train").warnings[0].starts_with(bad + ": ")) << found.at("train").warnings[0];
  EXPECT_TRUE(found.at("train").warnings[0].ends_with("; left out"));
  write(folder / "set/train.safetensors", "nor here");
  write(folder / "set/test.safetensors", "nor here");
  EXPECT_TRUE(refused(folder / "set").starts_with(folder / "set/")) << refused(folder / "set");
}

/// Masks beside their images are samples like these, and a line says so; a name alone that ends so is none.
TEST(InspectFolder, MasksAmongImagesAreSaid) {
  const Folder folder;
  fs::create_directory(folder / "set");
  for (const char* name : {"a.1.nii.gz", "a.1_Seg.nii.gz", "b.nii.gz", "b-mask.nii.gz", "c_label.nii.gz"}) {
    fs::copy_file(fixtures + "volumes/two.nii.gz", folder / (std::string("set/") + name));
  }
  const auto found = inspected(folder / "set").at("");
  EXPECT_EQ(found.samples, 5);
  EXPECT_TRUE(
      any_starts(found.warnings, "2 samples seem to be masks of others, by their names, the first is "));
  for (const char* name : {"a.1_Seg.nii.gz", "b-mask.nii.gz"}) {
    fs::remove(folder / (std::string("set/") + name));
  }
  const auto left = inspected(folder / "set").at("");
  for (const std::string& warning : left.warnings) {
    EXPECT_EQ(warning.find("masks"), std::string::npos) << warning;
  }
}

TEST(InspectFolder, GoesOnPastABadVolumeAndMergesTheOthers) {
  const Folder folder;
  fs::create_directory(folder / "set");
  for (const char* name : {"a.nii.gz", "c.nii.gz"}) {
    fs::copy_file(fixtures + "volumes/two.nii.gz", folder / (std::string("set/") + name));
  }
  const auto all = inspected(folder / "set").at("");
  ASSERT_EQ(all.samples, 2);
  write(folder / "set/b.nii.gz", "no volume");
  const auto found = inspected(folder / "set").at("");
  EXPECT_EQ(found.samples, 2);
  EXPECT_EQ(found.carrier, Carrier::grid);
  EXPECT_EQ(found.most_tokens, all.most_tokens);
  EXPECT_EQ(found.mean_tokens, all.mean_tokens);
  ASSERT_EQ(found.fields.size(), all.fields.size());
  EXPECT_EQ(found.fields[0].shape, all.fields[0].shape);
  EXPECT_EQ(found.fields[0].min, all.fields[0].min);
  EXPECT_EQ(found.fields[0].max, all.fields[0].max);
  EXPECT_TRUE(any_starts(found.warnings, folder / "set/b.nii.gz: "));
}

TEST(InspectFolder, GoesOnPastABadMeshOfAClass) {
  const Folder folder;
  for (const char* place : {"set/cube/train", "set/cube/test", "set/ball/train", "set/ball/test"}) {
    fs::create_directories(folder / place);
    fs::copy_file(fixtures + "shapes/tetrahedron.off", folder / (std::string(place) + "/a.off"));
  }
  write(folder / "set/ball/train/b.off", "OFF\n1 2\n");
  const auto found = inspected(folder / "set");
  EXPECT_EQ(found.at("train").samples, 2);
  EXPECT_EQ(found.at("test").samples, 2);
  EXPECT_TRUE(any_starts(found.at("train").warnings, folder / "set/ball/train/b.off"))
      << found.at("train").warnings.at(0);
}

TEST(InspectFolder, GoesOnPastABadPicture) {
  const Folder folder;
  fs::create_directory(folder / "set");
  fs::copy_file(fixtures + "images/rgb_8.png", folder / "set/a.png");
  write(folder / "set/b.png", "no picture");
  const auto found = inspected(folder / "set").at("");
  EXPECT_EQ(found.samples, 1);
  EXPECT_TRUE(any_starts(found.warnings, folder / "set/b.png"));
  fs::remove(folder / "set/a.png");
  EXPECT_NE(refused(folder / "set").find("b.png"), std::string::npos) << refused(folder / "set");
}

TEST(InspectFolder, SaysWhatAFileSeemsToBe) {
  const Folder folder;
  const NamedArray points{"things", {ElementType::f32, {4, 3}, std::vector<std::byte>(48)}};
  write_npz(folder / "cloud.npz", {&points, 1});
  const std::string npz = refused(folder / "cloud.npz");
  EXPECT_TRUE(
      npz.starts_with(folder / "cloud.npz: is no trajectory, which has places (R or coords) and atomic "
                               "numbers (z or nuclear_charges), it has 'things' F32 [4, 3]; "))
      << npz;
  EXPECT_NE(npz.find("data.set = \"clouds\""), std::string::npos) << npz;
  const std::string ply = "ply\nformat ascii 1.0\nelement vertex 0\nend_header\n";
  write(folder / "a.ply", ply);
  write(folder / "b.scan", ply);
  write(folder / "a.pdb", "ATOM\n");
  write(folder / "OUTCAR", "vasp\n");
  EXPECT_NE(advice_for(folder / "a.ply").find("data.set = \"clouds\""), std::string::npos);
  EXPECT_TRUE(advice_for(folder / "a.ply").starts_with("seems to be a PLY cloud or mesh"));
  EXPECT_EQ(advice_for(folder / "b.scan"), advice_for(folder / "a.ply"));
  EXPECT_NE(refused(folder / "a.pdb").find("seems to be a PDB file; "), std::string::npos);
  EXPECT_NE(refused(folder / "OUTCAR").find("ase convert"), std::string::npos);
  EXPECT_EQ(advice_for(folder / "none"), "");
  // Tables are no trajectories, whatever their names end in.
  const std::string table = refused(WEYL_SOURCE_DIR "/tests/fixtures/molecules/gdb9/gdb9.sdf.csv");
  EXPECT_NE(table.find("gdb9.sdf.csv: is the table of the molecules in 'gdb9.sdf', with which it is read"),
            std::string::npos)
      << table;
  write(folder / "solubility.csv", "smiles,logS\nCCO,1.5\n");
  EXPECT_NE(refused(folder / "solubility.csv")
                .find("is a table of 'smiles', 'logS', which name no pose; tables are read beside"),
            std::string::npos)
      << refused(folder / "solubility.csv");
  write(folder / "nine.csv", "a,b,c,d,e,f,g,h,i\n0.1,1,2,3,4,5,6,7,8\n");
  EXPECT_NE(refused(folder / "nine.csv").find("is a table of 'a', 'b', 'c', 'd', 'e', 'f', ..., "),
            std::string::npos)
      << refused(folder / "nine.csv");
  write(folder / "cloud.csv", "x,y,z\n1,2,3\n");
  EXPECT_NE(refused(folder / "cloud.csv").find("seems to be a point cloud; "), std::string::npos)
      << refused(folder / "cloud.csv");
  // What may be EuRoC's is judged as such.
  write(folder / "euroc.csv", "a,b,c,d,e,f,g,h\n1403636579763555584,1,2,3,4,0,0,0\n");
  EXPECT_NE(refused(folder / "euroc.csv").find("line 1: the header must name a translation (x y z)"),
            std::string::npos)
      << refused(folder / "euroc.csv");
}

TEST(InspectFolder, SaysWhatAFolderHolds) {
  const Folder folder;
  fs::create_directory(folder / "empty");
  EXPECT_EQ(refused(folder / "empty"), folder / "empty: is an empty folder");
  fs::create_directory(folder / "logs");
  write(folder / "logs/a.log", "x");
  write(folder / "logs/b.log", "x");
  write(folder / "logs/README", "x");
  EXPECT_EQ(refused(folder / "logs"), folder / "logs: holds no data set (1 without ending, 2 '.log')");
  fs::create_directories(folder / "above/set");
  fs::copy_file(fixtures + "molecules/ase.xyz", folder / "above/set/a.xyz");
  EXPECT_EQ(refused(folder / "above"),
            folder / "above: holds no data set (1 folder); its folder 'set' is one: inspect that");
  fs::create_directory(folder / "md17");
  fs::copy_file(fixtures + "molecules/npz/md17.npz", folder / "md17/a.npz");
  EXPECT_NE(refused(folder / "md17").find("; its file 'a.npz' is one: inspect that"), std::string::npos)
      << refused(folder / "md17");
  const NamedArray points{"things", {ElementType::f32, {4, 3}, std::vector<std::byte>(48)}};
  for (const char* place : {"clouds/chair", "clouds/table"}) {
    fs::create_directories(folder / place);
    write_npz(folder / (std::string(place) + "/a.npz"), {&points, 1});
  }
  EXPECT_NE(refused(folder / "clouds").find("holds no data set (2 folders); point clouds"), std::string::npos)
      << refused(folder / "clouds");
  EXPECT_NE(refused(folder / "clouds/chair").find("'a.npz' is no trajectory"), std::string::npos)
      << refused(folder / "clouds/chair");
}

/// The samples of a folder of clouds with classes, whose first warnings name the faults and no other file.
int64_t clouds_beside_faults(const std::string& path, const std::vector<std::string>& faults) {
  int64_t samples = 0;
  size_t named = 0;
  for (const auto& [split, found] : inspected(path)) {
    EXPECT_EQ(found.carrier, Carrier::points) << split;
    EXPECT_EQ(found.labels.size(), 1u) << split;
    samples += found.samples;
    for (const std::string& fault : faults) {
      EXPECT_TRUE(split != "train" || any_starts(found.warnings, fault + ":")) << fault;
    }
    named += std::ranges::count_if(found.warnings, [](const auto& w) { return w.ends_with("; left out"); });
  }
  EXPECT_EQ(named, faults.size());
  return samples;
}

TEST(InspectFolder, SeesPointClouds) {
  const Folder folder;
  const NamedArray two{"positions", {ElementType::f32, {2, 3}, std::vector<std::byte>(24)}};
  const std::string ply =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
      "end_header\n0 0 0\n1 0 0\n0 2 0\n";
  for (const char* place : {"set/chair", "set/table"}) {
    fs::create_directories(folder / place);
    write_npz(folder / (std::string(place) + "/a.npz"), {&two, 1});
    write(folder / (std::string(place) + "/b.ply"), ply);
    write(folder / (std::string(place) + "/c.txt"), "0 0 0\n1 1 1\n2 2 2\n3 3 3\n");
  }
  int64_t samples = 0, most = 0, least = 100;
  for (const auto& [split, found] : inspected(folder / "set")) {
    EXPECT_EQ(found.carrier, Carrier::points) << split;
    EXPECT_EQ(found.labels.size(), 1u) << split;
    samples += found.samples;
    most = std::max(most, found.most_tokens);
    least = std::min(least, found.least_tokens);
  }
  EXPECT_EQ(samples, 6);
  EXPECT_EQ(most, 4);
  EXPECT_EQ(least, 2);
  EXPECT_EQ(inspected(folder / "set/chair/b.ply").at("").most_tokens, 3);
  EXPECT_EQ(inspected(folder / "set/chair/a.npz").at("").most_tokens, 2);
  // A broken one is named, and the others are told all the same.
  write(folder / "set/table/b.ply", "ply\nformat ascii 1.0\nend_header\n");
  EXPECT_EQ(clouds_beside_faults(folder / "set", {folder / "set/table/b.ply"}), 5);
}

TEST(InspectFolder, SeesPointCloudsThatBeginWithTheirCount) {
  const std::string set = fixtures + "reports/18_class_folders_with_counts";
  int64_t samples = 0;
  for (const auto& [split, found] : inspected(set)) {
    EXPECT_EQ(found.least_tokens, 50) << split;
    EXPECT_EQ(found.most_tokens, 50) << split;
    EXPECT_EQ(found.labels.at(0).name, "class") << split;
    samples += found.samples;
  }
  EXPECT_EQ(samples, 12);
  EXPECT_EQ(inspected(set + "/a/0.txt").at("").most_tokens, 50);  // one file alone
}

/// Each format alone, with a broken file first in a class and one in the midst of another.
TEST(InspectFolder, GoesOnPastBadCloudsOfClasses) {
  const NamedArray three{"points", {ElementType::f32, {3, 3}, std::vector<std::byte>(36)}};
  const std::string table = "0 0 0\n1 0 0\n0 2 0\n";
  for (const std::string end : {"npz", "ply", "off", "xyz", "txt", "h5"}) {
    SCOPED_TRACE(end);
    const Folder folder;
    for (const char* place : {"set/chair", "set/table"}) {
      fs::create_directories(folder / place);
      for (const char* name : {"a", "b", "c"}) {
        const std::string path = folder / (std::string(place) + "/" + name + "." + end);
        if (end == "npz") {
          write_npz(path, {&three, 1});
        } else if (end == "h5") {
          fs::copy_file(fixtures + "clouds/one.h5", path);
        } else {
          write(path, (end == "ply"   ? "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty "
                                        "float y\nproperty float z\nend_header\n"
                       : end == "off" ? "OFF\n3 0 0\n"
                                      : "") +
                          table);
        }
      }
    }
    const std::vector<std::string> bad{folder / ("set/chair/a." + end), folder / ("set/table/b." + end)};
    write(bad[0], "nothing of it\n");
    fs::resize_file(bad[1], fs::file_size(bad[1]) - 2);
    std::ofstream(bad[1], std::ios::app | std::ios::binary) << "x";
    EXPECT_EQ(clouds_beside_faults(folder / "set", bad), 4);
    // A class whose only file is broken is none, and the others are told all the same.
    fs::create_directories(folder / "set/lamp");
    write(folder / ("set/lamp/a." + end), "nor here\n");
    EXPECT_EQ(clouds_beside_faults(folder / "set", {folder / ("set/lamp/a." + end), bad[0], bad[1]}), 4);
    for (const fs::path& file : {fs::path(folder / "set/chair"), fs::path(folder / "set/table")}) {
      fs::remove_all(file);
    }
    EXPECT_THROW(inspected(folder / "set"), DataError);  // nothing is left
  }
}

}  // namespace inspect_folder_test
}  // namespace weyl
