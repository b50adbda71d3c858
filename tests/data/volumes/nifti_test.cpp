#include "weyl/data/volumes/nifti.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {
namespace nifti_test {

NiftiHeader header_of(std::vector<int64_t> shape, ElementType type, int version = 1) {
  NiftiHeader header{.version = version, .type = type, .shape = std::move(shape)};
  header.geometry.sform_code = 1;
  header.geometry.srow = {-1.5, 0.1F, 0, 90.25, 0, 0.2F, 2, -126, 0.3F, -1.1F, 0, -72};
  header.geometry.quatern = {0.1F, 0.2F, 0.3F};
  header.geometry.qoffset = {7.5, -3.25, 1e-3F};
  header.geometry.pixdim = {-1, 1.5, 1.1F, 2, 1, 0, 0, 0};
  header.geometry.qform_code = 2;
  return header;
}

std::vector<std::byte> ramp(const NiftiHeader& header) {
  int64_t count = 1;
  for (const int64_t n : header.shape) {
    count *= n;
  }
  std::vector<std::byte> bytes(count * size_of(header.type));
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 % 120);
  }
  return bytes;
}

TEST(Nifti, KeepsHeaderAndValuesToTheBit) {
  for (const int version : {1, 2}) {
    for (const auto type :
         {ElementType::u8, ElementType::i8, ElementType::u16, ElementType::i16, ElementType::u32,
          ElementType::i32, ElementType::u64, ElementType::i64, ElementType::f32, ElementType::f64}) {
      const NiftiHeader header = header_of({4, 3, 2, 5}, type, version);
      const auto values = ramp(header);
      const Nifti read = parse_nifti(nifti_bytes(header, values), "x");
      EXPECT_EQ(read.header.version, version);
      EXPECT_EQ(read.header.type, type);
      EXPECT_EQ(read.header.shape, header.shape);
      EXPECT_EQ(read.header.geometry, header.geometry);
      EXPECT_EQ(read.bytes, values);
      // What was read is written again as it was.
      EXPECT_EQ(nifti_bytes(read.header, read.bytes), nifti_bytes(header, values));
    }
  }
}

// Slices: the axis that is not there has no length in some files, whatever says where the others are.
TEST(Nifti, SlicesMayHaveNoThirdLength) {
  for (const char* by : {"pixdim", "qform", "sform"}) {
    NiftiHeader header{.type = ElementType::u8, .shape = {5, 4, 1}};
    header.geometry.pixdim = {1, 2, 3, 0, 0, 0, 0, 0};
    header.geometry.qform_code = std::string(by) == "qform" ? 1 : 0;
    header.geometry.quatern = {0, 0, 1};  // half a turn about z: left, posterior
    if (std::string(by) == "sform") {
      header.geometry.sform_code = 1;
      header.geometry.srow = {0, 0, 0, 7, 0, 3, 0, 8, -2, 0, 0, 9};  // a sagittal slice
    }
    const Nifti read = parse_nifti(nifti_bytes(header, ramp(header)), by);
    EXPECT_EQ(spacing_of(read.header), (std::array<double, 3>{2, 3, 1})) << by;
    const std::string axes = axis_codes(affine_of(read.header));
    EXPECT_EQ(axes, std::string(by) == "sform" ? "IAR" : std::string(by) == "qform" ? "LPS" : "RAS") << by;
    // Of two voxels the length must be there.
    header.shape = {5, 4, 2};
    EXPECT_NE(message_of<DataError>([&] {
                parse_nifti(nifti_bytes(header, ramp(header)), by);
              }).find("must be invertible"),
              std::string::npos)
        << by;
  }
}

TEST(Nifti, ReadsGzipAsItReadsThePlainFile) {
  const Folder folder;
  const NiftiHeader header = header_of({17, 9, 11}, ElementType::i16);
  const auto values = ramp(header);
  write_nifti(folder / "a.nii", header, values);
  write_nifti(folder / "a.nii.gz", header, values);
  EXPECT_EQ(read_nifti(folder / "a.nii").bytes, values);
  EXPECT_EQ(read_nifti(folder / "a.nii.gz").bytes, values);
  EXPECT_EQ(read_nifti_header(folder / "a.nii.gz").geometry, read_nifti(folder / "a.nii").header.geometry);
  const MappedFile zipped(folder / "a.nii.gz");
  EXPECT_TRUE(is_gzip(zipped.bytes()));
  // In two members, one after the other, as some tools write them.
  const MappedFile plain(folder / "a.nii");
  auto both = gzip(plain.bytes().first(500), "x");
  const auto second = gzip(plain.bytes().subspan(500), "x");
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(parse_nifti(both, "x").bytes, values);
}

TEST(Nifti, ReadsTheOtherByteOrder) {
  const NiftiHeader header = header_of({2, 2, 2}, ElementType::u16);
  auto file = nifti_bytes(header, ramp(header));
  const auto swap = [&](size_t at, size_t size) {
    std::reverse(file.begin() + static_cast<int64_t>(at), file.begin() + static_cast<int64_t>(at + size));
  };
  swap(0, 4);
  for (size_t d = 0; d < 8; ++d) swap(40 + 2 * d, 2);
  for (const size_t at : {70, 72, 252, 254}) swap(at, 2);
  for (size_t d = 0; d < 8; ++d) swap(76 + 4 * d, 4);
  for (const size_t at : {108, 112, 116}) swap(at, 4);
  for (size_t at = 256; at < 328; at += 4) swap(at, 4);
  for (size_t i = 0; i < 8; ++i) swap(352 + 2 * i, 2);
  const Nifti read = parse_nifti(file, "x");
  const Nifti native = parse_nifti(nifti_bytes(header, ramp(header)), "x");
  EXPECT_EQ(read.header.geometry, native.header.geometry);
  EXPECT_EQ(read.bytes, native.bytes);
}

TEST(Nifti, ScalesUnlessTheSlopeIsZero) {
  NiftiHeader header = header_of({2, 1, 1}, ElementType::i16);
  const int16_t stored[] = {-3, 1000};
  header.slope = 0.5;
  header.intercept = 10;
  const auto bytes = std::as_bytes(std::span(stored));
  EXPECT_EQ(values_of(parse_nifti(nifti_bytes(header, bytes), "x")), (std::vector<float>{8.5, 510}));
  header.slope = 0;  // none, whatever the intercept
  EXPECT_EQ(values_of(parse_nifti(nifti_bytes(header, bytes), "x")), (std::vector<float>{-3, 1000}));
  header.slope = NAN;
  EXPECT_EQ(values_of(parse_nifti(nifti_bytes(header, bytes), "x")), (std::vector<float>{-3, 1000}));
}

TEST(Nifti, FollowsTheStandardsChoiceOfAffine) {
  NiftiHeader header = header_of({2, 2, 2}, ElementType::u8);
  EXPECT_EQ(affine_of(header), header.geometry.srow);
  header.geometry.sform_code = 0;
  // The rotation of a unit quaternion (a, 0.1, 0.2, 0.3) times voxel sizes, the third backwards (qfac -1).
  const double a = std::sqrt(1 - 0.14), b = 0.1, c = 0.2, d = 0.3;
  const NiftiAffine q = affine_of(header);
  EXPECT_NEAR(q[0], 1.5 * (1 - 2 * (c * c + d * d)), 1e-7);
  EXPECT_NEAR(q[4], 1.5 * 2 * (b * c + a * d), 1e-7);
  EXPECT_NEAR(q[10], -2 * (1 - 2 * (b * b + c * c)), 1e-7);
  EXPECT_EQ(q[3], 7.5);
  header.geometry.qform_code = 0;
  EXPECT_EQ(affine_of(header)[0], 1.5);
  EXPECT_EQ(affine_of(header)[10], 2);
  EXPECT_EQ(affine_of(header)[3], 0);
  EXPECT_EQ(spacing_of(header)[0], 1.5);
  header.geometry.xyzt_units = 3;
  EXPECT_NEAR(spacing_of(header)[0], 1.5e-3, 1e-15);
}

TEST(Nifti, ReadsHalfTurnsWhoseQuaternionsAreRoundedUp) {
  NiftiHeader header = header_of({2, 2, 2}, ElementType::u8);
  header.geometry.sform_code = 0;
  header.geometry.pixdim[0] = 1;
  // About (0.6, 0.8, 0), a little too long: 1 - b^2 - c^2 - d^2 is negative.
  header.geometry.quatern = {0.6 * (1 + 1e-6), 0.8 * (1 + 1e-6), 0};
  const NiftiAffine q = affine_of(header);
  const double wanted[3][3] = {{0.36 - 0.64, 0.96, 0}, {0.96, 0.64 - 0.36, 0}, {0, 0, -1}};
  for (size_t row = 0; row < 3; ++row) {
    for (size_t axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(q[4 * row + axis], wanted[row][axis] * header.geometry.pixdim[axis + 1], 1e-9);
    }
  }
}

TEST(Nifti, RefusesMoreValuesThanItsLimit) {
  const Folder folder;
  const NiftiHeader header = header_of({8, 8, 8}, ElementType::i16);
  for (const char* name : {"a.nii", "a.nii.gz"}) {
    const std::string path = folder / name;
    write_nifti(path, header, ramp(header));
    EXPECT_EQ(message_of<DataError>([&] { read_nifti(path, 1023); }),
              path + ": sizes [8, 8, 8] of type I16 need 1024 bytes, more than the limit of 1023");
    EXPECT_EQ(read_nifti(path, 1024).bytes, ramp(header));
    EXPECT_EQ(read_nifti_header(path).voxels(), 512);
  }
}

TEST(Nifti, ReadsMoreThanOneBlockOfGzip) {
  const Folder folder;
  const NiftiHeader header = header_of({101, 103, 107}, ElementType::i16);
  const auto values = ramp(header);
  write_nifti(folder / "a.nii.gz", header, values);
  EXPECT_TRUE(read_nifti(folder / "a.nii.gz").bytes == values);
}

TEST(Nifti, FindsTheAxesNearestToRightAnteriorSuperior) {
  EXPECT_EQ(orientation_of({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}), NiftiOrientation{});
  const NiftiOrientation lps{{0, 1, 2}, {true, true, false}};
  EXPECT_EQ(orientation_of({-1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 2, 0}), lps);
  // i runs up, j to the left, k to the front, all a little oblique
  const NiftiOrientation turned{{1, 2, 0}, {true, false, false}};
  EXPECT_EQ(orientation_of({0.1, -2, 0.2, 0, 0.1, 0.1, 3, 0, 0.9, 0.1, 0, 0}), turned);
  // Oblique ones, by nibabel's aff2axcodes (tools/goldens/peer_files.py, form nibabel_plain, seed 102, and nibabel_more, 300)
  EXPECT_EQ(axis_codes(
                {-0.54166, -1.08281, 0.32588, 0, 0.41169, -0.39075, 1.47593, 0, -0.4443, 0.95803, 0.9703, 0}),
            "ILA");
  EXPECT_EQ(axis_codes({-0.36355, 0.23677, -0.77978, 0, 0.50638, 1.30152, -0.21041, 0, 0.47023, -1.21853,
                        -0.37627, 0}),
            "SAL");
}

TEST(Nifti, ReadsClassesAndRefusesOthers) {
  NiftiHeader header = header_of({2, 2, 1}, ElementType::f32);
  const float good[] = {0, 3, 1, 2};
  EXPECT_EQ(classes_of(parse_nifti(nifti_bytes(header, std::as_bytes(std::span(good))), "x"),
                       counted_numbers(4), "x"),
            (std::vector<uint8_t>{0, 3, 1, 2}));
  for (const float wrong : {4.0F, -1.0F, 0.5F, NAN, INFINITY}) {
    const float bad[] = {0, 0, wrong, 0};
    const auto image = parse_nifti(nifti_bytes(header, std::as_bytes(std::span(bad))), "x");
    const auto message = message_of<DataError>([&] { classes_of(image, counted_numbers(4), "m.nii"); });
    EXPECT_EQ(message,
              text("m.nii: labels must be whole numbers 0 .. 3, got ", wrong, " at voxel (0, 1, 0)"));
  }
}

/// A sound file with some bytes replaced.
std::vector<std::byte> spoiled(size_t at, std::vector<uint8_t> bytes, int version = 1) {
  const NiftiHeader header = header_of({4, 3, 2}, ElementType::i16, version);
  auto file = nifti_bytes(header, ramp(header));
  std::ranges::transform(bytes, file.begin() + static_cast<std::ptrdiff_t>(at),
                         [](uint8_t b) { return std::byte{b}; });
  return file;
}

std::string refusal(std::span<const std::byte> file) {
  return message_of<DataError>([&] { parse_nifti(file, "x.nii"); });
}

TEST(Nifti, RefusesBrokenFilesInOneLine) {
  const auto whole = spoiled(0, {});
  EXPECT_EQ(refusal(whole), "");
  EXPECT_EQ(refusal({}),
            "x.nii: is no NIfTI: it must begin with the header size 348 or 540, got the end of the file");
  EXPECT_EQ(refusal(spoiled(0, {77, 1, 0, 0})),
            "x.nii: is no NIfTI: it must begin with the header size 348 or 540, got 333");
  EXPECT_EQ(refusal(std::span(whole).first(200)), "x.nii: the header must have 348 bytes, got 200");
  EXPECT_EQ(refusal(std::span(whole).first(390)),
            "x.nii: sizes [4, 3, 2] of type I16 need 48 bytes from byte 352, the file has 390");
  EXPECT_EQ(refusal(spoiled(344, {'n', 'i', '1', 0})),
            "x.nii: is one half of a .hdr and .img pair; join them into one .nii file");
  EXPECT_EQ(refusal(spoiled(344, {0, 0, 0, 0})),
            R"(x.nii: is no NIfTI: its magic must be n+1, got '\x00\x00\x00\x00')");
  EXPECT_EQ(refusal(spoiled(40, {8, 0})), "x.nii: the number of axes must be 1 .. 7, got 8");
  EXPECT_EQ(refusal(spoiled(40, {0, 0})), "x.nii: the number of axes must be 1 .. 7, got 0");
  EXPECT_EQ(refusal(spoiled(44, {0, 0})), "x.nii: the size of axis 2 must be positive, got 0");
  EXPECT_EQ(refusal(spoiled(44, {255, 255})), "x.nii: the size of axis 2 must be positive, got -1");
  EXPECT_EQ(
      refusal(spoiled(70, {128, 0})),
      "x.nii: its values must be whole or real numbers (u8 .. u64, i8 .. i64, f32, f64), got datatype 128");
  EXPECT_EQ(refusal(spoiled(72, {8, 0})), "x.nii: bitpix must be 16 for values of type I16, got 8");
  EXPECT_EQ(refusal(spoiled(108, {0, 0, 0, 0})),
            "x.nii: its values must begin after the header, at byte 348 or later, got vox_offset 0");
  EXPECT_EQ(refusal(spoiled(108, {0, 0, 192, 127})),
            "x.nii: its values must begin after the header, at byte 348 or later, got vox_offset nan");
  EXPECT_EQ(refusal(spoiled(280, std::vector<uint8_t>(48, 0))),
            "x.nii: its affine (sform) must be invertible, got determinant 0");
  EXPECT_NE(refusal(spoiled(280, {0, 0, 192, 127})).find("its affine (sform) must be invertible"),
            std::string::npos);
  // sizes of 2^63 voxels and of 2^40, in version 2, take no memory
  EXPECT_EQ(refusal(spoiled(24, {255, 255, 255, 255, 255, 255, 255, 127}, 2)),
            "x.nii: sizes [9223372036854775807, 3, 2] are beyond any memory");
  EXPECT_EQ(refusal(spoiled(24, {0, 0, 0, 0, 0, 1, 0, 0}, 2)),
            "x.nii: sizes [1099511627776, 3, 2] of type I16 need 13194139533312 bytes from byte 544, the "
            "file has 592");
}

TEST(Nifti, RefusesTruncatedAndCorruptGzip) {
  const NiftiHeader header = header_of({20, 30, 10}, ElementType::f32);
  const auto file = gzip(nifti_bytes(header, ramp(header)), "x");
  EXPECT_EQ(refusal(file), "");
  for (size_t size = 2; size < file.size(); size += 13) {
    const auto message = refusal(std::span(file).first(size));
    EXPECT_TRUE(message.starts_with("x.nii: ")) << size << " of " << file.size() << ": " << message;
  }
  EXPECT_EQ(refusal(std::span(file).first(file.size() - 3)), "x.nii: the gzip stream is truncated");
  auto wrong = file;
  wrong[file.size() - 6] ^= std::byte{1};  // the checksum
  EXPECT_EQ(refusal(wrong), "x.nii: the gzip stream is corrupt (incorrect data check)");
  // fewer values than the header says, in a sound stream
  const auto plain = nifti_bytes(header, ramp(header));
  EXPECT_EQ(
      refusal(gzip(std::span(plain).first(plain.size() - 100), "x")),
      text("x.nii: sizes [20, 30, 10] of type F32 need 24000 bytes from byte 352, the file has at most ",
           plain.size() - 100));
}

TEST(Nifti, WriterRefusesWhatItCannotHold) {
  NiftiHeader header = header_of({40000, 1, 1}, ElementType::u8);
  EXPECT_THROW(nifti_bytes(header, std::vector<std::byte>(40000)), ShapeError);
  header.version = 2;
  EXPECT_NO_THROW(nifti_bytes(header, std::vector<std::byte>(40000)));
  EXPECT_THROW(nifti_bytes(header, std::vector<std::byte>(4)), ShapeError);
  header.type = ElementType::bf16;
  EXPECT_THROW(nifti_bytes(header, std::vector<std::byte>(80000)), ShapeError);
}

}  // namespace nifti_test
}  // namespace weyl
