#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/core/axis.h"
#include "weyl/data/clouds/cloud_input.h"
#include "weyl/data/clouds/turning.h"

namespace weyl {

class Dataset;
struct Schema;
struct Splits;

/// The carrier that a set of shapes becomes.
enum class ShapeCarrier { grid, points };
constexpr std::array<std::string_view, 2> shape_carrier_names{"grid", "points"};
constexpr const auto& names_of(ShapeCarrier) {
  return shape_carrier_names;
}

/// What fills a cell: a point of the sample in it, the mesh's surface through it, or Gaussians around all points.
enum class VoxelFill { points, surface, density };
constexpr std::array<std::string_view, 3> voxel_fill_names{"points", "surface", "density"};
constexpr const auto& names_of(VoxelFill) {
  return voxel_fill_names;
}

/// Shapes with their classes in ModelNet's layouts (clouds/modelnet.h), as made by `weyl data make solids`.
struct ModelnetDataOptions {
  static constexpr const char* name_in_config = "modelnet";
  std::string path = "data/solids";
  std::string variant;  // which of several sets of HDF5 files in the folder (clouds/modelnet_files.h)
  ShapeCarrier carrier = ShapeCarrier::grid;
  int64_t voxels = 32;  // cells along an axis
  int64_t points = 2048;
  VoxelFill fill = VoxelFill::points;
  double sigma = 1;   // of the Gaussians, in cells
  double extent = 1;  // the cells fill the cube [-extent, extent]^3
  int64_t classes = 10;
  Turning rotate = Turning::none;        // of the test samples
  Turning rotate_train = Turning::none;  // of the training and validation samples
  std::optional<Axis> up;                // if absent: y in HDF5 files, z in meshes
  int64_t train = 0, valid = 0, test = 0;
  int64_t seed = 0;      // of rotations, of points on meshes and of the validation samples
  bool fit = false;      // scales clouds of HDF5 files into the ball of radius 1, as is always done to meshes
  int64_t limit = 4096;  // MiB of positions that one HDF5 file may have
  bool normals = false;  // with carrier points: nodes have the normals of their meshes
  CloudInput input;      // likewise
  std::vector<std::string> known_classes;  // a model's, by number (know_classes); no key of a config
};
void fields(Fields& f, ModelnetDataOptions& o);
void require_effects(const ModelnetDataOptions& options);
/// Shapes with their classes, in the layouts in which ModelNet is distributed: HDF5 (train*.h5, test*.h5;
/// clouds/point_clouds.h) or OFF (CLASS/train/*.off, CLASS/test/*.off). The classes of OFF are the folders, sorted by
/// name and called by it. A folder may hold several sets of HDF5 files, as ScanObjectNN's does; `variant` names the one
/// that is read (modelnet_files.h). Values are float32, label `class` is (B, 1).
///
/// A mesh is moved and scaled into the ball of radius 1 (data/clouds/surface.h), and `points` points are drawn on it.
/// From a cloud the first `points` points are taken; with `fit` it is put into the ball, too. The sample is then turned
/// as the options say, and becomes
///
///   grid     feature `occupancy`: 1 in the cells that hold a point (or, of meshes with fill surface, that
///            the surface touches), 0 elsewhere; or `density`, of Gaussians around the points
///            (data/clouds/voxels.h). The cells fill the cube [-extent, extent]^3, spacing 2 extent / voxels
///   points   positions of nodes, with the vectors that the options ask for (clouds/cloud_input.h), if any, and, of meshes
///            with `normals`, the feature `normals` (Role::normal) of the triangle that a point is drawn in
///
/// Turning and drawing are pure functions of (seed, split, sample). What training changes is a pure function of (seed,
/// epoch, sample) of the training (Dataset::augmented).
Schema declared_schema(const ModelnetDataOptions& options);
/// Opens a folder. Where there are no files valid*.h5, the validation split is drawn from the training samples by the
/// seed. DataError: no such folder; neither layout; several variants of which none is named; a broken file; fewer
/// points or samples than asked for; another number of classes than the options say; a label outside of the classes.
Splits open_set(const ModelnetDataOptions& options);

/// How a feature of points transforms: not at all, as a vector, or as the normal of a surface.
enum class CloudFeatureKind { scalar, vector, normal };
constexpr auto names_of(CloudFeatureKind) {
  return std::array<std::string_view, 3>{"scalar", "vector", "normal"};
}

/// A feature that the points of a cloud have besides their positions (clouds/cloud_reader.h).
struct CloudFeature {
  std::string key;  // the name of an array, or of columns
  CloudFeatureKind kind = CloudFeatureKind::scalar;
  int64_t channels = 1;  // of a scalar

  bool operator==(const CloudFeature&) const = default;
};
void fields(Fields& f, CloudFeature& o);

/// Point clouds of one's own with their classes (clouds/clouds.h): .npz, PLY, OFF, text, HDF5.
struct CloudsDataOptions {
  static constexpr const char* name_in_config = "clouds";
  std::string path = "data/clouds";
  std::string labels;            // a table of files and classes in the folder; empty: folders are classes
  std::string positions, label;  // names of arrays; empty: the usual ones
  std::string point_label;  // an array or a column: the class of each point, learned in place of the cloud's
  std::vector<std::string> columns;  // of text without names
  std::vector<CloudFeature> features;
  int64_t classes = 0, point_classes = 0;  // 0: as many as the files have
  bool class_input = false;                // beside point_label: each cloud's class is told to the model
  int64_t points = 1024;                   // the most of a cloud, drawn; 0: all
  bool fit = true;                         // scales each cloud into the ball of radius 1
  double train_fraction = 0.8, valid_fraction = 0.1;
  int64_t seed = 0;      // of the splits and of the points
  int64_t limit = 4096;  // MiB of arrays that one file may have
  Axis up = Axis::z;     // of the clouds, for frame and augment
  CloudInput input;
  std::vector<std::string> known_classes;  // a model's, by number (know_classes); no key of a config
};
void fields(Fields& f, CloudsDataOptions& o);
void require_effects(const CloudsDataOptions& options);
/// Point clouds with their classes, as points in float64. The files have any of the formats of clouds/cloud_reader.h,
/// in any of the layouts of clouds/cloud_layout.h. With `fit` a cloud is moved and scaled into the ball of radius 1.
/// Then at most `points` of its points are drawn without repeats by (seed, name of the file, number in it), and stay in
/// their order. Clouds may differ in their number of points. Last, nodes are chosen and get further vectors, as
/// clouds/cloud_input.h says.
///
/// Features of nodes are those that the options name, by their keys: scalars, vectors, normals (Role::normal). Label
/// `class` (B, 1), where there are classes. With `point_label` it is `mask` (N, 1), the classes of points, alone; the class of
/// the cloud can then be a feature of graphs, `shape_class`, a one of as many zeros as there are classes.
///
/// ConfigError without a number of classes: only the files could say it.
Schema declared_schema(const CloudsDataOptions& options);
/// Opens the set. Splits that the layout does not give are drawn by the seed. With `faults`, a broken file is left out,
/// and a line in `faults` says why.
///
/// DataError: see cloud_layout and read_clouds; only some clouds have a class; other classes than the options say.
/// MemoryError: the clouds need more memory than there is.
Splits open_set(const CloudsDataOptions& options, std::vector<std::string>* faults = nullptr);
/// The options with the number of classes that an input says.
CloudsDataOptions as_opened(CloudsDataOptions options, const Dataset& train);

}  // namespace weyl
