#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// Trajectories of rigid bodies as text, one pose a line:
///
///   tum     timestamp tx ty tz qx qy qz qw, seconds, separated by blanks; comments begin with #
///   kitti   the 12 numbers of a 3 x 4 matrix [R t], row-major, separated by blanks; no times
///   euroc   timestamp, p_x, p_y, p_z, q_w, q_x, q_y, q_z and any further columns, nanoseconds (whole; `.0` is
///           accepted), separated by commas; first a header line that begins with #, or one line of names
///
/// A header that names a whole pose says where its parts are, in any order, and in which units (poses/pose_columns.h); of
/// the further columns nothing is read. Rows of 13 columns may be a timestamp and a 3 x 4 matrix, in seconds (tum) or,
/// with commas, in nanoseconds (euroc), as MulRan has them; rows of 12 with commas are kitti where they hold a matrix.
/// Lengths are in metres in all three.
enum class PoseFormat { tum, kitti, euroc };
constexpr std::string_view pose_format_names[] = {"tum", "kitti", "euroc"};
constexpr const auto& names_of(PoseFormat) {  // for config/fields.h
  return pose_format_names;
}

/// What is done with a line whose time is that of the line before, as TUM's own ground truth has one: refused, since nobody
/// can tell which pose is meant; kept; or dropped.
enum class RepeatedTimes { refuse, keep, drop };
constexpr auto names_of(RepeatedTimes) {
  return std::array<std::string_view, 3>{"refuse", "keep", "drop"};
}

/// Poses of one body over time.
struct PoseTrajectory {
  PoseFormat format = PoseFormat::tum;
  std::vector<double> matrices;       // (n, 4, 4) homogeneous, row-major, rotations exact to rounding
  std::vector<double> times;          // (n) seconds since the first pose; empty for kitti
  std::vector<std::string> stamps;    // (n) the timestamps in seconds, as in the file or exact
  std::string start;                  // the first timestamp as in the file; empty for kitti
  std::vector<std::string> warnings;  // what was guessed
  double off_group = 0;  // how far the worst rotation was from one: |q| - 1, or an entry of R^T R - 1

  int64_t size() const { return static_cast<int64_t>(matrices.size()) / 16; }
};

/// Reads a trajectory. Without a format, the header or the first line of data tells it: commas are euroc, 8 columns
/// tum, 12 kitti.
/// CRLF and a byte order mark are accepted. DataError with file and line: no pose at all; a wrong number of columns; an
/// entry that is no number or not finite; a quaternion or matrix further from a rotation than 0.01 (by how much); a
/// time that does not increase, or stands there twice where `repeated` refuses it; times in seconds that cannot be (1e11 or more); a line of more than
/// 65536 characters;
/// a header that names a rotation but no whole pose, or a row of names without a pose where no format is asked for;
/// times of a named column without a unit that would be more than a million poses a second. Where one of these has a fraction,
/// all are seconds, with a warning.
PoseTrajectory parse_poses(std::string_view file, std::string_view where,
                           std::optional<PoseFormat> format = {},
                           RepeatedTimes repeated = RepeatedTimes::refuse);
PoseTrajectory read_poses(const std::string& path, std::optional<PoseFormat> format = {},
                          RepeatedTimes repeated = RepeatedTimes::refuse);

/// The columns of a table with commas that is no trajectory, for messages: "'mol_id', 'A', 'B', ...". Its first line names
/// columns, none of them a pose's, and its rows are not EuRoC's either. Empty: the file may be a trajectory.
std::string other_table(const std::string& path);

/// Whether a path ends as such files do: .txt, .csv, .tum, .kitti.
bool is_pose_file(std::string_view path);

/// The text of poses (n, 4, 4) as tum or kitti. Each number has the shortest form that reads back as the same float64;
/// a quaternion has q_w >= 0. ShapeError: another format; for tum, another number of `stamps` than of poses; matrices
/// of another size.
std::string pose_text(PoseFormat format, std::span<const double> matrices,
                      std::span<const std::string> stamps = {});

/// The middle of two timestamps in seconds, to nanoseconds where these suffice. DataError naming `where`: there is no
/// time between the two.
std::string stamp_between(const std::string& a, const std::string& b, std::string_view where);

/// Timestamps as numbers, with the digits of a clock's nanoseconds.
std::vector<long double> seconds_of(std::span<const std::string> stamps);

/// The timestamp so many seconds after another, to nanoseconds.
std::string stamp_after(const std::string& stamp, long double seconds);

}  // namespace weyl
