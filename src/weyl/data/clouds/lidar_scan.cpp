#include "weyl/data/clouds/lidar_scan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/little_endian.h"

namespace weyl {
namespace {

constexpr size_t kScanPoint = 4 * sizeof(float), kScanLabel = sizeof(uint32_t);
constexpr size_t kLookedPoints = 1024;
constexpr float kFarthest = 1000, kBrightest = 255;

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
      const auto x = from_little_endian<float>(&scan[p * kScanPoint + k * sizeof(float)]);
      require<DataError>(k == 3 || std::isfinite(x), where, ": coordinates must be finite, of point ", p,
                         " they are not");
      found.values.push_back(static_cast<double>(x));
    }
    if (labels) {
      const auto label = from_little_endian<uint32_t>(&(*labels)[p * kScanLabel]);
      found.values.push_back(label & 0xFFFFU);
      found.values.push_back(label >> 16U);
    }
  }
  found.rows = static_cast<int64_t>(points);
  return found;
}

namespace {

/// The first of the points looked at that no scan would have.
std::optional<size_t> first_implausible_point(std::span<const std::byte> scan) {
  for (size_t p = 0; p < std::min(scan.size() / kScanPoint, kLookedPoints); ++p) {
    for (size_t k = 0; k < 4; ++k) {
      const auto x = from_little_endian<float>(&scan[p * kScanPoint + k * sizeof(float)]);
      const bool plausible = k < 3 ? std::abs(x) <= kFarthest : x >= 0 && x <= kBrightest;
      if (!plausible ||
          (x != 0 && std::abs(x) < std::numeric_limits<float>::min())) {  // bytes of something else
        return p;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

PointTable read_lidar_scan(const std::string& path) {
  namespace fs = std::filesystem;
  const MappedFile file(path);
  require<DataError>(
      !path.ends_with(".pcd.bin"), path,
      ": must be points of 4 numbers (float32 x, y, z, intensity), is by its name a scan of nuScenes, "
      "which has 5");
  const fs::path whole = fs::absolute(path).lexically_normal(), folder = whole.parent_path();
  const fs::path labels = folder.parent_path() / "labels" / whole.stem().concat(".label");
  std::optional<MappedFile> of_points;
  if (folder.filename() == "velodyne" && fs::is_regular_file(labels)) {
    of_points.emplace(labels.string());
  }
  PointTable table =
      parse_lidar_scan(file.bytes(), of_points ? std::optional(of_points->bytes()) : std::nullopt, path);
  const auto odd = first_implausible_point(file.bytes());
  require<DataError>(!odd, path, ": must be points of 4 numbers (float32 x, y, z within ", kFarthest,
                     ", intensity 0 to ", kBrightest, "), of point ", odd.value_or(0), " they are not");
  return table;
}

bool looks_like_lidar_scan(const std::string& path) {
  try {
    const MappedFile file(path);
    const auto bytes = file.bytes();
    return !bytes.empty() && bytes.size() % kScanPoint == 0 && !first_implausible_point(bytes) &&
           std::ranges::any_of(bytes.first(std::min(bytes.size(), kLookedPoints * kScanPoint)),
                               [](std::byte b) { return b != std::byte{0}; });
  } catch (const DataError&) {  // said by whoever reads it
    return false;
  }
}

}  // namespace weyl
