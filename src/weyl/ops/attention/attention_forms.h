#pragma once

#include "weyl/core/segments.h"

namespace weyl {

// Ragged attention (attention.h: shapes, equation) as two torch expressions, both differentiable to any
// order on any device. Arguments are not checked again.

/// The definition, written out: a list of all ordered pairs (i, j) of one graph, a softmax over the pairs of
/// each (i, h), a sum over them; gathers and scatters, as in the ragged code of the field. Tensors of pairs x
/// H x K numbers, and an N x N table.
Tensor attention_by_pairs(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                          double scale, const Tensor& bias = {});

/// Graphs padded to the longest, as batched matrix products with a mask: for devices without kernels.
/// Tensors of B x H x longest x longest numbers.
Tensor attention_padded(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        double scale, const Tensor& bias = {});

/// The same with each weight of the softmax dropped with probability `dropout` and the others divided by 1 - dropout.
Tensor attention_dropped(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                         double scale, double dropout);

}  // namespace weyl
