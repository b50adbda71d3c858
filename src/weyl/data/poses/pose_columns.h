#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace weyl {

/// Which column of a text of poses holds what. The rotation is a quaternion or a matrix.
struct PoseColumns {
  std::optional<size_t> time;
  std::array<size_t, 3> translation{};
  std::array<size_t, 4> quaternion{};  // x y z w
  std::array<size_t, 9> matrix{};      // row-major
  bool is_matrix = false;

  /// A timestamp, the translation, and the quaternion in an order of its columns x y z w.
  static PoseColumns of_quaternion(std::array<size_t, 4> quaternion) {
    return {.time = 0, .translation = {1, 2, 3}, .quaternion = quaternion};
  }
  /// The 3 x 4 matrix [R t], row-major, from a column on; the column before it is a timestamp.
  static PoseColumns of_matrix(size_t from) {
    PoseColumns c{.translation = {from + 3, from + 7, from + 11}, .is_matrix = true};
    if (from > 0) {
      c.time = from - 1;
    }
    for (size_t k = 0; k < 9; ++k) {
      c.matrix[k] = from + 4 * (k / 3) + k % 3;
    }
    return c;
  }
};

/// What columns of these names hold, in any order, whatever their case and their units in brackets:
///
///   time         timestamp, time, stamp, sec, t and the like
///   translation  x y z, alone or behind t, p, pos, trans, ... (tx, p_RS_R_x, pose.position.x)
///   quaternion   x y z w behind q, quat, orientation, rotation (qx, q_RS_w, pose.orientation.w)
///   matrix       two digits behind a word (r11 .. r33 or r00 .. r22), as nine numbers beside a translation or the twelve
///                of [R t]
///
/// Other names are passed over. None: there is no translation or no rotation, one of them is there twice, or the first
/// column is neither the time nor part of the pose where no other is the time.
std::optional<PoseColumns> columns_by_names(std::span<const std::string_view> names);

}  // namespace weyl
