#pragma once

#include <cstdint>
#include <vector>

#include "weyl/core/random.h"

namespace weyl {

/// A sequence with one inner element missing and the others in any order: what `make pose_sequences` and
/// `convert ... hole=true` ask.
struct SequenceGap {
  int64_t hole = 0;             // uniform in 1 .. n - 2; of a whole sequence n - 1, the end
  std::vector<int64_t> tokens;  // (n - 1) the elements that are there, in the order of the file
  std::vector<int64_t> flank;   // (n - 1) 1 on the neighbours of the gap, 0 elsewhere; of a whole sequence 0
};

/// The gap of n elements, drawn from a stream. With probability `whole` nothing is missing: the last element is left out in
/// place of an inner one, so that the number of tokens tells nothing. ShapeError for fewer than 3.
SequenceGap draw_gap(int64_t elements, Stream& stream, double whole = 0);

/// With fewer the two tokens of a gap were all that there are.
constexpr int64_t kLeastOfGap = 4;

}  // namespace weyl
