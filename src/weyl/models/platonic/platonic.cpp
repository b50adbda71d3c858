#include "weyl/models/platonic/platonic.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/models/platonic/options.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/autograd/recompute.h"

namespace weyl::platonic {
namespace {

/// Buffers of the authors' Platonic modules that hold the group itself.
bool is_group_table(std::string_view name) {
  const auto last = name.substr(name.rfind('.') + 1);
  return last == "cayley_table" || last == "inverse_indices" || last == "group_elements";
}

/// True for a tensor of a readout that the model lacks and that gives no output: its last kernel has no rows.
bool is_dead_readout(const std::string& name, const NamedTensors& tensors,
                     const std::set<std::string>& known) {
  for (const std::string head : {"scalar_readout.", "vector_readout."}) {
    const auto first_known = known.lower_bound(head);
    const bool built = first_known != known.end() && first_known->starts_with(head);
    if (!name.starts_with(head) || built) {
      continue;
    }
    for (const char* last : {"2.kernel", "kernel"}) {
      const auto kernel = tensors.find(head + last);
      if (kernel != tensors.end()) {
        return kernel->second.dim() == 3 && kernel->second.size(1) == 0;
      }
    }
  }
  return false;
}

}  // namespace

NamedTensors translated_names(const NamedTensors& state_dict, const Module& model) {
  std::set<std::string> known;
  for (const auto& p : model.parameters()) {
    known.insert(p.name);
  }
  NamedTensors result;
  for (const auto& [name, tensor] : state_dict) {
    if (!is_group_table(name) && !is_dead_readout(name, state_dict, known)) {
      result.emplace(name, tensor);
    }
  }
  return result;
}

namespace {

bool equal_elements(const FiniteGroup& a, const FiniteGroup& b) {
  bool equal = a.order() == b.order();
  for (int64_t g = 0; equal && g < a.order(); ++g) {
    equal = std::ranges::equal(a.element(g), b.element(g));
  }
  return equal;
}

}  // namespace

Platonic::Platonic(const Options& given, const Interface& interface)
    : PointsModel(interface),
      options(resolved(given, interface)),
      tables_(std::make_shared<GroupTables>(frames_of(options, interface.dimension))) {
  const int64_t order = tables_->group().order();
  require<ConfigError>(options.width % order == 0, "model.platonic.width: must be a multiple of the order ",
                       order, " of ", tables_->group().name(), ", got ", options.width);
  if (options.ape) {
    ape_ = child("ape", std::make_shared<FrameApe>(*options.ape, options.width / order, interface.dimension));
  }
  InputColumns columns = input_columns(interface, "platonic");
  if (columns.scalar_count() + columns.vector_count() == 0) {
    columns.scalars.push_back(false);  // the constant scalar
  }
  if (options.position_vector == PositionVector::on) {
    columns.vectors.push_back(false);
  }
  embedder_ = child("x_embedder",
                    std::make_shared<Embedder>(tables_, std::move(columns), options.width, options.linear));
  for (int64_t i = 0; i < options.blocks; ++i) {
    Options of_block = options;
    if (options.drop_path_grows) {
      of_block.drop_path *= static_cast<double>(i) / static_cast<double>(options.blocks - 1);
    }
    blocks_.push_back(child("layers." + std::to_string(i), std::make_shared<FrameBlock>(of_block, tables_)));
  }
  for (auto& plan : plan_readouts(interface, options)) {
    readouts_.emplace_back(std::move(plan), options, tables_);
    child(readouts_.back().plan().name, readouts_.back().module());
  }
}

Tensor Platonic::recomputed(const std::shared_ptr<FrameBlock>& block, const Tensor& x,
                            const FrameInput& input) const {
  Tensors weights;
  for (const Parameter& parameter : block->parameters()) {
    weights.push_back(parameter.tensor);
  }
  const auto again = [block, graphs = input.graphs, nodes = input.typical_nodes, nearest = input.nearest](
                         const Tensors& of) { return (*block)(of[0], {of[1], graphs, nodes, nearest}); };
  return weyl::recomputed(again, {x, input.positions}, weights);
}

Tensor Platonic::pooled(const Tensor& trunk, const Segments& graphs) const {
  switch (options.pooling) {
    case FramePooling::sum:
      return pool_nodes(trunk, graphs, Pooling::sum, interface.typical_nodes);
    case FramePooling::mean:
      return pool_nodes(trunk, graphs, Pooling::mean, interface.typical_nodes);
    case FramePooling::authors_sum:
      return pool_nodes(trunk, graphs, Pooling::sum, interface.typical_nodes) / interface.typical_nodes;
    case FramePooling::total:
      return pool_nodes(trunk, graphs, Pooling::sum, 1);
    case FramePooling::authors_mean:
      return pool_nodes(trunk, graphs, Pooling::mean, interface.typical_nodes) / interface.typical_nodes;
  }
  return {};
}

Named Platonic::forward(const Points& points) {
  const auto dtype = points.positions.scalar_type();
  auto [scalars, vectors] = input_values(points, interface);
  if (!scalars.defined() && !vectors.defined()) {
    scalars = at::ones({points.nodes(), 1}, points.positions.options());
  }
  const FrameInput input{options.centre ? centred_positions(points, interface) : points.positions,
                         points.graphs, interface.typical_nodes,
                         nearest_of(points, options.nearest, "model.platonic")};
  if (options.position_vector == PositionVector::on) {
    const Tensor position = input.positions.unsqueeze(1);
    vectors = vectors.defined() ? at::cat({vectors, position}, 1) : position;
  }
  // The residual stream keeps the weights' precision under autocast.
  Tensor x = embedder_->embedded(scalars, vectors).to(dtype);
  if (ape_) {
    x = x + (*ape_)(input.positions, *tables_).to(dtype);
  }
  for (const auto& block : blocks_) {
    x = options.recompute && training() ? recomputed(block, x, input) : (*block)(x, input);
  }
  Named outputs;
  Tensor of_graphs, of_objects;
  for (const auto& readout : readouts_) {
    const ReadoutPlan::Rows rows = readout.plan().rows;
    if (rows == ReadoutPlan::Rows::graph && !of_graphs.defined()) {
      of_graphs = pooled(x, points.graphs);
    }
    if (rows == ReadoutPlan::Rows::object && !of_objects.defined()) {
      of_objects = pool_nodes(x, points.objects, Pooling::mean, interface.typical_nodes);
    }
    readout(rows == ReadoutPlan::Rows::graph    ? of_graphs
            : rows == ReadoutPlan::Rows::object ? of_objects
                                                : x,
            points, dtype, outputs);
  }
  return outputs;
}

Symmetry Platonic::symmetry() const {
  using Of = Claim::Of;
  const auto& group = tables_->group_ptr();
  Symmetry symmetry;
  // Rounded tables close under products to 1e-8 only: then the group is no exact claim.
  auto exact_options = options;
  exact_options.authors_tables = false;
  const GroupPtr true_group = options.authors_tables ? frames_of(exact_options, group->dimension()) : group;
  auto& claims = equal_elements(*group, *true_group) ? symmetry.exact : symmetry.approximate;
  claims.push_back({Of::finite, group->name(), true_group});
  if (options.centre || !(options.ape || options.position_vector == PositionVector::on)) {
    symmetry.exact.push_back({Of::translations, "translations", nullptr});
  }
  symmetry.exact.push_back({Of::permutations, "permutations", nullptr});
  const auto dimension = std::to_string(group->dimension());
  if (group->has_reflections()) {
    symmetry.approximate.push_back({Of::rotoreflections, "O(" + dimension + ")", nullptr});
  } else {
    symmetry.approximate.push_back({Of::rotations, "SO(" + dimension + ")", nullptr});
  }
  return symmetry;
}

// How many objects a graph has is not known: theirs count as one a graph.
double Platonic::rows_of_token(const Readout& readout, double nodes) const {
  const ReadoutPlan::Rows rows = readout.plan().rows;
  const bool pooled = rows == ReadoutPlan::Rows::graph || rows == ReadoutPlan::Rows::object;
  return pooled ? 1 / nodes : 1;
}

std::vector<std::string> Platonic::warnings(std::string_view differentiated_by) const {
  return warnings_of_nearest(options.nearest, "model.platonic", differentiated_by);
}

Work Platonic::work_by(LinearForm form, double nodes) const {
  const auto dimension = static_cast<double>(interface.dimension);
  const double angles = dimension * static_cast<double>(options.width) / 2;  // of positions and frequencies
  // A vector back from all frames.
  const double turns = static_cast<double>(tables_->group().order()) * dimension * dimension;
  constexpr LinearForm counted = LinearForm::dense;  // by the convention of nominal operations
  double linear = embedder_->work(counted).forward;
  Work work = embedder_->work_of_token(form);
  if (options.ape) {
    work += Work::product(angles, options.ape->learned ? 1 : 0);
  }
  for (const auto& block : blocks_) {
    // Of linear attention its products too, which are of a token's own.
    linear += block->work(0, counted).forward;
    work += block->work(nodes, form);
    if (options.rope) {
      work += Work::product(angles, options.rope->learned ? 1 : 0);
    }
  }
  for (const auto& readout : readouts_) {
    const ReadoutPlan& plan = readout.plan();
    if (!plan.outputs.empty()) {
      const double vectors = plan.vectors ? static_cast<double>(plan.channels()) : 0;
      const double rows = rows_of_token(readout, nodes);
      linear += rows * readout.work(counted).forward;
      work += rows * (readout.work(form) + Work::product(turns * vectors, 1));
    }
  }
  work.nominal = 3 * linear;  // every frame uses the weights
  return work;
}

ForeignWeights Platonic::translated(const NamedTensors& state_dict, const ForeignRecord& /*record*/) const {
  return {translated_names(state_dict, *this)};
}

}  // namespace weyl::platonic
