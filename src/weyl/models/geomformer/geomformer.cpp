#include "weyl/models/geomformer/geomformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/models/geomformer/import_names.h"
#include "weyl/models/output_rows.h"

namespace weyl::geomformer {
namespace {

const Quantity* moving(const Interface& interface) {
  for (const Quantity& q : interface.outputs) {
    if (q.level == Level::node && q.kind == Kind::vector && q.channels == 1 &&
        (q.role == Role::offset || q.role == Role::point)) {
      return &q;
    }
  }
  return nullptr;
}

/// Whether a head reads the equivariant stream.
bool reads_vectors(const Options& options, const Interface& interface) {
  return options.head == Head::gated || std::any_of(interface.outputs.begin(), interface.outputs.end(),
                                                    [](const Quantity& q) { return q.kind != Kind::scalar; });
}

int64_t pair_features(const Interface& interface) {
  int64_t features = 0;
  for (const Quantity& q : interface.features) {
    features += q.level == Level::pair ? q.channels : 0;
  }
  return features;
}

/// The last block where nobody reads its vectors: without the parts that make them.
Options for_scalars(Options options) {
  options.parts.equ_self = options.parts.equ_cross = options.parts.equ_ffn = false;
  return options;
}

}  // namespace

Geomformer::Geomformer(const Options& given, const Interface& interface)
    : PointsModel(interface), options(given) {
  check(options);
  require<ConfigError>(interface.dimension == 3, "geomformer: works in 3 dimensions, the data have ",
                       interface.dimension);
  const bool scores = attends(options.interaction) && options.normaliser != Normaliser::constant;
  const InputColumns columns = input_columns(interface, "geomformer", scores);
  const auto odd = [](const std::vector<bool>& parities) {
    return std::find(parities.begin(), parities.end(), true) != parities.end();
  };
  require<ConfigError>(
      !odd(columns.scalars) && !odd(columns.vectors),
      "geomformer: reads no pseudoscalars and no axial vectors: its two streams are even under reflections");
  for (const auto& q : interface.outputs) {
    const bool number = is_number(q.kind, interface.dimension),
               vector = is_vector(q.kind, interface.dimension);
    require<ConfigError>(
        q.level != Level::pair && (number || vector || q.kind == Kind::symmetric_tensor),
        "geomformer: output '", q.name, "' (", level_names[static_cast<int>(q.level)], " ",
        kind_names[static_cast<int>(q.kind)],
        ") is not one that this system gives: scalars, vectors and symmetric tensors of nodes, objects and graphs are");
  }
  geometry_ =
      child("geometry", std::make_shared<PairGeometry>(options, std::max<int64_t>(interface.types, 1)));
  if (options.bias == BiasScope::shared) {
    bias_ = child("bias", std::make_shared<StructuralBias>(options.kernels, options.heads, options.bias_heads,
                                                           options.init));
  }
  if (const int64_t pairs = pair_features(interface); pairs > 0) {
    of_pairs_ =
        child("pair_bias", std::make_shared<Linear>(pairs, options.heads, /*bias=*/false, options.init));
  }
  if (options.towers != Towers::one) {
    require<ConfigError>(
        columns.vector_count() > 0,
        "model.geomformer.towers: a second one needs a vector feature of the nodes, the data "
        "have none");
    towers_.push_back(tower("position.", true, false));
    towers_.push_back(tower("velocity.", false, true));
  } else {
    towers_.push_back(tower("", true, true));
  }
  const int64_t width = options.width * static_cast<int64_t>(towers_.size());
  for (const auto& q : interface.outputs) {
    heads_.push_back(child("head." + q.name, std::make_shared<Output>(q, width, options)));
  }
  moved_ = moving(this->interface);
  require<ConfigError>(
      options.rounds == 1 || moved_ != nullptr,
      "model.geomformer.rounds: needs an output that moves nodes (a vector of role offset or point)");
  require<ConfigError>(
      options.rounds == 1 ||
          std::ranges::none_of(this->interface.features,
                               [](const Quantity& q) { return q.level == Level::node && q.name == "free"; }),
      "model.geomformer.rounds: must be 1, because the data have nodes that do not move (feature 'free'), "
      "and the next round would move them, got ",
      options.rounds);
}

Geomformer::Tower Geomformer::tower(const std::string& prefix, bool positions, bool features) {
  Tower made;
  made.embedding =
      child(prefix + "start", std::make_shared<Embedding>(options, interface, positions, features));
  const bool equ_read = reads_vectors(options, interface);
  for (int64_t i = 0; i < options.blocks; ++i) {
    const bool last = i + 1 == options.blocks;
    made.layers.push_back(child(prefix + "layers." + std::to_string(i),
                                std::make_shared<Block>(last && !equ_read ? for_scalars(options) : options)));
  }
  if (options.parts.inv_norm) {
    made.norm = child(prefix + "norm", std::make_shared<LayerNorm>(options.width));
  }
  if (equ_read && options.parts.equ_norm && options.norm != VectorNormLaw::none) {
    made.vector_norm =
        child(prefix + "vector_norm",
              std::make_shared<VectorNorm>(options.width, options.norm, options.rho, options.norm_epsilon));
  }
  return made;
}

StreamAttention::Streams Geomformer::run(const Points& points, const Neighbourhood& near,
                                         const Tensor& bias) const {
  std::vector<StreamAttention::Streams> streams, read(towers_.size());
  for (const Tower& tower : towers_) {
    streams.push_back((*tower.embedding)(points, interface, near));
  }
  for (size_t layer = 0; layer < towers_[0].layers.size(); ++layer) {
    for (size_t t = 0; t < towers_.size(); ++t) {
      read[t] = towers_[t].layers[layer]->normed(streams[t]);
    }
    const Tensor joined =
        options.towers == Towers::joined ? at::cat({read[0].equ, read[1].equ}, -1) : Tensor();
    for (size_t t = 0; t < towers_.size(); ++t) {
      const Block& block = *towers_[t].layers[layer];
      streams[t] = block(streams[t], read[t], joined, points.graphs, near, bias);
    }
  }
  for (size_t t = 0; t < towers_.size(); ++t) {
    const auto& [inv, equ] = streams[t];
    const Tower& tower = towers_[t];
    streams[t] = {tower.norm ? (*tower.norm)(inv) : inv, tower.vector_norm ? (*tower.vector_norm)(equ) : equ};
  }
  return towers_.size() == 1 ? streams[0]
                             : StreamAttention::Streams{at::cat({streams[0].inv, streams[1].inv}, -1),
                                                        at::cat({streams[0].equ, streams[1].equ}, -1)};
}

Named Geomformer::once(const Points& points) const {
  const Neighbourhood near = (*geometry_)(points);
  Tensor bias = bias_ ? (*bias_)(near) : Tensor();
  if (of_pairs_) {
    const Tensor of_pairs = (*of_pairs_)(pairs_of_edges(points.pairs, points.graphs, near));
    bias = bias.defined() ? bias + of_pairs : of_pairs;
  }
  const StreamAttention::Streams streams = run(points, near, bias);
  Named outputs;
  for (size_t i = 0; i < heads_.size(); ++i) {
    const Quantity& q = interface.outputs[i];
    const Tensor value = (*heads_[i])(streams);
    outputs[q.name] = output_rows(value, q, points, options.pooling, interface.typical_nodes);
  }
  return outputs;
}

Named Geomformer::forward(const Points& points) {
  Named outputs = once(points);
  Points moved = points;
  for (int64_t round = 1; round < options.rounds; ++round) {
    const Tensor offset = outputs.at(moved_->name);
    moved.positions = points.positions + offset.squeeze(1);
    outputs = once(moved);
    outputs[moved_->name] = outputs.at(moved_->name) + offset;
  }
  return outputs;
}

std::optional<BondGradient> Geomformer::bond_gradient(const Input& input, const Tensor& counts) {
  if (training() || UseReferences::active() || WithoutBondGradients::active()) {
    return {};
  }
  const auto asks = [](const Parameter& p) { return p.tensor.requires_grad(); };
  if (at::GradMode::is_enabled() && std::ranges::any_of(parameters(), asks)) {
    return {};  // a plan has copies of weights, which may change while they ask for gradients (nn/derived.h)
  }
  const at::NoGradGuard values_alone;
  const auto plan = plan_.get(training(), {}, [&] { return message_plan(options, interface, parameters()); });
  if (plan == nullptr) {
    return {};
  }
  const Points& points = checked(input);
  return plan->takes(points)
             ? std::optional((*plan)(points, towers_[0].embedding->of_features(points, interface), counts))
             : std::nullopt;
}

Symmetry Geomformer::symmetry() const {
  using Of = Claim::Of;
  Symmetry symmetry;
  symmetry.exact = {{Of::rotoreflections, "O(3)", nullptr},
                    {Of::translations, "translations", nullptr},
                    {Of::permutations, "permutations", nullptr}};
  return symmetry;
}

Work Geomformer::work_of_biases(const Around& around) const {
  Work work = bias_ ? bias_->work(around) : Work();
  if (of_pairs_) {
    const auto features = static_cast<double>(pair_features(interface));
    work += around.edges * Work::product(features * static_cast<double>(options.heads), 1);
  }
  for (const auto& tower : towers_) {
    for (const auto& layer : tower.layers) {
      work += layer->work_of_bias(around);
    }
  }
  return work;
}

Work Geomformer::work(double nodes) const {
  const Around around = geometry_->around(nodes);
  const Work biases = work_of_biases(around);
  Work work = biases;
  for (const auto& tower : towers_) {
    work += tower.embedding->work(around);
    bool equ_learns = tower.embedding->gives_vectors();
    for (const auto& layer : tower.layers) {
      work += layer->work(around, equ_learns);
      equ_learns = true;
    }
  }
  for (const auto& head : heads_) {
    work += head->work();
  }
  const auto rounds = static_cast<double>(options.rounds);
  work = rounds * work;
  // Budgets have always been counted without the network of the bias, and stay what they are.
  work.nominal = 3 * (work.forward - rounds * biases.forward);
  return work;
}

std::vector<int64_t> Geomformer::edges(const Points& points) const {
  return geometry_->edges(points);
}

std::optional<double> Geomformer::reach() const {
  if (!periodic() || options.rounds > 1) {
    return {};
  }
  const bool starts_with_neighbours =
      options.neighbour_embedding || options.pair_embedding || uses_neighbours(options.input);
  // Cross-attention reads the vectors that self-attention has just changed, but for those that nobody reads at the end.
  const bool twice = attends(options.interaction) && options.order == Order::sequential;
  const int64_t again = twice ? options.blocks - (reads_vectors(options, interface) ? 0 : 1) : 0;
  return static_cast<double>((starts_with_neighbours ? 1 : 0) + options.blocks + again) *
         options.cutoff->radius;
}

std::vector<std::string> Geomformer::warnings(std::string_view differentiated_by) const {
  if (differentiated_by.empty() || options.norm != VectorNormLaw::whiten || options.rho == 1) {
    return {};
  }
  return {text(
      "model.geomformer.norm = \"whiten\" with ", differentiated_by,
      ": every layer amplifies what is out of the plane of flat molecules, and the derivatives of the energy "
      "with it; norm = \"rms\" does not")};
}

ForeignWeights Geomformer::translated(const NamedTensors& state_dict, const ForeignRecord& record) const {
  return translated_names(options, interface, state_dict, record);
}

}  // namespace weyl::geomformer
