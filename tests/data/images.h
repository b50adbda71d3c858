// Small images and what sets make of them.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <numeric>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/images/image.h"

namespace weyl {

inline Batch all_of_set(const Dataset& set) {
  std::vector<int64_t> samples(set.size());
  std::iota(samples.begin(), samples.end(), 0);
  return set.batch(samples);
}

inline Tensor values(const Dataset& set) {
  return std::get<Grid>(all_of_set(set).input).values;
}

/// An image of one colour.
inline Array plain(int64_t h, int64_t w, std::vector<int> colour) {
  Array image{ElementType::u8, {h, w, std::ssize(colour)}, {}};
  for (int64_t k = 0; k < h * w; ++k) {
    for (const int c : colour) {
      image.bytes.push_back(static_cast<std::byte>(c));
    }
  }
  return image;
}

inline void write(const std::filesystem::path& path, const Array& image) {
  std::filesystem::create_directories(path.parent_path());
  write_image(path.string(), image);
}

/// An image of one channel.
inline Array grey(int64_t h, int64_t w, const std::vector<int>& numbers) {
  Array image{ElementType::u8, {h, w, 1}, {}};
  for (const int n : numbers) {
    image.bytes.push_back(static_cast<std::byte>(n));
  }
  return image;
}

}  // namespace weyl
