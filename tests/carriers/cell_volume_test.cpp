#include "weyl/carriers/points.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace weyl {
namespace cell_volume_test {

TEST(CellVolume, IsOfCellsThatRepeatAlongAllVectors) {
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{1, 1, 1});
  points.positions = at::zeros({3, 3});
  EXPECT_TRUE(at::equal(cell_volumes(points), at::zeros({3}, at::kDouble)));
  // Triclinic, left-handed, and one of which an axis does not repeat.
  points.cell = at::tensor({2., 0., 0., 1., 3., 0., 5., 7., 4.,   //
                            0., 2., 0., 2., 0., 0., 0., 0., 0.5,  //
                            2., 0., 0., 0., 2., 0., 0., 0., 2.})
                    .to(at::kFloat)
                    .view({3, 3, 3});
  const auto expect = [&](std::vector<double> volumes) {
    const Tensor found = cell_volumes(points);
    EXPECT_EQ(found.scalar_type(), at::kDouble);
    EXPECT_TRUE(at::allclose(found, at::tensor(volumes, at::kDouble))) << found;
  };
  expect({24, 2, 8});
  points.pbc = at::ones({3, 3}, at::kBool);
  points.pbc[2][1].fill_(false);
  expect({24, 2, 0});
}

}  // namespace cell_volume_test
}  // namespace weyl
