#include "weyl/train/alike_nodes.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eq.h>

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/models/features.h"
#include "weyl/models/platonic/options.h"

namespace weyl {
namespace {

constexpr int64_t samples_compared = 64;

bool rows_are_equal(const Tensor& x) {
  return !x.defined() || x.eq(x.narrow(0, 0, 1)).all().item<bool>();
}

struct Graphs {
  int64_t all = 0, alike = 0;
};

void look_at(const Points& points, const Interface& interface, Graphs& graphs) {
  const auto [scalars, vectors] = input_values(points, interface);
  for (int64_t g = 0; g < points.count(); ++g) {
    const int64_t begin = points.graphs.offsets[static_cast<size_t>(g)], size = points.graphs.size(g);
    const auto of_graph = [&](const Tensor& x) { return x.defined() ? x.narrow(0, begin, size) : x; };
    if (size < 2 || rows_are_equal(of_graph(points.positions))) {
      continue;  // nothing to be seen
    }
    ++graphs.all;
    graphs.alike += rows_are_equal(of_graph(scalars)) && rows_are_equal(of_graph(vectors)) ? 1 : 0;
  }
}

}  // namespace

std::string note_on_alike_nodes(const ModelOptions& model, const Interface& interface, const Dataset& train) {
  const auto* options = model.system.get_if<platonic::Options>();
  if (options == nullptr || !platonic::needs_unlike_nodes(platonic::resolved(*options, interface))) {
    return "";
  }
  const at::NoGradGuard constants;
  Graphs graphs;
  const int64_t looked_at = std::min(train.size(), samples_compared);
  for (int64_t i = 0; i < looked_at; ++i) {
    const int64_t sample = i * train.size() / looked_at;
    const Batch batch = train.batch({&sample, 1});
    if (const auto* points = std::get_if<Points>(&batch.input)) {
      look_at(*points, interface, graphs);
    }
  }
  if (graphs.alike == 0) {
    return "";
  }
  return text("in ", graphs.alike, " of ", graphs.all,
              " training samples that were looked at all nodes are alike: there softmax attention sees no "
              "geometry, whatever its weights, since every weighted mean of equal values is that value; ",
              "model.platonic.rope_on_values = true, attention = \"linear\", ape or position_vector = true "
              "see it");
}

}  // namespace weyl
