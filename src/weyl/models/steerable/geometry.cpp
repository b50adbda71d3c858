#include "weyl/models/steerable/geometry.h"

#include <algorithm>
#include <cmath>

#include "weyl/carriers/lattice.h"
#include "weyl/core/check.h"

namespace weyl::steerable {
namespace {

bool exact_inside(const std::vector<GridLayer>& layers, int64_t side) {
  for (const GridLayer& layer : layers) {
    if (layer.after(side) == 0 || layer.left_over(side) != 0) {
      return false;
    }
    side = layer.after(side);
  }
  return true;
}

/// A net of some options along one axis.
struct Axis {
  const Options& options;
  bool segmentation;
  std::vector<GridLayer> layers = grid_layers(options, segmentation);

  int64_t margin(int64_t side) const;  // margin_of
  int64_t with_margin(int64_t side) const { return side + 2 * margin(side); }
  bool exact(int64_t side) const { return exact_inside(layers, with_margin(side)); }
};

int64_t Axis::margin(int64_t side) const {
  if (options.margin) {
    return *options.margin;
  }
  double cut = 0;  // pixels of the input, on each side
  int64_t spacing = 1;
  for (const Stage& stage : options.stages) {
    cut += stage.same ? 0 : 0.5 * static_cast<double>((stage.kernel - 1) * spacing);
    spacing *= stage.stride * stage.pool;
  }
  const auto least = static_cast<int64_t>(std::ceil(cut));
  for (int64_t more = 0; least > 0 && more < spacing; ++more) {
    if (exact_inside(layers, side + 2 * (least + more))) {
      return least + more;
    }
  }
  return least;
}

/// The nearest side below (step -1) or above (+1) that every layer divides; 0 for none in reach.
int64_t nearest_exact(const Axis& axis, int64_t side, int64_t step) {
  constexpr int64_t reach = 4096;
  for (int64_t i = 1, n = side + step; i <= reach && n > 0; ++i, n += step) {
    if (axis.exact(n)) {
      return n;
    }
  }
  return 0;
}

std::string sides(int64_t below, int64_t above) {
  if (below == 0 && above == 0) {
    return "no side near is exact";
  }
  if (below == 0 || above == 0) {
    return "a side that is exact: " + std::to_string(std::max(below, above));
  }
  return "sides that are exact: " + std::to_string(below) + ", " + std::to_string(above);
}

template <class T>
std::string sides_text(std::span<const T> shape) {
  std::string s;
  for (const T& n : shape) {
    s += text(s.empty() ? "" : " x ", n);
  }
  return s;
}

}  // namespace

std::vector<GridLayer> grid_layers(const Options& options, bool segmentation) {
  std::vector<GridLayer> layers;
  for (size_t s = 0; s < options.stages.size(); ++s) {
    const Stage& stage = options.stages[s];
    const std::string where = "stages[" + std::to_string(s) + "]";
    if (stage.stride > 1 || !stage.same) {
      layers.push_back({where + ".convolution", stage.kernel, stage.stride,
                        stage.same ? (stage.kernel - 1) / 2 : 0, false});
    }
    if (stage.pool > 1) {
      layers.push_back({where + ".pool", stage.pool, stage.pool, 0, true});
    }
  }
  if (!segmentation && options.head.kernel > 0) {
    layers.push_back({"head.convolution", options.head.kernel, 1, 0, false});
  }
  return layers;
}

int64_t margin_of(const Options& options, bool segmentation, int64_t pixels) {
  return Axis{options, segmentation}.margin(pixels);
}

TokenRow tokens_of(const Options& options, bool segmentation, int64_t pixels) {
  const int64_t margin = margin_of(options, segmentation, pixels);
  TokenRow row{pixels + 2 * margin};
  double first = -static_cast<double>(margin);  // where the first token's middle is, from the first cell on
  const auto shrink = [&](const GridLayer& layer) {
    first += static_cast<double>(row.spacing) *
             (0.5 * static_cast<double>(layer.kernel - 1) - static_cast<double>(layer.padding));
    row.tokens = layer.after(row.tokens);
    row.spacing *= layer.stride;
  };
  for (const Stage& stage : options.stages) {
    shrink({"", stage.kernel, stage.stride, stage.same ? (stage.kernel - 1) / 2 : 0, false});
    shrink({"", stage.pool, stage.pool, 0, true});
  }
  const double half = 0.5 * static_cast<double>(row.spacing - 1);
  const double last = first + static_cast<double>(row.spacing * (row.tokens - 1));
  row.before = first - half;
  row.after = static_cast<double>(pixels - 1) - (last + half);
  return row;
}

int64_t smallest_side(const std::vector<GridLayer>& layers) {
  int64_t side = 1;  // backwards from one pixel
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    side = std::max<int64_t>(1, (side - 1) * layer->stride + layer->kernel - 2 * layer->padding);
  }
  return side;
}

std::vector<GeometryFinding> check_geometry(const Options& options, bool segmentation,
                                            std::span<const int64_t> shape, std::span<const double> spacing) {
  require(shape.size() == 2 || shape.size() == 3, "check_geometry: shape must have 2 or 3 axes, got ",
          shape.size());
  require(spacing.empty() || spacing.size() == shape.size(), "check_geometry: spacing must be of ",
          shape.size(), " axes, got ", spacing.size());
  const Axis axis{options, segmentation};
  std::vector<GeometryFinding> findings;
  if (shape.size() == 2 && options.coupling == OrderCoupling::cyclic && options.orders % 4 != 0) {
    findings.push_back(
        {"coupling", text("coupling: cyclic with ", options.orders, " orders turns exactly by 360/",
                          options.orders, " degrees alone, not by 90; a multiple of 4 orders does")});
  }
  if (!is_isotropic(spacing)) {
    findings.push_back(
        {"input", text("input: a spacing of ", sides_text(spacing),
                       " is not that of a square or a cube, so that the net's turns are none in "
                       "space; resample to one spacing")});
  }
  const auto [least, most] = std::minmax_element(shape.begin(), shape.end());
  if (*least != *most) {
    const auto good = [&](int64_t side) { return axis.exact(side) ? side : 0; };
    const int64_t below = good(*least) != 0 ? *least : nearest_exact(axis, *least, -1);
    const int64_t above = good(*most) != 0 ? *most : nearest_exact(axis, *most, 1);
    findings.push_back({"input",
                        text("input: ", sides_text(shape), " is no ", shape.size() == 2 ? "square" : "cube",
                             ", which a turn by 90 degrees maps to itself; ", sides(below, above)),
                        below, above});
  }
  std::vector<int64_t> done;
  for (const int64_t first : shape) {
    if (std::find(done.begin(), done.end(), first) != done.end()) {
      continue;
    }
    done.push_back(first);
    const int64_t below = nearest_exact(axis, first, -1), above = nearest_exact(axis, first, 1);
    int64_t side = axis.with_margin(first);
    for (const GridLayer& layer : axis.layers) {
      if (layer.after(side) == 0) {
        findings.push_back({layer.name,
                            text(layer.name, ": ", layer.pools ? "pools " : "needs ", layer.kernel,
                                 " pixels, of an input of ", first, " it gets ", side, "; ", sides(0, above)),
                            0, above});
        break;
      }
      if (layer.left_over(side) != 0) {
        const std::string what = layer.pools ? text("pool ", layer.kernel)
                                             : text("kernel ", layer.kernel, ", stride ", layer.stride);
        findings.push_back(
            {layer.name,
             text(layer.name, " (", what, "): leaves over ", layer.left_over(side), " of the ", side,
                  " pixels that it gets of an input of ", first, "; ", sides(below, above)),
             below, above});
      }
      side = layer.after(side);
    }
  }
  return findings;
}

}  // namespace weyl::steerable
