#include "weyl/data/poses/sequence_gap.h"

namespace weyl {

SequenceGap draw_gap(int64_t elements, Stream& stream) {
  SequenceGap gap;
  gap.hole = 1 + stream.below(elements - 2);
  for (const int64_t k : stream.permutation(elements - 1)) {
    gap.tokens.push_back(k < gap.hole ? k : k + 1);
    gap.flank.push_back(k == gap.hole - 1 || k == gap.hole ? 1 : 0);
  }
  return gap;
}

}  // namespace weyl
