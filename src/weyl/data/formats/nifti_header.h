#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "weyl/data/formats/nifti.h"

namespace weyl {

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

/// Header and the four bytes that say "no extension"; sizes are checked by the caller.
std::vector<std::byte> nifti_header_bytes(const NiftiHeader& header);

/// The number of a type in NIfTI; 0: none.
int nifti_code(ElementType type);

}  // namespace weyl
