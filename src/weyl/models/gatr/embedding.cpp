#include "weyl/models/gatr/embedding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <algorithm>
#include <array>
#include <map>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/carriers/multivector_motion.h"
#include "weyl/core/check.h"
#include "weyl/models/model.h"
#include "weyl/models/output_rows.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/multivectors/layout.h"
#include "weyl/ops/segment.h"

namespace weyl::gatr {

Frame frame_of(const Points& points, bool centred) {
  if (!centred) {
    return {points.positions, {}};
  }
  // In float64, rounded once: in float32 the mean of far positions would lose what tells them apart.
  const Tensor wide = points.positions.to(at::kDouble);
  const Tensor origin = spread(segment_mean(wide, points.graphs), points.graphs);
  return {(wide - origin).to(points.positions.scalar_type()), origin};
}

namespace {

using clifford::components;

Form form_of_vector(Role role) {
  switch (role) {
    case Role::free:
      return Form::direction;
    case Role::normal:
      return Form::plane;
    case Role::offset:
    case Role::point:
      return Form::point;
  }
  return Form::direction;
}

/// (N, c) each, undefined ones zero -> (16, N, c).
Tensor stacked(std::array<Tensor, components> x) {
  const auto given = std::ranges::find_if(x, [](const Tensor& t) { return t.defined(); });
  const Tensor zero = at::zeros_like(*given).requires_grad_(false);
  for (Tensor& t : x) {
    t = t.defined() ? t : zero;
  }
  return at::stack(at::TensorList(x.data(), x.size()));
}

/// v (N, c, 3), place (N, 1, 3) of what belongs to a place -> (16, N, c).
Tensor of_vectors(const Tensor& v, const Tensor& place, Form form) {
  using namespace clifford;
  const auto axis = [](const Tensor& t, int64_t i) { return t.select(2, i); };
  std::array<Tensor, components> x;
  switch (form) {
    case Form::point:
      x[e123] = at::ones_like(axis(v, 0)).requires_grad_(false);
      x[e023] = -axis(v, 0);
      x[e013] = axis(v, 1);
      x[e012] = -axis(v, 2);
      break;
    case Form::plane:
      for (int64_t i = 0; i < 3; ++i) {
        x[e1 + i] = axis(v, i);
      }
      x[e0] = -(v * place).sum(2);
      break;
    case Form::line: {
      const Tensor moment = at::linalg_cross(place.expand_as(v), v);
      for (int64_t i = 0; i < 3; ++i) {
        x[e01 + i] = axis(moment, i);
      }
      x[e12] = axis(v, 2);
      x[e13] = -axis(v, 1);
      x[e23] = axis(v, 0);
      break;
    }
    default:
      for (int64_t i = 0; i < 3; ++i) {
        x[e01 + i] = axis(v, i);
      }
  }
  return stacked(std::move(x));
}

Tensor of_numbers(const Tensor& numbers, int component) {
  std::array<Tensor, components> x;
  x[component] = numbers;
  return stacked(std::move(x));
}

const Segments& segments_of(const Points& points, Level level) {
  return level == Level::object ? points.objects : points.graphs;
}

/// Where what belongs to this level is counted from, on every node: (N, 1, 3) in the frame.
Tensor place_of(const Points& points, const Frame& frame, Level level) {
  if (level == Level::node) {
    return frame.positions.unsqueeze(1);
  }
  Points in_frame = points;
  in_frame.positions = frame.positions;
  return spread(origin_of(in_frame, level), segments_of(points, level)).unsqueeze(1);
}

}  // namespace

Embedding::Embedding(const Options& options, const Interface& interface)
    : positions_(options.positions),
      types_as_(options.scalars_as == ScalarsAs::auxiliary ? Form::auxiliary : Form::scalar),
      types_(interface.types),
      multivectors_(options.positions ? 1 : 0) {
  require<ConfigError>(interface.dimension == 3, "gatr: works in 3 dimensions, the data have ",
                       interface.dimension);
  (types_as_ == Form::auxiliary ? scalars_ : multivectors_) += types_;
  int64_t scalars = 0, vectors = 0, multivectors = 0;
  for (const Quantity& q : interface.features) {
    const bool number = is_number(q.kind, 3), vector = is_vector(q.kind, 3);
    require<ConfigError>(
        q.level != Level::pair && (number || vector || q.kind == Kind::multivector), "gatr: feature '",
        q.name, "' (", level_names[static_cast<int>(q.level)], " ", kind_names[static_cast<int>(q.kind)],
        ") is not one that this system reads: it takes scalars, vectors and multivectors of nodes, "
        "objects and graphs");
    const Form form = q.kind == Kind::multivector    ? Form::multivector
                      : q.kind == Kind::pseudoscalar ? Form::pseudoscalar
                      : q.kind == Kind::axial_vector ? Form::line
                      : vector                       ? form_of_vector(q.role)
                                                     : types_as_;
    int64_t& column = number ? scalars : vector ? vectors : multivectors;
    const Feature feature{q, form, column};
    column += q.level == Level::node ? q.channels : 0;
    if (options.reference == Reference::given && q.name == given_reference && form == Form::multivector &&
        q.channels == 1) {
      reference_ = feature;
      continue;
    }
    features_.push_back(feature);
    (form == Form::auxiliary ? scalars_ : multivectors_) += q.channels;
  }
  require<ConfigError>(options.reference != Reference::given || reference_,
                       "model.gatr.reference: given needs a feature '", given_reference,
                       "', one multivector of graphs, objects or nodes, which the input lacks");
  require<ConfigError>(
      multivectors_ > 0,
      "model.gatr.positions: must be true where no feature becomes a multivector, got false");
}

bool Embedding::points() const {
  return positions_ || std::ranges::any_of(features_, [](const Feature& f) { return f.form == Form::point; });
}

Tensor Embedding::value_of(const Feature& feature, const Points& points) const {
  const Quantity& q = feature.quantity;
  if (q.level != Level::node) {
    const Named& of = q.level == Level::graph ? points.of_graphs : points.of_objects;
    return spread(of.at(q.name), segments_of(points, q.level));
  }
  const Tensor& all = q.kind == Kind::multivector ? points.multivectors
                      : is_vector(q.kind, 3)      ? points.vectors
                                                  : points.scalars;
  return all.narrow(1, feature.column, q.channels);
}

Tensor Embedding::reference(const Points& points) const {
  return value_of(*reference_, points).select(1, 0).select(1, clifford::e123);
}

Streams Embedding::operator()(const Points& points, const Frame& frame) const {
  const at::ScalarType dtype = points.positions.scalar_type();
  std::vector<Tensor> multivectors, scalars;
  const auto numbers = [&](const Tensor& value, Form form) {
    if (form == Form::auxiliary) {
      scalars.push_back(value);
    } else {
      multivectors.push_back(of_numbers(value, form == Form::scalar ? clifford::one : clifford::e0123));
    }
  };
  if (types_ > 0) {
    numbers(at::one_hot(points.types, types_).to(dtype), types_as_);
  }
  if (positions_) {
    require<DataError>(points.placed,
                       "model.gatr.positions: must be false for an input whose multivectors alone say where "
                       "things are, got true");
    multivectors.push_back(of_vectors(frame.positions.unsqueeze(1), {}, Form::point));
  }
  for (const Feature& feature : features_) {
    const Quantity& q = feature.quantity;
    const Tensor value = value_of(feature, points);
    if (feature.form == Form::multivector) {
      multivectors.push_back(components_first(
          frame.origin.defined() ? translated_multivectors(value, -frame.origin).to(dtype) : value));
    } else if (is_number(q.kind, 3)) {
      numbers(value.reshape({points.nodes(), q.channels}), feature.form);
    } else if (q.role == Role::point) {
      const Tensor point = frame.origin.defined() ? (value - frame.origin.unsqueeze(1)).to(dtype) : value;
      multivectors.push_back(of_vectors(point, {}, Form::point));
    } else {
      const Tensor place = feature.form == Form::direction ? Tensor() : place_of(points, frame, q.level);
      const bool point = feature.form == Form::point;
      multivectors.push_back(of_vectors(point ? value + place : value, place, feature.form));
    }
  }
  if (scalars.empty()) {
    scalars.push_back(at::zeros({points.nodes(), 1}, points.positions.options().requires_grad(false)));
  }
  return {multivectors.size() == 1 ? multivectors[0] : at::cat(multivectors, 2),
          scalars.size() == 1 ? scalars[0] : at::cat(scalars, 1)};
}

namespace {

constexpr double least_weight = 1e-3;  // the authors' threshold

Form form_of(const Quantity& q, ScalarsAs scalars_as) {
  switch (q.kind) {
    case Kind::multivector:
      return Form::multivector;
    case Kind::pseudoscalar:
      return Form::pseudoscalar;
    case Kind::axial_vector:
      return Form::line;
    case Kind::vector:
      return q.role == Role::free ? Form::direction : q.role == Role::normal ? Form::plane : Form::point;
    default:
      return scalars_as == ScalarsAs::auxiliary ? Form::auxiliary : Form::scalar;
  }
}

/// The places of a level in the frame: (L, 1, 3).
Tensor places_of(const Points& points, const Frame& frame, Level level) {
  Points in_frame = points;
  in_frame.positions = frame.positions;
  return origin_of(in_frame, level).unsqueeze(1);
}

}  // namespace

Readout::Readout(const Options& options, const Interface& interface) {
  for (const Quantity& q : interface.outputs) {
    const bool known = is_number(q.kind, 3) || is_vector(q.kind, 3) || q.kind == Kind::multivector;
    require<ConfigError>(
        known && q.level != Level::pair, "gatr: output '", q.name, "' (",
        level_names[static_cast<int>(q.level)], " ", kind_names[static_cast<int>(q.kind)],
        ") is not one that this system gives: scalars, vectors and multivectors of nodes, objects and "
        "graphs are");
    const Form form = form_of(q, options.scalars_as);
    require<ConfigError>(form != Form::point || !q.extensive, "gatr: output '", q.name,
                         "' must not be extensive: points do not add up");
    outputs_.push_back({q, form, 0});
    multivectors_ += form == Form::multivector ? q.channels : 0;
  }
  std::map<Form, int64_t> next;
  int64_t whole = 0, packed = 0;
  for (Output& output : outputs_) {
    const int64_t channels = output.quantity.channels;
    if (output.form == Form::multivector) {
      output.first = whole;
      whole += channels;
    } else if (output.form == Form::auxiliary) {
      output.first = scalars_;
      scalars_ += channels;
    } else {
      int64_t& used = next[output.form];
      output.first = multivectors_ + used;
      used += channels;
      packed = std::max(packed, used);
    }
  }
  multivectors_ += packed;
}

bool Readout::points() const {
  return std::ranges::any_of(outputs_, [](const Output& o) { return o.form == Form::point; });
}

Tensor Readout::value_of(const Output& output, const Streams& y, const Points& points,
                         const Frame& frame) const {
  using namespace clifford;
  const Quantity& q = output.quantity;
  const auto rows = [&](const Tensor& of_nodes) {
    return output_rows(of_nodes, q, points, Pooling::mean, /*typical_nodes=*/1);
  };
  if (output.form == Form::auxiliary) {
    return rows(y.scalars.narrow(1, output.first, q.channels));
  }
  const Tensor mv = y.multivectors.narrow(2, output.first, q.channels);
  const auto part = [&](Blade blade) { return mv.select(0, blade); };
  const auto direction = [&] { return at::stack({part(e23), -part(e13), part(e12)}, 2); };
  switch (output.form) {
    case Form::multivector:
      return rows(frame.origin.defined()
                      ? translated_multivectors(components_last(mv), frame.origin).to(mv.scalar_type())
                      : components_last(mv));
    case Form::scalar:
      return rows(part(one));
    case Form::pseudoscalar:
      return rows(part(e0123));
    case Form::plane:
      return rows(at::stack({part(e1), part(e2), part(e3)}, 2));
    case Form::line:
      return rows(direction());
    case Form::direction: {
      const Tensor ideal = at::stack({part(e01), part(e02), part(e03)}, 2);
      const Tensor both = rows(at::cat({ideal, direction()}, 2)), line = both.narrow(2, 3, 3);
      const Tensor place = places_of(points, frame, q.level).to(both.scalar_type());
      return both.narrow(2, 0, 3) - at::linalg_cross(place.expand_as(line), line);
    }
    default: {
      const Tensor point = rows(at::cat({weighted_places(mv, 0), part(e123).unsqueeze(2)}, 2));
      const Tensor weight = point.narrow(2, 3, 1), total = weight + 1;
      const Tensor divisor = at::where(total.abs() > least_weight, total, at::full_like(total, least_weight));
      return (point.narrow(2, 0, 3) - weight * places_of(points, frame, q.level)) / divisor;
    }
  }
}

Tensor Readout::weight_penalty(const Streams& y, const Points& points) const {
  Tensor penalty = at::zeros({1}, y.multivectors.options());
  for (const Output& output : outputs_) {
    if (output.form == Form::point) {
      const Tensor mv = y.multivectors.narrow(2, output.first, output.quantity.channels);
      const Tensor weight = output_rows(mv.select(0, clifford::e123), output.quantity, points, Pooling::mean,
                                        /*typical_nodes=*/1);
      penalty = penalty + ((weight + 1).abs() - 1).square().sum();
    }
  }
  return penalty / static_cast<double>(std::max<int64_t>(points.count(), 1));
}

Named Readout::operator()(const Streams& y, const Points& points, const Frame& frame) const {
  Named outputs;
  for (const Output& output : outputs_) {
    outputs[output.quantity.name] = value_of(output, y, points, frame);
  }
  return outputs;
}

}  // namespace weyl::gatr
