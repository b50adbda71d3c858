#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "weyl/core/new_files.h"
#include "weyl/data/parts.h"

namespace weyl {

/// Writes the parts of one data file of a format that can be split (formats.h) as
/// `<folder>/{train,valid,test}.safetensors`; empty parts are not written. Metadata is kept, with the seed
/// and the source's name added. Frames of atoms, whatever their format, become
/// `<folder>/{train,valid,test}.extxyz`, one in memory at a time (convert_frames.h). Files that are there
/// already are never replaced (ConfigError); when one cannot be written (DataError) none of the new ones is
/// left. DataError, too, for a path of no such format.
SplitIndices split_file(const std::string& path, const std::string& folder, const SplitOptions& options);

/// For the formats: the metadata that parts of a file have in addition to its own.
std::map<std::string, std::string> split_metadata(const std::string& path, const SplitOptions& options);

/// For the formats: adds `<folder>/<split><ending>` for the parts that are not empty, and returns these.
std::vector<const std::vector<int64_t>*> add_parts(NewFiles& files, const std::string& folder,
                                                   const SplitIndices& parts, const std::string& ending);

/// For the formats: draws the parts of `size` samples and writes those that are not empty, each by
/// write(path, samples), with Existing::keep, to `<folder>/<split>.safetensors`.
SplitIndices write_parts(
    const std::string& folder, const SplitOptions& options, int64_t size,
    const std::function<void(const std::string& path, const std::vector<int64_t>& samples)>& write);

}  // namespace weyl
