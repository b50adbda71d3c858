#include "weyl/study/sweep/runner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <thread>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/study/sweep/folder_lock.h"
#include "weyl/study/sweep/own_process.h"
#include "weyl/study/sweep/record.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;
using State = TrialOutcome::State;
constexpr int exit_by_interruption = 5;  // docs/cli.md
constexpr auto between_looks = std::chrono::milliseconds(20);
constexpr auto end_of_all = std::chrono::milliseconds(200);
constexpr int64_t most_kills = 3;  // of one trial, over all starts
constexpr size_t largest_count = 64;

struct Job {
  size_t index = 0;
  int tries = 0;  // before this one
  std::shared_ptr<OwnProcess> process;
};

/// Signals by which others end a process, and no fault of its own.
bool is_from_outside(const ProcessEnd& end) {
  const int s = end.signal;
  return s == SIGKILL || s == SIGTERM || s == SIGINT || s == SIGHUP ||
         (s == 0 && (end.code == exit_by_interruption || end.code == 128 + SIGINT));
}

/// FOLDER/runs/ID.killed: how often it was killed so far, and in a second line "begun" once it had a run folder.
std::string kills_file_of(const std::string& run) {
  return run + ".killed";
}

int64_t kills_of(const std::string& run) {
  const std::string count = read_file(kills_file_of(run), largest_count).text;
  return parse_integer(count.substr(0, count.find('\n'))).value_or(0);
}

/// Whether it had one when it was last killed.
bool was_begun(const std::string& run) {
  return read_file(kills_file_of(run), largest_count).text.ends_with("\nbegun\n");
}

/// A training whose parent was killed may take a moment to end, and keeps its folder locked until then.
void wait_until_free(const std::string& run) {
  for (int look = 0; look < 1500; ++look) {
    const int folder = open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
      return;
    }
    const bool free = flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    close(folder);
    if (free) {
      return;
    }
    std::this_thread::sleep_for(between_looks);
  }
}

class Runner {
 public:
  Runner(const std::vector<TrialCommand>& trials, const SweepRequest& request)
      : trials_(trials), request_(request) {
    for (size_t i = 0; i < trials.size(); ++i) {
      waiting_.push_back({i});
    }
  }

  ~Runner() {  // an error of one ends the others
    for (Job& job : active_) {
      job.process.reset();
      TrialLock::give_back(run(job));
    }
  }

  SweepEnd operator()() {
    while (!waiting_.empty() || !active_.empty()) {
      if (!end_.stopped && request_.stop && request_.stop()) {
        stop();
      }
      while (!waiting_.empty() && static_cast<int64_t>(active_.size()) < request_.jobs) {
        const Job job = waiting_.front();
        waiting_.pop_front();
        start(job);
      }
      if (!reap()) {
        std::this_thread::sleep_for(between_looks);
      }
    }
    require<DataError>(lack_of_disk_.empty(), lack_of_disk_,
                       "; the same command goes on from the last checkpoints");
    return end_;
  }

 private:
  const TrialCommand& trial(const Job& job) const { return trials_[job.index]; }
  std::string run(const Job& job) const { return run_of(request_.folder, *trial(job).trial); }
  State state(const Job& job) const { return outcome_of(request_.folder, *trial(job).trial, "").state; }
  void tell(const Job& job, const std::string& line) const {
    if (request_.told) {
      request_.told(trial(job), line);
    }
  }

  void write(const std::string& path, const std::string& contents) const {
    FolderLock(request_.folder).write(path, contents);
  }

  /// What may stand beside the run folder of a trial that is not done (ID.stderr: of versions that kept messages there).
  void remove_signs(const Job& job) const {
    for (const char* ending : {".stderr", ".killed", ".failed"}) {
      fs::remove(run(job) + ending);
    }
  }

  /// What needs no training is counted.
  bool is_settled(const Job& job) {
    const State now = state(job);
    if (now == State::done) {
      ++end_.done;
    } else if (now == State::failed && (!request_.retry || job.tries > 0)) {
      ++end_.failed;
    } else {
      return false;
    }
    return true;
  }

  /// Of a trial that is to begin what it is made by is written down first. One whose run folder was removed begins anew,
  /// and so does the count of what killed it; one that was killed before it had a folder goes on counting.
  void keep_recipe(const Job& job) const {
    require_same_recipe(request_.folder, *trial(job).trial, trial(job).recipe);
    if (!fs::exists(run(job))) {
      if (was_begun(run(job))) {
        fs::remove(kills_file_of(run(job)));
      }
      write(recipe_file_of(request_.folder, *trial(job).trial), trial(job).recipe);
    }
  }

  void start(Job job) {
    if (is_settled(job)) {
      if (TrialLock::drop_if_left(request_.folder, run(job)) && state(job) == State::done) {
        remove_signs(job);
      }
      return;
    }
    std::string holder;
    if (TrialLock::take(request_.folder, run(job), holder) == TrialLock::Taken::elsewhere) {
      ++end_.elsewhere;
      tell(job, "is trained by " + holder + " (" + run(job) + ".lock)");
      return;
    }
    try {
      if (is_settled(job)) {  // by another process, meanwhile
        TrialLock::give_back(run(job));
        return;
      }
      keep_recipe(job);
      fs::remove(failure_of(request_.folder, *trial(job).trial));
      wait_until_free(run(job));
      const bool goes_on = fs::exists(run(job) + "/config.toml");
      std::vector<std::string> arguments = goes_on ? trial(job).resume : trial(job).train;
      arguments.insert(arguments.end(), {goes_on ? "--resume" : "--out", run(job)});
      job.process = std::make_shared<OwnProcess>(arguments);
      tell(job, goes_on ? "goes on" : "started");
    } catch (...) {
      TrialLock::give_back(run(job));
      throw;
    }
    active_.push_back(job);
  }

  /// Whether one has ended.
  bool reap() {
    for (size_t i = 0; i < active_.size(); ++i) {
      if (active_[i].process->has_ended()) {
        const Job job = active_[i];
        active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
        settle(job);
        return true;
      }
    }
    return false;
  }

  void settle(Job job) {
    const ProcessEnd& end = job.process->end();
    const bool whole = end.signal == 0 && end.code == 0 && state(job) == State::done;
    const bool killed_again = !whole && end.signal == SIGKILL && is_killed_too_often(job);
    if (whole) {
      ++end_.done;
      remove_signs(job);
    } else if (is_from_outside(end) && !killed_again) {
      if (end_.stopped) {
        tell(job, "saved");
      } else if (++job.tries < 2) {
        waiting_.push_front(job);
      } else {
        ++end_.left;
        tell(job, job.process->reason() + " twice; the next start goes on with it");
      }
    } else if (job.process->lacked_disk()) {  // no fault of the trial, and no other would get far
      lack_of_disk_ = job.process->reason();
      stop();
    } else {
      fail(job, killed_again
                    ? text(", ", most_kills, " times in all, as the system does where memory runs out")
                    : std::string());
    }
    TrialLock::give_back(run(job));
    if (whole) {
      tell(job, "done");
    }
    if (request_.ended && lack_of_disk_.empty()) {
      request_.ended();
    }
  }

  void fail(const Job& job, const std::string& addition) {
    const std::string reason = job.process->reason() + addition, said = job.process->messages();
    const bool more = said.find('\n') + 1 < said.size();  // than the line that is the reason
    remove_signs(job);                                    // --retry begins to count kills anew
    write(failure_of(request_.folder, *trial(job).trial), reason + "\n" + (more ? said : ""));
    ++end_.failed;
    tell(job, "failed: " + reason);
  }

  /// Counts a training that something killed, on disk, so that one that memory does not suffice for ends some day. What
  /// ends everything (a machine that is taken away, a job of a cluster at its end) may reach the training first: then
  /// this process is ended too, or asked to stop, before it counts.
  bool is_killed_too_often(const Job& job) {
    std::this_thread::sleep_for(end_of_all);
    if (end_.stopped || (request_.stop && request_.stop())) {
      return false;
    }
    const int64_t kills = kills_of(run(job)) + 1;
    write(kills_file_of(run(job)), text(kills, fs::exists(run(job)) ? "\nbegun\n" : "\n"));
    return kills >= most_kills;
  }

  void stop() {
    end_.stopped = true;
    waiting_.clear();
    for (const Job& job : active_) {
      job.process->send(SIGTERM);
    }
  }

  const std::vector<TrialCommand>& trials_;
  const SweepRequest& request_;
  std::deque<Job> waiting_;
  std::vector<Job> active_;
  SweepEnd end_;
  std::string lack_of_disk_;  // what a training that could not write said of it
};

}  // namespace

SweepEnd run_trials(const std::vector<TrialCommand>& trials, const SweepRequest& request) {
  return Runner(trials, request)();
}

}  // namespace weyl
