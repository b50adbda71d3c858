#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/formats/array.h"

namespace weyl {

/// What an .npz file may unpack to, in bytes, unless the caller says otherwise: a bound on zip bombs.
constexpr uint64_t npz_limit = uint64_t{8} << 30;

/// Reads numpy's .npz (a zip of .npy files, stored or deflated); names without ".npy", in the file's order.
/// `where` names the file in messages. DataError: a broken archive or array, an entry that is no .npy file,
/// more than `limit` bytes unpacked.
std::vector<NamedArray> parse_npz(std::span<const std::byte> file, std::string_view where,
                                  uint64_t limit = npz_limit);
std::vector<NamedArray> read_npz(const std::string& path, uint64_t limit = npz_limit);

/// The bytes of such a file; the same arrays give the same bytes. ShapeError when a name is given twice,
/// DataError for BF16.
std::vector<std::byte> npz_bytes(std::span<const NamedArray> arrays, bool deflate = false);

/// Writes them atomically (core/atomic_file.h).
void write_npz(const std::string& path, std::span<const NamedArray> arrays, bool deflate = false);

}  // namespace weyl
