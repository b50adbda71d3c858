#include "weyl/data/clouds/modelnet.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/data/folder.h"
#include "weyl/carriers/consistency.h"
#include "weyl/core/check.h"
#include "weyl/data/clouds/point_clouds.h"
#include "weyl/data/clouds/voxels.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"
#include "weyl/makers/shapes/solids.h"

namespace weyl {
namespace modelnet_test {

namespace fs = std::filesystem;

class Modelnet : public ::testing::Test {
 protected:
  Modelnet() {
    SolidsMakerOptions o{.train = 20, .test = 10, .points = 300};
    make_solids(o, folder_ / "h5");
    o.format = SolidsFormat::off;
    make_solids(o, folder_ / "off");
  }
  ModelnetDataOptions at(const char* name) const {
    return {.path = folder_ / name, .voxels = 16, .points = 300};
  }
  Folder folder_;
};

Batch all(const Dataset& set) {
  std::vector<int64_t> samples(set.size());
  std::iota(samples.begin(), samples.end(), int64_t{0});
  return set.batch(samples);
}

TEST_F(Modelnet, GivesGridsAndPointsWithTheirClasses) {
  for (const char* name : {"h5", "off"}) {
    auto o = at(name);
    const auto grids = open_set(o);
    EXPECT_EQ(grids.train->size(), 18);  // a tenth is for validation
    EXPECT_EQ(grids.valid->size(), 2);
    EXPECT_EQ(grids.test->size(), 10);
    o.carrier = ShapeCarrier::points;
    const auto points = open_set(o);
    for (const auto& [g, p] :
         {std::pair{grids.train, points.train}, {grids.valid, points.valid}, {grids.test, points.test}}) {
      const Batch a = all(*g), b = all(*p);
      require_consistent(a, g->schema());
      require_consistent(b, p->schema());
      EXPECT_TRUE(at::equal(a.labels.at("class"), b.labels.at("class")));
      // The cells are those of the points.
      const Tensor values = std::get<Grid>(a.input).values, x = std::get<Points>(b.input).positions;
      for (int64_t i = 0; i < g->size(); ++i) {
        const Tensor one = x.slice(0, i * 300, (i + 1) * 300).contiguous();
        const auto cells = voxelise({one.const_data_ptr<float>(), 900}, 16);
        const Tensor wanted = at::tensor(std::vector<int64_t>(cells.begin(), cells.end()), at::kFloat);
        EXPECT_TRUE(at::equal(values[i].flatten(), wanted));
        EXPECT_EQ(g->tokens(i), 16 * 16 * 16);
        EXPECT_EQ(p->tokens(i), 300);
      }
    }
    const Tensor classes = all(*grids.test).labels.at("class").flatten();
    EXPECT_EQ(std::get<0>(classes.sort()).equal(at::arange(10)), true);
    EXPECT_EQ(grids.test->schema().labels.at(0).categories, 10);
    EXPECT_EQ(grids.train->schema().interface, declared_schema({at(name)}).interface);
    EXPECT_EQ(name == std::string("off"), !grids.test->source(3).empty());
  }
}

TEST_F(Modelnet, TheFirstMeshesAreOfAllClasses) {
  auto o = at("off");
  o.train = o.test = 5;
  const auto few = open_set(o);
  for (const auto& set : {few.train, few.test}) {
    const Tensor classes = std::get<0>(all(*set).labels.at("class").flatten().sort());
    ASSERT_EQ(classes.numel(), 5);
    EXPECT_GT(classes.diff().min().item<int64_t>(), 0);  // no class twice
  }
}

TEST_F(Modelnet, FitsCloudsIntoTheBallWhenAsked) {
  fs::create_directory(folder_ / "far");
  write_point_clouds(folder_ / "far/train.h5", {2, {1, 1, 1, 5, 1, 1, 0, 0, 0, 0, 9, 0}, {0, 1}});
  ModelnetDataOptions o{.path = folder_ / "far", .carrier = ShapeCarrier::points, .points = 2};
  o.classes = 2;
  const auto positions = [&] {
    return std::get<Points>(all(*open_modelnet_file(folder_ / "far/train.h5", o)).input).positions;
  };
  EXPECT_EQ(positions().abs().max().item<float>(), 9);
  o.fit = true;
  const Tensor wanted = at::tensor({-1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1, 0}, at::kFloat).view({4, 3});
  EXPECT_TRUE(at::allclose(positions(), wanted));
}

TEST_F(Modelnet, TurnsTestSamplesBeforeTheyBecomeVoxels) {
  auto o = at("h5");
  o.carrier = ShapeCarrier::points;
  const auto upright = open_set(o);
  const auto positions = [](const std::shared_ptr<const Dataset>& set) {
    return std::get<Points>(all(*set).input).positions;
  };
  for (const auto turning : {Turning::z, Turning::so3, Turning::uniform}) {
    o.rotate = turning;
    const auto turned = open_set(o);
    EXPECT_TRUE(at::equal(positions(upright.train), positions(turned.train)));
    const Tensor x = positions(upright.test), y = positions(turned.test);
    EXPECT_FALSE(at::allclose(x, y, 0, 0.1));
    EXPECT_TRUE(at::allclose(x.norm(2, 1), y.norm(2, 1), 1e-5, 1e-6));
    EXPECT_TRUE(at::equal(y, positions(open_set(o).test)));  // the same each time
    if (turning == Turning::z) {
      EXPECT_TRUE(at::equal(x.select(1, 1), y.select(1, 1)));  // y is up
      o.up = Axis::z;
      EXPECT_TRUE(at::equal(x.select(1, 2), positions(open_set(o).test).select(1, 2)));
      o.up = {};
    }
    o.rotate = Turning::none;
    o.rotate_train = turning;
    const auto trained = open_set(o);
    EXPECT_FALSE(at::equal(positions(upright.train), positions(trained.train)));
    EXPECT_TRUE(at::equal(x, positions(trained.test)));
    o.rotate_train = Turning::none;
  }
}

TEST_F(Modelnet, FoldersOfSomeClassesKeepTheNumbersOfAModel) {
  auto o = at("off");
  const auto all_classes = open_set(o).test->schema().category_names.at("class");
  for (size_t k = 0; k < all_classes.size(); ++k) {
    if (k != 3 && k != 7) {
      fs::remove_all(folder_ / ("off/" + all_classes[k]));
    }
  }
  EXPECT_THROW(open_set(o), DataError);  // two classes, not ten
  o.known_classes = {all_classes[3], "lamp"};
  o.classes = 3;
  EXPECT_EQ(message_of<DataError>([&] { open_set(o); }),
            o.path + ": has the class '" + all_classes[7] +
                "', which the model does not know: it knows 2 classes, '" + all_classes[3] + "', 'lamp'");
  o.classes = std::ssize(all_classes);
  o.known_classes = all_classes;
  const Tensor labels = all(*open_set(o).test).labels.at("class");
  EXPECT_EQ(labels.min().item<int64_t>(), 3);
  EXPECT_EQ(labels.max().item<int64_t>(), 7);
}

/// Mass (B) and place (B, 3) of what is in grids (B, 1, n, n, n), in the unit of the shapes.
std::pair<Tensor, Tensor> middles_of(const Grid& grid) {
  const int64_t n = grid.values.size(2);
  const Tensor x =
      (at::arange(n, at::kDouble) + 0.5) * grid.spacing[0] - 0.5 * static_cast<double>(n) * grid.spacing[0];
  const Tensor mass = grid.values.to(at::kDouble).select(1, 0), all = mass.sum({1, 2, 3});
  const auto along = [&](int64_t a, int64_t b) { return (mass.sum({a, b}) * x).sum(1) / all; };
  return {all, at::stack({along(2, 3), along(1, 3), along(1, 2)}, 1)};
}

TEST_F(Modelnet, GridsAreChangedInTrainingBeforeTheyBecomeCells) {
  auto o = at("off");
  o.fill = VoxelFill::density;
  o.sigma = 1.5;
  o.voxels = 32;
  o.extent = 1.6;
  o.input.augment = CloudAugmentation{.shift = 0.2};
  const auto sets = open_set(o);
  const std::vector<int64_t> samples{0, 5};
  const auto grid_of = [](const Batch& batch) { return std::get<Grid>(batch.input); };
  const Grid before = grid_of(sets.train->batch(samples));
  const auto [mass, place] = middles_of(before);
  std::vector<Tensor> shifts;
  for (const int64_t epoch : {0, 1}) {
    const Draw draw{.seed = 3, .epoch = epoch};
    const Batch changed = sets.train->augmented(samples, {}, draw);
    require_consistent(changed, sets.train->schema());
    EXPECT_TRUE(at::equal(grid_of(changed).values, grid_of(sets.train->augmented(samples, {}, draw)).values));
    const auto [same, moved] = middles_of(grid_of(changed));
    EXPECT_LT(((same - mass) / mass).abs().max().item<double>(), 1e-3);
    shifts.push_back(moved - place);
    EXPECT_LT(shifts.back().abs().max().item<double>(), 0.2);
  }
  EXPECT_GT((shifts[0] - shifts[1]).abs().max().item<double>(), 0.02);        // in each epoch anew,
  EXPECT_GT((shifts[0][0] - shifts[0][1]).abs().max().item<double>(), 0.02);  // and each sample by itself
  o.input.augment = CloudAugmentation{.scale = 1.5};
  const Grid scaled = grid_of(open_set(o).train->augmented(samples, {}, Draw{.seed = 3}));
  EXPECT_GT((scaled.values - before.values).abs().max().item<double>(), 0.1);
  o.fill = VoxelFill::surface;
  o.sigma = 1;
  const Grid cells = grid_of(open_set(o).train->augmented(samples, {}, Draw{.seed = 3}));
  EXPECT_FALSE(at::equal(cells.values, grid_of(open_set(o).train->batch(samples)).values));
  o.input.augment->jitter = 0.1;
  EXPECT_THROW(require_effects(o), ConfigError);
}

/// The rotation that takes points p (P, 3) to q.
Tensor rotation_between(const Tensor& p, const Tensor& q) {
  return std::get<0>(at::linalg_lstsq(p, q));
}

TEST_F(Modelnet, NormalsOfMeshesTurnWithThePoints) {
  auto o = at("off");
  o.carrier = ShapeCarrier::points;
  o.points = 50;
  o.normals = true;
  const auto plain = open_set(o);
  ASSERT_EQ(plain.train->schema().interface.features.size(), 1u);
  EXPECT_EQ(plain.train->schema().interface.features[0].role, Role::normal);
  o.rotate_train = Turning::uniform;
  o.input.neighbours = 2;
  o.input.centres = 20;
  o.input.augment = CloudAugmentation{.rotate = Turning::uniform};
  const auto turned = open_set(o);
  o.input.augment->draw = true;
  const auto redrawn = open_set(o);
  const std::vector<int64_t> samples{0, 5};
  const auto points_of = [](const Batch& batch) { return std::get<Points>(batch.input); };
  const Points before = points_of(plain.train->batch(samples));
  EXPECT_LT((before.vectors.norm(2, 2) - 1).abs().max().item<double>(), 1e-6);
  for (const Batch& batch :
       {turned.train->batch(samples), turned.train->augmented(samples, {}, Draw{.seed = 3})}) {
    require_consistent(batch, turned.train->schema());
    const Points after = points_of(batch);
    for (int64_t g = 0; g < 2; ++g) {
      // The nodes are some of the points: those whose distances from the middle are the same.
      const Tensor p = before.positions.narrow(0, 50 * g, 50), q = after.positions.narrow(0, 20 * g, 20);
      const Tensor rows = at::argmin((q.norm(2, 1).unsqueeze(1) - p.norm(2, 1).unsqueeze(0)).abs(), 1);
      const Tensor R = rotation_between(p.index_select(0, rows), q);
      const Tensor expected =
          at::matmul(before.vectors.narrow(0, 50 * g, 50).index_select(0, rows).select(1, 0), R);
      EXPECT_LT((after.vectors.narrow(0, 20 * g, 20).select(1, 2) - expected).abs().max().item<double>(),
                1e-4);
    }
  }
  const Points drawn = points_of(redrawn.train->augmented(samples, {}, Draw{.seed = 3}));
  EXPECT_LT((drawn.vectors.select(1, 2).norm(2, 1) - 1).abs().max().item<double>(), 1e-6);
  auto h5 = at("h5");
  h5.carrier = ShapeCarrier::points;
  h5.normals = true;
  EXPECT_THROW(open_set(h5), ConfigError);
}

TEST_F(Modelnet, FillsCellsByTheSurfaceOfMeshes) {
  auto o = at("off");
  const auto by_points = all(*open_set(o).test);
  o.fill = VoxelFill::surface;
  const auto by_surface = all(*open_set(o).test);
  const Tensor a = std::get<Grid>(by_points.input).values, b = std::get<Grid>(by_surface.input).values;
  EXPECT_GT(b.sum().item<double>(), 1.5 * a.sum().item<double>());  // 300 points leave holes
  EXPECT_LT((a > b).sum().item<double>(), 0.01 * a.sum().item<double>());
  o.path = folder_ / "h5";
  EXPECT_THROW(open_set(o), ConfigError);
}

TEST_F(Modelnet, SpreadsPointsAsDensityInACubeOfAnyExtent) {
  for (const char* name : {"h5", "off"}) {
    auto o = at(name);
    o.fill = VoxelFill::density;
    o.sigma = 1.5;
    o.rotate = Turning::uniform;
    const auto unit = open_set(o);
    EXPECT_EQ(unit.test->schema().interface.features.at(0).name, "density");
    EXPECT_EQ(unit.test->schema().interface, declared_schema({o}).interface);
    o.extent = 1.25;
    const auto wide = open_set(o);
    o.fill = VoxelFill::points;
    const auto filled = open_set(o);
    o.carrier = ShapeCarrier::points;
    const auto points = open_set(o);
    const Batch grid = all(*wide.test);
    require_consistent(grid, wide.test->schema());
    EXPECT_DOUBLE_EQ(std::get<Grid>(grid.input).spacing[0], 2.5 / 16);
    const Tensor x = std::get<Points>(all(*points.test).input).positions;
    for (int64_t i = 0; i < wide.test->size(); ++i) {
      const Tensor one = x.slice(0, i * 300, (i + 1) * 300).contiguous(), less = one / 1.25;
      const auto wanted = [&](const Tensor& at) {
        const auto cells = point_density({at.const_data_ptr<float>(), 900}, 16, 1.5);
        return at::tensor(cells, at::kFloat);
      };
      const auto of = [&](const std::shared_ptr<const Dataset>& set) {
        return std::get<Grid>(all(*set).input).values[i].flatten();
      };
      EXPECT_TRUE(at::equal(of(unit.test), wanted(one)));
      EXPECT_TRUE(at::allclose(of(wide.test), wanted(less), 1e-4, 1e-5));
      const auto cells = voxelise({less.const_data_ptr<float>(), 900}, 16);
      EXPECT_LT((of(filled.test) - at::tensor(std::vector<int64_t>(cells.begin(), cells.end())))
                    .abs()
                    .sum()
                    .item<double>(),
                3);
    }
  }
}

TEST_F(Modelnet, OpensByPath) {
  EXPECT_EQ(open_file(folder_ / "h5", {at("x")})->size(), 10);
  EXPECT_EQ(open_file(folder_ / "h5/train0.h5", {at("x")})->size(), 20);
  const auto mesh = open_file(folder_ / "off/cone/test/cone_0001.off", {at("x")});
  EXPECT_EQ(mesh->size(), 1);
  EXPECT_TRUE(mesh->schema().labels.empty());
  for (const char* name : {"h5", "off"}) {
    const auto found = open_for_inspection(folder_ / name);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(inspect(*found[2].second).samples, 10);
  }
}

/// One cloud of two points of a class, by which a file is told from another.
void write_clouds(const std::string& path, std::vector<int64_t> labels) {
  PointClouds clouds{.points = 2, .labels = std::move(labels)};
  for (int64_t i = 0; i < clouds.count(); ++i) {
    clouds.positions.insert(clouds.positions.end(), {0, 0, 0, 0.5, 0.5, 0.5});
  }
  fs::create_directories(fs::path(path).parent_path());
  write_point_clouds(path, clouds);
}

std::vector<int64_t> labels_of(const Dataset& set) {
  const Tensor classes = all(set).labels.at("class").flatten().contiguous();
  return {classes.const_data_ptr<int64_t>(), classes.const_data_ptr<int64_t>() + classes.numel()};
}

TEST_F(Modelnet, OfSeveralVariantsOneIsNamed) {
  // The names of ScanObjectNN's published files; labels tell which file was read.
  const std::string path = folder_ / "scans";
  const std::vector<std::string> names{"objectdataset", "objectdataset_augmented25_norot",
                                       "objectdataset_augmentedrot", "objectdataset_augmentedrot_scale75"};
  for (int64_t k = 0; k < 4; ++k) {
    write_clouds(path + "/training_" + names[k] + ".h5", std::vector<int64_t>(12, k));
    write_clouds(path + "/test_" + names[k] + ".h5", {k, k});
  }
  ModelnetDataOptions o{.path = path, .carrier = ShapeCarrier::points, .points = 2};
  const std::string list =
      "'objectdataset', 'objectdataset_augmented25_norot', 'objectdataset_augmentedrot', "
      "'objectdataset_augmentedrot_scale75'";
  EXPECT_EQ(message_of<DataError>([&] { open_set(o); }),
            path + ": holds the variants " + list + " of one set: data.modelnet.variant must say which");
  o.variant = "objectdataset_augmented";
  EXPECT_EQ(message_of<DataError>([&] { open_set(o); }),
            path + ": data.modelnet.variant must be one of " + list + ", got 'objectdataset_augmented'");
  for (int64_t k = 0; k < 4; ++k) {
    o.variant = names[k];
    const Splits splits = open_set(o);
    EXPECT_EQ(splits.train->size() + splits.valid->size(), 12);
    EXPECT_EQ(labels_of(*splits.train), std::vector<int64_t>(splits.train->size(), k));
    EXPECT_EQ(labels_of(*splits.test), (std::vector<int64_t>{k, k}));
  }
  EXPECT_NE(message_of<DataError>([&] { open_for_inspection(path); }).find(list), std::string::npos);
}

TEST_F(Modelnet, NumberedPartsAreOneSet) {
  const auto train = [&](const std::string& name, const std::vector<std::string>& files,
                         const std::string& variant = "") {
    for (size_t i = 0; i < files.size(); ++i) {
      write_clouds(folder_ / (name + "/" + files[i] + ".h5"),
                   std::vector<int64_t>(4, static_cast<int64_t>(i)));
    }
    const ModelnetDataOptions o{
        .path = folder_ / name, .variant = variant, .carrier = ShapeCarrier::points, .points = 2, .valid = 1};
    const Splits splits = open_set(o);
    return splits.train->size() + splits.valid->size();
  };
  EXPECT_EQ(train("a", {"ply_data_train0", "ply_data_train1", "ply_data_train2", "ply_data_train3",
                        "ply_data_train4"}),
            20);
  EXPECT_EQ(train("b", {"train", "train0", "train_7"}), 12);
  EXPECT_EQ(train("c", {"train_clean_0", "train_clean_1"}), 8);
  EXPECT_EQ(train("d", {"train_clean1", "train_clean2", "test_clean"}, "clean"), 8);
  EXPECT_EQ(train("e", {"train_noise25", "train_noise50", "test"}, "noise50"), 4);
  EXPECT_EQ(train("f", {"train", "train_rotated"}, "plain"), 4);
  EXPECT_EQ(train("f", {}, "rotated"), 4);
  const auto refusal = [&](const std::string& name, const std::string& variant) {
    return message_of<DataError>(
        [&] { open_set(ModelnetDataOptions{.path = folder_ / name, .variant = variant}); });
  };
  EXPECT_NE(refusal("e", "").find("holds the variants 'noise25', 'noise50'"), std::string::npos);
  EXPECT_NE(refusal("f", "").find("holds the variants 'plain', 'rotated'"), std::string::npos);
  EXPECT_NE(refusal("a", "x").find("must be left out, no file's name has one, got 'x'"), std::string::npos);
  EXPECT_NE(refusal("off", "x").find("data.modelnet.variant is of HDF5 files"), std::string::npos);
  // A test file without a name goes with every variant.
  const Splits splits = open_set(ModelnetDataOptions{
      .path = folder_ / "e", .variant = "noise25", .carrier = ShapeCarrier::points, .points = 2, .valid = 1});
  EXPECT_EQ(labels_of(*splits.test), (std::vector<int64_t>(4, 2)));
}

TEST_F(Modelnet, FoldersNameTheClassesAndCellsHaveASize) {
  const auto off = open_set(at("off")).test, h5 = open_set(at("h5")).test;
  EXPECT_EQ(off->schema().category_names.at("class").size(), 10u);
  EXPECT_EQ(off->schema().category_names.at("class")[2], "cone");
  EXPECT_FALSE(h5->schema().category_names.contains("class"));
  EXPECT_EQ(h5->lattice(0).spacing[1], std::get<Grid>(all(*h5).input).spacing[1]);
  EXPECT_EQ(h5->lattice(0).cells, (std::vector<int64_t>{16, 16, 16}));
}

TEST_F(Modelnet, SaysWhatIsWrong) {
  const auto refusal = [](const ModelnetDataOptions& o) {
    return message_of<DataError>([&] { open_set(o); });
  };
  EXPECT_NE(refusal({.path = "/nowhere"}).find("weyl data make solids --out /nowhere"), std::string::npos);
  EXPECT_NE(refusal({.path = folder_.path()}).find("holds neither train*.h5"), std::string::npos);
  auto o = at("h5");
  o.points = 301;
  EXPECT_EQ(refusal(o), o.path +
                            "/train0.h5: data.modelnet.points must be at most 300, the points that a sample "
                            "has, got 301");
  o = at("h5");
  o.classes = 9;
  EXPECT_EQ(refusal(o), o.path + "/train0.h5: labels must be 0 .. 8 (data.modelnet.classes), sample 9 has 9");
  o = at("off");
  o.classes = 9;
  EXPECT_EQ(refusal(o),
            o.path + ": data.modelnet.classes must be 10, the folders of classes there are, got 9");
  o = at("h5");
  o.train = 19;
  EXPECT_EQ(refusal(o),
            o.path + ": data.modelnet.train must be at most 18, the samples there are (0: all), got 19");
  o.train = 0;
  o.valid = 20;
  EXPECT_EQ(
      refusal(o),
      o.path +
          ": data.modelnet.valid must be less than 20, the training samples that it is drawn from, got 20");
  std::ofstream(folder_ / "off/cone/train/cone_0001.off") << "OFF\n3 1 0\n0 0 0\n1 0 0\n2 0 0\n3 0 1 2\n";
  EXPECT_EQ(refusal(at("off")),
            folder_ / "off/cone/train/cone_0001.off" +
                ": sample_surface: the area of the surface must be positive and finite, got 0");
}

}  // namespace modelnet_test
}  // namespace weyl
