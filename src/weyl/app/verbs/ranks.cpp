#include "weyl/app/verbs/ranks.h"

#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/exec_words.h"
#include "weyl/core/input_file.h"
#include "weyl/core/text_number.h"
#include "weyl/study/cost/device.h"

namespace weyl {
namespace {

constexpr const char* kFile = "WEYL_RANKS_FILE";  // where the children of --ranks meet
// For which a rank waits for another. The first one reads and mends a run folder while the others wait.
constexpr std::chrono::minutes kTimeout{10};
constexpr std::chrono::seconds kLastWords{5};
// Between looks at the others; for which one goes on beside one that has died; for which the last one looks whether the first has.
constexpr std::chrono::milliseconds kLook{100}, kBeside{2'000}, kLastLook{1'000};
constexpr const char* kParent = "WEYL_RANKS_PARENT";  // the process that started a child of --ranks

std::vector<std::string> own_arguments() {
  const std::string all = read_file("/proc/self/cmdline", size_t{1} << 24).text;
  std::vector<std::string> words;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\0', at), all.size());
    words.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// Whether a child has ended so that the others cannot go on, and how; it stays to be waited for.
bool has_died(pid_t child, std::string& how) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return false;
  }
  const bool killed = info.si_code != CLD_EXITED;
  how = killed ? text("ended by signal ", info.si_status, " (", strsignal(info.si_status), ")")
               : text("ended with exit code ", info.si_status);
  return killed || (info.si_status != exit_done && info.si_status != exit_interrupted);
}

/// Gloo says in lines of its own what keeps it from meeting the others; the exception says it, too.
class QuietStderr {
 public:
  explicit QuietStderr(int real) : real_(real) {
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nothing, STDERR_FILENO);
    close(nothing);
  }
  ~QuietStderr() { dup2(real_, STDERR_FILENO); }
  QuietStderr(const QuietStderr&) = delete;
  QuietStderr& operator=(const QuietStderr&) = delete;

 private:
  int real_;
};

}  // namespace

void require_one_process(const std::string& where) {
  const std::optional<RankPlace> place = rank_place();
  require<ConfigError>(!place || place->size == 1, where, ": must be one process, but ",
                       place ? place->from : "", " has started ", place ? place->size : 1);
}

RankProcesses::RankProcesses(int64_t asked, const Machine& machine) : machine_(machine) {
  try {
    start(asked);
  } catch (...) {
    end();
    throw;
  }
}

void RankProcesses::start(int64_t asked) {
  std::optional<RankPlace> place = rank_place();
  const bool child = place && std::getenv(kFile) != nullptr;
  require<ConfigError>(!place || child || asked == 0 || asked == place->size, "--ranks: must be ",
                       place ? place->size : 1, ", as many as ", place ? place->from : "",
                       " has started, or not be given; got ", asked);
  meeting_.timeout = kTimeout;
  require<ConfigError>(place || std::getenv(kFile) == nullptr, "environment: ", kFile,
                       " must stand beside WEYL_RANK and WEYL_RANKS, which are those of children of --ranks");
  if (!place) {
    if (asked < 2) {
      return;
    }
    meeting_.file = folder_.emplace("ranks") / "meeting";
    start_children(asked);
    place =
        RankPlace{.size = static_cast<int>(asked), .local_size = static_cast<int>(asked), .from = "--ranks"};
  } else if (child) {
    meeting_.file = std::getenv(kFile);
    const char* parent = std::getenv(kParent);
    parent_ = static_cast<pid_t>(parse_integer(parent != nullptr ? parent : "").value_or(0));
    require<ConfigError>(parent_ > 0, "environment: ", kParent,
                         " must be the process that has started this one");
  } else {
    require<ConfigError>(place->size == 1 || !place->address.empty(),
                         "environment: MASTER_ADDR must be set to the host of rank "
                         "0 (127.0.0.1 where all are of one host) for ranks that ",
                         place->from, " has started");
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");  // ranks of --ranks speak over the loopback
    meeting_.interface = interface != nullptr ? interface : "";
  }
  place_ = *place;
  stderr_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  require<Error>(stderr_ >= 0, "--ranks: stderr must be open: ", std::strerror(errno));
  if (place_.rank > 0) {
    start_log(/*quiet=*/true);
  }
  if (parent_ > 0 || folder_) {
    watch_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }
}

void RankProcesses::meet() {
  if (place_.rank == 0) {
    say(text(place_.size, " ranks, by ", place_.from, ", meet",
             place_.address.empty() ? "" : " at " + place_.address));
  }
  {
    const QuietStderr quiet(stderr_);
    ranks_ = std::make_shared<Ranks>(place_, meeting_);
  }
  met_ = true;
  if (const at::Device device = device_of(machine_); device.is_cuda()) {
    const at::Device card(device.type(), device_index(device));
    c10::impl::VirtualGuardImpl(card.type())
        .setDevice(card);  // or each process would take memory of the first one, too
    ranks_->use_card(card);
    say(text("what is on GPUs is summed ",
             ranks_->has_nccl()
                 ? "by NCCL"
                 : "through the hosts' memory: two ranks share a GPU, or this build has no NCCL"));
  }
  if (machine_.threads == 0 && std::getenv("OMP_NUM_THREADS") == nullptr) {
    at::set_num_threads(std::max(1, at::get_num_threads() / place_.local_size));
  }
}

void RankProcesses::start_children(int64_t count) {
  ExecWords arguments(own_arguments());
  for (int64_t rank = 1; rank < count; ++rank) {
    ExecWords variables(
        environment_for_child({text("WEYL_RANK=", rank), text("WEYL_RANKS=", count),
                               text(kFile, "=", meeting_.file), text(kParent, "=", getpid())},
                              [](std::string_view setting) { return setting.starts_with("WEYL_ALONE="); }));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int failed =
        posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    require<DataError>(failed == 0, "--ranks: process ", rank, " of ", count,
                       " could not be started: ", std::generic_category().message(failed));
    children_.push_back(pid);
  }
}

RankProcesses::~RankProcesses() {
  end();
}

int RankProcesses::run(const std::function<int()>& work) {
  if (place_.size == 1) {
    return work();
  }
  int code = exit_failed;
  try {
    meet();
    return work();
  } catch (const RankLeaves&) {
    code = ranks_->failure_of_another(code);
  } catch (const std::exception& error) {
    code = exit_code_of(error);
    if (const auto before = failed_before(code)) {
      code = *before;
    } else {
      report(error);
    }
  }
  leave(/*disconnects=*/true);
  return code;
}

/// As Ranks::failed_before, for processes of --ranks also before all have met: by a file that one alone can make.
std::optional<int> RankProcesses::failed_before(int code) {
  const std::optional<int> before = met_ ? ranks_->failed_before(code) : std::nullopt;
  if (before || meeting_.file.empty()) {
    return before;
  }
  const int made = open((meeting_.file + ".said").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) {
    return code;
  }
  close(made);
  return {};
}

/// Where the first rank was killed, the last of the others removes what it has left, or, of those that have not met, any.
void RankProcesses::leave(bool disconnects) {
  if (met_) {
    ranks_->leave(disconnects);
  }
  const auto last = [&] { return !met_ || ranks_->left() == place_.size - 1; };
  const auto end = std::chrono::steady_clock::now() + kLastLook;  // its connections end before it does
  while (parent_ > 0 && last() && std::chrono::steady_clock::now() < end) {
    if (getppid() != parent_) {
      std::error_code ignored;
      std::filesystem::remove_all(std::filesystem::path(meeting_.file).parent_path(), ignored);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Unless this process ends by itself meanwhile, as one does that waits for the others.
void RankProcesses::watch(const std::stop_token& stop) {
  std::string dead;
  std::chrono::milliseconds since{0};
  while (since < kBeside) {
    if (stop.stop_requested()) {
      return;
    }
    if (parent_ > 0 && getppid() != parent_) {
      dead = "rank 0 has ended";
    }
    for (size_t i = 0; i < children_.size() && dead.empty(); ++i) {
      std::string how;
      dead = has_died(children_[i], how) ? text("rank ", i + 1, " has ", how) : "";
    }
    std::this_thread::sleep_for(kLook);
    since += dead.empty() ? std::chrono::milliseconds{0} : kLook;
  }
  end_after(dead);
}

void RankProcesses::end_after(const std::string& who) {
  const std::optional<int> before = failed_before(exit_failed);
  remove_unfinished_files();
  if (!before) {
    dprintf(stderr_, "weyl: rank %d of %d: all must be there, but %s\n", place_.rank, place_.size,
            who.c_str());
  }
  leave(/*disconnects=*/false);
  for (const pid_t child : children_) {
    kill(child, SIGKILL);
  }
  std::error_code ignored;
  if (folder_) {
    std::filesystem::remove_all(folder_->path(), ignored);
  }
  _exit(before.value_or(exit_failed));
}

void RankProcesses::end() {
  watch_ = {};
  ranks_.reset();  // whoever still waits for this rank hears of its end
  const auto end = std::chrono::steady_clock::now() + kLastWords;
  for (const pid_t child : children_) {
    while (waitpid(child, nullptr, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        kill(child, SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

}  // namespace weyl
