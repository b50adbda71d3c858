#pragma once

#include <string>
#include <vector>

#include "weyl/data/clouds/options.h"

namespace weyl {

/// A file of clouds, and its class where the folder or a table says one.
struct CloudFile {
  std::string path;
  int64_t label = -1;
};

/// The files of a set.
struct CloudLayout {
  std::vector<CloudFile> train, valid, test;  // where the splits are given,
  std::vector<CloudFile> all;                 // else all of them
  std::vector<std::string> classes;           // their names, where folders or a table say them
  std::vector<std::string> warnings;

  bool split() const { return all.empty(); }
};

/// Finds the files of a set, sorted by name in each folder; hidden ones are left out (cloud_reader.h says which endings
/// they have):
///
///   a table (`labels`)        CSV with a first line of names: `file` (below the folder) and `class`, and `split` where
///                             the splits are given. Classes are 0, 1, ... where all are numbers, else sorted names
///   train, valid, test        folders (val, too), each of one of the layouts below; the classes are those of train
///   scans                     as KITTI's: `velodyne` in the folder, in folders in it, or in such in `sequences`; without folders of
///                             splits, of sequences 00 to 21 08 is the validation set and 11 to 21 are the test set, as SemanticKITTI
///                             says. Where labels of points are asked for, sequences without `labels` are left out
///   a folder for each class   numbered by their sorted names (class_names.h)
///   files alone               whose arrays say the classes, or nothing does; train.*, valid.*, test.* are the splits
///   a file                    of many clouds
///
/// DataError: there is no such path, no cloud in it, a class in valid or test that train does not have, a table without
/// these columns, or with a file that does not exist or is listed twice.
CloudLayout cloud_layout(const CloudsDataOptions& options);

/// Whether a folder is a set of clouds:
///
/// * it has folders of classes, with clouds and nothing else in them;
/// * or archives of clouds alone;
/// * or files alone whose points have labels (usual_point_label);
/// * or scans in folders `velodyne`, some of which have labels of points;
/// * or train and test in one of these layouts.
///
/// These are layouts that cloud_layout reads.
///
/// The set need not have been asked for by name, so the first files of each class decide whether it is other data: none
/// may be of another kind (seems_clouds). Broken files say nothing, but at least one file must be sound.
bool is_cloud_folder(const std::string& path);

/// Whether a folder holds clouds directly, not in folders of classes, of scans or of splits, and not named after splits.
bool is_flat_cloud_folder(const std::string& path);

/// The clouds directly in a folder, by name; empty where there are none.
std::vector<std::string> clouds_in(const std::string& folder);

}  // namespace weyl
