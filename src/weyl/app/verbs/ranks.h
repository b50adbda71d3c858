#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "weyl/core/temporary_folder.h"
#include "weyl/parallel/ranks.h"

namespace weyl {

/// The processes that a verb works in. Either a starter has made them all (mpirun, srun, a loop; parallel/place.h), or this one
/// starts the others, copies of itself that print no results, as children on the same host.
class RankProcesses {
 public:
  /// `asked`: --ranks, 0 where it was not given. Returns when all are there; without any other process there are no ranks.
  /// ConfigError: --ranks of another number than a starter has made; no address to meet at (MASTER_ADDR).
  explicit RankProcesses(int64_t asked);
  /// Waits for the children, five seconds for those that do not end by themselves.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  const std::shared_ptr<Ranks>& ranks() const { return ranks_; }  // null: alone
  bool leads() const { return is_first(ranks_); }

 private:
  void meet(int64_t asked);
  void start_children(int64_t count, const std::string& meeting);
  void end();

  std::optional<TemporaryFolder> folder_;  // where the children of this process and it meet
  std::vector<pid_t> children_;
  std::shared_ptr<Ranks> ranks_;
};

}  // namespace weyl
