#include "weyl/ops/multivectors/attention.h"

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/multivectors/layout.h"

namespace weyl {

double multivector_attention_scale(int64_t channels, int64_t scalars) {
  return 1 / std::sqrt(static_cast<double>(12 * channels + scalars));
}

MultivectorsAndScalars multivector_attention(const MultivectorsAndScalars& q, const MultivectorsAndScalars& k,
                                             const MultivectorsAndScalars& v, const Tensor& log_weights,
                                             const Segments& graphs, int64_t heads, double epsilon) {
  const Tensor queries = multivector_queries(q, log_weights, heads, epsilon);
  const int64_t channels = q.multivectors.size(2) / heads, scalars = queries.size(2) - 12 * channels;
  const auto stored = [&](const char* name, const MultivectorsAndScalars& x) {
    require_multivectors("multivector_attention", name, x.multivectors);
    require(x.multivectors.size(2) == channels || x.multivectors.size(2) == heads * channels,
            "multivector_attention: ", name, " must have ", channels, " or ", heads * channels,
            " channels, got ", x.multivectors.sizes());
    return x.multivectors.size(2) == channels ? 1 : heads;
  };
  const Tensor y = ragged_attention(queries, multivector_keys(k, stored("k", k), epsilon),
                                    multivector_values(v, stored("v", v)), graphs,
                                    multivector_attention_scale(channels, scalars));
  return of_multivector_heads(y, channels);
}

}  // namespace weyl
