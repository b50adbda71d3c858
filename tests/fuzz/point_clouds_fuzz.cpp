#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/clouds/point_clouds.h"

/// libhdf5 may die in its child of what it will: that is what the child is for, and no finding. Nothing is
/// learned of the paths that the child takes.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=512";
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return pthread_atfork(nullptr, nullptr, [] { __sanitizer_set_death_callback([] { _exit(1); }); });
}

/// Bytes are refused with a DataError, or the clouds have the sizes that they say and finite positions.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    constexpr uint64_t limit = 1 << 24;
    const auto clouds =
        weyl::parse_point_clouds({reinterpret_cast<const std::byte*>(data), size}, "input", limit);
    bool sound = clouds.points > 0 && clouds.count() > 0 &&
                 clouds.positions.size() == static_cast<size_t>(clouds.count() * clouds.points * 3);
    for (const float x : clouds.positions) {
      sound = sound && std::isfinite(x);
    }
    if (!sound) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  try {  // the same by other names: values of any type and shape
    const std::vector<std::vector<std::string>> wanted{{"positions", "data"}, {"label"}};
    for (const auto& [name, array] : weyl::parse_hdf5_arrays({reinterpret_cast<const std::byte*>(data), size},
                                                             "input", wanted, 1 << 24)) {
      if (weyl::byte_count(array.type, array.shape) != array.bytes.size()) {
        std::abort();
      }
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
