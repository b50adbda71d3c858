#pragma once

#include <string>
#include <vector>

#include "weyl/data/options.h"

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

/// Finds them, by name in each folder, hidden ones left out (cloud_reader.h says which endings they have):
///
///   a table (`labels`)        CSV with a first line of names: `file` (below the folder) and `class`, and `split` where
///                             the splits are given. Classes are numbers 0, 1, ... where all of them are, else sorted names
///   train, valid, test        folders (val, too), each of one of the two layouts below; the classes are those of train
///   a folder for each class   numbered by their sorted names (class_names.h)
///   files alone               whose arrays say the classes, or nothing does; train.*, valid.*, test.* are the splits
///   a file                    of many clouds
///
/// DataError: there is no such path, no cloud in it, a class in valid or test that train has not, a table without these
/// columns or with a file that is not there or twice.
CloudLayout cloud_layout(const CloudsDataOptions& options);

/// Whether a folder has class folders with clouds and nothing else in them, or archives of clouds alone, or train and test
/// with such: what nobody named is told apart from other data by the first files of each class, none of which may be of
/// another kind (seems_clouds). Broken files say nothing, but some must be sound.
bool is_cloud_folder(const std::string& path);

/// Whether a folder holds clouds themselves, not in folders of classes or named after splits.
bool is_flat_cloud_folder(const std::string& path);

/// The clouds that lie in a folder themselves, by name; empty where there are none.
std::vector<std::string> clouds_in(const std::string& folder);

}  // namespace weyl
