#include "weyl/data/formats/cifar10.h"

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"

namespace weyl {

constexpr int64_t kRecord = 1 + cifar_pixels;

CifarImages parse_cifar10(std::span<const std::byte> file, std::string_view where) {
  const auto size = static_cast<int64_t>(file.size());
  require<DataError>(size > 0 && size % kRecord == 0, where,
                     ": must be a whole number of images of 3073 bytes, got ", size, " bytes");
  CifarImages images;
  images.pixels.reserve(size / kRecord * cifar_pixels);
  for (int64_t at = 0; at < size; at += kRecord) {
    const auto label = std::to_integer<int64_t>(file[at]);
    require<DataError>(label <= 9, where, ": image ", at / kRecord, ": the label must be 0 .. 9, got ",
                       label);
    images.labels.push_back(label);
    const auto* begin = reinterpret_cast<const uint8_t*>(file.data()) + at + 1;
    images.pixels.insert(images.pixels.end(), begin, begin + cifar_pixels);
  }
  return images;
}

CifarImages read_cifar10(const std::string& path) {
  return parse_cifar10(MappedFile(path).bytes(), path);
}

}  // namespace weyl
