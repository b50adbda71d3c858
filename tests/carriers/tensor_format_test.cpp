#include "weyl/carriers/tensor_format.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/data/fixtures.h"
#include "tests/data/folder.h"
#include "weyl/carriers/dataset.h"
#include "weyl/core/check.h"
#include "weyl/data/open.h"

namespace weyl {
namespace tensor_format_test {

/// The names of a rich batch's tensors in a file, after writing it.
NamedTensors written(const Folder& folder, const Batch& batch, const Schema& schema) {
  write_tensor_file(folder / "all.safetensors", batch, schema);
  return load_tensors(folder / "all.safetensors");
}

TEST(TensorFile, KeepsEveryFieldOfPoints) {
  const Folder folder;
  const Schema schema = rich_schema();
  const Batch batch = rich_batch({3, 1, 4}, at::kFloat);
  write_tensor_file(folder / "all.safetensors", batch, schema);
  const TensorFile read = read_tensor_file(folder / "all.safetensors", schema);
  EXPECT_EQ(difference(read.batch, batch), 0);
  EXPECT_EQ(read.schema.labels, schema.labels);
  EXPECT_NEAR(read.schema.interface.typical_nodes, 8. / 3, 1e-12);
}

TEST(TensorFile, KeepsPosesAndGrids) {
  const Folder folder;
  Schema schema;
  schema.interface.group = LieGroup::se3;
  schema.interface.features = {{"weight"}};
  const Tensor elements = at::eye(4, at::kDouble).repeat({3, 1, 1});
  const Batch poses{Poses{LieGroup::se3, elements, at::randn({3, 1}, at::kDouble),
                          Segments::of_sizes(std::vector<int64_t>{2, 1})},
                    {}};
  write_tensor_file(folder / "poses.safetensors", poses, schema);
  const TensorFile read = read_tensor_file(folder / "poses.safetensors", schema);
  EXPECT_EQ(difference(read.batch, poses), 0);
  EXPECT_EQ(std::get<Poses>(read.batch.input).group, LieGroup::se3);

  Schema images;
  images.interface.grid = true;
  images.interface.dimension = 2;
  images.interface.features = {{.name = "colour", .channels = 3}};
  images.labels = {{.name = "class", .level = Level::graph, .kind = Kind::category}};
  const Batch grid{Grid{at::randn({2, 3, 4, 5}), {0.5, 0.25, 1}}, {{"class", at::ones({2, 1}, at::kLong)}}};
  write_tensor_file(folder / "grid.safetensors", grid, images);
  const TensorFile again = read_tensor_file(folder / "grid.safetensors", images);
  EXPECT_EQ(difference(again.batch, grid), 0);
  EXPECT_EQ(std::get<Grid>(again.batch.input).spacing, (std::array<double, 3>{0.5, 0.25, 1}));
}

TEST(TensorFile, AcceptsWhatOtherProgramsWrite) {
  // types as a column, one number a graph without an axis of its own, half precision, labels in float32,
  // strangers
  const Folder folder;
  Schema schema;
  schema.interface.types = 3;
  schema.interface.features = {{"charge"},
                               {.name = "temperature", .level = Level::graph},
                               {.name = "field", .level = Level::graph, .kind = Kind::vector}};
  schema.labels = {{.name = "energy", .level = Level::graph}, {.name = "absent", .level = Level::graph}};
  save_tensors(folder / "x.safetensors", {{"positions", at::ones({3, 3})},
                                          {"offsets", at::tensor(std::vector<int64_t>{0, 2, 3}, at::kLong)},
                                          {"types", at::ones({3, 1}, at::kLong)},
                                          {"scalars", at::ones({3, 1}, at::kHalf)},
                                          {"temperature", at::ones({2})},
                                          {"field", at::ones({2, 3})},
                                          {"energy", at::ones({2})},
                                          {"stranger", at::ones({7, 7})}});
  const TensorFile read = read_tensor_file(folder / "x.safetensors", schema);
  const auto& p = std::get<Points>(read.batch.input);
  EXPECT_EQ(p.types.sizes(), at::IntArrayRef({3}));
  EXPECT_EQ(p.scalars.scalar_type(), at::kFloat);
  EXPECT_EQ(p.of_graphs.at("temperature").sizes(), at::IntArrayRef({2, 1}));
  EXPECT_EQ(p.of_graphs.at("field").sizes(), at::IntArrayRef({2, 1, 3}));
  EXPECT_EQ(read.batch.labels.at("energy").scalar_type(), at::kDouble);
  ASSERT_EQ(read.schema.labels.size(), 1u);  // the absent one is left out
  EXPECT_EQ(read.schema.labels[0].name, "energy");
}

TEST(TensorFile, BrokenFilesAreOneLineThatNamesTheTensor) {
  const Folder folder;
  const Schema schema = rich_schema();
  const NamedTensors good = written(folder, rich_batch({3, 1, 4}), schema);
  const auto offsets = [](std::vector<int64_t> x) { return at::tensor(x, at::kLong); };
  const auto with_nan = [](Tensor t) {
    t = t.clone();
    t.view({-1})[1] = NAN;
    return t;
  };
  struct Case {
    const char* tensor;
    Tensor value;  // undefined: removed
    const char* message;
  };
  const Case cases[] = {
      {"positions", {}, "positions: is absent, but the vectors need it"},
      {"positions", good.at("positions").slice(1, 0, 2), "positions: must have 3 columns, got 2"},
      {"positions", at::ones({8, 3}, at::kInt), "positions: must be of a floating-point type, got Int"},
      {"positions", with_nan(good.at("positions")),
       "positions: must be finite, some values are not, the first of row 0"},
      {"offsets", {}, "offsets: is absent"},
      {"offsets", offsets({0, 3, 4}), "offsets: must end with the number of rows, 8, got 4"},
      {"offsets", offsets({1, 3, 4, 8}), "offsets: must begin with 0, got 1"},
      {"offsets", offsets({0, 5, 4, 8}), "offsets: must not decrease, entry 2 does"},
      {"offsets", offsets({0, 3, 4, 8}).to(at::kFloat), "offsets: must be int64, got Float"},
      {"types", good.at("types") + 2, "types: must be 0 .. 3, got one outside"},
      {"types", good.at("types").slice(0, 0, 7), "types: must be (8), got (7)"},
      {"scalars", good.at("scalars").slice(1, 0, 2), "scalars: must be (8, 3), got (8, 2)"},
      {"scalars", {}, "scalars: is absent"},
      {"vectors", good.at("vectors").slice(0, 0, 7), "vectors: must be (8, 4, 3), got (7, 4, 3)"},
      {"multivectors", good.at("multivectors").slice(2, 0, 15),
       "multivectors: must be (8, 2, 16), got (8, 2, 15)"},
      {"multivectors", good.at("multivectors").select(1, 0), "multivectors: must be (N, M, 16), got (8, 16)"},
      {"multivectors", {}, "multivectors: is absent"},
      {"floor", good.at("floor").slice(2, 0, 15), "floor: must be (3, 1, 16), got (3, 1, 15)"},
      {"pose", with_nan(good.at("pose")), "pose: must be finite, some values are not"},
      {"motor", good.at("motor").slice(2, 0, 15), "motor: must be (5, 1, 16), got (5, 1, 15)"},
      {"pairs", good.at("pairs").slice(0, 0, 25), "pairs: must be (26, 2), got (25, 2)"},
      {"object_offsets", offsets({0, 1, 2, 5, 7, 8}), "objects: must lie inside one graph, one spans node 3"},
      {"object_offsets", {}, "object_offsets: is absent, but 'mass' is of object level"},
      {"gravity", good.at("gravity").slice(0, 0, 2), "gravity: must be (3, 1, 3), got (2, 1, 3)"},
      {"gravity", with_nan(good.at("gravity")), "gravity: must be finite, some values are not"},
      {"energy", at::ones({3, 2}), "energy: must be (3, 1), got (3, 2)"},
      {"class", at::ones({3, 1}), "class: must be int64, got Float"},
      {"cell", good.at("cell").slice(0, 0, 2), "cell: must be (3, 3, 3), got (2, 3, 3)"},
      {"pbc", at::ones({3, 3}), "pbc: must be bool, got Float"},
  };
  for (const auto& c : cases) {
    NamedTensors broken = good;
    if (c.value.defined()) {
      broken[c.tensor] = c.value;
    } else {
      broken.erase(c.tensor);
    }
    const std::string path = folder / "broken.safetensors";
    save_tensors(path, broken);
    const std::string message = message_of<DataError>([&] { read_tensor_file(path, schema); });
    EXPECT_EQ(message, path + ": " + c.message);
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  NamedTensors missing = good;
  missing["energy"] = with_nan(good.at("energy"));  // a label may be missing
  save_tensors(folder / "missing.safetensors", missing);
  EXPECT_NO_THROW(read_tensor_file(folder / "missing.safetensors", schema));
}

TEST(TensorFile, BrokenPosesAndGridsToo) {
  const Folder folder;
  const auto of = [](LieGroup group) {
    Schema schema;
    schema.interface.group = group;
    schema.interface.dimension = dimension_of(group);
    return schema;
  };
  const Schema poses = of(LieGroup::se3), rotations = of(LieGroup::so3), affine = of(LieGroup::aff3);
  const Tensor eye = at::eye(4).repeat({2, 1, 1}),
               offsets = at::tensor(std::vector<int64_t>{0, 2}, at::kLong);
  const auto read = [&](const NamedTensors& t, std::map<std::string, std::string> metadata,
                        const Schema& schema) {
    const std::string path = folder / "broken.safetensors";
    save_tensors(path, t, metadata);
    const std::string message = message_of<DataError>([&] { read_tensor_file(path, schema); });
    return message.empty() ? "" : message.substr(path.size() + 2);
  };
  const std::map<std::string, std::string> se3{{"group", "se3"}};
  EXPECT_EQ(read({{"elements", eye}, {"offsets", offsets}}, se3, poses), "");
  EXPECT_EQ(
      read({{"elements", eye}, {"offsets", offsets}}, {}, poses),
      "metadata group: is absent; of arrays of NumPy `weyl data convert poses.npz poses.safetensors group=se3` "
      "says it");
  EXPECT_EQ(read({{"elements", eye}, {"offsets", offsets}}, {{"group", "e8"}}, poses),
            "metadata group: must be so2, se2, so3, se3, aff2 or aff3, got 'e8'");
  EXPECT_EQ(read({{"elements", eye}, {"offsets", offsets}}, {{"group", "so3"}}, rotations),
            "elements: must be (N, 3, 3), got (2, 4, 4)");
  EXPECT_EQ(read({{"elements", eye * 2}, {"offsets", offsets}}, se3, poses),
            "elements: must be of se3, matrix 0 is off it by 3, token 0 of sample 0");
  Tensor sheared = eye.clone();
  sheared[1][0][1] = 0.5;
  EXPECT_EQ(read({{"elements", sheared}, {"offsets", offsets}}, se3, poses),
            "elements: must be of se3, matrix 1 is off it by 0.5, token 1 of sample 0");
  EXPECT_EQ(read({{"elements", sheared}, {"offsets", offsets}}, {{"group", "aff3"}}, affine), "");
  EXPECT_EQ(read({{"elements", -at::eye(3).unsqueeze(0)}, {"offsets", offsets.clone().clamp_max(1)}},
                 {{"group", "so3"}}, rotations),
            "elements: must be of so3, matrix 0 is a reflection, token 0 of sample 0");
  Schema images;
  images.interface.grid = true;
  images.interface.dimension = 2;
  images.interface.features = {{"grey"}};
  EXPECT_EQ(read({{"values", at::ones({2, 1, 4, 4})}}, {}, images), "");
  EXPECT_EQ(read({{"values", at::ones({2, 3, 4, 4})}}, {}, images), "values: must have 1 channels, got 3");
  EXPECT_EQ(read({{"values", at::ones({2, 4})}}, {}, images),
            "values: must be (B, C, H, W) or (B, C, X, Y, Z), got (2, 4)");
  EXPECT_EQ(read({{"values", at::ones({2, 1, 4, 4})}, {"spacing", at::zeros({2})}}, {}, images),
            "spacing: must be positive, got 0");
  EXPECT_EQ(read({{"values", at::ones({2, 1, 4, 4})}}, {}, poses), "must hold poses, holds grid");
}

TEST(TensorFile, TellsItsSchemaByItsShapes) {
  const Folder folder;
  write_tensor_file(folder / "all.safetensors", rich_batch({3, 1, 4}), rich_schema());
  const TensorFile read = read_tensor_file(folder / "all.safetensors");
  const auto& features = read.schema.interface.features;
  ASSERT_EQ(features.size(), 4u);
  EXPECT_EQ(features[0].name, "scalars");
  EXPECT_EQ(features[0].channels, 3);
  EXPECT_EQ(features[1].kind, Kind::vector);
  EXPECT_EQ(features[2].kind, Kind::multivector);
  EXPECT_EQ(features[2].channels, 2);
  EXPECT_EQ(features[3].level, Level::pair);
  const auto label = [&](const std::string& name) {
    for (const auto& q : read.schema.labels) {
      if (q.name == name) return q;
    }
    return Quantity{};
  };
  EXPECT_EQ(label("energy").level, Level::graph);
  EXPECT_EQ(label("forces").level, Level::node);
  EXPECT_EQ(label("forces").kind, Kind::vector);
  EXPECT_EQ(label("stress").kind, Kind::symmetric_tensor);
  EXPECT_EQ(label("class").kind, Kind::category);
  EXPECT_EQ(label("line").kind, Kind::multivector);
  EXPECT_EQ(label("line").level, Level::node);
  EXPECT_EQ(label("motor").kind, Kind::multivector);
  EXPECT_EQ(label("motor").level, Level::object);
}

TEST(TensorFile, TellsLabelsOfObjectsByTheirRows) {
  const Folder folder;
  const Schema schema = rich_schema();
  write_tensor_file(folder / "all.safetensors", rich_batch({3, 1, 4}),
                    schema);  // 3 graphs, 8 nodes, 5 objects
  const TensorFile read = read_tensor_file(folder / "all.safetensors");
  const Quantity* torque = find_quantity(read.schema.labels, "torque");
  ASSERT_NE(torque, nullptr);
  EXPECT_EQ(torque->level, Level::object);
  EXPECT_EQ(read.batch.labels.at("torque").size(0), 5);
}

TEST(TensorSet, OpensAFolderOfThem) {
  const Folder folder;
  const Schema schema = rich_schema();
  Interface interface = schema.interface;
  interface.outputs = schema.labels;
  TensorsDataOptions options;
  options.path = folder.path();
  EXPECT_NE(message_of<DataError>([&] { open_splits({options}, &interface); }).find("holds none of"),
            std::string::npos);
  write_tensor_file(folder / "train.safetensors", rich_batch({3, 1, 4}), schema);
  write_tensor_file(folder / "test.safetensors", rich_batch({2}), schema);
  const Splits splits = open_splits({options}, &interface);
  EXPECT_EQ(splits.train->size(), 3);
  EXPECT_FALSE(splits.valid);
  EXPECT_EQ(splits.test->size(), 1);
  EXPECT_EQ(splits.train->schema().labels, schema.labels);
  EXPECT_EQ(open_file(folder.path(), {options}, &interface)->size(), 1);
  EXPECT_EQ(open_file(folder / "train.safetensors", {}, &interface)->size(), 3);
  EXPECT_EQ(declared_schema({options}, &interface).interface.features, interface.features);
  EXPECT_THROW(open_splits({options}), ConfigError);  // no [interface]
  EXPECT_THROW(declared_schema({options}), ConfigError);
  EXPECT_THROW(open_file(folder / "nothing.safetensors", {options}), DataError);
}

}  // namespace tensor_format_test
}  // namespace weyl
