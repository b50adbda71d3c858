#include "weyl/carriers/placed_samples.h"

#include "weyl/core/check.h"

namespace weyl {

Batch PlacedSamples::batch(std::span<const int64_t> indices) const {
  std::vector<int64_t> samples;
  std::vector<Placement> by;
  for (const int64_t row : indices) {
    samples.push_back(row / copies_);
    by.push_back(by_(row));
  }
  std::optional<Batch> made = data_->made_anew(samples, by);
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
