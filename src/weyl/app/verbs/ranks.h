#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "weyl/app/cli/command_line.h"
#include "weyl/core/temporary_folder.h"
#include "weyl/parallel/ranks.h"

namespace weyl {

/// The processes that a verb works in. Either a starter has made them all (mpirun, srun, a loop; parallel/place.h), or this one
/// starts the others, copies of itself that print no results, as children on the same host. Only the first says anything on
/// stderr but an error.
class RankProcesses {
 public:
  /// `asked`: --ranks, 0 where it was not given. Returns when all are there; without any other process there are no ranks. Cores
  /// are divided among those of a host, unless the machine says how many threads each has. ConfigError: --ranks of another
  /// number than a starter has made; no address to meet at (MASTER_ADDR); several, and a device other than the CPU.
  RankProcesses(int64_t asked, const Machine& machine);
  /// Waits for the children, five seconds for those that do not end by themselves.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  const std::shared_ptr<Ranks>& ranks() const { return ranks_; }  // null: alone
  bool leads() const { return is_first(ranks_); }

  /// Does this rank's part of a verb and returns the exit code. What fails on any rank is said by that one alone, and is the exit
  /// code of all. When another process of --ranks dies meanwhile, this one ends within seconds, whatever it is at.
  int run(const std::function<int()>& work);

 private:
  void meet(int64_t asked);
  void start_children(int64_t count, const std::string& meeting);
  void watch(const std::stop_token& stop);
  [[noreturn]] void end_after(const std::string& who);
  void leave();
  bool was_said() const;
  void end();

  std::optional<TemporaryFolder> folder_;  // where the children of this process and it meet
  std::vector<pid_t> children_;
  pid_t parent_ = 0;  // of a child of --ranks
  int rank_ = 0, size_ = 1;
  std::shared_ptr<Ranks> ranks_;
  std::atomic<bool> met_ = false;  // the watch may ask the ranks
  std::jthread watch_;             // the last member: it reads the others
};

}  // namespace weyl
