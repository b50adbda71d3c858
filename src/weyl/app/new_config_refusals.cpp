// What `weyl config new` says of paths that are no data set to train on: a command that works, or what is missing.
#include <filesystem>

#include "weyl/app/new_config_data.h"
#include "weyl/app/shell_word.h"
#include "weyl/core/check.h"
#include "weyl/data/files/advice.h"
#include "weyl/data/files/formats.h"
#include "weyl/data/sets/cloud_reader.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// What a set of files of a kind is, where a file of it is no set: in the words of `--data`.
std::string set_of(const std::string& path) {
  if (VolumeFiles::takes(path, {})) {
    return "a folder of volumes with dataset.json, which names the masks";
  }
  if (PictureFiles::takes(path, {})) {
    return "a folder of images with a folder for each class, or with folders images and masks";
  }
  return ShapeFiles::takes(path, {}) ? "a folder with a folder of shapes for each class" : "";
}

std::string command(const std::string& path) {
  return "`weyl config new --data " + shell_word(path) + "`";
}

}  // namespace

void refuse_file(const std::string& path) {
  const std::string folder = fs::path(path).stem().string();
  if (TensorFiles::takes(path, {})) {
    throw ConfigError(text(path, ": is one file without splits; `weyl data split ", shell_word(path),
                           " --out ", shell_word(folder), "`, then --data ", shell_word(folder)));
  }
  if (CifarBatches::takes(path, {}) || DigitFiles::takes(path, {})) {  // whose files lie in one folder
    const std::string above = fs::path(path).parent_path().string();
    throw ConfigError(
        text(path, ": is one file of a data set, which ", command(above.empty() ? "." : above), " takes"));
  }
  const bool strange = is_hdf5(path) && !seems_clouds(path).value_or(false);
  if (const std::string set = strange ? "" : set_of(path); !set.empty()) {
    throw ConfigError(text(path, ": is one file of a data set; give all of it, --data with ", set));
  }
  const std::string advice = advice_for(path);
  throw DataError(text(path, ": ", advice.empty() ? "is of no format that is trained on" : advice));
}

void refuse_folder(const std::string& path) {
  const std::string within = data_set_within(path);
  if (within.empty()) {
    throw DataError(text(path, ": ", advice_for(path)));
  }
  look_at_data(within);  // throws what is wrong with it
  throw ConfigError(text(path, ": holds no data set itself, but what ", command(within), " takes"));
}

}  // namespace weyl
