#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/poses/pose_file.h"

/// Text is refused with a DataError, or its poses are finite, rotate without stretching and follow one
/// another in time. The first byte chooses whether the format is told or named.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::optional<weyl::PoseFormat> format;
  if (size > 0 && data[0] >= 1 && data[0] <= 3) {
    format = static_cast<weyl::PoseFormat>(data[0] - 1);
    ++data;
    --size;
  }
  try {
    const auto found = weyl::parse_poses({reinterpret_cast<const char*>(data), size}, "input", format);
    const size_t poses = found.matrices.size() / 16;
    bool sound =
        poses > 0 && found.matrices.size() % 16 == 0 &&
        (found.times.empty() ? found.format == weyl::PoseFormat::kitti : found.times.size() == poses);
    for (size_t p = 0; p < poses && sound; ++p) {
      const double* g = &found.matrices[16 * p];
      for (int i = 0; i < 3; ++i) {
        const double square = g[i] * g[i] + g[4 + i] * g[4 + i] + g[8 + i] * g[8 + i];
        sound = sound && std::abs(square - 1) < 1e-9 && std::isfinite(g[4 * i + 3]);
      }
      sound = sound && (p == 0 || found.times.empty() || found.times[p] > found.times[p - 1]);
    }
    if (!sound) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
