#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "weyl/study/sweep/table.h"

namespace weyl {

/// A trial as the program is to train it.
struct TrialCommand {
  const SweepRow* row = nullptr;
  const SweepTrial* trial = nullptr;
  std::vector<std::string> train;   // `weyl` arguments of a new run, but for --out
  std::vector<std::string> resume;  // more arguments of one that goes on
  std::string recipe;               // what decides its numbers (study/sweep/record.h)
};

struct SweepRequest {
  std::string folder;
  int64_t jobs = 1;
  bool retry = false;          // trials that failed at an earlier start, too
  std::function<bool()> stop;  // asked all the time: true ends the trainings, which save themselves
  /// One line about a trial: "started", "goes on", "done", "failed: ...".
  std::function<void(const TrialCommand&, const std::string&)> told;
  std::function<void()> ended;  // a trial has ended, well or badly: time to write the table
};

struct SweepEnd {
  int64_t done = 0, failed = 0;
  int64_t elsewhere = 0;  // other processes work on them
  int64_t left = 0;       // ended from outside, twice in this start: the next one goes on with them
  bool stopped = false;
};

/// Trains what is left of the trials, some side by side, each in a process of its own, in their order. A trial that
/// has a run folder goes on from its last checkpoint; one that failed is left alone (see `retry`), its reason in
/// ID.failed; one that a signal from outside ends is tried once more at most, and one that was killed (SIGKILL, which
/// is how the system ends what memory does not suffice for) three times in all, over all starts (ID.killed has how
/// often; where its run folder was removed since, it is counted anew), has failed. Another process may do the same in
/// the same folder: each trial is trained by one of them (TrialLock). ConfigError: as require_same_recipe. DataError: one could
/// not write, since the disk is full, say; it has not failed, and the others have saved themselves as at a stop.
SweepEnd run_trials(const std::vector<TrialCommand>& trials, const SweepRequest& request);

}  // namespace weyl
