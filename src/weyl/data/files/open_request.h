#pragma once

#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/data/options.h"

namespace weyl {

/// What `open_file` (open.h) was asked for.
struct OpenRequest {
  std::string path;
  DataOptions options;                   // of the data set that is asked for
  const Interface* interface = nullptr;  // what a model is told, or the config; null: whatever there is
  Values values = Values::checked;
  Keep keep = Keep::in_memory;
};

/// The features of a path must be those of the request's interface, if it has one, in their order: DataError.
void require_features(const OpenRequest& request, const Schema& found);

}  // namespace weyl
