#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/random.h"

namespace weyl::fuzz {

/// What mutations of a file draw from.
struct Material {
  Stream& stream;
  const std::vector<std::string>& others;  // contents of files to take pieces from
  size_t longest;                          // bytes that a file may grow to
};

/// A few random changes of bytes: bits, bytes, numbers written out, words of JSON, TOML, XYZ and other formats, pieces
/// cut, doubled, moved or taken from another file, brackets nested deeply, one piece repeated very often.
std::string mutated_bytes(std::string bytes, const Material& material);

/// The same for a file by its kind, which its first bytes tell: inside of a zip archive, a gzip stream, a PNG picture, an
/// HDF5 file or a safetensors header, which is then closed again with the right sizes and checksums, so that what lies
/// behind these is reached too.
std::string mutated_file(const std::string& bytes, const Material& material);

}  // namespace weyl::fuzz
