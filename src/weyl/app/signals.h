#pragma once

namespace weyl {

/// From here on SIGINT, SIGTERM and SIGUSR1 ask for a stop: the verb finishes its step, saves and leaves with
/// exit code 5. A second SIGINT ends the process at once.
void catch_signals();

/// Whether a stop was asked for.
bool stop_requested();

/// From here on a mapped file (core/mapped_file.h) that can no longer be read ends the program with one line that
/// names it and exit code 3. Every other SIGBUS does what it did.
void catch_lost_files();

}  // namespace weyl
