#include "weyl/study/audit/audit_samples.h"

#include <ATen/ops/empty.h>
#include <algorithm>
#include <cmath>

#include "weyl/carriers/crop.h"
#include "weyl/carriers/faulty_sample.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/study/samples/grid_samples.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl {
namespace {

std::string grid_size(at::IntArrayRef sizes) {
  std::string result;
  for (const int64_t n : sizes) {
    result += (result.empty() ? "" : " x ") + std::to_string(n);
  }
  return result;
}

std::string listed(const std::vector<std::string>& obstacles) {
  std::string all;
  for (const std::string& obstacle : obstacles) {
    all += (all.empty() ? "" : "; ") + obstacle;
  }
  return all;
}

Batch exact_graphs(const Model& model, const Batch& samples, const Schema& schema, std::string& note) {
  const Symmetry whole = model.symmetry_for(samples.input);
  if (whole.obstacles.empty()) {
    return samples;
  }
  note = listed(whole.obstacles);
  std::vector<int64_t> exact;
  for (int64_t b = 0; b < samples.count(); ++b) {
    if (model.symmetry_for(take(samples, {&b, 1}, schema).input).obstacles.empty()) {
      exact.push_back(b);
    }
  }
  require<DataError>(!exact.empty(),
                     "audit: the samples must hold one for which something is exact, got none of ",
                     samples.count(), ": ", note);
  note += text("; audited on the other ", exact.size());
  return take(samples, exact, schema);
}

Batch exact_cells(const Model& model, const Batch& samples, const Schema& schema, std::string& note) {
  const Symmetry whole = model.symmetry_for(samples.input);
  if (!whole.exact.empty()) {
    return samples;
  }
  const Grid& grid = std::get<Grid>(samples.input);
  const auto sizes = grid.values.sizes().slice(2);
  const std::string obstacles = listed(whole.obstacles);
  for (int64_t n = *std::min_element(sizes.begin(), sizes.end()); n >= 1; --n) {
    std::vector<int64_t> shape{1, grid.values.size(1)};
    shape.insert(shape.end(), sizes.size(), n);
    const Grid example{at::empty(shape, grid.values.options()), grid.spacing};
    if (model.symmetry_for(example).exact.empty()) {
      continue;
    }
    const Batch part = cropped(samples, central_crop(grid, std::vector<int64_t>{n}), schema);
    const auto& cells = std::get<Grid>(part.input).values.sizes();
    note =
        text("on ", grid_size(sizes), " cells nothing is exact; audited on the ", grid_size(cells.slice(2)),
             " in their middle, where it is", obstacles.empty() ? "" : "; ", obstacles);
    return part;
  }
  note = obstacles;
  return samples;
}

}  // namespace

Batch exact_part(const Model& model, const Batch& samples, const Schema& schema, std::string& note) {
  switch (carrier_of(samples.input)) {
    case Carrier::points:
      return exact_graphs(model, samples, schema, note);
    case Carrier::grid:
      return exact_cells(model, samples, schema, note);
    case Carrier::poses:
      break;
  }
  return samples;
}

namespace {

constexpr int64_t kMostCells = int64_t{1} << 18;  // of the grids of an audit, but at least two grids

}  // namespace

AuditSamples audit_samples(const FilePredictor& predictor, const std::string& where, const Dataset& data,
                           int64_t count, uint64_t seed) {
  require<DataError>(data.size() > 0, "audit: the data must have samples, but has none");
  Stream stream(seed, "audit samples");
  std::vector<int64_t> order = stream.permutation(data.size());
  const bool grids = data.schema().carrier() == Carrier::grid;
  if (grids) {  // each is moved dozens of times, in float64 too
    count = std::min(count, std::max<int64_t>(2, kMostCells / std::max<int64_t>(1, data.tokens(order[0]))));
  }
  order.resize(static_cast<size_t>(std::min(count, data.size())));
  const Batch samples = grids ? middle_parts(predictor.subject(), data, order) : data.batch(order);
  try {
    predictor(samples.input);
  } catch (const ShapeError& error) {
    blame_sample(where, error, order, [&](int64_t sample) { predictor(data.batch({&sample, 1}).input); });
  }
  return {samples, std::move(order)};
}

std::vector<Transformation> measured_anew(const Model& model, const std::shared_ptr<const Dataset>& data,
                                          const AuditSamples& samples) {
  const bool whole = std::ranges::all_of(model.interface.outputs, [](const Quantity& q) {
    return q.level == Level::graph && (q.kind == Kind::scalar || q.kind == Kind::category);
  });
  const auto* grid = std::get_if<Grid>(&samples.batch.input);
  if (!whole || grid == nullptr || samples.rows.empty()) {
    return {};
  }
  const std::optional<Batch> same = data->made_anew({samples.rows.data(), 1}, std::vector<Placement>(1));
  if (!same || std::get<Grid>(same->input).values.sizes().slice(2) != grid->values.sizes().slice(2)) {
    return {};  // or the audit is of parts of the grids
  }
  std::vector<Transformation> measured{made_anew(data, samples.rows, true, 0, "turns, cells anew")};
  for (const double cells : {0.5, 1.0, 2.0, 4.0}) {
    measured.push_back(made_anew(data, samples.rows, false, cells, text("shift ", cells, ", cells anew")));
  }
  return measured;
}

Batch random_audit_samples(const Subject& subject, int64_t count, uint64_t seed) {
  if (subject.schema.carrier() == Carrier::grid) {
    return random_grids(subject.schema, count, shape_of_grids(subject), seed);
  }
  const double nodes = subject.model->interface.typical_nodes;
  Schema asked = subject.schema;
  asked.labels = subject.model->interface.outputs;  // which say whether there are objects
  return random_tokens(asked, count, std::max<int64_t>(2, std::llround(nodes)), seed);
}

}  // namespace weyl
