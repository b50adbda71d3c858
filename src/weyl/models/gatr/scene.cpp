#include "weyl/models/gatr/scene.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <vector>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"
#include "weyl/core/to_device.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/segment.h"

namespace weyl::gatr {
namespace {

Tensor indices(const std::vector<int64_t>& values, at::Device device) {
  return to_device(at::tensor(values, at::kLong), device);
}

/// The first object of each graph, and the end of the last: (B + 1). Objects nest in graphs and are never empty.
std::vector<int64_t> first_objects(const Points& points) {
  std::vector<int64_t> first;
  int64_t object = 0;
  for (const int64_t node : points.graphs.offsets) {
    while (points.objects.offsets[object] < node) {
      ++object;
    }
    first.push_back(object);
  }
  return first;
}

/// The number of each node in its segment.
Tensor numbers_in(const Segments& segments) {
  const Tensor first = segments.offsets_on_device().index_select(0, segments.index);
  return at::arange(segments.rows(), segments.index.options()) - first;
}

Tensor mean_reference(const Tensor& multivectors, const Segments& graphs) {
  const Tensor of_nodes = multivectors.select(0, clifford::e123).mean(1);
  return spread(segment_mean(of_nodes, graphs), graphs);
}

Tensor chosen(const Tensor& x, int64_t dimension, const std::vector<int64_t>& channels) {
  return channels.empty() ? Tensor() : x.index_select(dimension, constant(channels, x.device()));
}

}  // namespace

Regrouped across_objects(const Points& points) {
  const std::vector<int64_t> first = first_objects(points);
  const Segments& objects = points.objects;
  std::vector<int64_t> order, sizes;
  for (size_t g = 0; g + 1 < first.size(); ++g) {
    int64_t longest = 0;
    for (int64_t o = first[g]; o < first[g + 1]; ++o) {
      longest = std::max(longest, objects.size(o));
    }
    for (int64_t n = 0; n < longest; ++n) {
      const auto before = static_cast<int64_t>(order.size());
      for (int64_t o = first[g]; o < first[g + 1]; ++o) {
        if (n < objects.size(o)) {
          order.push_back(objects.offsets[o] + n);
        }
      }
      sizes.push_back(static_cast<int64_t>(order.size()) - before);
    }
  }
  std::vector<int64_t> back(order.size());
  for (size_t row = 0; row < order.size(); ++row) {
    back[order[row]] = static_cast<int64_t>(row);
  }
  const at::Device device = points.positions.device();
  return {indices(order, device), indices(back, device), Segments::of_sizes(sizes, device)};
}

Scene scene_of(const Points& points, const Streams& input, const Options& options) {
  const std::string must = must_without_objects(options);
  require(must.empty() || points.objects.rows() == points.nodes(), must, " for an input without objects");
  Scene scene{points.graphs, points.objects, {}, {}, {}, {}, {}};
  const Tensor& mv = input.multivectors;
  scene.reference = options.reference == Reference::canonical
                        ? at::ones({points.nodes()}, mv.options().requires_grad(false))
                        : mean_reference(mv, points.graphs);
  scene.again = {chosen(mv, 2, options.reinsert_multivectors),
                 chosen(input.scalars, 1, options.reinsert_scalars)};
  if (options.axial) {
    scene.across = across_objects(points);
  }
  if (options.rotary) {
    const auto angles = [&](const Tensor& number) {
      return order_angles(number, head_channels(options).scalars, *options.rotary, mv.scalar_type());
    };
    scene.angles = angles(numbers_in(options.axial ? points.objects : points.graphs));
    if (options.axial) {
      const Tensor first = indices(first_objects(points), points.positions.device());
      scene.angles_across = angles(points.objects.index - first.index_select(0, points.graphs.index));
    }
  }
  return scene;
}

}  // namespace weyl::gatr
