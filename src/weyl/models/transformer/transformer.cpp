#include "weyl/models/transformer/transformer.h"

#include <ATen/ops/cat.h>

#include "weyl/core/check.h"
#include "weyl/models/output_rows.h"

namespace weyl::transformer {

Transformer::Transformer(const Options& options, const Interface& interface)
    : PointsModel(interface), options(options), columns_(input_columns(interface, "transformer")) {
  check(options);
  const int64_t d = interface.dimension, coordinates = d * (1 + columns_.vector_count());
  if (options.fourier) {
    fourier_ = child("fourier", std::make_shared<FourierFeatures>(coordinates, options.fourier->frequencies,
                                                                  options.fourier->sigma));
  }
  inputs_ = columns_.scalar_count() + (options.fourier ? 2 * options.fourier->frequencies : coordinates);
  for (const auto& q : interface.outputs) {
    require<ConfigError>(
        q.level != Level::pair && (is_vector(q.kind, d) || is_number(q.kind, d)), "transformer: output '",
        q.name, "' (", level_names[static_cast<int>(q.level)], " ", kind_names[static_cast<int>(q.kind)],
        ") is not one that this system gives: scalars and vectors of nodes, objects and graphs are");
    outputs_ += q.channels * components(q.kind, d);
  }
  in_ = child("linear_in", std::make_shared<Linear>(inputs_, options.width));
  for (int64_t i = 0; i < options.blocks; ++i) {
    blocks_.push_back(child("blocks." + std::to_string(i), std::make_shared<Block>(options)));
  }
  out_ = child("linear_out", std::make_shared<Linear>(options.width, outputs_));
}

Named Transformer::forward(const Points& points) {
  const int64_t n = points.nodes(), d = interface.dimension;
  const auto dtype = points.positions.scalar_type();
  const std::string must = must_without_objects(options);
  require(must.empty() || points.objects.rows() == n, must, " for an input without objects");
  const auto [scalars, vectors] = input_values(points, interface);
  Tensor coordinates = options.centre ? centred(points.positions, points.graphs) : points.positions;
  if (vectors.defined()) {
    coordinates = at::cat({coordinates, vectors.reshape({n, vectors.size(1) * d})}, 1);
  }
  if (fourier_) {
    coordinates = (*fourier_)(coordinates);
  }
  // The residual stream keeps the weights' precision under autocast.
  Tensor x = (*in_)(scalars.defined() ? at::cat({scalars, coordinates}, 1) : coordinates).to(dtype);
  for (const auto& block : blocks_) {
    x = (*block)(x, points.graphs, points.objects);
  }
  const Tensor all = (*out_)(x).to(dtype);
  Named outputs;
  int64_t column = 0;
  for (const auto& q : interface.outputs) {
    const int64_t numbers = components(q.kind, d);
    Tensor value = all.narrow(1, column, q.channels * numbers);
    column += q.channels * numbers;
    value = output_rows(value, q, points, options.pooling, interface.typical_nodes);
    outputs[q.name] = is_vector(q.kind, d) ? value.reshape({value.size(0), q.channels, d}) : value;
  }
  return outputs;
}

Symmetry Transformer::symmetry() const {
  Symmetry symmetry;
  if (options.centre) {
    symmetry.exact.push_back({Claim::Of::translations, "translations", nullptr});
  }
  symmetry.exact.push_back({Claim::Of::permutations, "permutations", nullptr});
  return symmetry;
}

Work Transformer::work() const {
  const auto width = static_cast<double>(options.width);
  Work work = Work::product(width * static_cast<double>(inputs_), 1) +
              Work::product(width * static_cast<double>(outputs_));
  if (options.fourier) {  // fixed frequencies
    work += Work::product(static_cast<double>(options.fourier->frequencies * interface.dimension *
                                              (1 + columns_.vector_count())),
                          0);
  }
  double weights = 2.0 * static_cast<double>(options.width * (inputs_ + outputs_));
  for (const auto& block : blocks_) {
    work += block->work(interface.typical_nodes, object_nodes_);
    weights += block->work(0, 0).forward;
  }
  work.nominal = 3 * weights;
  return work;
}

}  // namespace weyl::transformer
