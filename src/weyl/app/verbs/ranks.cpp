#include "weyl/app/verbs/ranks.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "weyl/app/terminal/log.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"

extern char** environ;

namespace weyl {
namespace {

constexpr const char* kFile = "WEYL_RANKS_FILE";  // where the children of --ranks meet
// For which a rank waits for another. The first one reads and mends a run folder while the others wait.
constexpr std::chrono::minutes kTimeout{10};
constexpr std::chrono::seconds kLastWords{5};

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

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) {
    result.push_back(word.data());
  }
  result.push_back(nullptr);
  return result;
}

}  // namespace

RankProcesses::RankProcesses(int64_t asked) {
  try {
    meet(asked);
  } catch (...) {
    end();
    throw;
  }
}

void RankProcesses::meet(int64_t asked) {
  std::optional<RankPlace> place = rank_place();
  const bool child = place && std::getenv(kFile) != nullptr;
  require<ConfigError>(!place || child || asked == 0 || asked == place->size, "--ranks: must be ",
                       place ? place->size : 1, ", as many as ", place ? place->from : "",
                       " has started, or not be given; got ", asked);
  Meeting meeting{.timeout = kTimeout};
  require<ConfigError>(place || std::getenv(kFile) == nullptr, "environment: ", kFile,
                       " must stand beside WEYL_RANK and WEYL_RANKS, which are those of children of --ranks");
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME")) {
    meeting.interface = interface;
  }
  if (!place) {
    if (asked < 2) {
      return;
    }
    meeting.file = folder_.emplace("ranks") / "meeting";
    start_children(asked, meeting.file);
    place =
        RankPlace{.size = static_cast<int>(asked), .local_size = static_cast<int>(asked), .from = "--ranks"};
  } else if (child) {
    meeting.file = std::getenv(kFile);
  } else {
    require<ConfigError>(place->size == 1 || !place->address.empty(),
                         "environment: MASTER_ADDR must be set to the host of rank "
                         "0 (127.0.0.1 where all are of one host) for ranks that ",
                         place->from, " has started");
  }
  if (place->size > 1) {
    if (place->rank == 0) {
      say(text(place->size, " ranks, by ", place->from, ", meet",
               place->address.empty() ? "" : " at " + place->address));
    }
    ranks_ = std::make_shared<Ranks>(*place, meeting);
  }
}

void RankProcesses::start_children(int64_t count, const std::string& meeting) {
  std::vector<std::string> arguments = own_arguments();
  const std::vector<char*> argv = pointers(arguments);
  for (int64_t rank = 1; rank < count; ++rank) {
    std::vector<std::string> variables{"WEYL_RANK=" + std::to_string(rank),
                                       "WEYL_RANKS=" + std::to_string(count),
                                       std::string(kFile) + "=" + meeting};
    for (char** entry = environ; *entry != nullptr; ++entry) {
      if (!std::string_view(*entry).starts_with("WEYL_ALONE=")) {
        variables.emplace_back(*entry);
      }
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int failed =
        posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    require<DataError>(failed == 0, "--ranks: process ", rank, " of ", count,
                       " could not be started: ", std::generic_category().message(failed));
    children_.push_back(pid);
  }
}

RankProcesses::~RankProcesses() {
  end();
}

void RankProcesses::end() {
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
