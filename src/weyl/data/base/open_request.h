#pragma once

#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/data/base/file_format.h"

namespace weyl {

/// A request to `open_file` (open.h).
struct OpenRequest {
  std::string path;
  AskedSet asked;
  const Interface* interface =
      nullptr;  // what a model takes, or what the config says; null: whatever there is
  Values values = Values::checked;
  Keep keep = Keep::in_memory;
};

/// DataError unless the features of a path are those of the request's interface, if it has one, in their order.
void require_features(const OpenRequest& request, const Schema& found);

}  // namespace weyl
