#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/data/base/listed_folds.h"
#include "weyl/data/base/parts.h"

namespace weyl {

class Dataset;
struct Schema;
struct Splits;

/// Which voxels count for the mean and deviation of a channel.
///   nonzero      of each volume those that are not 0, which alone change
///   all          all voxels of each volume
///   foreground   those of any class but the background in the training cases, with one mean and deviation for all
///                volumes, which are first cut off at the percentiles 0.5 and 99.5 of the same voxels: of CT
///   modality     foreground of channels that are called CT, none of those called noNorm, which stay as they are; nonzero of
///                others
enum class VoxelsCounted { nonzero, all, foreground, modality };
constexpr auto names_of(VoxelsCounted) {
  return std::array<std::string_view, 4>{"nonzero", "all", "foreground", "modality"};
}

/// How volumes are interpolated where they get another spacing (data/volumes/resample.h); masks always by linear.
enum class Interpolation { linear, cubic };
constexpr auto names_of(Interpolation) {
  return std::array<std::string_view, 2>{"linear", "cubic"};
}

/// Volumes with masks, in any of the layouts of data/volumes/volume_index.h, such as those that `weyl data make phantoms`
/// makes.
struct DecathlonDataOptions {
  static constexpr const char* name_in_config = "decathlon";
  std::string path = "data/phantoms";
  int64_t modalities = 4;
  int64_t classes = 4;  // with the background
  std::vector<int64_t>
      labels;  // the numbers of the classes in masks, ascending; empty: the index's, else 0, 1, 2 ...
  std::vector<double> spacing;  // mm along canonical axes that all volumes get; empty: each keeps its own
  Interpolation interpolation = Interpolation::linear;
  bool trim = false;      // volumes are cut to the box of what is not 0
  bool normalise = true;  // shifts and scales each modality of a volume to mean 0 and deviation 1,
  VoxelsCounted normalise_over =
      VoxelsCounted::modality;  // taken over these voxels; over all where 98 in 100 of those
                                // that are not 0 lie within 0.05 of their median
  std::vector<double> window;   // lowest and highest value that is kept, before normalising; empty: all are
  /// Of each channel that is normalised over the foreground of the training cases: lowest and highest value, mean,
  /// deviation; none of the others. Empty: found when it is first needed. A trained model keeps them.
  std::vector<std::vector<double>> intensities;
  std::vector<double> fractions{0.5, 0.2, 0.3};  // of the labelled cases, for training, validation, test
  int64_t train = 0, valid = 0, test = 0;        // cases of a split; 0: the fraction
  std::vector<std::string> held_out;             // cases by name that are the validation split
  int64_t seed = 0;                              // of the split
  int64_t cache = 1024;                          // MiB of volumes kept in memory
  std::string prepared;                          // folder that keeps prepared volumes; empty: none does
  int64_t limit = 4096;                          // MiB, the most that one volume may have, as float32
  bool check_geometry = true;                    // image and mask must stand at one place
};
void fields(Fields& f, DecathlonDataOptions& o);
void require_effects(const DecathlonDataOptions& options);
/// Volumes of several modalities with masks. Feature `modalities` of C channels, label `mask` (B, 1, X, Y, Z) of K classes,
/// float32, axes in canonical order (data/volumes/volume_tensor.h), spacing in mm. Channels and classes have the names
/// that the index gives them. The labelled cases are split at random by the seed, but for those that the folder itself
/// keeps for a test.
///
/// A volume is read when it is asked for, and kept as long as the cache holds it, so a set may be larger than memory. A
/// volume of more than `limit` MiB is a DataError, known from its header. The source of a sample is its first file
/// (data/images/prediction.h); what is predicted on its prepared grid is brought back to the file's by
/// Dataset::as_in_file.
///
/// A batch of volumes of different sizes or spacings is a DataError that names two of them: train in batches of 1, or
/// on crops of one size.
Schema declared_schema(const DecathlonDataOptions& options);
/// Opens the set and looks at all headers. With `folds` the training and validation cases are those of the fold: by the
/// folder's splits_final.json where it has one, which must have as many folds, and the cases that it does not name are then
/// the test split. DataError: no such folder or file; another number of channels or classes than the options say; image and
/// mask of different sizes or, with check_geometry, more than a tenth of a voxel apart; fewer cases than asked for; a
/// held-out case or a case of splits_final.json that is not there. ConfigError: a spacing, window, label or intensity that
/// is none.
Splits open_set(const DecathlonDataOptions& options, const Folds& folds = {});
/// The folds of the folder's splits_final.json. DataError: see read_volume_folds.
ListedFolds listed_folds(const DecathlonDataOptions& options);
/// The options with what only the files say: the numbers of the classes, and the intensities of the training cases where
/// channels are normalised by them. `train` is the training split that was opened by these options.
DecathlonDataOptions as_opened(DecathlonDataOptions options, const Dataset& train);

}  // namespace weyl
