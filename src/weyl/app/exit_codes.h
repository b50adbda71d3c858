#pragma once

namespace weyl {

/// What the program tells its caller (docs/cli.md).
enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,       // the result failed: an audit, a check
  exit_usage = 2,        // usage or config
  exit_data = 3,         // a data or model file
  exit_memory = 4,       // out of memory
  exit_interrupted = 5,  // interrupted, state saved
};

}  // namespace weyl
