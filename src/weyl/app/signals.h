#pragma once

namespace weyl {

/// From here on SIGINT, SIGTERM and SIGUSR1 ask for a stop: the verb finishes its step, saves and leaves with
/// exit code 5. A second SIGINT ends the process at once.
void catch_signals();

/// Whether a stop was asked for.
bool stop_requested();

}  // namespace weyl
