// Frames become points with labels.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/molecules.h"
#include "weyl/data/atoms/frame_collector.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"

namespace weyl {
namespace frame_collector_test {

TEST_F(Molecules, BecomePointsWithLabels) {
  const auto path = file("a.xyz",
                         "2\nProperties=species:S:1:pos:R:3:forces:R:3 energy=-10.5\n"
                         "O 0 0 0.1 0 0 -0.2\nH 0 0 1.1 0 0 0.2\n" +
                             frame("energy=-3"));
  const auto data = whole(path);
  ASSERT_EQ(data->size(), 2);
  const Batch batch = all_of(*data);
  const Points& p = points_of(batch);
  EXPECT_EQ(p.positions.scalar_type(), at::kDouble);
  EXPECT_TRUE(at::equal(p.types, at::tensor(std::vector<int64_t>{8, 1, 8}, at::kLong)));
  EXPECT_EQ(data->schema().interface.types, 100);
  EXPECT_EQ(data->schema().interface.elements.at(8), "O");
  EXPECT_EQ(data->schema().interface.length_unit, "\u00c5");
  EXPECT_EQ(data->schema().interface.typical_nodes, 1.5);
  EXPECT_FALSE(p.cell.defined());
  EXPECT_TRUE(at::equal(batch.labels.at("energy"), at::tensor({-10.5, -3.0}, at::kDouble).view({2, 1})));
  EXPECT_EQ(batch.labels.at("forces").sizes(), (std::vector<int64_t>{3, 1, 3}));
  EXPECT_EQ(batch.labels.at("forces")[2][0][1].item<double>(), 2);
  EXPECT_FALSE(has_label(*data, "stress"));
  EXPECT_EQ(data->schema().labels[0].unit, "eV");
  EXPECT_TRUE(data->schema().labels[0].extensive);
  EXPECT_EQ(data->schema().labels[1].unit, "eV/\u00c5");
}

TEST_F(Molecules, TakeTheTypesThatAreAskedFor) {
  const auto path = file("a.xyz", frame("energy=1", "O") + frame("energy=2", "H"));
  MoleculesDataOptions o;
  o.elements = {"H", "C", "O"};
  const auto data = whole(path, o);
  EXPECT_TRUE(at::equal(points_of(all_of(*data)).types, at::tensor(std::vector<int64_t>{2, 0}, at::kLong)));
  EXPECT_EQ(data->schema().interface.types, 3);
  o.elements = {"H", "C"};
  EXPECT_NE(refusal(path, o).find("a.xyz: frame 1"), std::string::npos) << refusal(path, o);
  EXPECT_NE(refusal(path, o).find("atom 1 must be one of H C (elements), got O"), std::string::npos);
  o.elements = {"H", "Hh"};
  EXPECT_NE(refusal<ConfigError>(path, o).find("data.molecules.elements: unknown element"),
            std::string::npos);
  o.elements = {"H", "H"};
  EXPECT_NE(refusal<ConfigError>(path, o).find("given twice"), std::string::npos);
}

TEST_F(Molecules, OfPeriodicFramesHaveCells) {
  const auto path = file("a.xyz", frame("energy=1 Lattice=\"4 0 0 1 5 0 0 0 6\"") + frame("energy=2"));
  const Batch batch = all_of(*whole(path));
  const Points& p = points_of(batch);
  ASSERT_TRUE(p.cell.defined());
  EXPECT_EQ(p.cell[0][1][0].item<double>(), 1);
  EXPECT_TRUE(p.pbc[0].all().item<bool>());
  EXPECT_FALSE(p.pbc[1].any().item<bool>());
  // A box that does not repeat is no cell.
  const auto box = file("b.xyz", frame("energy=1 Lattice=\"4 0 0 0 4 0 0 0 4\" pbc=\"F F F\""));
  EXPECT_FALSE(points_of(all_of(*whole(box))).cell.defined());
}

TEST_F(Molecules, ReadStressAsMatrixOrVoigtOrVirial) {
  const std::string cell = " Lattice=\"2 0 0 0 2 0 0 0 2\" ";
  const auto path =
      file("a.xyz", frame("stress=\"1 2 3 4 5 6\"" + cell) + frame("stress=\"1 6 5 6 2 4 5 4 3\"" + cell));
  const Batch batch = all_of(*whole(path));
  EXPECT_TRUE(at::equal(batch.labels.at("stress")[0], batch.labels.at("stress")[1]));
  EXPECT_EQ(batch.labels.at("stress")[0][0][1][2].item<double>(), 4);  // yz
  const auto virial = file("b.xyz", frame("virial=\"8 0 0 0 8 0 0 0 8\"" + cell));
  EXPECT_NEAR(all_of(*whole(virial)).labels.at("stress")[0][0][0][0].item<double>(), -1, 1e-12);
  MoleculesDataOptions in_bohr;
  in_bohr.energy_unit = "kcal/mol";
  in_bohr.length_unit = "Bohr";
  EXPECT_NEAR(all_of(*whole(virial, in_bohr)).labels.at("stress")[0][0][0][0].item<double>(),
              -(4184 / 96485.33212331) / std::pow(0.529177210544, 3), 1e-9);
  // Without a volume there is none, and that is no fault.
  const auto some = file("c.xyz", frame("stress=\"1 2 3 4 5 6\"" + cell) + frame("stress=\"1 2 3 4 5 6\""));
  const Tensor stress = all_of(*whole(some)).labels.at("stress");
  EXPECT_TRUE(at::isnan(stress[1]).all().item<bool>());
  EXPECT_FALSE(at::isnan(stress[0]).any().item<bool>());
  const auto odd = file("d.xyz", frame("stress=\"1 2 3\"" + cell));
  EXPECT_NE(refusal(odd).find("'stress' must be 9 numbers, or 6, got 3"), std::string::npos);
}

TEST_F(Molecules, FindTheUsualKeysInTheirOrder) {
  const auto path = file(
      "a.xyz", "1\nProperties=species:S:1:pos:R:3:REF_forces:R:3 REF_energy=-1 other=5\nH 0 0 0 1 2 3\n");
  const auto data = whole(path);
  EXPECT_EQ(all_of(*data).labels.at("energy").item<double>(), -1);
  EXPECT_TRUE(has_label(*data, "forces"));
  EXPECT_EQ(data->schema().unread, std::vector<std::string>{"other"});
  // Nobody knows which of two is meant: it is no label until the key is given.
  const auto both = file("b.xyz", frame("REF_energy=-1 energy=-2"));
  EXPECT_FALSE(has_label(*whole(both), "energy"));
  const std::string why =
      "energy and REF_energy (" + both + ": frame 1, line 1; say which by data.molecules.energy)";
  EXPECT_TRUE(whole(both)->schema().unread.empty());
  EXPECT_EQ(whole(both)->schema().left_out, (std::map<std::string, std::string>{{"energy", why}}));
  const auto turns = file("c.xyz", frame("energy=-1") + frame("REF_energy=-2"));
  MoleculesDataOptions masked;
  masked.missing = MissingLabels::mask;  // never dropped in silence
  EXPECT_FALSE(has_label(*whole(turns, masked), "energy"));
  MoleculesDataOptions o;
  o.energy = "REF_energy";
  EXPECT_EQ(all_of(*whole(both, o)).labels.at("energy").item<double>(), -1);
  o.energy = "Etot";
  EXPECT_NE(refusal(both, o).find("no frame has 'Etot'"), std::string::npos) << refusal(both, o);
}

TEST_F(Molecules, WithoutALabelHaveNoneOrAreMasked) {
  const auto path = file("a.xyz", frame("energy=1") + frame("no=2") + frame("energy=3"));
  EXPECT_FALSE(has_label(*whole(path), "energy"));  // a fault only where it is needed
  EXPECT_TRUE(has_label(*whole(path), "forces"));
  const std::string message = whole(path)->schema().left_out.at("energy");
  EXPECT_NE(message.find("energy in 2 of 3 frames (not in " + path + ": frame 2"), std::string::npos)
      << message;
  MoleculesDataOptions o;
  o.missing = MissingLabels::mask;
  const Tensor energy = all_of(*whole(path, o)).labels.at("energy");
  EXPECT_TRUE(std::isnan(energy[1].item<double>()));
  EXPECT_EQ(energy[2].item<double>(), 3);
  // The first frame may be the one that lacks it.
  const auto late = file("b.xyz", frame("no=2") + frame("energy=3"));
  EXPECT_NE(whole(late)->schema().left_out.at("energy").find("b.xyz: frame 1"), std::string::npos);
  EXPECT_TRUE(std::isnan(all_of(*whole(late, o)).labels.at("energy")[0].item<double>()));
}

TEST_F(Molecules, RefuseLabelsThatAreNoNumbers) {
  EXPECT_NE(refusal(file("a.xyz", frame("energy=nan"))).find("'energy' must be finite"), std::string::npos);
  EXPECT_NE(refusal(file("b.xyz", frame("energy=1", "O", "nan 0 0"))).find("'forces' must be finite"),
            std::string::npos);
  EXPECT_NE(refusal(file("c.xyz", frame("energy=low"))).find("'energy' must be numbers"), std::string::npos);
  EXPECT_NE(refusal(file("d.xyz", frame("energy=\"1 2\""))).find("'energy' must be 1 number, got 2"),
            std::string::npos);
  const auto wide = file("e.xyz", "1\nProperties=species:S:1:pos:R:3:forces:R:2 energy=1\nH 0 0 0 1 2\n");
  EXPECT_NE(refusal(wide).find("'forces' must be 3 numbers an atom, got 2"), std::string::npos)
      << refusal(wide);
  // To be looked at, they are welcome.
  const auto found = inspect(*open_file(folder + "/a.xyz", {}, nullptr, Values::any));
  EXPECT_EQ(found.samples, 1);
  EXPECT_EQ(found.labels[0].missing, 1);
}

TEST_F(Molecules, TellFeaturesAndProperties) {
  const auto path = file("a.xyz", frame("energy=1 charge=-1 gap=0.5") + frame("energy=2 charge=0 gap=0.7"));
  MoleculesDataOptions o;
  o.features = {"charge"};
  o.properties = {{"gap", "eV", false}};
  const auto data = whole(path, o);
  const Batch batch = all_of(*data);
  EXPECT_TRUE(
      at::equal(points_of(batch).of_graphs.at("charge"), at::tensor({-1.0, 0.0}, at::kDouble).view({2, 1})));
  EXPECT_EQ(batch.labels.at("gap")[1].item<double>(), 0.7);
  EXPECT_TRUE(has_label(*data, "gap"));
  o.features = {"spin"};
  EXPECT_NE(refusal(path, o).find("must have the feature 'spin', has 'energy', 'charge', 'gap', 'forces'"),
            std::string::npos)
      << refusal(path, o);
  o.features = {};
  o.properties = {{"energy", "eV", true}};
  EXPECT_NE(refusal<ConfigError>(path, o).find("is a label already"), std::string::npos);
}

TEST_F(Molecules, TakeTheLengthOfAVectorForAProperty) {
  const auto path = file("a.xyz", frame("energy=1 dipole=\"2 -3 6\"") + frame("energy=2 dipole=\"0 0 0\""));
  MoleculesDataOptions o;
  o.properties = {{.key = "dipole", .unit = "", .norm = true}};
  const Batch batch = all_of(*whole(path, o));
  EXPECT_TRUE(at::equal(batch.labels.at("dipole"), at::tensor({7.0, 0.0}, at::kDouble).view({2, 1})));
  o.properties = {{.key = "dipole", .unit = ""}};
  EXPECT_NE(refusal(path, o).find("'dipole' must be 1 number, got 3"), std::string::npos) << refusal(path, o);
  o.properties = {{.key = "energy_of_gap", .unit = "", .norm = true}};
  const auto one = file("b.xyz", frame("energy=1 energy_of_gap=3"));
  EXPECT_NE(refusal(one, o).find("'energy_of_gap' must be 3 numbers, of which `norm` is the length, got 1"),
            std::string::npos)
      << refusal(one, o);
}

TEST_F(Molecules, TellNumbersOfAtomsVectorsAndTensors) {
  const std::string atoms = "Properties=species:S:1:pos:R:3:q:R:1:field:R:3 energy=1 ";
  const auto two = [&](const std::string& values) {
    return "2\n" + atoms + values + "\nH 0 0 0 0.25 1 2 3\nO 0 0 1 -0.5 4 5 6\n";
  };
  const std::string tensor = "alpha=\"1 2 3 2 4 5 3 5 6\"";
  const auto path = file("a.xyz", two("mu=\"1 2 3\" " + tensor) + two("mu=\"4 5 6\" " + tensor));
  MoleculesDataOptions o;
  o.properties = {{.key = "q", .unit = "e", .level = PropertyLevel::node},
                  {.key = "field", .level = PropertyLevel::node, .kind = PropertyKind::vector},
                  {.key = "mu", .extensive = true, .kind = PropertyKind::vector},
                  {.key = "alpha", .extensive = true, .kind = PropertyKind::symmetric_tensor}};
  const auto data = whole(path, o);
  const Batch batch = all_of(*data);
  EXPECT_TRUE(
      at::equal(batch.labels.at("q"), at::tensor({0.25, -0.5, 0.25, -0.5}, at::kDouble).view({4, 1})));
  EXPECT_TRUE(at::equal(batch.labels.at("field")[1][0], at::tensor({4.0, 5.0, 6.0}, at::kDouble)));
  EXPECT_TRUE(at::equal(batch.labels.at("mu").select(1, 0)[1], at::tensor({4.0, 5.0, 6.0}, at::kDouble)));
  EXPECT_EQ(batch.labels.at("alpha").sizes(), at::IntArrayRef({2, 1, 3, 3}));
  EXPECT_EQ(batch.labels.at("alpha")[0][0][1][2].item<double>(), 5);
  const Quantity* q = find_quantity(data->schema().labels, "q");
  EXPECT_TRUE(q->level == Level::node && q->kind == Kind::scalar && q->unit == "e" && !q->extensive);
  EXPECT_TRUE(find_quantity(data->schema().labels, "mu")->extensive);

  const auto refused = [&](const std::string& values, const std::string& what) {
    EXPECT_NE(refusal(file("b.xyz", two(values)), o).find(what), std::string::npos)
        << refusal(file("b.xyz", two(values)), o);
  };
  refused("mu=\"1 2 3\" alpha=\"1 2 3 9 4 5 3 5 6\"",
          "'alpha' must be a symmetric tensor, nine numbers row by row, got entries that differ by 7");
  refused("mu=\"1 2 3\" alpha=\"1 2 3 4 5 6\"", "'alpha' must be 9 numbers, got 6");
  refused("mu=\"1 2\" " + tensor, "'mu' must be 3 numbers, got 2");
  o.properties = {{.key = "mu", .level = PropertyLevel::node}};
  EXPECT_NE(refusal(path, o).find("no frame has 'mu' as a column of the atoms, it is a value of the frame"),
            std::string::npos)
      << refusal(path, o);
  o.properties = {{.key = "q", .extensive = true, .level = PropertyLevel::node}};
  EXPECT_NE(refusal<ConfigError>(path, o).find("extensive must be false"), std::string::npos);
  o.properties = {{.key = "mu", .norm = true, .kind = PropertyKind::vector}};
  EXPECT_NE(refusal<ConfigError>(path, o).find("norm makes a number of a frame"), std::string::npos);
}

TEST_F(Molecules, KnowTheKindOfTheirFrames) {
  const auto path =
      file("a.xyz", frame("energy=1 config_type=gas") + frame("energy=2") +
                        frame("energy=2 config_type=liquid") + frame("energy=1 config_type=gas"));
  const auto data = whole(path);
  EXPECT_TRUE(at::equal(all_of(*data).labels.at("config_type").squeeze(1),
                        at::tensor(std::vector<int64_t>{0, 1, 2, 0}, at::kLong)));
  EXPECT_EQ(data->schema().category_names.at("config_type"),
            (std::vector<std::string>{"gas", "(none)", "liquid"}));
  EXPECT_FALSE(has_label(*whole(file("b.xyz", frame("energy=1"))), "config_type"));
  const auto numbers = file("c.xyz", frame("energy=1 config_type=3") + frame("energy=2 config_type=T"));
  EXPECT_EQ(whole(numbers)->schema().category_names.at("config_type"), (std::vector<std::string>{"3", "T"}));
}

// Looked for one after the other they took as long as frames times kinds: a minute for 200,000. These would take twelve
// minutes, and CTest allows five.
TEST_F(Molecules, MayBeOfManyKinds) {
  constexpr int64_t kinds = 700'000;
  const auto reader = open_frames(file("a.xyz", frame("energy=1 config_type=some")));
  AtomsFrame one;
  ASSERT_TRUE(reader->next(one));
  FrameCollector collector(layout_of({MoleculesDataOptions{}}), *reader, FrameCollector::Labels::needed);
  const auto add = [&](int64_t kind) {
    one.set(FrameValue{"config_type", {}, std::vector<std::string>{"kind " + std::to_string(kind)}});
    collector.add(one);
  };
  for (int64_t kind = 0; kind < kinds; ++kind) {
    add(kind);
    collector.forget();
  }
  add(kinds - 1);
  add(7);
  const Schema schema = collector.schema();
  const auto& names = schema.category_names.at("config_type");
  ASSERT_EQ(names.size(), static_cast<size_t>(kinds));
  EXPECT_EQ(names.front(), "kind 0");
  EXPECT_EQ(names.back(), "kind 699999");
  EXPECT_TRUE(at::equal(collector.take_batch(schema).labels.at("config_type").squeeze(1),
                        at::tensor(std::vector<int64_t>{kinds - 1, 7}, at::kLong)));
}

TEST_F(Molecules, AreReadAsAModelKnowsThem) {
  const auto path = file("a.xyz", frame("energy=nan charge=1", "H"));
  Interface model;
  model.types = 2;
  model.elements = {"O", "H"};
  model.features = {{.name = "charge", .level = Level::graph}};
  const auto data = open_file(path, DataOptions{NbodyDataOptions{}}, &model);  // labels do not matter
  EXPECT_TRUE(data->schema().labels.empty());
  EXPECT_EQ(points_of(all_of(*data)).types.item<int64_t>(), 1);
  EXPECT_EQ(points_of(all_of(*data)).of_graphs.at("charge").item<double>(), 1);
}

TEST_F(Molecules, KeysThatAreAbsentNameThoseThereAre) {
  const auto path =
      file("a.xyz", frame("pressure=1 E_tot=-1") + frame("pressure=2 E_tot=-2") + frame("pressure=3"));
  MoleculesDataOptions o;
  o.energy = "Etot";
  EXPECT_NE(refusal(path, o).find(
                "no frame has 'Etot' (data.molecules.energy); values: of 3 frames 2 have 'E_tot', "
                "3 'pressure'"),
            std::string::npos)
      << refusal(path, o);
  o.energy = "zzz";
  EXPECT_NE(refusal(path, o).find("values: of 3 frames 3 have 'pressure', 2 'E_tot'"), std::string::npos)
      << refusal(path, o);
  o = {};
  o.forces = "Forces";
  EXPECT_NE(
      refusal(path, o).find("no frame has 'Forces' (data.molecules.forces); columns: of 3 frames 3 have "
                            "'forces'"),
      std::string::npos)
      << refusal(path, o);
  o.forces = "pressure";
  EXPECT_NE(
      refusal(path, o).find("no frame has 'pressure' as a column of the atoms, it is a value of the frame"),
      std::string::npos)
      << refusal(path, o);
  o = {};
  o.properties = {{"gap", "eV"}};
  EXPECT_NE(refusal(path, o).find("no frame has 'gap' (data.molecules.properties); values: "),
            std::string::npos)
      << refusal(path, o);
  o = {};
  o.stress = "strs";
  EXPECT_NE(refusal(path, o).find("no frame has 'strs' (data.molecules.stress) and is periodic"),
            std::string::npos)
      << refusal(path, o);
}

}  // namespace frame_collector_test
}  // namespace weyl
