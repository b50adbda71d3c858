#pragma once

#include "weyl/kernels/edges/edge_program.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/edges/edges.h"

namespace weyl {

using kernels::EdgeFactor;
using kernels::EdgeRows;
using kernels::EdgeSums;
using kernels::EdgeTensor;
using kernels::EdgeTerm;
using kernels::EdgeWidth;

/// Sums over edges of products of what belongs to centres, neighbours, edges and bonds: the one form of every
/// message of a graph network,
///   output_o[row_o(e)] = sum over the terms of o and the edges e of the product of factors f[row_f(e)],
/// channel by channel. A factor with one number, or one for each head, multiplies all channels, or those of
/// its head (channels of a head are consecutive); an output with one number, or one for each head, is the sum
/// over channels. A term has no vectors, or two among factors and output: a product of two vectors is their
/// dot product, one vector is handed on to the output. So with the vectors u and the weights a of heads,
///   V_i = sum_j a_ij g_ij u_ij
/// is {edge, one, vector}, {edge, heads}, {bond} -> {centre, channels, vector}.
///
/// Rows N, E or P, and in each the components of a vector, in each of these the parts, in each of these the
/// numbers of the width: inputs (rows, ...) with that many numbers in any axes, say (N, 3 F) or (N, 3, F) for
/// three parts; outputs (rows, D, parts W) for vectors, (rows, parts W) for others, without the last axis
/// when it is one number by its width.
///
/// The derivatives of such a sum are such sums, to any order: value, first and second derivatives are one
/// pass over the edges each, without tensors of edges other than those given and asked for; the same bits for
/// any number of threads. Inputs below float32, as autocast leaves them, count as float32. ShapeError unless
/// the form, shapes and dtypes agree.
Tensors edge_sums(const EdgeSums& sums, const Tensors& inputs, const Edges& edges);

}  // namespace weyl
