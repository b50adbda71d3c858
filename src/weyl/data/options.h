#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "weyl/config/fields.h"
#include "weyl/core/quantity.h"
#include "weyl/data/formats/pose_file.h"
#include "weyl/data/image_input.h"

namespace weyl {

/// Charged (and other) particles in motion, as made by `weyl data make nbody` or read from the original .npy
/// files: a folder with train, valid and test.
struct NbodyDataOptions {
  static constexpr const char* name_in_config = "nbody";
  std::string path = "data/nbody";
  int64_t train = 0, valid = 0, test = 0;  // the first so many samples of a split; 0: all
  int64_t input_frame = 30;                // frame k is time 0.1 (k + 1)
  int64_t target_frame = 40;
  bool speed = true;  // the norm of the velocity as a scalar feature beside the charge
};
void fields(Fields& f, NbodyDataOptions& o);

/// Carrier tensor files of any origin (cli.md): train.safetensors, valid.safetensors, test.safetensors in a
/// folder. The config's [interface] says what their tensors are.
struct TensorsDataOptions {
  static constexpr const char* name_in_config = "tensors";
  std::string path = "data/tensors";
};
void fields(Fields& f, TensorsDataOptions& o);

/// Sequences of poses with one missing, as made by `weyl data make pose_sequences`: a folder with train,
/// valid and test. Poses of one Lie group; labels `element`, the missing one, and `flank`, 1 on the two
/// tokens beside it.
struct PoseSequencesDataOptions {
  static constexpr const char* name_in_config = "pose_sequences";
  std::string path = "data/pose_sequences";
  LieGroup group = LieGroup::se2;
  int64_t train = 0;  // samples used of each split, which must have them; 0: all
  int64_t valid = 0;
  int64_t test = 0;
};
void fields(Fields& f, PoseSequencesDataOptions& o);

/// Handwritten or printed digits, grey: a folder with the .amat files of rotated MNIST (`weyl data make
/// glyphs` makes such), .npz splits, or MNIST's IDX files (sets/rotated_mnist.h).
struct RotatedMnistDataOptions {
  static constexpr const char* name_in_config = "rotated_mnist";
  std::string path = "data/rotated_mnist";
  int64_t train = 0, valid = 0, test = 0;  // the first so many images of a split; 0: all
  ImageInput input;
};
void fields(Fields& f, RotatedMnistDataOptions& o);

using DataSet =
    std::variant<NbodyDataOptions, TensorsDataOptions, PoseSequencesDataOptions, RotatedMnistDataOptions>;
struct DataOptions {
  DataSet set;
};
void fields(Fields& f, DataOptions& o);

/// The folder or file that the options name.
const std::string& path_of(const DataOptions& options);
/// The same samples at another place.
DataOptions moved_to(DataOptions options, const std::string& path);
/// Another set of the kind, with all its samples.
DataOptions all_of(DataOptions options, const std::string& path);

/// How a trajectory of text is read (`weyl data convert traj.txt out.safetensors length=64`).
struct PoseFileOptions {
  std::optional<PoseFormat> format;  // told from the file unless given
  int64_t length = 0;                // tokens of a window; 0: the whole trajectory is one sample
  int64_t stride = 0;                // poses between the beginnings of two windows; 0: the length
  bool hole = false;                 // one inner pose of each window is asked for (sets/pose_files.h)
  int64_t seed = 0;                  // of the holes and of the order of the tokens
};
void fields(Fields& f, PoseFileOptions& o);

}  // namespace weyl
