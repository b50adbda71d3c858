#include "weyl/data/formats/nifti_header.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

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
struct Fields {
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

std::vector<int64_t> parse_shape(const Fields& f, std::string_view where) {
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

uint64_t parse_offset(const Fields& f, std::string_view where) {
  const double offset = f.second ? static_cast<double>(get<int64_t>(f.file, f.at.vox_offset, f.swapped))
                                 : f.real(f.at.vox_offset);
  const double least = f.second ? kNifti2Header : kNifti1Header;
  require<DataError>(offset >= least && offset < 0x1p62, where,
                     ": its values must begin after the header, at byte ", least,
                     " or later, got vox_offset ", offset);
  return static_cast<uint64_t>(offset);
}

NiftiGeometry parse_geometry(const Fields& f) {
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

template <class T>
void put(std::vector<std::byte>& to, size_t at, T value) {
  std::memcpy(to.data() + at, &value, sizeof(T));
}

}  // namespace

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
  const Fields f{file, second, get<int32_t>(file, 0, false) != static_cast<int32_t>(size),
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

}  // namespace weyl
