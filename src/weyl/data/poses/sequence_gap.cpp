#include "weyl/data/poses/sequence_gap.h"

namespace weyl {

SequenceGap draw_gap(int64_t elements, Stream& stream, double whole) {
  SequenceGap gap;
  const bool missing = whole == 0 || stream.uniform() >= whole;
  gap.hole = missing ? 1 + stream.below(elements - 2) : elements - 1;
  for (const int64_t k : stream.permutation(elements - 1)) {
    gap.tokens.push_back(k < gap.hole ? k : k + 1);
    gap.flank.push_back(missing && (k == gap.hole - 1 || k == gap.hole) ? 1 : 0);
  }
  return gap;
}

}  // namespace weyl
