// HDF5 point clouds: what is read and written, and files that libhdf5 does not survive.
#include "weyl/data/clouds/point_clouds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "tests/data/folder.h"
#include "tests/data/refusals.h"
#include "tests/sanitized.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/random.h"

namespace weyl {
namespace point_clouds_test {

TEST(PointClouds, RefuseMoreThanTheirLimit) {
  const Folder folder;
  const std::string path = folder / "a.h5";
  write_point_clouds(path, {2, {0, 1, 2, 3, 4, 5}, {7}});
  EXPECT_EQ(read_point_clouds(path, 24).points, 2);
  EXPECT_EQ(message_of<DataError>([&] { read_point_clouds(path, 23); }),
            path + ": 'data' [1, 2, 3] needs 24 bytes, more than the limit of 23");
}

TEST(PointClouds, KeepTheirBits) {
  const Folder folder;
  PointClouds clouds{5, {}, {3, 0, 9}};
  Stream stream(1, "clouds");
  for (int i = 0; i < 45; ++i) clouds.positions.push_back(static_cast<float>(stream.normal()));
  write_point_clouds(folder / "a.h5", clouds);
  write_point_clouds(folder / "b.h5", clouds);
  const auto read = read_point_clouds(folder / "a.h5");
  EXPECT_EQ(read.points, 5);
  EXPECT_EQ(read.positions, clouds.positions);
  EXPECT_EQ(read.labels, clouds.labels);
  const MappedFile a(folder / "a.h5"), b(folder / "b.h5");
  EXPECT_TRUE(std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end()));
  EXPECT_THROW(write_point_clouds(folder / "c.h5", {5, {1, 2, 3}, {1}}), ShapeError);
}

TEST(PointClouds, ReadWhatH5pyWrites) {
  // tools/goldens/h5_fixtures.py: chunks of gzip, labels uint8, float64, a later version of the format
  for (const char* name : {"gzip.h5", "double.h5", "v110.h5"}) {
    const auto clouds = read_point_clouds(std::string(WEYL_SOURCE_DIR "/tests/fixtures/shapes/") + name);
    ASSERT_EQ(clouds.points, 16) << name;
    EXPECT_EQ(clouds.labels, (std::vector<int64_t>{2, 0, 1, 4})) << name;
    for (size_t i = 0; i < clouds.positions.size(); ++i) {
      ASSERT_EQ(clouds.positions[i], static_cast<float>(i) / 256 - 0.375F) << name;
    }
  }
}

TEST(PointClouds, RefuseWhatH5pyWritesOfAnotherKind) {  // tools/goldens/scan_fixtures.py
  expect_refusals("h5",
                  {{"two_axes", "'data' must be (samples, points, 3)"},
                   {"two_coordinates", "'data' must be (samples, points, 3)"},
                   {"nan", "finite"},
                   {"words", "'data' must hold real numbers"},
                   {"no_data", "there is no data set 'data'"},
                   {"no_label", "there is no data set 'label'"},
                   {"few_labels", "'label' must"},
                   {"real_labels", "'label' must hold whole numbers"},
                   {"no_samples", "sample"},
                   {"no_points", "point"},
                   {"group", "'data' cannot be opened as a data set"},
                   {"link", "'data' must be in the file, it is a link to elsewhere"}},
                  [](const std::string& path) { read_point_clouds(path); });
}

TEST(PointClouds, RefuseATruncatedFile) {
  const Folder folder;
  const std::string path = folder / "a.h5";
  write_point_clouds(path, {100, std::vector<float>(600), {1, 2}});
  for (auto size = std::filesystem::file_size(path); size > 0;) {
    size -= std::min<decltype(size)>(size, 97);
    std::filesystem::resize_file(path, size);
    const auto message = message_of<DataError>([&] { read_point_clouds(path); });
    EXPECT_TRUE(message.starts_with(path + ": ")) << size << ": " << message;
  }
}

TEST(PointClouds, PassWholeFilesOfModelNet) {
  const Folder folder;
  const std::string path = folder / "a.h5";
  const PointClouds clouds{2048, std::vector<float>(2048 * 2048 * 3, 0.5F), std::vector<int64_t>(2048, 3)};
  write_point_clouds(path, clouds);
  const auto read = read_point_clouds(path);
  EXPECT_EQ(read.points, clouds.points);
  EXPECT_EQ(read.positions, clouds.positions);
  EXPECT_EQ(read.labels, clouds.labels);
}

constexpr size_t kRarely = under_sanitizers(31, 1);  // a fork with its shadow takes many milliseconds

/// Clouds that fit, or one clean line: whatever the bytes are, this process goes on.
void expect_verdict(std::span<const std::byte> bytes, const std::string& what) {
  try {
    const auto clouds = parse_point_clouds(bytes, "x.h5", uint64_t{1} << 24U);
    EXPECT_GT(clouds.points, 0) << what;
    EXPECT_EQ(clouds.positions.size(), static_cast<size_t>(clouds.count() * clouds.points * 3)) << what;
  } catch (const DataError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("x.h5: ")) << what << ": " << message;
    EXPECT_LT(message.size(), 300U) << what;
    EXPECT_TRUE(std::all_of(message.begin(), message.end(), [](char c) { return c >= 0x20; })) << message;
  }
}

/// Files of either version of the format, contiguous and in chunks.
std::vector<std::vector<std::byte>> sound_files() {
  const Folder folder;
  write_point_clouds(folder / "a.h5", {2, {0, 1, 2, 3, 4, 5}, {7}});
  std::vector<std::vector<std::byte>> files;
  for (const std::string& path :
       {folder / "a.h5", std::string(WEYL_SOURCE_DIR "/tests/fixtures/shapes/gzip.h5"),
        std::string(WEYL_SOURCE_DIR "/tests/fixtures/shapes/v110.h5")}) {
    const MappedFile file(path);
    files.emplace_back(file.bytes().begin(), file.bytes().end());
    EXPECT_GT(parse_point_clouds(files.back(), path).points, 0);
  }
  return files;
}

TEST(PointClouds, OutliveEveryByteChanged) {
  size_t step = kRarely;
  for (auto& bytes : sound_files()) {
    for (size_t i = 0; i < std::min<size_t>(bytes.size(), 2048); i += step) {
      const std::byte sound = bytes[i];
      bytes[i] ^= std::byte{0xff};
      expect_verdict(bytes, text(bytes.size(), " bytes, that at ", i));
      bytes[i] = sound;
    }
    step = 25 * kRarely;  // each place of a number of 8 bytes comes up; a millisecond each
  }
}

TEST(PointClouds, OutliveChangedAddressesAndSizes) {
  // Addresses and lengths are numbers of 8 bytes: each that points into the file is sent elsewhere.
  for (auto& bytes : sound_files()) {
    size_t met = 0;
    for (size_t i = 8; i + 8 <= std::min<size_t>(bytes.size(), 4096); ++i) {
      uint64_t address = 0;
      std::memcpy(&address, bytes.data() + i, 8);
      if (address == 0 || address > bytes.size() || met++ % kRarely != 0) {
        continue;
      }
      for (const uint64_t other : {uint64_t{bytes.size() - 1}, uint64_t{1} << 40U, uint64_t{i}}) {
        std::memcpy(bytes.data() + i, &other, 8);
        expect_verdict(bytes, text(bytes.size(), " bytes, the address at ", i, " is ", other));
      }
      std::memcpy(bytes.data() + i, &address, 8);
    }
  }
}

}  // namespace point_clouds_test
}  // namespace weyl
