#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/poses/options.h"

namespace weyl {

/// A trajectory of text (poses/pose_file.h) as poses of SE(3), float64: one sample, or windows of `length`
/// tokens every `stride` (what is left at the end is dropped), with label `time` (N, 1) in seconds since the
/// first pose of the file where the format has times; lengths in m. With `hole` the labels `element`
/// and `flank` of completion as well (poses/pose_sequences.h): of each sample one inner pose is missing, drawn
/// from (seed, first pose), and the other tokens stand in any order. DataError: see read_poses; ConfigError:
/// more tokens a window than there are poses, a hole in fewer than 4.
std::shared_ptr<const InMemory> open_pose_file(const std::string& path, const PoseFileOptions& options = {});

/// One trajectory as sequences with a missing pose: the first stretch of it for training, the next for validation, the last
/// for testing, as `fractions` say, so that no two splits share a pose; each in windows of `length` poses with a hole as
/// above. DataError: see read_poses, fewer samples than asked for; ConfigError: another group than se3, a stretch with
/// fewer poses than `length`.
Splits open_trajectory(const PoseSequencesDataOptions& options);

/// Writes it as a new carrier tensor file; the metadata keep the source's name, format and first timestamp. ConfigError:
/// it is there already.
void convert_pose_file(const std::string& in, const std::string& out, const PoseFileOptions& options);

}  // namespace weyl
