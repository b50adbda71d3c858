// MetaImage and NRRD.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <vector>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/base/files_below.h"
#include "weyl/data/containers/byte_source.h"
#include "weyl/data/volumes/text_volumes.h"

namespace weyl {
namespace text_volumes_test {

using Bytes = std::vector<std::byte>;

const std::string meta =
    "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = False\n"
    "TransformMatrix = 0 1 0 -1 0 0 0 0 1\nOffset = 10 20 30\nElementSpacing = 2 3 4\nDimSize = 3 2 1\n"
    "ElementType = MET_SHORT\nElementDataFile = LOCAL\n";
const std::string nrrd =
    "NRRD0004\n# a comment\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: 3 2 1\n"
    "space directions: (0,2,0) (-3,0,0) (0,0,4)\nkinds: domain domain domain\nendian: little\nencoding: raw\n"
    "space origin: (10,20,30)\nmodality:=CT\n\n";

const std::vector<int16_t> stored{-7, 1, 2, 3, 4, 500};

Bytes bytes_of(const std::string& header, Bytes values = {}) {
  if (values.empty()) {
    const auto all = std::as_bytes(std::span(stored));
    values.assign(all.begin(), all.end());
  }
  const auto* begin = reinterpret_cast<const std::byte*>(header.data());
  Bytes file(begin, begin + header.size());
  file.insert(file.end(), values.begin(), values.end());
  return file;
}

std::string with(std::string header, const std::string& from, const std::string& to) {
  return header.replace(header.find(from), from.size(), to);
}

TEST(TextVolumes, BothFormatsSayTheSame) {
  for (const std::string& header : {meta, nrrd, with(nrrd, "left-posterior-superior", "LPS")}) {
    const Nifti volume = parse_text_volume(bytes_of(header), "x");
    EXPECT_EQ(volume.header.shape, (std::vector<int64_t>{3, 2, 1}));
    EXPECT_EQ(values_of(volume), (std::vector<float>{-7, 1, 2, 3, 4, 500}));
    EXPECT_EQ(spacing_of(volume.header), (std::array<double, 3>{2, 3, 4}));
    // By ITK the first axis runs to the back, by 2 mm; ours count to the front. The second runs to the right.
    EXPECT_EQ(affine_of(volume.header), (NiftiAffine{0, 3, 0, -10, -2, 0, 0, -20, 0, 0, 4, 30}));
    EXPECT_EQ(axis_codes(affine_of(volume.header)), "PRS");
  }
  const Nifti right =
      parse_text_volume(bytes_of(with(nrrd, "left-posterior-superior", "right-anterior-superior")), "x");
  EXPECT_EQ(affine_of(right.header), (NiftiAffine{0, -3, 0, 10, 2, 0, 0, 20, 0, 0, 4, 30}));
}

TEST(TextVolumes, LengthsBecomeMillimetres) {
  const auto with_line = [](const std::string& line) { return with(nrrd, "kinds:", line + "\nkinds:"); };
  const auto affine = [](const std::string& header) {
    return affine_of(parse_text_volume(bytes_of(header), "x").header);
  };
  for (const auto& [header, factor] : {std::pair{with_line(R"(space units: "m" "m" "m")"), 1e3},
                                       {with_line(R"(space units: "mm" "mm" "mm")"), 1},
                                       {with_line(R"(space units: "" "" "")"), 1},
                                       {with_line("space units: \"\u00b5m\" \"\u00b5m\" \"\u00b5m\""), 1e-3},
                                       {with(meta, "Offset", "DistanceUnits = um\nOffset"), 1e-3}}) {
    NiftiAffine wanted = affine(nrrd);
    for (double& x : wanted) {
      x *= factor;
    }
    EXPECT_EQ(affine(header), wanted) << factor;
    EXPECT_NEAR(spacing_of(parse_text_volume(bytes_of(header), "x").header)[2], 4 * factor, 1e-12);
  }
  const auto refusal = [&](const std::string& header) {
    return message_of<DataError>([&] { affine(header); });
  };
  EXPECT_EQ(refusal(with_line(R"(space units: "inch" "inch" "inch")")),
            "x: 'space units' must be mm, um, cm or m, got 'inch'");
  EXPECT_EQ(refusal(with_line(R"(space units: "mm" "m" "mm")")),
            "x: 'space units' must be one for all axes, got 'mm' and 'm'");
  EXPECT_EQ(refusal(with_line("space units: mm mm mm")),
            "x: 'space units' must be units in quotes, got 'mm mm mm'");
}

TEST(TextVolumes, NrrdMayBeWrittenInAnyLetters) {
  std::string header = nrrd;
  for (const auto& [from, to] : {std::pair{"type: short", "Type: Short"},
                                 {"left-posterior-superior", "Left-Posterior-Superior"},
                                 {"endian: little", "endian: LITTLE"},
                                 {"encoding: raw", "ENCODING: Raw"}}) {
    header = with(header, from, to);
  }
  const Nifti volume = parse_text_volume(bytes_of(header), "x");
  EXPECT_EQ(values_of(volume)[5], 500);
  EXPECT_EQ(axis_codes(affine_of(volume.header)), "PRS");
}

TEST(TextVolumes, DeflatedAndBigEndianValuesAreRead) {
  const Bytes all = bytes_of("");
  const Bytes zipped = gzip(all, "x");
  EXPECT_EQ(values_of(parse_text_volume(bytes_of(with(nrrd, "raw", "gzip"), zipped), "x"))[5], 500);
  // A zlib stream: the deflated bytes between other header and end; stored as one block.
  Bytes zlib{std::byte{0x78}, std::byte{0x01}, std::byte{0x01}, std::byte{12},
             std::byte{0},    std::byte{243},  std::byte{255}};
  zlib.insert(zlib.end(), all.begin(), all.end());
  uint32_t a = 1, b = 0;  // Adler-32
  for (const std::byte x : all) {
    a = (a + static_cast<uint32_t>(x)) % 65521;
    b = (b + a) % 65521;
  }
  for (const uint32_t part : {b >> 8U, b & 255U, a >> 8U, a & 255U}) {
    zlib.push_back(static_cast<std::byte>(part));
  }
  const std::string deflated = with(meta, "CompressedData = False", "CompressedData = True");
  EXPECT_EQ(values_of(parse_text_volume(bytes_of(deflated, zlib), "x"))[0], -7);
  zlib.resize(zlib.size() - 6);
  EXPECT_NE(message_of<DataError>([&] { parse_text_volume(bytes_of(deflated, zlib), "x"); }), "");
  Bytes turned = all;
  for (size_t i = 0; i < turned.size(); i += 2) {
    std::swap(turned[i], turned[i + 1]);
  }
  EXPECT_EQ(values_of(parse_text_volume(bytes_of(with(nrrd, "little", "big"), turned), "x"))[5], 500);
  EXPECT_EQ(values_of(parse_text_volume(bytes_of(with(meta, "MSB = False", "MSB = True"), turned), "x"))[5],
            500);
}

TEST(TextVolumes, WhatIsBrokenIsRefusedInOneLine) {
  const auto refusal = [](const std::string& header, Bytes values = {}) {
    return message_of<DataError>([&] { parse_text_volume(bytes_of(header, std::move(values)), "f"); });
  };
  EXPECT_EQ(refusal("nothing\n"), "f: is neither MetaImage nor NRRD, by its first line");
  EXPECT_EQ(refusal("NRRD0004\ntype: short\n"), "f: its header must end within 65536 bytes");
  EXPECT_EQ(refusal(with(meta, "DimSize = 3 2 1\n", "")), "f: its header must have 'DimSize'");
  EXPECT_EQ(refusal(with(meta, "DimSize = 3 2 1", "DimSize = 3 2 0")),
            "f: 'DimSize' must be three whole numbers from 1 on, got 0");
  EXPECT_EQ(refusal(with(meta, "DimSize = 3 2 1", "DimSize = 3 2")),
            "f: 'DimSize' must be 3 numbers, got '3 2'");
  EXPECT_EQ(refusal(with(nrrd, "sizes: 3 2 1", "sizes: 3 2 x")), "f: 'sizes' must be 3 numbers, got '3 2 x'");
  EXPECT_EQ(refusal(with(meta, "NDims = 3", "NDims = 4")),
            "f: must have three axes and one number a voxel; a case's channels are a file each");
  EXPECT_EQ(refusal(with(meta, "LOCAL", "a.raw")),
            "f: its values must be in the same file, got ElementDataFile = 'a.raw'; save it as .mha");
  EXPECT_EQ(refusal(with(nrrd, "encoding: raw", "encoding: txt")),
            "f: encoding must be raw or gzip, got 'txt'");
  EXPECT_EQ(refusal(with(nrrd, "endian: little\n", "")), "f: endian must be little or big, got ''");
  EXPECT_EQ(refusal(with(nrrd, "kinds", "data file")),
            "f: its values must follow the header in the same file, got 'data file'");
  EXPECT_EQ(refusal(with(nrrd, "(0,2,0)", "none")),
            "f: 'space directions' must be 9 numbers, got 'none  -3 0 0   0 0 4'");
  EXPECT_EQ(refusal(with(nrrd, "(0,2,0)", "(0,0,4)")),
            "f: its affine (sform) must be invertible, got determinant -0");
  EXPECT_EQ(refusal(with(nrrd, "dimension: 3", "dimension: 3\ndimension: 3")),
            "f: its header must have 'dimension' once");
  EXPECT_EQ(refusal(meta, Bytes(11)), "f: sizes [3, 2, 1] of type I16 need 12 bytes, the file has 11");
  EXPECT_EQ(refusal(with(meta, "3 2 1", "30000 30000 30000")),
            "f: sizes [30000, 30000, 30000] of type I16 need 54000000000000 bytes, the file has 12");
  // Each beginning of a file, and each of its bytes turned, is refused or read, and no more.
  for (const std::string& header : {meta, nrrd}) {
    const Bytes whole = bytes_of(header);
    for (size_t n = 0; n < whole.size(); ++n) {
      message_of<DataError>([&] { parse_text_volume(std::span(whole).first(n), "f"); });
      Bytes turned = whole;
      turned[n] ^= std::byte{0x15};
      message_of<DataError>([&] { parse_text_volume(turned, "f"); });
    }
  }
}

TEST(TextVolumes, AreKnownByTheirEndings) {
  const Folder folder;
  const Bytes file = bytes_of(meta);
  std::ofstream(folder / "a.mha", std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  EXPECT_EQ(values_of(read_volume(folder / "a.mha")), (std::vector<float>{-7, 1, 2, 3, 4, 500}));
  EXPECT_EQ(read_volume_header(folder / "a.mha").type, ElementType::i16);
  EXPECT_TRUE(is_volume_file("x.nii.gz") && is_volume_file("x.nrrd") && !is_volume_file("x.mhd"));
  EXPECT_EQ(stem_of("a/b.c.nii.gz"), "b.c");
  EXPECT_EQ(stem_of("b.mha"), "b");
}

}  // namespace text_volumes_test
}  // namespace weyl
