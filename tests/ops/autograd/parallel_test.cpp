#include "weyl/ops/autograd/parallel.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace weyl {
namespace parallel_test {

class Parallel : public testing::Test {
 protected:
  Parallel() { at::set_num_threads(4); }
  ~Parallel() override { at::set_num_threads(before_); }

 private:
  int before_ = at::get_num_threads();
};

TEST_F(Parallel, WorkBelowTheGrainTakesOneThread) {
  const auto grain = static_cast<int64_t>(worker_grain);
  EXPECT_EQ(workers_worth(0, 1), 1);
  EXPECT_EQ(workers_worth(1000, 1), 1);
  EXPECT_EQ(workers_worth(2 * grain - 1, 1), 1);
  EXPECT_EQ(workers_worth(2 * grain, 1), 2);
  EXPECT_EQ(workers_worth(grain, 3), 3);
  EXPECT_EQ(workers_worth(100 * grain, 1), 4);
  EXPECT_EQ(workers_worth(3, 1e9), 3);  // never more than pieces
  EXPECT_EQ(workers_worth(int64_t{1} << 60, 1e9), 4);
  at::set_num_threads(1);
  EXPECT_EQ(workers_worth(100 * grain, 1), 1);
}

TEST_F(Parallel, InsideAParallelRegionThereIsOneWorker) {
  std::atomic<int64_t> most = 0;
  for_workers(4, [&](int64_t) {
    const int64_t found = workers_worth(1 << 30, 1e3);
    int64_t before = most;
    while (found > before && !most.compare_exchange_weak(before, found)) {
    }
  });
  EXPECT_EQ(most, 1);
}

TEST_F(Parallel, TestsMayShareHoweverLittle) {
  EXPECT_EQ(workers_worth(10, 1), 1);
  {
    const ShareAll however_little;
    EXPECT_EQ(workers_worth(10, 1), 4);
    EXPECT_EQ(workers_worth(2, 1), 2);
    EXPECT_EQ(workers_worth(0, 1), 1);
  }
  EXPECT_EQ(workers_worth(10, 1), 1);
}

TEST_F(Parallel, EveryPieceIsSharedOutOnce) {
  for (const int64_t total : {0, 1, 5, 1000}) {
    for (const int64_t workers : {1, 2, 4, 7}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(total));
      share_out(total, workers, [&](int64_t, int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          ++seen[static_cast<size_t>(i)];
        }
      });
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }));
    }
  }
}

}  // namespace parallel_test
}  // namespace weyl
