#include "weyl/data/inspect.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/fixtures.h"
#include "tests/data/folder.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/makers/particles/nbody.h"

namespace weyl {
namespace inspect_test {

const FieldSummary& named(const std::vector<FieldSummary>& fields, const std::string& name) {
  for (const auto& f : fields) {
    if (f.name == name) return f;
  }
  throw std::runtime_error("no field " + name);
}

TEST(Inspect, SumsUpEveryField) {
  const Batch batch = rich_batch({3, 1, 4});
  const Inspection found = inspect(InMemory(batch, rich_schema()));
  EXPECT_EQ(found.carrier, Carrier::points);
  EXPECT_EQ(found.samples, 3);
  EXPECT_EQ(found.least_tokens, 1);
  EXPECT_EQ(found.most_tokens, 4);
  EXPECT_NEAR(found.mean_tokens, 8. / 3, 1e-12);
  const auto& p = std::get<Points>(batch.input);
  EXPECT_EQ(named(found.fields, "positions").shape, (std::vector<int64_t>{8, 3}));
  EXPECT_EQ(named(found.fields, "charge").shape, (std::vector<int64_t>{8, 2}));
  EXPECT_EQ(named(found.fields, "charge").max, p.scalars.slice(1, 0, 2).max().item<double>());
  EXPECT_EQ(named(found.fields, "spin").min, p.vectors.slice(1, 2, 4).min().item<double>());
  EXPECT_EQ(named(found.fields, "mass").shape[0], p.objects.count());
  EXPECT_EQ(named(found.labels, "energy").shape, (std::vector<int64_t>{3, 1}));
  EXPECT_TRUE(found.warnings.empty()) << found.warnings[0];
}

TEST(Inspect, WarnsOfWhatIsSuspect) {
  const Schema schema = rich_schema();
  const auto warnings = [&](auto spoil) {
    Batch batch = rich_batch({3, 1, 4, 0});
    spoil(batch, std::get<Points>(batch.input));
    const auto found = inspect(InMemory(batch, schema)).warnings;
    return found.empty() ? "" : found[0];
  };
  EXPECT_EQ(warnings([](Batch&, Points&) {}), "1 sample without nodes, the first is sample 3");
  EXPECT_EQ(warnings([](Batch&, Points& p) { p.positions.view({-1})[4] = NAN; }),
            "positions: 1 values are not finite");
  EXPECT_EQ(warnings([](Batch& b, Points&) { b.labels["energy"][1] = NAN; }),
            "label energy: 1 of 4 values are missing");
  EXPECT_EQ(warnings([](Batch& b, Points&) { b.labels["energy"].fill_(2); }), "label energy: is constant, 2");
  const auto coincident = [&](int64_t i, int64_t j) {
    Batch batch = rich_batch({3, 1, 4});
    auto& p = std::get<Points>(batch.input);
    p.positions[i].copy_(p.positions[j]);
    const auto found = inspect(InMemory(batch, schema)).warnings;
    return found.empty() ? "" : found[0];
  };
  EXPECT_EQ(coincident(4, 7), "1 sample with two nodes at one place, the first is sample 2");
  EXPECT_EQ(coincident(0, 7), "");  // of different samples
  Batch flat = rich_batch({3, 2});
  std::get<Points>(flat.input).cell[1].zero_();
  EXPECT_EQ(inspect(InMemory(flat, schema)).warnings.at(0),
            "1 sample with a periodic cell without volume, the first is sample 1");
}

TEST(Inspect, OfNothingIsAWarning) {
  const Inspection found = inspect(InMemory(rich_batch({}), rich_schema()));
  EXPECT_EQ(found.samples, 0);
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_EQ(found.warnings[0], "there are no samples");
}

TEST(Inspect, OpensFilesAndFolders) {
  const Folder folder;
  ASSERT_TRUE(make_nbody({.train = 3, .valid = 0, .test = 2}, folder.path()));
  const auto sets = open_for_inspection(folder.path());
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].first, "train");
  EXPECT_EQ(sets[1].first, "test");
  const Inspection found = inspect(*sets[0].second);
  EXPECT_EQ(named(found.fields, "velocity").unit, "length/time");
  EXPECT_EQ(named(found.fields, "positions").unit, "length");
  EXPECT_EQ(named(found.labels, "displacement").shape, (std::vector<int64_t>{15, 1, 3}));
  Batch batch = rich_batch({3});
  std::get<Points>(batch.input).scalars.fill_(NAN);  // inspected, not refused
  Schema schema = rich_schema();
  schema.interface.length_unit = "nm";
  write_tensor_file(folder / "other.safetensors", batch, schema);
  const auto other = open_for_inspection(folder / "other.safetensors");
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(inspect(*other[0].second).warnings.at(0), "scalars: 9 values are not finite");
  EXPECT_EQ(named(inspect(*other[0].second).fields, "positions").unit, "nm");
  EXPECT_EQ(named(inspect(*other[0].second).fields, "cell").unit, "nm");
}

TEST(Inspect, SeesPosesAndGrids) {
  Schema poses;
  poses.interface.group = LieGroup::so3;
  const InMemory set(
      Batch{
          Poses{LieGroup::so3, at::eye(3).repeat({4, 1, 1}), {}, Segments::of_sizes(std::vector<int64_t>{4})},
          {}},
      poses);
  EXPECT_EQ(named(inspect(set).fields, "elements").max, 1);
  Schema grid;
  grid.interface.grid = true;
  grid.interface.dimension = 2;
  grid.interface.features = {{"grey"}};
  const Inspection found = inspect(InMemory(Batch{Grid{at::ones({2, 1, 4, 5}), {}}, {}}, grid));
  EXPECT_EQ(found.least_tokens, 20);
  EXPECT_EQ(named(found.fields, "values").shape, (std::vector<int64_t>{2, 1, 4, 5}));
}

}  // namespace inspect_test
}  // namespace weyl
