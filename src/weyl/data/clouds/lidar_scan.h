#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weyl/data/clouds/point_text.h"

namespace weyl {

/// Reads a scan as KITTI gives it out (velodyne/000000.bin): float32 x, y, z, intensity, little endian, without a header.
/// A scan in `velodyne` with labels as SemanticKITTI has them, `labels/NAME.label` beside that folder, also has the columns `label`
/// (the lower 16 bits) and `instance` (the upper ones).
///
/// DataError naming `where`, and the point: no point, bytes that are no whole points, a coordinate that is not finite, labels
/// of another number of points. read_lidar_scan also refuses the ending `.pcd.bin`, nuScenes's points of five numbers, and
/// first points that are not within a kilometre, with intensities 0 to 255. MemoryError: more than there is.
PointTable parse_lidar_scan(std::span<const std::byte> scan, std::optional<std::span<const std::byte>> labels,
                            std::string_view where);
PointTable read_lidar_scan(const std::string& path);

/// Whether the first points of a file could be of such a scan: finite, within a kilometre, with intensities 0 to 255. Other
/// `.bin` files are of images. False, too: it cannot be read.
bool looks_like_lidar_scan(const std::string& path);

}  // namespace weyl
