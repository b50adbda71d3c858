#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/data/makers/plan.h"

namespace weyl {

/// Brain-like volumes with tumours (makers/phantom_head.h) in the layout of the Medical Segmentation
/// Decathlon's Task01: dataset.json, imagesTr/PHANTOM_001.nii.gz of four modalities (FLAIR, T1w, T1gd, T2w,
/// i16) and labelsTr/PHANTOM_001.nii.gz (u8; 0 background, 1 edema, 2 non-enhancing tumor, 3 enhancing
/// tumor). As there, axes run left, posterior, superior, and what is not brain is 0 unless `skull` is true.
struct PhantomsMakerOptions {
  static constexpr const char* name_in_config = "phantoms";
  static constexpr const char* makes =
      "volumes like heads with tumours and masks, in the layout of the Decathlon";
  int64_t count = 40;
  int64_t seed = 0;
  std::vector<int64_t> size{64, 64, 64};       // voxels
  std::vector<double> spacing{2.5, 2.5, 2.5};  // mm
  bool skull = false;
  double noise = 25;    // standard deviation in both channels of the receiver; white matter is about 500
  double bias = 0.15;   // of the logarithm of the receiver's sensitivity
  double tilt = 10;     // degrees
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, PhantomsMakerOptions& o);
MakerPlan plan_of(const PhantomsMakerOptions& o);

/// One volume: i fastest, then j, k and the modality.
struct Phantom {
  std::vector<int16_t> image;  // (4, k, j, i)
  std::vector<uint8_t> mask;   // (k, j, i)
};

/// Case `index`, a pure function of (options but count and threads, index). ConfigError: sizes or spacings
/// that are not three positive numbers.
Phantom make_phantom(const PhantomsMakerOptions& options, int64_t index);

/// Makes the set, case by case; files that are there already are never replaced (ConfigError), and when it is
/// stopped (false) or one cannot be written (DataError) none of the new ones is left.
bool make_phantoms(const PhantomsMakerOptions& options, const std::string& folder,
                   const JobHooks& hooks = {});

}  // namespace weyl
