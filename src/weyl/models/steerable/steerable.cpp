#include "weyl/models/steerable/steerable.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "weyl/carriers/background.h"
#include "weyl/carriers/lattice.h"
#include "weyl/core/check.h"
#include "weyl/models/steerable/layers.h"
#include "weyl/ops/steerable/irrep_norms.h"

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

/// x (B, C, pixels...) with so many pixels of background on each side of each axis.
Tensor surrounded(const Tensor& x, const Tensor& background, const std::vector<int64_t>& margins) {
  std::vector<int64_t> sides;  // of the last axis first
  for (auto m = margins.rbegin(); m != margins.rend(); ++m) {
    sides.insert(sides.end(), 2, *m);
  }
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

Tensor Net::tokens_that_see(const Tensor& x, const Tensor& background) const {
  Tensor seen = (x != background).any(1, /*keepdim=*/true).to(at::kFloat);
  for (size_t s = 0; s < stages_.size(); ++s) {
    seen = reached_by_pool(stages_[s]->reached(seen), options.stages[s].pool, options.low_pass);
  }
  return seen.squeeze(1) > 0;
}

Net::Ground Net::ground_of(const Grid& grid) const {
  const at::IntArrayRef pixels = grid.values.sizes().slice(2);
  const int64_t least = smallest_side(grid_layers(options, segmentation_));
  Ground ground;
  for (const int64_t n : pixels) {
    ground.margins.push_back(margin_of(options, segmentation_, n));
    require(n + 2 * ground.margins.back() >= least, "model input: this net needs ",
            least - 2 * ground.margins.back(), " pixels along each axis at least, got ", pixels);
  }
  const bool surrounds = std::ranges::any_of(ground.margins, [](int64_t m) { return m > 0; });
  ground.background = skips_empty() || surrounds ? background_of(grid.values) : Tensor();
  ground.x = surrounds ? surrounded(grid.values, ground.background, ground.margins) : grid.values;
  return ground;
}

Tensor Net::attending(const Grid& grid) const {
  if (!skips_empty()) {
    return {};
  }
  const Ground ground = ground_of(grid);
  return tokens_that_see(ground.x, ground.background);
}

Net::Stem Net::stem(const Grid& grid, const Look& look) const {
  const auto [x, background, margins] = ground_of(grid);
  Stem stem;
  stem.margins = margins;
  stem.sizes = x.sizes().slice(2).vec();
  stem.seeing = skips_empty() ? tokens_that_see(x, background) : Tensor();
  stem.tokens = at::cat({x, at::zeros_like(x)}, 1);
  for (size_t s = 0; s < stages_.size(); ++s) {
    stem.tokens = (*stages_[s])(stem.tokens);
    if (look) {
      look(text("stage_", s + 1), stem.tokens, type_of_stage(s));
    }
    if (segmentation_) {
      stem.skips.push_back(stem.tokens);
    }
    stem.tokens = average_pool(stem.tokens, options.stages[s].pool, options.low_pass);
    if (look && options.stages[s].pool > 1) {
      look(text("pool_", s + 1), stem.tokens, type_of_stage(s));
    }
  }
  return stem;
}

std::vector<Tensor> Net::attention_maps(const Input& input) {
  if (!encoder_ || !options.attention) {
    return {};
  }
  const Grid& grid = std::get<Grid>(input);
  const Stem of = stem(grid);
  constexpr double kMost = 4e9, kComplex = 16;
  const auto tokens = static_cast<double>(of.tokens[0][0].numel());
  const double bytes =
      kComplex * static_cast<double>(of.tokens.size(0) * options.encoder.heads) * tokens * tokens;
  require<ConfigError>(bytes <= kMost, "attention maps: all pairs of ", of.tokens[0][0].numel(),
                       " tokens take ", std::llround(bytes / 1e9), " GB, and 4 are enough");
  std::vector<Tensor> maps = encoder_->attention_maps(of.tokens, of.seeing);
  for (Tensor& map : maps) {
    map = map.detach().to(at::kCPU);
    for (int64_t axis = 2; axis < grid.values.dim(); ++axis) {
      const TokenRow row = tokens_of(options, segmentation_, grid.values.size(axis));
      std::vector<int64_t> token;  // that stands over each cell; row.tokens: none
      for (int64_t cell = 0; cell < grid.values.size(axis); ++cell) {
        const double at = (static_cast<double>(cell) - row.before + 0.5) / static_cast<double>(row.spacing);
        const auto t = static_cast<int64_t>(std::floor(at));
        token.push_back(t >= 0 && t < row.tokens ? t : row.tokens);
      }
      std::vector<int64_t> end = map.sizes().vec();
      end[static_cast<size_t>(axis)] = 1;
      map = at::cat({map, at::full(end, std::numeric_limits<double>::quiet_NaN(), map.options())}, axis)
                .index_select(axis, at::tensor(token, at::kLong));
    }
  }
  return maps;
}

std::vector<std::pair<std::string, Tensor>> Net::stage_lengths(const Input& input) {
  std::vector<std::pair<std::string, Tensor>> lengths;
  const auto keep = [&](const std::string& name, const Tensor& x, const SteerableType& type) {
    lengths.emplace_back(name, irrep_squares(x, type).sqrt().flatten(2).mean(2).detach().to(at::kCPU));
  };
  const Stem of = stem(std::get<Grid>(input), keep);
  if (encoder_) {
    keep("encoder", (*encoder_)(of.tokens, of.seeing), type_of_stage(stages_.size() - 1));
  }
  return lengths;
}

Named Net::forward(const Grid& grid) {
  Stem of = stem(grid);
  Tensor x = encoder_ ? (*encoder_)(of.tokens, of.seeing) : of.tokens;
  if (segmentation_) {
    for (const auto& step : decoder_) {
      const size_t s = of.skips.size() - 1;
      const Tensor up = upsample(x, of.skips[s].sizes().slice(2));
      x = (*step)(options.skips == SkipLaw::add ? up + of.skips[s]
                                                : concatenated(up, of.skips[s], type_of_stage(s)));
      of.skips.pop_back();
    }
  }
  Tensor all = segmentation_ ? (*pixels_)(x, of.sizes) : (*whole_)(x);
  for (size_t axis = 0; segmentation_ && axis < of.margins.size(); ++axis) {
    const auto a = static_cast<int64_t>(axis) + 2;
    all = all.narrow(a, of.margins[axis], grid.values.size(a));
  }
  return by_name(all);
}

Symmetry Net::claims(std::span<const int64_t> pixels, std::span<const double> spacing) const {
  const bool plane = interface.dimension == 2;
  const bool cyclic =
      plane && options.coupling == OrderCoupling::cyclic;  // turns by 360/orders degrees alone
  Symmetry symmetry;
  if (!cyclic && is_isotropic(spacing)) {
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
  if (!typical_is_cube()) {
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

bool Net::typical_is_cube() const {
  return std::pow(typical_side(), interface.dimension) == interface.typical_nodes;
}

std::vector<std::string> Net::facts() const {
  const int64_t side = typical_side();
  const TokenRow row = tokens_of(options, segmentation_, side);
  // Of grids that are no cubes, or whose size nobody says, the mean side would say what no sample has.
  if (row.tokens == 0 || !typical_is_cube() || side == 1) {
    return {};
  }
  const std::string shape = interface.dimension == 2 ? text(row.tokens, " x ", row.tokens)
                                                     : text(row.tokens, " x ", row.tokens, " x ", row.tokens);
  const auto count = static_cast<int64_t>(std::pow(row.tokens, interface.dimension));
  std::vector<std::string> facts{text(shape, " = ", count, " tokens of ", side, " cells along an axis, ",
                                      row.spacing, row.spacing == 1 ? " cell" : " cells", " apart")};
  if (encoder_ && options.attention) {
    const double pairs = static_cast<double>(count) * static_cast<double>(count),
                 scores = 8 * pairs * static_cast<double>(options.encoder.heads);
    facts.front() += text(", ", static_cast<int64_t>(pairs), " pairs in attention");
    facts.push_back(text(
        "attention of a sample: on the CPU a few queries are in memory at a time; elsewhere each copy of the "
        "scores takes ",
        std::llround(std::ceil(scores / 1e6)), " MB in float32"));
  }
  return facts;
}

std::vector<std::string> Net::warnings(std::string_view /*differentiated_by*/) const {
  const int64_t side = typical_side();
  const TokenRow row = tokens_of(options, segmentation_, side);
  const double cut = std::max(row.before, row.after);
  // Skips of full resolution see what tokens do not. Of grids that are no cubes the mean side says nothing certain.
  if (row.tokens == 0 || cut < 1 || segmentation_ || !typical_is_cube()) {
    return {};
  }
  const auto cells = [](double x) { return static_cast<int64_t>(std::ceil(std::max(0.0, x))); };
  return {text(
      options.margin ? "model.steerable.margin" : "model.steerable.stages", ": of ", side,
      " cells along an axis tokens stand over cells ", cells(row.before), " to ", side - 1 - cells(row.after),
      "; what data fill beyond them is hardly seen, and answers change when it is shifted or turned there",
      options.margin
          ? ". Without this key the input is surrounded by so many cells that tokens cover all of it"
          : "")};
}

Work Net::work(double nodes) const {
  const auto volume = [&](int64_t n) {
    return std::pow(static_cast<double>(n), static_cast<double>(interface.dimension));
  };
  const int64_t side = std::max(smallest_side(grid_layers(options, segmentation_)), side_of(nodes));
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
