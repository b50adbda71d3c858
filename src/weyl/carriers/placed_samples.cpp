#include "weyl/carriers/placed_samples.h"

#include "weyl/core/check.h"

namespace weyl {

Batch PlacedSamples::batch(std::span<const int64_t> indices) const {
  std::vector<Placement> by;
  for (const int64_t i : indices) {
    by.push_back(by_(i));
  }
  std::optional<Batch> made = data_->made_anew(indices, by);
  require<DataError>(
      made.has_value(),
      "data: must be volumes that the set makes of shapes, since only these can be turned and shifted before "
      "they become cells, but are volumes as they are");
  return *std::move(made);
}

bool makes_anew(const Dataset& data) {
  const int64_t first = 0;
  const Placement as_it_is;
  return data.size() > 0 && data.made_anew({&first, 1}, {&as_it_is, 1}).has_value();
}

}  // namespace weyl
