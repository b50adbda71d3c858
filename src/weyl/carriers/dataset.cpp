#include "weyl/carriers/dataset.h"
#include "weyl/carriers/consistency.h"
#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"

namespace weyl {

InMemory::InMemory(Batch all, Schema schema) : all_(std::move(all)), schema_(std::move(schema)) {
  require_consistent(all_, schema_);
}

int64_t InMemory::size() const {
  return all_.count();
}

int64_t InMemory::tokens(int64_t index) const {
  require(index >= 0 && index < size(), "data set: sample ", index, " is not one of 0 .. ", size() - 1);
  if (std::holds_alternative<Grid>(all_.input)) {
    return all_.tokens() / all_.count();
  }
  return graphs_of(all_.input).size(index);
}

Batch InMemory::batch(std::span<const int64_t> indices) const {
  return take(all_, indices, schema_);
}

}  // namespace weyl
