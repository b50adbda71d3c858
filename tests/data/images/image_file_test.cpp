#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/data/images/digit_files.h"
#include "weyl/data/images/image.h"

namespace weyl {
namespace image_file_test {

const std::string kImages = WEYL_SOURCE_DIR "/tests/fixtures/images/";

/// As tools/goldens/image_files.py has it.
int value(int64_t i, int64_t j, int64_t channel, int depth) {
  return static_cast<int>((29 * i + 53 * j + 97 * channel + i * j) * 257 % (int64_t{1} << depth));
}

int sample(const Array& image, int64_t i, int64_t j, int64_t channel) {
  const int64_t k = (i * image.shape[1] + j) * image.shape[2] + channel;
  if (image.type == ElementType::u16) {
    uint16_t x = 0;
    std::memcpy(&x, &image.bytes[2 * k], 2);
    return x;
  }
  return std::to_integer<int>(image.bytes[k]);
}

TEST(ImageFile, ReadsEveryKindOfPng) {
  struct Kind {
    const char* name;
    int channels, depth;
  };
  for (const Kind& kind : {Kind{"grey_1", 1, 1},
                           {"grey_4", 1, 4},
                           {"grey_8", 1, 8},
                           {"grey_16", 1, 16},
                           {"rgb_8", 3, 8},
                           {"rgb_16", 3, 16},
                           {"grey_alpha_8", 2, 8},
                           {"rgba_8", 4, 8},
                           {"interlaced_8", 3, 8},
                           {"interlaced_1", 1, 1}}) {
    const Array image = read_image(kImages + kind.name + ".png");
    ASSERT_EQ(image.shape, (std::vector<int64_t>{5, 7, kind.channels})) << kind.name;
    EXPECT_EQ(image.type, kind.depth == 16 ? ElementType::u16 : ElementType::u8);
    const int scale = kind.depth >= 8 ? 1 : 255 / ((1 << kind.depth) - 1);  // fewer bits fill the range
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 7; ++j) {
        for (int64_t c = 0; c < kind.channels; ++c) {
          ASSERT_EQ(sample(image, i, j, c), scale * value(i, j, c, kind.depth))
              << kind.name << " " << i << " " << j;
        }
      }
    }
  }
  const Array palette = read_image(kImages + "palette_4.png");
  ASSERT_EQ(palette.shape, (std::vector<int64_t>{5, 7, 3}));
  const int k = value(2, 3, 0, 4);
  EXPECT_EQ(sample(palette, 2, 3, 0), k);
  EXPECT_EQ(sample(palette, 2, 3, 1), 255 - k);
  EXPECT_EQ(sample(palette, 2, 3, 2), 3 * k);
}

TEST(ImageFile, ReadsJpeg) {
  const Array colours = read_image(kImages + "colours.jpg");
  ASSERT_EQ(colours.shape, (std::vector<int64_t>{16, 24, 3}));
  for (int64_t i = 0; i < 16; ++i) {
    for (int64_t j = 0; j < 24; ++j) {
      EXPECT_NEAR(sample(colours, i, j, 0), 10 * j, 12);
      EXPECT_NEAR(sample(colours, i, j, 1), 15 * i, 12);
    }
  }
}

Array gradient(int64_t h, int64_t w, int64_t c, ElementType type) {
  Array image{type, {h, w, c}, {}};
  for (int64_t k = 0; k < h * w * c; ++k) {
    const auto x = static_cast<uint16_t>(type == ElementType::u16 ? 977 * k : 37 * k % 256);
    image.bytes.push_back(static_cast<std::byte>(x & 0xff));
    if (type == ElementType::u16) {
      image.bytes.push_back(static_cast<std::byte>(x >> 8));
    }
  }
  return image;
}

// Headers that say something odd, and colours that are sampled oddly, are no damage.
TEST(ImageFile, ReadsJpegsOfOddHeaders) {
  const Array noise = read_image(kImages + "noise.jpg");
  EXPECT_EQ(noise.shape, (std::vector<int64_t>{48, 64, 3}));
  EXPECT_EQ(read_image(kImages + "noise_scan.jpg"), noise);
  EXPECT_EQ(read_image(kImages + "noise_jfif2.jpg"), noise);
  for (const char* name : {"sampled_4x2.jpg", "sampled_3x1.jpg"}) {
    EXPECT_EQ(read_image(kImages + name).shape[2], 3) << name;
  }
}

TEST(ImageFile, WhatIsWrittenReadsBack) {
  const Folder folder;
  for (const int64_t c : {1, 2, 3, 4}) {
    for (const auto type : {ElementType::u8, ElementType::u16}) {
      for (const int64_t w : {1, 4, 5}) {
        const Array image = gradient(3, w, c, type);
        EXPECT_EQ(parse_image(png_bytes(image), "x"), image) << c << " " << w;
      }
    }
  }
  for (const int64_t w : {1, 2, 3, 4}) {
    const Array rgb = gradient(3, w, 3, ElementType::u8);
    EXPECT_EQ(parse_image(bmp_bytes(rgb), "x"), rgb);
    const Array grey = gradient(2, w, 1, ElementType::u8), read = parse_image(bmp_bytes(grey), "x");
    ASSERT_EQ(read.shape, (std::vector<int64_t>{2, w, 3}));  // a palette is looked up
    for (int64_t k = 0; k < 2 * w * 3; ++k) {
      EXPECT_EQ(read.bytes[k], grey.bytes[k / 3]);
    }
  }
  write_image(folder / "x.PNG", gradient(3, 3, 1, ElementType::u8));
  EXPECT_EQ(read_image(folder / "x.PNG"), gradient(3, 3, 1, ElementType::u8));
  EXPECT_THROW(write_image(folder / "x.jpg", gradient(3, 3, 1, ElementType::u8)), ConfigError);
  EXPECT_THROW(bmp_bytes(gradient(3, 3, 2, ElementType::u8)), ShapeError);
  EXPECT_THROW(bmp_bytes(gradient(3, 3, 3, ElementType::u16)), ShapeError);
  EXPECT_THROW(png_bytes(gradient(0, 3, 3, ElementType::u8)), ShapeError);
  EXPECT_THROW(png_bytes({ElementType::u8, {2, 2, 1}, std::vector<std::byte>(3)}), ShapeError);
}

TEST(ImageFile, EveryCutOfAFileIsRefusedOrWhole) {
  // No prefix of a file may be taken for an image with made-up pixels.
  for (const char* name : {"rgb_8.png", "interlaced_1.png", "colours.jpg", "grey.jpg"}) {
    const MappedFile file(kImages + name);
    for (size_t size = 0; size < file.bytes().size(); ++size) {
      EXPECT_THROW(parse_image(file.bytes().subspan(0, size), "x"), DataError) << name << " " << size;
    }
    EXPECT_NO_THROW(parse_image(file.bytes(), "x"));
  }
  const auto bmp = bmp_bytes(gradient(3, 5, 3, ElementType::u8));
  for (size_t size = 0; size < bmp.size(); ++size) {
    EXPECT_THROW(parse_image(std::span(bmp).subspan(0, size), "x"), DataError) << size;
  }
}

TEST(ImageFile, KnowsTheEndings) {
  for (const char* name : {"a.png", "a.PNG", "b.Jpg", "c.jpeg", "d.bmp"}) {
    EXPECT_TRUE(is_image_file(name));
  }
  for (const char* name : {"a.pngx", "png", "b.gif", ""}) {
    EXPECT_FALSE(is_image_file(name));
  }
}

TEST(Cifar10, ReadsLabelAndPlanes) {
  std::vector<std::byte> file(2 * 3073);
  file[3073] = std::byte{9};
  file[3073 + 1 + 2 * 1024 + 5 * 32 + 7] = std::byte{200};  // blue, row 5, column 7
  const CifarImages images = parse_cifar10(file, "x");
  EXPECT_EQ(images.labels, (std::vector<int64_t>{0, 9}));
  EXPECT_EQ(images.pixels[3072 + 2 * 1024 + 5 * 32 + 7], 200);
}

}  // namespace image_file_test
}  // namespace weyl
