#include "weyl/study/audit_samples.h"

#include <algorithm>
#include <cmath>

#include "weyl/carriers/faulty_sample.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/study/grid_samples.h"
#include "weyl/study/random_tokens.h"

namespace weyl {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 18;  // of the grids of an audit, but at least two grids

}  // namespace

Batch audit_samples(const FilePredictor& predictor, const std::string& where, const Dataset& data,
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
  return samples;
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
