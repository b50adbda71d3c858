#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "weyl/app/config_draft.h"
#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"

namespace weyl {

/// A task that data have labels for.
struct FittingTask {
  std::string name;         // "force_field"
  std::string by_what;      // "energies and forces"
  bool on_request = false;  // taken where it is named alone
};

/// Data as `weyl config new` sees them: what recipes are chosen by.
struct FoundData {
  enum class Family { atoms, particles, points, shapes, poses, images, volumes };
  Family family = Family::points;
  std::string what;                // "950 frames of 9 atoms", for the head of the file
  std::vector<FittingTask> tasks;  // several: one must be named
  int64_t dimension = 3;
  int64_t samples = 0;  // for training
  double mean_tokens = 1;
  int64_t most_tokens = 1;     // of a sample for training
  std::vector<int64_t> cells;  // of grids: of the first sample, along each axis
  bool periodic = false, forces = false, one_composition = false;
  double radius = 5, neighbours = 0;  // of atoms, in Angstrom; within it, on average
  bool patches = false;               // whether the set gives images as points, too
  bool voxels = true;                 // whether the set gives shapes as voxels, too
  /// Write [data] and [interface], and [task], for the task and system chosen.
  std::function<void(ConfigDraft&, const std::string& task, const std::string& system)> write_data,
      write_task;
};

/// Of any path. Errors: see new_config.
FoundData look_at_data(const std::string& path);

/// The kinds of data that look_at_data tells apart. Frames of atoms, from any file of frames.
FoundData look_at_frames(const std::string& path);
/// A folder of images, digits, volumes or shapes; nothing in `tasks`: it is none of them.
FoundData look_at_grids(const std::string& path);
/// A file of HDF5 by ModelNet's name for a split: the set that it belongs to (sets/modelnet_files.h), of several in a
/// folder its own; nothing in `tasks`: it has no such name.
FoundData look_at_shape_file(const std::string& path);
/// A folder of point clouds of one's own (sets/clouds.h), or an archive of many; nothing in `tasks`: it is none.
FoundData look_at_clouds(const std::string& path);
/// A folder of sequences with a missing pose, whose files have this schema; a trajectory of text (formats/pose_file.h).
FoundData look_at_pose_sequences(const std::string& path, const Schema& schema);
FoundData look_at_trajectory(const std::string& path);
/// A folder in which, or below which, there is one trajectory of text; nothing in `tasks`: there is none. ConfigError where
/// there are several.
FoundData look_at_trajectories(const std::string& path);
/// A folder of particles, poses or carrier tensor files; nothing in `tasks`: it is none of them.
FoundData look_at_tensors(const std::string& path);

/// Of a file, or a folder, that is no training set by itself: what to do with it.
[[noreturn]] void refuse_file(const std::string& path);
[[noreturn]] void refuse_folder(const std::string& path);

/// Whether volumes are too large to be learned from whole, and the part of them that is taken at a time.
bool needs_crop(const std::vector<int64_t>& cells);
std::vector<int64_t> crop_of(const std::vector<int64_t>& cells);

/// Sets the counts of a set for training.
void count_samples(FoundData& found, const Splits& splits, const std::string& path);

/// Mean number of other points within `radius` of a point, periodic images included, over at most 16 graphs.
double mean_neighbours(const Dataset& data, double radius);

}  // namespace weyl
