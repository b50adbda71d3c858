#include "weyl/models/platonic/readout.h"

#include "weyl/core/check.h"
#include "weyl/models/features.h"
#include "weyl/models/platonic/lift.h"
#include "weyl/nn/pooling.h"

namespace weyl::platonic {
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
  if (plan_.rows == Rows::graph_sum || plan_.rows == Rows::object_sum) {
    values = sum_nodes(values, plan_.rows == Rows::graph_sum ? points.graphs : points.objects);
  }
  int64_t column = 0;
  for (const auto& q : plan_.outputs) {
    outputs[q.name] = values.narrow(1, column, q.channels);
    column += q.channels;
  }
}

}  // namespace weyl::platonic
