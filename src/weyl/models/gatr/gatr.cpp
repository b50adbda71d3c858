#include "weyl/models/gatr/gatr.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <string>

#include "weyl/core/check.h"
#include "weyl/models/gatr/layers.h"

namespace weyl::gatr {
namespace {

/// In x's precision, which is the weights' also under autocast.
Streams sum(const Streams& x, const Streams& branch) {
  return {x.multivectors + branch.multivectors.to(x.multivectors.scalar_type()),
          x.scalars + branch.scalars.to(x.scalars.scalar_type())};
}

}  // namespace

Block::Block(const Options& options, bool across)
    : across_(across),
      attention_(child("attention", std::make_shared<SelfAttention>(options))),
      mlp_(child("mlp", std::make_shared<GeometricMlp>(options))) {}

Streams Block::operator()(const Streams& x, const Scene& scene) const {
  const Streams mixed = sum(x, (*attention_)(normalised(x), scene, across_));
  return sum(mixed, (*mlp_)(normalised(mixed), scene.reference));
}

double Block::flops(double graph_nodes, double object_nodes) const {
  return attention_->flops(graph_nodes, object_nodes, across_) + mlp_->flops();
}

NamedTensors translated_names(const NamedTensors& state_dict, const Options& options) {
  NamedTensors ours;
  for (const auto& [given, tensor] : state_dict) {
    if (given.ends_with(".pos_encoding.inv_freq")) {
      continue;
    }
    const bool joint = given.find(".qkv_module.in_linear.") != std::string::npos;
    const bool shared = given.find(".qkv_module.k_linear.") != std::string::npos;
    require<DataError>(!joint || !options.multi_query,
                       "model.gatr.multi_query: must be false, the file has '", given,
                       "', which is of attention with keys for each head");
    require<DataError>(!shared || options.multi_query, "model.gatr.multi_query: must be true, the file has '",
                       given, "', which is of attention with one key for all heads");
    std::string name = given;
    constexpr std::string_view with_dropout = ".mlp.layers.3.";
    if (const auto at = name.find(with_dropout); at != std::string::npos) {
      name.replace(at, with_dropout.size(), ".mlp.layers.2.");
    }
    ours.emplace(std::move(name), tensor);
  }
  return ours;
}

namespace {

void require_channels(const char* key, const std::vector<int64_t>& channels, int64_t count) {
  for (const int64_t c : channels) {
    require<ConfigError>(c >= 0 && c < count, "model.gatr.", key, ": must be below the ", count,
                         " channels that the input has, got ", c);
  }
}

}  // namespace

Gatr::Gatr(const Options& options, const Interface& interface)
    : PointsModel(interface), options(options), embedding_(options, interface), readout_(options, interface) {
  check(options);
  require_channels("reinsert_multivectors", options.reinsert_multivectors, embedding_.multivectors());
  require_channels("reinsert_scalars", options.reinsert_scalars, embedding_.scalars());
  in_ = child("linear_in", std::make_shared<EquiLinear>(EquiChannels{embedding_.multivectors(), options.width,
                                                                     embedding_.scalars(), options.scalars}));
  for (int64_t i = 0; i < options.blocks; ++i) {
    const bool across = options.axial && i % 2 == 1;
    blocks_.push_back(child("blocks." + std::to_string(i),
                            std::make_shared<Block>(options_of_block(options, across), across)));
  }
  out_ = child("linear_out", std::make_shared<EquiLinear>(EquiChannels{options.width, readout_.multivectors(),
                                                                       options.scalars, readout_.scalars()}));
}

Named Gatr::forward(const Points& points) {
  const auto dtype = points.positions.scalar_type();
  const Frame frame = frame_of(points, options.positions);
  const Streams input = embedding_(points, frame);
  Scene scene = scene_of(points, input, options);
  if (options.reference == Reference::given) {
    scene.reference = embedding_.reference(points);
  }
  // The residual streams keep the weights' precision under autocast.
  const auto widen = [dtype](const Streams& x) {
    return Streams{x.multivectors.defined() ? x.multivectors.to(dtype) : x.multivectors,
                   x.scalars.defined() ? x.scalars.to(dtype) : x.scalars};
  };
  Streams x = widen((*in_)(input));
  for (const auto& block : blocks_) {
    x = (*block)(x, scene);
  }
  const Streams y = widen((*out_)(x));
  Named outputs = readout_(y, points, frame);
  if (training() && options.point_regulariser > 0) {
    outputs[term_of_loss] = readout_.weight_penalty(y, points) * options.point_regulariser;
  }
  return outputs;
}

Symmetry Gatr::symmetry() const {
  using Of = Claim::Of;
  Symmetry symmetry;
  const bool mirrors =
      options.reference != Reference::canonical && !embedding_.points() && !readout_.points();
  if (mirrors) {
    symmetry.exact.push_back({Of::rotoreflections, "O(3)", nullptr});
  } else {
    symmetry.exact.push_back({Of::rotations, "SO(3)", nullptr});
    symmetry.approximate.push_back({Of::rotoreflections, "O(3)", nullptr});
  }
  symmetry.exact.push_back({Of::translations, "translations", nullptr});
  if (!options.rotary && !options.axial) {
    symmetry.exact.push_back({Of::permutations, "permutations", nullptr});
  }
  return symmetry;
}

std::vector<std::string> Gatr::warnings(std::string_view differentiated_by) const {
  return warnings_of_nearest(options.nearest, "model.gatr", differentiated_by);
}

Work Gatr::work(double nodes) const {
  double forward = in_->flops() + out_->flops(), nominal = in_->nominal_flops() + out_->nominal_flops();
  for (const auto& block : blocks_) {
    forward += block->flops(nodes, object_nodes_);
    nominal += block->nominal_flops();
  }
  return {forward, 2 * forward - in_->flops(), nominal};  // the input needs no gradient
}

/// Their first map without scalars in has a bias of its own, and nothing that reads scalars. Ours reads one that is zero: its
/// bias is that of the map from scalars, whose weights count for nothing.
ForeignWeights Gatr::translated(const NamedTensors& state_dict, const ForeignRecord& /*record*/) const {
  NamedTensors ours = translated_names(state_dict, options);
  const auto alone = ours.find("linear_in.bias");
  if (alone == ours.end() || embedding_.reads_scalars()) {
    return {ours};
  }
  const Tensor bias = alone->second.flatten();
  ours.erase(alone);
  ours["linear_in.s2mvs.weight"] = at::zeros({bias.size(0), 1}, bias.options());
  ours["linear_in.s2mvs.bias"] = bias;
  if (const auto out = ours.find("linear_in.mvs2s.bias"); out != ours.end()) {
    ours["linear_in.s2s.weight"] = at::zeros({out->second.numel(), 1}, bias.options());
  }
  return {ours};
}

}  // namespace weyl::gatr
