#include "weyl/models/geomformer/import_names.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <algorithm>
#include <cmath>
#include <span>
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

namespace {

struct Rename {
  std::string_view theirs, ours;
};

/// The name with the first rule whose left side it begins with applied; as it is when none does.
std::string renamed(const std::string& name, std::span<const Rename> rules) {
  for (const Rename& rule : rules) {
    if (name.starts_with(rule.theirs)) {
      return std::string(rule.ours) + name.substr(rule.theirs.size());
    }
  }
  return name;
}

void replace(std::string& name, std::string_view from, std::string_view to) {
  if (const auto at = name.find(from); at != std::string::npos) {
    name.replace(at, from.size(), to);
  }
}

/// Rows (H, 3, h) -> (3, H, h).
Tensor part_by_part(const std::string& name, const Tensor& x, int64_t heads) {
  require<DataError>(x.dim() >= 1 && x.size(0) % (3 * heads) == 0, "tensor '", name,
                     "' must have a multiple of ", 3 * heads, " rows, got ", x.sizes());
  const Tensor rows = x.reshape({heads, 3, x.size(0) / (3 * heads), -1}).transpose(0, 1);
  return rows.reshape(x.sizes());
}

/// Rows (3, F): the second and third F change places.
Tensor swapped_parts(const std::string& name, const Tensor& x) {
  require<DataError>(x.dim() >= 1 && x.size(0) % 3 == 0, "tensor '", name,
                     "' must have a multiple of 3 rows, got ", x.sizes());
  const auto parts = x.chunk(3, 0);
  return at::cat({parts[0], parts[2], parts[1]}, 0);
}

/// A buffer that holds one number.
double number_in(const std::string& name, const Tensor& x) {
  require<DataError>(x.numel() == 1 && x.is_floating_point(), "tensor '", name, "' must be one number, got ",
                     x.scalar_type(), " ", x.sizes());
  const auto number = x.item<double>();
  require<DataError>(std::isfinite(number), "tensor '", name, "' must be finite, got ", number);
  return number;
}

ForeignWeights from_torchmd(const Options& options, const std::string& output, const NamedTensors& tensors) {
  const std::string head = "head." + output + ".";
  const Rename rules[] = {{"representation_model.embedding.", "start.embedding."},
                          {"representation_model.distance_expansion.", "geometry.radial."},
                          {"representation_model.neighbor_embedding.", "start.neighbours."},
                          {"representation_model.attention_layers.", "layers."},
                          {"representation_model.out_norm.", "norm."},
                          {"output_model.output_network.", head}};
  NamedTensors result;
  double mean = 0, std = 1;
  for (const auto& [given, tensor] : tensors) {
    const std::string theirs = given.starts_with("model.") ? given.substr(6) : given;
    if (theirs == "mean" || theirs == "std") {
      (theirs == "mean" ? mean : std) = number_in(given, tensor);
      continue;
    }
    if (theirs == "representation_model.distance.box") {
      continue;  // a default cell
    }
    std::string ours = renamed(theirs, rules);
    if (ours.starts_with("layers.")) {
      replace(ours, ".layernorm.", ".inv_norm.");
      for (const char* map : {"q_proj", "k_proj", "v_proj", "o_proj", "vec_proj", "dk_proj", "dv_proj"}) {
        replace(ours, text(".", map, "."), text(".messages.", map, "."));
      }
    }
    replace(ours, "update_net.layers.", "update_net.");
    const bool by_head =
        ours.find(".v_proj.") != std::string::npos || ours.find(".dv_proj.") != std::string::npos;
    result[ours] = by_head ? part_by_part(given, tensor, options.heads) : tensor;
  }
  for (const char* last : {"1.update_net.2.weight", "1.update_net.2.bias"}) {
    if (const auto found = result.find(head + last); found != result.end() && std != 1) {
      const int64_t outputs = found->second.size(0) / 2;  // numbers before gates
      found->second =
          at::cat({found->second.narrow(0, 0, outputs) * std, found->second.narrow(0, outputs, outputs)});
    }
  }
  return {std::move(result), mean};
}

NamedTensors from_schnetpack(const Options& options, const std::string& output, const NamedTensors& tensors) {
  const Rename rules[] = {
      {"representation.embedding.", "start.embedding."}, {"representation.radial_basis.", "geometry.radial."},
      {"representation.interactions.", "layers."},       {"representation.mixing.", "layers."},
      {"output_modules.0.outnet.0.", "head.OUT.mlp.0."}, {"output_modules.0.outnet.1.", "head.OUT.mlp.2."}};
  NamedTensors result;
  for (const auto& [given, tensor] : tensors) {
    std::string ours = renamed(given, rules);
    replace(ours, "head.OUT.", "head." + output + ".");
    if (ours == "representation.cutoff_fn.cutoff") {
      require_schnetpack_cutoff(options, number_in(given, tensor));
      continue;
    }
    for (const char* what : {"weight", "bias"}) {
      if (ours != text("representation.filter_net.", what)) {
        continue;
      }
      const auto layers = tensor.chunk(options.blocks, 0);
      for (size_t i = 0; i < layers.size(); ++i) {
        result[text("layers.", i, ".messages.dv_proj.", what)] = swapped_parts(given, layers[i]);
      }
    }
    if (ours.starts_with("representation.filter_net.")) {
      continue;
    }
    const bool values = ours.find(".interatomic_context_net.1.") != std::string::npos;
    replace(ours, "interatomic_context_net.0.", "messages.values.0.");
    replace(ours, "interatomic_context_net.1.", "messages.values.2.");
    replace(ours, "intraatomic_context_net.0.", "mixing.mlp.0.");
    replace(ours, "intraatomic_context_net.1.", "mixing.mlp.2.");
    replace(ours, "mu_channel_mix.", "mixing.vectors.");
    result[ours] = values ? swapped_parts(given, tensor) : tensor;
  }
  return result;
}

bool holds(const NamedTensors& tensors, std::string_view part) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const auto& entry) { return entry.first.find(part) != std::string::npos; });
}

}  // namespace

ForeignWeights translated_names(const Options& options, const Interface& interface,
                                const NamedTensors& tensors, const ForeignRecord& record) {
  const std::string output = interface.outputs.empty() ? "" : interface.outputs[0].name;
  ForeignWeights weights{tensors};
  if (options.preset == Preset::et && holds(tensors, "representation_model.")) {
    require_torchmd_settings(options, interface, record.settings);
    weights = from_torchmd(options, output, tensors);
  } else if (options.preset == Preset::painn && holds(tensors, "representation.")) {
    weights = {from_schnetpack(options, output, tensors)};
  } else {
    return weights;
  }
  if (const auto table = weights.tensors.find("start.embedding.weight"); table != weights.tensors.end()) {
    weights.trained = trained_types(table->second, interface, record);
  }
  return weights;
}

}  // namespace weyl::geomformer
