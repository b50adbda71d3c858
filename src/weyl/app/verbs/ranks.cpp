#include "weyl/app/verbs/ranks.h"

#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/exec_words.h"
#include "weyl/core/input_file.h"
#include "weyl/core/text_number.h"
#include "weyl/parallel/device.h"
#include "weyl/train/run/fingerprint.h"

namespace weyl {
namespace {

// What a child of --ranks is told: files in memory, which it inherits, where all meet and with the first fault of any; the
// process that has started it.
constexpr const char *kMeeting = "WEYL_RANKS_MEETING", *kFault = "WEYL_RANKS_FAULT",
                     *kParent = "WEYL_RANKS_PARENT";
// Whole seconds for which a rank waits for another, and how many they are if nobody says.
constexpr const char* kTimeout = "WEYL_RANKS_TIMEOUT";
constexpr std::chrono::seconds kUsual{600}, kMost{7 * 24 * 3600};
constexpr std::chrono::seconds kLastWords{5};
// Between looks at the others; for which one goes on beside one that has failed or died; for which the first of those that a starter
// has made waits for the others when one has gone without a word.
constexpr std::chrono::milliseconds kLook{100}, kBeside{2'000}, kWithoutWord{2'000};

std::chrono::seconds timeout() {
  const char* given = std::getenv(kTimeout);
  const int64_t seconds = given == nullptr ? kUsual.count() : parse_integer(given).value_or(0);
  require<ConfigError>(seconds >= 1 && seconds <= kMost.count(), "environment: ", kTimeout,
                       " must be whole seconds from 1 to ", kMost.count(), ", got '",
                       given != nullptr ? given : "", "'");
  return std::chrono::seconds(seconds);
}

int file_in_memory() {
  const int file = memfd_create("weyl-ranks", MFD_CLOEXEC);
  require<DataError>(file >= 0, "--ranks: no file in memory can be made: ", std::strerror(errno));
  return file;
}

/// What a variable says that the process which has started this one sets.
int inherited(const char* name) {
  const char* value = std::getenv(name);
  const int64_t number = parse_integer(value != nullptr ? value : "").value_or(-1);
  require<ConfigError>(number > 0 && number <= INT32_MAX, "environment: ", name,
                       " must be as whoever starts children of --ranks sets it");
  return static_cast<int>(number);
}

int inherited_file(const char* name) {
  const int file = inherited(name);
  require<ConfigError>(fcntl(file, F_SETFD, FD_CLOEXEC) == 0, "environment: ", name,
                       " must be an open file of whoever starts children of --ranks");
  return file;
}

/// The exit code of the first of the processes of --ranks that fails, in memory that all of them share; 0: none has failed. Null in
/// other processes.
using FirstFault = std::atomic<int>;
static_assert(FirstFault::is_always_lock_free);  // so that a signal's handler may ask
FirstFault* first_fault = nullptr;

std::optional<int> fault_before(int code) {
  int first = 0;
  return first_fault->compare_exchange_strong(first, code) ? std::nullopt : std::optional(first);
}

void share_first_fault(int file) {
  void* memory = mmap(nullptr, sizeof(FirstFault), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  require<DataError>(memory != MAP_FAILED, "--ranks: memory cannot be shared: ", std::strerror(errno));
  first_fault = static_cast<FirstFault*>(memory);  // of zeros, which are one
  ask_before_faults(fault_before);
}

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

/// How a process has ended, in words, and the exit code that follows for the others.
struct Death {
  std::string how;
  int code = exit_failed;
};

/// Of a child that has ended so that the others cannot go on; it stays to be waited for.
std::optional<Death> death_of(pid_t child) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return {};
  }
  if (info.si_code != CLD_EXITED) {
    return Death{text("ended by signal ", info.si_status, " (", strsignal(info.si_status), ")")};
  }
  if (info.si_status == exit_done || info.si_status == exit_interrupted) {
    return {};
  }
  return Death{text("ended with exit code ", info.si_status), info.si_status};
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

void require_alike(const std::shared_ptr<Ranks>& ranks, const Predictor& predictor,
                   const std::shared_ptr<const Dataset>& data, const std::string& where) {
  if (ranks == nullptr) {
    return;
  }
  const Json found = fingerprint({.test = data});
  ranks->require_same("the model's weights", text("checksum ", predictor.checksum()));
  ranks->require_same(where, words_of_split(found.find("test")));
}

void require_alike(const std::shared_ptr<Ranks>& ranks, const Predictor& predictor, const std::string& file) {
  if (ranks == nullptr) {
    return;
  }
  ranks->require_same("the model's weights", text("checksum ", predictor.checksum()));
  if (std::filesystem::is_directory(file)) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(file)) {
      if (entry.is_regular_file()) {
        files.push_back(text(entry.path().filename().string(), " ", entry.file_size()));
      }
    }
    std::ranges::sort(files);
    const std::string all = joined(files, "\n");
    ranks->require_same(file, text(files.size(), " files, names and sizes with checksum ",
                                   checksum(std::as_bytes(std::span(all)))));
    return;
  }
  constexpr size_t beginning = size_t{1} << 20;
  std::string first(beginning, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(first.data(), static_cast<std::streamsize>(first.size()));
  first.resize(static_cast<size_t>(in.gcount()));
  ranks->require_same(file, text(std::filesystem::file_size(file), " bytes, at its beginning with checksum ",
                                 checksum(std::as_bytes(std::span(first)))));
}

RankProcesses::RankProcesses(int64_t asked, const Machine& machine) : machine_(machine) {
  try {
    start(asked);
  } catch (...) {
    end();
    throw;
  }
}

bool RankProcesses::is_child() {
  return std::getenv(kMeeting) != nullptr;
}

void RankProcesses::start(int64_t asked) {
  std::optional<RankPlace> place = rank_place();
  const bool child = is_child();
  require<ConfigError>(place || !child, "environment: ", kMeeting,
                       " must stand beside WEYL_RANK and WEYL_RANKS, which are those of children of --ranks");
  require<ConfigError>(!place || child || asked == 0 || asked == place->size, "--ranks: must be ",
                       place ? place->size : 1, ", as many as ", place ? place->from : "",
                       " has started, or not be given; got ", asked);
  if (!place && asked < 2) {
    return;
  }
  meeting_.timeout = timeout();
  const bool starts = !place;
  if (starts || child) {
    const int meeting = child ? inherited_file(kMeeting) : file_in_memory();
    const int fault = child ? inherited_file(kFault) : file_in_memory();
    require<DataError>(child || ftruncate(fault, sizeof(FirstFault)) == 0,
                       "--ranks: no memory can be shared: ", std::strerror(errno));
    share_first_fault(fault);
    meeting_.file = text("/proc/self/fd/", meeting);
    if (child) {
      parent_ = inherited(kParent);
    } else {
      start_children(asked, {{kMeeting, meeting}, {kFault, fault}});
      place = RankPlace{
          .size = static_cast<int>(asked), .local_size = static_cast<int>(asked), .from = "--ranks"};
    }
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
  if (first_fault != nullptr) {
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
  if (const at::Device device = device_of(machine_, ranks_); device.is_cuda()) {
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
    at::set_num_threads(std::max(1, at::get_num_threads() / static_cast<int>(ranks_->sharing_cores())));
  }
}

void RankProcesses::start_children(int64_t count, const std::map<const char*, int>& files) {
  ExecWords arguments(own_arguments());
  for (int64_t rank = 1; rank < count; ++rank) {
    std::vector<std::string> told{text("WEYL_RANK=", rank), text("WEYL_RANKS=", count),
                                  text(kParent, "=", getpid())};
    for (const auto& [name, file] : files) {
      told.push_back(text(name, "=", file));
    }
    ExecWords variables(environment_for_child(
        told, [](std::string_view setting) { return setting.starts_with("WEYL_ALONE="); }));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    for (const auto& [name, file] : files) {
      posix_spawn_file_actions_adddup2(&actions, file, file);  // which leaves it open
    }
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
  bool told = true;  // whether the others hear why
  try {
    meet();
    code = work();
    end();  // which waits for the children: where one of them fails now, this is no success
    return first_fault != nullptr && *first_fault != 0 ? first_fault->load() : code;
  } catch (const RankLeaves&) {
    code = failure_of_another(code);
  } catch (const std::exception& error) {
    code = exit_code_of(error);
    const auto before = failed_before(code);
    told = before || dynamic_cast<const RankError*>(&error) == nullptr;
    if (before) {
      code = *before;
    } else {
      report(error);
    }
  }
  if (ranks_ != nullptr) {
    ranks_->leave(told ? meeting_.timeout : kWithoutWord);
  }
  return code;
}

/// As Ranks::failed_before; of processes of --ranks also before all have met.
std::optional<int> RankProcesses::failed_before(int code) {
  if (first_fault != nullptr) {
    return fault_before(code);
  }
  return ranks_ != nullptr ? ranks_->failed_before(code) : std::nullopt;
}

/// As Ranks::failure_of_another.
int RankProcesses::failure_of_another(int otherwise) {
  if (first_fault == nullptr) {
    return ranks_->failure_of_another(otherwise);
  }
  while (*first_fault == 0) {  // the watch looks whether the others are there
    std::this_thread::sleep_for(kLook);
  }
  return *first_fault;
}

// Unless this process ends by itself meanwhile, as one does that waits for the others. Nothing here waits for c10d, nor uses what another
// thread may be using.
void RankProcesses::watch(const std::stop_token& stop) {
  std::string dead;
  int code = exit_failed;
  for (std::chrono::milliseconds since{0}; since < kBeside;) {
    if (stop.stop_requested()) {
      return;
    }
    if (parent_ > 0 && getppid() != parent_) {
      dead = "rank 0 has ended";
    }
    for (size_t i = 0; i < children_.size() && dead.empty(); ++i) {
      if (const auto death = death_of(children_[i])) {
        dead = text("rank ", i + 1, " has ", death->how);
        code = death->code;
      }
    }
    std::this_thread::sleep_for(kLook);
    since += dead.empty() && *first_fault == 0 ? std::chrono::milliseconds{0} : kLook;
  }
  end_after(dead, code);
}

void RankProcesses::end_after(const std::string& who, int code) {
  const std::optional<int> before = fault_before(code);
  remove_unfinished_files();
  if (!before) {
    dprintf(stderr_, "weyl: rank %d of %d: all must be there, but %s\n", place_.rank, place_.size,
            who.c_str());
  }
  for (const pid_t child : children_) {
    kill(child, SIGKILL);
  }
  _exit(before.value_or(code));
}

void RankProcesses::end() {
  watch_ = {};
  ranks_.reset();  // whoever still waits for this rank hears of its end
  const auto end = std::chrono::steady_clock::now() + kLastWords;
  for (const pid_t child : std::exchange(children_, {})) {
    while (waitpid(child, nullptr, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        kill(child, SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

}  // namespace weyl
