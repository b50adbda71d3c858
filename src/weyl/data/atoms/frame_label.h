#pragma once

#include <string>
#include <vector>

#include "weyl/data/atoms/frame_layout.h"

namespace weyl {

/// One label of frames, gathered frame by frame: which key it has, its values, and of which frames they are missing.
struct FrameLabel {
  Quantity quantity;
  std::vector<std::string> keys;  // the first that a frame has is the key of all
  bool given = false, of_atoms = false;
  bool norm = false;  // the files have a vector, the label is its length
  int64_t width = 1;
  double factor = 1;
  std::string key;             // once it is found
  std::vector<double> values;  // NaN of frames that lack them
  int64_t known = 0, expected = 0;
  std::string missing;    // where the first frame without it is
  std::string ambiguous;  // the two usual names it has

  /// Whether what the frames have is minus stress times volume.
  bool is_virial() const;
  /// Adds those of the frame that a reader gave last, times `factor` or of a virial `virial_factor`. `finite`: they must be. DataError: the wrong
  /// shape, no numbers; ConfigError: an option of stress, and the frames have a virial.
  void add(const AtomsFrame& frame, const FrameReader& reader, const FrameLayout& layout,
           double virial_factor, bool finite);
  /// Why it cannot be a label, which is a fault only of who needs it; empty: it can.
  std::string reason_to_leave_out(const FrameLayout& layout) const;
};

}  // namespace weyl
