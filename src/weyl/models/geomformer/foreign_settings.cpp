#include "weyl/models/geomformer/foreign_settings.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "weyl/core/check.h"

namespace weyl::geomformer {
namespace {

/// Cut-offs are stored in 32 bits and written in decimals.
bool same_number(double a, double b) {
  return std::abs(a - b) <= 1e-5 * std::max(std::abs(a), std::abs(b));
}

/// The settings of a file, each compared with what the model has.
class Comparison {
 public:
  explicit Comparison(const Settings& settings) : settings_(settings) {}

  void number(const char* key, double ours, const char* option) const {
    if (const Setting* theirs = find(key)) {
      must(theirs->kind == Setting::Kind::number && same_number(theirs->number, ours), key, *theirs, option,
           text(ours));
    }
  }
  void truth(const char* key, bool ours, const char* option) const {
    if (const Setting* theirs = find(key)) {
      must(theirs->kind == Setting::Kind::boolean && (theirs->number != 0) == ours, key, *theirs, option,
           ours ? "true" : "false");
    }
  }
  /// One of several words is ours. None and "none" are one.
  void word(const char* key, std::initializer_list<std::string_view> ours, const char* what) const {
    if (const Setting* theirs = find(key)) {
      const std::string said = text_of(*theirs);
      must(theirs->kind != Setting::Kind::other && std::find(ours.begin(), ours.end(), said) != ours.end(),
           key, *theirs, what, std::string(*ours.begin()));
    }
  }
  const Setting* find(const char* key) const {
    const auto found = settings_.find(key);
    return found == settings_.end() ? nullptr : &found->second;
  }

 private:
  static void must(bool holds, const char* key, const Setting& theirs, const char* what,
                   const std::string& ours) {
    require<DataError>(holds, "hyper_parameters: '", key, "' is ", text_of(theirs), ", ", what, " is ", ours);
  }
  const Settings& settings_;
};

}  // namespace

void require_torchmd_settings(const Options& o, const Interface& interface, const Settings& settings) {
  if (settings.empty()) {
    return;
  }
  const Comparison they(settings);
  they.word("model", {"equivariant-transformer"}, "that of the config's preset et");
  they.number("embedding_dimension", static_cast<double>(o.width), "the config's model.geomformer.width");
  they.number("num_layers", static_cast<double>(o.blocks), "the config's model.geomformer.blocks");
  they.number("num_heads", static_cast<double>(o.heads), "the config's model.geomformer.heads");
  they.number("num_rbf", static_cast<double>(o.kernels), "the config's model.geomformer.kernels");
  const bool gaussian = o.basis == Basis::gaussian;
  they.word("rbf_type", {gaussian ? "gauss" : "expnorm"},
            gaussian ? "that of the config's model.geomformer.basis (gaussian)"
                     : "that of the config's model.geomformer.basis (exp_normal)");
  const CutoffOptions cutoff = o.cutoff.value_or(CutoffOptions{});
  they.number("cutoff_lower", cutoff.lower, "the config's model.geomformer.cutoff.lower");
  they.number("cutoff_upper", cutoff.radius, "the config's model.geomformer.cutoff.radius");
  require<DataError>(
      cutoff.name == CutoffLaw::cosine, "hyper_parameters: TorchMD-Net's cut-off is cosine, the ",
      "config's model.geomformer.cutoff.name is ", names_of(cutoff.name)[static_cast<size_t>(cutoff.name)]);
  require<DataError>(
      they.find("vector_cutoff") != nullptr || they.find("model") == nullptr || !o.vector_cutoff,
      "hyper_parameters: 'vector_cutoff' is absent, which TorchMD-Net takes for false, the config's "
      "model.geomformer.vector_cutoff is true");
  they.truth("vector_cutoff", o.vector_cutoff, "the config's model.geomformer.vector_cutoff");
  they.truth("neighbor_embedding", o.neighbour_embedding,
             "the config's model.geomformer.neighbour_embedding");
  they.number("max_z", static_cast<double>(interface.types), "the number of types of the config's data");
  // What has no option: the preset's own.
  they.word("activation", {"silu", "swish"}, "that of preset et");
  they.word("attn_activation", {"silu", "swish"}, "that of preset et");
  they.word("distance_influence", {"both"}, "that of preset et");
  they.word("prior_model", {"none", "None", ""}, "what can be imported");
  if (interface.outputs.empty()) {
    return;
  }
  const Quantity& output = interface.outputs[0];
  if (output.level != Level::graph) {
    return;
  }
  const bool vector = output.kind == Kind::vector;
  they.word("output_model", {vector ? "VectorOutput" : "Scalar"}, "that of the config's output");
  if (output.extensive) {
    they.word("reduce_op", {"add", "sum"}, "that of the config's output (a sum over atoms)");
  } else if (o.pooling == Pooling::mean) {
    they.word("reduce_op", {"mean"}, "that of the config's output (not extensive, pooling mean)");
  } else if (const Setting* reduce = they.find("reduce_op")) {
    throw DataError(text("hyper_parameters: 'reduce_op' is ", text_of(*reduce),
                         ", the config's output is a sum over atoms divided by typical_nodes (pooling sum)"));
  }
}

void require_schnetpack_cutoff(const Options& o, double cutoff) {
  require<DataError>(o.cutoff && same_number(o.cutoff->radius, cutoff),
                     "tensor 'representation.cutoff_fn.cutoff' is ", cutoff,
                     ", the config's model.geomformer.cutoff.radius is ", o.cutoff ? o.cutoff->radius : 0);
}

std::vector<bool> trained_types(const Tensor& embedding, const Interface& interface,
                                const ForeignRecord& record) {
  if (embedding.dim() != 2) {
    return {};  // refused by its shape
  }
  const Tensor moved = embedding.ne(0).any(1).contiguous();
  std::vector<bool> trained(static_cast<size_t>(moved.numel()));
  for (size_t i = 0; i < trained.size(); ++i) {
    trained[i] = moved.const_data_ptr<bool>()[i] &&
                 (record.trained_rows.size() != trained.size() || record.trained_rows[i]);
  }
  if (record.settings.contains("max_z") && !interface.elements.empty() && !trained.empty()) {
    trained[0] = false;
  }
  const bool all = std::find(trained.begin(), trained.end(), false) == trained.end();
  const bool none = std::find(trained.begin(), trained.end(), true) == trained.end();
  return all || none ? std::vector<bool>() : trained;
}

}  // namespace weyl::geomformer
