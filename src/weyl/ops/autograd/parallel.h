#pragma once

#include <cstdint>
#include <functional>

namespace weyl {

/// Nanoseconds of work on one thread that are worth a worker of its own. To wake the threads of the engine and to wait
/// for them took 20 to 55 microseconds where more than that lay between two such meetings (two cores, libgomp,
/// GOMP_SPINCOUNT=1000, of which the program sets twice as many; under a microsecond where they still spin), so that two workers with so
/// much each are faster than one, and with a fifth of it slower. To be measured again:
/// `kernels_bench` prints what such a meeting takes.
inline constexpr double worker_grain = 5e4;

/// How many workers to use for so many pieces of work of about so many nanoseconds each: as many threads as the engine
/// has, or fewer, so that each has `worker_grain` to do; one inside a parallel region. Never less than one, nor more
/// than pieces. What a kernel says of its nanoseconds is an estimate, a constant beside it: the number of workers is a
/// function of shapes and threads, never of a clock.
int64_t workers_worth(int64_t pieces, double nanoseconds);

/// While one lives, in the whole process, every piece of work is worth a worker. For tests of what workers share.
class ShareAll {
 public:
  ShareAll();
  ~ShareAll();
  ShareAll(const ShareAll&) = delete;
  ShareAll& operator=(const ShareAll&) = delete;
};

/// Calls work(w) once for each worker 0 <= w < workers, in parallel, on the engine's own threads (kernels and
/// matrix products share one pool). What a worker does must depend on w alone, so that results are the same
/// bits each time.
void for_workers(int64_t workers, const std::function<void(int64_t)>& work);

/// Shares 0 .. total out evenly: calls work(w, first, last).
void share_out(int64_t total, int64_t workers, const std::function<void(int64_t, int64_t, int64_t)>& work);

}  // namespace weyl
