#include "weyl/data/clouds/options.h"

#include "weyl/config/unused_options.h"

namespace weyl {

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
  f("normals", o.normals,
    "gives each node the normal of the surface there, of meshes: of the triangle that its point is drawn in");
  fields(f, o.input);
}

void require_effects(const ModelnetDataOptions& o) {
  const bool grid = o.carrier == ShapeCarrier::grid;
  const char* without_grid = "with carrier = \"points\"";
  const char* without_points = "with carrier = \"grid\"";
  const bool surface = grid && o.fill == VoxelFill::surface;
  const char* of_surfaces = "with fill = \"surface\", which has no points";
  const Conditional options[] = {
      {"centres", !grid, without_points},
      {"neighbours", !grid, without_points},
      {"neighbours_as", !grid, without_points},
      {"frame", !grid, without_points},
      {"augment.draw", !surface, of_surfaces},
      {"augment.jitter", !surface, of_surfaces},
      {"normals", !grid, without_points},
      {"voxels", grid, without_grid},
      {"extent", grid, without_grid},
      {"fill", grid, without_grid},
      {"sigma", grid && o.fill == VoxelFill::density, grid ? "without fill = \"density\"" : without_grid}};
  refuse_unused("data.modelnet", o, ModelnetDataOptions{}, options);
  require_effects(o.input, o.points, "data.modelnet");
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
  f("point_label", o.point_label,
    "name of the array (points) or (clouds, points), or of the column, with the class of each point, a whole number from 0 "
    "on, which task segmentation learns; none: the class of each cloud is learned");
  f.also_called("point_label", {"mask", "part_label", "segment_label", "semantic"});
  f("columns", o.columns,
    "what the columns of text are, x, y and z among them; none: as the file says, else x, y, z first");
  f("features", o.features, "what points have beside their places");
  f("classes", o.classes, "number of classes; 0: as many as there are, which only the files can say",
    {0, 1e6});
  f("point_classes", o.point_classes,
    "number of classes of points; 0: as many as there are, which only the files can say", {0, 1e6});
  f("class_input", o.class_input,
    "tells the model the class of each cloud, as the parts of shapes of several kinds are learned; clouds that are predicted "
    "must have one, too");
  f("points", o.points, "points drawn of each cloud, which keeps all when it has fewer; 0: all", {0, 1e9});
  f("fit", o.fit, "moves and scales each cloud into the ball of radius 1");
  f("train_fraction", o.train_fraction, "of the clouds, where the splits are not given", {0, 1});
  f("valid_fraction", o.valid_fraction, "of the clouds; the rest is for testing", {0, 1});
  f("seed", o.seed, "of the random splits and of the points that are drawn", {0, 9.2e18});
  f("limit", o.limit, "MiB that the arrays of one .npz or HDF5 file may have", {1, 1e9});
  f("up", o.up,
    "the upward axis of the clouds, which frame = \"up\", augment.rotate = \"z\" and `weyl eval RUN --rotate z` mean");
  fields(f, o.input);
}

void require_effects(const CloudsDataOptions& o) {
  for (size_t k = 0; k < o.features.size(); ++k) {
    const CloudFeature usual{.key = o.features[k].key, .kind = o.features[k].kind};
    const Conditional options[] = {{"channels", usual.kind == CloudFeatureKind::scalar,
                                    "with kind = \"vector\" or \"normal\", which have one vector each"}};
    refuse_unused(text("data.clouds.features[", k, "]"), o.features[k], usual, options);
  }
  const bool of_points = !o.point_label.empty(), of_clouds = !of_points || o.class_input;
  const char* no_classes = "with point_label and without class_input";
  const Conditional options[] = {
      {"label", o.labels.empty() && of_clouds,
       of_clouds ? "beside labels, which says the classes" : no_classes},
      {"classes", of_clouds, no_classes},
      {"point_classes", of_points, "without point_label"},
      {"class_input", of_points, "without point_label: a class that is learned is no input"}};
  refuse_unused("data.clouds", o, CloudsDataOptions{}, options);
  require_effects(o.input, o.points, "data.clouds");
}

}  // namespace weyl
