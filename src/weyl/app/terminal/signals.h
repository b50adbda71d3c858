#pragma once

namespace weyl {

/// From here on SIGINT, SIGTERM, SIGHUP and SIGUSR1 ask for a stop: the verb saves and leaves with exit code 5. A
/// second SIGINT ends the process at once and says what is left of the work, `left`, a text that stays. A SIGHUP that is ignored (nohup) stays ignored. A reader that is gone
/// (SIGPIPE) is an error of writing: a `| tee` that a hang-up ends takes no training with it.
void catch_signals(const char* left);

/// Whether a stop was asked for. Any thread may ask.
bool stop_requested();

/// From here on SIGINT, SIGTERM and SIGHUP remove the files in the making (core/atomic_file.h) before they end the
/// process as they would; what is ignored stays ignored. For the verbs that do not call catch_signals.
void remove_unfinished_on_signals();

/// From here on a mapped file (core/input_file.h) that can no longer be read ends the program with one line that
/// names it and exit code 3. Every other SIGBUS does what it did.
void catch_lost_files();

}  // namespace weyl
