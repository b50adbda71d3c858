#include "weyl/study/flops.h"

namespace weyl {

FlopsPerToken flops_per_token(const Model& model) {
  const double forward = model.flops_per_token().forward;
  return {forward, 3 * forward};
}

}  // namespace weyl
