#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/core/element_type.h"

namespace weyl {

class GzipReader;

/// Where the voxels of a volume are, as the header says it; numbers of NIfTI-1 (float32) are kept exactly.
struct NiftiGeometry {
  std::array<double, 8> pixdim{1, 1, 1, 1, 1, 1, 1, 1};  // [0] is the sign of the third axis of the qform
  int32_t qform_code = 0, sform_code = 0;
  std::array<double, 3> quatern{}, qoffset{};
  std::array<double, 12> srow{};  // (3, 4), row-major
  int32_t xyzt_units = 2;         // 1 m, 2 mm, 3 micrometres (and the unit of time)

  bool operator==(const NiftiGeometry&) const = default;
};

/// x, y, z in space of the voxel i, j, k: (3, 4), row-major.
using NiftiAffine = std::array<double, 12>;

/// What a NIfTI-1 or NIfTI-2 file says of its values.
struct NiftiHeader {
  int version = 1;
  ElementType type = ElementType::f32;  // as stored
  std::vector<int64_t> shape;           // 3 to 7 axes (x, y, z, then others), none of size 0
  double slope = 1, intercept = 0;      // value = slope * stored + intercept; slope 1, intercept 0 for none
  NiftiGeometry geometry;

  int64_t voxels() const { return shape[0] * shape[1] * shape[2]; }
  int64_t volumes() const;  // the product of the axes after z
};

/// By the rules of the standard: the sform if its code is positive, else the qform if its is, else the voxel
/// sizes alone; in the unit of the file. An axis of one voxel to which the header gives no length (slices have pixdim[3] = 0)
/// is normal to the others and 1 long.
NiftiAffine affine_of(const NiftiHeader& header);
/// How many mm the unit of a file's lengths is; of one that is not said 1.
double millimetres_of(const NiftiHeader& header);

/// Millimetres between voxels along i, j and k: the lengths of the affine's columns.
std::array<double, 3> spacing_of(const NiftiHeader& header);

/// The axes of the file in the order nearest to right, anterior, superior (RAS+): canonical axis d is the
/// file's axis `axis[d]`, backwards when `flipped[d]`. As nibabel does (as_closest_canonical), the file's axis that is
/// nearest to one of space takes that one first, then the next; of oblique volumes other rules may find others.
struct NiftiOrientation {
  std::array<int, 3> axis{0, 1, 2};
  std::array<bool, 3> flipped{};

  bool operator==(const NiftiOrientation&) const = default;
};
NiftiOrientation orientation_of(const NiftiAffine& affine);

/// The directions of i, j and k, a letter each: R L, A P, S I, so "LPS" runs to the left, to the back and upwards.
std::string axis_codes(const NiftiAffine& affine);

/// Where the sform has other voxel sizes than pixdim, by more than a thousandth, both of them; empty where not. The sform
/// is what affine_of takes, by the standard, but a program that resampled the volume may have left it as it was.
std::string doubt_of_sizes(const NiftiHeader& header);

/// The header with its stored values (native byte order), x fastest.
struct Nifti {
  NiftiHeader header;
  std::vector<std::byte> bytes;
};

constexpr size_t kNifti1Header = 348, kNifti2Header = 540;

/// A header with what the reader of its values needs.
struct NiftiLayout {
  NiftiHeader header;
  uint64_t offset = 0;   // of the values
  uint64_t bytes = 0;    // of the values
  bool swapped = false;  // the other byte order
};

/// How long the header is, told by its first four bytes; 0: no NIfTI.
size_t nifti_header_size(std::span<const std::byte> file);

/// `file` holds the whole header. DataError: see parse_nifti.
NiftiLayout parse_nifti_header(std::span<const std::byte> file, std::string_view where);

/// At most `bytes` of a stream: pages are reserved for all, and used for as many as there are.
std::vector<std::byte> inflated(GzipReader& reader, size_t bytes);
/// Turns the bytes of each value round, of `size` bytes.
void swap_voxel_bytes(std::span<std::byte> bytes, int64_t size);
/// DataError naming `where`: an affine that is not finite or not invertible.
void require_affine(const NiftiHeader& header, std::string_view where);

/// Header and the four bytes that say "no extension"; sizes are checked by the caller.
std::vector<std::byte> nifti_header_bytes(const NiftiHeader& header);

/// The number of a type in NIfTI; 0: none.
int nifti_code(ElementType type);

/// What the values of a file may need, in bytes.
constexpr uint64_t nifti_limit = uint64_t{4} << 30;

/// Reads .nii and .nii.gz, either byte order. Types: u8 to u64, i8 to i64, f32, f64. Files with fewer than
/// three axes get axes of size 1. DataError naming `where`: no NIfTI, a pair of .hdr and .img, another type
/// (by its number), sizes that are not positive, fewer bytes than the sizes say, a gzip stream that is
/// truncated or corrupt, an affine that is not finite or not invertible, more than `limit` bytes of values.
/// Extensions are not read. Memory is used as values are inflated, whatever the sizes promise.
Nifti parse_nifti(std::span<const std::byte> file, std::string_view where, uint64_t limit = nifti_limit);
Nifti read_nifti(const std::string& path, uint64_t limit = nifti_limit);
NiftiHeader read_nifti_header(const std::string& path);

/// The stored values with slope and intercept, rounded once to float32.
std::vector<float> values_of(const Nifti& image);
/// How far a value may be from the number of its class: scaled files, and those of floats, hold numbers to rounding.
inline constexpr double most_off_a_label = 1e-3;
/// The same as classes: each value by its place among `numbers`, which ascend and are at most 256. DataError naming
/// `where`: a value that is none of them, and its place.
std::vector<uint8_t> classes_of(const Nifti& image, std::span<const int64_t> numbers, std::string_view where);
/// The numbers 0 .. count-1.
std::vector<int64_t> counted_numbers(int64_t count);

/// The bytes of a file: header, no extension, values. ShapeError: sizes and bytes that do not fit, sizes that
/// NIfTI-1 cannot hold (more than 32767 an axis), types it has no number for.
std::vector<std::byte> nifti_bytes(const NiftiHeader& header, std::span<const std::byte> values);

/// Writes them atomically, as gzip when the path ends in .gz.
void write_nifti(const std::string& path, const NiftiHeader& header, std::span<const std::byte> values,
                 Existing existing = Existing::replace);

/// Whether a path ends in .nii or .nii.gz.
bool is_nifti(std::string_view path);

}  // namespace weyl
