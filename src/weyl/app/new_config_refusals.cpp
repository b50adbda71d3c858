// What `weyl config new` says of paths that are no data set to train on: a command that works, or what is missing.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "weyl/app/new_config_data.h"
#include "weyl/core/check.h"
#include "weyl/data/files/advice.h"
#include "weyl/data/files/formats.h"
#include "weyl/data/sets/cloud_reader.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// What a set of files of a kind is, where a file of it is no set: in the words of `--data`.
std::string set_of(const std::string& path) {
  if (CifarBatches::takes(path, {})) {
    return "the folder of all batches";
  }
  if (DigitFiles::takes(path, {})) {
    return "the folder of all files of the digits";
  }
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

std::string shell_word(const std::string& path) {
  const bool plain =
      !path.empty() && path.front() != '-' && path.front() != '~' &&
      std::ranges::all_of(path, [](unsigned char c) {
        return c >= 128 || std::isalnum(c) != 0 ||
               std::string_view("/._-+,:@%").find(static_cast<char>(c)) != std::string_view::npos;
      });
  if (plain) {
    return path;
  }
  std::string word = "'";
  for (const char c : path) {
    word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + "'";
}

void refuse_file(const std::string& path) {
  const std::string folder = fs::path(path).stem().string();
  if (TensorFiles::takes(path, {})) {
    throw ConfigError(text(path, ": is one file without splits; `weyl data split ", shell_word(path),
                           " --out ", shell_word(folder), "`, then --data ", shell_word(folder)));
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
