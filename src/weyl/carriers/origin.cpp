#include "weyl/carriers/origin.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_pinv.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/carriers/layout.h"
#include "weyl/carriers/multivector_motion.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

Tensor on_cpu(const Tensor& x) {
  return x.detach().to(at::kCPU, at::kDouble).contiguous();
}

bool has_translations(LieGroup group) {
  return matrix_size(group) > dimension_of(group);
}

/// Where multivectors alone say where things are: the mean of the points that they hold, each by the square of its
/// weight, for all nodes of a graph the same, (N, 3); zero where they hold none.
Tensor places_of_multivectors(const Points& points) {
  const Tensor x = on_cpu(points.multivectors), weight = x.select(2, clifford::e123);
  const Tensor sums = (weight.unsqueeze(2) * weighted_places(x, 2)).sum(1),
               squares = weight.square().sum(1);  // (N, 3), (N)
  const Tensor places = at::zeros_like(sums);
  for (int64_t g = 0; g < points.count(); ++g) {
    const int64_t begin = points.graphs.offsets[g], end = points.graphs.offsets[g + 1];
    const double square = squares.slice(0, begin, end).sum().item<double>();
    if (square > 1e-6) {
      places.slice(0, begin, end).copy_(sums.slice(0, begin, end).sum(0) / square);
    }
  }
  return places;
}

/// The places (N, D) of the tokens; undefined for inputs that have none.
Tensor places_of(const Input& input) {
  if (const auto* points = std::get_if<Points>(&input)) {
    return points->placed ? on_cpu(points->positions) : places_of_multivectors(*points);
  }
  const auto* poses = std::get_if<Poses>(&input);
  if (poses == nullptr || !has_translations(poses->group)) {
    return {};
  }
  const int64_t n = dimension_of(poses->group);
  return on_cpu(poses->elements.slice(1, 0, n).select(2, n));
}

/// Which lattice vectors bring the nodes of graph g into its cell, (n, 3); undefined where they stay.
Tensor wrap_of(const Points& points, int64_t g, const Tensor& places) {
  const Tensor periodic = points.pbc.select(0, g).to(at::kCPU).nonzero().squeeze(1);
  if (periodic.numel() == 0 || places.numel() == 0) {
    return {};
  }
  const Tensor rows = at::index_select(on_cpu(points.cell.select(0, g)), 0, periodic);  // (p, 3)
  if (!at::isfinite(rows).all().item<bool>()) {
    return {};  // whoever looks for neighbours says so
  }
  const Tensor cells = at::matmul(places, at::linalg_pinv(rows)).floor();  // (n, p)
  const bool far = cells.lt(-1).any().item<bool>() || cells.gt(1).any().item<bool>();
  return far ? -at::matmul(cells, rows) : Tensor();
}

/// The shift of one graph, for its places (n, D), into s (D): minus their mean, on a grid of a power of two that is no
/// smaller than twice their extent and than the distance of neighbouring numbers of float64 there; of one place, or
/// several at one, no smaller than 2. Returns the extent, 1 for one place. What overflows stays: s is 0.
double shift_of(const double* places, int64_t n, int64_t dimension, double* s) {
  double extent = 0, most = 0;
  bool finite = true;
  for (int64_t k = 0; k < dimension; ++k) {
    double low = INFINITY, high = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double x = places[i * dimension + k];
      low = std::min(low, x);
      high = std::max(high, x);
      sum += x;
    }
    s[k] = -sum / static_cast<double>(n);
    extent = std::max(extent, high - low);
    most = std::max({most, std::abs(low), std::abs(high)});
    finite = finite && std::isfinite(sum);
  }
  const double wanted = extent > 0 ? std::exp2(std::ceil(std::log2(extent)) + 1) : 2,
               step = std::max(wanted, most - std::nextafter(most, 0.0));
  finite = finite && std::isfinite(step);
  for (int64_t k = 0; k < dimension; ++k) {
    s[k] = finite ? std::nearbyint(s[k] / step) * step : 0;
  }
  return extent > 0 ? extent : 1;
}

/// `x` with the shift of its rows added to what has a place.
class Mover {
 public:
  Mover(const Shift& shift, const Input& like) : shift_(shift), like_(like) {}

  static bool moves(const Quantity& q) { return q.kind == Kind::element || has_place(q); }

  Tensor rows(Level level, const Tensor& like) const {
    const Tensor of = level == Level::node ? shift_.nodes
                      : level == Level::graph
                          ? shift_.graphs
                          : at::index_select(shift_.graphs, 0, graph_of_rows(like_, level).to(at::kCPU));
    return of.to(like.device());
  }

  Tensor moved(const Tensor& x, const Quantity& q) const {
    if (!x.defined() || !moves(q)) {
      return x;
    }
    const Tensor by = rows(q.level, x);
    if (q.kind == Kind::vector) {  // (L, c, D)
      return x.to(at::kDouble) + by.unsqueeze(1);
    }
    if (q.kind == Kind::multivector) {  // (L, c, 16)
      return translated_multivectors(x, by);
    }
    const Tensor result = x.to(at::kDouble).clone();  // (L, m, m), homogeneous: [1 s; 0 1] from the left
    const int64_t n = x.size(1) - 1;
    result.slice(1, 0, n).add_(by.unsqueeze(2) * result.slice(1, n, n + 1));
    return result;
  }

 private:
  const Shift& shift_;
  const Input& like_;
};

}  // namespace

bool has_places(const Interface& interface) {
  const Carrier carrier = carrier_of(interface);
  return carrier == Carrier::points || (carrier == Carrier::poses && has_translations(*interface.group));
}

Shift to_origin(const Input& input, Centre centre) {
  const at::NoGradGuard no_grad;
  const Tensor places = centre == Centre::none ? Tensor() : places_of(input);
  if (!places.defined() || places.numel() == 0) {
    return {};
  }
  const Segments& graphs = graphs_of(input);
  const int64_t D = places.size(1);
  const auto* points = std::get_if<Points>(&input);
  const bool cells = points != nullptr && points->cell.defined() && points->pbc.defined() && D == 3;
  const Shift shift{at::zeros_like(places), at::zeros({graphs.count(), D}, at::kDouble),
                    at::ones({graphs.count()}, at::kDouble)};
  bool moved = false;
  for (int64_t g = 0; g < graphs.count(); ++g) {
    const int64_t begin = graphs.offsets[g], n = graphs.size(g);
    Tensor own = places.slice(0, begin, begin + n);
    if (n == 0 || !at::isfinite(own).all().item<bool>()) {
      continue;
    }
    const Tensor wrap = cells ? wrap_of(*points, g, own) : Tensor();
    if (wrap.defined()) {
      own = (own + wrap).contiguous();
      shift.nodes.slice(0, begin, begin + n).copy_(wrap);
      moved = true;
    }
    auto* s = shift.graphs.mutable_data_ptr<double>() + g * D;
    const auto* at = own.const_data_ptr<double>();
    shift.extents.mutable_data_ptr<double>()[g] = shift_of(at, n, D, s);
    for (int64_t k = 0; k < D && centre == Centre::first; ++k) {
      s[k] = 0 - at[k];  // never -0
    }
    if (std::any_of(s, s + D, [](double x) { return x != 0; })) {
      shift.nodes.slice(0, begin, begin + n).add_(shift.graphs.select(0, g));
      moved = true;
    }
  }
  return moved ? shift : Shift{};
}

Named shifted(const Named& values, std::span<const Quantity> quantities, const Shift& shift,
              const Input& like) {
  Named result = values;
  if (shift.none()) {
    return result;
  }
  const Mover mover(shift, like);
  for (const Quantity& q : quantities) {
    if (const auto found = result.find(q.name); found != result.end()) {
      found->second = mover.moved(found->second, q);
    }
  }
  return result;
}

Batch shifted(const Batch& batch, const Shift& shift, const Schema& schema) {
  if (shift.none()) {
    return batch;
  }
  Batch result = batch;
  result.labels = shifted(batch.labels, schema.labels, shift, batch.input);
  const Mover mover(shift, batch.input);
  if (auto* poses = std::get_if<Poses>(&result.input)) {
    poses->elements = mover.moved(poses->elements, {"elements", Level::node, Kind::element});
    return result;
  }
  auto* points = std::get_if<Points>(&result.input);
  require(points != nullptr, "shift: a grid has no places to be moved");
  if (points->placed) {  // else the zeros are no places
    points->positions =
        mover.moved(points->positions.unsqueeze(1), {"positions", Level::node, Kind::vector, 1, Role::point})
            .squeeze(1);
  }
  const auto move_columns = [&](Tensor& tensor, const std::vector<Columns>& columns) {
    for (const Columns& c : columns) {
      if (tensor.defined() && Mover::moves(*c.quantity)) {
        const Tensor moved = tensor.to(at::kDouble).clone();
        moved.slice(1, c.begin, c.end).copy_(mover.moved(moved.slice(1, c.begin, c.end), *c.quantity));
        tensor = moved;
      }
    }
  };
  move_columns(points->vectors, vector_columns(schema.interface, Level::node));
  move_columns(points->multivectors, multivector_columns(schema.interface, Level::node));
  points->of_graphs = shifted(points->of_graphs, schema.interface.features, shift, batch.input);
  points->of_objects = shifted(points->of_objects, schema.interface.features, shift, batch.input);
  return result;
}

}  // namespace weyl
