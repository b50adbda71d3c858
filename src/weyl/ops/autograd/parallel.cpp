// The one file that is compiled with OpenMP: at::parallel_for is a template and runs serially without it.
#include "weyl/ops/autograd/parallel.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace weyl {

int64_t worker_count(int64_t total, int64_t grain) {
  const int64_t threads = at::in_parallel_region() ? 1 : at::get_num_threads();
  return std::clamp<int64_t>(total / std::max<int64_t>(grain, 1), 1, std::max<int64_t>(threads, 1));
}

void for_workers(int64_t workers, const std::function<void(int64_t)>& work) {
  if (workers == 1) {
    work(0);
    return;
  }
  at::parallel_for(0, workers, 1, [&](int64_t first, int64_t last) {
    for (int64_t w = first; w < last; ++w) {
      work(w);
    }
  });
}

void share_out(int64_t total, int64_t workers, const std::function<void(int64_t, int64_t, int64_t)>& work) {
  for_workers(workers, [&](int64_t w) {
    const int64_t first = total * w / workers, last = total * (w + 1) / workers;
    if (first < last) {
      work(w, first, last);
    }
  });
}

}  // namespace weyl
