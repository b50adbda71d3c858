// What every reader of frames of atoms promises of what it does not refuse.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/atoms/frame_reader.h"

namespace weyl {

/// Reads to the end, or `most` frames: they fit together, places are finite and elements known, else abort.
inline void expect_sound_frames(FrameReader& reader, int64_t most = INT64_MAX) {
  int64_t frames = 0;
  for (AtomsFrame frame; frames < most && reader.next(frame); ++frames) {
    try {
      check_frame(frame, "input");
    } catch (const ShapeError&) {
      std::abort();
    }
    for (const double x : frame.positions) {
      if (!std::isfinite(x)) {
        std::abort();
      }
    }
    for (const int z : frame.numbers) {
      if (z < 0 || z > 118) {
        std::abort();
      }
    }
  }
}

}  // namespace weyl
