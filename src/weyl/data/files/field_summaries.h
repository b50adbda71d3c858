#pragma once

#include <map>
#include <string>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/data/files/inspect.h"

namespace weyl {

/// Gathers the summaries of fields (inspect.h), chunk by chunk.
class Summaries {
 public:
  /// Adds the rows of one more chunk to a field; nothing of a tensor that is not defined.
  void add(const std::string& name, const std::string& unit, const Tensor& values);
  std::vector<FieldSummary> done();

 private:
  std::vector<FieldSummary> all_;
  std::map<std::string, size_t> places_;  // in `all_`, by name
};

}  // namespace weyl
