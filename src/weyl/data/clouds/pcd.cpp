#include "weyl/data/clouds/pcd.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/little_endian.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr size_t kPcdLine = 65536;  // characters of a line of the header, at most
constexpr uint64_t kPcdColumns = 4096;
constexpr uint64_t kLzfRatio = 264;  // bytes that three of LZF become, at most

std::vector<std::string_view> pcd_words(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
      return words;
    }
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

struct PcdField {
  std::string name;
  uint64_t size = 0, count = 1;
  char type = 'F';
  uint64_t offset = 0;  // of its first number in a point

  bool padding() const { return name == "_"; }
  bool packed() const { return (name == "rgb" || name == "rgba") && size == 4 && count == 1; }
  uint64_t columns() const { return padding() ? 0 : packed() ? (name == "rgba" ? 4 : 3) : count; }
};

class PcdReader {
 public:
  PcdReader(std::string_view file, std::string_view where) : rest_(file), where_(where) {
    read_header();
    const std::string kind(data_);
    if (kind == "ascii") {
      read_text();
    } else if (kind == "binary") {
      read_rows(rest_, false);
    } else {
      read_compressed();
    }
    require<DataError>(found_.rows > 0, where_, ": must hold at least one point with a place, holds none");
    found_.values.shrink_to_fit();
  }
  PointTable done() { return std::move(found_); }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      require<DataError>(false, where_, ": ", parts...);
    }
  }

  std::string_view next_line() {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    return line;
  }

  void read_header() {
    std::map<std::string, std::vector<std::string_view>, std::less<>> said;
    while (data_.empty()) {
      check(!rest_.empty(), "must be a PCD file, whose header ends with a line DATA; it ends before");
      const size_t end = rest_.substr(0, kPcdLine + 1).find('\n');
      check(end != std::string_view::npos || rest_.size() <= kPcdLine, "line ", line_ + 1,
            ": a line of the header must have at most ", kPcdLine, " characters");
      auto words = pcd_words(next_line());
      if (words.empty() || words[0].starts_with('#')) {
        continue;
      }
      const std::string key(words[0]);
      constexpr std::array keys{"VERSION", "FIELDS", "SIZE",      "TYPE",   "COUNT",
                                "WIDTH",   "HEIGHT", "VIEWPOINT", "POINTS", "DATA"};
      check(
          std::ranges::find(keys, key) != keys.end(), "line ", line_,
          ": must be of a PCD header (VERSION, FIELDS, SIZE, TYPE, COUNT, WIDTH, HEIGHT, VIEWPOINT, POINTS, DATA), got ",
          quote(key, 40));
      words.erase(words.begin());
      check(!words.empty() && said.emplace(key, words).second, "line ", line_, ": ", key,
            " must be there once, with its values");
      if (key == "DATA") {
        data_ = words[0];
      }
    }
    for (const char* key : {"VERSION", "FIELDS", "SIZE", "TYPE", "WIDTH", "HEIGHT"}) {
      check(said.contains(key), "the header must have a line ", key);
    }
    const std::string_view version = said["VERSION"][0];
    check(version == ".7" || version == "0.7", "the version must be .7, got ", quote(version, 40));
    check(data_ == "ascii" || data_ == "binary" || data_ == "binary_compressed",
          "DATA must be ascii, binary or binary_compressed, got ", quote(data_, 40));
    const uint64_t width = whole(said["WIDTH"], 0, "WIDTH"), height = whole(said["HEIGHT"], 0, "HEIGHT");
    check(height == 0 || width <= UINT32_MAX / height, "WIDTH times HEIGHT must be below 2^32");
    points_ = width * height;
    if (said.contains("POINTS")) {
      const uint64_t points = whole(said["POINTS"], 0, "POINTS");
      check(points == points_, "POINTS must be WIDTH times HEIGHT = ", points_, ", got ", points);
    }
    learn_fields(said);
  }

  uint64_t whole(const std::vector<std::string_view>& words, size_t k, const char* what) const {
    const auto number = parse_integer(words[k]);
    check(number && *number >= 0 && *number <= UINT32_MAX, what, " must be whole numbers from 0 on, got ",
          quote(words[k], 40));
    return static_cast<uint64_t>(*number);
  }

  template <class Said>
  void learn_fields(Said& said) {
    const auto& names = said["FIELDS"];
    for (const char* key : {"SIZE", "TYPE", "COUNT"}) {
      check(!said.contains(key) || said[key].size() == names.size(), key, " must have ", names.size(),
            " values, as FIELDS, has ", said.contains(key) ? said[key].size() : 0);
    }
    uint64_t columns = 0;
    for (size_t k = 0; k < names.size(); ++k) {
      PcdField field{.name = in_small_letters(names[k]), .size = whole(said["SIZE"], k, "SIZE")};
      field.count = said.contains("COUNT") ? whole(said["COUNT"], k, "COUNT") : 1;
      const std::string_view type = said["TYPE"][k];
      const bool real = type == "F";
      check(real || type == "I" || type == "U", "TYPE must be F, I or U, got ", quote(type, 40));
      field.type = type[0];
      check(field.size == 4 || field.size == 8 || (!real && (field.size == 1 || field.size == 2)), "SIZE of ",
            quote(field.name, 40), " must be 4 or 8", real ? "" : ", 1 or 2", ", got ", field.size);
      columns += field.columns();
      check(field.count > 0 && field.count <= kPcdColumns && columns <= kPcdColumns, "must have at most ",
            kPcdColumns, " columns, and COUNT from 1 on");
      field.offset = row_bytes_;
      row_bytes_ += field.size * field.count;
      add_columns(field);
      fields_.push_back(std::move(field));
    }
    for (size_t d = 0; d < 3; ++d) {
      axes_[d] = found_.find(std::array{"x", "y", "z"}[d]);
      check(axes_[d] >= 0, "must have the fields x, y and z, each of one number; there are ",
            joined_printable(found_.names));
    }
  }

  void add_columns(const PcdField& field) {
    const auto add = [&](const std::string& name, bool byte) {
      check(found_.find(name) < 0, "the field ", quote(name, 40), " must be there once");
      found_.names.push_back(name);
      found_.bytes.push_back(byte);
    };
    if (field.packed()) {
      for (const char* channel : {"red", "green", "blue"}) {
        add(channel, true);
      }
      if (field.name == "rgba") {
        add("alpha", true);
      }
    } else if (!field.padding()) {
      for (uint64_t c = 0; c < field.count; ++c) {
        add(field.count == 1 ? field.name : text(field.name, "_", c), field.type == 'U' && field.size == 1);
      }
    }
  }

  void reserve(uint64_t rows) {
    require_memory(rows * found_.names.size() * sizeof(double), where_);
    found_.values.reserve(rows * found_.names.size());
  }

  /// Adds the numbers of a field to the point in the making; of a packed colour its bytes.
  void add_number(const PcdField& field, double x, uint32_t bits) {
    if (!field.packed()) {
      found_.values.push_back(x);
      return;
    }
    for (const int shift : {16, 8, 0}) {
      found_.values.push_back(bits >> static_cast<unsigned>(shift) & 0xFFU);
    }
    if (field.name == "rgba") {
      found_.values.push_back(bits >> 24U);
    }
  }

  /// Keeps the point that was added last, if it has a place.
  void end_point() {
    const size_t width = found_.names.size(), begin = found_.values.size() - width;
    const bool placed =
        std::ranges::all_of(axes_, [&](int64_t k) { return std::isfinite(found_.values[begin + k]); });
    found_.rows += placed ? 1 : 0;
    if (!placed) {
      found_.values.resize(begin);
    }
  }

  void read_text() {
    reserve(std::min<uint64_t>(points_, rest_.size() / 2 + 1));
    uint64_t wanted = 0, points = 0;
    for (const PcdField& field : fields_) {
      wanted += field.count;
    }
    while (!rest_.empty()) {
      const auto words = pcd_words(next_line());
      if (words.empty()) {
        continue;
      }
      check(++points <= points_, "line ", line_, ": must end after ", points_, " points");
      check(words.size() == wanted, "line ", line_, ": must have ", wanted, " numbers, got ", words.size());
      size_t at = 0;
      for (const PcdField& field : fields_) {
        for (uint64_t c = 0; c < field.count; ++c, ++at) {
          const auto x = real_or_nan(words[at]);
          check(x.has_value(), "line ", line_, ": must have numbers, got ", quote(words[at], 40));
          if (!field.padding()) {
            add_number(field, *x, field.packed() ? packed_bits(field, *x) : 0);
          }
        }
      }
      end_point();
    }
    check(points == points_, "must have ", points_, " points, ends after ", points);
  }

  static std::optional<double> real_or_nan(std::string_view word) {
    std::string_view bare = word;
    if (bare.starts_with('-') || bare.starts_with('+')) {
      bare.remove_prefix(1);
    }
    const bool nan =
        bare.size() == 3 && (bare[0] | 32) == 'n' && (bare[1] | 32) == 'a' && (bare[2] | 32) == 'n';
    return nan ? std::optional<double>(NAN) : parse_real(word);
  }

  uint32_t packed_bits(const PcdField& field, double x) const {
    if (field.type == 'F') {
      return std::bit_cast<uint32_t>(static_cast<float>(x));
    }
    check(x == std::floor(x) && x >= INT32_MIN && x <= UINT32_MAX, "line ", line_,
          ": a packed colour must be a whole number of 32 bits, got ", x);
    return static_cast<uint32_t>(static_cast<int64_t>(x));
  }

  /// Binary points: one after the other, or with `by_field` one field of all after the other.
  void read_rows(std::string_view bytes, bool by_field) {
    check(bytes.size() / row_bytes_ >= points_, "must have ", points_, " points of ", row_bytes_,
          " bytes, ends after ", bytes.size() / row_bytes_);
    check(bytes.size() == points_ * row_bytes_, "must end after ", points_, " points, goes on for ",
          bytes.size() - points_ * row_bytes_, " bytes");
    reserve(points_);
    for (uint64_t row = 0; row < points_; ++row) {
      for (const PcdField& field : fields_) {
        for (uint64_t c = 0; c < field.count && !field.padding(); ++c) {
          const uint64_t at = by_field ? field.offset * points_ + (row * field.count + c) * field.size
                                       : row * row_bytes_ + field.offset + c * field.size;
          const char* from = bytes.data() + at;
          add_number(field, number_at(field, from), field.packed() ? from_little_endian<uint32_t>(from) : 0);
        }
      }
      end_point();
    }
  }

  static double number_at(const PcdField& field, const char* from) {
    const auto as = [&]<class T>(T) { return static_cast<double>(from_little_endian<T>(from)); };
    if (field.type == 'F') {
      return field.size == 4 ? as(float{}) : as(double{});
    }
    const bool sign = field.type == 'I';
    switch (field.size) {
      case 1:
        return sign ? as(int8_t{}) : as(uint8_t{});
      case 2:
        return sign ? as(int16_t{}) : as(uint16_t{});
      case 4:
        return sign ? as(int32_t{}) : as(uint32_t{});
      default:
        return sign ? as(int64_t{}) : as(uint64_t{});
    }
  }

  void read_compressed() {
    constexpr size_t sizes = 2 * sizeof(uint32_t);
    check(rest_.size() >= sizes, "must have the sizes of its compressed points, ends before");
    const uint64_t packed = from_little_endian<uint32_t>(rest_.data()),
                   size = from_little_endian<uint32_t>(rest_.data() + 4);
    check(size == points_ * row_bytes_, "the points must be ", points_ * row_bytes_,
          " bytes when unpacked, its compressed part says ", size);
    check(packed == rest_.size() - sizes, "must have ", packed, " compressed bytes, has ",
          rest_.size() - sizes);
    read_rows(lzf_unpacked(rest_.substr(sizes), size, where_), true);
  }

  std::string_view rest_, where_, data_;
  std::vector<PcdField> fields_;
  uint64_t points_ = 0, row_bytes_ = 0;
  std::array<int64_t, 3> axes_{};
  int64_t line_ = 0;
  PointTable found_;
};

}  // namespace

std::string lzf_unpacked(std::string_view packed, uint64_t size, std::string_view where) {
  const auto check = [&](bool holds) {
    require<DataError>(holds, where, ": its compressed bytes are broken, or unpack to other than ", size,
                       " bytes");
  };
  check(size / kLzfRatio <= packed.size());
  require_memory(size, where);
  std::string out;
  out.reserve(size);
  for (size_t at = 0; at < packed.size();) {
    const auto byte = [&](size_t k) {
      check(k < packed.size());
      return static_cast<size_t>(static_cast<unsigned char>(packed[k]));
    };
    const size_t control = byte(at++);
    if (control < 32) {  // so many bytes and one more stand here
      check(control + 1 <= packed.size() - at && control + 1 <= size - out.size());
      out.append(packed.substr(at, control + 1));
      at += control + 1;
      continue;
    }
    size_t length = control >> 5U;
    if (length == 7) {
      length += byte(at++);
    }
    length += 2;
    const size_t back = ((control & 31U) << 8U) + byte(at++) + 1;
    check(back <= out.size() && length <= size - out.size());
    for (size_t k = 0, from = out.size() - back; k < length; ++k) {  // which may overlap with what it writes
      out.push_back(out[from + k]);
    }
  }
  check(out.size() == size);
  return out;
}

PointTable parse_pcd(std::string_view file, std::string_view where) {
  return PcdReader(file, where).done();
}

PointTable read_pcd(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_pcd({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace weyl
