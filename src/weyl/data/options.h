#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "weyl/carriers/frame_state.h"
#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"
#include "weyl/core/axis.h"
#include "weyl/data/formats/pose_file.h"
#include "weyl/data/images/image_input.h"
#include "weyl/data/shapes/cloud_input.h"
#include "weyl/data/shapes/turning.h"

namespace weyl {

/// Charged (and other) particles in motion, as made by `weyl data make nbody` or read from the original .npy
/// files: a folder with train, valid and test.
struct NbodyDataOptions {
  static constexpr const char* name_in_config = "nbody";
  std::string path = "data/nbody";
  int64_t train = 0, valid = 0, test = 0;  // the first so many samples of a split; 0: all
  int64_t input_frame = 30;                // frame k is time 0.1 (k + 1)
  int64_t target_frame = 40;
  bool speed = true;          // the norm of the velocity as a scalar feature beside the charge
  bool charge_types = false;  // the sign of the charge as the type of a particle, 0 or 1
};
void fields(Fields& f, NbodyDataOptions& o);

/// Stars with planets, as made by `weyl data make planets`: a folder with train, valid and test.
struct PlanetsDataOptions {
  static constexpr const char* name_in_config = "planets";
  std::string path = "data/planets";
  int64_t train = 0, valid = 0, test = 0;  // the first so many samples of a split; 0: all
};
void fields(Fields& f, PlanetsDataOptions& o);

/// Carrier tensor files of any origin (cli.md): train.safetensors, valid.safetensors, test.safetensors in a
/// folder. The config's [interface] says what their tensors are.
struct TensorsDataOptions {
  static constexpr const char* name_in_config = "tensors";
  std::string path = "data/tensors";
};
void fields(Fields& f, TensorsDataOptions& o);

/// Sequences of poses with one missing, as made by `weyl data make pose_sequences`: a folder with train,
/// valid and test, or one trajectory of text (formats/pose_file.h), se3, of which windows are taken. Poses of one Lie
/// group; labels `element`, the missing one, and `flank`, 1 on the two tokens beside it.
struct PoseSequencesDataOptions {
  static constexpr const char* name_in_config = "pose_sequences";
  std::string path = "data/pose_sequences";
  LieGroup group = LieGroup::se2;
  int64_t train = 0;  // samples used of each split, which must have them; 0: all
  int64_t valid = 0;
  int64_t test = 0;
  int64_t length = 8;  // of a trajectory: poses of a window, the missing one among them
  int64_t stride = 0;  // poses between the beginnings of two windows; 0: the length
  std::vector<double> fractions{0.8, 0.1, 0.1};  // stretches of the trajectory, one after the other
  int64_t seed = 0;                              // of the holes and of the order of the tokens
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

/// CIFAR-10's binary version: data_batch_1.bin .. data_batch_5.bin and test_batch.bin (sets/cifar10.h).
struct Cifar10DataOptions {
  static constexpr const char* name_in_config = "cifar10";
  std::string path = "data/cifar10";
  int64_t train = 0, valid = 0, test = 0;  // the first so many images of a split; 0: all
  int64_t seed = 0;                        // of the tenth that is for validation
  ImageInput input;
};
void fields(Fields& f, Cifar10DataOptions& o);

/// Rigid bodies that fall and collide, as made by `weyl data make rigid_bodies`: a folder with train, valid and test
/// (sets/rigid_bodies.h).
struct RigidBodiesDataOptions {
  static constexpr const char* name_in_config = "rigid_bodies";
  std::string path = "data/rigid_bodies";
  int64_t train = 0, valid = 0, test = 0;  // the first so many scenes of a split; 0: all
  bool floor = true;                       // the floor as features of every token: `up` and `height`
  int64_t rollout = 1;                     // frames after the second that the labels tell
  int64_t stride = 1;                      // frames between the samples of a scene
};
void fields(Fields& f, RigidBodiesDataOptions& o);

/// What is known of images in folders: a class of each, or of each pixel.
enum class ImageTarget { classes, mask };
constexpr auto names_of(ImageTarget) {
  return std::array<std::string_view, 2>{"class", "mask"};
}

/// Images in folders, one for each class, or images and masks (sets/image_folder.h).
struct ImagesDataOptions {
  static constexpr const char* name_in_config = "images";
  std::string path = "data/images";
  ImageTarget target = ImageTarget::classes;
  int64_t classes = 0;                   // 0: those there are
  int64_t channels = 3;                  // 1: grey
  int64_t height = 0, width = 0;         // 0: as they are, all of one size
  std::optional<double> mask_threshold;  // of masks of greys (image_tensor.h)
  double train_fraction = 0.8, valid_fraction = 0.1;
  int64_t seed = 0;
  ImageInput input;
  std::vector<std::string> known_classes;  // of a model, by number (know_classes); no key of a config
};
void fields(Fields& f, ImagesDataOptions& o);

/// PH2, dermoscopy with the masks of lesions (sets/ph2.h).
struct Ph2DataOptions {
  static constexpr const char* name_in_config = "ph2";
  std::string path = "data/ph2";
  int64_t height = 578, width = 770;       // 0: as they are, all of one size
  std::optional<double> mask_threshold;    // of masks of greys (image_tensor.h)
  int64_t train = 0, valid = 0, test = 0;  // all 0: the fractions
  std::vector<double> fractions{0.5, 0.25, 0.25};
  int64_t seed = 0;
  ImageInput input;
};
void fields(Fields& f, Ph2DataOptions& o);

/// The carrier that a set of shapes becomes.
enum class ShapeCarrier { grid, points };
constexpr std::array<std::string_view, 2> shape_carrier_names{"grid", "points"};
constexpr const auto& names_of(ShapeCarrier) {
  return shape_carrier_names;
}
/// What fills a cell: a point of the sample, the surface of its mesh, or Gaussians around all points.
enum class VoxelFill { points, surface, density };
constexpr std::array<std::string_view, 3> voxel_fill_names{"points", "surface", "density"};
constexpr const auto& names_of(VoxelFill) {
  return voxel_fill_names;
}

/// Shapes with their classes in ModelNet's layouts (sets/modelnet.h), as made by `weyl data make solids`.
struct ModelnetDataOptions {
  static constexpr const char* name_in_config = "modelnet";
  std::string path = "data/solids";
  std::string variant;  // of several sets of HDF5 files in the folder (sets/modelnet_files.h)
  ShapeCarrier carrier = ShapeCarrier::grid;
  int64_t voxels = 32;  // cells along an axis
  int64_t points = 2048;
  VoxelFill fill = VoxelFill::points;
  double sigma = 1;   // of the Gaussians, in cells
  double extent = 1;  // the cells fill the cube [-extent, extent]^3
  int64_t classes = 10;
  Turning rotate = Turning::none;        // of the test samples
  Turning rotate_train = Turning::none;  // of the training and validation samples
  std::optional<Axis> up;                // y in HDF5 files, z in meshes unless given
  int64_t train = 0, valid = 0, test = 0;
  int64_t seed = 0;      // of rotations, of points on meshes and of the validation samples
  bool fit = false;      // clouds of HDF5 files into the ball of radius 1, as meshes always are
  int64_t limit = 4096;  // MiB of positions that one HDF5 file may have
  CloudInput input;      // of points
  std::vector<std::string> known_classes;  // of a model, by number (know_classes); no key of a config
};
void fields(Fields& f, ModelnetDataOptions& o);

/// How a feature of points moves: not at all, with them, or as the normal of a surface.
enum class CloudFeatureKind { scalar, vector, normal };
constexpr auto names_of(CloudFeatureKind) {
  return std::array<std::string_view, 3>{"scalar", "vector", "normal"};
}

/// What the points of a cloud have beside their places (sets/cloud_reader.h).
struct CloudFeature {
  std::string key;  // of an array, or of columns
  CloudFeatureKind kind = CloudFeatureKind::scalar;
  int64_t channels = 1;  // of a scalar

  bool operator==(const CloudFeature&) const = default;
};
void fields(Fields& f, CloudFeature& o);

/// Point clouds of one's own with their classes (sets/clouds.h): .npz, PLY, OFF, text, HDF5.
struct CloudsDataOptions {
  static constexpr const char* name_in_config = "clouds";
  std::string path = "data/clouds";
  std::string labels;                // a table of files and classes in the folder; empty: folders are classes
  std::string positions, label;      // names of arrays; empty: the usual ones
  std::vector<std::string> columns;  // of text without names
  std::vector<CloudFeature> features;
  int64_t classes = 0;    // 0: those there are
  int64_t points = 1024;  // at most, drawn; 0: all
  bool fit = true;        // each cloud into the ball of radius 1
  double train_fraction = 0.8, valid_fraction = 0.1;
  int64_t seed = 0;      // of the splits and of the points
  int64_t limit = 4096;  // MiB of arrays that one file may have
  Axis up = Axis::z;     // of the clouds, for frame and augment
  CloudInput input;
  std::vector<std::string> known_classes;  // of a model, by number (know_classes); no key of a config
};
void fields(Fields& f, CloudsDataOptions& o);

/// Which voxels of a volume its mean and deviation are taken over.
enum class VoxelsCounted { nonzero, all };
constexpr auto names_of(VoxelsCounted) {
  return std::array<std::string_view, 2>{"nonzero", "all"};
}

/// Volumes with masks in the layout of the Medical Segmentation Decathlon (sets/decathlon.h), as made by
/// `weyl data make phantoms`: a folder with dataset.json.
struct DecathlonDataOptions {
  static constexpr const char* name_in_config = "decathlon";
  std::string path = "data/phantoms";
  int64_t modalities = 4;
  int64_t classes = 4;    // with the background
  bool normalise = true;  // each modality of a volume to mean 0 and deviation 1,
  VoxelsCounted normalise_over = VoxelsCounted::nonzero;  // over these voxels
  std::vector<double> fractions{0.5, 0.2, 0.3};  // of the labelled cases, for training, validation, test
  int64_t train = 0, valid = 0, test = 0;        // cases of a split; 0: the fraction
  int64_t seed = 0;                              // of the split
  int64_t cache = 1024;                          // MiB of volumes kept in memory
  int64_t limit = 4096;                          // MiB that one volume may have, as float32
  bool check_geometry = true;                    // image and mask must stand at one place
};
void fields(Fields& f, DecathlonDataOptions& o);

/// A value of frames that becomes a label of its name.
struct FrameProperty {
  std::string key;
  std::string unit;        // of the label; a file that says another is converted
  bool extensive = false;  // grows with the number of atoms
  bool norm = false;       // the files have a vector, the label is its length

  bool operator==(const FrameProperty&) const = default;
};
void fields(Fields& f, FrameProperty& o);

/// What becomes of frames without a label that others have: they are refused, or left out of its part of the
/// loss.
enum class MissingLabels { error, mask };
constexpr auto names_of(MissingLabels) {
  return std::array<std::string_view, 2>{"error", "mask"};
}

/// What the column of forces holds: forces, or the gradient of the energy, which is minus them.
enum class ForceSign { force, gradient };
constexpr auto names_of(ForceSign) {
  return std::array<std::string_view, 2>{"force", "gradient"};
}
/// When the diagonal of a file's stress is positive: under tension, as ours (conventions.md), or under
/// compression, as VASP prints it.
enum class StressSign { tension, compression, vasp };
constexpr auto names_of(StressSign) {
  return std::array<std::string_view, 3>{"tension", "compression", "vasp"};
}

/// In which order frames and molecules are divided: in that of our random numbers, in that of numpy's
/// RandomState(seed), or as the files have them.
enum class SplitOrder { weyl, numpy, file };
constexpr auto names_of(SplitOrder) {
  return std::array<std::string_view, 3>{"weyl", "numpy", "file"};
}

/// Atoms with energies, forces, stress and properties, from any file of frames (sets/molecules.h).
struct MoleculesDataOptions {
  static constexpr const char* name_in_config = "molecules";
  std::string path = "data/molecules";
  std::string energy, forces, stress;    // keys; empty: the usual ones
  std::string energy_unit, length_unit;  // of the files; empty: as their format says, else eV and Angstrom
  std::string force_unit, stress_unit;   // of the files; empty: as their format says, else of the two above
  ForceSign force_sign = ForceSign::force;
  StressSign stress_sign = StressSign::tension;
  std::vector<std::string> elements;  // symbols of the types in their order; none: 100 types, Z each
  std::vector<std::string> features;  // keys of frames that the model is told of as numbers, such as charge
  std::vector<FrameState> states;     // and those of which it learns each value by itself
  std::vector<FrameProperty> properties;
  std::string config_type = "config_type";  // key of the kind of a frame, for tables
  MissingLabels missing = MissingLabels::error;
  bool stream = false;                     // frames stay on disk and are read when a batch asks for them
  SplitOrder order = SplitOrder::weyl;     // of the frames of one file
  int64_t train = 0, valid = 0, test = 0;  // frames of one file: all 0: the fractions; test 0: the rest
  std::vector<double> fractions{0.8, 0.1, 0.1};
  int64_t seed = 0;
};
void fields(Fields& f, MoleculesDataOptions& o);

/// Trajectories of single molecules with energies and forces: MD17's and rMD17's .npz (sets/molecules.h).
struct Md17DataOptions {
  static constexpr const char* name_in_config = "md17";
  std::string path = "data/md17/md17_aspirin.npz";
  std::vector<std::string> elements;             // as of molecules
  int64_t train = 950, valid = 50, test = 0;     // frames; test 0: the rest
  std::vector<double> fractions{0.8, 0.1, 0.1};  // where train, valid and test are 0
  int64_t seed = 0;
};
void fields(Fields& f, Md17DataOptions& o);

/// What a model is told of an atom: its element, or the 97 numbers of public code.
enum class AtomInputs { elements, pyg };
constexpr auto names_of(AtomInputs) {
  return std::array<std::string_view, 2>{"elements", "pyg"};
}
/// 134 thousand small molecules with fifteen properties each (sets/molecules.h).
struct Qm9DataOptions {
  static constexpr const char* name_in_config = "qm9";
  std::string path = "data/qm9";
  std::string exclude;  // file of the molecules to leave out, found like `path`; empty: uncharacterized.txt
                        // beside them
  SplitOrder order = SplitOrder::weyl;
  AtomInputs inputs = AtomInputs::elements;
  std::vector<std::string> elements;                // as of molecules
  int64_t train = 110000, valid = 10000, test = 0;  // molecules; test 0: the rest
  std::vector<double> fractions{0.8, 0.1, 0.1};     // where train, valid and test are 0
  int64_t seed = 0;
};
void fields(Fields& f, Qm9DataOptions& o);

using DataSet = std::variant<NbodyDataOptions, TensorsDataOptions, PoseSequencesDataOptions,
                             RotatedMnistDataOptions, Cifar10DataOptions, ImagesDataOptions, Ph2DataOptions,
                             ModelnetDataOptions, DecathlonDataOptions, MoleculesDataOptions, Md17DataOptions,
                             Qm9DataOptions, CloudsDataOptions, PlanetsDataOptions, RigidBodiesDataOptions>;
struct DataOptions {
  DataSet set;
};
void fields(Fields& f, DataOptions& o);

/// ConfigError for an option that nothing reads as the others stand (config/idle.h); what depends on the files is
/// taken to be read.
void require_effects(const DataOptions& options);

/// The folder or file that the options name.
const std::string& path_of(const DataOptions& options);
/// The same samples at another place.
DataOptions moved_to(DataOptions options, const std::string& path);
/// Another set of the kind, with all its samples: where the files say no splits, all are for testing.
DataOptions all_of(DataOptions options, const std::string& path);

/// Where folders say the classes: folders whose names are among those of a model, in the order of their numbers, are its
/// classes, though some of its be absent.
DataOptions know_classes(DataOptions options, const std::vector<std::string>& names);
/// States of frames (FrameState) of which a model knows these values alone, by key; of keys not there, any in range.
DataOptions know_states(DataOptions options, const std::map<std::string, std::vector<int64_t>>& values);
/// `classes`, where it is 0, as many as a data set that was opened has: `categories` of its label of them.
DataOptions count_classes(DataOptions options, int64_t categories);
/// Whatever classes there are, as of samples whose classes nobody asks for.
DataOptions of_any_classes(DataOptions options);

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
