#pragma once

#include <cstdint>
#include <functional>

namespace weyl {

/// How many workers to use for `total` pieces of work of which one worker should do at least `grain`: the
/// threads of the engine, or one inside a parallel region. Never less than one.
int64_t worker_count(int64_t total, int64_t grain = 1);

/// Calls work(w) once for each worker 0 <= w < workers, in parallel, on the engine's own threads (kernels and
/// matrix products share one pool). What a worker does must depend on w alone, so that results are the same
/// bits each time.
void for_workers(int64_t workers, const std::function<void(int64_t)>& work);

/// Shares 0 .. total out evenly: calls work(w, first, last).
void share_out(int64_t total, int64_t workers, const std::function<void(int64_t, int64_t, int64_t)>& work);

}  // namespace weyl
