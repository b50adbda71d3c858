// Extended xyz as it is written: what is read comes back, and what the format cannot hold is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/data/atoms/xyz_frames.h"
#include "tests/data/folder.h"
#include "weyl/core/input_file.h"
#include "weyl/data/atoms/extended_xyz_comment.h"

namespace weyl {
namespace extended_xyz_write_test {

/// Writes frames and reads them again.
std::vector<AtomsFrame> again(const std::vector<AtomsFrame>& frames) {
  std::string file;
  for (const auto& frame : frames) {
    append_extended_xyz(file, frame);
  }
  return parse(file);
}

TEST(ExtendedXyz, WritesWhatItReads) {
  const auto frames = read_xyz(xyz_fixtures + "ase.xyz");
  EXPECT_EQ(again(frames), frames);
  AtomsFrame added = frames[0];
  added.set("energy_weyl", -0.1);
  added.set(AtomColumn{"forces_weyl", 3, Reals(9, 0.1)});
  const auto read_again = again({added}).at(0);
  EXPECT_EQ(read_again, added);
  EXPECT_EQ(read_again.columns.back().name, "forces_weyl");
  EXPECT_EQ(read_again.values.back().name, "energy_weyl");
  added.set("energy_weyl", 7);  // a real stays one
  EXPECT_EQ(values<double>(again({added}).at(0).value("energy_weyl")->values), Reals{7});
}

TEST(ExtendedXyz, NumbersComeBackToTheBit) {
  std::mt19937_64 random(1);
  AtomsFrame frame;
  Reals all;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t bits = random();
    double x = 0;
    std::memcpy(&x, &bits, sizeof x);
    all.push_back(std::isfinite(x) ? x : 1);
  }
  for (const double x :
       {0.0, -0.0, 0.1, 1e22, 5e-324, -2.2250738585072014e-308, std::numeric_limits<double>::max()}) {
    all.push_back(x);
  }
  frame.numbers.assign(all.size(), 1);
  for (const double x : all) {
    frame.positions.insert(frame.positions.end(), {x, -x, 1 / 3.0});
  }
  frame.columns.push_back({"q", 1, all});
  frame.columns.push_back({"odd", 1, Integers(all.size(), std::numeric_limits<int64_t>::min())});
  frame.values.push_back({"total", {static_cast<int64_t>(all.size())}, all});
  const auto found = again({frame}).at(0);
  EXPECT_EQ(std::memcmp(found.positions.data(), frame.positions.data(), 8 * frame.positions.size()), 0);
  EXPECT_EQ(values<double>(found.column("q")->values), all);
  EXPECT_EQ(found.column("odd")->values, frame.column("odd")->values);
  EXPECT_EQ(found.value("total")->values, frame.value("total")->values);
}

TEST(ExtendedXyz, AwkwardValuesComeBack) {
  AtomsFrame frame;
  frame.numbers = {6};
  frame.positions = {0, 0, 0};
  frame.values = {{"empty", {}, Texts{""}},
                  {"a key", {}, Texts{"back\\slash \"quote\"\nline"}},
                  {"equals", {}, Texts{"a=b"}},
                  {"brackets", {}, Texts{"[1, 2]"}},
                  {"brace", {}, Texts{"{1 2}"}},
                  {"blanks", {}, Texts{"  "}},
                  {"texts", {2}, Texts{"1", "b \" ]"}},
                  {"text matrix", {2, 1}, Texts{"T", ""}},
                  {"one", {1}, Reals{2}},
                  {"nine", {9}, Reals{1, 2, 3, 4, 5, 6, 7, 8, 9.5}},
                  {"matrix", {2, 2}, Reals{1, 2, 3, std::numeric_limits<double>::infinity()}},
                  {"logicals", {2}, Logicals{1, 0}}};
  frame.columns = {{"label", 2, Texts{"", "a b\\"}}, {"spin", 1, Logicals{0}}};
  EXPECT_EQ(again({frame}).at(0), frame);
  // Texts that look like numbers stay texts.
  for (const char* text : {"5", "T", "-1e5", "1 2", "nan", "_JSON [1, 2]", "_JSON [1"}) {
    frame.values = {{"name", {}, Texts{text}}};
    const auto found = again({frame}).at(0).values.at(0);
    EXPECT_EQ(values<std::string>(found.values), Texts{text});
    EXPECT_EQ(found.shape, Shape{});
  }
}

// By the words that ASE reads (tests/peers/round_trips_test.py).
TEST(ExtendedXyz, MatricesAreWrittenAsAseWritesThem) {
  AtomsFrame frame;
  frame.numbers = {6};
  frame.positions = {0, 0, 0};
  frame.values = {{"m", {2, 2}, Integers{1, 2, 3, 4}},
                  {"t", {2}, Texts{"a", "b c"}},
                  {"y", {1, 1}, Logicals{1}},
                  {"l", {}, Texts{"a\nb"}}};
  std::string file;
  append_extended_xyz(file, frame);
  for (const char* said : {R"( m="_JSON [[1, 2], [3, 4]]")", R"( t="_JSON [\"a\", \"b c\"]")",
                           R"( y="_JSON [[true]]")", R"( l="_JSON \"a\\nb\"")"}) {
    EXPECT_NE(file.find(said), std::string::npos) << file;
  }
  EXPECT_EQ(again({frame}).at(0), frame);
}

TEST(ExtendedXyz, WhatCannotBeWritten) {
  AtomsFrame good;
  good.numbers = {1};
  good.positions = {0, 0, 0};
  const auto fault = [&](auto change) {
    AtomsFrame frame = good;
    change(frame);
    std::string file;
    return message_of<Error>([&] { append_extended_xyz(file, frame); });
  };
  EXPECT_EQ(fault([](AtomsFrame&) {}), "");
  EXPECT_NE(
      fault([](AtomsFrame& f) { f.positions.pop_back(); }).find("1 atoms must have 3 coordinates, got 2"),
      std::string::npos);
  EXPECT_NE(
      fault([](AtomsFrame& f) { f.columns.push_back({"a:b", 1, Reals{0}}); }).find("cannot be named 'a:b'"),
      std::string::npos);
  EXPECT_NE(fault([](AtomsFrame& f) { f.columns.push_back({"pos", 1, Reals{0}}); }).find("'pos'"),
            std::string::npos);
  EXPECT_NE(fault([](AtomsFrame& f) { f.columns.push_back({"q", 2, Reals{0}}); }).find("width 2"),
            std::string::npos);
  EXPECT_NE(fault([](AtomsFrame& f) { f.values.push_back({"Lattice", {}, Reals{0}}); }), "");
  EXPECT_NE(fault([](AtomsFrame& f) { f.values.push_back({"t", {1, 1, 1}, Reals{0}}); }).find("[1, 1, 1]"),
            std::string::npos);
  EXPECT_NE(fault([](AtomsFrame& f) { f.pbc[0] = true; }).find("pbc needs a cell"), std::string::npos);
  EXPECT_NE(fault([](AtomsFrame& f) { f.numbers[0] = 119; }).find("got 119"), std::string::npos);
}

TEST(ExtendedXyz, FilesAppearWholeOrNot) {
  const Folder folder;
  const auto frames = read_xyz(xyz_fixtures + "ase.xyz");
  for (const char* name : {"out.xyz", "out.extxyz.gz"}) {
    const std::string path = folder / name;
    {
      ExtendedXyzWriter writer(path);
      writer.write(frames[0]);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    ExtendedXyzWriter writer(path);
    for (int i = 0; i < 5000; ++i) {
      writer.write(frames[i % 2]);
    }
    writer.commit();
    const auto found = read_xyz(path);
    ASSERT_EQ(found.size(), 5000);
    EXPECT_EQ(found[4999], frames[1]);
  }
  EXPECT_EQ(std::to_integer<int>(MappedFile(folder / "out.extxyz.gz").bytes()[0]), 0x1f);
}

}  // namespace extended_xyz_write_test
}  // namespace weyl
