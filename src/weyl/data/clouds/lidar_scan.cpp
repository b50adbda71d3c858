#include "weyl/data/clouds/lidar_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"

namespace weyl {
namespace {

constexpr size_t kScanPoint = 4 * sizeof(float), kScanLabel = sizeof(uint32_t);
constexpr size_t kLookedPoints = 1024;
constexpr float kFarthest = 1000, kBrightest = 255;

template <class T>
T little_at(std::span<const std::byte> bytes, size_t at) {
  std::array<std::byte, sizeof(T)> raw;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), sizeof(T), raw.begin());
  if constexpr (std::endian::native == std::endian::big) {
    std::ranges::reverse(raw);
  }
  return std::bit_cast<T>(raw);
}

}  // namespace

PointTable parse_lidar_scan(std::span<const std::byte> scan, std::optional<std::span<const std::byte>> labels,
                            std::string_view where) {
  require<DataError>(!scan.empty(), where, ": must hold at least one point, holds none");
  require<DataError>(scan.size() % kScanPoint == 0, where,
                     ": must be points of 16 bytes (float32 x, y, z, intensity), has ", scan.size(),
                     " bytes");
  const size_t points = scan.size() / kScanPoint;
  require<DataError>(!labels || labels->size() == points * kScanLabel, where, ": has ", points,
                     " points, its labels must be as many of 4 bytes, but have ", labels ? labels->size() : 0,
                     " bytes");
  PointTable found;
  found.names = {"x", "y", "z", "intensity"};
  if (labels) {
    found.names.insert(found.names.end(), {"label", "instance"});
  }
  found.bytes.assign(found.names.size(), false);
  require_memory(points * found.names.size() * sizeof(double), where);
  found.values.reserve(points * found.names.size());
  for (size_t p = 0; p < points; ++p) {
    for (size_t k = 0; k < 4; ++k) {
      const auto x = little_at<float>(scan, p * kScanPoint + k * sizeof(float));
      require<DataError>(k == 3 || std::isfinite(x), where, ": coordinates must be finite, of point ", p,
                         " they are not");
      found.values.push_back(static_cast<double>(x));
    }
    if (labels) {
      const auto label = little_at<uint32_t>(*labels, p * kScanLabel);
      found.values.push_back(label & 0xFFFFU);
      found.values.push_back(label >> 16U);
    }
  }
  found.rows = static_cast<int64_t>(points);
  return found;
}

PointTable read_lidar_scan(const std::string& path) {
  namespace fs = std::filesystem;
  const MappedFile file(path);
  const fs::path folder = fs::path(path).parent_path();
  const fs::path labels = folder.parent_path() / "labels" / fs::path(path).stem().concat(".label");
  if (folder.filename() != "velodyne" || !fs::is_regular_file(labels)) {
    return parse_lidar_scan(file.bytes(), {}, path);
  }
  const MappedFile of_points(labels.string());
  return parse_lidar_scan(file.bytes(), of_points.bytes(), path);
}

namespace {

bool could_be_scan(std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() % kScanPoint != 0) {
    return false;
  }
  bool some = false;
  for (size_t p = 0; p < std::min(bytes.size() / kScanPoint, kLookedPoints); ++p) {
    for (size_t k = 0; k < 4; ++k) {
      const auto x = little_at<float>(bytes, p * kScanPoint + k * sizeof(float));
      const bool plausible = k < 3 ? std::abs(x) <= kFarthest : x >= 0 && x <= kBrightest;
      if (!plausible ||
          (x != 0 && std::abs(x) < std::numeric_limits<float>::min())) {  // bytes of something else
        return false;
      }
      some = some || x != 0;
    }
  }
  return some;
}

}  // namespace

bool looks_like_lidar_scan(const std::string& path) {
  try {
    const MappedFile file(path);
    return could_be_scan(file.bytes());
  } catch (const DataError&) {  // said by whoever reads it
    return false;
  }
}

}  // namespace weyl
