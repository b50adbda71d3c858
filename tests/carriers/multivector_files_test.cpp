// Carrier tensor files of points that multivectors describe, with and without positions.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/fixtures.h"
#include "tests/data/folder.h"
#include "tests/data/refusals.h"
#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"
#include "weyl/carriers/origin.h"
#include "weyl/carriers/points.h"
#include "weyl/carriers/tensor_format.h"

namespace weyl {
namespace multivector_files_test {

const std::string kAlone = WEYL_SOURCE_DIR "/tests/fixtures/points/multivectors_alone.safetensors";

Schema schema_of_frames() {
  Schema schema;
  schema.interface.features = {
      {"corner", Level::node, Kind::multivector, 1}, {"axis", Level::node, Kind::multivector, 1}, {"charge"}};
  return schema;
}

NamedTensors frames() {
  at::manual_seed(4);
  return {{"multivectors", at::randn({3, 2, 16})},
          {"scalars", at::randn({3, 1})},
          {"offsets", at::tensor(std::vector<int64_t>{0, 2, 3}, at::kLong)}};
}

std::string refusal(const Folder& folder, const NamedTensors& tensors, const Schema& schema) {
  const std::string path = folder / "broken.safetensors";
  save_tensors(path, tensors);
  const std::string message = message_of<DataError>([&] { read_tensor_file(path, schema); });
  return message.empty() ? "" : message.substr(path.size() + 2);
}

TEST(MultivectorFiles, NeedNoPositions) {
  const Folder folder;
  const NamedTensors given = frames();
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    NamedTensors tensors = given;
    tensors["multivectors"] = given.at("multivectors").to(dtype);
    save_tensors(folder / "x.safetensors", tensors);
    const TensorFile read = read_tensor_file(folder / "x.safetensors", schema_of_frames());
    const auto& p = std::get<Points>(read.batch.input);
    EXPECT_TRUE(at::equal(p.multivectors, tensors.at("multivectors")));
    EXPECT_TRUE(at::equal(p.scalars, tensors.at("scalars")));
    EXPECT_TRUE(at::equal(p.positions, at::zeros({3, 3}, dtype)));  // equal compares dtypes too
    EXPECT_EQ(p.positions.scalar_type(), dtype);
    EXPECT_FALSE(p.placed);
    EXPECT_EQ(p.graphs.offsets, (std::vector<int64_t>{0, 2, 3}));
    write_tensor_file(folder / "again.safetensors", read.batch, read.schema);  // as `data split` does
    EXPECT_FALSE(SafetensorsFile(folder / "again.safetensors").contains("positions"));
    const TensorFile again = read_tensor_file(folder / "again.safetensors", schema_of_frames());
    EXPECT_EQ(difference(again.batch, read.batch), 0);
  }
  EXPECT_EQ(refusal(folder, given, {}),
            "positions: is absent, and no multivectors are declared, which would do without");
  NamedTensors nothing = given;
  nothing.erase("multivectors");
  const Schema schema = schema_of_frames();
  EXPECT_EQ(
      refusal(folder, nothing, schema),
      "must hold one of positions or multivectors (points), elements (poses) and values (grid), holds 0");
}

TEST(MultivectorFiles, StandBesidePositionsAndObjects) {
  const Folder folder;
  Schema schema = schema_of_frames();
  schema.interface.features.push_back({"floor", Level::graph, Kind::multivector, 1});
  schema.interface.features.push_back({"body", Level::object, Kind::multivector, 2});
  schema.labels = {{"motor", Level::object, Kind::multivector, 1}};
  NamedTensors tensors = frames();
  tensors["positions"] = at::randn({3, 3});
  tensors["floor"] = at::randn({2, 16});  // one a graph needs no axis of its own
  tensors["object_offsets"] = at::tensor(std::vector<int64_t>{0, 1, 2, 3}, at::kLong);
  tensors["body"] = at::randn({3, 2, 16});
  tensors["motor"] = at::randn({3, 1, 16});
  save_tensors(folder / "x.safetensors", tensors);
  const TensorFile read = read_tensor_file(folder / "x.safetensors", schema);
  const auto& p = std::get<Points>(read.batch.input);
  EXPECT_TRUE(p.placed);
  EXPECT_EQ(p.of_graphs.at("floor").sizes(), at::IntArrayRef({2, 1, 16}));
  EXPECT_TRUE(at::equal(p.of_objects.at("body"), tensors.at("body")));
  EXPECT_EQ(read.batch.labels.at("motor").scalar_type(), at::kDouble);
  write_tensor_file(folder / "again.safetensors", read.batch, read.schema);
  EXPECT_EQ(difference(read_tensor_file(folder / "again.safetensors", schema).batch, read.batch), 0);
}

TEST(MultivectorFiles, PositionsAtTheOriginArePositions) {
  const Folder folder;
  NamedTensors tensors = frames();
  tensors["positions"] = at::zeros({3, 3});
  save_tensors(folder / "x.safetensors", tensors);
  const TensorFile read = read_tensor_file(folder / "x.safetensors", schema_of_frames());
  EXPECT_TRUE(std::get<Points>(read.batch.input).placed);
  write_tensor_file(folder / "again.safetensors", read.batch, read.schema);
  EXPECT_TRUE(SafetensorsFile(folder / "again.safetensors").contains("positions"));
  const std::vector<Batch> parts{read.batch, read.batch};
  EXPECT_TRUE(std::get<Points>(concatenate(parts, read.schema).input).placed);
  // A node of multivectors alone stands where they do, one with a position where that is.
  Batch alone = read.batch, placed = read.batch;
  auto& points = std::get<Points>(alone.input);
  points.placed = false;
  points.multivectors = at::zeros_like(points.multivectors);
  points.multivectors.select(2, 14).fill_(1);        // e123
  points.multivectors.select(2, 13).fill_(-100000);  // -x e023
  std::get<Points>(placed.input).multivectors = points.multivectors;
  EXPECT_FALSE(to_origin(alone.input).none());
  EXPECT_TRUE(to_origin(placed.input).none());
  EXPECT_FALSE(std::get<Points>(concatenate(std::vector{alone, alone}, read.schema).input).placed);
}

TEST(MultivectorFiles, AreToldByTheirShapes) {
  const TensorFile read = read_tensor_file(kAlone);
  ASSERT_EQ(read.schema.interface.features.size(), 1u);
  EXPECT_EQ(read.schema.interface.features[0],
            (Quantity{.name = "multivectors", .kind = Kind::multivector, .channels = 2}));
  EXPECT_EQ(read.batch.count(), 2);
  EXPECT_TRUE(read.schema.labels.empty());
}

TEST(MultivectorFiles, ThatAreBrokenAreOneLineEach) {
  const Table faults{
      {"fifteen_numbers", "multivectors: must be (3, 2, 16), got (3, 2, 15)"},
      {"two_axes", "multivectors: must be (N, M, 16), got (3, 16)"},
      {"whole_numbers", "multivectors: must be of a floating-point type, got Int"},
      {"not_a_number", "multivectors: must be finite, some values are not, the first of row 1"},
      {"no_offsets", "offsets: is absent"},
      {"rows_of_another_file", "offsets: must end with the number of rows, 3, got 4"},
      {"rows_without_positions", "multivectors: must be (2, 1, 16), got (3, 1, 16)"},
      {"vectors_without_positions", "positions: is absent, but the vectors need it"},
      {"cell_without_positions", "positions: is absent, but the cell needs it"},
      {"in_the_plane", "feature 'multivectors': a multivector needs three dimensions, got 2"},
      {"cut_short", "data_offsets must lie in order within 186 bytes of data, got [0, 192]"}};
  expect_refusals("multivectors", faults,
                  [](const std::string& path) { read_tensor_file(path, Values::checked); });
}

}  // namespace multivector_files_test
}  // namespace weyl
