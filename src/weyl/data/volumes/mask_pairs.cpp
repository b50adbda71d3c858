#include "weyl/data/volumes/mask_pairs.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "weyl/carriers/unlabelled.h"
#include "weyl/core/check.h"
#include "weyl/data/base/files_below.h"
#include "weyl/data/base/sample_checks.h"
#include "weyl/data/volumes/text_volumes.h"
#include "weyl/data/volumes/volume_tensor.h"

namespace weyl {
namespace {

using FilesByCase = std::map<std::string, std::string>;

void add_case(FilesByCase& files, const std::string& name, const std::string& file) {
  const auto [at, added] = files.emplace(name, file);
  require<DataError>(added, file, ": there must be one mask of case '", name, "', ", at->second,
                     " is one, too; of cases of one name in several folders name one folder");
}

/// The masks of a folder, or one, by the names of their cases.
FilesByCase masks_at(const std::string& path) {
  FilesByCase files;
  const bool folder = std::filesystem::is_directory(path);
  for (const std::string& file : folder ? volumes_in(path) : std::vector<std::string>{path}) {
    add_case(files, stem_of(file), file);
  }
  std::erase_if(files, [&](const auto& file) {
    const std::string_view name = file.first;
    return name.ends_with(probabilities_ending) &&
           files.contains(std::string(name.substr(0, name.size() - probabilities_ending.size())));
  });
  require<DataError>(!files.empty(), path, ": holds no mask (.nii, .nii.gz, .mha, .nrrd)");
  return files;
}

std::vector<std::string> paths_of(const FilesByCase& files) {
  std::vector<std::string> paths;
  for (const auto& [name, file] : files) {
    paths.push_back(file);
  }
  return paths;
}

/// Of the true masks the files, and what is said of their classes.
std::pair<FilesByCase, VolumeIndex> truth_at(const std::string& path) {
  if (are_masks(path)) {
    FilesByCase files = masks_at(path);
    VolumeIndex index = index_of_masks(paths_of(files)).value_or(VolumeIndex{});
    return {std::move(files), std::move(index)};
  }
  require<DataError>(std::filesystem::is_directory(path) && is_volume_set(path), path,
                     ": must be a mask, a folder of masks or a set of volumes with masks");
  VolumeIndex index = read_volume_index(path);
  FilesByCase files;
  for (const auto* cases : {&index.training, &index.test}) {
    for (const VolumeCase& c : *cases) {
      if (!c.mask.empty()) {
        add_case(files, c.name, c.mask);
      }
    }
  }
  require<DataError>(!files.empty(), path, ": no case has a mask");
  return {std::move(files), std::move(index)};
}

}  // namespace

bool are_masks(const std::string& path) {
  return std::filesystem::is_directory(path)
             ? has_masks_and_index(path) || (!is_volume_set(path) && !volumes_in(path).empty())
             : is_volume_file(path) && std::filesystem::exists(path);
}

MaskPairs pair_masks(const std::string& predicted, const std::string& truth) {
  const FilesByCase found = masks_at(predicted);
  auto [known, index] = truth_at(truth);
  if (index.numbers.empty()) {
    index = index_of_masks(paths_of(found)).value_or(VolumeIndex{});
  }
  const bool one_of_each = !std::filesystem::is_directory(predicted) && !std::filesystem::is_directory(truth);
  MaskPairs pairs{.numbers = index.numbers, .regions = index.regions, .ignored = index.ignored};
  for (const auto& [name, file] : found) {
    const auto right = one_of_each ? known.begin() : known.find(name);
    require<DataError>(right != known.end(), file, ": case '", name, "' must have a true mask in ", truth,
                       ", which has none of this name");
    pairs.cases.push_back({name, file, right->second});
  }
  for (const auto& [name, file] : known) {
    if (!one_of_each && !found.contains(name)) {
      pairs.left_over.push_back(name);
    }
  }
  if (pairs.numbers.empty()) {
    std::vector<VolumeCase> all;
    for (const MaskPair& pair : pairs.cases) {
      all.push_back({.name = pair.name, .channels = {}, .mask = pair.truth});
      all.push_back({.name = pair.name, .channels = {}, .mask = pair.predicted});
    }
    pairs.numbers = numbers_in_masks(all);
  }
  pairs.names = index.labels;
  if (std::ssize(pairs.names) != std::ssize(pairs.numbers)) {
    pairs.names.clear();
    for (const int64_t number : pairs.numbers) {
      pairs.names.push_back(std::to_string(number));
    }
  }
  return pairs;
}

ComparedMasks read_masks(const MaskPair& pair, const MaskPairs& of, bool as_is) {
  const Nifti truth = read_volume(pair.truth), predicted = read_volume(pair.predicted);
  require_same_grid(truth.header, "the true mask " + pair.truth, predicted.header, pair.predicted, "it",
                    !as_is, "; mend its header, or compare voxels in the order of the files by --as-is");
  const auto orientation = [](const Nifti& mask) { return orientation_of(affine_of(mask.header)); };
  std::vector<int64_t> numbers = of.numbers;
  const Tensor said =
      mask_tensor(predicted, numbers, orientation(as_is ? truth : predicted), pair.predicted).to(at::kLong);
  if (of.ignored) {
    numbers.push_back(*of.ignored);
  }
  const Tensor right = mask_tensor(truth, numbers, orientation(truth), pair.truth).to(at::kLong);
  return {said, right.masked_fill(right.ge(std::ssize(of.numbers)), unlabelled),
          canonical_spacing(truth.header)};
}

}  // namespace weyl
