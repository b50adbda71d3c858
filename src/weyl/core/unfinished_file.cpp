#include "weyl/core/unfinished_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <span>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr std::string_view ending = ".tmp";

/// A file in the making, at an address that a signal handler can read at any time.
struct Slot {
  std::atomic<bool> taken = false, whole = false;  // somebody's; its path is written to the end
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<bool>::is_always_lock_free);

std::span<Slot> slots() {
  static std::array<Slot, 64> all;
  return all;
}

// The whole number at the end of a name, after `mark`, both of which are taken off it.
std::optional<long> take_number(std::string_view& name, char mark) {
  const size_t at = name.find_last_not_of("0123456789");
  long number = 0;
  const bool marked = at != std::string_view::npos && name[at] == mark;
  if (!marked || std::from_chars(name.data() + at + 1, name.data() + name.size(), number).ec != std::errc()) {
    return {};
  }
  name = name.substr(0, at);
  return number;
}

}  // namespace

UnfinishedFile::UnfinishedFile(const std::string& path) {
  const std::span<Slot> all = slots();
  if (path.size() >= PATH_MAX) {
    slot_ = all.size();
  }
  while (slot_ < all.size() && all[slot_].taken.exchange(true)) {
    ++slot_;
  }
  if (slot_ < all.size()) {
    *std::copy(path.begin(), path.end(), all[slot_].path.begin()) = '\0';
    all[slot_].whole = true;
  }
}

UnfinishedFile::~UnfinishedFile() {
  if (slot_ < slots().size()) {
    slots()[slot_].whole = false;
    slots()[slot_].taken = false;
  }
}

void remove_unfinished_files() noexcept {
  const int before = errno;
  for (const Slot& slot : slots()) {
    if (slot.whole) {
      ::unlink(slot.path.data());
    }
  }
  errno = before;
}

std::string unfinished_name(const std::string& path, unsigned number) {
  return text(path, ".", ::getpid(), "-", number, ending);
}

std::optional<long> process_of_unfinished(std::string_view name) {
  if (!name.ends_with(ending)) {
    return {};
  }
  name.remove_suffix(ending.size());
  if (!take_number(name, '-')) {
    return {};
  }
  const std::optional<long> process = take_number(name, '.');
  return name.empty() ? std::nullopt : process;
}

}  // namespace weyl
