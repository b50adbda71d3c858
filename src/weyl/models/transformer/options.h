#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weyl/config/fields.h"
#include "weyl/models/shared_options.h"
#include "weyl/nn/activation.h"
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
  std::optional<double> size;  // of the scaling study: sets what options_of_size says
  std::string beside_size;     // a key that a config gives beside it
  int64_t width = 128, heads = 8, blocks = 4;
  std::optional<int64_t> head_width;
  std::optional<double> rotary;
  bool multi_query = false;
  AttentionScope attention = AttentionScope::global;
  int64_t nearest = 0;  // nodes that one attends to; 0: all
  int64_t hidden_factor = 2;
  Activation activation = Activation::gelu;
  std::optional<FourierOptions> fourier;
  bool centre = true;
  double dropout = 0, drop_path = 0;
  Pooling pooling = Pooling::sum;
};
void fields(Fields& f, Options& o);

/// The model of size n of the scaling study ("Does equivariance matter at scale?", table 1), where n is a whole number or
/// a half more: 2n blocks, 2n heads, width 64n, queries, keys and values 64 wide, one key and value head for all, hidden
/// width 128n. The other options are as by default.
Options options_of_size(double n);

/// Width of a query, key and value: head_width, or width / heads, with `rotary` rounded up to an even number of at least 16, as
/// the authors have it.
int64_t head_width_of(const Options& options);

/// ConfigError: a size that is no multiple of 1/2; width, heads, blocks, head_width or hidden_factor beside it, or a
/// multi_query that contradicts it; heads that do not divide the width, an odd number of them or `nearest` with hierarchical attention;
/// an odd head_width with rotary.
void check(const Options& options);

/// ConfigError for an option that nothing reads as the others stand (config/unused_options.h). `interface`: the model's, null
/// where it is not known yet.
void require_effects(const Options& options, const Interface* interface);

/// Reads positions, and no option keeps it from that (models/system_options.h).
inline std::string blinding(const Options&) {
  return "";
}

/// What must be otherwise for data without objects, a key and its value; empty: nothing.
std::string must_without_objects(const Options& options);

}  // namespace weyl::transformer
