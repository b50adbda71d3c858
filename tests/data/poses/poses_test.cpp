// The second carrier in the hands of readers, splits, loader and inspection.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/fixtures.h"
#include "tests/data/folder.h"
#include "tests/lie_groups.h"
#include "weyl/carriers/consistency.h"
#include "weyl/carriers/loader.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/convert.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"
#include "weyl/data/poses/pose_sequences.h"
#include "weyl/makers/poses/pose_sequences.h"

namespace weyl {
namespace poses_test {

const std::string trajectory = WEYL_SOURCE_DIR "/tests/fixtures/poses/desk.tum.txt";

Schema schema_of(LieGroup group) {
  Schema schema;
  schema.interface.group = group;
  schema.interface.dimension = dimension_of(group);
  return schema;
}

Batch random_batch(LieGroup group, std::vector<int64_t> sizes, uint64_t seed = 1) {
  Stream stream(seed, "test poses");
  Poses poses;
  poses.group = group;
  poses.graphs = Segments::of_sizes(sizes);
  poses.elements = random_elements(group, poses.nodes(), 2, stream);
  return {poses, {}};
}

const Tensor& elements_of(const Batch& batch) {
  return std::get<Poses>(batch.input).elements;
}

TEST(PoseElements, RandomElementsAreOfTheGroupAndTheNearestBringsBack) {
  for (const LieGroup group : lie_groups) {
    const Tensor g = elements_of(random_batch(group, {20}));
    EXPECT_LT(distances_to_group(group, g).max().item<double>(), 1e-14) << name_of(group);
    EXPECT_LT((nearest_elements(group, g) - g).abs().max().item<double>(), 1e-14);
    Tensor off = g.clone();
    off[3] *= 1.01;
    EXPECT_NEAR(distances_to_group(group, off)[3].item<double>(), is_rigid(group) ? 0.0201 : 0.01, 1e-10);
    EXPECT_LT(distances_to_group(group, nearest_elements(group, off)).max().item<double>(), 1e-14);
    off[5].fill_(NAN);
    EXPECT_TRUE(std::isinf(distances_to_group(group, off)[5].item<double>()));
    EXPECT_NE(message_of<ShapeError>([&] { nearest_elements(group, off); }).find("element 5"),
              std::string::npos);
  }
  EXPECT_THROW(distances_to_group(LieGroup::se2, at::eye(4).repeat({2, 1, 1})), ShapeError);
}

TEST(PoseElements, MotionsMultiplyFromTheLeft) {
  for (const LieGroup group : lie_groups) {
    const Batch batch = random_batch(group, {3, 2});
    const Tensor a = elements_of(random_batch(group, {2}, 2));
    const Tensor moved = elements_of(transform(batch, motions_of(group, a), schema_of(group)));
    const Tensor expected =
        at::matmul(at::index_select(a, 0, at::tensor({0, 0, 0, 1, 1})), elements_of(batch));
    EXPECT_LT((moved - expected).abs().max().item<double>(), 1e-14) << name_of(group);
  }
}

TEST(PoseElements, ChartMarginIsThatOfTheWorstPair) {
  const double c = std::cos(3.0), s = std::sin(3.0);
  const Tensor g = at::eye(2, at::kDouble).repeat({3, 1, 1});
  g[2].copy_(at::tensor({c, -s, s, c}, at::kDouble).view({2, 2}));
  EXPECT_NEAR(least_chart_margin(LieGroup::so2, g), M_PI - 3, 1e-12);
  EXPECT_TRUE(std::isinf(least_chart_margin(LieGroup::so2, g.slice(0, 0, 1))));
}

TEST(PosesFile, TheGroupMustBeTheModels) {
  const Folder folder;
  const std::string path = folder / "x.safetensors";
  write_tensor_file(path, random_batch(LieGroup::se3, {4}), schema_of(LieGroup::se3));
  const TensorFile read = read_tensor_file(path, schema_of(LieGroup::se3));
  EXPECT_EQ(read.schema.interface.group, LieGroup::se3);
  const auto fault = [&](LieGroup wanted) {
    return message_of<DataError>([&] { read_tensor_file(path, schema_of(wanted)); });
  };
  EXPECT_EQ(fault(LieGroup::aff3), path + ": metadata group: must be aff3, that of the model, got se3");
  EXPECT_NE(fault(LieGroup::se2).find("must be se2"), std::string::npos);
  // Through a data set of tensors too: the interface says that it is poses, and of which group.
  std::filesystem::rename(path, folder / "train.safetensors");
  DataOptions data;
  data.set = TensorsDataOptions{folder.path()};
  Interface interface = schema_of(LieGroup::se3).interface;
  EXPECT_EQ(open_splits(data, &interface).train->schema().carrier(), Carrier::poses);
  EXPECT_EQ(declared_schema(data, &interface).carrier(), Carrier::poses);
  interface.group = LieGroup::aff3;
  EXPECT_THROW(open_splits(data, &interface), DataError);
  interface.group.reset();  // as files before groups were declared
  EXPECT_EQ(open_splits(data, &interface).train->schema().interface.group, LieGroup::se3);
}

TEST(PosesFile, SaysHowFarAMatrixIsOffItsGroup) {
  const Folder folder;
  const std::string path = folder / "x.safetensors";
  const auto fault = [&](LieGroup group, const std::function<void(Tensor)>& spoil) {
    Batch batch = random_batch(group, {4});
    spoil(elements_of(batch)[2]);
    write_tensor_file(path, batch, schema_of(group));
    return message_of<DataError>([&] { read_tensor_file(path, schema_of(group)); });
  };
  const auto stretch = [](Tensor g) { g.select(1, 0).mul_(1.1); };
  EXPECT_NE(fault(LieGroup::so3, stretch).find("elements: must be of so3, matrix 2 is off it by 0.21"),
            std::string::npos);
  EXPECT_EQ(fault(LieGroup::aff3, stretch), "");  // a stretch is affine
  const auto mirror = [](Tensor g) { g.select(1, 0).neg_(); };
  EXPECT_NE(fault(LieGroup::se3, mirror).find("matrix 2 is a reflection"), std::string::npos);
  EXPECT_EQ(fault(LieGroup::aff2, mirror), "");  // and so is a reflection, outside the chart of the logarithm
  const auto singular = [](Tensor g) { g.select(1, 0).zero_(); };
  EXPECT_NE(fault(LieGroup::aff3, singular).find("matrix 2 is singular"), std::string::npos);
  const auto last_row = [](Tensor g) { g[3][0] = 0.5; };
  EXPECT_NE(fault(LieGroup::se3, last_row).find("matrix 2 is off it by 0.5"), std::string::npos);
}

TEST(PosesFile, InspectionCountsInstead) {
  const Folder folder;
  const std::string path = folder / "x.safetensors";
  Batch batch = random_batch(LieGroup::se3, {2, 2});
  elements_of(batch)[1][0][0] += 0.01;
  elements_of(batch)[3][0][3] = NAN;
  write_tensor_file(path, batch, schema_of(LieGroup::se3));
  const Inspection found = inspect(*open_for_inspection(path).at(0).second);
  ASSERT_TRUE(found.group.has_value());
  EXPECT_EQ(found.group->group, LieGroup::se3);
  EXPECT_EQ(found.group->off, 2);
  EXPECT_TRUE(std::isinf(found.group->residual));
  EXPECT_EQ(found.fields.at(0).missing, 1);
  EXPECT_GE(found.warnings.size(), 2u);
  // And of sound ones.
  batch = random_batch(LieGroup::se3, {1, 1});
  write_tensor_file(folder / "y.safetensors", batch, schema_of(LieGroup::se3));
  const Inspection sound = inspect(*open_for_inspection(folder / "y.safetensors").at(0).second);
  EXPECT_EQ(sound.group->off, 0);
  EXPECT_LT(sound.group->residual, 1e-14);
  EXPECT_TRUE(sound.warnings.empty());
}

TEST(PosesFile, InspectionSeesTheEdgeOfTheChart) {
  Batch batch{Poses{LieGroup::aff2,
                    at::eye(3, at::kDouble).repeat({2, 1, 1}),
                    {},
                    Segments::of_sizes(std::vector<int64_t>{2})},
              {}};
  elements_of(batch)[1].select(0, 0).neg_();
  elements_of(batch)[1].select(0, 1).mul_(-2);  // diag(-1, -2): two negative eigenvalues
  const Inspection found = inspect(InMemory(batch, schema_of(LieGroup::aff2)));
  EXPECT_EQ(found.group->outside, 1);
  EXPECT_NE(found.warnings.at(0).find("outside the chart"), std::string::npos);
}

TEST(PoseSequencesSet, OpensWhatTheMakerWrote) {
  const Folder folder;
  PoseSequencesMakerOptions o;
  o.group = LieGroup::aff2;
  o.longest = 10;
  o.train = 12;
  o.valid = 5;
  o.test = 4;
  ASSERT_TRUE(make_pose_sequences(o, folder / "aff2"));
  PoseSequencesDataOptions options{folder / "aff2", LieGroup::aff2, 10, 0, 0};
  const Splits splits = open_set(options);
  EXPECT_EQ(splits.train->size(), 10);  // as many as asked for
  EXPECT_EQ(splits.test->size(), 4);
  const Schema& schema = splits.train->schema();
  EXPECT_EQ(schema.labels, declared_schema(options).labels);
  const Batch batch = splits.train->batch(std::vector<int64_t>{3, 1});
  require_consistent(batch, schema);
  const PoseSequence made = make_pose_sequence(o, "train", 3);
  const auto n = static_cast<int64_t>(made.flank.size());
  EXPECT_TRUE(at::equal(elements_of(batch).slice(0, 0, n).flatten(), at::tensor(made.tokens, at::kDouble)));
  EXPECT_TRUE(at::equal(batch.labels.at("element")[0].flatten(), at::tensor(made.element, at::kDouble)));
  EXPECT_TRUE(
      at::equal(batch.labels.at("flank").slice(0, 0, n).flatten(), at::tensor(made.flank, at::kLong)));
  // Told by the file alone, the same.
  const auto implied = open_file(folder / "aff2/test.safetensors", {});
  EXPECT_EQ(implied->schema().labels.at(0).kind, Kind::element);
  EXPECT_EQ(difference(implied->batch(std::vector<int64_t>{0}), splits.test->batch(std::vector<int64_t>{0})),
            0);
  options.test = 9;
  EXPECT_NE(message_of<DataError>([&] { open_set(options); }).find("test must be at most 4"),
            std::string::npos);
  options.test = 0;
  options.group = LieGroup::se2;
  EXPECT_NE(message_of<DataError>([&] { open_set(options); }).find("must be se2"), std::string::npos);
  options.path = folder / "none";
  EXPECT_NE(message_of<DataError>([&] {
              open_set(options);
            }).find("weyl data make pose_sequences --out " + options.path + " group=se2"),
            std::string::npos);
}

TEST(PoseSequencesSet, SplitsKeepGroupAndLabels) {
  const Folder folder;
  PoseSequencesMakerOptions o;
  o.train = 20;
  o.valid = o.test = 0;
  ASSERT_TRUE(make_pose_sequences(o, folder / "all"));
  const SplitIndices parts = split_file(folder / "all/train.safetensors", folder / "parts", {0.5, 0.25, 1});
  const Splits splits = open_set(PoseSequencesDataOptions{folder / "parts"});
  ASSERT_EQ(splits.valid->size(), 5);
  const PoseSequence first = make_pose_sequence(o, "train", parts.valid[0]);
  EXPECT_TRUE(at::equal(splits.valid->batch(std::vector<int64_t>{0}).labels.at("element").flatten(),
                        at::tensor(first.element, at::kDouble)));
}

TEST(PosesLoader, MovesEachSampleByAnElementOfItsOwn) {
  for (const LieGroup group : {LieGroup::so2, LieGroup::se3, LieGroup::aff2}) {
    const auto set = std::make_shared<InMemory>(random_batch(group, {3, 4, 2, 5}), schema_of(group));
    LoaderOptions options;
    options.batch = 2;
    options.shuffle = false;
    options.ahead = 0;
    options.dtype = at::kDouble;
    options.move = true;
    Loader loader(set, options, 5);
    const auto epoch = [&](int64_t e) {
      std::vector<Tensor> parts;
      loader.start(e);
      while (const auto batch = loader.next()) {
        parts.push_back(elements_of(*batch));
      }
      return at::cat(parts, 0);
    };
    const Tensor before = elements_of(set->all()), once = epoch(0);
    EXPECT_TRUE(at::equal(once, epoch(0)));
    EXPECT_FALSE(at::equal(once, epoch(1)));
    EXPECT_LT(distances_to_group(group, once).max().item<double>(), 1e-12);
    // One factor from the left for a sample, another for the next.
    const Tensor factor = at::matmul(once, at::linalg_inv(before));
    EXPECT_LT((factor.slice(0, 0, 3) - factor[0]).abs().max().item<double>(), 1e-10) << name_of(group);
    EXPECT_GT((factor[3] - factor[0]).abs().max().item<double>(), 1e-3);
    if (group == LieGroup::se3) {
      EXPECT_GT(factor.select(2, 3).slice(1, 0, 3).abs().max().item<double>(), 0.1);  // translations too
    }
  }
  Schema points;
  const auto set = std::make_shared<InMemory>(
      Batch{Points{.positions = at::ones({1, 3}), .graphs = Segments::of_sizes(std::vector<int64_t>{1})}, {}},
      points);
  LoaderOptions options;
  options.move = true;
  EXPECT_THROW(Loader(set, options, 5), ShapeError);
}

TEST(PoseFiles, AreOneSampleOrWindows) {
  const auto whole = open_pose_file(trajectory);
  EXPECT_EQ(whole->size(), 1);
  EXPECT_EQ(whole->tokens(0), 12);
  EXPECT_LT(distances_to_group(LieGroup::se3, elements_of(whole->all())).max().item<double>(), 1e-14);
  const auto windows = open_pose_file(trajectory, {.length = 5, .stride = 3});
  ASSERT_EQ(windows->size(), 3);  // from 0, 3 and 6; 9 has no five left
  const Batch last = windows->batch(std::vector<int64_t>{2});
  EXPECT_TRUE(at::equal(elements_of(last), elements_of(whole->all()).slice(0, 6, 11)));
  EXPECT_TRUE(at::equal(last.labels.at("time"), whole->all().labels.at("time").slice(0, 6, 11)));
  EXPECT_EQ(open_pose_file(trajectory, {.length = 5})->size(), 2);
  EXPECT_THROW(open_pose_file(trajectory, {.length = 13}), ConfigError);
  EXPECT_THROW(open_pose_file(trajectory, {.stride = 2}), ConfigError);
}

TEST(PoseFiles, AHoleIsTheElementAndItsNeighboursAreTheFlanks) {
  const auto whole = open_pose_file(trajectory);
  const Tensor poses = elements_of(whole->all()), times = whole->all().labels.at("time").flatten();
  const PoseFileOptions options{.length = 6, .stride = 3, .hole = true};
  const auto set = open_pose_file(trajectory, options);
  ASSERT_EQ(set->size(), 3);
  int sorted = 0;
  for (int64_t s = 0; s < 3; ++s) {
    const Batch sample = set->batch(std::vector<int64_t>{s});
    ASSERT_EQ(set->tokens(s), 5);
    std::vector<int64_t> rows;  // of the trajectory, told by their times
    for (int64_t i = 0; i < 5; ++i) {
      rows.push_back((times == sample.labels.at("time")[i]).nonzero().item<int64_t>());
      EXPECT_TRUE(at::equal(elements_of(sample)[i], poses[rows.back()]));
    }
    std::vector<int64_t> left(rows);
    std::ranges::sort(left);
    sorted += left == rows ? 1 : 0;
    int64_t hole = 3 * s;  // the row of the window that is not there
    while (std::ranges::count(left, hole) == 1) {
      ++hole;
    }
    EXPECT_GT(hole, 3 * s);
    EXPECT_LT(hole, 3 * s + 5);
    EXPECT_EQ(left.front(), 3 * s);
    EXPECT_EQ(left.back(), 3 * s + 5);
    EXPECT_TRUE(at::equal(sample.labels.at("element")[0], poses[hole]));
    for (int64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(sample.labels.at("flank")[i].item<int64_t>(), std::abs(rows[i] - hole) == 1 ? 1 : 0);
    }
  }
  EXPECT_LT(sorted, 3);
  // A pure function of the seed; what another seed asks is another question.
  EXPECT_EQ(difference(set->all(), open_pose_file(trajectory, options)->all()), 0);
  PoseFileOptions other = options;
  other.seed = 1;
  EXPECT_FALSE(at::equal(elements_of(set->all()), elements_of(open_pose_file(trajectory, other)->all())));
  EXPECT_EQ(open_pose_file(trajectory, {.hole = true})->tokens(0), 11);  // of the whole
  EXPECT_EQ(message_of<ConfigError>([&] { open_pose_file(trajectory, {.length = 3, .hole = true}); }),
            trajectory + ": hole needs samples of at least 4 poses, got 3");
  // Of whole windows the last pose is left out.
  PoseFileOptions all = options;
  all.whole = 1;
  const auto untaken = open_pose_file(trajectory, all);
  EXPECT_EQ(untaken->tokens(0), 5);
  EXPECT_EQ(untaken->all().labels.at("flank").sum().item<int64_t>(), 0);
  for (int64_t s = 0; s < 3; ++s) {
    EXPECT_TRUE(at::equal(untaken->all().labels.at("element")[s], poses[3 * s + 5]));
  }
  EXPECT_NE(message_of<ConfigError>([&] {
              open_pose_file(trajectory, {.length = 6, .whole = 0.5});
            }).find("whole goes with hole"),
            std::string::npos);
  // As the data set of completion, from a folder.
  const Folder folder;
  convert(trajectory, folder / "train.safetensors", {"length=6", "stride=3", "hole=true"});
  const auto train = open_set(PoseSequencesDataOptions{folder.path(), LieGroup::se3}).train;
  EXPECT_EQ(train->schema().labels, declared_schema(PoseSequencesDataOptions{}).labels);
  EXPECT_EQ(train->schema().interface.length_unit, "m");
  const Batch read = train->batch(std::vector<int64_t>{0, 1, 2});
  EXPECT_TRUE(at::equal(elements_of(read), elements_of(set->all())));
  for (const char* name : {"element", "flank"}) {
    EXPECT_TRUE(at::equal(read.labels.at(name), set->all().labels.at(name))) << name;
  }
}

TEST(PoseSequencesSet, CutsATrajectoryIntoStretchesThatShareNoPose) {
  PoseSequencesDataOptions o{trajectory, LieGroup::se3};  // 12 poses
  o.length = 4;
  o.stride = 1;
  o.fractions = {0.5, 0.5, 0};
  const Splits splits = open_set(o);
  ASSERT_EQ(splits.train->size(), 3);
  ASSERT_EQ(splits.valid->size(), 3);
  EXPECT_EQ(splits.test, nullptr);
  EXPECT_EQ(splits.train->schema().labels, declared_schema(o).labels);
  EXPECT_EQ(splits.train->tokens(0), 3);
  const Tensor poses = elements_of(open_pose_file(trajectory)->all());
  for (const auto& [set, first] : {std::pair(splits.train, 0), {splits.valid, 6}}) {
    for (int64_t s = 0; s < 3; ++s) {
      const Batch sample = set->batch(std::vector<int64_t>{s});
      EXPECT_EQ(sample.labels.at("flank").sum().item<int64_t>(), 2);
      EXPECT_EQ(sample.labels.size(), 2U);
      Tensor window = poses.slice(0, first + s, first + s + 4);
      for (const Tensor& pose : {sample.labels.at("element")[0], elements_of(sample)[0],
                                 elements_of(sample)[1], elements_of(sample)[2]}) {
        EXPECT_EQ((window == pose).flatten(1).all(1).sum().item<int64_t>(), 1);
      }
    }
  }
  o.train = 2;
  EXPECT_EQ(open_set(o).train->size(), 2);
  o.train = 4;
  EXPECT_NE(message_of<DataError>([&] { open_set(o); }).find("train must be at most 3"), std::string::npos);
  o.train = 0;
  o.length = 7;
  EXPECT_NE(message_of<ConfigError>([&] {
              open_set(o);
            }).find("the train part: length must be at most its 6 poses, got 7"),
            std::string::npos);
  o.length = 4;
  o.group = LieGroup::so3;
  EXPECT_EQ(open_set(o).train->batch(std::vector<int64_t>{0}).labels.at("element").sizes(),
            (std::vector<int64_t>{1, 3, 3}));
  o.group = LieGroup::se2;  // a camera that looks at a desk has no heading
  EXPECT_NE(message_of<DataError>([&] { open_set(o); }).find("to have a heading"), std::string::npos);
  o.group = LieGroup::aff2;
  EXPECT_THROW(open_set(o), ConfigError);
  EXPECT_NO_THROW(require_effects({PoseSequencesDataOptions{.path = "a.tum", .length = 5}}));
  EXPECT_THROW(require_effects({PoseSequencesDataOptions{.path = "a", .length = 5}}), ConfigError);
}

// The set and the converted file are the same windows; a constant velocity leads from the fourth pose on.
TEST(PoseWindowsSet, AsksForTheLastPosesOfEachWindow) {
  PoseWindowsDataOptions o{.path = trajectory, .length = 6, .ahead = 2, .fractions = {0.5, 0.5, 0}};
  const Splits splits = open_set(o);
  ASSERT_EQ(splits.train->size(), 1);
  EXPECT_EQ(splits.train->schema().labels, declared_schema(o).labels);
  EXPECT_EQ(splits.train->schema().interface.features, declared_schema(o).interface.features);
  const Batch sample = splits.train->batch(std::vector<int64_t>{0});
  const auto& poses = std::get<Poses>(sample.input);
  const Tensor whole = elements_of(open_pose_file(trajectory)->all()),
               times = open_pose_file(trajectory)->all().labels.at("time").flatten();
  EXPECT_TRUE(at::equal(sample.labels.at("pose"), whole.slice(0, 0, 6)));
  EXPECT_LT((poses.elements.slice(0, 0, 4) - whole.slice(0, 0, 4)).abs().max().item<double>(), 1e-14);
  EXPECT_GT((poses.elements.slice(0, 4, 6) - whole.slice(0, 4, 6)).abs().max().item<double>(), 1e-5);
  EXPECT_LT((poses.scalars.select(1, 0) - (times.slice(0, 0, 6) - times[3])).abs().max().item<double>(),
            1e-12);
  EXPECT_EQ(poses.scalars.select(1, 1).sum().item<double>(), 2);
  EXPECT_EQ(poses.scalars[4][1].item<double>(), 1);
  const auto file = open_pose_file(trajectory, {.length = 6, .ahead = 2});
  EXPECT_EQ(difference(file->batch(std::vector<int64_t>{0}), sample), 0);
  EXPECT_FALSE(file->all().labels.contains("time"));  // a feature now
  o.ahead = 0;
  EXPECT_NE(message_of<ConfigError>([&] { open_set(o); }).find("ahead, noise or angle_noise must be above 0"),
            std::string::npos);
  o.noise = 0.1;
  const Batch noisy = open_set(o).train->batch(std::vector<int64_t>{0});
  EXPECT_GT((elements_of(noisy) - noisy.labels.at("pose")).abs().max().item<double>(), 0.01);
  EXPECT_THROW(require_effects({PoseWindowsDataOptions{.path = "folder", .stride = 2}}), ConfigError);
}

TEST(PoseSequencesSet, TimesAreAFeatureOnRequest) {
  const auto set = open_pose_file(trajectory, {.length = 6, .hole = true, .times = true});
  const Batch& all = set->all();
  ASSERT_EQ(set->schema().interface.features.size(), 1u);
  EXPECT_EQ(set->schema().interface.features[0], (Quantity{.name = "time", .unit = "s"}));
  const Tensor told = open_pose_file(trajectory, {.length = 6, .hole = true})->all().labels.at("time");
  const Tensor times = std::get<Poses>(all.input).scalars,
               first = open_pose_file(trajectory)->all().labels.at("time");
  EXPECT_LT((times.slice(0, 0, 5) - (told.slice(0, 0, 5) - first[0])).abs().max().item<double>(), 1e-12);
  EXPECT_LT((times.slice(0, 5) - (told.slice(0, 5) - first[6])).abs().max().item<double>(), 1e-12);
  EXPECT_THROW(open_pose_file(trajectory, {.length = 6, .times = true}), ConfigError);
}

TEST(PoseFiles, ConvertAndOpenLikeAnyData) {
  const Folder folder;
  const std::string out = folder / "desk.safetensors";
  convert(trajectory, out, {"length=6"});
  const SafetensorsFile file(out);
  EXPECT_EQ(file.header().metadata.at("group"), "se3");
  EXPECT_EQ(file.header().metadata.at("first_timestamp"), "1305031098.6659");
  const auto set = open_file(out, {});
  EXPECT_EQ(set->size(), 2);
  EXPECT_EQ(
      difference(set->batch(std::vector<int64_t>{0, 1}), open_pose_file(trajectory, {.length = 6})->all()),
      0);
  EXPECT_THROW(convert(trajectory, out), ConfigError);  // never replaced
  EXPECT_THROW(convert(out, folder / "x.npz", {"length=6"}), ConfigError);
  EXPECT_EQ(open_file(trajectory, {})->size(), 1);
  Interface se2 = schema_of(LieGroup::se2).interface;
  EXPECT_NE(message_of<DataError>([&] { open_file(trajectory, {}, &se2); }).find("holds poses of se3"),
            std::string::npos);
  const Inspection found = inspect(*open_for_inspection(trajectory).at(0).second);
  EXPECT_EQ(found.most_tokens, 12);
  EXPECT_GT(found.group->least_margin, 2);
}

}  // namespace poses_test
}  // namespace weyl
