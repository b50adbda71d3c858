#include "weyl/data/volumes/text_volumes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {
namespace {

constexpr size_t kLongestHeader = size_t{1} << 16;
constexpr std::string_view kNrrd = "NRRD000";

/// A header's lines by their keys, and where the values begin.
struct TextHeader {
  std::map<std::string, std::string, std::less<>> values;
  size_t data = 0;
  std::string where;

  const std::string* find(std::string_view key) const {
    const auto found = values.find(key);
    return found == values.end() ? nullptr : &found->second;
  }
  const std::string& at(std::string_view key) const {
    const std::string* found = find(key);
    require<DataError>(found != nullptr, where, ": its header must have ", quote(std::string(key), 40));
    return *found;
  }
  /// The value of the first of some keys that is there.
  std::string any(std::initializer_list<std::string_view> keys, std::string_view otherwise) const {
    for (const std::string_view key : keys) {
      if (const std::string* found = find(key)) {
        return *found;
      }
    }
    return std::string(otherwise);
  }
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    throw DataError(text(where, ": ", parts...));
  }
};

/// What both formats say of a volume.
struct TextVolume {
  NiftiHeader header;
  bool big_endian = false, deflated = false;
};

std::string stripped(std::string_view s) {
  const size_t begin = s.find_first_not_of(" \t\r"), end = s.find_last_not_of(" \t\r");
  return begin == std::string_view::npos ? "" : std::string(s.substr(begin, end + 1 - begin));
}

/// Numbers that blanks part, exactly so many.
std::vector<double> numbers(const TextHeader& header, std::string_view key, std::string_view value,
                            size_t count) {
  std::vector<double> result;
  const char *at = value.data(), *end = at + value.size();
  while (at != end) {
    if (*at == ' ' || *at == '\t') {
      ++at;
      continue;
    }
    double x = 0;
    const auto [next, error] = std::from_chars(at, end, x);
    if (error != std::errc() || !std::isfinite(x) || (next != end && *next != ' ' && *next != '\t')) {
      break;
    }
    result.push_back(x);
    at = next;
  }
  if (at != end || result.size() != count) {
    header.refuse(quote(std::string(key), 40), " must be ", count, " numbers, got ",
                  quote(std::string(value), 80));
  }
  return result;
}

void set_sizes(TextVolume& volume, const TextHeader& header, std::string_view key) {
  for (const double n : numbers(header, key, header.at(key), 3)) {
    if (!(n >= 1 && n <= 1e9 && n == std::floor(n))) {
      header.refuse(quote(std::string(key), 40), " must be three whole numbers from 1 on, got ", n);
    }
    volume.header.shape.push_back(static_cast<int64_t>(n));
  }
}

/// Directions of the axes with their lengths, and the origin, in a unit of so many mm, of a space in which `left` and
/// `posterior` say how x and y run.
void set_place(TextVolume& volume, const std::array<std::array<double, 3>, 3>& axes,
               const std::vector<double>& origin, double unit, bool left, bool posterior) {
  NiftiGeometry& g = volume.header.geometry;
  g.sform_code = 1;
  const std::array<double, 3> sign{left ? -unit : unit, posterior ? -unit : unit, unit};
  for (size_t d = 0; d < 3; ++d) {
    for (size_t c = 0; c < 3; ++c) {
      g.srow[4 * d + c] = sign[d] * axes[c][d];
    }
    g.srow[4 * d + 3] = sign[d] * origin[d];
    g.pixdim[d + 1] = unit * std::hypot(axes[d][0], axes[d][1], axes[d][2]);
  }
}

/// How many mm a unit of length is; of one that is not said 1.
double millimetres_of(const TextHeader& header, std::string_view key, const std::string& unit) {
  static const std::map<std::string_view, double> units{
      {"", 1},           {"?", 1},          {"mm", 1},         {"millimeter", 1},
      {"millimetre", 1}, {"um", 1e-3},      {"\u00b5m", 1e-3}, {"\u03bcm", 1e-3},
      {"micron", 1e-3},  {"microns", 1e-3}, {"cm", 10},        {"m", 1e3}};
  const auto found = units.find(in_small_letters(unit));
  if (found == units.end()) {
    header.refuse(quote(std::string(key), 40), " must be mm, um, cm or m, got ", quote(unit, 40));
  }
  return found->second;
}

/// Lines up to one at which `ends` says so, which is still read. Where keys may be written in any letters they are in small
/// ones.
TextHeader lines_of(std::span<const std::byte> file, std::string_view where, std::string_view separator,
                    bool any_letters, bool (*ends)(const std::string& key)) {
  TextHeader header;
  header.where = where;
  const std::string_view all(reinterpret_cast<const char*>(file.data()),
                             std::min(file.size(), kLongestHeader));
  size_t at = 0;
  while (true) {
    const size_t end = all.find('\n', at);
    if (end == std::string_view::npos) {
      header.refuse("its header must end within ", kLongestHeader, " bytes");
    }
    const std::string line = stripped(all.substr(at, end - at));
    at = end + 1;
    const size_t part = line.find(separator);
    std::string key = part == std::string::npos ? "" : stripped(std::string_view(line).substr(0, part));
    key = any_letters ? in_small_letters(std::move(key)) : key;
    const bool said = !key.empty() && !line.starts_with('#');
    if (said) {
      const bool first =
          header.values.emplace(key, stripped(std::string_view(line).substr(part + separator.size()))).second;
      if (!first) {
        header.refuse("its header must have ", quote(key, 40), " once");
      }
    }
    if (ends(said || line.empty() ? key : "?")) {
      header.data = at;
      return header;
    }
  }
}

bool is_true(const TextHeader& header, std::string_view key, std::string_view otherwise) {
  const std::string value = in_small_letters(header.any({key}, otherwise));
  if (value != "true" && value != "false") {
    header.refuse(quote(std::string(key), 40), " must be True or False, got ", quote(value, 40));
  }
  return value == "true";
}

TextVolume meta_image(const TextHeader& header) {
  static const std::map<std::string_view, ElementType> types{
      {"MET_CHAR", ElementType::i8},       {"MET_UCHAR", ElementType::u8},
      {"MET_SHORT", ElementType::i16},     {"MET_USHORT", ElementType::u16},
      {"MET_INT", ElementType::i32},       {"MET_UINT", ElementType::u32},
      {"MET_LONG_LONG", ElementType::i64}, {"MET_ULONG_LONG", ElementType::u64},
      {"MET_FLOAT", ElementType::f32},     {"MET_DOUBLE", ElementType::f64}};
  TextVolume volume;
  if (header.at("NDims") != "3" || header.any({"ElementNumberOfChannels"}, "1") != "1") {
    header.refuse("must have three axes and one number a voxel; a case's channels are a file each");
  }
  if (header.at("ElementDataFile") != "LOCAL") {
    header.refuse("its values must be in the same file, got ElementDataFile = ",
                  quote(header.at("ElementDataFile"), 60), "; save it as .mha");
  }
  if (!is_true(header, "BinaryData", "False")) {
    header.refuse("its values must be binary, got BinaryData = False");
  }
  const auto type = types.find(header.at("ElementType"));
  if (type == types.end()) {
    header.refuse("ElementType must be whole or real numbers of a known size, got ",
                  quote(header.at("ElementType"), 40));
  }
  volume.header.type = type->second;
  volume.big_endian = is_true(
      header,
      header.find("ElementByteOrderMSB") != nullptr ? "ElementByteOrderMSB" : "BinaryDataByteOrderMSB",
      "False");
  volume.deflated = is_true(header, "CompressedData", "False");
  set_sizes(volume, header, "DimSize");
  const auto spacing =
      numbers(header, "ElementSpacing", header.any({"ElementSpacing", "ElementSize"}, "1 1 1"), 3);
  const auto matrix =
      numbers(header, "TransformMatrix",
              header.any({"TransformMatrix", "Orientation", "Rotation"}, "1 0 0 0 1 0 0 0 1"), 9);
  std::array<std::array<double, 3>, 3> axes{};
  for (size_t c = 0; c < 3; ++c) {
    for (size_t d = 0; d < 3; ++d) {
      axes[c][d] = matrix[3 * c + d] * spacing[c];
    }
  }
  set_place(volume, axes, numbers(header, "Offset", header.any({"Offset", "Position", "Origin"}, "0 0 0"), 3),
            millimetres_of(header, "DistanceUnits", header.any({"DistanceUnits"}, "")), true, true);
  return volume;
}

/// Three vectors, "(1,0,0) (0,1,0) (0,0,1)", as nine numbers that blanks part.
std::string without_brackets(std::string value) {
  std::ranges::replace_if(value, [](char c) { return c == '(' || c == ')' || c == ','; }, ' ');
  return stripped(value);
}

/// How many mm the unit of an NRRD is: of the space, `"mm" "mm" "mm"`, else of the axes. One for all of them.
double unit_of_nrrd(const TextHeader& header) {
  const char* key = header.find("space directions") != nullptr || header.find("space units") != nullptr
                        ? "space units"
                        : "units";
  std::string rest = header.any({key}, ""), unit;
  for (int count = 0; !rest.empty(); ++count) {
    const size_t end = rest.starts_with('"') ? rest.find('"', 1) : std::string::npos;
    if (end == std::string::npos) {
      header.refuse(quote(std::string(key), 40), " must be units in quotes, got ", quote(rest, 40));
    }
    const std::string of = rest.substr(1, end - 1);
    if (count > 0 && of != unit) {
      header.refuse(quote(std::string(key), 40), " must be one for all axes, got ", quote(unit, 20), " and ",
                    quote(of, 20));
    }
    unit = of;
    rest = stripped(std::string_view(rest).substr(end + 1));
  }
  return millimetres_of(header, key, unit);
}

TextVolume nrrd(const TextHeader& header) {
  static const std::map<std::string_view, ElementType> types{
      {"signed char", ElementType::i8},     {"int8", ElementType::i8},
      {"int8_t", ElementType::i8},          {"uchar", ElementType::u8},
      {"unsigned char", ElementType::u8},   {"uint8", ElementType::u8},
      {"uint8_t", ElementType::u8},         {"short", ElementType::i16},
      {"short int", ElementType::i16},      {"int16", ElementType::i16},
      {"int16_t", ElementType::i16},        {"ushort", ElementType::u16},
      {"unsigned short", ElementType::u16}, {"uint16", ElementType::u16},
      {"uint16_t", ElementType::u16},       {"int", ElementType::i32},
      {"int32", ElementType::i32},          {"int32_t", ElementType::i32},
      {"uint", ElementType::u32},           {"unsigned int", ElementType::u32},
      {"uint32", ElementType::u32},         {"uint32_t", ElementType::u32},
      {"longlong", ElementType::i64},       {"long long", ElementType::i64},
      {"int64", ElementType::i64},          {"int64_t", ElementType::i64},
      {"ulonglong", ElementType::u64},      {"unsigned long long", ElementType::u64},
      {"uint64", ElementType::u64},         {"uint64_t", ElementType::u64},
      {"float", ElementType::f32},          {"double", ElementType::f64}};
  TextVolume volume;
  if (header.at("dimension") != "3") {
    header.refuse("must have three axes, got ", quote(header.at("dimension"), 20),
                  "; a case's channels are a file each");
  }
  for (const char* other : {"data file", "datafile", "line skip", "lineskip", "byte skip", "byteskip"}) {
    if (header.find(other) != nullptr && *header.find(other) != "0") {
      header.refuse("its values must follow the header in the same file, got ",
                    quote(std::string(other), 20));
    }
  }
  const auto type = types.find(in_small_letters(header.at("type")));
  if (type == types.end()) {
    header.refuse("type must be whole or real numbers, got ", quote(header.at("type"), 40));
  }
  volume.header.type = type->second;
  const std::string encoding = in_small_letters(header.at("encoding"));
  volume.deflated = encoding == "gzip" || encoding == "gz";
  if (!volume.deflated && encoding != "raw") {
    header.refuse("encoding must be raw or gzip, got ", quote(encoding, 40));
  }
  const std::string endian =
      in_small_letters(header.any({"endian"}, size_of(volume.header.type) == 1 ? "little" : ""));
  if (endian != "little" && endian != "big") {
    header.refuse("endian must be little or big, got ", quote(endian, 40));
  }
  volume.big_endian = endian == "big";
  set_sizes(volume, header, "sizes");
  const std::string space = in_small_letters(header.any({"space"}, ""));
  const bool lps = space == "left-posterior-superior" || space == "lps",
             las = space == "left-anterior-superior" || space == "las";
  if (!space.empty() && !lps && !las && space != "right-anterior-superior" && space != "ras") {
    header.refuse(
        "space must be left-posterior-superior, left-anterior-superior or right-anterior-superior, got ",
        quote(space, 60));
  }
  std::array<std::array<double, 3>, 3> axes{};
  if (const std::string* directions = header.find("space directions")) {
    const auto of = numbers(header, "space directions", without_brackets(*directions), 9);
    for (size_t k = 0; k < 9; ++k) {
      axes[k / 3][k % 3] = of[k];
    }
  } else {
    const auto spacing = numbers(header, "spacings", header.any({"spacings"}, "1 1 1"), 3);
    for (size_t c = 0; c < 3; ++c) {
      axes[c][c] = spacing[c];
    }
  }
  set_place(volume, axes,
            numbers(header, "space origin", without_brackets(header.any({"space origin"}, "(0,0,0)")), 3),
            unit_of_nrrd(header), lps || las, lps);
  return volume;
}

/// The header and, when a limit is given, the values.
Nifti parse_text(std::span<const std::byte> file, std::string_view where, std::optional<uint64_t> limit) {
  const std::string_view begin(reinterpret_cast<const char*>(file.data()),
                               std::min(file.size(), kLongestHeader));
  const bool is_nrrd = begin.starts_with(kNrrd);
  require<DataError>(is_nrrd || begin.starts_with("ObjectType") || begin.starts_with("NDims"), where,
                     ": is neither MetaImage nor NRRD, by its first line");
  const TextHeader header =
      is_nrrd ? lines_of(file, where, ": ", true, [](const std::string& key) { return key.empty(); })
              : lines_of(file, where, "=", false,
                         [](const std::string& key) { return key == "ElementDataFile"; });
  const TextVolume volume = is_nrrd ? nrrd(header) : meta_image(header);
  require_affine(volume.header, where);
  Nifti result{volume.header, {}};
  const auto bytes = byte_count(volume.header.type, volume.header.shape);
  require<DataError>(bytes.has_value(), where, ": sizes ", shape_text(volume.header.shape),
                     " are beyond any memory");
  const auto values = file.subspan(header.data);
  std::optional<GzipReader> reader;
  if (volume.deflated) {
    reader.emplace(values, where);
  }
  const uint64_t most = reader ? reader->most_bytes() : values.size();
  const auto require_bytes = [&](uint64_t there) {
    require<DataError>(there >= *bytes, where, ": sizes ", shape_text(volume.header.shape), " of type ",
                       name_of(volume.header.type), " need ", *bytes, " bytes, the file has ",
                       reader ? "at most " : "", there);
  };
  require_bytes(most);
  if (!limit) {
    return result;
  }
  require<DataError>(*bytes <= *limit, where, ": sizes ", shape_text(volume.header.shape), " of type ",
                     name_of(volume.header.type), " need ", *bytes, " bytes, more than the limit of ",
                     *limit);
  require_memory(*bytes, where);
  if (reader) {
    result.bytes = inflated(*reader, *bytes);
    require_bytes(result.bytes.size());
    reader->finish();
  } else {
    result.bytes.assign(values.begin(), values.begin() + static_cast<int64_t>(*bytes));
  }
  if (volume.big_endian) {
    swap_voxel_bytes(result.bytes, size_of(volume.header.type));
  }
  return result;
}

bool is_text_volume(std::string_view path) {
  return path.ends_with(".mha") || path.ends_with(".nrrd");
}

}  // namespace

Nifti parse_text_volume(std::span<const std::byte> file, std::string_view where, uint64_t limit) {
  return parse_text(file, where, limit);
}

Nifti read_volume(const std::string& path, uint64_t limit) {
  if (!is_text_volume(path)) {
    return read_nifti(path, limit);
  }
  const MappedFile file(path);
  return parse_text(file.bytes(), path, limit);
}

NiftiHeader read_volume_header(const std::string& path) {
  if (!is_text_volume(path)) {
    return read_nifti_header(path);
  }
  const MappedFile file(path);
  return parse_text(file.bytes(), path, {}).header;
}

bool is_volume_file(std::string_view path) {
  return is_nifti(path) || is_text_volume(path);
}

}  // namespace weyl
