#include "weyl/models/framed_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_det.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/matmul.h>
#include <algorithm>
#include <utility>

#include "weyl/carriers/batch.h"
#include "weyl/core/check.h"
#include "weyl/core/to_device.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/segment.h"

namespace weyl {

PrincipalAxes principal_axes(const Points& points) {
  const int64_t D = points.dimension();
  const Tensor positions = points.positions.to(at::kDouble);
  const Tensor centroids = segment_mean(positions, points.graphs);
  const Tensor offsets = positions - spread(centroids, points.graphs);
  const Tensor products = (offsets.unsqueeze(2) * offsets.unsqueeze(1)).flatten(1);  // (N, D D)
  auto [spreads, axes] = at::linalg_eigh(segment_sum(products, points.graphs).view({-1, D, D}));
  return {centroids, axes, spreads};
}

Tensor least_gaps(const Tensor& spreads, bool null_space) {
  constexpr double zero = 1e-12;  // of the largest: squares of offsets, rounded
  const Tensor values = spreads.detach().to(at::kCPU, at::kDouble).contiguous();
  const int64_t D = values.size(1);
  Tensor gaps = at::empty({values.size(0)}, at::kDouble);
  const double* of_graph = values.const_data_ptr<double>();
  double* gap = gaps.mutable_data_ptr<double>();
  for (int64_t b = 0; b < values.size(0); ++b, of_graph += D) {
    const double largest = of_graph[D - 1];
    gap[b] = 1;
    for (int64_t k = 1; k < D; ++k) {
      const bool nothing_there = of_graph[k] <= zero * largest;
      if (!nothing_there || null_space) {
        gap[b] = std::min(gap[b], largest > 0 ? (of_graph[k] - of_graph[k - 1]) / largest : 0);
      }
    }
  }
  return gaps;
}

namespace {

bool holds(const std::vector<Claim>& claims, Claim::Of of) {
  return std::ranges::any_of(claims, [&](const Claim& claim) { return claim.of == of; });
}

/// All 2^D matrices diag(+-1, ..., +-1) are elements.
bool has_all_signs(const FiniteGroup& group) {
  const int64_t D = group.dimension();
  int64_t found = 0;
  for (int64_t g = 0; g < group.order(); ++g) {
    const auto element = group.element(g);
    bool diagonal = true;
    for (int64_t i = 0; i < D * D; ++i) {
      diagonal &= std::abs(std::abs(element[i]) - (i % (D + 1) == 0 ? 1 : 0)) < 1e-12;
    }
    found += diagonal ? 1 : 0;
  }
  return found == int64_t{1} << D;
}

bool exact_under_signs(const Symmetry& symmetry) {
  return holds(symmetry.exact, Claim::Of::rotoreflections) ||
         std::ranges::any_of(symmetry.exact, [](const Claim& claim) {
           return claim.of == Claim::Of::finite && has_all_signs(*claim.finite);
         });
}

/// (2^D, D), the signs of each choice.
Tensor all_signs(int64_t D) {
  Tensor signs = at::empty({int64_t{1} << D, D}, at::kDouble);
  double* sign = signs.mutable_data_ptr<double>();
  for (int64_t s = 0; s < int64_t{1} << D; ++s) {
    for (int64_t k = 0; k < D; ++k) {
      *sign++ = ((s >> k) & 1) == 0 ? 1 : -1;
    }
  }
  return signs;
}

/// least_gaps of graphs that have nodes, 1 of the others.
std::vector<double> gaps_of(const Points& points, const PrincipalAxes& of_graphs, bool vectors) {
  const Tensor found = least_gaps(of_graphs.spreads, vectors);
  std::vector<double> gaps;
  for (int64_t b = 0; b < points.count(); ++b) {
    gaps.push_back(points.graphs.size(b) > 0 ? found.const_data_ptr<double>()[b] : 1);
  }
  return gaps;
}

bool has_kind(const Interface& interface, Kind kind) {
  const auto is = [&](const Quantity& q) { return q.kind == kind; };
  return std::ranges::any_of(interface.features, is) || std::ranges::any_of(interface.outputs, is);
}

}  // namespace

FramedModel::FramedModel(std::shared_ptr<PointsModel> phi, FrameMethod method)
    : PointsModel(phi->interface), phi_(child("", std::move(phi))), method_(method) {
  const Symmetry symmetry = phi_->symmetry();
  const bool centred = holds(symmetry.exact, Claim::Of::translations);
  require<ConfigError>(
      !centred || !holds(symmetry.exact, Claim::Of::rotoreflections),
      "model.frames: must be \"none\" for a system that is exact under all rotations, reflections and "
      "translations by itself");
  require<ConfigError>(
      !centred || method != FrameMethod::average_rotations || !holds(symmetry.exact, Claim::Of::rotations),
      "model.frames: must be \"none\", or \"average\" for reflections too, for a system that is exact under "
      "all rotations and translations by itself, got \"average_rotations\"");
  require<ConfigError>(
      method == FrameMethod::pca || !exact_under_signs(symmetry),
      "model.frames: must be \"pca\" for a system that is exact under changes of the axes' signs, whose ",
      frames(), " passes would all give the same, got \"", names_of(method)[static_cast<size_t>(method)],
      "\"");
  require<ConfigError>(
      method != FrameMethod::pca || exact_under_signs(symmetry),
      "model.frames: \"pca\" needs a system that is exact under changes of the axes' signs, such as platonic "
      "with group = \"octahedron_reflections\" (dihedral_2 in the plane); for others there is \"average\"");
}

int64_t FramedModel::frames() const {
  switch (method_) {
    case FrameMethod::average:
      return int64_t{1} << interface.dimension;
    case FrameMethod::average_rotations:
      return int64_t{1} << (interface.dimension - 1);
    default:
      return 1;
  }
}

Tensor FramedModel::into_frames(const Tensor& axes) const {
  const int64_t B = axes.size(0), D = interface.dimension;
  if (method_ == FrameMethod::pca) {
    return axes.transpose(1, 2);
  }
  Tensor signs = to_device(all_signs(D), axes.device()).unsqueeze(1);  // (2^D, 1, D)
  if (method_ == FrameMethod::average_rotations) {
    // Choices come in pairs whose first axes differ in sign; of each the one that makes a rotation.
    signs = signs.view({-1, 2, 1, D}).select(1, 0).expand({-1, B, D}).clone();
    const Tensor turned = at::linalg_det(axes.detach()).sign() * signs.prod(2);  // (2^(D-1), B)
    signs.select(2, 0).mul_(turned);
  }
  return (signs.unsqueeze(3) * axes.transpose(1, 2)).reshape({-1, D, D});
}

bool FramedModel::has_vectors() const {
  const auto turns = [](const Quantity& q) { return q.kind != Kind::scalar && q.kind != Kind::category; };
  return std::ranges::any_of(interface.features, turns) || std::ranges::any_of(interface.outputs, turns);
}

Named FramedModel::forward(const Points& points) {
  require<ConfigError>(points.placed, "model.frames: must be \"none\" for data without positions");
  const PrincipalAxes of_graphs = principal_axes(points);
  if (at::GradMode::is_enabled() && points.positions.requires_grad()) {
    require<ConfigError>(
        !has_kind(interface, Kind::multivector),
        "model.frames: must be \"none\" where derivatives by positions are asked of multivectors");
    const std::vector<double> gaps = gaps_of(points, of_graphs, /*vectors=*/true);
    for (size_t b = 0; b < gaps.size(); ++b) {
      require(
          gaps[b] >= least_gap_of_derivatives,
          "model.frames: ", points.count() > 1 ? text("graph ", b, " of the batch: ") : "",
          "there must be principal axes, or derivatives by positions are not there: two eigenvalues of the "
          "covariance are only ",
          gaps[b], " of the largest apart (at least ", least_gap_of_derivatives, ")");
    }
  }
  const int64_t B = points.count(), choices = frames();
  const Schema schema = schema_of(interface);
  Batch all{points, {}};
  std::get<Points>(all.input).by_node = false;  // means over frames are of whole graphs
  if (choices > 1) {
    std::vector<int64_t> which;
    for (int64_t i = 0; i < choices * B; ++i) {
      which.push_back(i % B);
    }
    all = take(all, which, schema);
  }
  const Tensor turn = into_frames(of_graphs.axes), centroids = of_graphs.centroids.repeat({choices, 1});
  const Tensor to_centre = -at::matmul(turn, centroids.unsqueeze(2)).squeeze(2);
  Named inside = phi_->forward(std::get<Points>(transform(all, {turn, to_centre}, schema).input));

  std::vector<Quantity> offsets =
      interface.outputs;  // what `forward` returns of points, and what it shall return
  for (Quantity& q : offsets) {
    q.role = q.role == Role::point ? Role::free : q.role;
  }
  const auto term = inside.extract(term_of_loss);
  Named outputs = transform(inside, offsets, {turn.transpose(1, 2), centroids}, all.input);
  for (auto& [name, value] : outputs) {
    std::vector<int64_t> shape = value.sizes().vec();
    shape.front() /= choices;
    shape.insert(shape.begin(), choices);
    value = choices == 1 ? value : value.view(shape).mean(0);
  }
  if (!term.empty()) {
    outputs.emplace(term.key(), term.mapped());
  }
  return outputs;
}

Symmetry FramedModel::symmetry() const {
  const std::string D = std::to_string(interface.dimension);
  Symmetry symmetry;
  symmetry.exact.push_back(method_ == FrameMethod::average_rotations
                               ? Claim{Claim::Of::rotations, "SO(" + D + ")", nullptr}
                               : Claim{Claim::Of::rotoreflections, "O(" + D + ")", nullptr});
  symmetry.exact.push_back({Claim::Of::translations, "translations", nullptr});
  if (holds(phi_->symmetry().exact, Claim::Of::permutations)) {
    symmetry.exact.push_back({Claim::Of::permutations, "permutations", nullptr});
  }
  return symmetry;
}

std::vector<double> FramedModel::axis_gaps(const Points& points, bool vectors) {
  const at::NoGradGuard no_grad;
  return gaps_of(points, principal_axes(points), vectors);
}

Symmetry FramedModel::symmetry_for(const Input& example) const {
  Symmetry found = symmetry();
  const auto* points = std::get_if<Points>(&example);
  if (points == nullptr) {
    return found;
  }
  const int64_t near = std::ranges::count_if(axis_gaps(*points, has_vectors()),
                                             [](double gap) { return gap < least_gap_of_axes; });
  if (near > 0) {
    found.approximate = std::exchange(found.exact, {});
    found.obstacles.push_back(
        text("model.frames: ", near, " of ", points->count(),
             " graphs have no principal axes to rely on: two eigenvalues of their covariance "
             "agree within 2 % of the largest"));
  }
  return found;
}

std::vector<std::string> FramedModel::warnings(std::string_view differentiated_by) const {
  std::vector<std::string> all = phi_->warnings(differentiated_by);
  // Where nothing that turns is given or asked for, the axes across a line do not matter.
  const bool lines = has_vectors() || !differentiated_by.empty();
  all.push_back(text("model.frames: graphs with equal principal moments (symmetric molecules",
                     lines ? ", linear ones, single atoms" : "",
                     ") have no axes of their own; their outputs change when they are turned"));
  if (!differentiated_by.empty()) {
    all.back() += text(", and ", differentiated_by, " ends at them with an error");
  }
  return all;
}

std::vector<int64_t> FramedModel::edges(const Points& points) const {
  std::vector<int64_t> all = phi_->edges(points);
  for (int64_t& of_graph : all) {
    of_graph *= frames();
  }
  return all;
}

ForeignWeights FramedModel::translated(const NamedTensors& state_dict, const ForeignRecord& record) const {
  return phi_->translated(state_dict, record);
}

Work FramedModel::work(double nodes) const {
  return static_cast<double>(frames()) * phi_->work_of_token(nodes);
}

Work FramedModel::dense_work(double nodes) const {
  return static_cast<double>(frames()) * phi_->dense_work_of_token(nodes);
}

}  // namespace weyl
