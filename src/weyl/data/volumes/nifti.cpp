#include "weyl/data/volumes/nifti.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "weyl/algebra/lattice/cell.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are written as the machine has them");

constexpr std::pair<int, ElementType> kTypes[] = {
    {2, ElementType::u8},     {4, ElementType::i16},   {8, ElementType::i32},   {16, ElementType::f32},
    {64, ElementType::f64},   {256, ElementType::i8},  {512, ElementType::u16}, {768, ElementType::u32},
    {1024, ElementType::i64}, {1280, ElementType::u64}};

std::optional<ElementType> type_of(int code) {
  for (const auto& [number, type] : kTypes) {
    if (number == code) {
      return type;
    }
  }
  return {};
}

/// Where the fields of the two versions stand, in bytes.
struct Places {
  size_t dim, datatype, bitpix, pixdim, vox_offset, slope, intercept, units, qform, sform, quatern, qoffset,
      srow, magic;
};
constexpr Places kFirst{40, 70, 72, 76, 108, 112, 116, 123, 252, 254, 256, 268, 280, 344};
constexpr Places kSecond{16, 12, 14, 104, 168, 176, 184, 500, 344, 348, 352, 376, 400, 4};

template <class T>
T get(std::span<const std::byte> file, size_t at, bool swapped) {
  std::byte raw[sizeof(T)];
  std::memcpy(raw, file.data() + at, sizeof(T));
  if (swapped) {
    std::reverse(raw, raw + sizeof(T));
  }
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return value;
}

/// The fields of either version by one name each.
struct HeaderFields {
  std::span<const std::byte> file;
  bool second, swapped;
  const Places& at;

  double real(size_t place, size_t index = 0) const {
    return second ? get<double>(file, place + 8 * index, swapped)
                  : static_cast<double>(get<float>(file, place + 4 * index, swapped));
  }
  int64_t size(size_t index) const {
    return second ? get<int64_t>(file, at.dim + 8 * index, swapped)
                  : get<int16_t>(file, at.dim + 2 * index, swapped);
  }
  int32_t code(size_t place) const {
    return second ? get<int32_t>(file, place, swapped) : get<int16_t>(file, place, swapped);
  }
  int16_t half(size_t place) const { return get<int16_t>(file, place, swapped); }
};

std::vector<int64_t> parse_shape(const HeaderFields& f, std::string_view where) {
  const int64_t axes = f.size(0);
  require<DataError>(axes >= 1 && axes <= 7, where, ": the number of axes must be 1 .. 7, got ", axes);
  std::vector<int64_t> shape;
  for (int64_t d = 1; d <= axes; ++d) {
    shape.push_back(f.size(static_cast<size_t>(d)));
    require<DataError>(shape.back() > 0, where, ": the size of axis ", d, " must be positive, got ",
                       shape.back());
  }
  shape.resize(std::max<size_t>(shape.size(), 3), 1);
  return shape;
}

uint64_t parse_offset(const HeaderFields& f, std::string_view where) {
  const double offset = f.second ? static_cast<double>(get<int64_t>(f.file, f.at.vox_offset, f.swapped))
                                 : f.real(f.at.vox_offset);
  const double least = f.second ? kNifti2Header : kNifti1Header;
  require<DataError>(offset >= least && offset < 0x1p62, where,
                     ": its values must begin after the header, at byte ", least,
                     " or later, got vox_offset ", offset);
  return static_cast<uint64_t>(offset);
}

NiftiGeometry parse_geometry(const HeaderFields& f) {
  NiftiGeometry g;
  for (size_t i = 0; i < 8; ++i) {
    g.pixdim[i] = f.real(f.at.pixdim, i);
  }
  for (size_t i = 0; i < 3; ++i) {
    g.quatern[i] = f.real(f.at.quatern, i);
    g.qoffset[i] = f.real(f.at.qoffset, i);
  }
  for (size_t i = 0; i < 12; ++i) {
    g.srow[i] = f.real(f.at.srow, i);
  }
  g.qform_code = f.code(f.at.qform);
  g.sform_code = f.code(f.at.sform);
  g.xyzt_units = f.second ? f.code(f.at.units) : static_cast<int32_t>(f.file[f.at.units]);
  return g;
}

template <class T>
void put(std::vector<std::byte>& to, size_t at, T value) {
  std::memcpy(to.data() + at, &value, sizeof(T));
}

}  // namespace

void require_affine(const NiftiHeader& header, std::string_view where) {
  const NiftiAffine a = affine_of(header);
  const bool finite = std::all_of(a.begin(), a.end(), [](double x) { return std::isfinite(x); });
  const double determinant = a[0] * (a[5] * a[10] - a[6] * a[9]) - a[1] * (a[4] * a[10] - a[6] * a[8]) +
                             a[2] * (a[4] * a[9] - a[5] * a[8]);
  double volume = 1;
  for (size_t c = 0; c < 3; ++c) {
    volume *= std::hypot(a[c], a[4 + c], a[8 + c]);
  }
  constexpr double kFlat = 1e-6;  // of the volume that right angles would give
  require<DataError>(finite && std::isfinite(volume) && volume > 0 && std::abs(determinant) > kFlat * volume,
                     where, ": its affine (",
                     header.geometry.sform_code > 0   ? "sform"
                     : header.geometry.qform_code > 0 ? "qform"
                                                      : "pixdim",
                     ") must be invertible, got determinant ", determinant);
}

int nifti_code(ElementType type) {
  for (const auto& [number, of] : kTypes) {
    if (of == type) {
      return number;
    }
  }
  return 0;
}

size_t nifti_header_size(std::span<const std::byte> file) {
  if (file.size() < 4) {
    return 0;
  }
  for (const bool swapped : {false, true}) {
    const auto size = get<int32_t>(file, 0, swapped);
    if (size == static_cast<int32_t>(kNifti1Header) || size == static_cast<int32_t>(kNifti2Header)) {
      return static_cast<size_t>(size);
    }
  }
  return 0;
}

NiftiLayout parse_nifti_header(std::span<const std::byte> file, std::string_view where) {
  const size_t size = nifti_header_size(file);
  require<DataError>(size > 0, where, ": is no NIfTI: it must begin with the header size 348 or 540, got ",
                     file.size() < 4 ? "the end of the file" : std::to_string(get<int32_t>(file, 0, false)));
  require<DataError>(file.size() >= size, where, ": the header must have ", size, " bytes, got ",
                     file.size());
  const bool second = size == kNifti2Header;
  const HeaderFields f{file, second, get<int32_t>(file, 0, false) != static_cast<int32_t>(size),
                       second ? kSecond : kFirst};
  const std::string_view magic(reinterpret_cast<const char*>(file.data()) + f.at.magic, 4);
  require<DataError>(magic.substr(0, 2) != "ni", where,
                     ": is one half of a .hdr and .img pair; join them into one .nii file");
  const std::string_view wanted = second ? std::string_view("n+2\0", 4) : std::string_view("n+1\0", 4);
  require<DataError>(magic == wanted, where, ": is no NIfTI: its magic must be ", wanted.substr(0, 3),
                     ", got ", quote(magic));
  NiftiLayout result;
  NiftiHeader& header = result.header;
  header.version = second ? 2 : 1;
  const auto type = type_of(f.half(f.at.datatype));
  require<DataError>(
      type.has_value(), where,
      ": its values must be whole or real numbers (u8 .. u64, i8 .. i64, f32, f64), got datatype ",
      f.half(f.at.datatype));
  header.type = *type;
  require<DataError>(f.half(f.at.bitpix) == 8 * size_of(*type), where, ": bitpix must be ",
                     8 * size_of(*type), " for values of type ", name_of(*type), ", got ",
                     f.half(f.at.bitpix));
  header.shape = parse_shape(f, where);
  const auto bytes = byte_count(*type, header.shape);
  require<DataError>(bytes.has_value(), where, ": sizes ", shape_text(header.shape),
                     " are beyond any memory");
  result.bytes = *bytes;
  result.offset = parse_offset(f, where);
  result.swapped = f.swapped;
  const double slope = f.real(f.at.slope), intercept = f.real(f.at.intercept);
  if (slope != 0 && std::isfinite(slope)) {  // by the standard, slope 0 is "not scaled"
    header.slope = slope;
    header.intercept = std::isfinite(intercept) ? intercept : 0;
  }
  header.geometry = parse_geometry(f);
  require_affine(header, where);
  return result;
}

std::vector<std::byte> nifti_header_bytes(const NiftiHeader& header) {
  const bool second = header.version == 2;
  const Places& at = second ? kSecond : kFirst;
  const size_t size = second ? kNifti2Header : kNifti1Header;
  std::vector<std::byte> file(size + 4);
  const auto real = [&](size_t place, double value, size_t index = 0) {
    second ? put(file, place + 8 * index, value) : put(file, place + 4 * index, static_cast<float>(value));
  };
  const auto code = [&](size_t place, int32_t value) {
    second ? put(file, place, value) : put(file, place, static_cast<int16_t>(value));
  };
  put(file, 0, static_cast<int32_t>(size));
  for (size_t d = 0; d < 8; ++d) {
    const int64_t n = d == 0                     ? static_cast<int64_t>(header.shape.size())
                      : d <= header.shape.size() ? header.shape[d - 1]
                                                 : 1;
    second ? put(file, at.dim + 8 * d, n) : put(file, at.dim + 2 * d, static_cast<int16_t>(n));
    real(at.pixdim, header.geometry.pixdim[d], d);
  }
  put(file, at.datatype, static_cast<int16_t>(nifti_code(header.type)));
  put(file, at.bitpix, static_cast<int16_t>(8 * size_of(header.type)));
  second ? put(file, at.vox_offset, static_cast<int64_t>(file.size()))
         : put(file, at.vox_offset, static_cast<float>(file.size()));
  real(at.slope, header.slope);
  real(at.intercept, header.intercept);
  second ? put(file, at.units, header.geometry.xyzt_units)
         : put(file, at.units, static_cast<uint8_t>(header.geometry.xyzt_units));
  code(at.qform, header.geometry.qform_code);
  code(at.sform, header.geometry.sform_code);
  for (size_t i = 0; i < 3; ++i) {
    real(at.quatern, header.geometry.quatern[i], i);
    real(at.qoffset, header.geometry.qoffset[i], i);
  }
  for (size_t i = 0; i < 12; ++i) {
    real(at.srow, header.geometry.srow[i], i);
  }
  const std::string_view magic =
      second ? std::string_view("n+2\0\r\n\032\n", 8) : std::string_view("n+1\0", 4);
  std::memcpy(file.data() + at.magic, magic.data(), magic.size());
  return file;
}

namespace {

NiftiAffine qform(const NiftiGeometry& g) {
  double b = g.quatern[0], c = g.quatern[1], d = g.quatern[2];
  double a = 1 - (b * b + c * c + d * d);
  if (a < 1e-7) {  // a half-turn, or numbers a little too large
    const double norm = std::sqrt(b * b + c * c + d * d);
    b /= norm;
    c /= norm;
    d /= norm;
    a = 0;
  } else {
    a = std::sqrt(a);
  }
  const double x = g.pixdim[1], y = g.pixdim[2], z = g.pixdim[0] < 0 ? -g.pixdim[3] : g.pixdim[3];
  return {(a * a + b * b - c * c - d * d) * x,
          2 * (b * c - a * d) * y,
          2 * (b * d + a * c) * z,
          g.qoffset[0],
          2 * (b * c + a * d) * x,
          (a * a + c * c - b * b - d * d) * y,
          2 * (c * d - a * b) * z,
          g.qoffset[1],
          2 * (b * d - a * c) * x,
          2 * (c * d + a * b) * y,
          (a * a + d * d - b * b - c * c) * z,
          g.qoffset[2]};
}

}  // namespace

void swap_voxel_bytes(std::span<std::byte> bytes, int64_t size) {
  for (size_t i = 0; size > 1 && i + size <= bytes.size(); i += size) {
    std::reverse(bytes.begin() + static_cast<int64_t>(i), bytes.begin() + static_cast<int64_t>(i) + size);
  }
}

std::vector<std::byte> inflated(GzipReader& reader, size_t bytes) {
  constexpr size_t kInflated = size_t{1} << 20;  // bytes inflated at a time
  std::vector<std::byte> result;
  result.reserve(bytes);
  while (result.size() < bytes) {
    const size_t at = result.size();
    result.resize(std::min(bytes, at + kInflated));
    const size_t n = reader.read(std::span(result).subspan(at));
    if (n < result.size() - at) {
      result.resize(at + n);
      break;
    }
  }
  return result;
}

namespace {

/// The header and, when a limit is given, the values; a whole gzip stream is read only for the values.
Nifti parse(std::span<const std::byte> file, std::string_view where, std::optional<uint64_t> limit) {
  const bool zipped = is_gzip(file);
  std::optional<GzipReader> reader;
  std::vector<std::byte> inflated;
  std::span<const std::byte> begin = file;
  if (zipped) {
    reader.emplace(file, where);
    inflated.resize(kNifti2Header);
    size_t found = reader->read(std::span(inflated).first(kNifti1Header));
    if (found == kNifti1Header && nifti_header_size(inflated) == kNifti2Header) {
      found += reader->read(std::span(inflated).subspan(kNifti1Header));
    }
    inflated.resize(found);
    begin = inflated;
  }
  const NiftiLayout layout = parse_nifti_header(begin, where);
  Nifti result{layout.header, {}};
  const auto require_bytes = [&](uint64_t available) {
    require<DataError>(layout.offset <= available && layout.bytes <= available - layout.offset, where,
                       ": sizes ", shape_text(layout.header.shape), " of type ", name_of(layout.header.type),
                       " need ", layout.bytes, " bytes from byte ", layout.offset, ", the file has ",
                       zipped ? "at most " : "", available);
  };
  require_bytes(zipped ? reader->most_bytes() : file.size());
  if (!limit) {
    return result;
  }
  require<DataError>(layout.bytes <= *limit, where, ": sizes ", shape_text(layout.header.shape), " of type ",
                     name_of(layout.header.type), " need ", layout.bytes, " bytes, more than the limit of ",
                     *limit);
  require_memory(layout.bytes, where);
  if (zipped) {
    std::vector<std::byte> skipped(std::min<uint64_t>(layout.offset - inflated.size(), 1U << 16U));
    uint64_t position = inflated.size();
    while (position < layout.offset) {
      const size_t n = reader->read(
          std::span(skipped).first(std::min<uint64_t>(skipped.size(), layout.offset - position)));
      if (n == 0) {
        require_bytes(position);
      }
      position += n;
    }
    result.bytes = weyl::inflated(*reader, layout.bytes);
    if (result.bytes.size() < layout.bytes) {
      require_bytes(layout.offset + result.bytes.size());
    }
    reader->finish();
  } else {
    const auto bytes = file.subspan(layout.offset, layout.bytes);
    result.bytes.assign(bytes.begin(), bytes.end());
  }
  if (layout.swapped) {
    swap_voxel_bytes(result.bytes, size_of(layout.header.type));
  }
  return result;
}

/// Calls f(index, value) for every value as it is stored.
template <class T, class F>
void each_of(const Nifti& image, F f) {
  const size_t count = image.bytes.size() / sizeof(T);
  const std::byte* at = image.bytes.data();
  for (size_t i = 0; i < count; ++i, at += sizeof(T)) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    f(i, value);
  }
}

template <class F>
void each(const Nifti& image, F f) {
  switch (image.header.type) {
    case ElementType::u8:
      return each_of<uint8_t>(image, f);
    case ElementType::i8:
      return each_of<int8_t>(image, f);
    case ElementType::u16:
      return each_of<uint16_t>(image, f);
    case ElementType::i16:
      return each_of<int16_t>(image, f);
    case ElementType::u32:
      return each_of<uint32_t>(image, f);
    case ElementType::i32:
      return each_of<int32_t>(image, f);
    case ElementType::u64:
      return each_of<uint64_t>(image, f);
    case ElementType::i64:
      return each_of<int64_t>(image, f);
    case ElementType::f32:
      return each_of<float>(image, f);
    case ElementType::f64:
      return each_of<double>(image, f);
    default:
      require(false, "nifti: a type that the format lacks, ", name_of(image.header.type));
  }
}

}  // namespace

int64_t NiftiHeader::volumes() const {
  int64_t product = 1;
  for (size_t d = 3; d < shape.size(); ++d) {
    product *= shape[d];
  }
  return product;
}

namespace {

NiftiAffine stated_affine(const NiftiGeometry& g) {
  if (g.sform_code > 0) {
    return g.srow;
  }
  if (g.qform_code > 0) {
    return qform(g);
  }
  return {std::abs(g.pixdim[1]), 0, 0, 0, 0, std::abs(g.pixdim[2]), 0, 0, 0, 0, std::abs(g.pixdim[3]), 0};
}

}  // namespace

NiftiAffine affine_of(const NiftiHeader& header) {
  NiftiAffine affine = stated_affine(header.geometry);
  CellRows columns;
  std::array<bool, 3> there{};
  for (size_t c = 0; c < 3; ++c) {
    columns[c] = {affine[c], affine[4 + c], affine[8 + c]};
    there[c] = header.shape[c] > 1 || columns[c] != Vector3{};
  }
  if (there == std::array{true, true, true}) {
    return affine;
  }
  columns = completed(columns, there);
  for (size_t c = 0; c < 3; ++c) {
    for (size_t d = 0; d < 3; ++d) {
      affine[4 * d + c] = columns[c][d];
    }
  }
  return affine;
}

double millimetres_of(const NiftiHeader& header) {
  const int unit = header.geometry.xyzt_units & 7;
  return unit == 1 ? 1e3 : unit == 3 ? 1e-3 : 1;
}

std::array<double, 3> spacing_of(const NiftiHeader& header) {
  const NiftiAffine a = affine_of(header);
  const double millimetres = millimetres_of(header);
  std::array<double, 3> spacing{};
  for (size_t c = 0; c < 3; ++c) {
    spacing[c] = millimetres * std::hypot(a[c], a[4 + c], a[8 + c]);
  }
  return spacing;
}

NiftiOrientation orientation_of(const NiftiAffine& affine) {
  constexpr double kTie = 1e-6;
  std::array<std::array<double, 3>, 3>
      along{};  // of the file's axis c, how far it runs along canonical axis d
  for (size_t c = 0; c < 3; ++c) {
    for (size_t d = 0; d < 3; ++d) {
      along[c][d] = std::abs(affine[4 * d + c]) / std::hypot(affine[c], affine[4 + c], affine[8 + c]);
    }
  }
  // The first of the axes that are left with the largest value, but for rounding.
  const auto largest = [](const std::array<bool, 3>& taken, auto value) {
    size_t best = 3;
    for (size_t k = 0; k < 3; ++k) {
      best = !taken[k] && (best == 3 || value(k) > value(best) + kTie) ? k : best;
    }
    return best;
  };
  NiftiOrientation found;
  std::array<bool, 3> used{}, given{};  // of the file, canonical
  for (int step = 0; step < 3; ++step) {
    const size_t c = largest(used, [&](size_t k) { return *std::ranges::max_element(along[k]); });
    const size_t d = largest(given, [&](size_t k) { return along[c][k]; });
    used[c] = given[d] = true;
    found.axis[d] = static_cast<int>(c);
    found.flipped[d] = affine[4 * d + c] < 0;
  }
  return found;
}

std::string axis_codes(const NiftiAffine& affine) {
  const NiftiOrientation found = orientation_of(affine);
  std::string codes = "???";
  for (size_t d = 0; d < 3; ++d) {
    codes[static_cast<size_t>(found.axis[d])] = (found.flipped[d] ? "LPI" : "RAS")[d];
  }
  return codes;
}

std::string doubt_of_sizes(const NiftiHeader& header) {
  const NiftiGeometry& g = header.geometry;
  if (g.sform_code <= 0) {
    return {};
  }
  constexpr double kApart = 1e-3;
  std::array<double, 3> sform{}, pixdim{};
  bool differ = false;
  for (size_t c = 0; c < 3; ++c) {
    sform[c] = std::hypot(g.srow[c], g.srow[4 + c], g.srow[8 + c]);
    pixdim[c] = std::abs(g.pixdim[c + 1]);
    differ =
        differ || (pixdim[c] > 0 && std::abs(sform[c] - pixdim[c]) > kApart * std::max(sform[c], pixdim[c]));
  }
  const auto sizes = [](const std::array<double, 3>& x) { return text(x[0], " x ", x[1], " x ", x[2]); };
  return differ ? text("the sform has voxels of ", sizes(sform), ", which are taken, pixdim has ",
                       sizes(pixdim), "; a resampled file may have kept an old sform")
                : "";
}

Nifti parse_nifti(std::span<const std::byte> file, std::string_view where, uint64_t limit) {
  return parse(file, where, limit);
}

Nifti read_nifti(const std::string& path, uint64_t limit) {
  const MappedFile file(path);
  return parse(file.bytes(), path, limit);
}

NiftiHeader read_nifti_header(const std::string& path) {
  const MappedFile file(path);
  return parse(file.bytes(), path, {}).header;
}

std::vector<float> values_of(const Nifti& image) {
  const double slope = image.header.slope, intercept = image.header.intercept;
  std::vector<float> result(image.bytes.size() / size_of(image.header.type));
  if (slope == 1 && intercept == 0) {
    each(image, [&](size_t i, auto value) { result[i] = static_cast<float>(value); });
  } else {
    each(image, [&](size_t i, auto value) {
      result[i] = static_cast<float>(slope * static_cast<double>(value) + intercept);
    });
  }
  return result;
}

std::vector<int64_t> counted_numbers(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<uint8_t> classes_of(const Nifti& image, std::span<const int64_t> numbers,
                                std::string_view where) {
  require(!numbers.empty() && numbers.size() <= 256 && std::ranges::is_sorted(numbers),
          "classes_of: must be 1 .. 256 classes in order, got ", numbers.size());
  const double slope = image.header.slope, intercept = image.header.intercept;
  const bool counted = numbers.front() == 0 && numbers.back() == std::ssize(numbers) - 1;
  std::vector<uint8_t> result(image.bytes.size() / size_of(image.header.type));
  each(image, [&](size_t i, auto stored) {
    const double value = slope * static_cast<double>(stored) + intercept;
    const double whole = std::round(value);
    const auto found =
        std::ranges::lower_bound(numbers, whole, {}, [](int64_t n) { return static_cast<double>(n); });
    if (!(std::abs(value - whole) < most_off_a_label && found != numbers.end() &&
          static_cast<double>(*found) == whole)) {
      const auto& shape = image.header.shape;
      const auto at = static_cast<int64_t>(i);
      std::string known = counted ? text("whole numbers 0 .. ", numbers.back()) : "of ";
      for (size_t k = 0; !counted && k < numbers.size(); ++k) {
        known += text(k == 0 ? "" : ", ", numbers[k]);
      }
      throw DataError(text(where, ": labels must be ", known, ", got ", value, " at voxel (", at % shape[0],
                           ", ", at / shape[0] % shape[1], ", ", at / (shape[0] * shape[1]) % shape[2], ")"));
    }
    result[i] = static_cast<uint8_t>(found - numbers.begin());
  });
  return result;
}

std::vector<std::byte> nifti_bytes(const NiftiHeader& header, std::span<const std::byte> values) {
  require(header.version == 1 || header.version == 2, "nifti: version must be 1 or 2, got ", header.version);
  require(header.shape.size() >= 3 && header.shape.size() <= 7, "nifti: there must be 3 .. 7 axes, got ",
          header.shape.size());
  for (const int64_t n : header.shape) {
    require(n > 0 && (header.version == 2 || n <= std::numeric_limits<int16_t>::max()),
            "nifti: sizes must be 1 .. 32767 (any in version 2), got ", shape_text(header.shape));
  }
  require(nifti_code(header.type) != 0, "nifti: a type that the format lacks, ", name_of(header.type));
  require(byte_count(header.type, header.shape) == values.size(), "nifti: sizes ", shape_text(header.shape),
          " of type ", name_of(header.type), " do not fit ", values.size(), " bytes");
  std::vector<std::byte> file = nifti_header_bytes(header);
  file.insert(file.end(), values.begin(), values.end());
  return file;
}

void write_nifti(const std::string& path, const NiftiHeader& header, std::span<const std::byte> values,
                 Existing existing) {
  std::vector<std::byte> bytes = nifti_bytes(header, values);
  if (path.ends_with(".gz")) {
    bytes = gzip(bytes, path);
  }
  AtomicFile file(path, existing);
  file.write(bytes);
  file.commit();
}

bool is_nifti(std::string_view path) {
  return path.ends_with(".nii") || path.ends_with(".nii.gz");
}

}  // namespace weyl
