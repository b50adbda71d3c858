#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/containers/archives.h"
#include "weyl/data/containers/npy.h"

/// An archive is refused with a DataError, or its arrays come back from the bytes that we write of them.
/// Input that is no zip archive becomes a member of one, so that checksums do not keep the fuzzer out.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  constexpr uint64_t limit = 1 << 22;
  try {
    const bool zip = size > 1 && data[0] == 'P' && data[1] == 'K';
    const weyl::ZipMember member{"x.npy", input};
    const auto wrapped = zip ? std::vector<std::byte>() : weyl::zip_bytes({&member, 1}, size % 2 == 0);
    const auto arrays = weyl::parse_npz(zip ? input : wrapped, "input", limit);
    const auto again = weyl::parse_npz(weyl::npz_bytes(arrays, true), "written");
    if (again.size() != arrays.size()) {
      std::abort();
    }
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (again[i].name != arrays[i].name || again[i].array != arrays[i].array) {
        std::abort();
      }
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
