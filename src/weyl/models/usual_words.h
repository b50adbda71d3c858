#pragma once

#include "weyl/config/fields.h"

namespace weyl {

/// What others call the keys that most systems have: `width`, `heads` and `blocks`, where the table has them.
inline void also_called_as_usual(Fields& f) {
  f.also_called("width",
                {"d_model", "embed_dim", "embedding_dim", "embedding_dimension", "hidden_size", "n_embd"});
  f.also_called("heads",
                {"num_heads", "n_heads", "n_head", "nhead", "attention_heads", "num_attention_heads"});
  f.also_called("blocks", {"n_layers", "num_layers", "n_layer", "layers", "depth", "n_blocks", "num_blocks"});
}

}  // namespace weyl
