// Small sets for tests of the loader, and what it makes of them.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tests/data/fixtures.h"
#include "weyl/carriers/loader.h"

namespace weyl {

inline std::shared_ptr<const Dataset> rich_set() {
  return std::make_shared<InMemory>(rich_batch({3, 1, 4, 2, 5, 1, 2, 3, 6, 1, 2}), rich_schema());
}

/// Images whose cells all differ, with a mask that is the image itself.
inline std::shared_ptr<const Dataset> images(int64_t count, int64_t height, int64_t width) {
  Schema grid;
  grid.interface.grid = true;
  grid.interface.dimension = 2;
  grid.interface.features = {{"grey"}};
  grid.labels = {{.name = "mask", .kind = Kind::category}};
  const Tensor cells = at::arange(count * height * width).view({count, 1, height, width});
  return std::make_shared<InMemory>(Batch{Grid{cells.to(at::kDouble)}, {{"mask", cells}}}, grid);
}

inline std::vector<Batch> all_of(Loader& loader, int64_t epoch, int64_t first = 0) {
  std::vector<Batch> batches;
  loader.start(epoch, first);
  while (auto batch = loader.next()) {
    batches.push_back(std::move(*batch));
  }
  return batches;
}

inline void expect_equal(const std::vector<Batch>& a, const std::vector<Batch>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(difference(a[i], b[i]), 0) << "batch " << i;
  }
}

inline const Tensor& values_of(const Batch& batch) {
  return std::get<Grid>(batch.input).values;
}

}  // namespace weyl
