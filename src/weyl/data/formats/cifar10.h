#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

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
