#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/oracles/kernel_case.h"
#include "weyl/ops/multivectors/attention.h"
#include "weyl/ops/multivectors/gate.h"
#include "weyl/ops/multivectors/grade_linear.h"
#include "weyl/ops/multivectors/norm.h"
#include "weyl/ops/multivectors/products.h"

namespace weyl {

inline void add_multivector_product_cases(std::vector<KernelCase>& cases) {
  for (const auto& [tokens, channels] :
       {std::pair{5, 7}, {37, 1}, {9, 2}, {11, 4}, {0, 4}, {33, 16}, {3, 21}, {1024, 16}}) {
    const std::string size = std::to_string(tokens) + "x" + std::to_string(channels);
    const bool timed = tokens == 1024;
    const auto of = [n = tokens, c = channels](uint64_t seed, int64_t times = 1) {
      return noise({16, n, c * times}, seed);
    };
    const at::Tensor reference = noise({tokens}, 5);
    cases.push_back(
        {"geometric_product/" + size,
         [](const auto& in) -> std::vector<at::Tensor> { return {geometric_product(in[0], in[1])}; },
         {of(1), of(2)},
         {},
         timed});
    cases.push_back({"join/" + size,
                     [](const auto& in) -> std::vector<at::Tensor> { return {join(in[0], in[1], in[2])}; },
                     {of(3), of(4), reference},
                     {}});
    cases.push_back({"product_and_join/apart/" + size,
                     [](const auto& in) -> std::vector<at::Tensor> {
                       return {product_and_join(in[0], in[1], in[2], in[3], in[4])};
                     },
                     {of(1), of(2), of(3), of(4), reference}});
    cases.push_back(
        {"product_and_join/" + size,
         [](const auto& in) -> std::vector<at::Tensor> { return {product_and_join(in[0], in[1])}; },
         {of(1, 4), reference},
         {},
         timed});
  }
}

inline void add_grade_linear_cases(std::vector<KernelCase>& cases) {
  for (const auto& [tokens, inputs, outputs] : {std::tuple{5, 7, 3},
                                                {3, 1, 1},
                                                {0, 4, 2},
                                                {33, 16, 16},
                                                {9, 37, 40},
                                                {29, 2, 19},
                                                {1024, 16, 16},
                                                {1024, 64, 64}}) {
    const std::string size =
        std::to_string(tokens) + "x" + std::to_string(inputs) + "x" + std::to_string(outputs);
    const at::Tensor x = noise({16, tokens, inputs}, 1), weight = noise({outputs, inputs, 9}, 2),
                     part = noise({tokens, outputs}, 3);
    const auto run = [](const auto& in) -> std::vector<at::Tensor> {
      return {grade_linear(in[0], in[1], in[2])};
    };
    cases.push_back({"grade_linear/" + size, run, {x, weight, at::Tensor()}, {}, tokens == 1024});
    if (tokens != 1024) {
      cases.push_back({"grade_linear/scalar_part/" + size, run, {x, weight, part}});
    }
  }
}

inline void add_multivector_cases(std::vector<KernelCase>& cases) {
  add_multivector_product_cases(cases);
  add_grade_linear_cases(cases);
  for (const auto& [tokens, channels] : {std::pair{5, 7}, {3, 1}, {0, 4}, {33, 16}, {9, 37}, {1024, 32}}) {
    const std::string size = std::to_string(tokens) + "x" + std::to_string(channels);
    const bool timed = tokens == 1024;
    // Of every other token the squares are below epsilon.
    at::Tensor x = noise({16, tokens, channels}, 1);
    x.slice(1, 0, std::nullopt, 2) *= 1e-2;
    cases.push_back(
        {"normalise_multivectors/" + size,
         [](const auto& in) -> std::vector<at::Tensor> { return {normalise_multivectors(in[0], 0.01)}; },
         {x},
         {3e-5, 1e-12, 3e-4, 1e-11},
         timed});
    for (const auto gate : {MultivectorGate::gelu, MultivectorGate::relu, MultivectorGate::sigmoid}) {
      cases.push_back(
          {"gate_multivectors/" + std::string(names_of(gate)[static_cast<size_t>(gate)]) + "/" + size,
           [gate](const auto& in) -> std::vector<at::Tensor> { return {gate_multivectors(in[0], gate)}; },
           {noise({16, tokens, channels}, 2, 2)},
           {},
           timed&& gate == MultivectorGate::gelu});
    }
  }
  for (const auto& [tokens, heads, channels, scalars] :
       {std::tuple{5, 3, 2, 4}, {3, 1, 5, 4}, {0, 2, 1, 2}, {7, 8, 4, 0}, {4, 2, 19, 3}, {1024, 8, 4, 8}}) {
    const int64_t n = tokens, h = heads, c = channels, s = scalars;
    const std::string size =
        std::to_string(n) + "x" + std::to_string(h) + "x" + std::to_string(c) + "+" + std::to_string(s);
    const bool timed = n == 1024;
    const at::Tensor x = noise({16, n, c * h}, 1), some = s > 0 ? noise({n, s * h}, 2) : at::Tensor(),
                     weights = noise({h, 1, c}, 3, 0.3);
    const KernelTolerances steep{3e-5, 1e-12, 1e-3, 1e-11};  // the distance's derivatives where e123 is small
    cases.push_back({"multivector_queries/" + size,
                     [h](const auto& in) -> std::vector<at::Tensor> {
                       return {multivector_queries({in[0], in[1]}, in[2], h, 0.1)};
                     },
                     {x, some, weights},
                     steep,
                     timed});
    cases.push_back({"multivector_keys/" + size,
                     [h](const auto& in) -> std::vector<at::Tensor> {
                       return {multivector_keys({in[0], in[1]}, h, 0.1)};
                     },
                     {x, some},
                     steep,
                     timed});
    cases.push_back(
        {"multivector_values/" + size,
         [h](const auto& in) -> std::vector<at::Tensor> { return {multivector_values({in[0], in[1]}, h)}; },
         {x, some},
         {},
         timed});
    cases.push_back({"of_multivector_heads/" + size,
                     [c](const auto& in) -> std::vector<at::Tensor> {
                       const MultivectorsAndScalars y = of_multivector_heads(in[0], c);
                       return y.scalars.defined() ? std::vector<at::Tensor>{y.multivectors, y.scalars}
                                                  : std::vector<at::Tensor>{y.multivectors};
                     },
                     {noise({n, h, 16 * c + s}, 4)},
                     {},
                     timed});
  }
}

}  // namespace weyl
