#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/data/formats/array.h"
#include "weyl/data/formats/npy.h"

namespace weyl {

/// What an .npz file may unpack to, in bytes, unless the caller says otherwise: a bound on zip bombs.
constexpr uint64_t npz_limit = uint64_t{8} << 30;

/// What an archive says of an array.
struct NpzEntry {
  std::string name;  // without ".npy"
  NpyHeader header;
};
using NpzJudge = std::function<void(const std::vector<NpzEntry>&)>;

/// Reads numpy's .npz (a zip of .npy files, stored or deflated); names without ".npy", in the file's order.
/// All headers are read, and shown to `judge`, which may refuse them, before the first array is unpacked. `where` names the file in messages. DataError: a
/// broken archive or array, an entry that is no .npy file, more than `limit` bytes unpacked; MemoryError: more
/// than there is.
std::vector<NamedArray> parse_npz(std::span<const std::byte> file, std::string_view where,
                                  uint64_t limit = npz_limit, const NpzJudge& judge = {});
std::vector<NamedArray> read_npz(const std::string& path, uint64_t limit = npz_limit,
                                 const NpzJudge& judge = {});

/// The bytes of such a file; the same arrays give the same bytes. ShapeError when a name is given twice,
/// DataError for BF16.
std::vector<std::byte> npz_bytes(std::span<const NamedArray> arrays, bool deflate = false);

/// Writes them atomically (core/atomic_file.h).
void write_npz(const std::string& path, std::span<const NamedArray> arrays, bool deflate = false,
               Existing existing = Existing::replace);

}  // namespace weyl
