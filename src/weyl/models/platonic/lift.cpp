#include "weyl/models/platonic/lift.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>

#include <algorithm>

#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/constants.h"

namespace weyl::platonic {
namespace {

/// (G, c): det R_g in the odd columns, 1 elsewhere; undefined when no column is odd.
Tensor signs(const std::vector<bool>& odd, const GroupTables& tables, const at::TensorOptions& like) {
  if (std::find(odd.begin(), odd.end(), true) == odd.end() || !tables.group().has_reflections()) {
    return {};
  }
  const std::vector<int64_t> flags(odd.begin(), odd.end());
  const Tensor mask = constant(flags, like.device()).to(at::kBool);
  const Tensor determinants = tables.determinants(like.device(), c10::typeMetaToScalarType(like.dtype()));
  return at::where(mask.unsqueeze(0), determinants.unsqueeze(1), at::ones({1, 1}, like));
}

}  // namespace

Tensor lift(const Tensor& scalars, const Tensor& vectors, const std::vector<bool>& pseudo,
            const std::vector<bool>& axial, const GroupTables& tables) {
  const FullPrecision no_autocast;
  const int64_t order = tables.group().order(), dimension = tables.group().dimension();
  std::vector<Tensor> parts;
  if (scalars.defined()) {
    const int64_t n = scalars.size(0), s = scalars.size(1);
    Tensor lifted = scalars.unsqueeze(1).expand({n, order, s});
    if (const Tensor sign = signs(pseudo, tables, scalars.options()); sign.defined()) {
      lifted = lifted * sign;
    }
    parts.push_back(lifted);
  }
  if (vectors.defined()) {
    const int64_t n = vectors.size(0), v = vectors.size(1);
    const Tensor elements = tables.elements(vectors.device(), vectors.scalar_type());
    // u^T R_g, for all frames in one product: (N V, D) x (D, G D).
    const Tensor in_columns = elements.permute({1, 0, 2}).reshape({dimension, order * dimension});
    Tensor lifted = at::matmul(vectors.reshape({n * v, dimension}), in_columns)
                        .view({n, v, order, dimension})
                        .permute({0, 2, 1, 3});
    if (const Tensor sign = signs(axial, tables, vectors.options()); sign.defined()) {
      lifted = lifted * sign.unsqueeze(-1);
    }
    parts.push_back(lifted.reshape({n, order, v * dimension}));
  }
  const Tensor all = parts.size() == 1 ? parts[0] : at::cat(parts, 2);
  return all.reshape({all.size(0), order * all.size(2)});
}

Tensor frame_scalars(const Tensor& x, const std::vector<bool>& pseudo, const GroupTables& tables) {
  const int64_t order = tables.group().order();
  Tensor in_frames = x.view({x.size(0), order, static_cast<int64_t>(pseudo.size())});
  if (const Tensor sign = signs(pseudo, tables, x.options()); sign.defined()) {
    in_frames = in_frames * sign;
  }
  return in_frames.mean(1);
}

Tensor frame_vectors(const Tensor& x, const std::vector<bool>& axial, const GroupTables& tables) {
  const FullPrecision no_autocast;
  const int64_t order = tables.group().order(), dimension = tables.group().dimension();
  const auto n = x.size(0), v = static_cast<int64_t>(axial.size());
  Tensor in_frames = x.view({n, order, v, dimension});
  if (const Tensor sign = signs(axial, tables, x.options()); sign.defined()) {
    in_frames = in_frames * sign.unsqueeze(-1);
  }
  // sum over (g, b) of R_g[a][b] v_g[b]: (N V, G D) x (G D, D).
  const Tensor elements = tables.elements(x.device(), x.scalar_type());
  const Tensor in_rows = elements.transpose(1, 2).reshape({order * dimension, dimension});
  const Tensor together = in_frames.permute({0, 2, 1, 3}).reshape({n * v, order * dimension});
  return (at::matmul(together, in_rows) / static_cast<double>(order)).view({n, v, dimension});
}

}  // namespace weyl::platonic
