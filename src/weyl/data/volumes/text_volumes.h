#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "weyl/data/volumes/nifti.h"

namespace weyl {

/// Volumes whose header is text: MetaImage (.mha) and NRRD (.nrrd), as the NIfTI volumes that they would be. Their places
/// in space, which run left and posterior where the file says so, become an sform that runs right and anterior. Of three
/// axes and one number a voxel, raw or deflated as a whole, in this one file.
///
/// Lengths in um, cm or m become mm. DataError naming `where`: none of the two; a header without an end, or of more than 64 KiB; a key that is missing or has
/// another value than these; values in another file; fewer bytes than the sizes say; a stream that is truncated or corrupt;
/// an affine that is not finite or not invertible; more than `limit` bytes of values.
Nifti parse_text_volume(std::span<const std::byte> file, std::string_view where,
                        uint64_t limit = nifti_limit);
/// A volume of any format that is read: NIfTI, or one of these. DataError: see the formats.
Nifti read_volume(const std::string& path, uint64_t limit = nifti_limit);
NiftiHeader read_volume_header(const std::string& path);
/// Whether a path ends as a volume of such a format does.
bool is_volume_file(std::string_view path);

}  // namespace weyl
