#include "weyl/data/poses/pose_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/poses/pose_columns.h"

namespace weyl {
namespace {

constexpr size_t kLongestPoseLine = 65536;
constexpr double kOffGroup = 0.01;                   // files of four decimals are off by 1e-4
constexpr size_t kEuroc = 8;                         // columns at least
constexpr size_t kMatrix = 12, kTimeAndMatrix = 13;  // columns
constexpr double kSeconds = 1e11;  // of a timestamp: the year 5138; nanoseconds reach it in 100 seconds

using Matrix3 = std::array<double, 9>;

bool is_column_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed_column(std::string_view s) {
  while (!s.empty() && is_column_blank(s.front())) {
    s.remove_prefix(1);
  }
  while (!s.empty() && (is_column_blank(s.back()) || s.back() == '\r')) {
    s.remove_suffix(1);
  }
  return s;
}

/// Takes the first line, without its end, from a text.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Commas in quotes are of their column, and the quotes of none.
std::vector<std::string_view> columns_of(std::string_view line, bool commas) {
  std::vector<std::string_view> columns;
  while (!line.empty()) {
    size_t end = 0;
    bool quoted = false;
    while (end < line.size() && (commas ? quoted || line[end] != ',' : !is_column_blank(line[end]))) {
      quoted = quoted != (line[end++] == '"');
    }
    const std::string_view column = trimmed_column(line.substr(0, end));
    const bool in_quotes = column.size() > 1 && column.front() == '"' && column.back() == '"';
    columns.push_back(in_quotes ? column.substr(1, column.size() - 2) : column);
    const bool ended = end == line.size();
    line.remove_prefix(ended ? end : end + 1);
    if (commas && !ended && line.empty()) {
      columns.emplace_back();  // after the last comma
    }
    while (!commas && !line.empty() && is_column_blank(line.front())) {
      line.remove_prefix(1);
    }
  }
  return columns;
}

/// The names in a header: what is in brackets belongs to the name before it, as in `timestamp [s] tx ty tz`.
std::vector<std::string> names_of(std::string_view header) {
  const bool commas = header.find(',') != std::string_view::npos;
  std::vector<std::string> names;
  for (const std::string_view column : columns_of(header, commas)) {
    const bool inside = !names.empty() && names.back().find_first_of("[(") != std::string::npos &&
                        names.back().find_first_of("])") == std::string::npos;
    if (!commas && !names.empty() && (inside || column.starts_with('[') || column.starts_with('('))) {
      names.back() += column;
    } else {
      names.emplace_back(column);
    }
  }
  return names;
}

/// A line that may name the columns: a comment, or a row of names.
struct PoseHeader {
  int64_t line = 0;
  std::string_view names;
  bool is_row = false;
};

/// A whole number; also as data frames write one that they hold in floating point, 1403636580838555648.0 with
/// all its digits or 1.4036365808385556e+18 (to 256 ns).
std::optional<int64_t> nanoseconds_of(std::string_view column) {
  const auto parsed = [](std::string_view digits, auto& x) {
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
    return error == std::errc() && stop == digits.data() + digits.size() && !digits.empty();
  };
  const size_t point = column.find('.');
  const bool zeros =
      point != std::string_view::npos && column.find_first_not_of('0', point + 1) == std::string_view::npos;
  if (int64_t t = 0; parsed(zeros ? column.substr(0, point) : column, t)) {
    return t;
  }
  if (double t = 0; column.find_first_of("eE") != std::string_view::npos && parsed(column, t) &&
                    std::abs(t) < 9e18 && t == std::floor(t)) {
    return static_cast<int64_t>(t);
  }
  return std::nullopt;
}

/// Nanoseconds, not negative, as seconds with all their digits.
std::string seconds_text(int64_t nanoseconds) {
  const std::string part = std::to_string(kSecond + nanoseconds % kSecond).substr(1);
  return std::to_string(nanoseconds / kSecond) + "." + part;
}

/// The rotation of a unit quaternion, row-major.
Matrix3 rotation_of(double x, double y, double z, double w) {
  return {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
          2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
          2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
}

Matrix3 gram(const Matrix3& r) {  // R^T R
  Matrix3 g{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) {
        g[3 * i + j] += r[3 * k + i] * r[3 * k + j];
      }
    }
  }
  return g;
}

double determinant(const Matrix3& r) {
  return r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) +
         r[2] * (r[3] * r[7] - r[4] * r[6]);
}

/// The largest entry of R^T R - 1.
double off_rotation(const Matrix3& r) {
  const Matrix3 g = gram(r);
  double off = 0;
  for (int k = 0; k < 9; ++k) {
    off = std::max(off, std::abs(g[k] - (k % 4 == 0 ? 1 : 0)));
  }
  return off;
}

/// Newton's iteration to the polar factor, R <- R (3 - R^T R)/2; quadratic from 0.01 off.
Matrix3 orthogonalised(Matrix3 r) {
  for (int step = 0; step < 4; ++step) {
    const Matrix3 g = gram(r);
    Matrix3 next{};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        for (int k = 0; k < 3; ++k) {
          next[3 * i + j] += r[3 * i + k] * ((k == j ? 1.5 : 0) - g[3 * k + j] / 2);
        }
      }
    }
    r = next;
  }
  return r;
}

/// One file as it is read, line by line.
class PoseReader {
 public:
  PoseReader(std::string_view file, std::string_view where, std::optional<PoseFormat> format,
             RepeatedTimes repeated)
      : where_(where), format_(format), repeated_(repeated) {
    if (file.starts_with("\xEF\xBB\xBF")) {
      file.remove_prefix(3);
    }
    while (!file.empty()) {
      const std::string_view line = take_line(file);
      ++number_;
      check(line.size() <= kLongestPoseLine, "a line must have at most ", kLongestPoseLine,
            " characters, got ", line.size());
      read_line(trimmed_column(line), file);
    }
    require<DataError>(found_.size() > 0, where_, ": must hold at least one pose, holds none");
    require_slow_times();
    found_.format = *format_;
  }
  PoseTrajectory done() { return std::move(found_); }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    require<DataError>(holds, where_, ": line ", number_, ": ", parts...);
  }

  /// `below`: the lines behind it.
  void read_line(std::string_view line, std::string_view below) {
    if (line.empty()) {
      return;
    }
    if (line.front() == '#') {
      if (found_.size() == 0) {
        headers_.push_back({number_, comment_names(line.substr(1))});
      }
      return;
    }
    if (found_.size() == 0 && !named_ && is_header(line)) {
      headers_.push_back({number_, line, true});
      named_ = true;
      return;
    }
    if (width_ == 0) {
      learn_columns(line, below);
    }
    const auto columns = columns_of(line, commas_);
    require_width(columns.size());
    if (places_.time && !add_time(columns)) {
      return;
    }
    places_.is_matrix ? add_matrix(columns) : add_quaternion(columns);
  }

  /// What the columns hold, from the first row and the lines above it that may name them.
  void learn_columns(std::string_view line, std::string_view below) {
    commas_ = format_ == PoseFormat::euroc || line.find(',') != std::string_view::npos;
    const auto columns = columns_of(line, commas_);
    for (const PoseHeader& header : headers_) {
      obey(header, columns.size());
    }
    if (!format_) {
      format_ = told_by(columns, line);
    }
    if (!names_known_) {
      places_ = usual_places(columns);
    }
    check(*format_ == PoseFormat::kitti || places_.time,
          "the header must name a column of times, as the format ",
          pose_format_names[static_cast<size_t>(*format_)], " has them");
    if (*format_ == PoseFormat::kitti) {
      places_.time.reset();
    }
    if (places_.time) {
      unit_ = places_.time->unit.value_or(*format_ == PoseFormat::euroc ? 1 : kSecond);
      if (unit_ == 1 && names_known_ && !places_.time->unit && has_fractions(line, below)) {
        unit_ = kSecond;
        found_.warnings.push_back(text(
            where_,
            ": times have fractions and no unit, and are taken for seconds; the header can say it, as `time [s]`"));
      }
    }
    require_width(columns.size());
    width_ = columns.size();
  }

  /// Whether a time has a fraction, which nanoseconds have not.
  bool has_fractions(std::string_view line, std::string_view below) const {
    while (true) {
      const auto columns =
          line.starts_with('#') ? std::vector<std::string_view>() : columns_of(line, commas_);
      const size_t time = places_.time->column;
      const auto t = time < columns.size() ? parse_real(columns[time]) : std::nullopt;
      if (t && std::isfinite(*t) && *t != std::floor(*t)) {
        return true;
      }
      if (below.empty()) {
        return false;
      }
      line = trimmed_column(take_line(below));
    }
  }

  /// The places that a header names. What names a rotation and cannot be obeyed is refused: by their positions the columns
  /// would be taken for something else. A format that was asked for is not overruled.
  void obey(const PoseHeader& header, size_t columns) {
    const std::vector<std::string> names = names_of(header.names);
    const NamedColumns by = columns_by_names(names);
    if (format_ == PoseFormat::kitti && !(by.pose && by.pose->is_matrix)) {
      return;
    }
    const auto refuse_unless = [&](bool holds, const auto&... parts) {
      require<DataError>(holds, where_, ": line ", header.line, ": ", parts...);
    };
    if (names.size() != columns) {
      refuse_unless(!header.is_row || format_, "the header must name the ", columns,
                    " columns of the rows, got ", names.size(), " names");
      other_order_ = by.pose && !by.pose->is_matrix ? by.pose : other_order_;
      return;
    }
    refuse_unless(by.fault.empty(), by.fault);
    refuse_unless(
        by.pose || !header.is_row || format_,
        "the header must name a translation (x y z) and a quaternion (qx qy qz qw) or a matrix (r11 .. r33), "
        "got ",
        quote(header.names, 60));
    if (by.pose) {
      places_ = *by.pose;
      names_known_ = true;
    }
  }

  /// The names in a comment, which may stand behind a word, as in `# format: timestamp tx ty tz`.
  static std::string_view comment_names(std::string_view comment) {
    const size_t colon = comment.find(':');
    return trimmed_column(colon < comment.find(',') ? comment.substr(colon + 1) : comment);
  }

  /// The places that the format has where no header names them.
  PoseColumns usual_places(std::span<const std::string_view> columns) const {
    if (*format_ == PoseFormat::kitti) {
      return PoseColumns::of_matrix(0);
    }
    if (columns.size() == kTimeAndMatrix && are_matrix(columns.subspan(1))) {
      return PoseColumns::of_matrix(1);
    }
    if (*format_ == PoseFormat::euroc) {
      return in_named_order(PoseColumns::of_quaternion({5, 6, 7, 4}));
    }
    return in_named_order(PoseColumns::of_quaternion({4, 5, 6, 7}));
  }

  /// Comments of other columns than the rows have must at least agree on where w stands.
  PoseColumns in_named_order(const PoseColumns& places) const {
    const auto w_first = [](const PoseColumns& c) { return c.quaternion[3] < c.quaternion[0]; };
    check(!other_order_ || w_first(*other_order_) == w_first(places),
          "the comment above names other columns than the rows have, with q_w ",
          w_first(places) ? "last, where it must stand first" : "first, where it must stand last");
    return places;
  }

  void require_width(size_t columns) const {
    if (names_known_) {
      check(width_ == 0 || columns == width_, "must have the ", width_,
            " columns that the header names, got ", columns);
    } else if (*format_ == PoseFormat::kitti) {
      check(columns == kMatrix, "must have the 12 numbers of a 3 x 4 matrix, got ", columns);
    } else if (places_.is_matrix) {
      check(columns == kTimeAndMatrix, "must have the 13 columns timestamp and a 3 x 4 matrix, got ",
            columns);
    } else if (*format_ == PoseFormat::tum) {
      check(columns == kEuroc, "must have the 8 columns timestamp tx ty tz qx qy qz qw, got ", columns);
    } else {
      check(columns >= kEuroc, "must have the 8 columns timestamp, p_x, p_y, p_z, q_w, q_x, q_y, q_z, got ",
            columns);
      check(width_ == 0 || columns == width_, "must have ", width_, " columns as the lines before, got ",
            columns);
    }
  }

  /// A row of 12 or 13 columns is a matrix where it holds one: nine numbers of a quaternion's row are none.
  PoseFormat told_by(std::span<const std::string_view> columns, std::string_view line) const {
    const bool matrix = columns.size() == kMatrix && (!commas_ || are_matrix(columns));
    const bool timed = columns.size() == kTimeAndMatrix && are_matrix(columns.subspan(1));
    if (names_known_) {
      return !places_.time ? PoseFormat::kitti : commas_ ? PoseFormat::euroc : PoseFormat::tum;
    }
    if (commas_) {
      return matrix ? PoseFormat::kitti : PoseFormat::euroc;
    }
    check(columns.size() == kEuroc || matrix || timed,
          "must have 8 columns (tum), 12 columns (kitti) or commas (euroc), got ", columns.size(),
          " columns: ", quote(line, 40));
    return matrix ? PoseFormat::kitti : PoseFormat::tum;
  }

  /// Whether columns are the numbers of [R t] with a rotation R.
  static bool are_matrix(std::span<const std::string_view> columns) {
    Matrix3 r{};
    for (size_t k = 0; k < kMatrix; ++k) {
      const auto x = parse_real(columns[k]);
      if (!x || !std::isfinite(*x)) {
        return false;
      }
      if (k % 4 < 3) {
        r[3 * (k / 4) + k % 4] = *x;
      }
    }
    return off_rotation(r) <= kOffGroup && determinant(r) > 0;
  }

  /// A line that names the columns without a comment sign, as data frames are written: none of them is a number (nor
  /// `nan`, which is one). It names a rotation, or at least 8 columns between commas: a line of prose names none.
  static bool is_header(std::string_view line) {
    const std::vector<std::string> names = names_of(line);
    const bool numbers = std::ranges::any_of(names, [](const std::string& name) {
      double x = 0;
      return std::from_chars(name.data(), name.data() + name.size(), x).ptr == name.data() + name.size() &&
             !name.empty();
    });
    if (numbers) {
      return false;
    }
    const NamedColumns by = columns_by_names(names);
    return by.pose || !by.fault.empty() ||
           (line.find(',') != std::string_view::npos && names.size() >= kEuroc &&
            std::ranges::none_of(names, &std::string::empty));
  }

  double number(std::string_view column, size_t index) const {
    if (column.starts_with('+')) {
      column.remove_prefix(1);
    }
    double x = 0;
    const auto [stop, error] = std::from_chars(column.data(), column.data() + column.size(), x);
    check(error == std::errc() && stop == column.data() + column.size() && !column.empty(), "column ",
          index + 1, " must be a number, got ", quote(column, 40));
    check(std::isfinite(x), "column ", index + 1, " must be finite, got ", quote(column, 40));
    return x;
  }

  /// False for a repeated time that is to be dropped.
  bool add_time(std::span<const std::string_view> columns) {
    const size_t index = places_.time->column;
    const std::string_view column = columns[index];
    if (places_.rest) {
      const size_t rest = places_.rest->column;
      const int64_t part = nanoseconds(columns[rest], rest, *places_.rest->unit);
      check(part < kSecond, "column ", rest + 1, " must be less than a second beside whole ones, got ",
            quote(columns[rest], 40));
      const int64_t whole = nanoseconds(column, index, kSecond);
      check(whole % kSecond == 0, "column ", index + 1, " must be whole seconds beside their parts, got ",
            quote(column, 40));
      return add_nanoseconds(whole + part, seconds_text(whole + part));
    }
    return unit_ == kSecond ? add_seconds(column, index)
                            : add_nanoseconds(nanoseconds(column, index, unit_), column);
  }

  bool add_seconds(std::string_view column, size_t index) {
    const double t = number(column, index);
    check(std::abs(t) < kSeconds, "column ", index + 1, " must be seconds, below 1e11, got ",
          quote(column, 40), ", which can only be nanoseconds or another small unit");
    if (found_.times.empty()) {
      found_.start = std::string(column);
      first_ = t;
    }
    return add_stamp(t - first_, column, std::string(column));
  }

  /// A time in a unit of so many nanoseconds, exact where it is whole.
  int64_t nanoseconds(std::string_view column, size_t index, int64_t unit) const {
    constexpr double longest = 9.2e18;
    const auto whole = nanoseconds_of(column);
    if (unit == 1) {
      check(whole && *whole >= 0, "column ", index + 1, " must be a whole number of nanoseconds, got ",
            quote(column, 40),
            names_known_ && !places_.time->unit ? "; the header says another unit as `time [s]`" : "");
      return *whole;
    }
    const double t = number(column, index) * static_cast<double>(unit);
    check(t >= 0 && t < longest, "column ", index + 1, " must be a time from 0 to 290 years, got ",
          quote(column, 40));
    return whole ? *whole * unit : std::llround(t);
  }

  bool add_nanoseconds(int64_t t, std::string_view column) {
    if (found_.times.empty()) {
      found_.start = std::string(column);
      first_nanosecond_ = t;
    }
    return add_stamp(static_cast<double>(t - first_nanosecond_) * 1e-9, column, seconds_text(t));
  }

  /// Times of a named column whose unit nobody says are nanoseconds between commas. Where these would be a million poses
  /// a second, they are something else.
  void require_slow_times() const {
    constexpr double fastest = 1e-6;
    const auto gaps = static_cast<double>(found_.times.size()) - 1;
    const bool guessed = names_known_ && places_.time && !places_.time->unit && unit_ == 1;
    require<DataError>(!guessed || gaps < 1 || found_.times.back() >= fastest * gaps, where_,
                       ": times without a unit are taken for nanoseconds, but ", found_.size(), " poses in ",
                       found_.times.empty() ? 0 : found_.times.back(),
                       " s cannot be; say the unit in the header, as `time [s]`");
  }

  /// False for a repeated time that is to be dropped.
  bool add_stamp(double time, std::string_view column, std::string stamp) {
    const bool again = !found_.times.empty() && time == found_.times.back();
    check(!again || repeated_ != RepeatedTimes::refuse, "the time ", quote(column, 40),
          " stands there twice, and nobody can tell which pose is meant; say repeated=keep or repeated=drop "
          "(data.pose_windows.repeated, data.pose_sequences.repeated), or remove one of the two lines");
    if (again && repeated_ == RepeatedTimes::drop) {
      return false;
    }
    check(found_.times.empty() || time >= found_.times.back(), "the time must increase, got ",
          quote(column, 40), " after ", quote(last_time_, 40));
    found_.times.push_back(time);
    found_.stamps.push_back(std::move(stamp));
    last_time_ = std::string(column);
    return true;
  }

  std::array<double, 3> translation_of(std::span<const std::string_view> columns) const {
    std::array<double, 3> t;
    for (size_t k = 0; k < 3; ++k) {
      t[k] = number(columns[places_.translation[k]], places_.translation[k]) * places_.length;
    }
    return t;
  }

  void add_quaternion(std::span<const std::string_view> columns) {
    const std::array<double, 3> t = translation_of(columns);
    std::array<double, 4> q;
    double square = 0;
    for (size_t k = 0; k < 4; ++k) {
      q[k] = number(columns[places_.quaternion[k]], places_.quaternion[k]);
      square += q[k] * q[k];
    }
    // A shifted row of EuRoC shows in its further columns; what a header names otherwise may be text.
    for (size_t k = kEuroc; !names_known_ && k < columns.size(); ++k) {
      number(columns[k], k);
    }
    const double norm = std::sqrt(square), off = std::abs(norm - 1);
    check(off <= kOffGroup, "the quaternion must have norm 1, got ", norm, " (off by ", off, ")");
    add(rotation_of(q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm), t, off);
  }

  void add_matrix(std::span<const std::string_view> columns) {
    Matrix3 r{};
    for (size_t k = 0; k < 9; ++k) {
      r[k] = number(columns[places_.matrix[k]], places_.matrix[k]);
    }
    const std::array<double, 3> t = translation_of(columns);
    const double off = off_rotation(r);
    check(off <= kOffGroup, "the matrix must be a rotation, R^T R is off the identity by ", off);
    check(determinant(r) > 0, "the matrix must be a rotation, it is a reflection");
    add(orthogonalised(r), t, off);
  }

  void add(const Matrix3& r, const std::array<double, 3>& t, double off) {
    for (int i = 0; i < 3; ++i) {
      found_.matrices.insert(found_.matrices.end(), {r[3 * i], r[3 * i + 1], r[3 * i + 2], t[i]});
    }
    found_.matrices.insert(found_.matrices.end(), {0, 0, 0, 1});
    found_.off_group = std::max(found_.off_group, off);
  }

  std::string_view where_;
  std::optional<PoseFormat> format_;
  RepeatedTimes repeated_;
  PoseTrajectory found_;
  std::vector<PoseHeader> headers_;
  bool named_ = false;  // by a line without a comment sign
  PoseColumns places_;
  std::optional<PoseColumns> other_order_;     // of a comment with more or fewer names than columns
  bool commas_ = false, names_known_ = false;  // between columns; the places are those of a header
  int64_t number_ = 0, first_nanosecond_ = 0, unit_ = kSecond;  // of the times, in nanoseconds
  size_t width_ = 0;
  double first_ = 0;
  std::string last_time_;
};

}  // namespace

PoseTrajectory parse_poses(std::string_view file, std::string_view where, std::optional<PoseFormat> format,
                           RepeatedTimes repeated) {
  return PoseReader(file, where, format, repeated).done();
}

PoseTrajectory read_poses(const std::string& path, std::optional<PoseFormat> format, RepeatedTimes repeated) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_poses({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, format, repeated);
}

std::string other_table(const std::string& path) {
  constexpr size_t kSeen = 1 << 16, kListed = 6;
  const MappedFile file(path);
  const auto bytes = file.bytes().first(std::min(file.bytes().size(), kSeen));
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto next_columns = [&] { return columns_of(trimmed_column(take_line(rest)), true); };
  const auto names = next_columns(), row = next_columns();
  const bool named = names.size() >= 2 && std::ranges::none_of(names, [](std::string_view name) {
                       return name.empty() || name.starts_with('#') || parse_real(name).has_value();
                     });
  const bool may_be_euroc = row.size() >= kEuroc && nanoseconds_of(row[0]);
  const NamedColumns by = columns_by_names(std::vector<std::string>(names.begin(), names.end()));
  if (!named || by.pose || !by.fault.empty() || may_be_euroc) {
    return {};
  }
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kListed); ++i) {
    list += (i == 0 ? "" : ", ") + quote(names[i], 40);
  }
  return list + (names.size() > kListed ? ", ..." : "");
}

bool is_pose_file(std::string_view path) {
  return path.ends_with(".txt") || path.ends_with(".csv") || path.ends_with(".tum") ||
         path.ends_with(".kitti");
}

namespace {

/// The unit quaternion x y z w of a rotation, by its largest component (Shepperd), with w >= 0.
std::array<double, 4> quaternion_of(const std::array<double, 9>& r) {
  const double trace = r[0] + r[4] + r[8];
  const std::array<double, 4> squares{1 + 2 * r[0] - trace, 1 + 2 * r[4] - trace, 1 + 2 * r[8] - trace,
                                      1 + trace};
  const auto k = std::ranges::max_element(squares) - squares.begin();
  std::array<double, 4> q{};
  const double twice = std::sqrt(squares[k]);  // 2 |q_k|
  if (k == 3) {
    q = {(r[7] - r[5]) / twice, (r[2] - r[6]) / twice, (r[3] - r[1]) / twice, twice};
  } else {
    const auto i = static_cast<size_t>(k), j = (i + 1) % 3, l = (i + 2) % 3;
    q[i] = twice;
    q[j] = (r[3 * i + j] + r[3 * j + i]) / twice;
    q[l] = (r[3 * i + l] + r[3 * l + i]) / twice;
    q[3] = (r[3 * l + j] - r[3 * j + l]) / twice;
  }
  double square = 0;
  for (const double x : q) {
    square += x * x;
  }
  const double scale = (q[3] < 0 ? -1 : 1) / std::sqrt(square);
  for (double& x : q) {
    x = x * scale + 0.0;  // no negative zero
  }
  return q;
}

}  // namespace

std::string pose_text(PoseFormat format, std::span<const double> matrices,
                      std::span<const std::string> stamps) {
  const bool tum = format == PoseFormat::tum;
  require(tum || format == PoseFormat::kitti, "pose_text: the format must be tum or kitti");
  require(matrices.size() % 16 == 0, "pose_text: matrices must be (n, 4, 4), got ", matrices.size(),
          " numbers");
  const size_t poses = matrices.size() / 16;
  require(!tum || stamps.size() == poses, "pose_text: tum needs a timestamp for each of ", poses,
          " poses, got ", stamps.size());
  std::string result;
  for (size_t p = 0; p < poses; ++p) {
    const double* g = matrices.data() + 16 * p;
    if (tum) {
      const auto q = quaternion_of({g[0], g[1], g[2], g[4], g[5], g[6], g[8], g[9], g[10]});
      result += stamps[p];
      for (const double x : {g[3], g[7], g[11], q[0], q[1], q[2], q[3]}) {
        result += ' ';
        append_number(result, x);
      }
    } else {
      for (int k = 0; k < 12; ++k) {
        result += k == 0 ? "" : " ";
        append_number(result, g[k]);
      }
    }
    result += '\n';
  }
  return result;
}

namespace {

/// A timestamp in seconds, with the digits of a clock's nanoseconds.
long double parsed_stamp(std::string_view s) {
  if (s.starts_with('+')) {
    s.remove_prefix(1);
  }
  long double x = 0;
  std::from_chars(s.data(), s.data() + s.size(), x);
  return x;
}

std::string stamp_text(long double seconds, int digits) {
  std::array<char, 64> text;
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed, digits);
  return error == std::errc() ? std::string(text.data(), end) : "";
}

}  // namespace

std::vector<long double> seconds_of(std::span<const std::string> stamps) {
  std::vector<long double> seconds;
  for (const std::string& stamp : stamps) {
    seconds.push_back(parsed_stamp(stamp));
  }
  return seconds;
}

std::string stamp_after(const std::string& stamp, long double seconds) {
  return stamp_text(parsed_stamp(stamp) + seconds, 9);
}

std::string stamp_between(const std::string& a, const std::string& b, std::string_view where) {
  const long double low = parsed_stamp(a), high = parsed_stamp(b), middle = low + (high - low) / 2;
  for (const int digits : {9, 18}) {
    const std::string stamp = stamp_text(middle, digits);
    if (const long double t = parsed_stamp(stamp); !stamp.empty() && t > low && t < high) {
      return stamp;
    }
  }
  throw DataError(weyl::text(where, ": has no time between ", quote(a, 40), " and ", quote(b, 40)));
}

}  // namespace weyl
