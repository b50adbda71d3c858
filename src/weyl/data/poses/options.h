#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"
#include "weyl/data/poses/pose_file.h"

namespace weyl {

struct Schema;
struct Splits;

/// Sequences of poses of one Lie group with one pose missing: a folder with train, valid and test, as made by `weyl
/// data make pose_sequences`, or one trajectory of text (poses/pose_file.h), se3, from which windows are cut. Labels:
/// `element`, the missing pose, and `flank`, 1 on the two tokens beside it.
struct PoseSequencesDataOptions {
  static constexpr const char* name_in_config = "pose_sequences";
  std::string path = "data/pose_sequences";
  LieGroup group = LieGroup::se2;
  int64_t train = 0;  // samples used of each split, which must have so many; 0: all
  int64_t valid = 0;
  int64_t test = 0;
  int64_t length = 8;  // trajectory: poses of a window, including the missing one
  int64_t stride = 0;  // trajectory: poses from the start of one window to that of the next; 0: the length
  std::vector<double> fractions{0.8, 0.1, 0.1};  // stretches of the trajectory, one after the other
  int64_t seed = 0;                              // of the holes and of the order of the tokens
};
void fields(Fields& f, PoseSequencesDataOptions& o);
void require_effects(const PoseSequencesDataOptions& options);
/// Sequences with one pose missing: poses of the group in any order within a sequence, no features; labels
/// `element` (B, m, m), the missing pose, and `flank` (N, 1) int64, 1 on the two tokens next to it and 0
/// elsewhere.
Schema declared_schema(const PoseSequencesDataOptions& options);
/// Opens a folder of train, valid and test carrier tensor files, or one trajectory (pose_sequences.h). DataError: no
/// such folder, no split, a broken file, another group than the options name, a file without the labels, fewer samples
/// than asked for.
Splits open_set(const PoseSequencesDataOptions& options);

/// How a trajectory of text is read (`weyl data convert traj.txt out.safetensors length=64`).
struct PoseFileOptions {
  std::optional<PoseFormat> format;  // absent: told from the file
  int64_t length = 0;                // tokens of a window; 0: the whole trajectory is one sample
  int64_t stride = 0;                // poses from the start of one window to that of the next; 0: the length
  bool hole = false;  // takes an inner pose out of each window as label (poses/pose_sequences.h)
  int64_t seed = 0;   // of the holes and of the order of the tokens
};
void fields(Fields& f, PoseFileOptions& o);

}  // namespace weyl
