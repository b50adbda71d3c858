#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace weyl
