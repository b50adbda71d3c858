#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/containers/array.h"

namespace weyl {

/// Images of 28 x 28 in text, as rotated MNIST is spread
/// (`mnist_all_rotation_normalized_float_train_valid.amat`): an image a line, 784 pixels in [0, 1],
/// row-major, and the label, a digit (`5` or `5.0000`), split by blanks.
constexpr int64_t amat_side = 28, amat_pixels = amat_side * amat_side;

struct AmatImages {
  std::vector<float> pixels;    // (n, 784)
  std::vector<int64_t> labels;  // (n), 0 .. 9

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  bool operator==(const AmatImages&) const = default;
};

/// Reads one. CRLF and empty lines are accepted. DataError beginning with `where` and the line: no image at
/// all, a wrong number of columns, what is no number, a pixel outside [0, 1], a label that is no digit.
AmatImages parse_amat(std::string_view file, std::string_view where);
AmatImages read_amat(const std::string& path);

/// The lines of images, each number in its shortest form that reads back as the same float. ShapeError unless
/// there are 784 pixels a label.
std::string amat_text(std::span<const float> pixels, std::span<const int64_t> labels);

/// What the values of an IDX file may take, in bytes.
constexpr uint64_t idx_limit = uint64_t{4} << 30;

/// Reads MNIST's IDX (two zero bytes, the type, the number of dimensions, big-endian sizes, big-endian
/// values: u8, i8, i16, i32, f32, f64), also packed by gzip. DataError beginning with `where`: another magic
/// number, a type that is none, a size that the file does not have or beyond `limit`, broken gzip.
/// MemoryError: more than there is. Both are judged by the header.
Array parse_idx(std::span<const std::byte> file, std::string_view where, uint64_t limit = idx_limit);
Array read_idx(const std::string& path);

/// The bytes of such a file. DataError for an element type that IDX lacks.
std::vector<std::byte> idx_bytes(const Array& array);

/// A batch of CIFAR-10's binary version (`data_batch_1.bin`): 3073 bytes an image, the label and 32 x 32
/// pixels of red, green and blue, each plane row-major.
constexpr int64_t cifar_side = 32, cifar_pixels = 3 * cifar_side * cifar_side;

struct CifarImages {
  std::vector<uint8_t> pixels;  // (n, 3, 32, 32)
  std::vector<int64_t> labels;  // (n), 0 .. 9

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  bool operator==(const CifarImages&) const = default;
};

/// DataError beginning with `where`: empty, no whole number of images, a label outside 0 .. 9.
CifarImages parse_cifar10(std::span<const std::byte> file, std::string_view where);
CifarImages read_cifar10(const std::string& path);

}  // namespace weyl
