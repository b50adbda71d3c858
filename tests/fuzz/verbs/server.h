#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weyl::fuzz {

/// What a run of the program may take.
struct Limits {
  double seconds = 2;          // of the processor; of the clock a minute more
  int64_t memory = 1LL << 30;  // bytes beyond those of this process
};

/// How a run ended.
struct Ended {
  int code = 0;          // of the exit, -signal otherwise
  bool hung = false;     // beyond its seconds
  double seconds = 0;    // of the processor
  int64_t memory = 0;    // the most that was resident, beyond that of a copy that ends at once
  std::string out, err;  // their beginnings
  /// Why it may not end so; empty: as it should. Out of memory is a fault unless the program saw it coming and named
  /// the figures, or the run may ask for any memory, as a config with a wide model does. So is the exit code 1, what
  /// nobody foresaw, but of a training that diverges and of a comparison of runs on different data.
  std::string fault(bool may_ask_for_memory) const;
};

/// Runs work() in a forked copy of this process, in `folder`, with nothing on standard input; what it says is kept.
/// Nothing of the copy outlives the call.
Ended run_forked(const std::string& folder, const Limits& limits, const std::function<int()>& work);

}  // namespace weyl::fuzz
