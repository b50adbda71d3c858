// Labels of points: every format gives the same, drawn and chosen points keep theirs, and what is wrong is said in a line.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/data/clouds/cloud_samples.h"
#include "tests/data/folder.h"
#include "weyl/carriers/placed_samples.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/data/clouds/cloud_reader.h"
#include "weyl/data/clouds/clouds.h"
#include "weyl/data/clouds/ply.h"
#include "weyl/data/containers/npy.h"
#include "weyl/makers/shapes/parts.h"

namespace weyl {
namespace point_labels_test {

const std::vector<int64_t> parts{2, 0, 1};

std::string ply_with(const std::string& type, const std::string& third) {
  return "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty " +
         type + " part\nend_header\n0 0 0 2\n1 2 3 0\n-4 5 6 " + third + "\n";
}

CloudsDataOptions options_of(const std::string& path) {
  CloudsDataOptions o;
  o.path = path;
  o.point_label = "part";
  o.points = 0;
  o.fit = false;
  o.train_fraction = 1;
  o.valid_fraction = 0;
  return o;
}

Tensor mask_of(const std::shared_ptr<const Dataset>& data, int64_t index = 0) {
  return sample(data, index).labels.at("mask");
}

TEST(PointLabels, AreTheSameInEveryFormat) {
  const Folder folder;
  write(folder / "a.ply", ply_with("uchar", "1"));
  write(folder / "b.ply", ply_with("float", "1"));
  write(folder / "c.txt", "x y z part\n0 0 0 2\n1 2 3 0\n-4 5 6 1\n");
  write(folder / "d.csv", "num,t,x,y,z,part\n7,0.5,0,0,0,2\n8,0.5,1,2,3,0\n9,0.5,-4,5,6,1\n");
  write_npz(folder / "e.npz", std::vector<NamedArray>{array("points", ElementType::f32, {3, 3}, places),
                                                      array("part", ElementType::i64, {3}, parts)});
  write_npz(folder / "f.npz", std::vector<NamedArray>{array("points", ElementType::f32, {1, 3, 3}, places),
                                                      array("part", ElementType::i64, {1, 3, 1}, parts)});
  for (const char* name : {"a.ply", "b.ply", "c.txt", "d.csv", "e.npz", "f.npz"}) {
    const auto data = open_cloud_files(folder / name, options_of(folder / name));
    ASSERT_EQ(data->schema().labels.size(), 1u) << name;
    const Quantity& label = data->schema().labels[0];
    EXPECT_EQ(label.name, "mask");
    EXPECT_EQ(label.level, Level::node);
    EXPECT_EQ(label.kind, Kind::category);
    EXPECT_EQ(label.categories, 3) << name;
    EXPECT_TRUE(at::equal(mask_of(data), at::tensor(parts, at::kLong).view({3, 1}))) << name;
    EXPECT_EQ(usual_point_label(folder / name, {}), "part") << name;
  }
  // Without the option they are nothing: the class of a cloud is learned, where it has one.
  EXPECT_TRUE(open_cloud_files(folder / "a.ply", {})->schema().labels.empty());
}

TEST(PointLabels, StayWithTheirPoints) {
  const Folder folder;
  std::string rows = "x y z part\n";
  for (int p = 0; p < 60; ++p) {
    rows += text(p, " ", p * p % 11, " ", p % 7, " ", p % 5, "\n");
  }
  write(folder / "a.txt", rows);
  for (const bool chosen : {false, true}) {
    CloudsDataOptions o = options_of(folder / "a.txt");
    o.points = 20;
    o.input.centres = chosen ? 10 : 0;
    o.input.augment = CloudAugmentation{.draw = true};
    const auto data = open_set(o).train;
    const auto check = [&](const Batch& batch) {
      const Points& points = points_of(batch);
      ASSERT_EQ(points.nodes(), chosen ? 10 : 20);
      for (int64_t row = 0; row < points.nodes(); ++row) {
        const auto number = points.positions[row][0].item<int64_t>();
        EXPECT_EQ(batch.labels.at("mask")[row][0].item<int64_t>(), number % 5);
      }
    };
    const int64_t first = 0;
    check(data->batch({&first, 1}));
    std::set<int64_t> drawn;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      const Batch batch = data->augmented({&first, 1}, {}, {1, epoch});
      check(batch);
      for (int64_t row = 0; row < points_of(batch).nodes(); ++row) {
        drawn.insert(points_of(batch).positions[row][0].item<int64_t>());
      }
    }
    EXPECT_GT(drawn.size(), chosen ? 10u : 20u);  // other points in other epochs
  }
}

/// A class that few points have is one of the files, whether these points are drawn or not.
TEST(PointLabels, ClassesAreCountedOverAllPoints) {
  const Folder folder;
  std::string rows = "x y z part\n";
  for (int p = 0; p < 200; ++p) {
    rows += text(p, " ", p * p % 11, " ", p % 7, " ", p == 77 ? 9 : p % 2, "\n");
  }
  write(folder / "a.txt", rows);
  CloudsDataOptions o = options_of(folder / "a.txt");
  o.points = 3;
  EXPECT_LT(mask_of(open_set(o).train).max().item<int64_t>(), 9);
  EXPECT_EQ(open_set(o).train->schema().labels.at(0).categories, 10);
  EXPECT_EQ(open_cloud_files(o.path, o)->schema().labels.at(0).categories, 10);
  o.point_classes = 9;
  EXPECT_NE(message_of<DataError>([&] { open_set(o); }).find("classes of points must be 0 .. 8"),
            std::string::npos);
}

TEST(PointLabels, WhatIsWrongWithThemIsSaidInALine) {
  const Folder folder;
  const auto refused = [&](const std::string& name, const std::string& label = "part") {
    CloudsDataOptions o = options_of(folder / name);
    o.point_label = label;
    return message_of<DataError>([&] { open_cloud_files(o.path, o); });
  };
  write(folder / "a.ply", ply_with("float", "1.5"));
  EXPECT_EQ(
      refused("a.ply"),
      folder /
          "a.ply: 'part' must be whole numbers from 0 on, -1 where the class is not known; of point 2 it is "
          "1.5");
  write(folder / "b.ply", ply_with("char", "-2"));
  EXPECT_NE(refused("b.ply").find("of point 2 it is -2"), std::string::npos);
  EXPECT_EQ(refused("b.ply", "seg"),
            folder / "b.ply: has no column 'seg' (data.clouds.point_label), its columns are x, y, z, part");
  write_npz(folder / "c.npz",
            std::vector<NamedArray>{array("points", ElementType::f32, {3, 3}, places),
                                    array("part", ElementType::i64, {2}, std::vector<int64_t>{0, 1})});
  EXPECT_NE(refused("c.npz").find("'part' must be [3, 1], got [2]"), std::string::npos) << refused("c.npz");
  EXPECT_NE(refused("c.npz", "seg").find("has no array 'seg'"), std::string::npos);
  write(folder / "d.ply", ply_with("uchar", "1"));
  CloudsDataOptions few = options_of(folder / "d.ply");
  few.point_classes = 2;
  EXPECT_NE(message_of<DataError>([&] {
              open_cloud_files(few.path, few);
            }).find("classes of points must be 0 .. 1"),
            std::string::npos);
  few.point_classes = 3;
  few.class_input = true;
  EXPECT_NE(message_of<DataError>([&] { open_cloud_files(few.path, few); }).find("class_input needs"),
            std::string::npos);
  EXPECT_EQ(usual_point_label(folder / "a.ply", {}), "");
}

/// ShapeNet's parts as PointNet gives them out: many clouds in a file, with the class of each and that of each point.
TEST(PointLabels, TheClassOfACloudIsAnInput) {
  const Folder folder;
  const std::vector<float> positions{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 3};
  write_npz(folder / "a.npz",
            std::vector<NamedArray>{
                array("data", ElementType::f32, {3, 2, 3}, positions),
                array("label", ElementType::i64, {3, 1}, std::vector<int64_t>{2, 0, 1}),
                array("pid", ElementType::i64, {3, 2}, std::vector<int64_t>{0, 1, 2, 3, 1, 0})});
  CloudsDataOptions o = options_of(folder / "a.npz");
  o.point_label = usual_point_label(o.path, {});
  EXPECT_EQ(o.point_label, "pid");
  o.class_input = true;
  const auto data = open_set(o).train;
  const Quantity* input = find_quantity(data->schema().interface.features, "shape_class");
  ASSERT_NE(input, nullptr);
  EXPECT_EQ(input->level, Level::graph);
  EXPECT_EQ(input->channels, 3);
  const std::vector<int64_t> both{0, 1};
  const Batch batch = data->batch(both);
  EXPECT_TRUE(at::equal(points_of(batch).of_graphs.at("shape_class"),
                        at::tensor({0., 0., 1., 1., 0., 0.}).view({2, 3}).to(at::kDouble)));
  EXPECT_TRUE(at::equal(batch.labels.at("mask").flatten(), at::tensor({0, 1, 2, 3}, at::kLong)));
  EXPECT_FALSE(batch.labels.contains("class"));
  EXPECT_EQ(data->name(1), "a_1");
  EXPECT_EQ(as_opened(o, *data).classes, 3);
}

/// Nodes are 4 of 60 points that were moved into the ball: each point of the file, where it was, goes to the nearest.
TEST(PointLabels, AllPointsOfAFileGoToTheNearestNode) {
  const Folder folder;
  std::string rows = "x y z part\n";
  for (int p = 0; p < 60; ++p) {
    rows += text(1000000 + p, " ", p / 15, " 5 ", p / 15, "\n");
  }
  write(folder / "a.txt", rows);
  CloudsDataOptions o = options_of(folder / "a.txt");
  o.fit = true;
  o.input.centres = 4;
  const auto data = open_cloud_files(o.path, o);
  const auto* clouds = dynamic_cast<const CloudSet*>(data.get());
  ASSERT_NE(clouds, nullptr);
  LastFile last;
  const FilePoints whole = clouds->points_in_file(0, last);
  ASSERT_EQ(whole.positions.size(0), 60);
  EXPECT_EQ(whole.positions[59][0].item<double>(), 1e6 + 59);
  const Batch batch = sample(data, 0);
  const Tensor nodes = points_of(batch).positions;
  Tensor fitted = whole.positions.clone();
  fit_into_ball(std::span(fitted.mutable_data_ptr<double>(), 180));
  const Tensor apart = (fitted.unsqueeze(1) - nodes.unsqueeze(0)).square().sum(2);
  EXPECT_TRUE(at::equal(whole.nodes, apart.argmin(1)));
  EXPECT_GT(std::get<0>(at::_unique(whole.nodes)).numel(), 3);
}

/// Of a model that is told classes by their number a class that it does not know would be that of another.
TEST(PointLabels, AClassThatTheModelDoesNotKnowIsNoInput) {
  const Folder folder;
  const auto open = [&](const std::string& set, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      write(folder / (set + "/" + name + "/a.txt"), "0 0 0\n1 2 3\n-4 5 6\n");
    }
    CloudsDataOptions o = options_of(folder / set);
    o.point_label.clear();  // as for prediction
    o.class_input = true;
    o.classes = 3;
    o.known_classes = {"chair", "lamp", "table"};
    return open_set(o).train;
  };
  EXPECT_EQ(
      message_of<DataError>([&] { open("other", {"chair", "sofa", "table"}); }),
      folder /
          "other: has the class 'sofa', which the model does not know: it knows 3 classes, 'chair', 'lamp', 'table'");
  const auto some = open("some", {"lamp", "table"});
  std::set<int64_t> told;
  for (int64_t i = 0; i < some->size(); ++i) {
    const Tensor input = points_of(sample(some, i)).of_graphs.at("shape_class");
    ASSERT_EQ(input.sizes(), (std::vector<int64_t>{1, 3}));
    told.insert(input.argmax().item<int64_t>());
  }
  EXPECT_EQ(told, (std::set<int64_t>{1, 2}));
}

/// What a model is told of a folder of one class, or a file of it, is how that folder is called.
TEST(PointLabels, AClassGivenAloneIsCalledAsItsFolder) {
  const Folder folder;
  for (const char* name : {"lamp/a.txt", "lamp/b.txt", "sofa/a.txt"}) {
    write(folder / name, "x y z part\n0 0 0 2\n1 2 3 0\n-4 5 6 1\n");
  }
  write_npz(folder / "lamp/own.npz",
            std::vector<NamedArray>{array("points", ElementType::f32, {3, 3}, places),
                                    array("part", ElementType::i64, {3}, parts),
                                    array("label", ElementType::i64, {1}, std::vector<int64_t>{2})});
  CloudsDataOptions o = options_of("");
  o.class_input = true;
  o.classes = 3;
  o.known_classes = {"chair", "lamp", "table"};
  const auto told = [](const std::shared_ptr<const Dataset>& data) {
    std::multiset<int64_t> classes;
    for (int64_t i = 0; i < data->size(); ++i) {
      classes.insert(points_of(sample(data, i)).of_graphs.at("shape_class").argmax().item<int64_t>());
    }
    return classes;
  };
  for (const auto& [path, classes] : {std::pair<std::string, std::multiset<int64_t>>{"lamp", {1, 1, 2}},
                                      {"lamp/", {1, 1, 2}},
                                      {"lamp/b.txt", {1}},
                                      {"lamp/own.npz", {2}}}) {  // which says another class itself
    o.path = folder / path;
    EXPECT_EQ(told(open_cloud_files(o.path, o)), classes) << path;
    EXPECT_EQ(told(open_set(o).train), classes) << path;
  }
  for (const char* path : {"sofa", "sofa/a.txt"}) {
    o.path = folder / path;
    for (const auto& open : {std::function<void()>([&] { open_cloud_files(o.path, o); }),
                             std::function<void()>([&] { open_set(o); })}) {
      EXPECT_NE(message_of<DataError>(open).find("class_input needs the class of each cloud"),
                std::string::npos)
          << path;
    }
  }
}

/// Labels of points by a usual name of classes: who asks for no labels of points, as prediction, is not told of them.
TEST(PointLabels, AreNotTakenForTheClassOfACloud) {
  const Folder folder;
  const std::vector<float> positions{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0};
  const auto of_points = [](std::vector<int64_t> shape) {
    return array("label", ElementType::i64, std::move(shape), std::vector<int64_t>{0, 1, 2, 3});
  };
  const NamedArray places = array("data", ElementType::f32, {2, 2, 3}, positions);
  const NamedArray classes = array("class", ElementType::i64, {2}, std::vector<int64_t>{1, 0});
  write_npz(folder / "a.npz", std::vector<NamedArray>{places, of_points({2, 2, 1})});
  write_npz(folder / "b.npz", std::vector<NamedArray>{places, of_points({2, 2}), classes});
  write_npz(folder / "c.npz",
            std::vector<NamedArray>{array("data", ElementType::f32, {4, 3}, positions), of_points({4, 1})});
  for (const char* name : {"a.npz", "c.npz"}) {
    CloudsDataOptions o = options_of(folder / name);
    o.point_label = "label";
    EXPECT_EQ(open_cloud_files(o.path, o)->schema().labels.at(0).name, "mask") << name;
    o.point_label.clear();
    EXPECT_TRUE(open_cloud_files(o.path, o)->schema().labels.empty()) << name;
  }
  CloudsDataOptions o = options_of(folder / "b.npz");
  o.class_input = true;
  for (const char* label : {"label", ""}) {
    o.point_label = label;
    const auto data = open_cloud_files(o.path, o);
    for (const int64_t i : {0, 1}) {
      EXPECT_EQ(points_of(sample(data, i)).of_graphs.at("shape_class").argmax().item<int64_t>(), 1 - i);
    }
  }
  o = options_of(WEYL_SOURCE_DIR
                 "/tests/fixtures/clouds/points.h5");  // tools/goldens/h5_fixtures.py: the same
  o.class_input = true;
  for (const char* label : {"label", ""}) {
    o.point_label = label;
    const auto data = open_cloud_files(o.path, o);
    for (const int64_t i : {0, 1, 2, 3}) {
      EXPECT_EQ(points_of(sample(data, i)).of_graphs.at("shape_class").argmax().item<int64_t>(), 3 - i);
    }
  }
  // What is neither is refused as before.
  write_npz(folder / "d.npz",
            std::vector<NamedArray>{
                places, array("label", ElementType::i64, {3}, std::vector<int64_t>{0, 1, 2}), classes});
  EXPECT_NE(message_of<DataError>([&] {
              open_cloud_files(folder / "d.npz", o);
            }).find("'label' must be [2], a class for each cloud, got [3]"),
            std::string::npos);
}

/// Pairs of points at one place: each is said what its own node is, where it is one.
TEST(PointLabels, CoincidentPointsOfAFileHaveTheirOwnNodes) {
  const Folder folder;
  std::string rows = "x y z row\n";
  for (int p = 0; p < 60; ++p) {
    rows += text(p / 2, " ", p / 2 * (p / 2), " 5 ", p, "\n");
  }
  write(folder / "a.txt", rows);
  CloudsDataOptions o = options_of(folder / "a.txt");
  o.point_label.clear();
  o.features = {{"row"}};
  o.fit = true;
  for (const auto& [points, centres, draws] :
       {std::tuple{0, 0, false}, {40, 0, false}, {40, 0, true}, {40, 25, false}, {40, 25, true}}) {
    o.points = points;
    o.input.centres = centres;
    o.input.augment = draws ? std::optional(CloudAugmentation{.draw = true}) : std::nullopt;
    const auto data = open_cloud_files(o.path, o);
    LastFile last;
    const Tensor node = dynamic_cast<const CloudSet&>(*data).points_in_file(0, last).nodes;
    const Tensor row = points_of(sample(data, 0)).scalars.flatten().to(at::kLong);
    EXPECT_TRUE(at::equal(node.index_select(0, row), at::arange(row.numel(), at::kLong)))
        << points << " " << centres << " " << draws;
  }
}

/// An archive of many clouds is read once, not once for each of them.
TEST(PointLabels, AllCloudsOfAFileAreReadAtOnce) {
  const Folder folder;
  const auto store = [&](float first) {
    write_npz(folder / "set/a.npz",
              std::vector<NamedArray>{array("data", ElementType::f32, {2, 2, 3},
                                            std::vector<float>{first, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0})});
  };
  fs::create_directories(folder / "set");
  store(0);
  write(folder / "set/b.txt", "7 0 0\n8 0 0\n");
  CloudsDataOptions o = options_of(folder / "set");
  o.point_label.clear();
  const auto data = open_cloud_files(o.path, o);
  const auto& clouds = dynamic_cast<const CloudSet&>(*data);
  ASSERT_EQ(clouds.size(), 3);
  LastFile last;
  const auto first_place = [&](int64_t index) {
    return clouds.points_in_file(index, last).positions[0][0].item<double>();
  };
  EXPECT_EQ(first_place(0), 0);
  fs::rename(folder / "set/a.npz", folder / "away.npz");
  EXPECT_EQ(first_place(1), 2);
  EXPECT_EQ(first_place(2), 7);
  EXPECT_THROW(first_place(0), DataError);  // which is away, and `last` has the other
  fs::rename(folder / "away.npz", folder / "set/a.npz");
  EXPECT_EQ(first_place(0), 0);
  last = {};
  store(0.5F);
  EXPECT_NE(message_of<DataError>([&] { first_place(0); }).find("a.npz: has changed since it was read"),
            std::string::npos);
  EXPECT_EQ(first_place(1), 2);
}

TEST(PointLabels, PredictionsArePlyThatIsReadAgain) {
  const std::vector<double> positions{0.1, 2e6, -3, 4, 5, 6};
  const std::vector<int64_t> classes{1, 12};
  std::vector<float> shares(26, 0.F);
  shares[1] = 0.75F;
  ClassifiedPoints points{positions, classes, shares, 13, {}};
  points.names.assign(13, "wall\nend_header");
  const PointTable table = parse_ply(ply_of(points), "p");
  ASSERT_EQ(table.rows, 2);
  const auto at = [&](int64_t row, const char* name) {
    return table.values[row * table.columns() + table.find(name)];
  };
  EXPECT_EQ(at(0, "x"), 0.1);
  EXPECT_EQ(at(0, "y"), 2e6);
  EXPECT_EQ(at(1, "class"), 12);
  EXPECT_EQ(at(0, "p_1"), 0.75);
  EXPECT_EQ(at(0, "red"), 255);  // of class 1, orange
  EXPECT_EQ(at(0, "blue"), 14);
  std::set<std::array<uint8_t, 3>> colours;
  for (int64_t k = 0; k < 40; ++k) {
    colours.insert(colour_of_class(k));
  }
  EXPECT_EQ(colours.size(), 40u);
  points.count = 12;  // of 13 that are said
  points.probabilities = {};
  EXPECT_THROW(ply_of(points), ShapeError);
}

/// What `eval --moved` measures: each cloud about its own middle, however far away it is, vectors with it, labels as they are.
TEST(PointLabels, CloudsAreTurnedAboutTheirMiddles) {
  const Folder folder;
  std::string rows = "x y z nx ny nz part\n";
  for (int p = 0; p < 9; ++p) {
    rows += text(1000 + p, " ", p * p, " ", p % 3, " 1 0 0 ", p % 2, "\n");
  }
  write(folder / "a.txt", rows);
  CloudsDataOptions o = options_of(folder / "a.txt");
  o.features = {{"normal", CloudFeatureKind::normal}};
  const auto data = open_cloud_files(o.path, o);
  ASSERT_TRUE(holds_points_in_space(*data));
  Placement quarter{{0, -1, 0, 1, 0, 0, 0, 0, 1}, {}};
  const PlacedSamples placed(data, [&](int64_t) { return quarter; });
  const int64_t first = 0;
  const Batch before = data->batch({&first, 1}), after = placed.batch({&first, 1});
  const Tensor x = points_of(before).positions, y = points_of(after).positions, mean = x.mean(0, true);
  const Tensor expected =
      at::stack({-(x - mean).select(1, 1), (x - mean).select(1, 0), (x - mean).select(1, 2)}, 1) + mean;
  EXPECT_TRUE(at::allclose(y, expected, 0, 1e-9));
  EXPECT_FALSE(at::allclose(y, x, 0, 1));
  EXPECT_TRUE(at::allclose(points_of(after).vectors.select(2, 1), at::ones({9, 1}, at::kDouble), 0, 1e-12));
  EXPECT_TRUE(at::equal(after.labels.at("mask"), before.labels.at("mask")));
  quarter.shift = {1, 0, 0};
  EXPECT_THROW(placed.batch({&first, 1}), ShapeError);
}

TEST(PointLabels, MadePartsHaveTheKindOfEachPointsSolid) {
  const Folder folder;
  PartsMakerOptions o{.train = 6, .valid = 0, .test = 2, .points = 200};
  for (const int64_t threads : {1, 3}) {
    o.threads = threads;
    ASSERT_TRUE(make_parts(o, folder / std::to_string(threads)));
  }
  EXPECT_EQ(contents_of(folder / "1/train.npz"), contents_of(folder / "3/train.npz"));
  CloudsDataOptions read{.path = folder / "1"};
  read.point_label = "part";
  const Splits splits = open_set(read);
  EXPECT_EQ(splits.train->size(), 6);
  EXPECT_EQ(splits.valid, nullptr);
  EXPECT_EQ(splits.train->schema().labels.at(0).name, "mask");
  std::set<int64_t> kinds;
  for (int64_t i = 0; i < 6; ++i) {
    const Tensor mask = mask_of(splits.train, i);
    EXPECT_EQ(mask.size(0), 200);
    const Tensor here = std::get<0>(at::_unique(mask));
    EXPECT_EQ(here.numel(), 3);
    for (int64_t k = 0; k < here.numel(); ++k) {
      kinds.insert(here[k].item<int64_t>());
    }
  }
  EXPECT_GT(kinds.size(), 5u);
  // Turned samples are the same parts: distances stay, places do not.
  const auto upright = make_part(o, "train", 0);
  o.rotate = Turning::uniform;
  const auto turned = make_part(o, "train", 0);
  EXPECT_EQ(upright.kinds, turned.kinds);
  const auto places = [](const PartCloud& c) { return at::tensor(c.positions, at::kFloat).view({-1, 3}); };
  EXPECT_TRUE(at::allclose(at::pdist(places(upright)), at::pdist(places(turned)), 1e-4, 1e-5));
  EXPECT_FALSE(at::allclose(places(upright), places(turned), 0, 0.1));
}

}  // namespace point_labels_test
}  // namespace weyl
