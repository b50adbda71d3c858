#pragma once

#include <span>
#include <string>
#include <string_view>

#include "weyl/data/formats/pose_file.h"

namespace weyl {

/// The text of poses (n, 4, 4) as tum or kitti, each number in its shortest form that reads back as the same float64;
/// a quaternion has q_w >= 0. ShapeError: another format; of tum not one of `stamps` a pose; matrices of another size.
std::string pose_text(PoseFormat format, std::span<const double> matrices,
                      std::span<const std::string> stamps = {});

/// The middle of two timestamps in seconds, to nanoseconds where those suffice. DataError naming `where`: there is no time
/// between them.
std::string stamp_between(const std::string& a, const std::string& b, std::string_view where);

}  // namespace weyl
