#include "weyl/models/gatr/import_names.h"

#include <string>

#include "weyl/core/check.h"

namespace weyl::gatr {

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

}  // namespace weyl::gatr
