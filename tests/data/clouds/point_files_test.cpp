// PLY, and points as text: what they hold comes out whatever way it is written, and what is broken is refused in one line
// (tests/fixtures/broken/{ply,points}, written by tools/goldens/broken_files.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>

#include "tests/data/folder.h"
#include "tests/data/refusals.h"
#include "weyl/core/check.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/ply.h"
#include "weyl/data/clouds/point_clouds.h"
#include "weyl/data/clouds/point_text.h"

namespace weyl {
namespace point_files_test {

using Names = std::vector<std::string>;
using Values = std::vector<double>;

constexpr const char* kVertices =
    "element vertex 2\nproperty float x\nproperty double y\nproperty short z\nproperty uchar red\n";
constexpr const char* kFaces = "element face 2\nproperty list uchar int vertex_indices\n";

std::string header(const std::string& encoding, const std::string& elements) {
  return "ply\nformat " + encoding + " 1.0\ncomment made by hand\nobj_info none\n" + elements +
         "end_header\n";
}

/// The bytes of numbers, one after the other.
class Bytes {
 public:
  explicit Bytes(bool big) : swap_(big != (std::endian::native == std::endian::big)) {}
  template <class T>
  Bytes& add(T x) {
    auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(x);
    if (swap_) {
      std::ranges::reverse(bytes);
    }
    all_.append(bytes.data(), bytes.size());
    return *this;
  }
  const std::string& done() const { return all_; }

 private:
  bool swap_;
  std::string all_;
};

void expect_two_vertices(const PointTable& table, const std::string& of) {
  EXPECT_EQ(table.names, (Names{"x", "y", "z", "red"})) << of;
  EXPECT_EQ(table.rows, 2) << of;
  EXPECT_EQ(table.values, (Values{0.5, -1e-3, 7, 255, 1.5, 2e10, -8, 0})) << of;
  EXPECT_EQ(table.bytes, (std::vector<bool>{false, false, false, true})) << of;
}

TEST(Ply, IsReadInAllItsEncodings) {
  const std::string elements = std::string(kVertices) + kFaces;
  const std::string rows = "0.5 -1e-3 7 255\n+1.5 2e10 -8 0\n3 0 1 0\n4 0 1 0 1\n";
  expect_two_vertices(parse_ply(header("ascii", elements) + rows, "f"), "ascii");
  std::string windows = header("ascii", elements) + rows;
  for (size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) {
    windows.replace(at, 1, "\r\n");
  }
  expect_two_vertices(parse_ply(windows, "f"), "CRLF");
  for (const bool big : {false, true}) {
    Bytes b(big);
    b.add(0.5F)
        .add(-1e-3)
        .add(int16_t{7})
        .add(uint8_t{255})
        .add(1.5F)
        .add(2e10)
        .add(int16_t{-8})
        .add(uint8_t{0});
    b.add(uint8_t{3}).add(0).add(1).add(0).add(uint8_t{4}).add(0).add(1).add(0).add(1);
    const std::string encoding = big ? "binary_big_endian" : "binary_little_endian";
    expect_two_vertices(parse_ply(header(encoding, elements) + b.done(), "f"), encoding);
  }
}

TEST(Ply, PassesOverElementsBeforeTheVerticesAndListsAmongThem) {
  const std::string elements =
      std::string("element camera 1\nproperty float view\nproperty list uint16 float k\n") +
      "element vertex 2\nproperty list uchar float weights\nproperty float z\n" +
      "property float y\nproperty float x\n";
  const auto check = [](const PointTable& table) {
    EXPECT_EQ(table.names, (Names{"z", "y", "x"}));
    EXPECT_EQ(table.values, (Values{3, 2, 1, 6, 5, 4}));
    EXPECT_EQ(table.find("x"), 2);
  };
  check(parse_ply(header("ascii", elements) + "9 2 0 0\n2 8 8 3 2 1\n0 6 5 4\n", "f"));
  for (const bool big : {false, true}) {
    Bytes b(big);
    b.add(9.0F).add(uint16_t{2}).add(0.0F).add(0.0F);
    b.add(uint8_t{2}).add(8.0F).add(8.0F).add(3.0F).add(2.0F).add(1.0F);
    b.add(uint8_t{0}).add(6.0F).add(5.0F).add(4.0F);
    check(parse_ply(header(big ? "binary_big_endian" : "binary_little_endian", elements) + b.done(), "f"));
  }
}

TEST(Ply, BrokenFiles) {
  expect_refusals(
      "ply",
      {
          {"empty", "must begin with a line `ply`, got ''"},
          {"not_ply", "must begin with a line `ply`, got 'OFF"},
          {"no_end_header", "line 4: the header must end with a line end_header"},
          {"no_format", "the header must say the format"},
          {"long_line", "line 2: the header must end with a line end_header"},
          {"other_format", "got 'binary_middle_endian'"},
          {"no_vertex", "has no element vertex"},
          {"no_points", "must have at least one vertex, has none"},
          {"no_z", "there is no number z"},
          {"list_z", "there is no number z"},
          {"twice", "line 7: property 'x' is there twice"},
          {"unknown_type",
           "line 4: the type must be char, uchar, short, ushort, int, uint, float or "
           "double, got 'half'"},
          {"unknown_word", "line 3: must be format, element, property, comment or end_header"},
          {"negative_count", "line 3: must be `element NAME NUMBER`"},
          {"huge_count", "ends before its 4000000000000000000 rows of 'vertex', 24 bytes are left"},
          {"huge_text", "ends before its 4000000000000000000 rows of 'vertex', 6 bytes are left"},
          {"cut", "ends after 1 of 2 rows of 'vertex'"},
          {"cut_binary", "ends before its 2 rows of 'vertex', 20 bytes are left"},
          {"short_row", "line 9: must have a number for each property, there is none for 'z'"},
          {"long_row", "line 9: must have 3 properties, has more: ' 4'"},
          {"words", "line 9: 'y' must be a number, got 'two'"},
          {"not_finite", "line 9: coordinates must be finite, y is nan"},
          {"not_finite_binary", "vertex 1: coordinates must be finite, y is inf"},
          {"colour_above", "line 10: 'red' must be a whole number 0 .. 255, got 256"},
          {"cut_faces", "ends before its 1 rows of 'face'"},
          {"cut_faces_binary", "ends within row 0 of 1 of 'face'"},
          {"huge_list", "ends within row 0 of 1 of 'face'"},
          {"negative_list", "row 0 of 'face': the length of the list 'vertex_indices' is -1"},
          {"real_list", "line 8: the length of a list must be a whole number, got 'float'"},
          {"more_behind", "has 2 bytes after its last element"},
          {"changed_line_ends", "after its last element (were its line ends changed?)"},
      },
      [](const std::string& path) { read_ply(path); });
}

TEST(PointText, IsReadWithAnySeparatorAndByItsNames) {
  const Values two{1, 2, 3, 4, 5, 6};
  for (const std::string file : {"1 2 3\n4 5 6\n", "1\t2\t3\r\n\r\n4\t5\t6", "1, 2,3\n4,5 ,6\n",
                                 "# a comment\n// another\n  1  2 3 \n4 5 +6\n",
                                 "\xEF\xBB\xBF"
                                 "1 2 3\n4 5 6\n"}) {
    const PointTable table = parse_point_text(file, "f");
    EXPECT_EQ(table.names, (Names{"x", "y", "z"})) << file;
    EXPECT_EQ(table.values, two) << file;
    EXPECT_EQ(table.rows, 2) << file;
  }
  const Names other{"z", "x", "intensity", "y"};
  for (const std::string names :
       {"z x intensity y\n", "Z,X,\"Intensity\",Y\n", "# z x intensity y\n", "//Z,X,Intensity,Y\n"}) {
    const std::string row = names.find(',') != std::string::npos ? "1,2,3,4\n" : "1 2 3 4\n";
    EXPECT_EQ(parse_point_text(names + row, "f").names, other) << names;
  }
  // A comment of as many words that names no places, and one of other words, say nothing.
  for (const std::string comment : {"# made by a scanner\n", "# x y z\n"}) {
    EXPECT_EQ(parse_point_text(comment + "1 2 3 4\n", "f").names, (Names{"x", "y", "z", "column 4"}))
        << comment;
  }
}

TEST(PointText, ColumnsAreAsGivenAndNotAgainstTheFile) {
  const Names given{"y", "x", "z", "red"};
  EXPECT_EQ(parse_point_text("1 2 3 4\n", "f", given).names, given);
  EXPECT_EQ(parse_point_text("y x z red\n1 2 3 4\n", "f", given).names, given);
  EXPECT_EQ(message_of<DataError>([&] { parse_point_text("x y z red\n1 2 3 4\n", "f", given); }),
            "f: line 2: column 1 is given as 'y', the file names it 'x'");
  EXPECT_EQ(message_of<DataError>([&] { parse_point_text("1 2 3\n", "f", given); }),
            "f: line 1: must have the 4 columns that are given, got 3");
}

TEST(PointText, BrokenFiles) {
  expect_refusals(
      "points",
      {
          {"empty", "must hold at least one point, holds none"},
          {"only_comments", "must hold at least one point, holds none"},
          {"only_names", "must hold at least one point, holds none"},
          {"two_columns", "line 1: must have the coordinates x y z, got 2 columns"},
          {"fewer_columns", "line 2: must have 4 columns as the first point, got 3"},
          {"more_columns", "line 2: must have 3 columns as the first point, got more: '4'"},
          {"fewer_commas", "line 2: must have 3 columns as the first point, got 2"},
          {"empty_cell", "line 2: column 2 must be a number, got ''"},
          {"trailing_comma", "line 1: column 4 must be a number, got ''"},
          {"two_in_a_cell", "line 2: column 1 must be one number, got '1 5,2,3'"},
          {"mixed_separators", "line 2: columns must be split by blanks"},
          {"semicolons", "line 1: must be numbers, or names with x, y and z once each"},
          {"decimal_commas", "line 1: column 2 must be one number"},
          {"words", "line 2: column 2 must be a number, got 'one'"},
          {"not_finite", "line 3: coordinates must be finite, y is nan"},
          {"infinite", "line 2: coordinates must be finite, z is -inf"},
          {"too_large", "line 2: column 3 must be a number, got '1e999'"},
          {"no_z", "line 1: must be numbers, or names with x, y and z once each, got 'x y intensity'"},
          {"x_twice", "line 1: must be numbers, or names with x, y and z once each, got 'x y z x'"},
          {"more_names", "line 2: must have 4 columns as there are names, got 3"},
          {"two_headers", "line 2: column 1 must be a number, got 'x'"},
          {"molecule",
           "line 1: is the number of atoms of a molecule (a comment and lines of symbols "
           "follow): data.set = \"molecules\" reads these"},
          {"symbols", "line 1: column 1 must be a number, got 'C'"},
          {"molecule_no_comment", "line 1: is the number of atoms of a molecule"},
          {"counted", "line 1: says that there are 3 points, the file has 2"},
          {"binary", "line 1: column 1 must be a number, got '\\x00\\x01\\x02\\x1b[31m'"},
      },
      [](const std::string& path) { read_point_text(path); });
}

TEST(PointText, CarriageReturnsAloneEndNoLines) {
  EXPECT_EQ(parse_point_text("1 2 3\r\n4 5 6\r\n", "f").rows, 2);
  EXPECT_THROW(parse_point_text("1 2 3\r4 5 6\r", "f"), DataError);  // one point of six columns otherwise
}

TEST(PointText, MayBeginWithTheNumberOfPoints) {
  const PointTable found =
      read_point_text(WEYL_SOURCE_DIR "/tests/fixtures/reports/18_class_folders_with_counts/a/0.txt");
  EXPECT_EQ(found.rows, 50);
  EXPECT_EQ(found.columns(), 3);
  EXPECT_EQ(found.values.at(0), 0.255976);
  EXPECT_EQ(parse_point_text("# a scan\n2\nx,y,z\n1,2,3\n4,5,6\n", "f").rows, 2);
  EXPECT_EQ(message_of<DataError>([] { parse_point_text("1\n1 2 3\n4 5 6\n", "f"); }),
            "f: line 1: says that there are 1 points, the file has 2");
  EXPECT_EQ(message_of<DataError>([] { parse_point_text("1\n1\n1 2 3\n", "f"); }),
            "f: line 2: must have the coordinates x y z, got 1 column");
}

TEST(PointText, LooksLikePointsOrNot) {
  const Folder folder;
  const auto looks = [&](const std::string& contents) {
    std::ofstream(folder / "a.txt", std::ios::binary) << contents;
    return looks_like_points(folder / "a.txt").value_or(false);
  };
  EXPECT_TRUE(looks("# three\n1 2 3\n"));
  EXPECT_TRUE(looks("1,2,3,4,5,6\n"));
  EXPECT_TRUE(looks("x,y,z,a,b,c,d,e\n1,2,3,4,5,6,7,8\n"));
  EXPECT_FALSE(looks("1 2 3 4 5 6 7 8\n"));                                                      // TUM
  EXPECT_FALSE(looks("1 0 0 0 0 1 0 0 0 0 1 0\n"));                                              // KITTI
  EXPECT_FALSE(looks("#timestamp,p_x\n1403636579763555584,1,2,3,1,0,0,0,0,0,0,0,0,0,0,0,0\n"));  // EuRoC
  EXPECT_FALSE(looks("3\nwater\nO 0 0 0\n"));
  EXPECT_FALSE(looks("3\n1 2 3\nO 0 0 0\n"));
  EXPECT_TRUE(looks("3\n1 2 3\n4 5 6\n"));
  EXPECT_TRUE(looks("1\n1 2 3 4 5 6 7 8\n"));  // no pose has a count
  EXPECT_TRUE(counts_points(folder / "a.txt"));
  EXPECT_FALSE(looks("3\n4\n5\n"));
  EXPECT_TRUE(looks("1 2 3\n4 5 6\n"));
  EXPECT_FALSE(counts_points(folder / "a.txt"));
  EXPECT_FALSE(looks("the notes of a day\n"));
  EXPECT_FALSE(looks(""));
  EXPECT_EQ(looks_like_points(folder / "none"), std::nullopt);
}

TEST(Off, VerticesAloneNeedNoFaces) {
  EXPECT_EQ(parse_off_vertices("OFF\n2 0 0\n1 2 3\n4 5 6\n", "f"), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(parse_off_vertices("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "f").size(), 9u);
  EXPECT_THROW(parse_off("OFF\n2 0 0\n1 2 3\n4 5 6\n", "f"), DataError);
  EXPECT_THROW(parse_off_vertices("OFF\n2 0 0\n1 2 3\n", "f"), DataError);
  // Two vertices a line: the faces would be taken for vertices.
  EXPECT_THROW(parse_off_vertices("OFF\n4 2 0\n0 0 0 1 0 0\n0 1 0 0 0 1\n3 0 1 2\n3 0 1 3\n", "f"),
               DataError);
  EXPECT_THROW(parse_off_vertices("OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "f"), DataError);  // cut off
  EXPECT_THROW(parse_off_vertices("OFF\n0 0 0\n", "f"), DataError);
}

TEST(Hdf5Arrays, AreFoundByTheFirstOfTheirNames) {
  const Folder folder;
  const PointClouds clouds{2, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {4, 0}};
  write_point_clouds(folder / "a.h5", clouds);
  const std::vector<Names> wanted{{"positions", "data"}, {"colour"}, {"label", "labels"}};
  const auto arrays = read_hdf5_arrays(folder / "a.h5", wanted);
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].name, "data");
  EXPECT_EQ(arrays[0].array.type, ElementType::f32);
  EXPECT_EQ(arrays[0].array.shape, (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(std::memcmp(arrays[0].array.bytes.data(), clouds.positions.data(), 48), 0);
  EXPECT_EQ(arrays[1].name, "label");
  EXPECT_EQ(arrays[1].array.type, ElementType::i64);
  EXPECT_EQ(arrays[1].array.shape, (std::vector<int64_t>{2, 1}));
  EXPECT_NE(message_of<DataError>([&] { read_hdf5_arrays(folder / "a.h5", wanted, 50); }).find("limit of 50"),
            std::string::npos);
  std::ofstream(folder / "b.h5") << "no HDF5";
  EXPECT_EQ(message_of<DataError>([&] { read_hdf5_arrays(folder / "b.h5", wanted); }),
            folder / "b.h5: is no HDF5 file");
}

}  // namespace point_files_test
}  // namespace weyl
