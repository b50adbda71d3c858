#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/poses/options.h"

namespace weyl {

/// The units of a trajectory of text: of lengths, and of a feature `time`, which is the number of a pose where there are no times.
Interface units_of(const PoseTrajectory& trajectory);

/// A trajectory of text (poses/pose_file.h) as poses of `group` (poses/asked_poses.h), float64: one sample, or windows of
/// `length` tokens every `stride` (what is left at the end is dropped), with label `time` (N, 1) in seconds since the
/// first pose of the file where the format has times; lengths in m. With `hole` the labels `element`
/// and `flank` of completion as well (poses/pose_sequences.h): of each sample one inner pose is missing, drawn
/// from (seed, first pose), and the other tokens stand in any order. With `ahead` or noise the features `time` and `asked`
/// and the label `pose` (poses/asked_poses.h) in place of the label `time`. DataError: see read_poses and poses_in;
/// ConfigError: more tokens a window than there are poses, a hole in fewer than 4, fewer than two poses to look ahead from, a
/// hole beside other questions, times without a hole.
std::shared_ptr<const InMemory> open_pose_file(const std::string& path, const PoseFileOptions& options = {});

/// The windows of a trajectory that a model of such windows is asked about: all of them, without noise beside what the poses
/// have; a warning says how many poses at the end fill none. DataError and ConfigError as open_pose_file.
std::shared_ptr<const InMemory> open_windows(const std::string& path, const PoseWindowsDataOptions& options);

/// Writes it as a new carrier tensor file; the metadata keep the source's name, format and first timestamp. Returns what is
/// likely wrong with the file. ConfigError: it is there already.
std::vector<std::string> convert_pose_file(const std::string& in, const std::string& out,
                                           const PoseFileOptions& options);

}  // namespace weyl
