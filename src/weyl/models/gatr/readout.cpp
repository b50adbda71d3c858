#include "weyl/models/gatr/readout.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <map>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/carriers/multivector_motion.h"
#include "weyl/core/check.h"
#include "weyl/models/model.h"
#include "weyl/models/output_rows.h"
#include "weyl/ops/multivectors/layout.h"

namespace weyl::gatr {
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
