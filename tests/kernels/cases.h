// The one list of kernel cases: an expression, its inputs, and how far kernel and torch expression may
// differ. kernels_test runs it for values and gradients, bench/ for time.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/ops/edges/edge_forms.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/rotary_attention.h"
#include "weyl/ops/edges/gaussian_densities.h"
#include "weyl/ops/frames/bias_activation.h"
#include "weyl/ops/frames/frame_norm.h"
#include "weyl/ops/frames/group_linear.h"
#include "weyl/ops/lie/attention.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"

namespace weyl {

struct KernelCase {
  std::string name;
  std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> run;
  std::vector<at::Tensor> inputs;          // float64; undefined ones stay undefined
  double float32 = 1e-5, float64 = 1e-13;  // largest difference, relative to the largest entry
  bool timed = false;                      // large enough for bench/
};

inline at::Tensor noise(std::vector<int64_t> shape, uint64_t seed, double scale = 1) {
  auto generator = at::detail::createCPUGenerator(seed);
  return at::randn(shape, generator, at::kDouble) * scale;
}

inline KernelCase attention_case(const std::string& name, const std::vector<int64_t>& sizes, int64_t heads,
                                 int64_t stored, int64_t key, int64_t value, bool bias, bool timed = false) {
  const Segments graphs = Segments::of_sizes(sizes);
  const int64_t n = graphs.rows();
  return {
      "attention/" + name,
      [graphs, key](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
        return {ragged_attention(x[0], x[1], x[2], graphs, 1 / std::sqrt(static_cast<double>(key)), x[3])};
      },
      {noise({n, heads, key}, 1), noise({n, stored, key}, 2), noise({n, stored, value}, 3),
       bias ? noise({graphs.pairs(), heads}, 4) : at::Tensor()},
      1e-5,
      1e-13,
      timed};
}

/// Inputs tangents, values and logarithms of the block weights; the results also hold coordinates and
/// logarithms of all pairs, and matrices.
inline KernelCase lie_case(LieGroup group, const std::vector<int64_t>& sizes, int64_t heads, int64_t width,
                           double scale, bool timed = false) {
  const Segments graphs = Segments::of_sizes(sizes);
  const int64_t n = graphs.rows(), blocks = static_cast<int64_t>(blocks_of(group).size());
  return {std::string("lie_attention/").append(name_of(group)),
          [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            const at::Tensor g = lie_exp(x[0], group);
            const LieAttention y = lie_attention(g, x[1], x[2].exp(), graphs, group, ChartPolicy::mask);
            return {y.mixed, y.coordinates, lie_pair_logs(g, graphs, group).w, element_matrices(g, group)};
          },
          {noise({n, degrees_of_freedom(group)}, 1, scale), noise({n, heads, width}, 2),
           noise({heads, blocks}, 3, 0.3)},
          3e-4,
          1e-10,
          timed};
}

inline KernelCase rotary_case(const std::string& name, const std::vector<int64_t>& sizes, int64_t heads,
                              int64_t width, int64_t parts, bool bias, double reach, bool values,
                              bool timed = false) {
  const Segments graphs = Segments::of_sizes(sizes);
  const int64_t n = graphs.rows(), frame = heads * width / 2;
  return {"rotary_attention/" + name,
          [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            return {rotary_attention(x[0], x[1], x[2], graphs, heads,
                                     1 / std::sqrt(static_cast<double>(width)), values)};
          },
          {noise({n, parts * heads * width}, 1), bias ? noise({parts, frame}, 2) : at::Tensor(),
           reach > 0 ? noise({n, heads, width / 2}, 3, reach) : at::Tensor()},
          2e-5,
          1e-13,
          timed};
}

/// A message on all pairs of molecules. (tests/ops/edges/edge_sums_test.cpp has the small cases.)
inline KernelCase edge_case(const std::string& name, const EdgeSums& sums,
                            const std::vector<int64_t>& sizes) {
  const Edges edges = all_pairs(Segments::of_sizes(sizes));
  return {"edge_sums/" + name,
          [=](const std::vector<at::Tensor>& x) { return edge_sums(sums, x, edges); },
          edge_inputs(sums, edges),
          1e-4,
          1e-12,
          true};
}

inline std::vector<KernelCase> kernel_cases() {
  const std::vector<int64_t> ragged{5, 0, 18, 1, 33, 2}, one{1}, none{0, 0}, large{150, 7}, molecules(96, 18);
  std::vector<KernelCase> cases;
  for (const auto& [name, sizes] :
       {std::pair{"ragged", ragged}, {"one_node", one}, {"no_node", none}, {"large", large}}) {
    const std::string prefix = std::string(name) + "/";
    cases.push_back(attention_case(prefix + "plain", sizes, 3, 3, 8, 5, false));
    cases.push_back(attention_case(prefix + "bias", sizes, 2, 2, 16, 16, true));
    cases.push_back(attention_case(prefix + "shared_keys", sizes, 4, 1, 7, 9, true));
    cases.push_back(attention_case(prefix + "one_head", sizes, 1, 1, 64, 64, false));
    for (const bool values : {false, true}) {
      const std::string rotated = values ? "values" : "keys";
      cases.push_back(
          rotary_case(prefix + "constant_keys_rotate_" + rotated, sizes, 4, 8, 2, true, 3, values));
      cases.push_back(
          rotary_case(prefix + "learned_keys_rotate_" + rotated, sizes, 4, 16, 3, true, 30, values));
    }
    cases.push_back(rotary_case(prefix + "no_bias", sizes, 2, 6, 2, false, 3, true));
    cases.push_back(rotary_case(prefix + "no_angles", sizes, 2, 5, 3, true, 0, false));
  }
  for (const auto& [rows, count] : {std::pair{7, 5}, {1, 1}, {0, 8}, {40, 37}, {31104, 64}}) {
    const at::Tensor widths = noise({count}, 3).abs() + 0.2;
    cases.push_back(
        {"gaussian_densities/" + std::to_string(rows) + "x" + std::to_string(count),
         [](const auto& in) -> std::vector<at::Tensor> { return {gaussian_densities(in[0], in[1], in[2])}; },
         {noise({rows}, 1), noise({count}, 2), widths},
         1e-5,
         1e-13,
         rows == 31104});
  }
  for (const auto& [rows, frames, channels] :
       {std::tuple{7, 3, 5}, {1, 1, 1}, {0, 2, 4}, {33, 4, 16}, {40, 2, 37}, {1728, 24, 48}}) {
    const int64_t n = rows, w = int64_t{frames} * channels;
    const std::string size =
        std::to_string(n) + "x" + std::to_string(frames) + "x" + std::to_string(channels);
    const bool timed = n == 1728;
    const at::Tensor x = noise({n, w}, 1, 3), b = noise({channels}, 2), weight = noise({channels}, 3),
                     branch = noise({n, w}, 4);
    cases.push_back({"bias_gelu/" + size,
                     [](const auto& in) -> std::vector<at::Tensor> { return {bias_gelu(in[0], in[1])}; },
                     {timed ? noise({n, 4 * w}, 1) : x, timed ? noise({4 * channels}, 2) : b},
                     1e-5,
                     1e-13,
                     timed});
    cases.push_back({"bias_silu/" + size,
                     [](const auto& in) -> std::vector<at::Tensor> { return {bias_silu(in[0], in[1])}; },
                     {timed ? noise({n, 4 * w}, 1) : x, timed ? noise({4 * channels}, 2) : b},
                     1e-5,
                     1e-13,
                     timed});
    cases.push_back({"gelu/" + size,
                     [](const auto& in) -> std::vector<at::Tensor> { return {bias_gelu(in[0], {})}; },
                     {x}});
    if (channels > 1) {  // one channel has no variance: nothing to compare but rounding
      cases.push_back(
          {"frame_layer_norm/" + size,
           [](const auto& in) -> std::vector<at::Tensor> { return {frame_layer_norm(in[0], in[1], in[2])}; },
           {x, weight, b},
           3e-5,
           1e-12,
           timed});
      cases.push_back({"add_branch_and_norm/" + size,
                       [](const auto& in) -> std::vector<at::Tensor> {
                         const NormedSum both = add_branch_and_norm(in[0], in[1], in[2], in[3], in[4]);
                         return {both.sum, both.normed};
                       },
                       {x, branch, b, weight, b},
                       3e-5,
                       1e-12,
                       timed});
    }
    cases.push_back(
        {"add_branch/" + size,
         [](const auto& in) -> std::vector<at::Tensor> { return {add_branch(in[0], in[1], in[2])}; },
         {x, branch, b},
         1e-5,
         1e-13,
         timed});
    cases.push_back({"add_branch_no_bias/" + size,
                     [](const auto& in) -> std::vector<at::Tensor> { return {add_branch(in[0], in[1], {})}; },
                     {x, branch}});
  }
  for (const auto& [group, out, in] :
       {std::tuple{"tetrahedron", 3, 5}, {"octahedron", 48, 48}, {"trivial", 2, 3}}) {
    const auto tables = std::make_shared<const GroupTables>(named_group(group));
    const int64_t order = tables->group().order();
    cases.push_back({std::string("expand_group_kernel/") + group,
                     [tables](const auto& x) -> std::vector<at::Tensor> {
                       return {expand_group_kernels({x[0], x[1]}, *tables)};
                     },
                     {noise({order, out, in}, 1), noise({order, 2 * out, in}, 2)},
                     1e-5,
                     1e-13,
                     out == 48});
  }
  for (const auto& [group, scale] : {std::pair{LieGroup::so2, 0.5},
                                     {LieGroup::se2, 0.5},
                                     {LieGroup::so3, 0.5},
                                     {LieGroup::se3, 0.5},
                                     {LieGroup::aff2, 0.25},
                                     {LieGroup::aff3, 0.2}}) {
    cases.push_back(lie_case(group, {7, 0, 1, 70, 2}, 2, 5, scale));
  }
  cases.push_back(lie_case(LieGroup::se3, {512}, 4, 16, 0.5, true));
  const std::vector<int64_t> aspirins(8, 21);
  cases.push_back(edge_case("et_score/8x21x128", et_score(8, 128), aspirins));
  cases.push_back(edge_case("et_message/8x21x128", et_message(8, 128), aspirins));
  cases.push_back(edge_case("painn_message/8x21x128", painn_message(128), aspirins));
  cases.push_back(edge_case("vector_mixture/8x21x128", attention_mixture(8, 128, true), aspirins));
  cases.push_back(attention_case("96x18x72x16", molecules, 72, 72, 16, 16, false, true));
  cases.push_back(rotary_case("96x18x72x16", molecules, 72, 16, 2, true, 3, true, true));
  return cases;
}

}  // namespace weyl
