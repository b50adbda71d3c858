// Point clouds of one's own: every format gives the same points, every layout the classes and splits that it says.
#include "weyl/data/clouds/clouds.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "tests/data/clouds/cloud_samples.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/clouds/cloud_layout.h"
#include "weyl/data/clouds/point_clouds.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"

namespace weyl {
namespace clouds_test {

const std::vector<float> normals{1, 0, 0, 0, 1, 0, 0, 0, 1};
const std::vector<uint8_t> colours{255, 0, 51, 0, 255, 102, 51, 51, 0};

/// The same three points with normals and colours in a file of the ending.
std::string written(const std::string& folder, const std::string& end) {
  const std::string path = folder + "/cloud." + end;
  if (end == "npz") {
    const std::vector<NamedArray> arrays{array("points", ElementType::f32, {3, 3}, places),
                                         array("normal", ElementType::f32, {3, 3}, normals),
                                         array("colour", ElementType::u8, {3, 3}, colours)};
    write_npz(path, arrays);
    return path;
  }
  std::string rows;
  for (size_t p = 0; p < 3; ++p) {
    for (size_t d = 0; d < 3; ++d) {
      rows += text(places[3 * p + d], " ");
    }
    for (size_t d = 0; d < 3; ++d) {
      rows += text(normals[3 * p + d], " ");
    }
    for (size_t d = 0; d < 3; ++d) {
      rows += end == "ply" ? text(int{colours[3 * p + d]}, " ") : text(colours[3 * p + d] / 255.0, " ");
    }
    rows += "\n";
  }
  if (end == "ply") {
    std::string head = "ply\nformat ascii 1.0\nelement vertex 3\n";
    for (const char* name : {"x", "y", "z", "nx", "ny", "nz"}) {
      head += text("property float ", name, "\n");
    }
    for (const char* name : {"red", "green", "blue"}) {
      head += text("property uchar ", name, "\n");
    }
    write(path, head + "end_header\n" + rows);
  } else {
    write(path, "x y z nx ny nz red green blue\n" + rows);
  }
  return path;
}

const std::vector<CloudFeature> both{{"normal", CloudFeatureKind::normal},
                                     {"colour", CloudFeatureKind::scalar, 3}};

/// Folders of two classes with `count` clouds each, of `points` points each.
void make_classes(const std::string& folder, int count, int points) {
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < count; ++i) {
      std::string rows;
      for (int p = 0; p < points; ++p) {
        rows += text(p, " ", k + 0.5 * i, " ", (p * p) % 7, "\n");
      }
      write(text(folder, k == 0 ? "/ball" : "/rod", "/", i, ".txt"), rows);
    }
  }
}

TEST(Clouds, AreTheSameInEveryFormat) {
  const Folder folder;
  const CloudsDataOptions o{.features = both, .points = 0, .fit = false};
  for (const char* end : {"npz", "ply", "txt", "xyz", "csv", "pts", "asc"}) {
    const auto data = open_cloud_files(written(folder.path(), end), o);
    ASSERT_EQ(data->size(), 1) << end;
    EXPECT_TRUE(data->schema().labels.empty()) << end;
    EXPECT_EQ(data->source(0), folder / (std::string("cloud.") + end));
    const auto& features = data->schema().interface.features;
    ASSERT_EQ(features.size(), 2u) << end;
    EXPECT_EQ(features[0].kind, Kind::vector);
    EXPECT_EQ(features[0].role, Role::normal);
    EXPECT_EQ(features[1].channels, 3);
    const Batch batch = sample(data, 0);
    const Points& p = points_of(batch);
    const auto floats = [](const std::vector<float>& v) { return at::tensor(v, at::kFloat).to(at::kDouble); };
    EXPECT_TRUE(at::equal(p.positions, floats(places).view({3, 3}))) << end;
    EXPECT_TRUE(at::equal(p.vectors, floats(normals).view({3, 1, 3}))) << end;
    const at::Tensor bytes = at::tensor(std::vector<int64_t>(colours.begin(), colours.end()), at::kLong);
    EXPECT_TRUE(at::allclose(p.scalars, (bytes.to(at::kDouble) / 255).view({3, 3}), 0, 1e-5)) << end;
  }
  write(folder / "a.off", "OFF\n2 0 0\n1 2 3\n4 5 6\n");
  const auto off = open_cloud_files(folder / "a.off", {.points = 0, .fit = false});
  EXPECT_TRUE(
      at::equal(points_of(sample(off, 0)).positions, at::tensor({1., 2., 3., 4., 5., 6.}).view({2, 3})));
}

TEST(Clouds, ManyInAFileKeepTheirLabels) {
  const Folder folder;
  const std::vector<float> positions{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 3};
  const std::vector<int64_t> labels{2, 0, 1};
  const std::vector<double> masses{1, 2, 3, 4, 5, 6};
  write_npz(folder / "a.npz",
            std::vector<NamedArray>{array("positions", ElementType::f32, {3, 2, 3}, positions),
                                    array("labels", ElementType::i64, {3}, labels),
                                    array("mass", ElementType::f64, {3, 2}, masses)});
  write_point_clouds(folder / "a.h5", {2, positions, labels});
  for (const char* name : {"a.npz", "a.h5"}) {
    CloudsDataOptions o{
        .path = folder / name, .points = 0, .fit = false, .train_fraction = 1, .valid_fraction = 0};
    if (o.path.ends_with(".npz")) {
      o.features = {{.key = "mass"}};
    }
    const Splits splits = open_set(o);
    EXPECT_EQ(classes_of(splits.train), labels) << name;
    EXPECT_EQ(splits.train->schema().labels.at(0).categories, 3) << name;
    EXPECT_EQ(splits.train->source(0), "") << name;
    EXPECT_EQ(splits.test, nullptr);
    const Batch batch = sample(splits.train, 2);
    EXPECT_EQ(points_of(batch).positions[1][2].item<double>(), 3) << name;
    if (!o.features.empty()) {
      EXPECT_EQ(points_of(batch).scalars[1][0].item<double>(), 6);
    }
  }
  // By names of one's own, and as files of the splits.
  fs::create_directory(folder / "set");
  write_npz(folder / "set/train.npz",
            std::vector<NamedArray>{array("R", ElementType::f32, {3, 2, 3}, positions),
                                    array("kind", ElementType::i64, {3}, labels)});
  fs::copy_file(folder / "set/train.npz", folder / "set/test.npz");
  const Splits splits =
      open_set(CloudsDataOptions{.path = folder / "set", .positions = "R", .label = "kind"});
  EXPECT_EQ(classes_of(splits.train), labels);
  EXPECT_EQ(classes_of(splits.test), labels);
  EXPECT_EQ(splits.valid, nullptr);
}

TEST(Clouds, FoldersAreClassesWithOrWithoutSplits) {
  const Folder folder;
  make_classes(folder / "set", 10, 5);
  write(folder / "set/names.txt", "ball\nrod\n");  // notes may lie beside the folders
  const CloudsDataOptions o{.path = folder / "set"};
  const Splits drawn = open_set(o);
  EXPECT_EQ(drawn.train->size(), 16);
  EXPECT_EQ(drawn.valid->size(), 2);
  EXPECT_EQ(drawn.test->size(), 2);
  EXPECT_EQ(drawn.train->schema().category_names.at("class"), (std::vector<std::string>{"ball", "rod"}));
  std::set<std::string> sources;
  for (const auto& split : {drawn.train, drawn.valid, drawn.test}) {
    for (int64_t i = 0; i < split->size(); ++i) {
      sources.insert(split->source(i));
      const bool rod = split->source(i).find("/rod/") != std::string::npos;
      EXPECT_EQ(sample(split, i).labels.at("class").item<int64_t>(), rod ? 1 : 0) << split->source(i);
    }
  }
  EXPECT_EQ(sources.size(), 20u);
  CloudsDataOptions other = o;
  other.seed = 1;
  EXPECT_NE(open_set(other).test->source(0) + open_set(other).test->source(1),
            drawn.test->source(0) + drawn.test->source(1));
  make_classes(folder / "split/train", 2, 5);
  make_classes(folder / "split/test", 1, 5);
  const Splits given = open_set(CloudsDataOptions{.path = folder / "split"});
  EXPECT_EQ(classes_of(given.train), (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(classes_of(given.test), (std::vector<int64_t>{0, 1}));
  write(folder / "split/test/cone/a.txt", "0 0 0\n");
  EXPECT_EQ(message_of<DataError>([&] { open_set(CloudsDataOptions{.path = folder / "split"}); }),
            folder / "split/test/cone: is no class of the training clouds");
}

TEST(Clouds, FoldersOfSplitsLoseNothingInSilence) {
  const Folder folder;
  make_classes(folder / "split/train", 2, 5);
  make_classes(folder / "split/val", 1, 5);
  make_classes(folder / "split/dev", 1, 5);
  const CloudsDataOptions o{.path = folder / "split"};
  const Splits splits = open_set(o);
  ASSERT_NE(splits.valid, nullptr);
  EXPECT_EQ(classes_of(splits.valid), (std::vector<int64_t>{0, 1}));
  ASSERT_EQ(splits.train->schema().warnings.size(), 1u);
  EXPECT_TRUE(splits.train->schema().warnings[0].starts_with(folder / "split: the folder 'dev' is left out"));
  write(folder / "split/val/loose.ply", "ply\n");
  EXPECT_TRUE(message_of<DataError>([&] {
                open_set(o);
              }).starts_with(folder / "split/val: holds folders of classes and clouds beside them"));
  fs::create_directories(folder / "split/valid");
  EXPECT_EQ(message_of<DataError>([&] { open_set(o); }),
            folder / "split: must have one of the folders valid and val, has both");
}

TEST(Clouds, ArchivesOfAtomsAreNone) {
  const Folder folder;
  const std::vector<NamedArray> clouds{array("coords", ElementType::f32, {3, 3}, places)};
  auto atoms = clouds;
  atoms.push_back(array("nuclear_charges", ElementType::u8, {3}, std::vector<uint8_t>{6, 1, 1}));
  fs::create_directories(folder / "set/ethanol");
  write_npz(folder / "set/ethanol/a.npz", clouds);
  EXPECT_TRUE(is_cloud_folder(folder / "set"));
  fs::remove(folder / "set/ethanol/a.npz");
  write_npz(folder / "set/ethanol/a.npz", atoms);
  EXPECT_FALSE(is_cloud_folder(folder / "set"));
}

/// A scan of KITTI's in the folder of its sequence, beside a trajectory, and its labels unless there are none.
void put_scan(const std::string& sequence, const std::string& name, bool labels = true) {
  const std::string from = WEYL_SOURCE_DIR "/tests/fixtures/clouds/sequence/";
  for (const auto& [folder, end] : {std::pair{"/velodyne/", ".bin"}, {"/labels/", ".label"}}) {
    if (labels || std::string_view(end) == ".bin") {
      fs::create_directories(sequence + folder);
      fs::copy_file(from + folder + "000000" + end, sequence + folder + name + end);
    }
  }
  write(sequence + "/poses.txt", "1 0 0 0 0 1 0 0 0 0 1 0\n");
  write(sequence + "/times.txt", "0.0\n");
}

/// Sizes of the splits, 0 where there is none.
std::array<int64_t, 3> sizes_of(const Splits& splits) {
  const auto size = [](const auto& split) { return split == nullptr ? 0 : split->size(); };
  return {size(splits.train), size(splits.valid), size(splits.test)};
}

/// What training reads is what whoever looks at the folder takes for clouds.
TEST(Clouds, ScansOfSequencesAreReadWhereverTheirFolderIsGiven) {
  const Folder folder;
  using Sizes = std::array<int64_t, 3>;
  for (const char* name : {"000000", "000001"}) {
    put_scan(folder / "kitti/sequences/00", name);
    put_scan(folder / "kitti/sequences/08", name);
    put_scan(folder / "kitti/sequences/11", name, false);
    for (const char* split : {"train", "val", "test"}) {
      put_scan(folder / (std::string("split/") + split), name);
    }
    put_scan(folder / "bare/00", name, false);
  }
  CloudsDataOptions o{.point_label = "label", .points = 0};
  for (const char* path : {"kitti", "kitti/sequences"}) {
    o.path = folder / path;
    EXPECT_TRUE(is_cloud_folder(o.path)) << path;
    const Splits splits = open_set(o);
    EXPECT_EQ(sizes_of(splits), (Sizes{2, 2, 0})) << path;
    EXPECT_EQ(splits.valid->source(0), folder / "kitti/sequences/08/velodyne/000000.bin");
    EXPECT_EQ(
        splits.train->schema().warnings,
        std::vector<std::string>{o.path + ": scans without labels beside them are left out, those of '11'"});
    EXPECT_EQ(sizes_of(open_set(CloudsDataOptions{.path = o.path, .points = 0})), (Sizes{2, 2, 2})) << path;
    EXPECT_EQ(open_for_inspection(o.path).size(), 3u) << path;
  }
  // Without 08 the last that may be learned from is for validation, and what is tested is never learned from.
  for (const char* sequence : {"00", "02", "12"}) {
    put_scan(folder / (std::string("few/") + sequence), "000000");
  }
  o.path = folder / "few";
  const Splits few = open_set(o);
  EXPECT_EQ(sizes_of(few), (Sizes{1, 1, 1}));
  EXPECT_EQ(few.valid->source(0), folder / "few/02/velodyne/000000.bin");
  EXPECT_EQ(few.test->source(0), folder / "few/12/velodyne/000000.bin");
  OpenedAs how;
  EXPECT_EQ(open_file(o.path, {.set = o}, nullptr, Values::checked, Keep::in_memory, &how)->size(), 1);
  EXPECT_EQ(how.part,
            o.path +
                ": is a data set with splits, of which test is taken, 1 of 3 samples; a folder or file of it "
                "gives others");
  // Of one sequence, or of its scans alone, nobody knows splits.
  o.train_fraction = 1;
  o.valid_fraction = 0;
  for (const char* path : {"kitti/sequences/00", "kitti/sequences/00/velodyne"}) {
    o.path = folder / path;
    EXPECT_TRUE(is_cloud_folder(o.path)) << path;
    EXPECT_EQ(sizes_of(open_set(o)), (Sizes{2, 0, 0})) << path;
  }
  o.path = folder / "split";
  EXPECT_TRUE(is_cloud_folder(o.path));
  EXPECT_EQ(sizes_of(open_set(o)), (Sizes{2, 2, 2}));
  EXPECT_EQ(open_for_inspection(o.path).size(), 3u);
  // Without labels they say no classes: a folder of sequences is its trajectories to who does not ask for clouds.
  o.path = folder / "bare";
  EXPECT_FALSE(is_cloud_folder(o.path));
  EXPECT_NE(message_of<DataError>([&] { open_set(o); }).find("has no column 'label'"), std::string::npos);
  EXPECT_EQ(sizes_of(open_set(CloudsDataOptions{.path = o.path, .train_fraction = 1, .valid_fraction = 0})),
            (Sizes{2, 0, 0}));
  EXPECT_EQ(open_file(folder / "bare/00/velodyne", {})->size(), 2);
}

TEST(Clouds, ATableSaysClassesAndSplits) {
  const Folder folder;
  for (const char* name : {"a.txt", "b.txt", "below/c.txt", "d.txt"}) {
    write(folder / name, "0 0 0\n1 1 1\n");
  }
  CloudsDataOptions o{.path = folder.path(), .labels = "table.csv"};
  write(folder / "table.csv",
        "file,class,split\r\na.txt,rod,train\r\nb.txt,ball,train\r\nbelow/c.txt,rod,test\r\n");
  const Splits splits = open_set(o);
  EXPECT_EQ(classes_of(splits.train), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(classes_of(splits.test), (std::vector<int64_t>{1}));
  EXPECT_EQ(splits.train->schema().category_names.at("class"), (std::vector<std::string>{"ball", "rod"}));
  EXPECT_EQ(splits.train->schema().warnings,
            (std::vector<std::string>{folder.path() + ": 1 cloud is not in table.csv and left out"}));
  o.train_fraction = 1;
  o.valid_fraction = 0;
  write(folder / "table.csv", "class,file\n2,a.txt\n0,b.txt\n");  // numbers are themselves
  const Splits numbers = open_set(o);
  EXPECT_EQ(classes_of(numbers.train), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(numbers.train->schema().labels.at(0).categories, 3);
  EXPECT_TRUE(numbers.train->schema().category_names.empty());
  const auto refused = [&](const std::string& table) {
    write(folder / "table.csv", table);
    const std::string message = message_of<DataError>([&] { open_set(o); });
    EXPECT_TRUE(message.starts_with(folder / "table.csv: ")) << message;
    return message.substr((folder / "table.csv: ").size());
  };
  EXPECT_TRUE(
      refused("name,class\na.txt,0\n").starts_with("line 1: must name the columns `file` and `class`"));
  EXPECT_EQ(refused("file,class\na.txt,0\na.txt,1\n"), "line 3: the file 'a.txt' is named twice");
  EXPECT_TRUE(refused("file,class\nz.txt,0\n").starts_with("line 2: there is no file "));
  EXPECT_EQ(refused("file,class\na.txt\n"), "line 2: must have 2 columns as the first line, got 1");
  EXPECT_EQ(refused("file,class,split\na.txt,0,dev\n"),
            "line 2: the split must be train, valid or test, got 'dev'");
  EXPECT_EQ(refused("file,class\n"), "must name at least one file, names none");
}

TEST(Clouds, PointsAreDrawnByTheSeedAndFitted) {
  const Folder folder;
  make_classes(folder / "set", 2, 50);
  write(folder / "set/ball/small.txt", "0 0 0\n3 0 0\n3 4 0\n");
  CloudsDataOptions o{.path = folder / "set", .points = 8, .train_fraction = 1, .valid_fraction = 0};
  const auto data = open_set(o).train, again = open_set(o).train;
  o.seed = 5;
  const auto other = open_set(o).train;
  bool differs = false;
  for (int64_t i = 0; i < data->size(); ++i) {
    const Batch batch = sample(data, i);
    const at::Tensor x = points_of(batch).positions;
    EXPECT_EQ(x.size(0), data->source(i).ends_with("small.txt") ? 3 : 8);
    EXPECT_EQ(data->tokens(i), x.size(0));
    EXPECT_LE(x.norm(2, 1).max().item<double>(), 1 + 1e-12);
    EXPECT_TRUE(at::equal(x, points_of(sample(again, i)).positions));
    differs = differs || !at::equal(x, points_of(sample(other, i)).positions);
    EXPECT_EQ(std::get<0>(at::unique_dim(x, 0)).size(0), x.size(0)) << "a point twice";
  }
  EXPECT_TRUE(differs);
  o.points = 0;
  o.fit = false;
  EXPECT_EQ(points_of(sample(open_set(o).train, 0)).positions.max().item<double>(), 49);
  // A batch of clouds of different sizes is what the clouds are alone.
  const std::vector<int64_t> which{4, 0, 2};
  const Batch batch = data->batch(which);
  EXPECT_EQ(batch.count(), 3);
  at::Tensor rows = at::cat({points_of(sample(data, 4)).positions, points_of(sample(data, 0)).positions,
                             points_of(sample(data, 2)).positions});
  EXPECT_TRUE(at::equal(points_of(batch).positions, rows));
}

TEST(Clouds, WhatDoesNotFitIsRefused) {
  const Folder folder;
  const auto refused = [&](const CloudsDataOptions& o) {
    return message_of<DataError>([&] { open_set(o); });
  };
  EXPECT_EQ(refused({.path = folder / "none"}), folder / "none: there is no such folder");
  fs::create_directory(folder / "empty");
  EXPECT_EQ(refused({.path = folder / "empty"}), folder / "empty: holds no point cloud (" +
                                                     std::string(cloud_endings) + "), nor a folder of them");
  make_classes(folder / "set", 2, 5);
  EXPECT_NE(refused({.path = folder / "set", .classes = 3}).find("data.clouds.classes must be 2"),
            std::string::npos);
  EXPECT_EQ(refused({.path = folder / "set", .features = {{.key = "red"}}}),
            folder / "set/ball/0.txt: has no feature 'red' (red), its columns are x, y, z");
  EXPECT_NE(refused({.path = folder / "set", .features = {{"normal", CloudFeatureKind::normal}}})
                .find("has no feature 'normal' (nx, ny, nz)"),
            std::string::npos);
  write(folder / "set/loose.ply", "");
  EXPECT_NE(refused({.path = folder / "set"}).find("clouds beside them, such as 'loose.ply'"),
            std::string::npos);
  write(folder / "bad/ball/a.xyz", "3\nwater\nO 0 0 0\nH 0 0 1\nH 0 1 0\n");
  EXPECT_NE(refused({.path = folder / "bad"}).find("data.set = \"molecules\""), std::string::npos);
  const std::vector<float> nan{0, 0, 0, std::nanf(""), 0, 0};
  const std::vector<int64_t> labels{0, -1};
  const auto npz = [&](std::vector<NamedArray> arrays) {
    write_npz(folder / "a.npz", arrays);
    return refused({.path = folder / "a.npz"});
  };
  EXPECT_EQ(npz({array("points", ElementType::f32, {2, 3}, nan)}),
            folder / "a.npz: coordinates must be finite, of point 1 they are not");
  EXPECT_NE(npz({array("things", ElementType::f32, {2, 3}, nan)}).find("its arrays are 'things' [2, 3]"),
            std::string::npos);
  EXPECT_NE(npz({array("points", ElementType::f32, {3, 2}, nan)})
                .find("must be (points, 3) or (clouds, points, 3)"),
            std::string::npos);
  const NamedArray two = array("points", ElementType::f32, {2, 1, 3}, std::vector<float>(6, 1.0F));
  EXPECT_NE(npz({two, array("label", ElementType::i64, {2}, labels)}).find("whole numbers from 0 on, got -1"),
            std::string::npos);
  EXPECT_NE(npz({two, array("label", ElementType::i64, {1}, std::vector<int64_t>{0})})
                .find("a class for each cloud"),
            std::string::npos);
  EXPECT_EQ(message_of<ConfigError>([] { declared_schema(CloudsDataOptions{}); }),
            "data.clouds.classes: must be given, the number of classes");
  EXPECT_THROW(declared_schema(CloudsDataOptions{.columns = {"x", "y"}, .classes = 2}), ConfigError);
  EXPECT_THROW(declared_schema(CloudsDataOptions{.features = {{.key = "a"}, {.key = "a"}}, .classes = 2}),
               ConfigError);
  EXPECT_THROW(declared_schema(CloudsDataOptions{.features = {{}}, .classes = 2}), ConfigError);
}

TEST(Clouds, AreOpenedForAModelAsItsSetSays) {
  const Folder folder;
  const std::string path = written(folder / "new", "ply");
  const DataOptions options{CloudsDataOptions{.features = both, .classes = 2}};
  const Schema declared = declared_schema(options);
  const auto data = open_file(path, options, &declared.interface);
  EXPECT_EQ(data->schema().interface.features, declared.interface.features);
  EXPECT_EQ(open_file(folder / "new", options, &declared.interface)->size(), 1);
  const DataOptions plain{CloudsDataOptions{.classes = 2}};
  EXPECT_NE(message_of<DataError>([&] {
              open_file(path, plain, &declared.interface);
            }).find("must give the model's features normal, colour, gives nothing"),
            std::string::npos);
  EXPECT_EQ(moved_to(options, "there").set.index(), options.set.index());
}

TEST(Clouds, OptionsThatNothingReadsAreRefused) {
  EXPECT_NO_THROW(require_effects({CloudsDataOptions{.label = "kind", .features = both}}));
  EXPECT_EQ(message_of<ConfigError>([] {
              require_effects({CloudsDataOptions{.labels = "table.csv", .label = "kind"}});
            }).substr(0, 17),
            "data.clouds.label");
  EXPECT_NE(message_of<ConfigError>([] {
              require_effects({CloudsDataOptions{.features = {{"normal", CloudFeatureKind::normal, 2}}}});
            }).find("channels"),
            std::string::npos);
}

TEST(CloudClasses, AreInTheOrderOfTheirNumbersAndThoseOfAModelWhereItKnowsThem) {
  const Folder folder;
  for (const char* name : {"0", "2", "10", "1"}) {
    write(folder / name + "/a.txt", "0 0 0\n1 0 0\n0 1 0\n");
  }
  CloudsDataOptions o{.path = folder.path()};
  EXPECT_EQ(cloud_layout(o).classes, (std::vector<std::string>{"0", "1", "2", "10"}));
  EXPECT_EQ(cloud_layout(o).all.back().label, 2);  // files in the order of their names: 0, 1, 10, 2
  // A model of six classes, in an order of its own.
  o.known_classes = {"10", "3", "2", "1", "0", "x"};
  EXPECT_EQ(cloud_layout(o).classes, o.known_classes);
  EXPECT_EQ(cloud_layout(o).all.front().label, 4);
  o.classes = 6;
  o.points = 0;
  EXPECT_EQ(open_set(o).train->schema().labels.at(0).categories, 6);
  // Of other classes than its own it says nothing, and neither does the order of it.
  o.known_classes = {"10", "2", "1"};
  o.classes = 3;
  EXPECT_EQ(cloud_layout(o).classes.size(), 4u);
  EXPECT_EQ(message_of<DataError>([&] { open_set(o); }),
            folder.path() +
                ": has the class '0', which the model does not know: it knows 3 classes, '10', '2', '1'");
  EXPECT_EQ(std::get<CloudsDataOptions>(of_any_classes({o}).set).classes, 0);
  EXPECT_EQ(std::get<CloudsDataOptions>(know_classes({o}, {"a"}).set).known_classes,
            std::vector<std::string>{"a"});
  // A table's, too.
  write(folder / "table.csv", "file,class\n10/a.txt,rod\n2/a.txt,ball\n");
  CloudsDataOptions table{.path = folder.path(), .labels = "table.csv"};
  table.known_classes = {"rod", "cone", "ball"};
  EXPECT_EQ(cloud_layout(table).all.at(0).label, 0);
  EXPECT_EQ(cloud_layout(table).all.at(1).label, 2);
}

}  // namespace clouds_test
}  // namespace weyl
