#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/data/containers/array.h"

namespace weyl {

/// Reads numpy's .npy (versions 1.0, 2.0, 3.0; little and big endian; C and Fortran order; bool, i1 to i8, u1
/// to u8, f2, f4, f8) into row-major, little-endian bytes. Object arrays (pickled Python), structured and
/// other types are refused. `where` names the file in messages. DataError; never reads outside `file`.
Array parse_npy(std::span<const std::byte> file, std::string_view where);
Array read_npy(const std::string& path);

/// What an .npy file states before its values.
struct NpyHeader {
  ElementType type = ElementType::f64;
  bool big_endian = false, fortran_order = false;
  std::vector<int64_t> shape;
  uint64_t begin = 0, bytes = 0;  // offset of the values, and their size in bytes
};

/// Parses the header of a file of `size` bytes. `file` is the whole file or its first npy_header_limit bytes. DataError
/// also when the values that the header states do not fill the file.
constexpr size_t npy_header_limit = (1 << 16) + 12;
NpyHeader parse_npy_header(std::span<const std::byte> file, uint64_t size, std::string_view where);

/// The array of a header and the values (bytes) that follow it.
Array npy_array(NpyHeader header, std::vector<std::byte> values);

/// The bytes of an .npy file of version 1.0, its header padded to 64 bytes. DataError for BF16, which numpy lacks.
std::vector<std::byte> npy_bytes(const Array& array);

/// Writes an .npy file atomically (core/atomic_file.h).
void write_npy(const std::string& path, const Array& array);

/// The most bytes that an .npz file may unpack to, unless the caller says otherwise: a bound against zip bombs.
constexpr uint64_t npz_limit = uint64_t{8} << 30;

/// What an archive states about one array.
struct NpzEntry {
  std::string name;  // without ".npy"
  NpyHeader header;
};
using NpzJudge = std::function<void(const std::vector<NpzEntry>&)>;

/// Reads numpy's .npz, a zip of .npy files, stored or deflated. Names are without ".npy", in the file's order. All
/// headers are read before the first array is unpacked, and `judge`, which may refuse them, sees them. `where` names
/// the file in messages. DataError: a broken archive or array, an entry that is no .npy file, more than `limit` bytes
/// unpacked. MemoryError: more bytes than there is memory.
std::vector<NamedArray> parse_npz(std::span<const std::byte> file, std::string_view where,
                                  uint64_t limit = npz_limit, const NpzJudge& judge = {});
std::vector<NamedArray> read_npz(const std::string& path, uint64_t limit = npz_limit,
                                 const NpzJudge& judge = {});
/// What an archive states about its arrays; none of them is unpacked. DataError: it is broken.
std::vector<NpzEntry> read_npz_entries(const std::string& path);

/// The bytes of an .npz file; the same arrays give the same bytes. ShapeError when a name is given twice, DataError for
/// BF16.
std::vector<std::byte> npz_bytes(std::span<const NamedArray> arrays, bool deflate = false);

/// Writes an .npz file atomically (core/atomic_file.h).
void write_npz(const std::string& path, std::span<const NamedArray> arrays, bool deflate = false,
               Existing existing = Existing::replace);

}  // namespace weyl
