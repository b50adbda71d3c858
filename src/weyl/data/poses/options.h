#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"
#include "weyl/core/axis.h"
#include "weyl/data/poses/pose_file.h"

namespace weyl {

class Dataset;
struct Schema;
struct Splits;

/// Sequences of poses of one Lie group with one pose missing: a folder with train, valid and test, as made by `weyl
/// data make pose_sequences`, or one trajectory of text (poses/pose_file.h), from which windows are cut. Labels:
/// `element`, the missing pose, and `flank`, 1 on the two tokens beside it. Of a sample without flank 1 nothing is missing,
/// and `element` says nothing.
struct PoseSequencesDataOptions {
  static constexpr const char* name_in_config = "pose_sequences";
  std::string path = "data/pose_sequences";
  LieGroup group = LieGroup::se2;
  int64_t train = 0;  // samples used of each split, which must have so many; 0: all
  int64_t valid = 0;
  int64_t test = 0;
  int64_t length = 8;  // trajectory: poses of a window, including the missing one
  int64_t stride = 0;  // trajectory: poses from the start of one window to that of the next; 0: the length
  std::vector<double> fractions{0.8, 0.1, 0.1};    // stretches of the trajectory, one after the other
  double whole = 0;                                // trajectory: share of samples of which nothing is missing
  bool times = false;                              // a feature `time`: seconds since the window's first pose
  Axis up = Axis::z;                               // trajectory, se2 and so2: the plane is across it
  RepeatedTimes repeated = RepeatedTimes::refuse;  // trajectory
  int64_t seed = 0;                                // of the holes and of the order of the tokens
};
void fields(Fields& f, PoseSequencesDataOptions& o);
void require_effects(const PoseSequencesDataOptions& options);
/// Sequences with one pose missing: poses of the group in any order within a sequence, no features but `time`; labels
/// `element` (B, m, m), the missing pose, and `flank` (N, 1) int64, 1 on the two tokens next to it and 0
/// elsewhere.
Schema declared_schema(const PoseSequencesDataOptions& options);
/// Opens a folder of train, valid and test carrier tensor files, or one trajectory (pose_sequences.h). DataError: no
/// such folder, no split, a broken file, another group than the options name, a file without the labels, fewer samples
/// than asked for.
Splits open_set(const PoseSequencesDataOptions& options);

/// Poses in their order, of which some are asked for (poses/asked_poses.h): a folder with train, valid and test, as made by
/// `weyl data make pose_windows` or `weyl data convert`, or one trajectory of text, from which windows are cut. Features
/// `time`, seconds from the last pose that is given (poses, where there are no times), and `asked`, 1 where the pose is asked
/// for. Label `pose`, the poses themselves.
struct PoseWindowsDataOptions {
  static constexpr const char* name_in_config = "pose_windows";
  std::string path = "data/pose_windows";
  LieGroup group = LieGroup::se3;
  int64_t train = 0;  // samples used of each split, which must have so many; 0: all
  int64_t valid = 0;
  int64_t test = 0;
  // Of a folder its files say both, which is kept for what is predicted of a trajectory (as_opened).
  int64_t length = 12;  // trajectory: poses of a window, those that are asked for included
  int64_t ahead = 0;    // trajectory: of them the last are asked for, from the others; 0: all are
  int64_t stride = 0;   // trajectory: poses from the start of one window to that of the next; 0: the length
  std::vector<double> fractions{0.8, 0.1, 0.1};  // stretches of the trajectory, one after the other
  double noise = 0, angle_noise = 0;             // trajectory: of the poses that are given
  Axis up = Axis::z;
  RepeatedTimes repeated = RepeatedTimes::refuse;
  int64_t seed = 0;  // of the noise
};
void fields(Fields& f, PoseWindowsDataOptions& o);
void require_effects(const PoseWindowsDataOptions& options);
Schema declared_schema(const PoseWindowsDataOptions& options);
/// The options with what only the files of a folder say: `length`, the poses of the longest window, and `ahead`, how many
/// are asked for at most in a window that gives others; 0: none does. `train` is the training split that was opened by them.
PoseWindowsDataOptions as_opened(PoseWindowsDataOptions options, const Dataset& train);
/// As open_set of PoseSequencesDataOptions.
Splits open_set(const PoseWindowsDataOptions& options);

/// How a trajectory of text is read (`weyl data convert traj.txt out.safetensors length=64`).
struct PoseFileOptions {
  std::optional<PoseFormat> format;  // absent: told from the file
  int64_t length = 0;                // tokens of a window; 0: the whole trajectory is one sample
  int64_t stride = 0;                // poses from the start of one window to that of the next; 0: the length
  bool hole = false;  // takes an inner pose out of each window as label (poses/pose_sequences.h)
  double whole = 0;   // with a hole: share of the windows of which nothing is missing
  int64_t ahead = 0;  // the last poses of a window are asked for (poses/asked_poses.h)
  double noise = 0, angle_noise = 0;  // of the poses that are given, whose own are then asked for
  bool times = false;                 // with a hole: a feature `time`
  LieGroup group = LieGroup::se3;     // what the poses are taken as
  Axis up = Axis::z;                  // se2 and so2: the plane is across it
  RepeatedTimes repeated = RepeatedTimes::refuse;
  int64_t seed = 0;  // of the holes, of the order of the tokens and of the noise
};
void fields(Fields& f, PoseFileOptions& o);

}  // namespace weyl
