#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weyl/config/fields.h"
#include "weyl/nn/activation.h"
#include "weyl/nn/drop_path.h"
#include "weyl/nn/pooling.h"

namespace weyl {

struct Interface;

}  // namespace weyl

namespace weyl::transformer {

struct FourierOptions {
  int64_t frequencies = 128;
  double sigma = 0.1;
};
void fields(Fields& f, FourierOptions& o);

struct Options {
  static constexpr const char* name_in_config = "transformer";
  int64_t width = 128, heads = 8, blocks = 4;
  std::optional<int64_t> head_width;
  bool multi_query = false;
  int64_t hidden_factor = 2;
  Activation activation = Activation::gelu;
  std::optional<FourierOptions> fourier;
  bool centre = true;
  double dropout = 0, drop_path = 0;
  DropPathBy drop_path_by = DropPathBy::graph;
  Pooling pooling = Pooling::sum;
};
void fields(Fields& f, Options& o);

/// ConfigError for an option that nothing reads as the others stand (config/idle.h). `interface`: the model's, null
/// where it is not known yet.
void require_effects(const Options& options, const Interface* interface);

/// Reads positions, and no option keeps it from that (models/system_options.h).
inline std::string blinding(const Options&) {
  return "";
}

}  // namespace weyl::transformer
