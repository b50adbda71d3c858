#include "weyl/models/geomformer/import_names.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "weyl/core/check.h"
#include "weyl/models/geomformer/foreign_settings.h"

namespace weyl::geomformer {
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
