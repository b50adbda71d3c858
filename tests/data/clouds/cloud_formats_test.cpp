// PCD, LAS and scans of KITTI: what independent programs have written is read, broken files are refused with one line.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "tests/data/folder.h"
#include "tests/data/refusals.h"
#include "weyl/data/clouds/las.h"
#include "weyl/data/clouds/lidar_scan.h"
#include "weyl/data/clouds/pcd.h"
#include "weyl/data/containers/array.h"
#include "weyl/data/containers/npy.h"

namespace weyl {
namespace cloud_formats_test {

const std::string folder = WEYL_SOURCE_DIR "/tests/fixtures/clouds/";

/// Column `name` of a table is column `k` of `width` of an array, but for what float32 rounds.
void expect_column(const PointTable& table, const std::string& name, const std::vector<double>& values,
                   int64_t width, int64_t k) {
  const int64_t column = table.find(name);
  ASSERT_GE(column, 0) << name;
  ASSERT_EQ(table.rows * width, static_cast<int64_t>(values.size())) << name;
  for (int64_t row = 0; row < table.rows; ++row) {
    const double x = table.values[row * table.columns() + column], y = values[row * width + k];
    ASSERT_NEAR(x, y, 1e-6 * std::max(1.0, std::abs(y))) << name << ", point " << row;
  }
}

std::vector<double> values_of(const std::vector<NamedArray>& arrays, const std::string& name) {
  for (const NamedArray& a : arrays) {
    if (a.name == name) {
      const auto size = a.array.bytes.size() / (a.array.type == ElementType::f32 ? 4 : 8);
      return reals_of(a.array, 0, static_cast<int64_t>(size), name);
    }
  }
  return {};
}

TEST(CloudFormats, PcdIsReadInEachEncoding) {
  const auto truth = read_npz(folder + "pcd.npz", 1 << 20);
  for (const char* encoding : {"ascii", "binary", "compressed"}) {
    SCOPED_TRACE(encoding);
    const PointTable table = read_pcd(folder + encoding + ".pcd");
    EXPECT_EQ(table.rows, 199);  // of 200, one of which has no place
    const std::vector<double> positions = values_of(truth, "positions"), rgb = values_of(truth, "rgb");
    for (int64_t k = 0; k < 3; ++k) {
      expect_column(table, std::string("xyz").substr(k, 1), positions, 3, k);
      const std::string channel = std::array{"red", "green", "blue"}[k];
      expect_column(table, channel, rgb, 3, k);
      EXPECT_TRUE(table.bytes[table.find(channel)]);
    }
    for (const char* name : {"label", "ring", "time"}) {
      expect_column(table, name, values_of(truth, name), 1, 0);
    }
  }
}

TEST(CloudFormats, PcdHasColumnsForWhatHasSeveralNumbersAndNoneForPadding) {
  const std::string head =
      "VERSION 0.7\nFIELDS x y z _ shot rgba\nSIZE 4 4 4 1 4 4\nTYPE F F F U F U\nCOUNT 1 1 1 2 2 1\nWIDTH 1\nHEIGHT 1\n";
  const PointTable table = parse_pcd(head + "DATA ascii\r\n1 2 3 9 9 4 5 4278255361\r\n", "p");
  EXPECT_EQ(table.names,
            (std::vector<std::string>{"x", "y", "z", "shot_0", "shot_1", "red", "green", "blue", "alpha"}));
  EXPECT_EQ(table.values, (std::vector<double>{1, 2, 3, 4, 5, 0, 255, 1, 255}));
}

/// Written by hand: a literal run, then a copy that overlaps with what it writes.
TEST(CloudFormats, LzfCopiesWhatItHasJustWritten) {
  EXPECT_EQ(lzf_unpacked(std::string("\x01"
                                     "ab"
                                     "\x60\x01",
                                     5),
                         7, "p"),
            "abababa");
  EXPECT_EQ(lzf_unpacked(std::string("\x00"
                                     "z"
                                     "\xE0\x03\x00",
                                     5),
                         13, "p"),
            std::string(13, 'z'));
  EXPECT_THROW(lzf_unpacked(std::string("\x01"
                                        "ab"
                                        "\x60\x02",
                                        5),
                            7, "p"),
               DataError);  // before the beginning
}

TEST(CloudFormats, BrokenPcd) {
  expect_refusals("pcd",
                  {
                      {"empty", "must be a PCD file, whose header ends with a line DATA"},
                      {"no_data", "must be a PCD file, whose header ends with a line DATA"},
                      {"other_version", "the version must be .7, got '.5'"},
                      {"unknown_word", "line 1: must be of a PCD header"},
                      {"twice", "line 7: WIDTH must be there once"},
                      {"no_width", "the header must have a line WIDTH"},
                      {"no_z", "must have the fields x, y and z, each of one number; there are x, y, w"},
                      {"field_twice", "the field 'x' must be there once"},
                      {"short_size", "SIZE must have 3 values, as FIELDS, has 2"},
                      {"odd_size", "SIZE of 'z' must be 4 or 8, got 3"},
                      {"short_real", "SIZE of 'z' must be 4 or 8, got 2"},
                      {"other_type", "TYPE must be F, I or U, got 'X'"},
                      {"no_count", "COUNT from 1 on"},
                      {"huge_count", "at most 4096 columns"},
                      {"negative_width", "WIDTH must be whole numbers from 0 on, got '-2'"},
                      {"huge_width", "WIDTH times HEIGHT must be below 2^32"},
                      {"other_points", "POINTS must be WIDTH times HEIGHT = 2, got 3"},
                      {"other_data", "DATA must be ascii, binary or binary_compressed, got 'binary_zstd'"},
                      {"few_rows", "must have 2 points, ends after 1"},
                      {"more_rows", "line 13: must end after 2 points"},
                      {"short_row", "line 12: must have 3 numbers, got 2"},
                      {"words", "line 12: must have numbers, got 'five'"},
                      {"no_place", "must hold at least one point with a place"},
                      {"cut_binary", "must have 2 points of 12 bytes, ends after 1"},
                      {"more_binary", "must end after 2 points, goes on for 1 bytes"},
                      {"huge_binary", "must have 4000000000 points of 12 bytes, ends after 2"},
                      {"cut_sizes", "must have the sizes of its compressed points"},
                      {"other_size", "must be 24 bytes when unpacked, its compressed part says 25"},
                      {"cut_packed", "must have 25 compressed bytes, has 24"},
                      {"more_packed", "must have 25 compressed bytes, has 26"},
                      {"short_literal", "its compressed bytes are broken"},
                      {"back_too_far", "its compressed bytes are broken"},
                      {"too_long", "its compressed bytes are broken"},
                      {"ends_in_copy", "its compressed bytes are broken"},
                      {"too_short", "its compressed bytes are broken"},
                  },
                  [](const std::string& path) { read_pcd(path); });
}

TEST(CloudFormats, LasIsReadAsLaspyReadsIt) {
  const auto truth = read_npz(folder + "las.npz", 1 << 20);
  for (const std::string format : {"3", "6", "8"}) {
    SCOPED_TRACE(format);
    const PointTable table = read_las(folder + "format_" + format + ".las");
    EXPECT_EQ(table.rows, 40);
    size_t compared = 0;
    for (const NamedArray& a : truth) {
      if (a.name.starts_with(format + "_")) {
        expect_column(table, a.name.substr(2), values_of(truth, a.name), 1, 0);
        ++compared;
      }
    }
    EXPECT_EQ(compared, table.names.size());
    for (size_t k = 0; k < table.names.size(); ++k) {
      const std::string& name = table.names[k];
      EXPECT_EQ(table.bytes[k],
                name == "intensity" || name == "red" || name == "green" || name == "blue" || name == "nir")
          << name;
    }
    // Places to the last digit: nothing is rounded to float32 on the way.
    const std::vector<double> x = values_of(truth, format + "_x");
    for (int64_t row = 0; row < table.rows; ++row) {
      EXPECT_DOUBLE_EQ(table.values[row * table.columns() + table.find("x")], x[row]);
    }
  }
}

/// What an intensity means does not hang on the brightest point of its file, as it does of colours.
TEST(CloudFormats, IntensitiesOfLasArePartsOfSixteenBits) {
  std::ifstream in(folder + "format_6.las", std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), {}};
  const auto intensities = [&] {
    const PointTable table = parse_las(std::as_bytes(std::span(file)), "p");
    std::vector<double> values;
    for (int64_t row = 0; row < table.rows; ++row) {
      values.push_back(table.values[row * table.columns() + table.find("intensity")]);
    }
    return values;
  };
  for (const double x : intensities()) {
    EXPECT_TRUE(x >= 0 && x <= 255) << x;
  }
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(file[at]); };
  const size_t points = byte(96) + 256U * byte(97), size = byte(105), intensity = 12;
  for (size_t p = 0; p < 40; ++p) {
    file[points + p * size + intensity + 1] = 0;  // the upper byte
  }
  const std::vector<double> narrow = intensities();
  for (size_t p = 0; p < 40; ++p) {
    EXPECT_DOUBLE_EQ(narrow[p], byte(points + p * size + intensity) / 257.0);
  }
}

TEST(CloudFormats, ExtraBytesOfLasMayBeSeveralAndRepeatAName) {
  const std::string path = folder + "format_6.las";
  std::ifstream in(path, std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), {}};
  const size_t record = file.find("treeID");  // of its 192 bytes the name begins at byte 4
  const auto read = [&] { return parse_las(std::as_bytes(std::span(file)), "p"); };
  const PointTable table = read();
  const auto x = [](const PointTable& of, const char* name, int64_t row) {
    return of.values[row * of.columns() + of.find(name)];
  };
  file.replace(record, 6, std::string("gps_time").substr(0, 6));
  file.replace(record, 8, "gps_time");
  const PointTable twice = read();
  EXPECT_EQ(x(twice, "gps_time_2", 3), x(table, "treeid", 3));
  file.replace(record, 8, std::string("pair\0\0\0\0", 8));
  file[record - 2] = 13;  // two numbers of 16 bits, where one of 32 was
  const PointTable pair = read();
  EXPECT_EQ(pair.find("pair"), -1);
  for (int64_t row = 0; row < 40; ++row) {
    const auto whole = static_cast<uint32_t>(static_cast<int32_t>(x(table, "treeid", row)));
    EXPECT_EQ(x(pair, "pair_0", row), whole & 0xFFFFU);
    EXPECT_EQ(x(pair, "pair_1", row), whole >> 16U);
  }
}

TEST(CloudFormats, BrokenLas) {
  expect_refusals(
      "las",
      {
          {"empty", "must be a LAS file, whose header begins with LASF"},
          {"other", "must be a LAS file, whose header begins with LASF"},
          {"cut_header", "must be a LAS file, whose header begins with LASF and has at least 227 bytes"},
          {"version_2", "the version must be 1.0 to 1.4, got 2.0"},
          {"short_header", "the header must have the size of its version and be there, says 227 bytes"},
          {"long_header", "the header must have the size of its version and be there, says 65535 bytes"},
          {"compressed", "its points are compressed (LAZ)"},
          {"format_11", "the point format must be 0 to 10, got 11"},
          {"short_points", "points of format 6 must have at least 30 bytes, have 29"},
          {"points_in_header", "the points must begin behind the header of 375 bytes"},
          {"points_behind", "within the file, begin at 4294967280"},
          {"no_points", "must hold at least one point, holds none"},
          {"many_points", "must have 1152921504606846976 points of 36 bytes, ends after 40"},
          {"cut_points", "must have 40 points of 36 bytes, ends after 38"},
          {"scale_0", "scales must be numbers other than 0"},
          {"scale_nan", "scales must be numbers other than 0"},
          {"huge_scale", "coordinates must be finite, of point 0 they are not"},
          {"many_records", "its 4294967295 records must end before the points; record 2 does not"},
          {"long_record", "its 1 records must end before the points; record 1 does not"},
          {"odd_record", "extra bytes must be described by 192 bytes each, the record has 300"},
          {"extra_type",
           "extra bytes 'treeID' must be one to three numbers (types 1 to 30) or bare bytes, are of type 99"},
          {"extra_beyond", "extra bytes 'treeID' must be within the 36 bytes of a point"},
      },
      [](const std::string& path) { read_las(path); });
}

TEST(CloudFormats, ScansOfKittiWithAndWithoutLabels) {
  const auto truth = read_npz(folder + "scan.npz", 1 << 20);
  const std::string path = folder + "sequence/velodyne/000000.bin";
  const PointTable table = read_lidar_scan(path);
  const std::vector<double> scan = values_of(truth, "scan");
  for (int64_t k = 0; k < 4; ++k) {
    expect_column(table, std::array{"x", "y", "z", "intensity"}[k], scan, 4, k);
  }
  expect_column(table, "label", values_of(truth, "label"), 1, 0);
  expect_column(table, "instance", values_of(truth, "instance"), 1, 0);
  EXPECT_TRUE(looks_like_lidar_scan(path));
  const std::string alone = testing::TempDir() + "alone.bin", image = testing::TempDir() + "image.bin";
  std::filesystem::copy_file(path, alone, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(read_lidar_scan(alone).names, (std::vector<std::string>{"x", "y", "z", "intensity"}));
  std::string bytes;
  for (int k = 0; k < 3073 * 16; ++k) {
    bytes.push_back(static_cast<char>(k * 7919 >> 3));
  }
  std::ofstream(image, std::ios::binary) << bytes;
  EXPECT_FALSE(looks_like_lidar_scan(image));
  std::ofstream(image, std::ios::binary) << std::string(3073 * 16, '\0');
  EXPECT_FALSE(looks_like_lidar_scan(image));
}

TEST(CloudFormats, LabelsOfAScanAreFoundFromItsOwnFolder) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder + "sequence/velodyne");
  for (const char* path : {"000000.bin", "./000000.bin", "../velodyne/000000.bin"}) {
    EXPECT_GE(read_lidar_scan(path).find("label"), 0) << path;
  }
  std::filesystem::current_path(before);
}

/// nuScenes: x, y, z, intensity, ring. Of a multiple of four points the bytes could be those of points of four numbers.
TEST(CloudFormats, ScansOfFiveNumbersAPointAreRefused) {
  std::string bytes;
  for (int p = 0; p < 64; ++p) {
    const std::array<float, 5> point{-3.F + static_cast<float>(p) / 8, 2, -1.5F, static_cast<float>(p),
                                     static_cast<float>(p % 32)};
    bytes.append(reinterpret_cast<const char*>(point.data()), sizeof(point));
  }
  const auto refused = [&](const std::string& name) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path, std::ios::binary) << bytes;
    const std::string message = message_of<DataError>([&] { read_lidar_scan(path); });
    std::filesystem::remove(path);
    EXPECT_TRUE(message.starts_with(path + ": ")) << message;
    return message.substr(std::min(message.size(), path.size() + 2));
  };
  EXPECT_EQ(
      refused("scan.pcd.bin"),
      "must be points of 4 numbers (float32 x, y, z, intensity), is by its name a scan of nuScenes, which has 5");
  EXPECT_EQ(
      refused("scan.bin"),
      "must be points of 4 numbers (float32 x, y, z within 1000, intensity 0 to 255), of point 1 they are not");
}

TEST(CloudFormats, BrokenScans) {
  const std::string broken = WEYL_SOURCE_DIR "/tests/fixtures/broken/lidar/";
  const auto refused = [&](const std::string& name) {
    const std::string message = message_of<DataError>([&] { read_lidar_scan(broken + name); });
    EXPECT_TRUE(message.starts_with(broken + name + ": ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message.substr(std::min(message.size(), (broken + name + ": ").size()));
  };
  EXPECT_EQ(refused("empty.bin"), "must hold at least one point, holds none");
  EXPECT_EQ(refused("cut.bin"), "must be points of 16 bytes (float32 x, y, z, intensity), has 1021 bytes");
  EXPECT_EQ(refused("infinite.bin"), "coordinates must be finite, of point 5 they are not");
  EXPECT_EQ(refused("velodyne/few_labels.bin"),
            "has 64 points, its labels must be as many of 4 bytes, but have 252 bytes");
}

}  // namespace cloud_formats_test
}  // namespace weyl
