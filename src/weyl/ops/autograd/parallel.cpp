// The one file that is compiled with OpenMP: at::parallel_for is a template and runs serially without it.
#include "weyl/ops/autograd/parallel.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>

namespace weyl {

namespace {

std::atomic<int> share_all = 0;

}  // namespace

ShareAll::ShareAll() {
  ++share_all;
}
ShareAll::~ShareAll() {
  --share_all;
}

int64_t workers_worth(int64_t pieces, double nanoseconds) {
  const int64_t threads = at::in_parallel_region() ? 1 : at::get_num_threads();
  const int64_t most = std::max<int64_t>(std::min<int64_t>(threads, pieces), 1);
  if (share_all > 0) {
    return most;
  }
  const double worth = static_cast<double>(pieces) * nanoseconds / worker_grain;
  return worth < static_cast<double>(most) ? std::max<int64_t>(static_cast<int64_t>(worth), 1) : most;
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
