#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "weyl/data/volumes/prepared_volumes.h"

namespace weyl {
namespace volume_cache_test {

TEST(VolumeCache, KeepsTheLastUsedThatItsBytesHold) {
  const auto volume = [](int64_t value) {
    return Volume{at::full({1, 2, 2, 2}, value, at::kFloat), at::zeros({2, 2, 2}, at::kByte)};
  };
  EXPECT_EQ(volume(0).bytes(), 40);
  VolumeCache cache(100);  // two of them
  cache.keep(1, volume(1));
  cache.keep(2, volume(2));
  ASSERT_TRUE(cache.find(1));
  cache.keep(3, volume(3));  // 2 was used longest ago
  EXPECT_FALSE(cache.find(2));
  EXPECT_EQ(cache.find(1)->image.min().item<float>(), 1);
  EXPECT_EQ(cache.find(3)->image.min().item<float>(), 3);
  cache.keep(4, {at::zeros({1, 3, 3, 3}, at::kFloat), {}});  // 108 bytes: more than it may hold
  EXPECT_FALSE(cache.find(4));
  EXPECT_TRUE(cache.find(1) && cache.find(3));
  VolumeCache none(0);
  none.keep(1, volume(1));
  EXPECT_FALSE(none.find(1));
}

TEST(VolumeCache, ServesSeveralThreads) {
  VolumeCache cache(10 * 32);
  std::atomic<int64_t> wrong = 0, found = 0;
  const auto work = [&](int64_t first) {
    for (int64_t i = 0; i < 3000; ++i) {
      const int64_t index = (first + i * i + i / 50) % 16;
      if (const auto held = cache.find(index)) {
        ++found;
        wrong += held->image.const_data_ptr<float>()[0] == static_cast<float>(index) ? 0 : 1;
      } else {
        cache.keep(index, {at::full({1, 2, 2, 2}, index, at::kFloat), {}});
      }
    }
  };
  std::thread one(work, 0), two(work, 5);
  one.join();
  two.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(found, 0);
}

}  // namespace volume_cache_test
}  // namespace weyl
