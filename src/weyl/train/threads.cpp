#include "weyl/train/threads.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace weyl {

int64_t threads_worth(double flops, int64_t most) {
  const double worth = std::floor(flops / flops_worth_a_thread);
  return worth >= static_cast<double>(most) ? std::max<int64_t>(most, 1)
                                            : std::max<int64_t>(static_cast<int64_t>(worth), 1);
}

double tokens_of_a_batch(const Model& model, const TrainOptions& options) {
  if (options.batch_tokens) {
    return static_cast<double>(*options.batch_tokens);
  }
  double sample = model.interface.typical_nodes;
  if (!options.crop.empty()) {
    sample = 1;
    const auto axes = static_cast<size_t>(model.interface.dimension);
    for (size_t a = 0; a < axes; ++a) {  // one number: along all
      sample *= static_cast<double>(options.crop[std::min(a, options.crop.size() - 1)]);
    }
  }
  return static_cast<double>(options.batch) * sample;
}

bool threads_are_free(int64_t told) {
  const char* environment = std::getenv("OMP_NUM_THREADS");
  return told == 0 && (environment == nullptr || *environment == '\0');
}

KeepThreads::KeepThreads() : before_(at::get_num_threads()) {}

KeepThreads::~KeepThreads() {
  at::set_num_threads(before_);
}

void take_threads(int64_t told, at::Device device, double flops) {
  if (told > 0) {
    at::set_num_threads(static_cast<int>(told));
  } else if (device.is_cpu() && threads_are_free(told)) {
    at::set_num_threads(static_cast<int>(threads_worth(flops, at::get_num_threads())));
  }
}

}  // namespace weyl
