#pragma once

#include <memory>
#include <utility>

#include "tests/oracles/kernel_case.h"
#include "tests/oracles/pair_logs.h"
#include "weyl/ops/lie/attention.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/pair_network.h"

namespace weyl {

/// Inputs tangents, values and logarithms of the block weights; the results also hold coordinates and
/// logarithms of all pairs, and matrices.
inline KernelCase lie_case(LieGroup group, const std::vector<int64_t>& sizes, int64_t heads, int64_t width,
                           double scale, bool timed = false) {
  const Segments graphs = Segments::of_sizes(sizes);
  const int64_t n = graphs.rows(), blocks = static_cast<int64_t>(blocks_of(group).size());
  return {std::string("lie_attention/").append(name_of(group)),
          [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            const at::Tensor g = lie::exp(x[0], group);
            const Segments here = graphs.to(g.device());
            const lie::Attention y = lie::attention(g, x[1], x[2].exp(), here, group, ChartPolicy::mask);
            return {y.mixed, y.coordinates, lie::pair_logs(g, here, group).w,
                    lie::element_matrices(g, group)};
          },
          {noise({n, degrees_of_freedom(group)}, 1, scale), noise({n, heads, width}, 2),
           noise({heads, blocks}, 3, 0.3)},
          {3e-4, 1e-10, 3e-3, 1e-9},
          timed};
}

/// Attention with linear terms of the score, and once more with a causal mask: inputs tangents, values, logarithms of the block
/// weights and the linear terms.
inline KernelCase directed_attention_case(LieGroup group, const std::vector<int64_t>& sizes, int64_t heads,
                                          int64_t width, double scale) {
  const Segments graphs = Segments::of_sizes(sizes);
  const int64_t n = graphs.rows(), blocks = static_cast<int64_t>(blocks_of(group).size()),
                dof = degrees_of_freedom(group);
  return {std::string("lie_attention/directed/").append(name_of(group)),
          [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            const at::Tensor g = lie::exp(x[0], group);
            const Segments here = graphs.to(g.device());
            const auto attend = [&](bool causal) {
              return lie::attention(g, x[1], x[2].exp(), here, group, ChartPolicy::mask, {x[3], causal});
            };
            const lie::Attention all = attend(false), causal = attend(true);
            return {all.mixed, all.coordinates, causal.mixed, causal.coordinates};
          },
          {noise({n, dof}, 1, scale), noise({n, heads, width}, 2), noise({heads, blocks}, 3, 0.3),
           noise({heads, dof + 2}, 7, 0.3)},
          {3e-4, 1e-10, 3e-3, 1e-9}};
}

/// Attention over pairs at hand, of scores of one's own: inputs scores, coordinates and values.
inline KernelCase pair_attention_case(const std::vector<int64_t>& sizes, int64_t heads, int64_t width) {
  const Segments graphs = Segments::of_sizes(sizes);
  const int64_t pairs = graphs.pairs();
  const at::Tensor present = noise({pairs}, 4) > -1;  // some, and never a token and itself
  int64_t first = 0;
  for (const int64_t n : sizes) {
    present.slice(0, first, first + n * n).view({n, n}).fill_diagonal_(false);
    first += n * n;
  }
  return {"lie_attention/pairs",
          [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            const Segments here = graphs.to(x[0].device());
            const lie::Pairs at_hand{x[1], {}, present.to(x[0].device()), at::zeros_like(here.index)};
            const lie::Attention y = lie::attention_scored(x[0], at_hand, x[2], here);
            return {y.mixed, y.coordinates};
          },
          {noise({pairs, heads}, 1), noise({pairs, 6}, 2), noise({graphs.rows(), heads, width}, 3)}};
}

/// Products, relative poses and their logarithms, row by row and of all pairs, and elements from matrices:
/// inputs tangents of two lists, the first the longer one by three.
inline KernelCase lie_map_case(LieGroup group, int64_t rows, double scale) {
  return {std::string("lie_maps/").append(name_of(group)),
          [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            const at::Tensor all = lie::exp(x[0], group), b = lie::exp(x[1], group),
                             a = all.slice(0, 0, rows);
            return {lie::compose(a, b, group), lie::between(a, b, group), lie::logs(a, b, group).w,
                    lie::compact_elements(lie::element_matrices(b, group), group),
                    call(std::make_shared<AllPairLogs>(group), {all, b})[0]};
          },
          {noise({rows + 3, degrees_of_freedom(group)}, 1, scale),
           noise({rows, degrees_of_freedom(group)}, 2, scale)},
          {3e-4, 1e-10, 3e-3, 1e-9}};
}

inline KernelCase pair_network_case(int64_t pairs, int64_t coordinates, int64_t heads, int64_t hidden,
                                    bool timed = false,
                                    lie::ScoreActivation law = lie::ScoreActivation::gelu) {
  const at::Tensor present = noise({pairs}, 6) > -1;
  return {std::string("pair_network/") + (law == lie::ScoreActivation::relu ? "relu/" : "") +
              std::to_string(pairs) + "x" + std::to_string(coordinates),
          [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            return {lie::pair_network(x[0], present.to(x[0].device()), x[1], x[2], x[3], x[4], law)};
          },
          {noise({pairs, coordinates}, 1), noise({heads * hidden, coordinates}, 2, 0.5),
           noise({heads * hidden}, 3), noise({heads, hidden}, 4), noise({heads}, 5)},
          {},
          timed};
}

inline void add_lie_cases(std::vector<KernelCase>& cases) {
  for (const auto& [group, scale] : {std::pair{LieGroup::so2, 0.5},
                                     {LieGroup::se2, 0.5},
                                     {LieGroup::so3, 0.5},
                                     {LieGroup::se3, 0.5},
                                     {LieGroup::aff2, 0.25},
                                     {LieGroup::aff3, 0.2}}) {
    cases.push_back(lie_case(group, {7, 0, 1, 70, 2}, 2, 5, scale));
    for (const int64_t rows : {19, 1, 0}) {
      cases.push_back(lie_map_case(group, rows, scale));
    }
  }
  cases.push_back(lie_case(LieGroup::se3, {512}, 4, 16, 0.5, true));
  cases.push_back(directed_attention_case(LieGroup::se2, {7, 0, 1, 70, 2}, 2, 5, 0.5));
  cases.push_back(pair_attention_case({7, 0, 1, 70, 2}, 3, 5));
  for (const int64_t coordinates : {1, 3, 6, 12}) {
    cases.push_back(pair_network_case(37, coordinates, 3, 5));
    cases.push_back(pair_network_case(37, coordinates, 3, 5, false, lie::ScoreActivation::relu));
  }
  cases.push_back(pair_network_case(0, 3, 2, 4));
  cases.push_back(pair_network_case(700, 6, 2, 8));
  cases.push_back(pair_network_case(64 * 64 * 16, 6, 4, 32, true));
}

}  // namespace weyl
