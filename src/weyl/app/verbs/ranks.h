#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "weyl/app/cli/command_line.h"
#include "weyl/parallel/ranks.h"
#include "weyl/saved/predictor.h"

namespace weyl {

/// ConfigError that begins with `where`: a starter (mpirun, srun) has made several processes for what one must do.
void require_one_process(const std::string& where);

/// DataError where ranks do not see the same: the weights of another model, or data of which the fingerprint (train/run/fingerprint.h)
/// is another. Null: nothing is to be compared.
void require_alike(const std::shared_ptr<Ranks>& ranks, const Predictor& predictor,
                   const std::shared_ptr<const Dataset>& data, const std::string& where);
/// The same of a file that each rank reads by itself: its size, and its beginning.
void require_alike(const std::shared_ptr<Ranks>& ranks, const Predictor& predictor, const std::string& file);

/// The processes that a verb works in. Either a starter has made them all (mpirun, srun, a loop; parallel/place.h), or this one
/// starts the others, copies of itself that print no results, as children on the same host. Only the first says anything on
/// stderr but an error.
class RankProcesses {
 public:
  /// `asked`: --ranks, 0 where it was not given. Starts them. ConfigError: --ranks of another number than a starter has made; no
  /// address to meet at (MASTER_ADDR).
  RankProcesses(int64_t asked, const Machine& machine);
  /// Waits for the children, five seconds for those that do not end by themselves.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  /// Whether this is one of those that another process starts for --ranks, with its arguments.
  static bool is_child();

  /// Null: this process is alone. To be asked within `run`.
  const std::shared_ptr<Ranks>& ranks() const { return ranks_; }

  /// Waits until all are there, does this rank's part of a verb, and returns the exit code. Ranks that may use the same cores divide
  /// them, unless the machine says how many threads each has; CUDA devices are taken by turns (machine.h). What fails on any rank is
  /// said by that one alone, and is the exit code of all; of --ranks also what fails when others are done. When another
  /// process of --ranks fails or dies meanwhile, this one ends within seconds, whatever it is at.
  int run(const std::function<int()>& work);

 private:
  void start(int64_t asked);
  void start_children(int64_t count, const std::map<const char*, int>& files);
  void meet();
  void watch(const std::stop_token& stop);
  [[noreturn]] void end_after(const std::string& who, int code);
  std::optional<int> failed_before(int code);
  int failure_of_another(int otherwise);
  void end();

  std::vector<pid_t> children_;
  pid_t parent_ = 0;  // of a child of --ranks
  int stderr_ = -1;   // a copy, which stays while the other is turned off
  Machine machine_;
  RankPlace place_;
  Meeting meeting_;
  std::shared_ptr<Ranks> ranks_;
  std::jthread watch_;  // the last member: it reads the others, but never the ranks
};

}  // namespace weyl
