#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"
#include "weyl/core/check.h"

namespace weyl {

/// What others call the keys that most systems have: `width`, `heads` and `blocks`, where the table has them.
inline void also_called_as_usual(Fields& f) {
  f.also_called("width",
                {"d_model", "embed_dim", "embedding_dim", "embedding_dimension", "hidden_size", "n_embd"});
  f.also_called("heads",
                {"num_heads", "n_heads", "n_head", "nhead", "attention_heads", "num_attention_heads"});
  f.also_called("blocks", {"n_layers", "num_layers", "n_layer", "layers", "depth", "n_blocks", "num_blocks"});
}

/// What a head attends to: every node of the graph; or, hierarchical, half of the heads only the nodes of the node's own
/// object (ops/attention/attention.h).
enum class AttentionScope { global, hierarchical };
constexpr auto names_of(AttentionScope) {
  return std::array<std::string_view, 2>{"global", "hierarchical"};
}

/// How many of the other nodes a node attends to (models/features.h); 0: all.
inline void nearest_field(Fields& f, int64_t& nearest) {
  f("nearest", nearest,
    "a node attends to itself and to so many of the others alone, those nearest to it (and those as near as the last of "
    "them); 0: to all of its graph. Of very many nodes, whose time and memory then grow with their number",
    {0, 1e6});
}

/// Whether a model of this interface pools nodes: for outputs of graphs that do not grow with them (extensive ones are
/// summed). Null, an interface that is not known yet: it may.
inline bool pools_nodes(const Interface* interface) {
  return interface == nullptr || std::ranges::any_of(interface->outputs, [](const Quantity& q) {
           return q.level == Level::graph && !q.extensive;
         });
}

/// What keeps an option named `pooling` from being read otherwise (config/unused_options.h).
constexpr const char* without_pooling = "where every output is of nodes or extensive";

/// The keys of a system that `size`, the scaling study's n, decides ("Does equivariance matter at scale?", table 1): where
/// there is a size they are off in a config, read and written, so that whoever writes one beside it is told.
class LeftToSize {
 public:
  /// `beside` keeps the first key that a config gives beside a size; empty: none.
  LeftToSize(Fields& f, bool sized, std::string& beside) : f_(f), sized_(sized), beside_(beside) {}

  template <class T>
  void operator()(std::string_view key, T& value, std::string_view help, Range range) {
    if (!sized_) {
      f_(key, value, help, range);
      return;
    }
    std::optional<int64_t> given;
    f_(key, given, help, range);
    if (given && beside_.empty()) {
      beside_ = key;
    }
  }

 private:
  Fields& f_;
  bool sized_;
  std::string& beside_;
};

/// ConfigError where `beside` names a key. `table`: "model.gatr".
template <class Size>
void require_left_to_size(std::string_view table, const Size& size, const std::string& beside) {
  require<ConfigError>(!size || beside.empty(), table, ".", beside, ": must be left out beside ", table,
                       ".size, which decides it, got both");
}

}  // namespace weyl
