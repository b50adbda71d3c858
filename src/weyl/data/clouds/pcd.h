#pragma once

#include <string>
#include <string_view>

#include "weyl/data/clouds/point_text.h"

namespace weyl {

/// Reads the points of a PCD file (version .7; DATA ascii, binary and binary_compressed): every field that is one number
/// becomes a column of its name, one of COUNT c > 1 columns `NAME_0` .. `NAME_(c-1)`, a packed `rgb` or `rgba` the columns
/// `red`, `green`, `blue` (and `alpha`), bytes by their type. Fields called `_` are padding. Points whose place is not finite
/// are left out: so organised clouds say where nothing was seen. Numbers are little endian, compressed ones LZF, one field
/// after the other.
///
/// DataError naming `where`, and the line or the point: another header or version, a line of it twice or missing, no field x, y or
/// z, a field twice, sizes and types that do not exist, WIDTH times HEIGHT other than POINTS, a file that ends before its last
/// point or goes on after it, what is no number, another number of them on a line, compressed bytes that are broken or give
/// another size, no point with a place. MemoryError: more than there is.
PointTable parse_pcd(std::string_view file, std::string_view where);
PointTable read_pcd(const std::string& path);

/// Unpacks LZF (Marc Lehmann's LibLZF): `size` bytes, or nothing where the bytes are broken or give another number.
std::string lzf_unpacked(std::string_view packed, uint64_t size, std::string_view where);

}  // namespace weyl
