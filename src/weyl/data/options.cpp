#include "weyl/data/options.h"

#include "weyl/data/sets/sequence_gap.h"

namespace weyl {

void fields(Fields& f, NbodyDataOptions& o) {
  f("path", o.path,
    "folder with train, valid and test: made by `weyl data make nbody`, or the original .npy files");
  f("train", o.train, "the first so many samples of the training split, which must have them; 0: all",
    {0, 1e9});
  f("valid", o.valid, "the first so many samples of the validation split, which must have them; 0: all",
    {0, 1e9});
  f("test", o.test, "the first so many samples of the test split, which must have them; 0: all", {0, 1e9});
  f("input_frame", o.input_frame, "frame that the model sees; frame k is time 0.1 (k + 1)", {0, 1e9});
  f("target_frame", o.target_frame, "frame whose positions it predicts", {0, 1e9});
  f("speed", o.speed, "adds the norm of the velocity as a scalar feature");
  f("charge_types", o.charge_types,
    "the sign of the charge is the type of a particle too (two types, for systems that learn by type)");
}

void fields(Fields& f, TensorsDataOptions& o) {
  f("path", o.path,
    "folder with train.safetensors, valid.safetensors and test.safetensors (carrier tensor files)");
}

void fields(Fields& f, PlanetsDataOptions& o) {
  f("path", o.path, "folder with train, valid and test: made by `weyl data make planets`");
  f("train", o.train, "systems used of the training split; 0: all", {0, 1e9});
  f("valid", o.valid, "systems used of the validation split; 0: all", {0, 1e9});
  f("test", o.test, "systems used of the test split; 0: all", {0, 1e9});
}

void fields(Fields& f, RigidBodiesDataOptions& o) {
  f("path", o.path, "folder with train, valid and test: made by `weyl data make rigid_bodies`");
  f("train", o.train, "the first so many scenes of the training split, which must have them; 0: all",
    {0, 1e9});
  f("valid", o.valid, "the first so many scenes of the validation split, which must have them; 0: all",
    {0, 1e9});
  f("test", o.test, "the first so many scenes of the test split, which must have them; 0: all", {0, 1e9});
  f("floor", o.floor, "adds what every token knows of the floor: its normal `up`, and the `height` above it");
  f("rollout", o.rollout, "frames after the two that a model sees whose motions are labels", {1, 1e6});
  f("stride", o.stride, "frames between the samples of a scene; 1: every frame but the ends begins one",
    {1, 1e6});
}

void fields(Fields& f, PoseSequencesDataOptions& o) {
  f("path", o.path,
    "folder with train, valid and test: made by `weyl data make pose_sequences`; or one trajectory (TUM, "
    "KITTI, EuRoC)");
  f("group", o.group, "the Lie group of the poses; the files must hold the same; se3 of a trajectory");
  f("train", o.train, "samples used of the training split; 0: all", {0, 1e9});
  f("valid", o.valid, "samples used of the validation split; 0: all", {0, 1e9});
  f("test", o.test, "samples used of the test split; 0: all", {0, 1e9});
  f("length", o.length, "of a trajectory: poses of a sample, one of which is taken out", {kLeastOfGap, 1e6});
  f("stride", o.stride, "of a trajectory: poses between the beginnings of two samples; 0: the length",
    {0, 1e9});
  f("fractions", o.fractions,
    "of a trajectory: its first part is for training, the next for validation, the last for testing", {0, 1});
  f("seed", o.seed, "of a trajectory: of the poses taken out and of the order of the others", {0, 9.2e18});
}

namespace {

template <class Options>
void image_counts(Fields& f, Options& o) {
  f("train", o.train, "images used of the training split, which must have them; 0: all", {0, 1e9});
  f("valid", o.valid, "images used of the validation split, which must have them; 0: all", {0, 1e9});
  f("test", o.test, "images used of the test split, which must have them; 0: all", {0, 1e9});
}

template <class Options>
void image_size(Fields& f, Options& o) {
  f("height", o.height, "rows that images are resized to; 0 and 0: as they are, all of one size", {0, 32768});
  f("width", o.width, "columns that images are resized to", {0, 32768});
}

template <class Options>
void mask_threshold(Fields& f, Options& o) {
  f("mask_threshold", o.mask_threshold,
    "of masks of two classes that hold greys: what is above it, as a part of white, is the second class; "
    "unless given, masks of more than two values are refused",
    {0, 0.999});
}

}  // namespace

void fields(Fields& f, RotatedMnistDataOptions& o) {
  f("path", o.path,
    "folder with the .amat files of rotated MNIST or of `weyl data make glyphs`, .npz splits, or IDX files");
  image_counts(f, o);
  fields(f, o.input);
}

void fields(Fields& f, Cifar10DataOptions& o) {
  f("path", o.path, "folder with data_batch_1.bin .. data_batch_5.bin and test_batch.bin");
  image_counts(f, o);
  f("seed", o.seed, "of the tenth of the training images that is for validation", {0, 9.2e18});
  fields(f, o.input);
}

void fields(Fields& f, ImagesDataOptions& o) {
  f("path", o.path,
    "folder with a folder of images for each class, or with images/ and masks/; or both in train, valid, "
    "test");
  f("target", o.target, "what is known: a class of each image, or a mask with a class of each pixel");
  f("classes", o.classes, "number of classes; 0: as many as there are, which only the files can say",
    {0, 255});
  f("channels", o.channels, "3 (rgb) or 1 (grey)", {1, 3});
  image_size(f, o);
  mask_threshold(f, o);
  f("train_fraction", o.train_fraction, "of the images, where there are no folders train, valid and test",
    {0, 1});
  f("valid_fraction", o.valid_fraction, "of the images; the rest is for testing", {0, 1});
  f("seed", o.seed, "of the random splits", {0, 9.2e18});
  fields(f, o.input);
}

void fields(Fields& f, Ph2DataOptions& o) {
  f("path", o.path, "folder `PH2 Dataset images`, or the one above; made by `weyl data make lesions`, too");
  image_size(f, o);
  mask_threshold(f, o);
  f("train", o.train, "training images; with valid and test 0: the fraction", {0, 1e9});
  f("valid", o.valid, "validation images; with train and test 0: the fraction", {0, 1e9});
  f("test", o.test, "test images; with train and valid 0: the fraction", {0, 1e9});
  f("fractions", o.fractions, "of the images: training, validation, test", {0, 1});
  f("seed", o.seed, "of the random splits", {0, 9.2e18});
  fields(f, o.input);
}

void fields(Fields& f, ModelnetDataOptions& o) {
  f("path", o.path,
    "folder with train*.h5 and test*.h5, or CLASS/train/*.off and CLASS/test/*.off: made by `weyl data make "
    "solids`, or ModelNet");
  f("variant", o.variant,
    "which set is meant where the folder holds HDF5 files of several, as ScanObjectNN's do: what follows "
    "`train` or `training` in their names, such as objectdataset_augmentedrot_scale75");
  f("carrier", o.carrier, "voxels of the cube [-extent, extent]^3, or the points themselves");
  f("voxels", o.voxels, "cells along each axis of the grid", {1, 1024});
  f("points", o.points, "points of a sample; 0: all that the files have", {0, 1e6});
  f("fill", o.fill,
    "a cell is filled by the points in it, by the surface that touches it (meshes), or holds the density of "
    "Gaussians around the points, which turns with them more smoothly");
  f("sigma", o.sigma, "fill density: standard deviation of the Gaussians, in cells", {0.3, 100});
  f("extent", o.extent,
    "half the side of the cube of cells; above 1 a margin is left around the ball of radius 1", {1e-6, 1e6});
  f("classes", o.classes, "how many classes the files have; 0: as many as they show", {0, 1e6});
  f("rotate", o.rotate,
    "how test samples are turned, those of grids before they become voxels: not, about the upward axis, by "
    "the Euler angles of ModelNet's SO(3) tests, or uniformly");
  f("rotate_train", o.rotate_train, "the same for training and validation samples, once for each sample");
  f("up", o.up, "the upward axis of the files; y for HDF5 and z for meshes unless given");
  f("train", o.train, "the first so many training samples, of meshes the classes in turn; 0: all", {0, 1e9});
  f("valid", o.valid,
    "validation samples, drawn from the training samples unless there are files; 0: a tenth", {0, 1e9});
  f("test", o.test, "the first so many test samples, of meshes the classes in turn; 0: all", {0, 1e9});
  f("seed", o.seed, "of rotations, of points on meshes and of the validation samples", {0, 9.2e18});
  f("fit", o.fit,
    "moves and scales clouds of HDF5 files into the ball of radius 1, as is always done to meshes: no "
    "rotation takes them out of the grid");
  f("limit", o.limit, "MiB of positions that one HDF5 file may have", {1, 1e9});
  fields(f, o.input);
}

void fields(Fields& f, CloudFeature& o) {
  f("key", o.key,
    "of an array of the file, or of columns: KEY, for vectors KEY_x, KEY_y, KEY_z or KEYx, KEYy, KEYz; "
    "`normal` is also nx, ny, nz, and `colour` red, green, blue. Must be given, and is the feature's name");
  f("kind", o.kind, "scalar numbers, a vector that turns with the points, or the normal of a surface");
  f("channels", o.channels, "how many numbers a scalar has: 3 of a colour", {1, 4096});
}

void fields(Fields& f, CloudsDataOptions& o) {
  f("path", o.path,
    "folder with a folder of clouds for each class, or with `labels`; or these in train, valid, test; or a "
    "file of many clouds, or train, valid and test of such");
  f("labels", o.labels,
    "CSV file in the folder with the columns `file` and `class`, and `split` (train, valid, test) where the "
    "splits are given; none: the folders are the classes");
  f("positions", o.positions,
    "name of the array of positions in .npz and HDF5, (points, 3) or (clouds, points, 3); none: the first "
    "there is of positions, points, pos, xyz, coords, data");
  f("label", o.label,
    "name of the array of classes, where no folder says them; none: the first there is of label, labels, "
    "class, classes, y, target");
  f("columns", o.columns,
    "what the columns of text are, x, y and z among them; none: as the file says, else x, y, z first");
  f("features", o.features, "what points have beside their places");
  f("classes", o.classes, "number of classes; 0: as many as there are, which only the files can say",
    {0, 1e6});
  f("points", o.points, "points drawn of each cloud, which keeps all when it has fewer; 0: all", {0, 1e9});
  f("fit", o.fit, "moves and scales each cloud into the ball of radius 1");
  f("train_fraction", o.train_fraction, "of the clouds, where the splits are not given", {0, 1});
  f("valid_fraction", o.valid_fraction, "of the clouds; the rest is for testing", {0, 1});
  f("seed", o.seed, "of the random splits and of the points that are drawn", {0, 9.2e18});
  f("limit", o.limit, "MiB that the arrays of one .npz or HDF5 file may have", {1, 1e9});
  f("up", o.up, "the upward axis of the clouds, which frame = \"up\" and augment.rotate = \"z\" mean");
  fields(f, o.input);
}

void fields(Fields& f, DecathlonDataOptions& o) {
  f("path", o.path,
    "folder with dataset.json: made by `weyl data make phantoms`, or of the Medical Segmentation Decathlon");
  f("modalities", o.modalities, "channels of an image, which the files must have", {1, 1000});
  f("classes", o.classes, "classes of a mask with the background, which the files must have", {1, 256});
  f("normalise", o.normalise, "each modality of a volume to mean 0 and standard deviation 1");
  f("normalise_over", o.normalise_over,
    "the voxels that mean and deviation are taken over: those that are not 0, while the others stay 0, or "
    "all (CT, where 0 is water)");
  f("fractions", o.fractions, "of the labelled cases: training, validation, test", {0, 1});
  f("train", o.train, "training cases; 0: the fraction", {0, 1e9});
  f("valid", o.valid, "validation cases; 0: the fraction", {0, 1e9});
  f("test", o.test, "test cases; 0: the fraction", {0, 1e9});
  f("seed", o.seed, "of the split", {0, 9.2e18});
  f("cache", o.cache, "MiB of volumes that are kept in memory", {0, 1e9});
  f("limit", o.limit, "MiB that one volume may have, as float32", {1, 1e9});
  f("check_geometry", o.check_geometry, "image and mask must be at one place in space");
}

void fields(Fields& f, PoseFileOptions& o) {
  f("format", o.format, "of the file; told from its first line unless given");
  f("length", o.length, "tokens of a sample; 0: the whole trajectory is one", {0, 1e9});
  f("stride", o.stride, "poses between the beginnings of two samples; 0: the length", {0, 1e9});
  f("hole", o.hole,
    "takes one inner pose out of each sample as the label `element`, marks its neighbours by the label "
    "`flank` and shuffles the tokens");
  f("seed", o.seed, "of the holes and of the order of the tokens", {0, 9.2e18});
}

void fields(Fields& f, DataOptions& o) {
  f.also_called("set", {"name", "type", "dataset", "data_set"});
  f.variant("set", o.set, "the data set");
}

const std::string& path_of(const DataOptions& options) {
  return std::visit([](const auto& o) -> const std::string& { return o.path; }, options.set);
}

DataOptions moved_to(DataOptions options, const std::string& path) {
  std::visit([&](auto& o) { o.path = path; }, options.set);
  return options;
}

DataOptions know_classes(DataOptions options, const std::vector<std::string>& names) {
  std::visit(
      [&](auto& o) {
        if constexpr (requires { o.known_classes; }) {
          o.known_classes = names;
        }
      },
      options.set);
  return options;
}

DataOptions know_states(DataOptions options, const std::map<std::string, std::vector<int64_t>>& values) {
  if (auto* molecules = std::get_if<MoleculesDataOptions>(&options.set)) {
    for (FrameState& state : molecules->states) {
      const auto known = values.find(state.key);
      state.known = known != values.end() ? known->second : std::vector<int64_t>();
    }
  }
  return options;
}

DataOptions count_classes(DataOptions options, int64_t categories) {
  std::visit(
      [categories](auto& o) {
        if constexpr (requires { o.classes; }) {
          o.classes = o.classes == 0 ? categories : o.classes;
        }
      },
      options.set);
  return options;
}

DataOptions of_any_classes(DataOptions options) {
  std::visit(
      [](auto& o) {
        if constexpr (requires { o.target; }) {
          o.classes = o.target == ImageTarget::mask ? o.classes : 0;  // of masks they are those of pixels
        } else if constexpr (requires { o.known_classes; }) {
          o.classes = 0;
        }
      },
      options.set);
  return options;
}

DataOptions all_of(DataOptions options, const std::string& path) {
  std::visit(
      [](auto& o) {
        if constexpr (requires { o.train = o.valid = o.test = 0; }) {
          o.train = o.valid = o.test = 0;
        }
        if constexpr (requires { o.fractions; }) {
          o.fractions = {0, 0, 1};
        }
        if constexpr (requires { o.order; }) {
          o.order = SplitOrder::weyl;  // on which nothing depends
        }
        if constexpr (requires { o.train_fraction; }) {
          o.train_fraction = o.valid_fraction = 0;
        }
        if constexpr (requires { o.stream; }) {
          o.stream = false;  // of whatever format it is: who opens it says what to keep
        }
      },
      options.set);
  return moved_to(std::move(options), path);
}

}  // namespace weyl
