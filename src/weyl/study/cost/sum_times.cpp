#include "weyl/study/cost/sum_times.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

#include <chrono>

#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/parallel/device.h"

namespace weyl {

std::vector<SumTime> time_sums(Ranks& ranks, at::Device device, int64_t repeats) {
  std::vector<SumTime> times;
  for (const int64_t megabytes : {1, 25, 50, 100, 200}) {
    const Tensor x = at::full({megabytes * 250'000}, 0, at::TensorOptions(at::kFloat).device(device));
    std::vector<double> ms;
    for (int64_t repeat = 0; repeat <= repeats; ++repeat) {
      x.fill_(ranks.rank() + 1);
      synchronise(device);
      ranks.barrier();
      const auto start = std::chrono::steady_clock::now();
      ranks.sum(x);
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      if (repeat > 0) {
        ms.push_back(took.count());
      }
    }
    const auto n = static_cast<float>(ranks.size());
    require<Error>((x == n * (n + 1) / 2).all().item<bool>(), "ranks: a sum of ", megabytes, " MB is wrong");
    times.push_back({megabytes, median(ms), quantile(ms, 0.25), quantile(ms, 0.75)});
  }
  return times;
}

}  // namespace weyl
