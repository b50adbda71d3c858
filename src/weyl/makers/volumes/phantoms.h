#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/core/random.h"
#include "weyl/data/clouds/surface.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// A smooth random field of space: octaves of random numbers on periodic lattices, each turned at random so
/// that no axis is preferred, interpolated by a quintic, each octave half as long and half as strong as the
/// one before. Mean about 0, values mostly in (-1, 1).
class SmoothNoise {
 public:
  /// `length` is the distance between the points of the first lattice.
  SmoothNoise(Stream& stream, double length, int octaves = 2);
  double operator()(const std::array<double, 3>& x) const;

 private:
  static constexpr int64_t kPoints = 16;  // of a lattice along each axis
  double length_;
  std::vector<std::vector<float>> lattices_;
  std::vector<Rotation> turns_;
};

enum class Tissue : uint8_t { air, scalp, skull, fluid, grey, white, edema, core, enhancing };
constexpr size_t tissue_count = 9;

/// A head with a brain and one tumour, as a function of space (mm, right, anterior, superior): an ellipsoid
/// of scalp and skull, a folded cortex, white matter, ventricles, deep grey matter; the tumour has a core
/// that does not enhance, a rim that does (one in ten has none) and an edema around it that keeps to the
/// brain and out of the fluid. All shapes are drawn from the stream.
class PhantomHead {
 public:
  /// `radii` are the semi-axes of the head; it is tilted by up to `tilt` degrees about each axis.
  PhantomHead(const std::array<double, 3>& radii, double tilt, Stream& stream);

  Tissue tissue(const std::array<double, 3>& at) const;

 private:
  Tissue healthy(const std::array<double, 3>& x) const;

  std::array<double, 3> radii_, brain_;  // semi-axes
  double scale_;                         // of this head to one of 75 mm
  Rotation turn_;
  std::array<double, 3> shift_;
  SmoothNoise surface_, folds_, rim_, spread_;
  double ventricle_, gap_;                     // sizes
  std::array<double, 3> centre_{}, tumour_{};  // place and semi-axes of the tumour's core
  double necrosis_, extent_;                   // in radii of the core
  bool enhances_;
};

/// Brain-like volumes with tumours (volumes/phantoms.h) in the layout of the Medical Segmentation
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
