#include "weyl/core/jobs.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace weyl {

bool run_samples(int64_t count, int64_t threads, const JobHooks& hooks,
                 const std::function<void(int64_t i, const std::atomic<bool>& stopped)>& make) {
  const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const int64_t workers = std::clamp<int64_t>(threads > 0 ? threads : cores, 1, std::max<int64_t>(count, 1));
  std::atomic<int64_t> next{0}, done{0};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  std::condition_variable changed;
  int64_t running = workers;
  std::exception_ptr error;
  const auto work = [&] {
    try {
      for (int64_t i = next++; i < count && !stopped; i = next++) {
        make(i, stopped);
        ++done;
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) {
        error = std::current_exception();
      }
      stopped = true;
    }
    const std::lock_guard lock(mutex);
    --running;
    changed.notify_all();
  };
  {
    std::vector<std::jthread> pool;
    try {
      for (int64_t i = 0; i < workers; ++i) {
        pool.emplace_back(work);
      }
    } catch (...) {  // no room for another thread: those that work already must not go on to the end
      stopped = true;
      throw;
    }
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; })) {
      lock.unlock();
      if (hooks.stop && hooks.stop()) {
        stopped = true;
      }
      if (hooks.report) {
        hooks.report(done, count);
      }
      lock.lock();
    }
  }
  if (error) {
    std::rethrow_exception(error);
  }
  if (hooks.report && !stopped) {
    hooks.report(done, count);
  }
  return !stopped;
}

}  // namespace weyl
