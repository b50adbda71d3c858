#pragma once

#include <memory>
#include <string>

#include "weyl/data/formats/atoms_frame.h"

namespace weyl {

/// Frames of atoms, one after the other, from a file or folder of any format; one at a time is in memory
/// where the format allows.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  /// The next frame; false at the end. `frame` is overwritten, its memory used again. DataError naming file,
  /// frame (from 1) and, of a text, line.
  virtual bool next(AtomsFrame& frame) = 0;
  /// The place of the frame given last, for messages: "water.xyz: frame 12, line 310".
  virtual std::string where() const = 0;
};

}  // namespace weyl
