#pragma once

#include "weyl/carriers/points.h"
#include "weyl/models/model.h"
#include "weyl/models/options.h"

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

inline constexpr double least_gap_of_axes = 0.02;  // of the largest eigenvalue: nearer ones turn by rounding
inline constexpr double least_gap_of_derivatives = 1e-4;

/// A model of points that is run in the principal axes of each graph (Platonic Transformers, appendix E), which makes it
/// exact under all of O(D), or SO(D), and under translations:
///   f(x) = mean over frames g of x of  g phi(g^-1 x),   g^-1 x = S U^T (x - t),
/// U the axes, t the centroid (framed_model.h), S diagonal with signs of which the axes say nothing. `average`: all 2^D
/// choices of S, in one batch. `average_rotations`: those for which det(S U) = 1, half as many, SO(D) alone. `pca`: one
/// choice, any, because phi is exact under changes of signs; an eighth of the work in space.
///
/// Graphs two of whose eigenvalues agree (symmetric molecules; where vectors are given or asked for, linear ones and single
/// atoms too) have no such axes. They are taken as the decomposition gives them, so that the outputs change when the graph
/// turns; `symmetry_for` says of an input whether such graphs are in it. Derivatives by positions jump there: they are refused near it. Weights have the names that they have in phi.
class FramedModel : public PointsModel {
 public:
  /// ConfigError: phi is exact under translations and O(D), or SO(D) for `average_rotations`, by itself, so that frames
  /// change nothing; `pca` and phi is not exact under changes of signs; an average, and it is, so that all passes give the same.
  FramedModel(std::shared_ptr<PointsModel> phi, FrameMethod method);

  /// ShapeError, the graph named: the derivative by positions is asked for, and two of its eigenvalues are nearer than
  /// `least_gap_of_derivatives`. ConfigError: it is asked for and there are multivectors, whose motions have no derivative; or there
  /// are no positions.
  Named forward(const Points& points) override;
  /// How far the nearest two eigenvalues of each graph are apart, in parts of the largest (least_gaps); 1 of a graph without
  /// nodes. `vectors`: whether the axes across a line count, as they do for quantities that turn and for derivatives.
  static std::vector<double> axis_gaps(const Points& points, bool vectors);
  bool has_vectors() const;  // or other quantities that turn, among features or outputs
  Symmetry symmetry() const override;
  /// Of an input with graphs whose axes rounding turns (gaps of eigenvalues below 2 % of the largest: errors of float32
  /// grow fiftyfold) nothing is an exact claim, as any motion and any order of the nodes rounds in its own way, and an
  /// obstacle says how many there are.
  Symmetry symmetry_for(const Input& example) const override;
  std::vector<int64_t> edges(const Points& points) const override;
  std::vector<std::string> warnings(std::string_view differentiated_by) const override;
  ForeignWeights translated(const NamedTensors& state_dict, const ForeignRecord& record) const override;
  Work work(double nodes) const override;
  Work dense_work(double nodes) const override;
  bool looks_inside_objects() const override { return phi_->looks_inside_objects(); }
  void set_object_nodes(double nodes) override { phi_->set_object_nodes(nodes); }

 private:
  int64_t frames() const;  // how many are averaged
  /// The frames of a batch of B graphs, (frames * B, D, D): S U^T, all graphs for one S after the other.
  Tensor into_frames(const Tensor& axes) const;

  std::shared_ptr<PointsModel> phi_;
  FrameMethod method_;
};

}  // namespace weyl
