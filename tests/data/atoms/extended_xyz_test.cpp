#include "weyl/data/atoms/extended_xyz.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include "tests/data/atoms/xyz_frames.h"
#include "tests/data/folder.h"
#include "weyl/core/input_file.h"
#include "weyl/data/atoms/extended_xyz_comment.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {
namespace extended_xyz_test {

/// What one comment line says, by name.
FrameValue value_in(const std::string& comment, std::string_view name) {
  const auto frames = parse("1\n" + comment + "\nH 0 0 0\n");
  const auto* value = frames.at(0).value(name);
  EXPECT_NE(value, nullptr) << comment;
  return value == nullptr ? FrameValue{} : *value;
}

// tools/goldens/molecule_fixtures.py wrote these with ASE, which says energy and forces of its calculators.
TEST(ExtendedXyz, FilesOfAse) {
  const auto frames = read_xyz(xyz_fixtures + "ase.xyz");
  ASSERT_EQ(frames.size(), 2);
  const auto& water = frames[0];
  EXPECT_EQ(water.numbers, (std::vector{8, 1, 1}));
  EXPECT_EQ(water.positions, (Reals{0, 0, 0.125, 0, 0.75, -0.5, 0, -0.75, -0.5}));
  EXPECT_FALSE(water.cell);
  EXPECT_EQ(water.pbc, (std::array{false, false, false}));
  Texts names;
  for (const auto& column : water.columns) {
    names.push_back(column.name);
  }
  EXPECT_EQ(names, (Texts{"charges_dft", "site", "fixed", "label", "forces"}));
  EXPECT_EQ(values<double>(water.column("forces")->values),
            (Reals{0, 0, -0.5, 0, 0.125, 0.25, 0, -0.125, 0.25}));
  EXPECT_EQ(water.column("forces")->width, 3);
  EXPECT_EQ(values<double>(water.column("charges_dft")->values), (Reals{-0.5, 0.25, 0.25}));
  EXPECT_EQ(values<int64_t>(water.column("site")->values), (Integers{7, 8, 9}));
  EXPECT_EQ(values<uint8_t>(water.column("fixed")->values), (Logicals{1, 0, 0}));
  EXPECT_EQ(values<std::string>(water.column("label")->values), (Texts{"Ow", "H1", "H2"}));
  EXPECT_EQ(values<double>(water.value("energy")->values), Reals{-14.25});
  EXPECT_EQ(values<std::string>(water.value("config_type")->values), Texts{"water"});
  EXPECT_EQ(values<int64_t>(water.value("charge")->values), Integers{0});
  EXPECT_EQ(values<std::string>(water.value("note")->values), Texts{"two words, \"quoted\""});
  EXPECT_EQ(values<uint8_t>(water.value("flags")->values), (Logicals{1, 0}));
  EXPECT_EQ(values<int64_t>(water.value("counts")->values), (Integers{1, 2, 3}));
  EXPECT_EQ(values<double>(water.value("weights")->values), (Reals{0.5, 1}));
  EXPECT_EQ(values<uint8_t>(water.value("converged")->values), Logicals{1});
  EXPECT_EQ(values<std::string>(water.value("smiles")->values), Texts{"[H]O[H]"});

  const auto& slab = frames[1];
  EXPECT_EQ(slab.numbers, (std::vector{11, 17}));
  ASSERT_TRUE(slab.cell);
  EXPECT_EQ(*slab.cell, (std::array<double, 9>{5, 0, 0, 1, 5, 0, 0.5, 0.25, 12}));  // rows are the vectors
  EXPECT_EQ(slab.pbc, (std::array{true, true, false}));
  EXPECT_EQ(reals_of(slab.value("energy")->values), Reals{-3});  // the file has the integer -3
  EXPECT_EQ(slab.value("stress")->shape, Shape{9});
  EXPECT_EQ(slab.columns.size(), 1);
  EXPECT_EQ(slab.value("config_type"), nullptr);  // nothing is left of the frame before
  EXPECT_EQ(read_xyz(xyz_fixtures + "ase.xyz.gz"), frames);
}

TEST(ExtendedXyz, EverySyntaxOfAPair) {
  const std::string p = "Properties=species:S:1:pos:R:3 ";
  EXPECT_EQ(values<double>(value_in(p + "energy=-1.5e1", "energy").values), Reals{-15});
  EXPECT_EQ(values<double>(value_in(p + "energy=+1.5D-1", "energy").values), Reals{0.15});
  EXPECT_EQ(values<int64_t>(value_in(p + "n=+12", "n").values), Integers{12});
  EXPECT_EQ(values<std::string>(value_in(p + "id=007", "id").values), Texts{"007"});
  EXPECT_EQ(values<std::string>(value_in(p + "id=99999999999999999999", "id").values),
            Texts{"99999999999999999999"});
  EXPECT_TRUE(std::isnan(values<double>(value_in(p + "energy=nan", "energy").values).at(0)));
  for (const char* yes : {"T", "true", "True", "TRUE", "\"T\"", "{T}"}) {
    const auto value = value_in(p + "ok=" + yes, "ok");
    EXPECT_EQ(values<uint8_t>(value.values), Logicals{1}) << yes;
    EXPECT_EQ(value.shape, Shape{}) << yes;
  }
  EXPECT_EQ(values<uint8_t>(value_in(p + "ok=False", "ok").values), Logicals{0});
  EXPECT_EQ(values<uint8_t>(value_in(p + "converged energy=1", "converged").values),
            Logicals{1});  // a bare key
  EXPECT_EQ(values<std::string>(value_in(p + "a = word b=1", "a").values), Texts{"word"});
  EXPECT_EQ(values<std::string>(value_in(p + "s=C(=O)O", "s").values), Texts{"C(=O)O"});
  EXPECT_EQ(values<std::string>(value_in(p + "s=[C@@H](N)C", "s").values), Texts{"[C@@H](N)C"});
  EXPECT_EQ(values<std::string>(value_in(p + R"(s="a \"b\" \\ c\nd")", "s").values),
            Texts{"a \"b\" \\ c\nd"});
  EXPECT_EQ(values<std::string>(value_in(p + "s=\"\"", "s").values), Texts{""});
  EXPECT_EQ(values<int64_t>(value_in(p + "\"two words\"=5", "two words").values), Integers{5});
  for (const char* array :
       {"\"1 2.5 3\"", "{1 2.5 3}", "[1, 2.5, 3]", "[1,2.5,3]", "[1 2.5 3]", "\" 1  2.5 3 \""}) {
    const auto value = value_in(p + "v=" + array, "v");
    EXPECT_EQ(values<double>(value.values), (Reals{1, 2.5, 3})) << array;
    EXPECT_EQ(value.shape, Shape{3}) << array;
  }
  EXPECT_EQ(values<std::string>(value_in(p + "v={a b}", "v").values), (Texts{"a", "b"}));
  EXPECT_EQ(values<std::string>(value_in(p + "v=[a, \"b c\"]", "v").values), (Texts{"a", "b c"}));
  EXPECT_EQ(values<std::string>(value_in(p + "v=[\"1\", \"2\"]", "v").values), (Texts{"1", "2"}));
  EXPECT_EQ(values<std::string>(value_in(p + "v=\"1 b\"", "v").values), Texts{"1 b"});
  const auto matrix = value_in(p + "m=[[1, 2, 3], [4, 5, 6]]", "m");
  EXPECT_EQ(values<int64_t>(matrix.values), (Integers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(matrix.shape, (Shape{2, 3}));
  EXPECT_EQ(value_in(p + "v=[5]", "v").shape, Shape{1});
}

TEST(ExtendedXyz, MatricesAsAseWritesThem) {
  const std::string p = "Properties=species:S:1:pos:R:3 ";
  const auto matrix = value_in(p + R"(m="_JSON [[1.5, 2], [NaN, -3e2]]")", "m");
  EXPECT_EQ(matrix.shape, (Shape{2, 2}));
  EXPECT_EQ(values<double>(matrix.values).at(3), -300);
  EXPECT_TRUE(std::isnan(values<double>(matrix.values).at(2)));
  EXPECT_EQ(values<std::string>(value_in(p + R"(m="_JSON [\"a\", \"b c\"]")", "m").values),
            (Texts{"a", "b c"}));
  EXPECT_EQ(values<uint8_t>(value_in(p + R"(m="_JSON [[true], [false]]")", "m").values), (Logicals{1, 0}));
  // What is no array stays the text that it is.
  for (const char* other : {"_JSON {}", "_JSON [[1], [2, 3]]", "_JSON [1", "_JSON [[[1]]]"}) {
    EXPECT_EQ(values<std::string>(value_in(p + "m=\"" + other + "\"", "m").values), Texts{other});
  }
}

TEST(ExtendedXyz, DeuteriumIsHydrogenWithItsMass) {
  const auto frames = parse(
      "3\n\nD 0 0 0\nH 0 0 1\nT 0 1 0\n1\n\nH 0 0 0\n1\nProperties=species:S:1:pos:R:3:isotopes:I:1\nD 0 0 0 2\n");
  EXPECT_EQ(frames.at(0).numbers, (std::vector{1, 1, 1}));
  EXPECT_EQ(values<int64_t>(frames[0].column("isotopes")->values), (Integers{2, 0, 3}));
  EXPECT_EQ(frames.at(1).column("isotopes"), nullptr);
  EXPECT_EQ(frames.at(2).columns.size(), 1);
}

TEST(ExtendedXyz, PlainFilesBlankLinesAndCarriageReturns) {
  const std::string plain = "2\na molecule\nO 0 0 0.5\n8 1 2 -3e-1\n\n \n1\n\n\tX  1.  .5 -0  \n\n\n";
  const auto frames = parse(plain);
  ASSERT_EQ(frames.size(), 2);
  EXPECT_EQ(frames[0].numbers, (std::vector{8, 8}));
  EXPECT_EQ(frames[0].positions, (Reals{0, 0, 0.5, 1, 2, -0.3}));
  EXPECT_EQ(values<std::string>(frames[0].value("comment")->values), Texts{"a molecule"});
  EXPECT_EQ(frames[1].numbers, std::vector{0});
  EXPECT_TRUE(frames[1].values.empty());
  EXPECT_TRUE(std::signbit(frames[1].positions[2]));
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : plain) {
    windows += c == '\n' ? "\r\n" : std::string(1, c);
  }
  EXPECT_EQ(parse(windows), frames);
  EXPECT_EQ(parse(plain.substr(0, plain.size() - 4)), frames);  // no end of the last line
  EXPECT_EQ(parse("0\n\n").at(0).size(), 0);
  // Without Properties and Lattice a comment that is no list of pairs is one text.
  EXPECT_EQ(values<std::string>(value_in("E=5 v=[1 =2", "comment").values), Texts{"E=5 v=[1 =2"});
  EXPECT_EQ(values<double>(value_in("-97000.5", "comment").values), Reals{-97000.5});
  EXPECT_EQ(reals_of(value_in("i = 4, time = 2.000, E = -17.25", "E").values), Reals{-17.25});
}

TEST(ExtendedXyz, ColumnsInAnyOrder) {
  const auto frames = parse(
      "2\nProperties=id:I:1:pos:R:3:species:S:1:velo:R:3:ok:L:2\n"
      "5 1 2 3 C .1 .2 .3 T F\n6 4 5 6 Cl .4 .5 .6 True FALSE\n"
      "1\nProperties=numbers:I:1:positions:R:3:label:S:2\n6 1 2 3 a \"b \\\" c\"\n"
      "1\nProperties=species:S:1:pos:R:3:Z:I:1\nC 1 2 3 6\n");
  ASSERT_EQ(frames.size(), 3);
  EXPECT_EQ(frames[0].numbers, (std::vector{6, 17}));
  EXPECT_EQ(frames[0].positions, (Reals{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values<int64_t>(frames[0].columns[0].values), (Integers{5, 6}));
  EXPECT_EQ(values<double>(frames[0].column("velo")->values), (Reals{.1, .2, .3, .4, .5, .6}));
  EXPECT_EQ(values<uint8_t>(frames[0].column("ok")->values), (Logicals{1, 0, 1, 0}));
  EXPECT_EQ(frames[1].numbers, std::vector{6});
  EXPECT_EQ(values<std::string>(frames[1].column("label")->values), (Texts{"a", "b \" c"}));
  EXPECT_EQ(frames[2].column("Z")->width, 1);
}

TEST(ExtendedXyz, SaysItsUnits) {
  const std::string rest = "\nH 0 0 0\n";
  const auto fault = [](const std::string& all) { return message_of<DataError>([&] { parse(all); }); };
  const std::string first = "1\nenergy=1 energy_unit=kcal/mol length_unit=nm" + rest;
  const std::string both = first + first;
  ExtendedXyzReader reader(bytes_of(std::as_bytes(std::span(both)), "x.xyz"), "x.xyz");
  EXPECT_EQ(xyz_frames_of(reader).size(), 2);
  EXPECT_EQ(reader.unit_of("REF_energy"), "kcal/mol");
  EXPECT_EQ(reader.unit_of("pos"), "nm");
  EXPECT_EQ(reader.unit_of("forces"), "kcal/mol/(nm)");
  EXPECT_EQ(reader.unit_of("stress"), "kcal/mol/(nm)^3");
  EXPECT_EQ(reader.unit_of("charge"), "");
  EXPECT_NE(
      fault(first + "1\nenergy=1 energy_unit=eV length_unit=nm" + rest)
          .find("frame 2, line 5: 'energy_unit' must be the same in all frames, frame 1 says 'kcal/mol', "
                "this one 'eV'"),
      std::string::npos);
  EXPECT_NE(fault(first + "1\nenergy=1" + rest).find("this one none"), std::string::npos);
  EXPECT_NE(fault("1\nenergy=1" + rest + first).find("frame 1 says none"), std::string::npos);
  EXPECT_NE(
      fault("1\nenergy_unit=nm" + rest).find("frame 1, line 2: 'energy_unit' must be a unit, such as eV"),
      std::string::npos);
  EXPECT_NE(fault("1\nlength_unit=5" + rest).find("must be a unit, such as Angstrom"), std::string::npos);
}

/// Words of a plain comment are no keys.
TEST(ExtendedXyz, CommentsMayTalkOfALattice) {
  for (const std::string said : {"Properties of water", "Lattice constant a = 4.05 from Smith, 1999"}) {
    EXPECT_NE(parse("1\n" + said + "\nH 0 0 0\n").at(0).value("comment"), nullptr) << said;
  }
}

TEST(ExtendedXyz, LatticeAndPbc) {
  const auto one = [](const std::string& comment) { return parse("1\n" + comment + "\nH 0 0 0\n").at(0); };
  const std::string cube = "Lattice=\"5 0 0 0 5 0 0 0 5\"";
  EXPECT_EQ(one(cube).pbc, (std::array{true, true, true}));
  EXPECT_EQ(one(cube + " pbc=\"F T F\"").pbc, (std::array{false, true, false}));
  EXPECT_EQ(one(cube + " pbc=[0, 1, 1]").pbc, (std::array{false, true, true}));
  EXPECT_EQ(one(cube + " pbc=F").pbc, (std::array{false, false, false}));
  EXPECT_EQ(one("Lattice=[[1, 0, 0], [2, 3, 0], [4, 5, 6]]").cell,
            (std::array<double, 9>{1, 0, 0, 2, 3, 0, 4, 5, 6}));
  // A slab's third vector may be anything.
  EXPECT_EQ(one("Lattice=\"5 0 0 0 5 0 0 0 0\" pbc=\"T T F\"").pbc, (std::array{true, true, false}));
  EXPECT_EQ(one("Lattice=\"1e-3 0 0 0 1e3 0 0 0 1e-3\"").pbc, (std::array{true, true, true}));
}

/// What stands before the cut is read; the message says where it is.
TEST(ExtendedXyz, ACutGzipFileSaysHowFarItGoes) {
  std::mt19937_64 random(2);
  std::string file;
  for (int i = 0; i < 5000; ++i) {
    file += "2\nenergy=-1\nO 0 0 0." + std::to_string(random() % 1000000) + "\nH 0 0 1\n";
  }
  auto packed = gzip(std::as_bytes(std::span(file)), "x");
  packed.resize(packed.size() / 2);
  std::vector<std::byte> found(file.size());
  GzipReader inflated(packed, "x");
  const size_t size = inflated.read_sound(found);
  EXPECT_EQ(inflated.fault(), "the gzip stream is truncated");
  EXPECT_EQ(inflated.read_sound(found), 0u);
  const auto lines = std::count(found.begin(), found.begin() + static_cast<ptrdiff_t>(size), std::byte{'\n'});
  ASSERT_GT(lines, 4000);
  ExtendedXyzReader reader(bytes_of(packed, "x.xyz.gz"), "x.xyz.gz");
  int64_t frames = 0;
  const std::string message = message_of<DataError>([&] {
    for (AtomsFrame frame; reader.next(frame);) {
      ++frames;
    }
  });
  EXPECT_EQ(frames, lines / 4);
  EXPECT_EQ(message,
            text("x.xyz.gz: frame ", lines / 4 + 1, ", line ", lines + 1, ": the gzip stream is truncated"));
}

/// A file that never ends.
class Endless : public ByteSource {
 public:
  size_t read(std::span<std::byte> out) override {
    static constexpr std::string_view frame = "2\nenergy=-1.5\nO 0 0 0.25\nH 0 0 1\n";
    for (auto& b : out) {
      b = static_cast<std::byte>(frame[at_++ % frame.size()]);
    }
    return out.size();
  }

 private:
  size_t at_ = 0;
};

TEST(ExtendedXyz, StreamsAFrameAtATime) {
  ExtendedXyzReader reader(std::make_unique<Endless>(), "endless.xyz");
  AtomsFrame frame;
  for (int i = 0; i < 100000; ++i) {
    ASSERT_TRUE(reader.next(frame));
  }
  EXPECT_EQ(frame.positions, (Reals{0, 0, 0.25, 0, 0, 1}));
  EXPECT_EQ(reader.where(), "endless.xyz: frame 100000, line 399997");
}

// From the middle of a file nobody knows the number of a line: messages count from the byte.
TEST(TextLines, NameTheByteThatTheyWentTo) {
  const Folder folder;
  std::ofstream(folder / "f") << "a\nbc\nd\ne\n";
  TextLines lines(open_bytes(folder / "f"), "f");
  const auto place = [&] { return message_of<DataError>([&] { lines.check(false, "wrong"); }); };
  lines.next();
  EXPECT_EQ(place(), "f: line 1: wrong");
  lines.next();
  lines.go_to(5);
  ASSERT_TRUE(lines.next() && lines.next());
  EXPECT_EQ(lines.line(), "e");
  EXPECT_EQ(place(), "f: from byte 5, line 2: wrong");
  lines.go_to(0);
  ASSERT_TRUE(lines.next_frame());
  EXPECT_EQ(place(), "f: frame 1, line 1: wrong");
}

TEST(TextLines, ALineHasItsLimit) {
  const std::string file = "ab\n" + std::string(20, 'x') + "\n";
  TextLines lines(bytes_of(std::as_bytes(std::span(file)), "f"), "f", 10);
  EXPECT_TRUE(lines.next());
  EXPECT_EQ(message_of<DataError>([&] { lines.next(); }),
            "f: line 2: a line must have at most 10 characters");
}

TEST(AtomsFrame, PeriodsThatAreDependent) {
  const std::array<double, 9> flat{1, 0, 0, 0, 1, 0, 1, 1, 0};
  EXPECT_FALSE(spans_its_periods(flat, {true, true, true}));
  EXPECT_TRUE(spans_its_periods(flat, {true, true, false}));
  EXPECT_TRUE(spans_its_periods(flat, {false, true, true}));
  EXPECT_TRUE(spans_its_periods(flat, {false, false, false}));
  EXPECT_FALSE(spans_its_periods({0, 0, 0, 0, 1, 0, 0, 0, 1}, {true, false, false}));
}

TEST(ExtendedXyz, SaysUnitsOfForcesAndStressOfTheirOwn) {
  const std::string rest = "\nH 0 0 0\n";
  const auto fault = [](const std::string& all) { return message_of<DataError>([&] { parse(all); }); };
  const std::string all = "1\nenergy=1 energy_unit=eV force_unit=Hartree/Bohr stress_unit=GPa" + rest;
  ExtendedXyzReader reader(bytes_of(std::as_bytes(std::span(all)), "x.xyz"), "x.xyz");
  EXPECT_EQ(xyz_frames_of(reader).size(), 1);
  EXPECT_EQ(reader.unit_of("REF_forces"), "Hartree/Bohr");
  EXPECT_EQ(reader.unit_of("stress"), "GPa");
  EXPECT_EQ(reader.unit_of("virial"), "eV");  // an energy, whatever stresses are in
  EXPECT_EQ(reader.stated_unit_of("forces"), "Hartree/Bohr");
  const std::string plain = "1\nenergy=1 energy_unit=eV" + rest;
  ExtendedXyzReader other(bytes_of(std::as_bytes(std::span(plain)), "x.xyz"), "x.xyz");
  EXPECT_EQ(xyz_frames_of(other).size(), 1);
  EXPECT_EQ(other.unit_of("forces"), "eV/(Angstrom)");
  EXPECT_EQ(other.stated_unit_of("forces"), "");  // it follows from others
  EXPECT_NE(fault("1\nforce_unit=eV" + rest).find("must be a unit, such as eV/Angstrom: "),
            std::string::npos);
  EXPECT_NE(fault("1\nenergy_unit=kcal" + rest).find("did you mean 'kcal/mol'?"), std::string::npos);
  EXPECT_NE(fault(all + plain).find("'force_unit' must be the same in all frames"), std::string::npos);
}

TEST(ExtendedXyz, TextsOfPointsAreToldFromFrames) {
  const auto fault = [](const std::string& all) { return message_of<DataError>([&] { parse(all); }); };
  EXPECT_NE(fault("0.1 0.2 0.3\n0.4 0.5 0.6\n").find("read by data.set = \"clouds\""), std::string::npos);
  EXPECT_EQ(fault("water\nH 0 0 0\n").find("clouds"), std::string::npos);
  EXPECT_EQ(fault("1\n\nH 0 0 0\n0 0 0\n\n").find("clouds"), std::string::npos);
}

}  // namespace extended_xyz_test
}  // namespace weyl
