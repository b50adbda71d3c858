// Frames that users reported as read wrongly, with the values that independent readers have (tests/fixtures/reports).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/data/atoms/xyz_frames.h"
#include "tests/data/molecules.h"
#include "weyl/data/atoms/convert_frames.h"
#include "weyl/data/atoms/extended_xyz_comment.h"
#include "weyl/data/atoms/inspect_frames.h"
#include "weyl/data/atoms/stated_units.h"
#include "weyl/data/base/parts.h"

namespace weyl {
namespace report_frames_test {

const std::string reports = WEYL_SOURCE_DIR "/tests/fixtures/reports/";
const std::string water = "\nO 0 0 0\nH 0.9 0.1 0\nH -0.2 0.9 0.1\n";

std::vector<AtomsFrame> frames_in(const std::string& path) {
  const auto reader = open_frames(path);
  return xyz_frames_of(*reader);
}

TEST_F(Molecules, StressesOfSixNumbersAreWrittenAsNine) {
  const std::string out = folder + "/x.extxyz";
  convert_frames(reports + "01_row_stress.aselmdb", out, {});
  const auto frames = frames_in(out);
  ASSERT_EQ(frames.size(), 11);
  int64_t with_stress = 0;
  for (const AtomsFrame& frame : frames) {
    if (const FrameValue* stress = frame.value("stress")) {
      EXPECT_EQ(stress->shape, Shape{9});
      EXPECT_EQ(reals_of(stress->values),
                (Reals{0.01, 0.004, 0.006, 0.004, 0.02, 0.005, 0.006, 0.005, 0.03}));
      ++with_stress;
    }
  }
  EXPECT_GE(with_stress, 10);
  // Every writer, whatever the source: of integers, of predictions, in VASP's order where that is said.
  AtomsFrame frame{.numbers = {1}, .positions = {0, 0, 0}};
  frame.values = {{"virial", {6}, Integers{1, 2, 3, 4, 5, 6}},
                  {"weyl_stress", {6}, Reals{1, 2, 3, 4, 5, 6}},
                  {"six", {6}, Reals{1, 2, 3, 4, 5, 6}}};
  std::string text;
  append_extended_xyz(text, frame);
  const AtomsFrame again = parse(text).at(0);
  EXPECT_EQ(reals_of(again.value("virial")->values), (Reals{1, 6, 5, 6, 2, 4, 5, 4, 3}));
  EXPECT_EQ(reals_of(again.value("weyl_stress")->values), (Reals{1, 6, 5, 6, 2, 4, 5, 4, 3}));
  EXPECT_EQ(again.value("six")->shape, Shape{6});
  const auto six = file("six.xyz", "1\nLattice=\"4 0 0 0 4 0 0 0 4\" stress=\"1 2 3 4 5 6\"\nH 0 0 0\n");
  convert_frames(six, folder + "/nine.xyz", {.stress_order = StressOrder::vasp});
  EXPECT_EQ(reals_of(frames_in(folder + "/nine.xyz").at(0).value("stress")->values),
            (Reals{1, 4, 6, 4, 2, 5, 6, 5, 3}));
}

TEST_F(Molecules, TheOrderOfSixNumbersIsSaid) {
  MoleculesDataOptions o;
  o.stress_unit = "kbar";
  o.stress_sign = StressSign::vasp;
  o.stress_order = StressOrder::vasp;
  const Tensor found = all_of(*whole(reports + "04_vasp_six.xyz", o)).labels.at("stress"),
               truth = all_of(*whole(reports + "04_truth_nine.xyz")).labels.at("stress");
  EXPECT_LT((found - truth).abs().max().item<double>(), 1e-9);
  EXPECT_NEAR(found[0][0][0][1].item<double>(), 0.00731319, 1e-8);
  EXPECT_NEAR(found[0][0][1][2].item<double>(), 0.0062755, 1e-8);
  EXPECT_NEAR(found[0][0][2][0].item<double>(), 0.0026947, 1e-8);
  // Voigt's order is the default, never a guess.
  o.stress_order = StressOrder::voigt;
  EXPECT_NEAR(all_of(*whole(reports + "04_vasp_six.xyz", o)).labels.at("stress")[0][0][1][2].item<double>(),
              0.00731319, 1e-8);
  MoleculesDataOptions nine;
  nine.stress_order = StressOrder::vasp;
  const auto warnings = whole(reports + "04_truth_nine.xyz", nine)->schema().warnings;
  EXPECT_TRUE(std::ranges::any_of(warnings, [](const std::string& line) {
    return line.find("data.molecules.stress_order: has no effect") != std::string::npos;
  }));
}

TEST_F(Molecules, UnitsInOtherSpellingsAreRead) {
  const auto path = reports + "05a_energy-unit_hartree.xyz";
  const Batch batch = all_of(*whole(path));
  EXPECT_NEAR(batch.labels.at("energy")[0][0].item<double>(), -2078.9499, 1e-3);
  EXPECT_NEAR(batch.labels.at("forces")[0][0][0].item<double>(), 0.514221, 1e-6);
  for (const char* key :
       {"energy-unit", "energy_unit", "Energy_Units", "energyUnit", "unit_energy", "units-of-energy"}) {
    EXPECT_EQ(unit_said_by(key), UnitOf::energy) << key;
  }
  for (const char* key : {"force_unit", "forces_unit", "force-units", "forces_units"}) {
    EXPECT_EQ(unit_said_by(key), UnitOf::force) << key;
  }
  for (const char* key : {"length_units", "position_unit", "pos_unit"}) {
    EXPECT_EQ(unit_said_by(key), UnitOf::length) << key;
  }
  EXPECT_EQ(unit_said_by("stress-unit"), UnitOf::stress);
  EXPECT_EQ(unit_said_by("units"), UnitOf::other);
  for (const char* key : {"unit_cell", "formula_units", "community", "energy"}) {
    EXPECT_EQ(unit_said_by(key), UnitOf::nothing) << key;
  }
  EXPECT_EQ(unit_in_our_words("ANGSTROM", "Angstrom"), "Angstrom");
  EXPECT_EQ(unit_in_our_words("ev/ang", "eV/Angstrom"), "eV/Angstrom");
  EXPECT_EQ(unit_in_our_words("atomic_unit", "eV/Angstrom"), "Hartree/Bohr");
  EXPECT_EQ(unit_in_our_words("metal", "eV"), std::nullopt);
  EXPECT_EQ(unit_in_our_words("Hartree", "eV/Angstrom"), std::nullopt);
  // Converted, the file says one unit, under our key.
  convert_frames(path, folder + "/ev.xyz", {.to = "eV"});
  const AtomsFrame first = frames_in(folder + "/ev.xyz").at(0);
  EXPECT_EQ(first.value("energy-unit"), nullptr);
  EXPECT_EQ(values<std::string>(first.value("energy_unit")->values), Texts{"eV"});
  EXPECT_EQ(unit_in_our_words("kcal/mole", "eV"), "kcal/mol");
  EXPECT_EQ(unit_in_our_words("kB", "eV/Angstrom^3"), "kbar");
  // One rule for every spelling of the key, ours among them: known words are read, known units of something else are a
  // fault, and what nobody knows is named.
  const std::string begin = "3\nProperties=species:S:1:pos:R:3 energy=-1 ";
  for (const std::string key : {"energy_unit", "energy-unit", "EnergyUnits"}) {
    for (const std::string word : {"hartrees", "Hartree"}) {
      const auto read = all_of(*whole(file("word.xyz", begin + key + "=" + word + water)));
      EXPECT_NEAR(read.labels.at("energy")[0][0].item<double>(), -27.2113862, 1e-6) << key << "=" << word;
    }
    EXPECT_EQ(whole(file("word.xyz", begin + key + "=electronvolt" + water))->schema().warnings.size(), 0);
    EXPECT_NE(refusal(file("word.xyz", begin + key + "=nm" + water))
                  .find("'" + key + "' must be a unit, such as eV"),
              std::string::npos)
        << key;
    const auto unknown = whole(file("word.xyz", begin + key + "=furlong" + water));
    ASSERT_EQ(unknown->schema().warnings.size(), 1) << key;
    EXPECT_NE(unknown->schema().warnings[0].find("'" + key + "' = 'furlong', which is not read"),
              std::string::npos);
    EXPECT_EQ(all_of(*unknown).labels.at("energy")[0][0].item<double>(), -1);
  }
  const std::string two = "3\nenergy=1 energy_unit=eV energy-unit=Hartree" + water;
  EXPECT_NE(refusal(file("two.xyz", two)).find("'energy_unit' and 'energy-unit' must say one unit"),
            std::string::npos)
      << refusal(file("two.xyz", two));
}

TEST_F(Molecules, UnitsThatNobodyKnowsAreNamed) {
  const auto path = file(
      "metal.xyz", "3\nProperties=species:S:1:pos:R:3 energy=-1 units=metal energy-unit=hartrees/2" + water);
  const std::string said = "'units' = 'metal', 'energy-unit' = 'hartrees/2'";
  const auto warnings = whole(path)->schema().warnings;
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_NE(warnings[0].find("metal.xyz: frame 1, line 1: says " + said), std::string::npos) << warnings[0];
  MoleculesDataOptions o;
  o.energy_unit = "eV";
  o.length_unit = "Angstrom";
  EXPECT_TRUE(whole(path, o)->schema().warnings.empty());
  const auto found = inspect_all_frames(path).at(0).second;
  EXPECT_EQ(unread_line(found.unread_units), said);
  EXPECT_TRUE(std::ranges::any_of(
      found.warnings, [&](const std::string& line) { return line.find(said) != std::string::npos; }));
}

TEST_F(Molecules, WordsAboutAllUnitsLeaveOpenOnlyWhatTheFileDoesNotSay) {
  const auto path =
      file("real.xyz", "3\nProperties=species:S:1:pos:R:3 energy=-1 units=real energy_unit=kcal/mol" + water);
  const std::string wanted =
      path +
      ": frame 1, line 1: says 'units' = 'real', which is not read: lengths are taken to be in Angstrom; "
      "say what is meant by data.molecules.length_unit";
  EXPECT_EQ(whole(path)->schema().warnings, Texts{wanted});
  const auto found = inspect_all_frames(path).at(0).second.warnings;
  EXPECT_EQ(std::ranges::count(found, wanted), 1) << (found.empty() ? "" : found[0]);
  MoleculesDataOptions o;
  o.length_unit = "Angstrom";  // what the advice says
  EXPECT_TRUE(whole(path, o)->schema().warnings.empty());
  const auto all = file("all.xyz",
                        "3\nProperties=species:S:1:pos:R:3 energy=-1 units=real energy_unit=kcal/mol "
                        "length_unit=Angstrom" +
                            water);
  EXPECT_TRUE(whole(all)->schema().warnings.empty());
  EXPECT_TRUE(std::ranges::none_of(inspect_all_frames(all).at(0).second.warnings, [](const auto& line) {
    return line.find("'units'") != std::string::npos;
  }));
}

TEST_F(Molecules, UnitsThatNobodyKnowsAreSaidByTheirOwnOption) {
  const std::string cell = "Lattice=\"4 0 0 0 4 0 0 0 4\" ",
                    rows = "\nO 0 0 0 0 0 0\nH 0.9 0.1 0 0 0 1\nH -0.2 0.9 0.1 0 0 -1\n",
                    begin =
                        "3\n" + cell +
                        "Properties=species:S:1:pos:R:3:forces:R:3 energy=-1 stress=\"1 0 0 0 1 0 0 0 1\" ";
  const auto lines = [&](const std::string& said, const MoleculesDataOptions& o) {
    return whole(file("u.xyz", begin + said + rows), o)->schema().warnings;
  };
  MoleculesDataOptions base;  // which say nothing of forces and stresses
  base.energy_unit = "eV";
  base.length_unit = "Angstrom";
  for (const std::string more : {"", "energy_unit=eV "}) {
    const auto stress = lines(more + "stress-unit=metal", base);
    ASSERT_EQ(stress.size(), 1) << more;
    EXPECT_NE(stress[0].find("'stress-unit' = 'metal', which is not read: stresses are taken to be in"),
              std::string::npos)
        << stress[0];
    EXPECT_NE(stress[0].find("data.molecules.stress_unit"), std::string::npos) << stress[0];
    EXPECT_EQ(stress[0].find("energy_unit"), std::string::npos) << stress[0];
    const auto forces = lines(more + "forces_units=metal", base);
    ASSERT_EQ(forces.size(), 1) << more;
    EXPECT_NE(forces[0].find("forces are taken to be in"), std::string::npos) << forces[0];
    // Each is silent once its own unit is said, also beside energies of a unit that the file says.
    MoleculesDataOptions told = base;
    told.stress_unit = "GPa";
    told.force_unit = "Hartree/Bohr";
    EXPECT_TRUE(lines(more + "stress-unit=metal forces_units=metal", told).empty()) << more;
    const Batch batch =
        all_of(*whole(file("u.xyz", begin + more + "stress-unit=metal forces_units=metal" + rows), told));
    EXPECT_NEAR(batch.labels.at("stress")[0][0][0][0].item<double>(), 0.0062415091, 1e-9);
    EXPECT_NEAR(batch.labels.at("forces")[1][0][2].item<double>(), 51.4220675, 1e-5);
  }
  // Of a stress that the frames do not have nothing is to be said.
  EXPECT_TRUE(whole(file("n.xyz", "3\nProperties=species:S:1:pos:R:3 energy=-1 stress-unit=metal" + water))
                  ->schema()
                  .warnings.empty());
}

TEST_F(Molecules, OfIPiHaveItsCellAndUnits) {
  const std::string comment =
      "# CELL(abcABC):   10.0   12.0   14.0   90.0   90.0   60.0  Step:           0  Bead:       0 ";
  const auto path = file("ipi.xyz", "3\n" + comment + "positions{atomic_unit}  cell{angstrom}" + water);
  const Batch batch = all_of(*whole(path));
  const double bohr = 0.529177210544;
  const Points& p = points_of(batch);
  EXPECT_NEAR(p.positions[1][0].item<double>(), 0.9 * bohr, 1e-9);
  EXPECT_NEAR(p.cell[0][0][0].item<double>(), 10, 1e-9);
  EXPECT_NEAR(p.cell[0][1][0].item<double>(), 6, 1e-9);
  EXPECT_NEAR(p.cell[0][1][1].item<double>(), 12 * std::sqrt(0.75), 1e-9);
  EXPECT_NEAR(p.cell[0][2][2].item<double>(), 14, 1e-9);
  EXPECT_TRUE(p.pbc.all().item<bool>());
  const auto matrix =
      parse("3\n# CELL(H): 1 2 3 0 4 5 0 0 6 Step: 0 Bead: 0 positions{angstrom} cell{angstrom}" + water);
  EXPECT_EQ(*matrix.at(0).cell,
            (std::array<double, 9>{1, 0, 0, 2, 4, 0, 3, 5, 6}));  // columns are the vectors
  EXPECT_NE(refusal(file("f.xyz", "3\n" + comment + "forces{atomic_unit} cell{atomic_unit}" + water))
                .find("must be i-PI's positions, got its 'forces'"),
            std::string::npos);
  EXPECT_NE(
      refusal(file("c.xyz", "3\n# CELL(abcABC): 10 x" + water)).find("must be 6 finite numbers, got 'x'"),
      std::string::npos);
  const auto silent = file("silent.xyz", "3\n" + comment + water.substr(0));
  EXPECT_NE(unread_line(inspect_all_frames(silent).at(0).second.unread_units).find("i-PI"),
            std::string::npos);
  // Other words are a comment.
  for (const std::string words :
       {"SUPERCELL (2x2x2): relaxed, step 0", "# SUPERCELL(H): 2 2 2", "# CELL (abcABC): see text",
        "# CELL(2x2x2): relaxed", "UNIT CELL(abcABC): none"}) {
    const auto frames = parse("3\n" + words + water);
    EXPECT_FALSE(frames.at(0).cell) << words;
    EXPECT_EQ(values<std::string>(frames.at(0).value("comment")->values), Texts{words});
  }
  EXPECT_TRUE(parse("3\nCELL[abcABC]: 10 10 10 90 90 90 positions{angstrom}" + water).at(0).cell);
}

TEST(ExtendedXyz, KeysInAnyCase) {
  const auto small =
      parse("3\nlattice=\"9 0 0 0 9 0 0 0 9\" PBC=\"T T F\" properties=species:S:1:pos:R:3" + water);
  ASSERT_TRUE(small.at(0).cell);
  EXPECT_EQ(*small.at(0).cell, (std::array<double, 9>{9, 0, 0, 0, 9, 0, 0, 0, 9}));
  EXPECT_EQ(small.at(0).pbc, (std::array{true, true, false}));
  EXPECT_TRUE(small.at(0).values.empty());
  const auto kind = parse("3\nProperties=species:S:1:pos:R:3 lattice=fcc" + water);  // no nine numbers
  EXPECT_FALSE(kind.at(0).cell);
  EXPECT_EQ(values<std::string>(kind.at(0).value("lattice")->values), Texts{"fcc"});
}

TEST(ExtendedXyz, QuotesOfBothKinds) {
  std::map<std::string, int> kinds;
  for (const AtomsFrame& frame : frames_in(reports + "07_single_quotes.xyz")) {
    ++kinds[values<std::string>(frame.value("config_type")->values).at(0)];
    EXPECT_EQ(frame.values.size(), 2);
  }
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"liquid argon", 3}, {"liquid water", 3}}));
  const auto pairs = parse_comment(
      "a='1 2 3' b='it\\'s' c=\"it's\" 'a key'='\"' d=['x y', 'z'] e='tis f='twas g=5'-end h='open");
  const auto at = [&](std::string_view name) { return *std::ranges::find(pairs, name, &FrameValue::name); };
  EXPECT_EQ(values<int64_t>(at("a").values), (Integers{1, 2, 3}));
  EXPECT_EQ(values<std::string>(at("b").values), Texts{"it's"});
  EXPECT_EQ(values<std::string>(at("c").values), Texts{"it's"});
  EXPECT_EQ(values<std::string>(at("a key").values), Texts{"\""});
  EXPECT_EQ(values<std::string>(at("d").values), (Texts{"x y", "z"}));
  EXPECT_EQ(values<std::string>(at("e").values), Texts{"'tis"});  // an apostrophe
  EXPECT_EQ(values<std::string>(at("f").values), Texts{"'twas"});
  EXPECT_EQ(values<std::string>(at("g").values), Texts{"5'-end"});
  EXPECT_EQ(values<std::string>(at("h").values), Texts{"'open"});
  for (const char* text : {"'quoted'", "'", "it's", "1,2", "a, b"}) {
    std::string line;
    append_pair(line, {"key", {}, Texts{text}});
    EXPECT_EQ(values<std::string>(parse_comment(line).at(0).values), Texts{text}) << line;
  }
}

TEST(ExtendedXyz, CommasInLists) {
  const AtomsFrame frame = frames_in(reports + "13a_commas_in_Lattice.xyz").at(0);
  ASSERT_TRUE(frame.cell);
  EXPECT_EQ(*frame.cell, (std::array<double, 9>{9, 0, 0, 0, 9.5, 0, 0, 0, 10}));
  const auto slab =
      parse("3\nLattice=\"9, 0, 0, 0, 9.5, 0, 0, 0, 10\" pbc=\"T, T, F\" note=\"one, two\" n=1,2,3" + water);
  EXPECT_EQ(*slab.at(0).cell, *frame.cell);
  EXPECT_EQ(slab.at(0).pbc, (std::array{true, true, false}));
  EXPECT_EQ(values<std::string>(slab.at(0).value("note")->values), Texts{"one, two"});
  EXPECT_EQ(values<int64_t>(slab.at(0).value("n")->values), (Integers{1, 2, 3}));
}

TEST_F(Molecules, SlabsWithAStressHaveNoneAndAreCountedSo) {
  const auto path = reports + "08_slab_with_stress.xyz";
  EXPECT_FALSE(has_label(*whole(path), "stress"));
  const auto found = inspect_all_frames(path).at(0).second;
  EXPECT_EQ(found.periodic, found.frames);
  EXPECT_EQ(found.filling, 0);
}

/// How many atoms each sample of a part has.
std::multiset<int64_t> sizes_of(const Dataset& data) {
  std::multiset<int64_t> sizes;
  for (int64_t i = 0; i < data.size(); ++i) {
    sizes.insert(data.tokens(i));
  }
  return sizes;
}

TEST_F(Molecules, IsolatedAtomsAreForTrainingAndMayLackForces) {
  MoleculesDataOptions o;
  o.path = reports + "24_isolated_atoms_without_forces.xyz";
  for (const SplitOrder order : {SplitOrder::weyl, SplitOrder::numpy}) {
    for (o.seed = 0, o.order = order; o.seed < 8; ++o.seed) {
      const Splits splits = open_set(o);
      EXPECT_TRUE(has_label(*splits.train, "forces"));
      EXPECT_EQ(splits.train->size() + splits.valid->size() + splits.test->size(), 19);
      EXPECT_EQ(sizes_of(*splits.train).count(1), 3) << o.seed;
      EXPECT_EQ(sizes_of(*splits.valid).count(1), 0) << o.seed;
      EXPECT_EQ(sizes_of(*splits.test).count(1), 0) << o.seed;
      const Batch all = all_of(*splits.train);
      EXPECT_EQ(at::isnan(all.labels.at("forces")).sum().item<int64_t>(), 9);  // three atoms
      const Splits streamed = open_set(o, Keep::on_disk);
      EXPECT_TRUE(
          at::equal(all_of(*streamed.test).labels.at("energy"), all_of(*splits.test).labels.at("energy")));
    }
  }
  o.order = SplitOrder::file;  // is what the user says
  EXPECT_EQ(sizes_of(*open_set(o).test).count(1), 2);
}

/// Those that the draw would leave over are for training, too.
TEST_F(Molecules, IsolatedAtomsOfNoSplitAreForTraining) {
  MoleculesDataOptions o;
  o.path = reports + "24_isolated_atoms_without_forces.xyz";
  o.elements = {"H", "O"};
  o.fractions = {0.5, 0.1, 0.1};
  for (const SplitOrder order : {SplitOrder::weyl, SplitOrder::numpy}) {
    for (o.seed = 0, o.order = order; o.seed < 8; ++o.seed) {
      const Splits splits = open_set(o);
      EXPECT_EQ(splits.train->size(), 10);
      EXPECT_EQ(splits.valid->size() + splits.test->size(), 4);
      EXPECT_EQ(sizes_of(*splits.train).count(1), 3) << o.seed;
      EXPECT_EQ(splits.train->schema().atom_energies, (std::map<int64_t, double>{{0, -13.6}, {1, -430.1}}));
    }
  }
}

TEST_F(Molecules, IsolatedAtomsSayWhatEnergiesReferTo) {
  using Energies = std::map<int64_t, double>;
  MoleculesDataOptions o;
  o.path = reports + "24_isolated_atoms_without_forces.xyz";
  o.elements = {"H", "O"};
  EXPECT_EQ(open_set(o).train->schema().atom_energies, (Energies{{0, -13.6}, {1, -430.1}}));
  EXPECT_EQ(open_set(o, Keep::on_disk).train->schema().atom_energies, (Energies{{0, -13.6}, {1, -430.1}}));
  o.order = SplitOrder::file;  // the training part alone says it
  EXPECT_TRUE(open_set(o).train->schema().atom_energies.empty());
  // Of several of an element the lowest, in the unit of labels, in boxes by their kind; a crystal of one atom is none.
  const auto one = [](const std::string& keys) {
    return "1\nProperties=species:S:1:pos:R:3 energy_unit=Hartree " + keys + "\nH 0 0 0\n";
  };
  const std::string box = "Lattice=\"9 0 0 0 9 0 0 0 9\" ";
  MoleculesDataOptions all;
  all.path = file("atoms.xyz", one("energy=-0.4") + one(box + "config_type=isolated_atom energy=-0.6") +
                                   one(box + "energy=-7") + one("note=1"));
  all.missing = MissingLabels::mask;
  all.order = SplitOrder::file;
  all.fractions = {1, 0, 0};
  const Energies found = open_set(all).train->schema().atom_energies;
  ASSERT_EQ(found.size(), 1);
  EXPECT_NEAR(found.at(1), -0.6 * 27.211386245981, 1e-6);
}

TEST_F(Molecules, SplitsWithoutIsolatedAtomsAreWhatTheyWere) {
  std::string all;
  for (int i = 0; i < 20; ++i) {
    all += "3\nProperties=species:S:1:pos:R:3 energy=" + std::to_string(i) + water;
  }
  MoleculesDataOptions o;
  o.path = file("all.xyz", all);
  const auto parts = draw_parts(20, {16, 2, 2}, 0, "split");
  const Splits splits = open_set(o);
  const auto expect = [](const Dataset& data, std::vector<int64_t> samples) {
    std::ranges::sort(samples);
    const Tensor energy = all_of(data).labels.at("energy").flatten();
    EXPECT_TRUE(at::equal(energy, at::tensor(samples, at::kLong).to(at::kDouble)));
  };
  expect(*splits.train, parts[0]);
  expect(*splits.valid, parts[1]);
  expect(*splits.test, parts[2]);
}

TEST_F(Molecules, OnlyIsolatedAtomsMayLackForces) {
  const std::string with =
      "2\nProperties=species:S:1:pos:R:3:forces:R:3 energy=1\nH 0 0 0 0 0 1\nH 0 0 1 0 0 -1\n";
  const std::string without = "2\nProperties=species:S:1:pos:R:3 energy=1\nH 0 0 0\nH 0 0 1\n";
  const auto one = [](const std::string& keys) {
    return "1\nProperties=species:S:1:pos:R:3 energy=1 " + keys + "\nH 0 0 0\n";
  };
  const std::string box = "Lattice=\"9 0 0 0 9 0 0 0 9\" ";
  EXPECT_TRUE(has_label(*whole(file("a.xyz", with + one(""))), "forces"));
  EXPECT_TRUE(has_label(*whole(file("b.xyz", with + one(box + "config_type=IsolatedAtom"))), "forces"));
  EXPECT_TRUE(has_label(*whole(file("c.xyz", with + one(box + "pbc=\"F F F\""))), "forces"));
  EXPECT_FALSE(has_label(*whole(file("d.xyz", with + one(box))), "forces"));  // a crystal of one atom
  EXPECT_FALSE(has_label(*whole(file("e.xyz", with + without)), "forces"));
  EXPECT_FALSE(has_label(*whole(file("f.xyz", with + one("") + without)), "forces"));
}

}  // namespace report_frames_test
}  // namespace weyl
