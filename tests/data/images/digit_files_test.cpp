#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/containers/byte_source.h"
#include "weyl/data/images/digit_files.h"

namespace weyl {
namespace digit_files_test {

/// Two images: the first all zero but for one pixel, the second in tenths.
AmatImages two_images() {
  AmatImages images;
  images.pixels.assign(2 * amat_pixels, 0);
  images.pixels[30] = 0.12345678F;
  for (int64_t i = 0; i < amat_pixels; ++i) {
    images.pixels[amat_pixels + i] = static_cast<float>(i % 11) / 10;
  }
  images.labels = {7, 0};
  return images;
}

TEST(Amat, WhatIsWrittenReadsBack) {
  const AmatImages images = two_images();
  EXPECT_EQ(parse_amat(amat_text(images.pixels, images.labels), "x"), images);
}

TEST(Amat, ReadsTheLookOfTheOriginal) {
  // Leading blanks, exponents or decimals, the label as a real number, CRLF, an empty line at the end.
  std::string file;
  for (int64_t i = 0; i < amat_pixels; ++i) {
    file += i == 30 ? "   1.2345678e-01" : "   0.0000000e+00";
  }
  file += "   7.0000000e+00\r\n";
  for (int64_t i = 0; i < amat_pixels; ++i) {
    file += text("0.", i % 10, "000 ");
  }
  file += "3.0000 \n\n";
  const AmatImages images = parse_amat(file, "x");
  ASSERT_EQ(images.size(), 2);
  EXPECT_EQ(images.pixels[30], 0.12345678F);
  EXPECT_EQ(images.pixels[29], 0);
  EXPECT_EQ(images.pixels[amat_pixels + 9], 0.9F);
  EXPECT_EQ(images.labels, (std::vector<int64_t>{7, 3}));
}

TEST(Amat, NamesLineAndFault) {
  const AmatImages images = two_images();
  const std::string good = amat_text(images.pixels, images.labels), zeros = good.substr(0, good.find('\n'));
  const auto message = [](const std::string& file) {
    return message_of<DataError>([&] { parse_amat(file, "x.amat"); });
  };
  EXPECT_EQ(message(""), "x.amat: must hold at least one image, holds none");
  EXPECT_EQ(message(good.substr(0, 1000)),
            "x.amat: line 1: must have 785 columns, 784 pixels and the label, got 496");
  EXPECT_EQ(message(good + "0 0\n"),
            "x.amat: line 3: must have 785 columns, 784 pixels and the label, got 2");
  EXPECT_EQ(message(zeros + " 0\n"),
            "x.amat: line 1: must have 785 columns, 784 pixels and the label, got more");
  EXPECT_EQ(message("oops" + good), "x.amat: line 1: column 1 must be a number, got 'oops0'");
  EXPECT_EQ(message("1.5" + good.substr(1)), "x.amat: line 1: column 1 must be a pixel in [0, 1], got '1.5'");
  EXPECT_EQ(message("nan" + good.substr(1)), "x.amat: line 1: column 1 must be a pixel in [0, 1], got 'nan'");
  EXPECT_EQ(message(zeros.substr(0, zeros.size() - 1) + "10\n"),
            "x.amat: line 1: column 785 must be a label 0 .. 9, got '10'");
  EXPECT_EQ(message(zeros.substr(0, zeros.size() - 1) + "2.5\n"),
            "x.amat: line 1: column 785 must be a label 0 .. 9, got '2.5'");
}

Array images_of_idx() {
  Array array{ElementType::u8, {3, 2, 2}, std::vector<std::byte>(12)};
  for (size_t i = 0; i < 12; ++i) {
    array.bytes[i] = static_cast<std::byte>(20 * i);
  }
  return array;
}

TEST(Idx, HasTheBytesOfTheFormat) {
  const auto bytes = idx_bytes(images_of_idx());
  const uint8_t header[] = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2};
  ASSERT_EQ(bytes.size(), 28u);
  EXPECT_EQ(std::memcmp(bytes.data(), header, 16), 0);
  EXPECT_EQ(parse_idx(bytes, "x"), images_of_idx());
}

TEST(Idx, ReadsOtherTypesAndPackedFiles) {
  const std::vector<float> values{0, 0.5F, -3};
  Array reals{ElementType::f32, {3}, std::vector<std::byte>(12)};
  std::memcpy(reals.bytes.data(), values.data(), 12);
  const auto bytes = idx_bytes(reals);
  EXPECT_EQ(std::to_integer<int>(bytes[12]), 0x3f);  // 0.5 = 3f 00 00 00, big end first
  EXPECT_EQ(parse_idx(bytes, "x"), reals);
  EXPECT_EQ(parse_idx(gzip(bytes, "x"), "x"), reals);
}

TEST(Idx, NamesTheFault) {
  const auto good = idx_bytes(images_of_idx());
  const auto message = [](const std::vector<std::byte>& file, uint64_t limit = idx_limit) {
    return message_of<DataError>([&] { parse_idx(file, "x", limit); });
  };
  const auto with = [&](size_t place, uint8_t value) {
    auto changed = good;
    changed[place] = std::byte{value};
    return changed;
  };
  const auto cut = [](std::vector<std::byte> bytes, size_t size) {
    bytes.resize(size);
    return bytes;
  };
  EXPECT_EQ(message({}), "x: must have the 4 bytes of IDX's magic number, got 0");
  EXPECT_EQ(message(with(0, 1)), "x: must begin with the two zero bytes of IDX");
  EXPECT_EQ(message(with(2, 7)),
            "x: the type must be 8, 9, 11, 12, 13 or 14 (u8, i8, i16, i32, f32, f64), got 7");
  EXPECT_EQ(message(with(3, 0)), "x: must have 1 to 8 dimensions, got 0");
  EXPECT_EQ(message(with(3, 200)), "x: must have 1 to 8 dimensions, got 200");
  EXPECT_EQ(message(cut(good, 10)), "x: must have 16 bytes of header, got 10");
  EXPECT_EQ(message(cut(good, 27)), "x: U8 of shape [3, 2, 2] must have 12 bytes, got 11");
  EXPECT_EQ(message(with(4, 255)), "x: U8 of shape [4278190083, 2, 2] must have 17112760332 bytes, got 12");
  const auto packed = gzip(good, "x");
  EXPECT_EQ(message(cut(packed, packed.size() - 4)), "x: the gzip stream is truncated");
  EXPECT_EQ(message(packed, 20), "x: unpacks to more than its limit of 20 bytes (a gzip bomb?)");
}

}  // namespace digit_files_test
}  // namespace weyl
