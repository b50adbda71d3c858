#include "weyl/models/platonic/embedding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <algorithm>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/models/features.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/frames/fourier_tables.h"
#include "weyl/ops/frames/group_fourier.h"

namespace weyl::platonic {
namespace {

/// (G, c): det R_g in the odd columns, 1 elsewhere; undefined when no column is odd.
Tensor signs(const std::vector<bool>& odd, const GroupTables& tables, const at::TensorOptions& like) {
  if (std::find(odd.begin(), odd.end(), true) == odd.end() || !tables.group().has_reflections()) {
    return {};
  }
  const std::vector<int64_t> flags(odd.begin(), odd.end());
  const Tensor mask = constant(flags, like.device()).to(at::kBool);
  const Tensor determinants = tables.determinants(like.device(), c10::typeMetaToScalarType(like.dtype()));
  return at::where(mask.unsqueeze(0), determinants.unsqueeze(1), at::ones({1, 1}, like));
}

}  // namespace

Tensor lift(const Tensor& scalars, const Tensor& vectors, const std::vector<bool>& pseudo,
            const std::vector<bool>& axial, const GroupTables& tables) {
  const FullPrecision no_autocast;
  const int64_t order = tables.group().order(), dimension = tables.group().dimension();
  std::vector<Tensor> parts;
  if (scalars.defined()) {
    const int64_t n = scalars.size(0), s = scalars.size(1);
    Tensor lifted = scalars.unsqueeze(1).expand({n, order, s});
    if (const Tensor sign = signs(pseudo, tables, scalars.options()); sign.defined()) {
      lifted = lifted * sign;
    }
    parts.push_back(lifted);
  }
  if (vectors.defined()) {
    const int64_t n = vectors.size(0), v = vectors.size(1);
    const Tensor elements = tables.elements(vectors.device(), vectors.scalar_type());
    // u^T R_g, for all frames in one product: (N V, D) x (D, G D).
    const Tensor in_columns = elements.permute({1, 0, 2}).reshape({dimension, order * dimension});
    Tensor lifted = at::matmul(vectors.reshape({n * v, dimension}), in_columns)
                        .view({n, v, order, dimension})
                        .permute({0, 2, 1, 3});
    if (const Tensor sign = signs(axial, tables, vectors.options()); sign.defined()) {
      lifted = lifted * sign.unsqueeze(-1);
    }
    parts.push_back(lifted.reshape({n, order, v * dimension}));
  }
  const Tensor all = parts.size() == 1 ? parts[0] : at::cat(parts, 2);
  return all.reshape({all.size(0), order * all.size(2)});
}

Tensor frame_scalars(const Tensor& x, const std::vector<bool>& pseudo, const GroupTables& tables) {
  const int64_t order = tables.group().order();
  Tensor in_frames = x.view({x.size(0), order, static_cast<int64_t>(pseudo.size())});
  if (const Tensor sign = signs(pseudo, tables, x.options()); sign.defined()) {
    in_frames = in_frames * sign;
  }
  return in_frames.mean(1);
}

Tensor frame_vectors(const Tensor& x, const std::vector<bool>& axial, const GroupTables& tables) {
  const FullPrecision no_autocast;
  const int64_t order = tables.group().order(), dimension = tables.group().dimension();
  const auto n = x.size(0), v = static_cast<int64_t>(axial.size());
  Tensor in_frames = x.view({n, order, v, dimension});
  if (const Tensor sign = signs(axial, tables, x.options()); sign.defined()) {
    in_frames = in_frames * sign.unsqueeze(-1);
  }
  // sum over (g, b) of R_g[a][b] v_g[b]: (N V, G D) x (G D, D).
  const Tensor elements = tables.elements(x.device(), x.scalar_type());
  const Tensor in_rows = elements.transpose(1, 2).reshape({order * dimension, dimension});
  const Tensor together = in_frames.permute({0, 2, 1, 3}).reshape({n * v, order * dimension});
  return (at::matmul(together, in_rows) / static_cast<double>(order)).view({n, v, dimension});
}

namespace {

int64_t lifted_columns(const InputColumns& columns, const GroupTables& tables) {
  return columns.scalar_count() + columns.vector_count() * tables.group().dimension();
}

void add_runs(const std::vector<bool>& odd, bool vectors, std::vector<LiftedChannels>& runs) {
  for (size_t i = 0; i < odd.size(); ++i) {
    if (i == 0 || odd[i] != odd[i - 1]) {
      runs.push_back({vectors, odd[i], 0});
    }
    ++runs.back().channels;
  }
}

}  // namespace

Embedder::Embedder(const GroupTablesPtr& tables, InputColumns columns, int64_t width, LinearForm form)
    : GroupLinear(tables, lifted_columns(columns, *tables) * tables->group().order(), width, form,
                  /*bias=*/false),
      columns_(std::move(columns)) {
  if (form == LinearForm::spectral) {
    std::vector<LiftedChannels> runs;
    add_runs(columns_.scalars, false, runs);
    add_runs(columns_.vectors, true, runs);
    const auto lifted = std::make_shared<const LiftedFourier>(*tables, runs);
    lifted_ = lifted->exact() ? lifted : nullptr;
  }
}

Tensor Embedder::embedded(const Tensor& scalars, const Tensor& vectors) const {
  if (lifted_ == nullptr || !by_irreps()) {
    return (*this)(lift(scalars, vectors, columns_.scalars, columns_.vectors, tables()));
  }
  const auto blocks = blocks_.get(training(), kernel(), [&] { return lifted_->blocks(kernel()); });
  return rows_of_products(spectral_products(lifted_->planes(scalars, vectors), blocks), tables());
}

Work Embedder::work_of_token(LinearForm form) const {
  const auto vectors = static_cast<double>(columns_.vector_count());
  if (form != LinearForm::spectral || lifted_ == nullptr) {
    const auto dimension = static_cast<double>(tables().group().dimension());
    const double turns = static_cast<double>(tables().group().order()) * dimension * dimension;
    return work(form, 1) + Work::product(turns * vectors, 0);
  }
  const int64_t out = kernel().size(1);
  return Work::product(static_cast<double>(lifted_->multiply_adds(out)), 1) +
         Work::product(static_cast<double>(lifted_->plane_multiply_adds()), 0) +
         Work::product(static_cast<double>(tables().fourier()->multiply_adds() * out), 1);
}

void Embedder::mode_changed() {
  GroupLinear::mode_changed();
  blocks_.drop();
}

namespace {

using Rows = ReadoutPlan::Rows;

Rows readout_rows(const Quantity& q) {
  if (q.level == Level::node) {
    return Rows::node;
  }
  if (q.level == Level::object) {
    return q.extensive ? Rows::object_sum : Rows::object;
  }
  return q.extensive ? Rows::graph_sum : Rows::graph;
}

ReadoutPlan& plan_for(std::vector<ReadoutPlan>& plans, bool vectors, Rows rows) {
  constexpr const char* suffixes[] = {"_node", "_graph", "_sum", "_object", "_object_sum"};
  for (auto& plan : plans) {
    if (plan.rows == rows) {
      return plan;
    }
  }
  ReadoutPlan plan;
  plan.name = vectors ? "vector_readout" : "scalar_readout";
  if (!plans.empty()) {
    plan.name += suffixes[static_cast<int>(rows)];
  }
  plan.vectors = vectors;
  plan.rows = rows;
  plans.push_back(std::move(plan));
  return plans.back();
}

}  // namespace

std::vector<ReadoutPlan> plan_readouts(const Interface& interface, const Options& options) {
  std::vector<ReadoutPlan> scalars, vectors;
  for (const auto& q : interface.outputs) {
    const bool vector = is_vector(q.kind, interface.dimension);
    require<ConfigError>(
        q.level != Level::pair && (vector || is_number(q.kind, interface.dimension)), "platonic: output '",
        q.name, "' (", level_names[static_cast<int>(q.level)], " ", kind_names[static_cast<int>(q.kind)],
        ") is not one that this system gives: scalars and vectors of nodes, objects and graphs are");
    auto& plan = plan_for(vector ? vectors : scalars, vector, readout_rows(q));
    plan.odd.insert(plan.odd.end(), q.channels, q.kind == Kind::pseudoscalar || q.kind == Kind::axial_vector);
    plan.outputs.push_back(q);
  }
  if (options.both_readouts && scalars.empty()) {
    plan_for(scalars, false, Rows::graph);
  }
  if (options.both_readouts && vectors.empty()) {
    plan_for(vectors, true, Rows::graph);
  }
  scalars.insert(scalars.end(), vectors.begin(), vectors.end());
  return scalars;
}

Readout::Readout(ReadoutPlan plan, const Options& options, GroupTablesPtr tables)
    : plan_(std::move(plan)), tables_(std::move(tables)) {
  const int64_t numbers = plan_.channels() * (plan_.vectors ? tables_->group().dimension() : 1);
  const int64_t out = tables_->group().order() * numbers;
  if (options.ffn_readout) {
    mlp_ = std::make_shared<GroupMlp>(tables_, options.width, options.width, out, options.linear);
  } else {
    linear_ = std::make_shared<GroupLinear>(tables_, options.width, out, options.linear);
  }
}

std::shared_ptr<Module> Readout::module() const {
  return mlp_ ? std::static_pointer_cast<Module>(mlp_) : std::static_pointer_cast<Module>(linear_);
}

void Readout::operator()(const Tensor& trunk, const Points& points, at::ScalarType dtype,
                         std::map<std::string, Tensor>& outputs) const {
  if (plan_.outputs.empty()) {
    return;
  }
  const Tensor on_group = (mlp_ ? (*mlp_)(trunk) : (*linear_)(trunk)).to(dtype);
  Tensor values = plan_.vectors ? frame_vectors(on_group, plan_.odd, *tables_)
                                : frame_scalars(on_group, plan_.odd, *tables_);
  const bool summed = plan_.rows == Rows::graph_sum || plan_.rows == Rows::object_sum;
  if (summed && !points.by_node) {
    values = sum_nodes(values, plan_.rows == Rows::graph_sum ? points.graphs : points.objects);
  }
  int64_t column = 0;
  for (const auto& q : plan_.outputs) {
    outputs[q.name] = values.narrow(1, column, q.channels);
    column += q.channels;
  }
}

}  // namespace weyl::platonic
