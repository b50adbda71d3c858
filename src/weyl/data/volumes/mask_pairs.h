#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weyl/core/segments.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {

/// The files of a predicted mask and of the true one.
struct MaskPair {
  std::string name, predicted, truth;
};

/// Predicted masks beside the true ones, with what the data say of their classes.
struct MaskPairs {
  std::vector<MaskPair> cases;         // in the order of the predictions' names
  std::vector<int64_t> numbers;        // of the classes in files, ascending from 0
  std::vector<std::string> names;      // of the classes: the data's, else their numbers
  std::vector<VolumeRegion> regions;   // that the data would have scored
  std::optional<int64_t> ignored;      // the number of voxels whose class nobody knows
  std::vector<std::string> left_over;  // cases whose true mask has no prediction
};

/// Whether masks are there: a volume, or a folder that has some and is no set of images with masks.
bool are_masks(const std::string& path);

/// Finds the true mask of each predicted one by its name without the ending, `CASE_probabilities` beside `CASE` left out.
/// `predicted`: a folder of masks, or one; `truth`: such a folder, one mask where there is one prediction, or a set of volumes
/// (volume_index.h), of which the cases with masks count. Classes are those of the set, also where its dataset.json stands beside or
/// above the true masks, or beside the predicted ones (index_of_masks); else all numbers that any of the masks has. DataError: no masks; a prediction whose case has no true
/// mask; the same case twice.
MaskPairs pair_masks(const std::string& predicted, const std::string& truth);

/// Both masks of a case on the grid of their files, whichever way each of them has its axes, (X, Y, Z) int64 in canonical order, classes by their places; the truth is
/// `unlabelled` where its class is not known. Spacing in mm.
struct ComparedMasks {
  Tensor predicted, truth;
  std::array<double, 3> spacing{};
};
/// DataError naming the file: other sizes; places of both that differ by more than a tenth of a voxel, unless `as_is`, by which voxels are compared in the order of
/// the files, on the grid of the true mask; a number that is of no class.
ComparedMasks read_masks(const MaskPair& pair, const MaskPairs& of, bool as_is = false);

}  // namespace weyl
