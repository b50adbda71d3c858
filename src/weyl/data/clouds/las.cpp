#include "weyl/data/clouds/las.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/little_endian.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"

namespace weyl {
namespace {

// Places in the header, and of a record in front of the points (VLR).
constexpr size_t kVersion = 24, kHeaderSize = 94, kPointsAt = 96, kRecords = 100, kFormat = 104,
                 kPointBytes = 105, kLegacyPoints = 107, kScale = 131, kOffset = 155, kPoints = 247,
                 kShortestHeader = 227, kHeaderOf14 = 375;
constexpr size_t kRecordHeader = 54, kRecordUser = 2, kRecordId = 18, kRecordSize = 20;
constexpr size_t kExtraDescription = 192, kExtraType = 2, kExtraOptions = 3, kExtraName = 4,
                 kExtraNameSize = 32, kExtraScale = 112, kExtraOffset = 136, kMostExtraNumbers = 3;
constexpr uint8_t kCompressed =
    0xC0;                             // bits of the format by which LASzip says that it has packed the points
constexpr double kAngleStep = 0.006;  // degrees, of the formats from 6 on
constexpr double kWideByte = 257, kByteMost = 255;

enum class Stored : uint8_t { none, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64 };

constexpr std::array<size_t, 11> stored_bytes{0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

double number_at(const std::byte* at, Stored type) {
  switch (type) {
    case Stored::u8:
      return from_little_endian<uint8_t>(at);
    case Stored::i8:
      return from_little_endian<int8_t>(at);
    case Stored::u16:
      return from_little_endian<uint16_t>(at);
    case Stored::i16:
      return from_little_endian<int16_t>(at);
    case Stored::u32:
      return from_little_endian<uint32_t>(at);
    case Stored::i32:
      return from_little_endian<int32_t>(at);
    case Stored::u64:
      return static_cast<double>(from_little_endian<uint64_t>(at));
    case Stored::i64:
      return static_cast<double>(from_little_endian<int64_t>(at));
    case Stored::f32:
      return static_cast<double>(from_little_endian<float>(at));
    case Stored::f64:
      return from_little_endian<double>(at);
    case Stored::none:
      break;
  }
  return 0;
}

/// A column: what stands at `at` of a point, some bits of it, times a factor, and a number.
struct LasColumn {
  std::string name;
  size_t at;
  Stored type;
  double factor = 1, plus = 0;
  unsigned shift = 0, mask = 0;  // mask 0: all bits

  double of(const std::byte* point) const {
    const double stored = number_at(point + at, type);
    return (mask == 0 ? stored : static_cast<unsigned>(stored) >> shift & mask) * factor + plus;
  }
};

/// What a point format has, and how many bytes.
struct LasFormat {
  size_t bytes;
  bool wide;                       // from 6 on
  size_t time, colours, infrared;  // where they are; 0: the format has none
};

constexpr std::array<LasFormat, 11> las_formats{{{20, false, 0, 0, 0},
                                                 {28, false, 20, 0, 0},
                                                 {26, false, 0, 20, 0},
                                                 {34, false, 20, 28, 0},
                                                 {57, false, 20, 0, 0},
                                                 {63, false, 20, 28, 0},
                                                 {30, true, 22, 0, 0},
                                                 {36, true, 22, 30, 0},
                                                 {38, true, 22, 30, 36},
                                                 {59, true, 22, 0, 0},
                                                 {67, true, 22, 30, 36}}};

class LasReader {
 public:
  LasReader(std::span<const std::byte> file, std::string_view where) : file_(file), where_(where) {
    read_header();
    read_extra_bytes();
    read_points();
  }
  PointTable done() { return std::move(found_); }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      require<DataError>(false, where_, ": ", parts...);
    }
  }

  template <class T>
  T at(size_t place) const {
    return from_little_endian<T>(file_.data() + place);
  }

  void read_header() {
    constexpr std::string_view signature = "LASF";
    check(file_.size() >= kShortestHeader &&
              std::ranges::equal(signature, file_.first(signature.size()), {}, {},
                                 [](std::byte b) { return static_cast<char>(b); }),
          "must be a LAS file, whose header begins with LASF and has at least ", kShortestHeader, " bytes");
    const int major = at<uint8_t>(kVersion), minor = at<uint8_t>(kVersion + 1);
    check(major == 1 && minor <= 4, "the version must be 1.0 to 1.4, got ", major, ".", minor);
    const size_t header = at<uint16_t>(kHeaderSize);
    check(header >= (minor == 4 ? kHeaderOf14 : kShortestHeader) && header <= file_.size(),
          "the header must have the size of its version and be there, says ", header, " bytes of ",
          file_.size());
    const auto said = at<uint8_t>(kFormat);
    check(
        (said & kCompressed) == 0,
        "its points are compressed (LAZ); `pdal translate IN.laz OUT.las` or `laszip -i IN.laz -o OUT.las` unpacks them");
    check(said < las_formats.size(), "the point format must be 0 to 10, got ", int{said});
    format_ = &las_formats[said];
    point_bytes_ = at<uint16_t>(kPointBytes);
    check(point_bytes_ >= format_->bytes, "points of format ", int{said}, " must have at least ",
          format_->bytes, " bytes, have ", point_bytes_);
    first_point_ = at<uint32_t>(kPointsAt);
    check(first_point_ >= header && first_point_ <= file_.size(),
          "the points must begin behind the header of ", header, " bytes and within the file, begin at ",
          first_point_);
    points_ = minor == 4 ? at<uint64_t>(kPoints) : at<uint32_t>(kLegacyPoints);
    check(points_ > 0, "must hold at least one point, holds none");
    const uint64_t there = (file_.size() - first_point_) / point_bytes_;
    check(there >= points_, "must have ", points_, " points of ", point_bytes_, " bytes, ends after ", there);
    const bool wide = format_->wide;
    for (size_t d = 0; d < 3; ++d) {
      const auto scale = at<double>(kScale + d * sizeof(double)),
                 offset = at<double>(kOffset + d * sizeof(double));
      check(std::isfinite(scale) && scale != 0 && std::isfinite(offset),
            "scales must be numbers other than 0, and offsets numbers");
      columns_.push_back({std::string(1, "xyz"[d]), d * sizeof(int32_t), Stored::i32, scale, offset});
    }
    columns_.push_back({"intensity", 12, Stored::u16});
    columns_.push_back({.name = "return_number", .at = 14, .type = Stored::u8, .mask = wide ? 15U : 7U});
    columns_.push_back({.name = "number_of_returns",
                        .at = 14,
                        .type = Stored::u8,
                        .shift = wide ? 4U : 3U,
                        .mask = wide ? 15U : 7U});
    columns_.push_back({.name = "classification",
                        .at = wide ? size_t{16} : size_t{15},
                        .type = Stored::u8,
                        .mask = wide ? 255U : 31U});
    columns_.push_back(wide ? LasColumn{"scan_angle", 18, Stored::i16, kAngleStep}
                            : LasColumn{"scan_angle", 16, Stored::i8});
    columns_.push_back({"user_data", 17, Stored::u8});
    columns_.push_back({"point_source_id", wide ? size_t{20} : size_t{18}, Stored::u16});
    if (format_->time > 0) {
      columns_.push_back({"gps_time", format_->time, Stored::f64});
    }
    for (size_t c = 0; format_->colours > 0 && c < 3; ++c) {
      columns_.push_back(
          {std::array{"red", "green", "blue"}[c], format_->colours + c * sizeof(uint16_t), Stored::u16});
    }
    if (format_->infrared > 0) {
      columns_.push_back({"nir", format_->infrared, Stored::u16});
    }
  }

  /// The record of LASF_Spec with number 4, which says what stands behind the points' own numbers.
  void read_extra_bytes() {
    size_t place = at<uint16_t>(kHeaderSize);
    const auto records = at<uint32_t>(kRecords);
    for (uint32_t r = 0; r < records; ++r) {
      check(place + kRecordHeader <= first_point_, "its ", records,
            " records must end before the points; record ", r + 1, " does not");
      const size_t size = at<uint16_t>(place + kRecordSize), begin = place + kRecordHeader;
      check(begin + size <= first_point_, "its ", records, " records must end before the points; record ",
            r + 1, " does not");
      constexpr std::string_view spec = "LASF_Spec";
      const bool described = at<uint16_t>(place + kRecordId) == 4 &&
                             std::ranges::equal(spec, file_.subspan(place + kRecordUser, spec.size()), {}, {},
                                                [](std::byte b) { return static_cast<char>(b); });
      if (described) {
        add_extra_columns(begin, size);
        return;
      }
      place = begin + size;
    }
  }

  void add_extra_columns(size_t begin, size_t size) {
    check(size % kExtraDescription == 0, "extra bytes must be described by ", kExtraDescription,
          " bytes each, the record has ", size);
    size_t in_point = format_->bytes;
    for (size_t place = begin; place < begin + size; place += kExtraDescription) {
      const size_t type = at<uint8_t>(place + kExtraType), options = at<uint8_t>(place + kExtraOptions);
      const auto* first = reinterpret_cast<const char*>(file_.data()) + place + kExtraName;
      const std::string name(first, std::find(first, first + kExtraNameSize, '\0'));
      check(type <= kMostExtraNumbers * (stored_bytes.size() - 1), "extra bytes ", quote(name, 40),
            " must be one to three numbers (types 1 to 30) or bare bytes, are of type ", type);
      const size_t numbers = type == 0 ? 0 : (type - 1) / (stored_bytes.size() - 1) + 1;
      const size_t stored = type == 0 ? 0 : (type - 1) % (stored_bytes.size() - 1) + 1;
      const size_t bytes =
          type == 0 ? options : numbers * stored_bytes[stored];  // bare bytes say their number there
      check(in_point + bytes <= point_bytes_, "extra bytes ", quote(name, 40), " must be within the ",
            point_bytes_, " bytes of a point, are not");
      for (size_t k = 0; k < numbers && !name.empty(); ++k) {
        LasColumn column{own_name(in_small_letters(numbers == 1 ? name : text(name, "_", k))),
                         in_point + k * stored_bytes[stored], static_cast<Stored>(stored)};
        column.factor = (options & 8U) != 0 ? at<double>(place + kExtraScale + k * sizeof(double)) : 1;
        column.plus = (options & 16U) != 0 ? at<double>(place + kExtraOffset + k * sizeof(double)) : 0;
        columns_.push_back(std::move(column));
      }
      in_point += bytes;
    }
  }

  /// A name that no column has: this one, or with _2, _3, ... behind it.
  std::string own_name(const std::string& name) const {
    std::string own = name;
    for (int k = 2; std::ranges::find(columns_, own, &LasColumn::name) != columns_.end(); ++k) {
      own = text(name, "_", k);
    }
    return own;
  }

  void read_points() {
    const size_t width = columns_.size();
    require_memory(points_ * width * sizeof(double), where_);
    found_.rows = static_cast<int64_t>(points_);
    found_.values.reserve(points_ * width);
    for (uint64_t p = 0; p < points_; ++p) {
      const std::byte* point = file_.data() + first_point_ + p * point_bytes_;
      for (const LasColumn& column : columns_) {
        found_.values.push_back(column.of(point));
      }
      for (size_t d = 0; d < 3; ++d) {
        check(std::isfinite(found_.values[p * width + d]), "coordinates must be finite, of point ", p,
              " they are not");
      }
    }
    for (const LasColumn& column : columns_) {
      found_.names.push_back(column.name);
      found_.bytes.push_back(false);
    }
    // Not by the file's own brightest point, as of colours: many scanners' intensities are around a byte's, and what one
    // means must not hang on another.
    make_bytes("intensity", 1, true);
    if (format_->colours > 0) {
      make_bytes("red", format_->infrared > 0 ? 4 : 3, false);
    }
  }

  /// Of so many columns from one on, each of 16 bits. `always`: also where none of them is above a byte's.
  void make_bytes(std::string_view name, size_t count, bool always) {
    const auto first = static_cast<size_t>(found_.find(name)), width = columns_.size(), last = first + count;
    double most = 0;
    for (size_t row = 0; row < points_; ++row) {
      for (size_t k = first; k < last; ++k) {
        most = std::max(most, found_.values[row * width + k]);
      }
    }
    for (size_t k = first; k < last; ++k) {
      found_.bytes[k] = true;
      for (size_t row = 0; row < points_ && (always || most > kByteMost); ++row) {
        found_.values[row * width + k] /= kWideByte;
      }
    }
  }

  std::span<const std::byte> file_;
  std::string_view where_;
  const LasFormat* format_ = nullptr;
  size_t point_bytes_ = 0, first_point_ = 0;
  uint64_t points_ = 0;
  std::vector<LasColumn> columns_;
  PointTable found_;
};

}  // namespace

PointTable parse_las(std::span<const std::byte> file, std::string_view where) {
  return LasReader(file, where).done();
}

PointTable read_las(const std::string& path) {
  const MappedFile file(path);
  return parse_las(file.bytes(), path);
}

}  // namespace weyl
