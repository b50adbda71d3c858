// The sums over edges that the models of this project are made of, for tests and timings.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "weyl/ops/edges/edge_attention.h"
#include "weyl/ops/edges/edge_sums.h"

namespace weyl {

struct EdgeForm {
  std::string name;
  EdgeSums sums;
};

inline EdgeTensor edge_tensor(EdgeRows rows, EdgeWidth width = EdgeWidth::channels, bool vector = false,
                              int64_t parts = 1) {
  return {rows, width, vector, parts};
}

/// s_e = sum over a head of q_i k_j g, g of bonds.
inline EdgeSums et_score(int64_t heads, int64_t channels) {
  using enum EdgeRows;
  return {heads,
          channels,
          3,
          {edge_tensor(centre), edge_tensor(neighbour), edge_tensor(bond)},
          {edge_tensor(edge, EdgeWidth::heads)},
          {{{{0}, {1}, {2}}, {0}}}};
}
/// m_i = sum a val0_j g0;  V_i = sum v_j val1_j g1 f + u val2_j g2: inputs a, val, g, v, u, f. With the
/// cutoff f of bonds in a and u already, g is never multiplied by it.
inline EdgeSums et_message(int64_t heads, int64_t channels) {
  using enum EdgeRows;
  return {
      heads,
      channels,
      3,
      {edge_tensor(edge, EdgeWidth::heads), edge_tensor(neighbour, EdgeWidth::channels, false, 3),
       edge_tensor(bond, EdgeWidth::channels, false, 3), edge_tensor(neighbour, EdgeWidth::channels, true),
       edge_tensor(edge, EdgeWidth::one, true), edge_tensor(bond, EdgeWidth::one)},
      {edge_tensor(centre), edge_tensor(centre, EdgeWidth::channels, true)},
      {{{{0}, {1, 0}, {2, 0}}, {0}}, {{{3}, {1, 1}, {2, 1}, {5}}, {1}}, {{{4}, {1, 2}, {2, 2}}, {1}}}};
}
/// dq_i = sum a_j W0;  dmu_i = sum b_j W1 u + c_j W2 mu_j: inputs (a, b, c), W, u, mu; one output for dq, one
/// for dmu.
inline EdgeSums painn_message(int64_t channels, EdgeRows filters = EdgeRows::edge) {
  using enum EdgeRows;
  return {1,
          channels,
          3,
          {edge_tensor(neighbour, EdgeWidth::channels, false, 3),
           edge_tensor(filters, EdgeWidth::channels, false, 3), edge_tensor(edge, EdgeWidth::one, true),
           edge_tensor(neighbour, EdgeWidth::channels, true)},
          {edge_tensor(centre), edge_tensor(centre, EdgeWidth::channels, true)},
          {{{{0, 0}, {1, 0}}, {0}}, {{{0, 1}, {1, 1}, {2}}, {1}}, {{{0, 2}, {1, 2}, {3}}, {1}}}};
}
/// Scores and mixtures of attention, of scalars and of vectors.
inline EdgeSums attention_score(int64_t heads, int64_t channels, bool vector) {
  using enum EdgeRows;
  return {
      heads,
      channels,
      3,
      {edge_tensor(centre, EdgeWidth::channels, vector), edge_tensor(neighbour, EdgeWidth::channels, vector)},
      {edge_tensor(edge, EdgeWidth::heads)},
      {{{{0}, {1}}, {0}}}};
}
inline EdgeSums attention_mixture(int64_t heads, int64_t channels, bool vector) {
  using enum EdgeRows;
  return {heads,
          channels,
          3,
          {edge_tensor(edge, EdgeWidth::heads), edge_tensor(neighbour, EdgeWidth::channels, vector)},
          {edge_tensor(centre, EdgeWidth::channels, vector)},
          {{{{0}, {1}}, {0}}}};
}
/// Z_i = sum u g: directions times radial functions.
inline EdgeSums local_frame(int64_t channels) {
  using enum EdgeRows;
  return {1,
          channels,
          3,
          {edge_tensor(edge, EdgeWidth::one, true), edge_tensor(bond)},
          {edge_tensor(centre, EdgeWidth::channels, true)},
          {{{{0}, {1}}, {0}}}};
}
/// What no model has, and the form allows: outputs at neighbours, bonds and edges, heads and single numbers
/// alone, five factors, a square, one factor, components other than three, an output in parts.
inline std::vector<EdgeForm> odd_forms() {
  using enum EdgeRows;
  using enum EdgeWidth;
  const EdgeSums places{
      2,
      6,
      2,
      {edge_tensor(centre, channels, true), edge_tensor(edge, heads, true), edge_tensor(bond, one),
       edge_tensor(neighbour)},
      {edge_tensor(neighbour, channels), edge_tensor(bond, heads, false, 2), edge_tensor(edge, one)},
      {{{{0}, {1}, {3}}, {0}}, {{{0}, {1}, {2}, {3}}, {1, 1}}, {{{3}, {3}, {2}}, {2}}}};
  const EdgeSums heads_alone{3,
                             12,
                             3,
                             {edge_tensor(edge, heads), edge_tensor(centre, heads), edge_tensor(edge, one)},
                             {edge_tensor(centre, heads), edge_tensor(neighbour, one)},
                             {{{{0}, {2}}, {0}}, {{{0}, {1}, {1}}, {1}}}};
  const EdgeSums numbers{1,
                         4,
                         1,
                         {edge_tensor(edge, one, true), edge_tensor(bond, one)},
                         {edge_tensor(centre, one, true), edge_tensor(neighbour, one)},
                         {{{{0}, {1}}, {0}}, {{{0}, {0}, {1}}, {1}}, {{{1}}, {1}}}};
  const EdgeSums five{5,
                      20,
                      3,
                      {edge_tensor(centre, channels, true), edge_tensor(neighbour, channels, true),
                       edge_tensor(edge), edge_tensor(bond), edge_tensor(centre)},
                      {edge_tensor(centre)},
                      {{{{0}, {1}, {2}, {3}, {4}}, {0}}, {{{0}, {0}, {2}}, {0}}}};
  return {{"places", places}, {"heads alone", heads_alone}, {"numbers", numbers}, {"five", five}};
}
inline std::vector<EdgeForm> edge_forms(int64_t heads, int64_t channels) {
  std::vector<EdgeForm> forms{{"ET score", et_score(heads, channels)},
                              {"ET message", et_message(heads, channels)},
                              {"PaiNN message", painn_message(channels)},
                              {"PaiNN message of bonds", painn_message(channels, EdgeRows::bond)},
                              {"scalar score", attention_score(heads, channels, false)},
                              {"vector score", attention_score(heads, channels, true)},
                              {"scalar mixture", attention_mixture(heads, channels, false)},
                              {"vector mixture", attention_mixture(heads, channels, true)},
                              {"local frame", local_frame(channels)}};
  for (EdgeForm& form : odd_forms()) {
    forms.push_back(std::move(form));
  }
  return forms;
}

/// GeoMFormer's four attentions of a layer, or some of them: maps of inv are q k v, q, k v; of equ k k v v, q k v, q k v.
inline EdgeAttention stream_attention(int64_t heads, int64_t width,
                                      const std::vector<size_t>& parts = {0, 1, 2, 3}) {
  const std::vector<StreamPart> all{{false, 0, 1, 2, -1, -1, 0.5},
                                    {false, 3, 0, 2, 1, 3, 0.4},
                                    {true, 4, 5, 6, -1, -1, 0.3},
                                    {true, 7, 8, 9, 4, 5, 0.6}};
  EdgeAttention form;
  form.heads = heads;
  form.width = width;
  for (const size_t p : parts) {
    form.parts.push_back(all[p]);
  }
  return form;
}

/// Numbers for the inputs of a form, float64.
inline Tensors edge_inputs(const EdgeSums& sums, const Edges& edges) {
  Tensors inputs;
  for (const EdgeTensor& t : sums.inputs) {
    const int64_t rows =
        t.rows == EdgeRows::edge ? edges.count() : (t.rows == EdgeRows::bond ? edges.bonds() : edges.nodes());
    const int64_t numbers = kernels::edge_row_size(sums, t);
    inputs.push_back(
        ((at::arange(rows * numbers, at::kDouble) + 1) * 0.7 + static_cast<double>(inputs.size()))
            .sin()
            .view({rows, numbers}));
  }
  return inputs;
}

}  // namespace weyl
