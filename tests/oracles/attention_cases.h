#pragma once

#include <cmath>
#include <utility>

#include "tests/oracles/kernel_case.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/linear_attention.h"
#include "weyl/ops/attention/rotary_attention.h"

namespace weyl {

inline KernelCase attention_case(const std::string& name, const std::vector<int64_t>& sizes, int64_t heads,
                                 int64_t stored, int64_t key, int64_t value, bool bias, bool timed = false) {
  const Segments graphs = Segments::of_sizes(sizes);
  const int64_t n = graphs.rows();
  return {"attention/" + name,
          [graphs, key](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            return {ragged_attention(x[0], x[1], x[2], graphs.to(x[0].device()),
                                     1 / std::sqrt(static_cast<double>(key)), x[3])};
          },
          {noise({n, heads, key}, 1), noise({n, stored, key}, 2), noise({n, stored, value}, 3),
           bias ? noise({graphs.pairs(), heads}, 4) : at::Tensor()},
          {},
          timed};
}

inline KernelCase rotary_case(const std::string& name, const std::vector<int64_t>& sizes, int64_t heads,
                              int64_t width, int64_t parts, bool bias, double reach, bool values,
                              bool timed = false, bool linear = false) {
  const Segments graphs = Segments::of_sizes(sizes);
  const int64_t n = graphs.rows(), frame = heads * width / 2;
  return {(linear ? "rotary_linear_attention/" : "rotary_attention/") + name,
          [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            const Segments here = graphs.to(x[0].device());
            if (linear) {
              const at::Tensor norm = at::arange(graphs.count(), x[0].options()) + 1.5;
              return {rotary_linear_attention(x[0], x[1], x[2], here, heads, norm, values)};
            }
            return {rotary_attention(x[0], x[1], x[2], here, heads, 1 / std::sqrt(static_cast<double>(width)),
                                     values)};
          },
          {noise({n, parts * heads * width}, 1), bias ? noise({parts, frame}, 2) : at::Tensor(),
           reach > 0 ? noise({n, heads, width / 2}, 3, reach) : at::Tensor()},
          {.float32 = 2e-5},
          timed};
}

inline KernelCase linear_case(const std::string& name, const std::vector<int64_t>& sizes, int64_t heads,
                              int64_t key, int64_t value, bool norm, bool timed = false) {
  const Segments graphs = Segments::of_sizes(sizes);
  const int64_t n = graphs.rows();
  return {"linear_attention/" + name,
          [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            const at::Tensor norms =
                norm ? at::arange(graphs.count(), x[0].options().dtype(at::kDouble)) + 1.5 : at::Tensor();
            return {linear_attention(x[0], x[1], x[2], graphs.to(x[0].device()), norms)};
          },
          {noise({n, heads, key}, 1), noise({n, heads, key}, 2), noise({n, heads, value}, 3)},
          {},
          timed};
}

inline void add_attention_cases(std::vector<KernelCase>& cases) {
  const std::vector<int64_t> ragged{5, 0, 18, 1, 33, 2}, one{1}, none{0, 0}, large{150, 7}, molecules(96, 18);
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
      for (const int64_t width : {6, 16}) {
        const std::string wide = rotated + std::to_string(width);
        cases.push_back(rotary_case(prefix + "constant_keys_rotate_" + wide, sizes, 4, width, 2, true, 3,
                                    values, false, true));
        cases.push_back(rotary_case(prefix + "learned_keys_rotate_" + wide, sizes, 4, width, 3, false, 3,
                                    values, false, true));
      }
    }
    cases.push_back(linear_case(prefix + "odd_widths", sizes, 3, 5, 7, true));
    cases.push_back(linear_case(prefix + "whole_vectors", sizes, 2, 16, 32, false));
    cases.push_back(linear_case(prefix + "one_head", sizes, 1, 8, 3, true));
    cases.push_back(rotary_case(prefix + "no_bias", sizes, 2, 6, 2, false, 3, true));
    cases.push_back(rotary_case(prefix + "no_angles", sizes, 2, 5, 3, true, 0, false));
    cases.push_back(rotary_case(prefix + "no_angles", sizes, 2, 5, 3, true, 0, false, false, true));
  }
  // Keys in several tiles.
  const std::vector<int64_t> tiled{400, 3};
  cases.push_back(attention_case("tiled/bias", tiled, 2, 1, 8, 5, true));
  cases.push_back(rotary_case("tiled/learned_keys_rotate_values", tiled, 2, 8, 3, true, 3, true));
  cases.push_back(linear_case("96x18x72x16", molecules, 72, 16, 16, true, true));
  cases.push_back(rotary_case("96x18x72x16", molecules, 72, 16, 2, true, 3, true, true, true));
  cases.push_back(rotary_case("1x4096x72x16", {4096}, 72, 16, 2, true, 3, true, true, true));
  cases.push_back(attention_case("96x18x72x16", molecules, 72, 72, 16, 16, false, true));
  cases.push_back(rotary_case("96x18x72x16", molecules, 72, 16, 2, true, 3, true, true));
}

}  // namespace weyl
