#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace weyl {

constexpr int64_t kSecond = 1'000'000'000;  // nanoseconds

/// A column of times. The unit is in nanoseconds; none: its name does not say it.
struct TimeColumn {
  size_t column = 0;
  std::optional<int64_t> unit;
};

/// Which column of a text of poses holds what. The rotation is a quaternion or a matrix.
struct PoseColumns {
  std::optional<TimeColumn> time;
  std::optional<TimeColumn> rest;  // what is added to whole seconds, as sec and nsec are one time
  std::array<size_t, 3> translation{};
  std::array<size_t, 4> quaternion{};  // x y z w
  std::array<size_t, 9> matrix{};      // row-major
  bool is_matrix = false;
  double length = 1;  // the unit of the translation in metres

  /// A timestamp, the translation, and the quaternion in an order of its columns x y z w.
  static PoseColumns of_quaternion(std::array<size_t, 4> quaternion) {
    return {.time = TimeColumn{}, .translation = {1, 2, 3}, .quaternion = quaternion};
  }
  /// The 3 x 4 matrix [R t], row-major, from a column on; the column before it is a timestamp.
  static PoseColumns of_matrix(size_t from) {
    PoseColumns c{.translation = {from + 3, from + 7, from + 11}, .is_matrix = true};
    if (from > 0) {
      c.time = TimeColumn{from - 1, {}};
    }
    for (size_t k = 0; k < 9; ++k) {
      c.matrix[k] = from + 4 * (k / 3) + k % 3;
    }
    return c;
  }
};

/// What a header says: a whole pose, or what is wrong with one whose rotation it names. Neither: it names no rotation.
struct NamedColumns {
  std::optional<PoseColumns> pose;
  std::string fault;
};

/// What columns of these names hold, in any order, whatever their case:
///
///   time         timestamp, time, stamp, t and the like, with the unit in brackets or behind (time [s], timestamp_ns), or a
///                unit alone or behind a stamp (sec, header.stamp.nsecs); sec and nsec together are one time
///   translation  x y z, alone or behind t, p, pos, trans, ... (tx, p_RS_R_x, pose.position.x); m, cm, mm, km in brackets or
///                behind (tx_m)
///   quaternion   x y z w behind q, quat, orientation, rotation (qx, q_RS_w, pose.orientation.w); also
///                behind r (rx), where no other column is of a quaternion or a whole matrix
///   matrix       two digits behind a word (r11 .. r33 or r00 .. r22), as nine numbers beside a translation or the twelve
///                of [R t]
///
/// Of several times the first is taken, one that says its unit before the others. Other names are passed over. A fault: a
/// rotation is named by other means (roll, pitch, yaw), not wholly, or twice; there is no translation beside it; the first
/// column is neither a time, nor part of the pose, nor a number of the row.
NamedColumns columns_by_names(std::span<const std::string> names);

}  // namespace weyl
