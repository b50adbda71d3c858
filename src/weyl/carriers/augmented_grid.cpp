#include "weyl/carriers/augmented_grid.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

using Sizes = std::array<int64_t, 3>;

/// What stands in memory around the cells of one grid, as three axes: images have one cell along the first.
struct Place {
  Sizes whole{1, 1, 1}, part{1, 1, 1}, begin{0, 0, 0};
  std::array<double, 3> spacing{1, 1, 1};

  int64_t cells() const { return part[0] * part[1] * part[2]; }
  int64_t whole_cells() const { return whole[0] * whole[1] * whole[2]; }
};

const Grid& one_grid(const Batch& one, const Crop& part) {
  const auto* grid = std::get_if<Grid>(&one.input);
  require(grid != nullptr && grid->count() == 1, "augmentation: must be of one grid");
  const auto d = static_cast<size_t>(grid->values.dim() - 2);
  require((d == 2 || d == 3) && part.begin.size() == d && part.size.size() == d, "augmentation: must be of ",
          d, " axes, 2 or 3, got a part of ", part.size.size());
  for (size_t a = 0; a < d; ++a) {
    require(grid->spacing[a] > 0, "augmentation: spacing must be above 0, got ", grid->spacing[a]);
  }
  return *grid;
}

Place place_of(const Grid& grid, const Crop& part) {
  Place place;
  const size_t d = part.size.size();
  for (size_t a = 0; a < d; ++a) {
    const size_t axis = 3 - d + a;
    place.whole[axis] = grid.values.size(static_cast<int64_t>(2 + a));
    place.part[axis] = part.size[a];
    place.begin[axis] = part.begin[a];
    place.spacing[axis] = grid.spacing[a];
  }
  return place;
}

/// The spline's first control point and its weights at each cell of an axis.
struct SplineAxis {
  std::vector<int64_t> first;
  std::vector<std::array<double, 4>> weights;
};

SplineAxis spline_axis(int64_t cells, double distance, int64_t points) {
  SplineAxis axis;
  for (int64_t i = 0; i < cells; ++i) {
    if (points == 1) {
      axis.first.push_back(0);
      axis.weights.push_back({1, 0, 0, 0});
      continue;
    }
    const double at = static_cast<double>(i) / distance, floor = std::floor(at), t = at - floor, s = 1 - t;
    axis.first.push_back(static_cast<int64_t>(floor));
    axis.weights.push_back({s * s * s / 6, (3 * t * t * t - 6 * t * t + 4) / 6,
                            (3 * s * s * s - 6 * s * s + 4) / 6, t * t * t / 6});
  }
  return axis;
}

/// The cells between which a place lies along an axis, and how much of the second counts.
struct Between {
  int64_t first = 0;
  double second = 0;
};

Between between(double place) {
  const double nearest = std::round(place);
  if (std::abs(place - nearest) < 1e-9) {
    return {static_cast<int64_t>(nearest), 0};
  }
  const double floor = std::floor(place);
  return {static_cast<int64_t>(floor), place - floor};
}

/// Up to eight cells of the whole grid with their weights, those outside of it left out; `out` has their part.
struct Corners {
  std::array<int64_t, 8> cell;
  std::array<double, 8> weight;
  int count = 0;
  double out = 0;
};

Corners corners_at(const std::array<double, 3>& at, const Sizes& sizes) {
  std::array<Between, 3> along;
  for (size_t a = 0; a < 3; ++a) {
    // Far outside is outside; a number this large would not be a whole one.
    along[a] = between(std::clamp(at[a], -2.0, static_cast<double>(sizes[a]) + 1));
  }
  Corners corners;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    int64_t cell = 0;
    bool in = true;
    for (size_t a = 0; a < 3; ++a) {
      const bool second = (corner >> (2 - a) & 1) == 1;
      const int64_t i = along[a].first + (second ? 1 : 0);
      weight *= second ? along[a].second : 1 - along[a].second;
      in = in && i >= 0 && i < sizes[a];
      cell = cell * sizes[a] + i;
    }
    if (weight > 0 && in) {
      corners.cell[static_cast<size_t>(corners.count)] = cell;
      corners.weight[static_cast<size_t>(corners.count++)] = weight;
    } else {
      corners.out += weight;
    }
  }
  return corners;
}

/// Calls use(cell of the part, corners) for each cell.
template <class Use>
void each_place(const Place& place, const GridMap& map, const Use& use) {
  std::array<double, 3> middle, start;
  std::array<double, 9> step;  // from cells of the part to cells of the whole
  for (size_t a = 0; a < 3; ++a) {
    middle[a] = static_cast<double>(place.part[a] - 1) / 2;
    start[a] = static_cast<double>(place.begin[a]) + middle[a];
    for (size_t b = 0; b < 3; ++b) {
      step[3 * a + b] = map.back[3 * a + b] * place.spacing[b] / place.spacing[a];
    }
  }
  const Displacements& u = map.displacements;
  const bool moves = !u.values.empty();
  std::array<SplineAxis, 3> splines;
  for (size_t a = 0; moves && a < 3; ++a) {
    splines[a] = spline_axis(place.part[a], u.distance[a], u.points[a]);
  }
  std::vector<double> line(moves ? static_cast<size_t>(3 * u.points[2]) : 0);  // of control points
  int64_t cell = 0;
  for (int64_t i = 0; i < place.part[0]; ++i) {
    for (int64_t j = 0; j < place.part[1]; ++j) {
      if (moves) {
        std::ranges::fill(line, 0);
        const auto &wi = splines[0].weights[i], &wj = splines[1].weights[j];
        for (int64_t p = 0; p < std::min<int64_t>(4, u.points[0]); ++p) {
          for (int64_t q = 0; q < std::min<int64_t>(4, u.points[1]); ++q) {
            const int64_t row = (splines[0].first[i] + p) * u.points[1] + splines[1].first[j] + q;
            const double weight = wi[p] * wj[q];
            for (size_t r = 0; r < line.size(); ++r) {
              line[r] += weight * u.values[static_cast<size_t>(row) * line.size() + r];
            }
          }
        }
      }
      for (int64_t k = 0; k < place.part[2]; ++k, ++cell) {
        const double x[] = {static_cast<double>(i) - middle[0], static_cast<double>(j) - middle[1],
                            static_cast<double>(k) - middle[2]};
        std::array<double, 3> at;
        for (size_t a = 0; a < 3; ++a) {
          at[a] = start[a] + step[3 * a] * x[0] + step[3 * a + 1] * x[1] + step[3 * a + 2] * x[2];
          for (int64_t r = 0; moves && r < std::min<int64_t>(4, u.points[2]); ++r) {
            at[a] += splines[2].weights[k][r] * line[static_cast<size_t>(3 * (splines[2].first[k] + r)) + a] /
                     place.spacing[a];
          }
        }
        use(cell, corners_at(at, place.whole));
      }
    }
  }
}

/// The class with most of the weight, of equal ones that of the nearest cell.
int64_t class_of(const Corners& corners, const int64_t* classes) {
  std::array<int64_t, 9> found{0};
  std::array<double, 9> sum{corners.out}, largest{corners.out};
  size_t count = 1;
  for (int c = 0; c < corners.count; ++c) {
    const auto i = static_cast<size_t>(c);
    const int64_t k = classes[corners.cell[i]];
    const size_t known =
        static_cast<size_t>(std::find(found.begin(), found.begin() + count, k) - found.begin());
    if (known == count) {
      found[count] = k;
      sum[count] = largest[count] = 0;
      ++count;
    }
    sum[known] += corners.weight[i];
    largest[known] = std::max(largest[known], corners.weight[i]);
  }
  size_t best = 0;
  for (size_t i = 1; i < count; ++i) {
    const bool more = sum[i] > sum[best] + 1e-9, alike = std::abs(sum[i] - sum[best]) <= 1e-9;
    best = more || (alike && largest[i] > largest[best]) ? i : best;
  }
  return found[best];
}

/// A tensor (1, C, whole...) and what becomes of it, (1, C, part...).
struct Mapped {
  Tensor from, to;
};

Mapped mapped(const Tensor& x, const Crop& part, at::ScalarType dtype) {
  std::vector<int64_t> shape{1, x.size(1)};
  shape.insert(shape.end(), part.size.begin(), part.size.end());
  return {x.detach().to(at::kCPU, dtype).contiguous(), at::empty(shape, dtype)};
}

template <class T>
void interpolate(const Mapped& x, const Place& place, int64_t cell, const Corners& corners) {
  const T* from = x.from.const_data_ptr<T>();
  T* to = x.to.mutable_data_ptr<T>() + cell;
  for (int64_t c = 0; c < x.from.size(1); ++c, from += place.whole_cells(), to += place.cells()) {
    double sum = 0;
    for (int i = 0; i < corners.count; ++i) {
      sum += corners.weight[static_cast<size_t>(i)] *
             static_cast<double>(from[corners.cell[static_cast<size_t>(i)]]);
    }
    *to = static_cast<T>(sum);
  }
}

}  // namespace

Batch mapped_grid(const Batch& one, const Crop& part, const GridMap& map, const Schema& schema) {
  const Grid& grid = one_grid(one, part);
  const Place place = place_of(grid, part);
  const bool narrow = grid.values.scalar_type() == at::kFloat;
  const Mapped values = mapped(grid.values, part, narrow ? at::kFloat : at::kDouble);
  std::vector<std::pair<std::string, Mapped>> classes, numbers;
  for (const Quantity& q : schema.labels) {
    if (const auto found = one.labels.find(q.name); q.level == Level::node && found != one.labels.end()) {
      const bool of_classes = q.kind == Kind::category;
      (of_classes ? classes : numbers)
          .emplace_back(q.name, mapped(found->second, part, of_classes ? at::kLong : at::kDouble));
    }
  }
  each_place(place, map, [&](int64_t cell, const Corners& corners) {
    if (narrow) {
      interpolate<float>(values, place, cell, corners);
    } else {
      interpolate<double>(values, place, cell, corners);
    }
    for (const auto& [name, x] : numbers) {
      interpolate<double>(x, place, cell, corners);
    }
    for (const auto& [name, x] : classes) {
      for (int64_t c = 0; c < x.from.size(1); ++c) {
        x.to.mutable_data_ptr<int64_t>()[c * place.cells() + cell] =
            class_of(corners, x.from.const_data_ptr<int64_t>() + c * place.whole_cells());
      }
    }
  });
  Batch result = one;
  std::get<Grid>(result.input).values = values.to.to(grid.values.scalar_type());
  for (const auto* all : {&classes, &numbers}) {
    for (const auto& [name, x] : *all) {
      result.labels[name] = x.to.to(one.labels.at(name).scalar_type());
    }
  }
  return result;
}

void require_grid_augmentation(const GridAugmentation& o, const Schema& schema) {
  if (!o.any()) {
    return;
  }
  const int64_t d = schema.interface.dimension;
  require<ConfigError>(schema.carrier() == Carrier::grid && (d == 2 || d == 3),
                       "train.grids: needs images or volumes, the data set holds ", name_of(schema.carrier()),
                       " of ", d, " dimensions");
  const auto plain = [](const Quantity& q) { return q.kind == Kind::scalar || q.kind == Kind::category; };
  for (const auto* all : {&schema.interface.features, &schema.labels}) {
    for (const Quantity& q : *all) {
      require<ConfigError>(plain(q) || !(o.moves() || all == &schema.interface.features),
                           "train.grids: changes numbers and classes alone, but '", q.name, "' is a ",
                           kind_names[static_cast<size_t>(q.kind)]);
    }
  }
  require<ConfigError>(
      !o.rotation || d == 3 || o.rotation->axis == TurnAxis::any || o.rotation->axis == TurnAxis::z,
      "train.grids.rotation.axis: must be any, or z, of images");
  for (const int64_t a : o.mirror.value_or(GridMirror{}).axes) {
    require<ConfigError>(a < d, "train.grids.mirror.axes: must be below ", d, ", got ", a);
  }
}

namespace {

/// The streams of one sample, one for each change.
struct Streams {
  const Draw& draw;
  int64_t sample;

  Stream of(const char* change) const {
    return {draw.seed, change, {static_cast<uint64_t>(draw.epoch), static_cast<uint64_t>(sample)}};
  }
};

double uniform(Stream& stream, double low, double high) {
  return low + (high - low) * stream.uniform();
}

/// The rotation by an angle about a unit vector, row-major (Rodrigues).
std::array<double, 9> rotation_about(const std::array<double, 3>& n, double angle) {
  const double c = std::cos(angle), s = std::sin(angle), v = 1 - c;
  return {c + n[0] * n[0] * v,        n[0] * n[1] * v - n[2] * s, n[0] * n[2] * v + n[1] * s,
          n[1] * n[0] * v + n[2] * s, c + n[1] * n[1] * v,        n[1] * n[2] * v - n[0] * s,
          n[2] * n[0] * v - n[1] * s, n[2] * n[1] * v + n[0] * s, c + n[2] * n[2] * v};
}

/// The turn of the plane stands in the last two axes, which are its only ones.
std::array<double, 9> drawn_rotation(const GridRotation& o, bool plane, Stream& stream) {
  const double angle = uniform(stream, -o.degrees, o.degrees) * std::numbers::pi / 180;
  std::array<double, 3> axis{};
  if (plane) {
    axis[0] = 1;
  } else if (o.axis != TurnAxis::any) {
    axis[static_cast<size_t>(o.axis) - 1] = 1;
  } else {
    double length = 0;
    while (length < 1e-6) {
      axis = {stream.normal(), stream.normal(), stream.normal()};
      length = std::hypot(axis[0], axis[1], axis[2]);
    }
    for (double& x : axis) {
      x /= length;
    }
  }
  return rotation_about(axis, angle);
}

/// The smallest spacing of the axes that a grid has.
double finest(const Grid& grid) {
  const auto d = static_cast<size_t>(grid.values.dim() - 2);
  return *std::min_element(grid.spacing.begin(), grid.spacing.begin() + static_cast<std::ptrdiff_t>(d));
}

Displacements drawn_displacements(const GridElastic& o, const Grid& grid, const Crop& part, Stream& stream) {
  Displacements u;
  const Place place = place_of(grid, part);
  const size_t first = 3 - part.size.size();
  const double cell = finest(grid);
  size_t count = 1;
  for (size_t a = 0; a < 3; ++a) {
    u.distance[a] = o.distance * cell / place.spacing[a];
    u.points[a] =
        a < first ? 1 : static_cast<int64_t>(static_cast<double>(place.part[a] - 1) / u.distance[a]) + 4;
    count *= static_cast<size_t>(u.points[a]);
  }
  u.values.resize(3 * count);
  for (size_t i = 0; i < u.values.size(); ++i) {
    u.values[i] = i % 3 < first ? 0 : o.deviation * cell * stream.normal();
  }
  return u;
}

/// Nothing: the part is as it is.
std::optional<GridMap> drawn_map(const GridAugmentation& o, const Grid& grid, const Crop& part,
                                 const Streams& streams) {
  GridMap map;
  bool moves = false;
  if (o.rotation) {
    Stream stream = streams.of("grid rotation");
    if (stream.uniform() < o.rotation->probability) {
      const std::array<double, 9> r = drawn_rotation(*o.rotation, part.size.size() == 2, stream);
      map.back = {r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]};  // its inverse
      moves = true;
    }
  }
  if (o.scale) {
    Stream stream = streams.of("grid scale");
    if (stream.uniform() < o.scale->probability) {
      const double factor = uniform(stream, o.scale->low, o.scale->high);
      for (double& x : map.back) {
        x /= factor;
      }
      moves = true;
    }
  }
  if (o.elastic) {
    Stream stream = streams.of("grid elastic");
    if (stream.uniform() < o.elastic->probability) {
      map.displacements = drawn_displacements(*o.elastic, grid, part, stream);
      moves = true;
    }
  }
  return moves ? std::optional(map) : std::nullopt;
}

void mirror(Batch& batch, const GridMirror& o, const Schema& schema, Stream stream) {
  Grid& grid = std::get<Grid>(batch.input);
  std::vector<int64_t> axes;
  for (int64_t a = 0; a < grid.values.dim() - 2; ++a) {
    const bool may = o.axes.empty() || std::ranges::find(o.axes, a) != o.axes.end();
    if (stream.uniform() < o.probability && may) {
      axes.push_back(2 + a);
    }
  }
  if (axes.empty()) {
    return;
  }
  grid.values = at::flip(grid.values, axes);
  for (const Quantity& q : schema.labels) {
    if (const auto found = batch.labels.find(q.name); q.level == Level::node && found != batch.labels.end()) {
      found->second = at::flip(found->second, axes);
    }
  }
}

/// Of a channel's values. Sums go from the first to the last: those of LibTorch depend on the number of threads.
struct Spread {
  double mean = 0, deviation = 0, low = 0, high = 0;
};

Spread spread_of_channel(const Tensor& channel) {
  const std::span<const double> x(channel.const_data_ptr<double>(), static_cast<size_t>(channel.numel()));
  const auto n = static_cast<double>(x.size());
  Spread s;
  if (x.empty()) {
    return s;
  }
  double sum = 0, square = 0;
  for (const double v : x) {
    sum += v;
  }
  s.mean = sum / n;
  for (const double v : x) {
    square += (v - s.mean) * (v - s.mean);
  }
  s.deviation = std::sqrt(square / n);
  const auto [low, high] = std::ranges::minmax(x);
  s.low = low;
  s.high = high;
  return s;
}

/// Along an axis, the values outside being those of the nearest cell. Products are rounded before they are added: fused to sums, as
/// LibTorch's vectors do it and the rest of them does not, they would depend on the number of threads.
Tensor blurred(const Tensor& x, int64_t axis, double sigma) {
  const auto radius = static_cast<int64_t>(std::ceil(4 * sigma));
  const int64_t n = x.size(axis);
  std::vector<int64_t> cells;
  for (int64_t i = -radius; i < n + radius; ++i) {
    cells.push_back(std::clamp<int64_t>(i, 0, n - 1));
  }
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = -radius; i <= radius; ++i) {
    weights.push_back(std::exp(-0.5 * static_cast<double>(i * i) / (sigma * sigma)));
    sum += weights.back();
  }
  const Tensor wide = at::index_select(x, axis, at::tensor(cells, at::kLong));
  Tensor result = wide.narrow(axis, 0, n) * (weights[0] / sum);
  for (int64_t i = 1; i <= 2 * radius; ++i) {
    result.add_(wide.narrow(axis, i, n) * (weights[static_cast<size_t>(i)] / sum));
  }
  return result;
}

/// `coarse` cells along an axis, each with the value of the cell in its middle, brought back linearly to as many as there
/// were.
Tensor through_coarse_cells(const Tensor& x, int64_t axis, int64_t coarse) {
  const int64_t n = x.size(axis);
  std::vector<int64_t> taken, lower, upper;
  std::vector<double> second;
  for (int64_t i = 0; i < coarse; ++i) {
    taken.push_back((2 * i + 1) * n / (2 * coarse));
  }
  for (int64_t i = 0; i < n; ++i) {
    const double at =
        (static_cast<double>(i) + 0.5) * static_cast<double>(coarse) / static_cast<double>(n) - 0.5;
    const double inside = std::clamp(at, 0.0, static_cast<double>(coarse - 1));
    const auto first = static_cast<int64_t>(inside);
    lower.push_back(first);
    upper.push_back(std::min(first + 1, coarse - 1));
    second.push_back(inside - static_cast<double>(first));
  }
  const auto select = [&](const Tensor& of, const std::vector<int64_t>& which) {
    return at::index_select(of, axis, at::tensor(which, at::kLong));
  };
  const Tensor few = select(x, taken), one = select(few, lower);
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[static_cast<size_t>(axis)] = n;
  return one + (select(few, upper) - one) * at::tensor(second, at::kDouble).view(shape);
}

/// Draws whether a change is made and, for each channel, its factor; calls change(channel, factor).
template <class Change>
void each_channel(const std::optional<RandomFactor>& o, Stream stream, std::vector<Tensor>& channels,
                  const Change& change) {
  if (!o || stream.uniform() >= o->probability) {
    return;
  }
  for (Tensor& channel : channels) {
    channel = change(channel, uniform(stream, o->low, o->high));
  }
}

std::optional<RandomFactor> factor(const auto& o) {
  return o ? std::optional<RandomFactor>(*o) : std::nullopt;
}

void add_noise(const std::optional<GridNoise>& o, Stream stream, std::vector<Tensor>& channels) {
  if (!o || stream.uniform() >= o->probability) {
    return;
  }
  const double share = o->deviation * stream.uniform();
  for (Tensor& channel : channels) {
    const double deviation = share * spread_of_channel(channel).deviation;
    double* x = channel.mutable_data_ptr<double>();
    for (int64_t i = 0; i < channel.numel(); ++i) {
      x[i] += deviation * stream.normal();
    }
  }
}

/// Value by value: LibTorch's power of a vector and of the rest of one differ, and threads cut where the rest begins.
Tensor with_gamma(const Tensor& channel, double power) {
  const Spread before = spread_of_channel(channel);
  if (!(before.high > before.low)) {
    return channel;
  }
  const Tensor bent = ((channel - before.low) / (before.high - before.low)).contiguous();
  for (double& x : std::span(bent.mutable_data_ptr<double>(), static_cast<size_t>(bent.numel()))) {
    x = std::pow(x, power);
  }
  const Spread after = spread_of_channel(bent);
  return after.deviation > 0 ? (bent - after.mean) * (before.deviation / after.deviation) + before.mean
                             : channel;
}

void recolour(Grid& grid, const GridAugmentation& o, const Streams& streams) {
  const auto d = static_cast<size_t>(grid.values.dim() - 2);
  const double cell = finest(grid);
  std::vector<Tensor> channels;
  for (int64_t c = 0; c < grid.values.size(1); ++c) {
    channels.push_back(grid.values[0][c].to(at::kCPU, at::kDouble, false, /*copy=*/true).contiguous());
  }
  add_noise(o.noise, streams.of("grid noise"), channels);
  each_channel(factor(o.blur), streams.of("grid blur"), channels, [&](Tensor x, double sigma) {
    for (size_t a = 0; a < d; ++a) {
      x = blurred(x, static_cast<int64_t>(a), sigma * cell / grid.spacing[a]);
    }
    return x.contiguous();
  });
  each_channel(factor(o.brightness), streams.of("grid brightness"), channels,
               [](const Tensor& x, double by) { return x * by; });
  each_channel(factor(o.contrast), streams.of("grid contrast"), channels, [](const Tensor& x, double by) {
    const Spread s = spread_of_channel(x);
    return ((x - s.mean) * by + s.mean).clamp(s.low, s.high);
  });
  each_channel(factor(o.low_resolution), streams.of("grid low resolution"), channels,
               [&](Tensor x, double by) {
                 for (size_t a = 0; a < d; ++a) {
                   const auto axis = static_cast<int64_t>(a);
                   const double share = std::min(1.0, by * grid.spacing[a] / cell);
                   const auto cells = static_cast<double>(x.size(axis));
                   const auto coarse = std::max<int64_t>(1, std::llround(cells * share));
                   x = coarse < x.size(axis) ? through_coarse_cells(x, axis, coarse) : x;
                 }
                 return x.contiguous();
               });
  each_channel(factor(o.gamma), streams.of("grid gamma"), channels, with_gamma);
  grid.values = grid.values.clone();  // others may hold the cells
  for (size_t c = 0; c < channels.size(); ++c) {
    grid.values[0][static_cast<int64_t>(c)].copy_(channels[c]);
  }
}

}  // namespace

Batch augmented_grid(const Batch& one, const Crop& part, const GridAugmentation& o, const Schema& schema,
                     const Draw& draw, int64_t sample) {
  const at::NoGradGuard no_grad;
  const Grid& grid = one_grid(one, part);
  const Streams streams{draw, sample};
  const auto map = drawn_map(o, grid, part, streams);
  Batch result = map ? mapped_grid(one, part, *map, schema) : cropped(one, part, schema);
  if (o.mirror) {
    mirror(result, *o.mirror, schema, streams.of("grid mirror"));
  }
  if (o.recolours()) {
    recolour(std::get<Grid>(result.input), o, streams);
  }
  return result;
}

}  // namespace weyl
