#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/data/containers/array.h"

namespace weyl {

/// Point clouds with one class each, as ModelNet is given out in HDF5: data sets `data` (S, P, 3) of real
/// and `label` (S, 1) or (S) of whole numbers.
struct PointClouds {
  int64_t points = 0;            // P
  std::vector<float> positions;  // (S, P, 3)
  std::vector<int64_t> labels;   // (S)

  int64_t count() const { return static_cast<int64_t>(labels.size()); }
};

/// What the positions of a file may need, in bytes.
constexpr uint64_t point_clouds_limit = uint64_t{4} << 30;

/// The clouds of one such file (contiguous or in chunks, also compressed by deflate); `where` begins every
/// message. DataError: no HDF5, a data set that is missing or has another shape or type, no samples, values
/// that are stored outside the file or by plug-ins, positions that are not finite, more than `limit` bytes of
/// positions. Memory is never taken for more than what is stored can hold. The library (libhdf5) crashes on
/// some files whose addresses were changed, or does not end: it reads in a child process
/// (core/child_process.h), and its death is a DataError.
PointClouds parse_point_clouds(std::span<const std::byte> bytes, std::string_view where,
                               uint64_t limit = point_clouds_limit);
PointClouds read_point_clouds(const std::string& path, uint64_t limit = point_clouds_limit);

/// A data set of an HDF5 file's root.
struct Hdf5Entry {
  std::string name;
  std::vector<int64_t> shape;
};

/// Those that are in the file itself, of names up to 64 bytes and at most 4 axes, by name, the first 64; of no value
/// anything is read. DataError as above.
std::vector<Hdf5Entry> parse_hdf5_entries(std::span<const std::byte> bytes, std::string_view where);
std::vector<Hdf5Entry> read_hdf5_entries(const std::string& path);

/// Arrays of any HDF5 file by name, as safely as above: of each list of names the first that is a data set in the
/// file's root (or, by a path such as `scan/points`, in a group), of up to 4 axes, none of a single number, in the order of the
/// lists; a list of which none is there is left out. Reals come as F32 or, of more
/// than 4 bytes, F64; whole numbers as U8 where they are bytes without sign, else I64. DataError as above; of the
/// values only their count is judged.
std::vector<NamedArray> parse_hdf5_arrays(std::span<const std::byte> bytes, std::string_view where,
                                          std::span<const std::vector<std::string>> wanted,
                                          uint64_t limit = point_clouds_limit);
std::vector<NamedArray> read_hdf5_arrays(const std::string& path,
                                         std::span<const std::vector<std::string>> wanted,
                                         uint64_t limit = point_clouds_limit);

/// Writes one atomically; equal clouds give equal bytes. ShapeError: sizes that do not fit.
void write_point_clouds(const std::string& path, const PointClouds& clouds,
                        Existing existing = Existing::replace);

}  // namespace weyl
