#pragma once

#include "weyl/carriers/points.h"

namespace weyl {

/// The principal axes of each graph: the frames of Platonic Transformers, appendix E (Puny et al., 2022). Of positions p_i
/// with centroid t the eigenvectors u_k of C = sum_i (p_i - t) (p_i - t)^T, by growing eigenvalue. They turn with the
/// points and are unique but for their signs, as long as no two eigenvalues agree. In float64, whatever the positions'
/// dtype; differentiable to any order. A graph without nodes has the axes of space.
struct PrincipalAxes {
  Tensor centroids;  // (B, D)
  Tensor axes;       // (B, D, D), a column an axis
  Tensor spreads;    // (B, D), the eigenvalues
};
PrincipalAxes principal_axes(const Points& points);

/// How far the nearest two eigenvalues of each graph are apart, in parts of its largest, (B) on the CPU: axes turn by
/// rounding over this number. `null_space`: whether two eigenvalues that are zero to rounding count. Across such axes lies
/// no node, so that it is their choice alone that says where a vector points. 1 where there is nothing to tell apart: in
/// one dimension, and, without `null_space`, in a graph whose nodes are all at one place; with it that has 0.
Tensor least_gaps(const Tensor& spreads, bool null_space);

}  // namespace weyl
