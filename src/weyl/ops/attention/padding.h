#pragma once

#include "weyl/core/segments.h"

namespace weyl {

/// Ragged rows as a batch of the non-empty graphs, padded to the longest. Padding repeats a real row of the
/// same graph, so nothing that is masked out can be infinite. Its tables are on the device of the graphs' index.
struct Padding {
  explicit Padding(const Segments& graphs);

  Tensor pad(const Tensor& x) const;    // (N, H, C) -> (batch, H, longest, C)
  Tensor unpad(const Tensor& x) const;  // (batch, H, longest, C) -> (N, H, C)
  Tensor pad_pairs(const Tensor& pairs,
                   const Segments& graphs) const;  // (pairs, H) -> (batch, H, longest, longest)

  int64_t batch = 0, longest = 1;
  bool full = true;   // all graphs have `longest` nodes: no mask needed
  Tensor rows;        // (batch * longest) int64: the row of each place
  Tensor places;      // (N) int64: the place of each row
  Tensor empty_keys;  // (batch, 1, 1, longest) bool: place holds no node
};

}  // namespace weyl
