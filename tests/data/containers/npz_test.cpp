#include "weyl/data/containers/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <numeric>

#include "weyl/core/check.h"

namespace weyl {
namespace npz_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/numpy/";

template <class T>
std::vector<T> values_of(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

template <class T>
std::vector<T> counted(size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T{0});
  return values;
}

// tools/goldens/numpy_fixtures.py wrote these with numpy: arange(24) of shape (2, 3, 4).
TEST(NumpyFixtures, EveryOrderGivesTheSameNumbers) {
  const std::vector<int64_t> shape{2, 3, 4};
  for (const char* name : {"c_order_f8", "fortran_f4", "big_endian_i2", "fortran_big_endian_i8", "bool"}) {
    EXPECT_EQ(read_npy(fixtures + name + ".npy").shape, shape) << name;
  }
  EXPECT_EQ(values_of<double>(read_npy(fixtures + "c_order_f8.npy")), counted<double>(24));
  EXPECT_EQ(values_of<float>(read_npy(fixtures + "fortran_f4.npy")), counted<float>(24));
  EXPECT_EQ(values_of<int16_t>(read_npy(fixtures + "big_endian_i2.npy")), counted<int16_t>(24));
  EXPECT_EQ(values_of<int64_t>(read_npy(fixtures + "fortran_big_endian_i8.npy")), counted<int64_t>(24));
  const auto even = read_npy(fixtures + "bool.npy");
  EXPECT_EQ(even.type, ElementType::boolean);
  EXPECT_EQ(even.bytes[0], std::byte{1});
  EXPECT_EQ(even.bytes[1], std::byte{0});
  const auto scalar = read_npy(fixtures + "scalar_u1.npy");
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(values_of<uint8_t>(scalar), std::vector<uint8_t>{7});
  const auto half = read_npy(fixtures + "version2_f2.npy");
  EXPECT_EQ(half.type, ElementType::f16);
  EXPECT_EQ(values_of<uint16_t>(half)[1], 0x3c00);  // 1.0
}

TEST(NumpyFixtures, ArchivesStoredAndDeflated) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const auto arrays = read_npz(fixtures + name);
    ASSERT_EQ(arrays.size(), 3);
    EXPECT_EQ(arrays[0].name, "grid");
    EXPECT_EQ(values_of<float>(arrays[0].array), counted<float>(24));
    EXPECT_EQ(arrays[1].name, "mask");
    EXPECT_EQ(arrays[2].name, "R/coordinates");
    EXPECT_EQ(values_of<double>(arrays[2].array), std::vector<double>{2.5});
  }
}

std::vector<NamedArray> some_arrays() {
  Array zeros{ElementType::f32, {100, 100}, std::vector<std::byte>(40'000)};
  Array one{ElementType::i16, {}, {std::byte{5}, std::byte{0}}};
  return {{"zeros", zeros}, {"one", one}, {"none", {ElementType::f64, {0, 3}, {}}}};
}

TEST(Npz, WhatIsWrittenIsReadBack) {
  for (const bool deflate : {false, true}) {
    const auto arrays = some_arrays();
    const auto bytes = npz_bytes(arrays, deflate);
    EXPECT_EQ(bytes, npz_bytes(arrays, deflate)) << "the same input must give the same bytes";
    EXPECT_EQ(bytes.size() < 5'000, deflate);
    const auto back = parse_npz(bytes, "x.npz");
    ASSERT_EQ(back.size(), arrays.size());
    for (size_t i = 0; i < back.size(); ++i) {
      EXPECT_EQ(back[i].name, arrays[i].name);
      EXPECT_EQ(back[i].array, arrays[i].array);
    }
  }
  EXPECT_TRUE(parse_npz(npz_bytes({}), "x.npz").empty());
  const std::vector<NamedArray> twice{some_arrays()[0], some_arrays()[0]};
  EXPECT_THROW(npz_bytes(twice), ShapeError);
}

TEST(Npz, FilesGoThroughTheDisk) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("weyl-npz-" + std::to_string(::getpid()) + ".npz")).string();
  write_npz(path, some_arrays(), true);
  EXPECT_EQ(read_npz(path)[0].array, some_arrays()[0].array);
  std::filesystem::remove(path);
  EXPECT_THROW(read_npz(path), DataError);
}

TEST(Npz, TheLimitCountsAllEntriesTogether) {
  const std::vector<NamedArray> arrays{{"a", {ElementType::u8, {10'000}, std::vector<std::byte>(10'000)}},
                                       {"b", {ElementType::u8, {10'000}, std::vector<std::byte>(10'000)}}};
  const auto bytes = npz_bytes(arrays, true);
  EXPECT_EQ(parse_npz(bytes, "x.npz", 20'256).size(), 2);  // two headers of 128 bytes
  try {
    parse_npz(bytes, "x.npz", 20'255);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()),
              "x.npz: entry 'b.npy' of 10128 bytes would unpack the archive beyond its limit of 20255 bytes "
              "(a zip bomb?)");
  }
}

TEST(Npz, EveryCutIsRefused) {
  const auto bytes = npz_bytes(some_arrays(), true);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_npz(std::span(bytes).first(size), "x.npz"), DataError) << size;
  }
}

TEST(Npz, EveryDamagedByteOfDataIsSeen) {
  const std::vector<NamedArray> arrays{{"a", {ElementType::u8, {64}, std::vector<std::byte>(64)}}};
  const auto bytes = npz_bytes(arrays);
  const size_t data = 30 + 5 + 128;  // after the entry's header, name and array header
  for (size_t i = data; i < data + 64; ++i) {
    auto damaged = bytes;
    damaged[i] ^= std::byte{1};
    EXPECT_THROW(parse_npz(damaged, "x.npz"), DataError) << i;
  }
}

}  // namespace npz_test
}  // namespace weyl
