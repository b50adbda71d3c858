// Every file of tests/fixtures/broken (tools/goldens/broken_files.py) is refused with one line that names it
// and its fault. A file without an entry here fails the test, and so does an entry without a file.
#include <gtest/gtest.h>

#include "tests/data/refusals.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/containers/pytorch_zip.h"
#include "weyl/data/containers/weights.h"
#include "weyl/data/images/digit_files.h"
#include "weyl/data/images/image.h"
#include "weyl/data/poses/pose_file.h"

namespace weyl {
namespace broken_files_test {

TEST(BrokenFiles, Safetensors) {
  const Table faults = {
      {"empty", "8 bytes of header length, got 0"},
      {"seven_bytes", "8 bytes of header length, got 7"},
      {"truncated_header", "header length 5000 exceeds the file"},
      {"huge_header_length", "header length must be at most 100000000, got 9223372036854775808"},
      {"truncated_data", "within 10 bytes of data, got [0, 16]"},
      {"trailing_data", "5 bytes after the last tensor"},
      {"overlap", "tensor 'b' must begin at 8, where the one before ends, got 4 (they overlap)"},
      {"hole", "tensor 'b' must begin at 4, where the one before ends, got 8 (a hole)"},
      {"end_before_begin", "must lie in order within 4 bytes of data, got [4, 0]"},
      {"wrong_size", "F32 of shape [1] must have 4 bytes, data_offsets give 8"},
      {"unknown_dtype", "got 'F8_E5M2'"},
      {"negative_shape", "shape must be of integers that are not negative, got the negative number -1"},
      {"float_shape", "shape must be of integers that are not negative, got the number 1.0"},
      {"overflowing_shape", "shape [8589934592, 8589934592] overflows"},
      {"hidden_overflow", "shape [0, 8589934592, 8589934592] overflows"},
      {"too_many_dimensions", "at most 64 dimensions"},
      {"duplicate_name", "the header has 'a' twice"},
      {"duplicate_key", "has dtype twice"},
      {"metadata_number", "metadata 'epoch' must be a string, got the number 3"},
      {"not_json", "the header must be JSON: parse error at line 1, column 8"},
      {"not_utf8", "the header must be JSON"},
      {"array_header", "must begin with '{'"},
      {"deep_nesting", "got an array"},
      {"missing_offsets", "must have dtype, shape and data_offsets, no data_offsets"},
      {"hostile_name", "tensor 'a\\x0ab\\x1b[31m'"},
  };
  expect_refusals("safetensors", faults, [](const std::string& path) { SafetensorsFile file(path); });
  expect_refusals("safetensors", faults, [](const std::string& path) { read_weights(path); });
}

TEST(BrokenFiles, Npy) {
  expect_refusals("npy",
                  {
                      {"empty", "must begin with"},
                      {"not_numpy", "must begin with"},
                      {"truncated_header", "header length 600 exceeds the file"},
                      {"huge_header", "header length must be at most 65536, got 4294967295"},
                      {"future_version", "version must be 1.0, 2.0 or 3.0, got 9.0"},
                      {"truncated_data", "F64 of shape [2] must have 16 bytes, got 15"},
                      {"trailing_data", "must have 16 bytes, got 17"},
                      {"object_array", "pickled Python and are refused"},
                      {"structured", "structured types are not supported"},
                      {"complex", "got '<c16'"},
                      {"unicode_text", "got '<U2'"},
                      {"negative_shape", "not negative, got '-2"},
                      {"overflowing_shape", "overflows"},
                      {"no_shape", "must have descr, fortran_order and shape"},
                      {"code_in_header", "must have a string here, got '__import__"},
                  },
                  [](const std::string& path) { read_npy(path); });
}

TEST(BrokenFiles, Npz) {
  constexpr uint64_t limit = 1 << 20;
  expect_refusals("npz",
                  {
                      {"empty", "is empty, not a zip archive"},
                      {"not_a_zip", "cannot read the archive: Not a zip archive"},
                      {"truncated", "cannot read the archive"},
                      {"damaged_data", "entry 'x.npy' is broken: CRC error"},
                      {"no_npy_inside", "entry 'readme.txt' must be an .npy file"},
                      {"broken_member", "entry 'x.npy': F64 of shape [2] must have 16 bytes, got 0"},
                      {"object_member", "entry 'x.npy': object arrays"},
                      {"lzma", "must be stored or deflated, got method 14"},
                      {"bomb", "beyond its limit of 1048576 bytes (a zip bomb?)"},
                      {"false_size", "beyond its limit"},
                      {"encrypted", "is encrypted"},
                      {"duplicate_name", "the archive has 'x.npy' twice"},
                  },
                  [](const std::string& path) { read_npz(path, limit); });
}

TEST(BrokenFiles, Poses) {
  expect_refusals(
      "poses",
      {
          {"empty", "must hold at least one pose, holds none"},
          {"only_comments", "must hold at least one pose, holds none"},
          {"seven_columns", "line 2: must have the 8 columns timestamp tx ty tz qx qy qz qw, got 7"},
          {"nine_columns", "line 1: must have 8 columns (tum), 12 columns (kitti) or commas (euroc), got 9"},
          {"not_a_number", "line 2: column 3 must be a number, got 'oops'"},
          {"not_finite", "line 2: column 3 must be finite, got 'nan'"},
          {"too_large", "line 2: column 3 must be a number, got '1e999'"},
          {"long_quaternion", "line 2: the quaternion must have norm 1, got 1.2 (off by 0.2)"},
          {"zero_quaternion", "line 1: the quaternion must have norm 1, got 0 (off by 1)"},
          {"time_stands",
           "line 2: the time '1305031098.6659' stands there twice, and nobody can tell which pose is meant; say repeated=keep "
           "or repeated=drop (data.pose_windows.repeated, data.pose_sequences.repeated), or remove one of the "
           "two lines"},
          {"time_goes_back", "line 3: the time must increase, got '1305031098.5' after '1305031098.6659'"},
          {"binary", "line 1: column 1 must be a number, got '\\x00\\x01\\x02\\x1b[31m'"},
          {"long_line", "line 2: a line must have at most 65536 characters, got 70002"},
          {"other_separator", "got 1 columns: '1305031098.6;1.34;0.62;1.65;0;0;0;1'"},
          {"sheared", "line 1: the matrix must be a rotation, R^T R is off the identity by 0.2"},
          {"reflected", "line 1: the matrix must be a rotation, it is a reflection"},
          {"eleven_numbers", "line 2: must have the 12 numbers of a 3 x 4 matrix, got 11"},
          {"wrong_order",
           "line 1: the header must name a translation (x y z) and a quaternion (qx qy qz qw) or a "
           "matrix (r11 .. r33); of the rotation it names 'q_x', 'q_y', 'q_z'"},
          {"seconds", "line 1: column 1 must be a whole number of nanoseconds, got '1403636580.838'"},
          {"short_row",
           "line 2: must have the 8 columns timestamp, p_x, p_y, p_z, q_w, q_x, q_y, q_z, got 7"},
          {"ragged", "line 2: must have 9 columns as the lines before, got 8"},
          {"empty_cell", "line 1: column 3 must be a number, got ''"},
          {"trailing_comma", "line 1: column 9 must be a number, got ''"},
      },
      [](const std::string& path) { read_poses(path); });
}

TEST(BrokenFiles, Digits) {
  expect_refusals("amat",
                  {
                      {"empty", "must hold at least one image, holds none"},
                      {"cut", "line 2: must have 785 columns, 784 pixels and the label, got 350"},
                      {"wide", "line 1: must have 785 columns, 784 pixels and the label, got more"},
                      {"pixel_of_bytes", "line 1: column 1 must be a pixel in [0, 1], got '255'"},
                      {"negative", "line 1: column 1 must be a pixel in [0, 1], got '-0.5'"},
                      {"not_a_number", "line 1: column 1 must be a pixel in [0, 1], got 'nan'"},
                      {"words", "line 1: column 1 must be a number, got 'label'"},
                      {"label_ten", "line 2: column 785 must be a label 0 .. 9, got '10'"},
                      {"binary", "line 1: column 1 must be a number, got '\\x00\\x01\\x1b[31m0'"},
                  },
                  [](const std::string& path) { read_amat(path); });
  expect_refusals("cifar",
                  {
                      {"empty", "must be a whole number of images of 3073 bytes, got 0 bytes"},
                      {"cut", "must be a whole number of images of 3073 bytes, got 6145 bytes"},
                      {"label_ten", "image 1: the label must be 0 .. 9, got 10"},
                      {"of_100_classes", "must be a whole number of images of 3073 bytes, got 3074 bytes"},
                  },
                  [](const std::string& path) { read_cifar10(path); });
  expect_refusals(
      "idx",
      {
          {"empty", "must have the 4 bytes of IDX's magic number, got 0"},
          {"magic", "must begin with the two zero bytes of IDX"},
          {"type", "the type must be 8, 9, 11, 12, 13 or 14 (u8, i8, i16, i32, f32, f64), got 10"},
          {"no_dimensions", "must have 1 to 8 dimensions, got 0"},
          {"cut_header", "must have 16 bytes of header, got 9"},
          {"cut", "U8 of shape [2, 3, 3] must have 18 bytes, got 17"},
          {"trailing", "U8 of shape [2, 3, 3] must have 18 bytes, got 19"},
          {"huge", "overflows"},
          {"overflow", "overflows"},
          {"cut_gzip", "the gzip stream is truncated"},
          {"damaged_gzip", "the gzip stream is corrupt (incorrect data check)"},
      },
      [](const std::string& path) { read_idx(path); });
}

TEST(BrokenFiles, Images) {
  const Table faults = {
      {"empty", "must be a PNG, JPEG or BMP image, begins with ''"},
      {"text", "must be a PNG, JPEG or BMP image, begins with 'GIF89a, '"},
      {"cut_end", "the PNG ends before its end chunk, cut short?"},
      {"damaged", "is damaged, its checksum does not fit"},
      {"zero_width", "must have pixels, got 0 x 5"},
      {"many_pixels", "got 32768 x 32768"},
      {"too_tall", "the pixels must unpack to 48 bytes, got 40"},
      {"bomb", "the pixels must unpack to 110 bytes, they are more"},
      {"colour_type", "there is no PNG of colour type 5, 8 bits and interlacing 0"},
      {"no_header", "the header must come first and once"},
      {"no_palette", "cannot decode the image: "},
      {"zero_height", "cannot decode the image: "},
      {"zero", "must have pixels, got 0 x 5"},
      {"negative", "must have pixels, got -3 x 5"},
      {"depth", "a pixel must have 1, 4, 8, 16, 24 or 32 bits, got 13"},
      {"packed", "cannot decode the image: "},
      {"cut_png", "cut short?"},
      {"cut_jpg", "the JPEG ends without its end marker, cut short?"},
      {"cut_bmp", "3 x 5 pixels of 24 bits must end at byte 114, the file has 104"},
      {"cut_header_jpg", "ends beyond the file, cut short?"},
      {"no_scan", "the JPEG has no scan"},
      {"many_codes", "cannot decode the image: Bogus Huffman table definition"},
      {"no_table", "cannot decode the image: Quantization table 0x01 was not defined"},    // found by fuzzing
      {"wild_codes", "cannot decode the image: Quantization table 0x00 was not defined"},  // likewise
      {"damaged_scan", "cannot decode the image: Corrupt JPEG data: "},
      {"arithmetic", "the JPEG must be baseline or progressive, coded by Huffman tables, is of kind 9"},
      {"cut_header_bmp", "must have 54 bytes of header, got 30"},
      {"huge_png", "must have at most 32768 pixels a side and 67108864 in all, got 1073741824 x 1073741824"},
      {"huge_bmp", "must have at most 32768 pixels a side and 67108864 in all, got 1073741824 x 1073741824"},
  };
  expect_refusals("image", faults, [](const std::string& path) { read_image(path); });
}

TEST(BrokenFiles, AFalseSizeIsNotWorthItsMemory) {
  const std::string path = WEYL_SOURCE_DIR "/tests/fixtures/broken/npz/false_size.npz";
  try {
    read_npz(path);  // under the limit, and yet
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot have 1000000000 bytes, it is packed into"),
              std::string::npos)
        << error.what();
  }
}

TEST(BrokenFiles, Pytorch) {
  const Table faults = {
      {"empty", "is empty, not a zip archive"},
      {"plain_pickle", "is a plain pickle"},
      {"truncated", "cannot read the archive"},
      {"no_data_pkl", "is a zip archive without data.pkl"},
      {"two_pickles", "must hold one data.pkl, got 'a/data.pkl' and 'b/data.pkl'"},
      {"cut_pickle", "cut short"},
      {"empty_stack", "the stack is empty"},
      {"no_memo", "memo 7 was never set"},
      {"old_protocol", "is none that a checkpoint needs"},
      {"unknown_opcode", "opcode '\\xff'"},
      {"system_call", "must hold a state dict (a dict of tensors), got an object made by os.system"},
      {"odd_dict", "a dict must be given keys with values"},
      {"missing_storage", "no storage '7'"},
      {"escaping_key", "no storage '../../etc/passwd'"},
      {"short_storage", "reach beyond its storage of 3 elements"},
      {"beyond_storage",
       "tensor 'x': shape [4], strides [1] and offset 1 reach beyond its storage of 4 elements"},
      {"negative_offset", "offset must be of integers that are not negative, got the integer -1"},
      {"negative_stride", "strides must be of integers that are not negative, got the integer -1"},
      {"overflowing_stride", "reach beyond its storage"},
      {"rank_mismatch", "as many strides as dimensions"},
      {"expanded_bomb", "the limit for this file"},
      {"overflowing_shape", "overflows"},
      {"complex_storage", "storage torch.ComplexFloatStorage is not read"},
      {"quantised", "is made by torch._utils._rebuild_qtensor, which is not read"},
      {"not_a_storage", "must have a storage, got None"},
      {"wrong_persistent_id", "its storage must be ('storage', type, key, device, size)"},
      {"no_tensor", "holds no tensor"},
      {"duplicate_name", "tensor 'a.b' is there twice"},
      {"circle", "nests deeper than 64"},
      {"billion_laughs", "more than 1048576 values"},
      {"byte_order", "byteorder must be little or big, got 'middle'"},
  };
  expect_refusals("pytorch", faults, [](const std::string& path) { read_pytorch_zip(path); });
  expect_refusals("pytorch", faults, [](const std::string& path) { read_weights(path); });
}

}  // namespace broken_files_test
}  // namespace weyl
