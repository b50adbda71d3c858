#include "weyl/models/steerable/steerable.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/models/steerable/layers.h"

namespace weyl::steerable {
namespace {

/// Both tensors' features side by side, irrep by irrep.
Tensor concatenated(const Tensor& a, const Tensor& b, const SteerableType& type) {
  const Tensor x = a.unflatten(1, {2, type.width()}), y = b.unflatten(1, {2, type.width()});
  std::vector<Tensor> parts;
  for (int64_t l = 0; l < type.irreps(); ++l) {
    const auto of = [&](const Tensor& z) {
      return z.narrow(2, type.offset(l), type.width(l)).unflatten(2, {type.components(l), type.channels[l]});
    };
    parts.push_back(at::cat({of(x), of(y)}, 3).flatten(2, 3));
  }
  return at::cat(parts, 2).flatten(1, 2);
}

/// Each channel's least value in the sample, of x (B, C, pixels...): (B, C, 1, ...).
Tensor background_of(const Tensor& x) {
  std::vector<int64_t> axes(static_cast<size_t>(x.dim() - 2));
  std::iota(axes.begin(), axes.end(), 2);
  return x.amin(axes, /*keepdim=*/true);
}

/// x (B, C, pixels...) with so many pixels of each channel's least value in the sample on each side of each axis.
Tensor surrounded(const Tensor& x, const std::vector<int64_t>& margins) {
  std::vector<int64_t> sides;  // of the last axis first
  for (auto m = margins.rbegin(); m != margins.rend(); ++m) {
    sides.insert(sides.end(), 2, *m);
  }
  if (std::ranges::all_of(sides, [](int64_t m) { return m == 0; })) {
    return x;
  }
  const Tensor background = background_of(x);
  return at::constant_pad_nd(x - background, sides) + background;
}

SteerableType doubled(SteerableType type) {
  for (int64_t& c : type.channels) {
    c *= 2;
  }
  return type;
}

}  // namespace

Net::Net(const Options& given, Interface of) : GridModel(std::move(of)), options(given) {
  const bool masks = !interface.outputs.empty() && interface.outputs.front().level == Level::node;
  outputs_ = channels_out("steerable", masks ? Level::node : Level::graph);
  segmentation_ = masks;
  check(options, interface.dimension, segmentation_);
  SteerableType in{interface.dimension, {channels_in("steerable")}};
  for (size_t s = 0; s < options.stages.size(); ++s) {
    const Stage& stage = options.stages[s];
    const std::string where = "model.steerable.stages[" + std::to_string(s) + "]";
    require<ConfigError>(!segmentation_ || stage.kernel % 2 == 1, where,
                         ".kernel: must be odd in segmentation, whose decoder keeps sizes, got ",
                         stage.kernel);
    StageNet::Shape shape;
    shape.in = in;
    shape.middle =
        type_of(options, interface.dimension, stage.middle > 0 ? stage.middle : stage.channels, where);
    if (stage.middle > 0) {
      shape.out = type_of_stage(s);
    }
    shape.kernel = stage.kernel;
    shape.stride = stage.stride;
    shape.same = stage.same;
    shape.low_pass = options.low_pass;
    shape.activation = stage.activation;
    stages_.push_back(child("stages." + std::to_string(s), std::make_shared<StageNet>(options, shape)));
    in = type_of_stage(s);
  }
  if (options.encoder.depth > 0) {
    for (const int64_t c : in.channels) {
      require<ConfigError>(!options.attention || c % options.encoder.heads == 0,
                           "model.steerable.encoder.heads: must divide the ", c, " channels, got ",
                           options.encoder.heads);
    }
    encoder_ = child("encoder", std::make_shared<Encoder>(in, options));
  }
  if (segmentation_) {
    build_decoder();
    pixels_ =
        child("head", std::make_shared<SegmentationHead>(options, outputs_of_last_convolution(), outputs_));
  } else {
    whole_ = child("head", std::make_shared<ClassificationHead>(options, in, outputs_));
  }
}

SteerableType Net::type_of_stage(size_t s) const {
  return type_of(options, interface.dimension, options.stages[s].channels,
                 "model.steerable.stages[" + std::to_string(s) + "].channels");
}

SteerableType Net::outputs_of_last_convolution() const {
  const int64_t channels = options.head.channels > 0 ? options.head.channels : outputs_;
  if (options.head.irreps == HeadIrreps::trivial) {
    return {interface.dimension, {channels}};
  }
  const int64_t irreps = interface.dimension == 2 ? options.orders : options.degree + 1;
  return {interface.dimension, std::vector<int64_t>(static_cast<size_t>(irreps), channels)};
}

void Net::build_decoder() {
  for (size_t s = options.stages.size(); s-- > 0;) {
    const Stage& stage = options.stages[s];
    const SteerableType type = type_of_stage(s),
                        last = s > 0 ? type_of_stage(s - 1) : outputs_of_last_convolution();
    StageNet::Shape shape;
    shape.in = options.skips == SkipLaw::add ? type : doubled(type);
    shape.middle = stage.middle > 0 ? type_of(options, interface.dimension, stage.middle,
                                              "model.steerable.stages[" + std::to_string(s) + "].middle")
                                    : last;
    if (stage.middle > 0) {
      shape.out = last;
    }
    shape.kernel = stage.kernel;
    shape.activation = s == 0 && stage.middle == 0 ? Activation::none : stage.decoder;
    shape.norm_between = s == 0 && stage.middle > 0;
    shape.norm_after = s > 0;
    decoder_.push_back(child("decoder." + std::to_string(options.stages.size() - 1 - s),
                             std::make_shared<StageNet>(options, shape)));
  }
}

Tensor Net::tokens_that_see(const Tensor& x) const {
  Tensor seen = (x > background_of(x)).any(1, /*keepdim=*/true).to(at::kFloat);
  for (size_t s = 0; s < stages_.size(); ++s) {
    seen = reached_by_pool(stages_[s]->reached(seen), options.stages[s].pool, options.low_pass);
  }
  return seen.squeeze(1) > 0;
}

Named Net::forward(const Grid& grid) {
  const at::IntArrayRef pixels = grid.values.sizes().slice(2);
  const int64_t least = smallest_side(grid_layers(options, segmentation_));
  std::vector<int64_t> margins;
  for (const int64_t n : pixels) {
    margins.push_back(margin_of(options, segmentation_, n));
    require(n + 2 * margins.back() >= least, "model input: this net needs ", least - 2 * margins.back(),
            " pixels along each axis at least, got ", pixels);
  }
  Tensor x = surrounded(grid.values, margins);
  const std::vector<int64_t> sizes = x.sizes().slice(2).vec();
  const Tensor seeing = encoder_ && options.encoder.skip_empty ? tokens_that_see(x) : Tensor();
  x = at::cat({x, at::zeros_like(x)}, 1);
  std::vector<Tensor> skips;
  for (size_t s = 0; s < stages_.size(); ++s) {
    x = (*stages_[s])(x);
    if (segmentation_) {
      skips.push_back(x);
    }
    x = average_pool(x, options.stages[s].pool, options.low_pass);
  }
  if (encoder_) {
    x = (*encoder_)(x, seeing);
  }
  if (segmentation_) {
    for (const auto& step : decoder_) {
      const size_t s = skips.size() - 1;
      const Tensor up = upsample(x, skips[s].sizes().slice(2));
      x = (*step)(options.skips == SkipLaw::add ? up + skips[s]
                                                : concatenated(up, skips[s], type_of_stage(s)));
      skips.pop_back();
    }
  }
  Tensor all = segmentation_ ? (*pixels_)(x, sizes) : (*whole_)(x);
  for (size_t axis = 0; segmentation_ && axis < margins.size(); ++axis) {
    all = all.narrow(static_cast<int64_t>(axis) + 2, margins[axis], pixels[axis]);
  }
  return by_name(all);
}

Symmetry Net::claims(std::span<const int64_t> pixels, std::span<const double> spacing) const {
  const bool plane = interface.dimension == 2;
  const bool cyclic =
      plane && options.coupling == OrderCoupling::cyclic;  // turns by 360/orders degrees alone
  Symmetry symmetry;
  if (!cyclic && is_even(spacing)) {
    symmetry.approximate.push_back({Claim::Of::rotations, plane ? "SO(2)" : "SO(3)", nullptr});
  }
  const auto found = check_geometry(options, segmentation_, pixels, spacing);
  if (found.empty()) {
    const char* name = plane ? "cyclic_4" : "octahedron";
    symmetry.exact.push_back({Claim::Of::finite, name, named_group(name)});
  }
  for (const GeometryFinding& finding : found) {
    symmetry.obstacles.push_back(finding.text);
  }
  return symmetry;
}

Symmetry Net::symmetry() const {
  const int64_t D = interface.dimension, side = typical_side();
  Symmetry symmetry = claims(std::vector<int64_t>(static_cast<size_t>(D), side), {});
  if (std::pow(static_cast<double>(side), static_cast<double>(D)) != interface.typical_nodes) {
    symmetry.exact.clear();
  }
  symmetry.obstacles.clear();
  return symmetry;
}

Symmetry Net::symmetry_for(const Input& example) const {
  const auto* grid = std::get_if<Grid>(&example);
  if (grid == nullptr || !grid->values.defined() || grid->values.dim() != interface.dimension + 2) {
    return symmetry();
  }
  const at::IntArrayRef pixels = grid->values.sizes().slice(2);
  return claims({pixels.data(), pixels.size()}, {grid->spacing.data(), pixels.size()});
}

Work Net::work() const {
  const auto volume = [&](int64_t n) {
    return std::pow(static_cast<double>(n), static_cast<double>(interface.dimension));
  };
  const int64_t side = std::max(smallest_side(grid_layers(options, segmentation_)), typical_side());
  std::vector<double> pixels;  // of each stage before its pooling, which a step of the decoder gives again
  int64_t n = side + 2 * margin_of(options, segmentation_, side);
  Work work;
  for (size_t s = 0; s < stages_.size(); ++s) {
    const Stage& stage = options.stages[s];
    n = GridLayer{"", stage.kernel, stage.stride, stage.same ? (stage.kernel - 1) / 2 : 0, false}.after(n);
    pixels.push_back(volume(n));
    work += pixels.back() * stages_[s]->work_on(/*input_learns=*/s > 0);
    n = GridLayer{"", stage.pool, stage.pool, 0, true}.after(n);
  }
  if (encoder_) {
    work += encoder_->work_of_grid(volume(n));
  }
  for (const auto& step : decoder_) {
    work += pixels.back() * step->work_on(/*input_learns=*/true);
    pixels.pop_back();
  }
  if (whole_) {
    work += whole_->work(volume(std::max<int64_t>(1, n - std::max<int64_t>(1, options.head.kernel) + 1)));
  }
  return (1 / volume(side)) * work;
}

}  // namespace weyl::steerable
