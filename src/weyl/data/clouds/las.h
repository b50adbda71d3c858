#pragma once

#include <span>
#include <string>
#include <string_view>

#include "weyl/data/clouds/point_text.h"

namespace weyl {

/// Reads the points of a LAS file (ASPRS, versions 1.0 to 1.4, point formats 0 to 10) into the columns x, y, z (by the scale and
/// the offset of the header, in its unit of length), `intensity`, `return_number`, `number_of_returns`, `classification`,
/// `scan_angle` (degrees), `user_data`, `point_source_id`, and, where the format has them, `gps_time`, `red`, `green`, `blue` and `nir`.
/// Intensities are bytes, 16 bits over 257; so are colours, or as they are where none in the file is above 255, as some programs write them. Extra
/// bytes that the file names become columns of their names, by their scale and offset, several numbers NAME_0 and on, a name that is
/// there already NAME_2. Wave packets, bytes without a name or a type, and what the file says of missing values are passed
/// over; points that are marked as withheld are points as others are.
///
/// DataError naming `where`: another header or version; compressed points (LAZ); a point format above 10, points of fewer
/// bytes than it has; a scale or an offset that is no number; extra bytes that do not fit or have an unknown type; a file that
/// ends before its last point; no point. MemoryError: more than there is.
PointTable parse_las(std::span<const std::byte> file, std::string_view where);
PointTable read_las(const std::string& path);

}  // namespace weyl
