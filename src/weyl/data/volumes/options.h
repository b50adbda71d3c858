#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"

namespace weyl {

struct Schema;
struct Splits;

/// Which voxels of a volume count for its mean and deviation.
enum class VoxelsCounted { nonzero, all };
constexpr auto names_of(VoxelsCounted) {
  return std::array<std::string_view, 2>{"nonzero", "all"};
}

/// Volumes with masks in the layout of the Medical Segmentation Decathlon (volumes/decathlon.h), as made by
/// `weyl data make phantoms`: a folder with dataset.json.
struct DecathlonDataOptions {
  static constexpr const char* name_in_config = "decathlon";
  std::string path = "data/phantoms";
  int64_t modalities = 4;
  int64_t classes = 4;    // with the background
  bool normalise = true;  // shifts and scales each modality of a volume to mean 0 and deviation 1,
  VoxelsCounted normalise_over =
      VoxelsCounted::nonzero;                    // taken over these voxels; over all where 98 in 100 of those
                                                 // that are not 0 lie within 0.05 of their median
  std::vector<double> fractions{0.5, 0.2, 0.3};  // of the labelled cases, for training, validation, test
  int64_t train = 0, valid = 0, test = 0;        // cases of a split; 0: the fraction
  int64_t seed = 0;                              // of the split
  int64_t cache = 1024;                          // MiB of volumes kept in memory
  int64_t limit = 4096;                          // MiB, the most that one volume may have, as float32
  bool check_geometry = true;                    // image and mask must stand at one place
};
void fields(Fields& f, DecathlonDataOptions& o);
void require_effects(const DecathlonDataOptions& options);
/// Volumes of several modalities with masks, from a folder with dataset.json (volumes/decathlon_index.h) and NIfTI
/// files. Feature `modalities` of C channels, label `mask` (B, 1, X, Y, Z) of K classes, float32, axes in canonical
/// order (data/volumes/volume_tensor.h), spacing in mm. Channels and classes have the names that dataset.json gives
/// them. The labelled cases are split at random by the seed.
///
/// A volume is read when it is asked for, and kept as long as the cache holds it, so a set may be larger than memory. A
/// volume of more than `limit` MiB is a DataError, known from its header. The source of a sample is its file
/// (data/images/prediction.h).
///
/// A batch of volumes of different sizes or spacings is a DataError that names two of them: train in batches of 1, or
/// on crops of one size.
Schema declared_schema(const DecathlonDataOptions& options);
/// Opens the set and looks at all headers. DataError: no such folder or file; another number of channels or classes
/// than the options say; image and mask of different sizes or, with check_geometry, more than a tenth of a voxel apart;
/// fewer cases than asked for.
Splits open_set(const DecathlonDataOptions& options);

}  // namespace weyl
