#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "weyl/core/safetensors.h"

namespace weyl {

/// What a file that we write says about its own bytes, as two entries of its metadata (docs/adr/0004):
///   weyl.xxh3_64.header   the checksum of the length field and the header, the 16 digits of this entry taken as zeros;
///                         the first entry, so that they stand at one place in every file
///   weyl.xxh3_64.tensors  JSON, {"name": "the checksums of its blocks of 1 MiB, one after the other"}
constexpr std::string_view header_checksum_key = "weyl.xxh3_64.header",
                           tensor_checksums_key = "weyl.xxh3_64.tensors";

/// The second entry.
std::string tensor_checksums(std::span<const TensorBytes> tensors);

/// Fills in the first's digits, or replaces them, in `head`: the length field and the header.
void seal_header(std::string& head);

/// Compares it with `head`, which ends with the header; false when there is none. DataError: it differs.
bool check_header(std::span<const std::byte> head, std::string_view where);

/// Moves the entries out of the metadata, the second one's into the tensors'. `checked`: what check_header said.
/// DataError: one without the other, or checksums that are not those of these tensors.
void take_checksums(SafetensorsHeader& header, bool checked, std::string_view where);

}  // namespace weyl
