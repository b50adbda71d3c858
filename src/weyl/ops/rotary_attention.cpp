#include "weyl/ops/rotary_attention.h"

#include "weyl/core/check.h"
#include "weyl/ops/attention.h"
#include "weyl/ops/frames.h"
#include "weyl/ops/rotary.h"

namespace weyl {

Tensor rotary_attention(const Tensor& projections, const Tensor& bias, const Tensor& angles,
                        const Segments& graphs, int64_t heads, double scale, bool rotate_values) {
  const char* where = "rotary_attention";
  const bool rotated = angles.defined();
  require(rotated || !rotate_values, where, ": rotated values need angles");
  require(projections.dim() == 2 && projections.size(0) == graphs.rows(), where, ": projections must be (",
          graphs.rows(), ", P W), got ", projections.sizes());
  const int64_t n = projections.size(0);
  const int64_t width = bias.defined() ? projections.size(1) / bias.size(0)
                                       : (rotated ? 2 * heads * angles.size(2) : projections.size(1) / 3);
  const int64_t parts = width > 0 ? projections.size(1) / width : 0;
  require(
      parts * width == projections.size(1) && (parts == 3 || (parts == 2 && rotated)) && width % heads == 0,
      where, ": projections must be 2 (constant keys, with angles) or 3 times H K wide, got ",
      projections.sizes(), " for ", heads, " heads");
  const int64_t head = width / heads;
  require(!rotated || (angles.dim() == 3 && angles.size(0) == n && angles.size(1) == heads &&
                       2 * angles.size(2) == head),
          where, ": angles must be (", n, ", ", heads, ", ", head / 2, "), got ",
          rotated ? angles.sizes() : at::IntArrayRef{});
  require(!bias.defined() || (bias.dim() == 2 && width % bias.size(1) == 0), where, ": bias must be (", parts,
          ", C) with C dividing ", width, ", got ", bias.defined() ? bias.sizes() : at::IntArrayRef{});
  const auto part = [&](int64_t p) {
    const Tensor columns = projections.slice(1, p * width, (p + 1) * width);
    return (bias.defined() ? add_to_frames(columns.contiguous(), bias[p]) : columns)
        .reshape({n, heads, head});
  };
  Tensor q = part(0), v = part(1), k = parts == 3 ? part(2) : Tensor();
  RotaryTable table;
  if (rotated) {
    table = rotary_table(angles);
    q = rotate_pairs(q, table);
    k = rotate_pairs(k, table).to(q.scalar_type());
    v = rotate_values ? rotate_pairs(v, table) : v;
  }
  Tensor y = ragged_attention(q, k, v, graphs, scale);
  if (rotate_values) {
    y = rotate_pairs(y, table, /*inverse=*/true);
  }
  return y.reshape({n, width});
}

}  // namespace weyl
