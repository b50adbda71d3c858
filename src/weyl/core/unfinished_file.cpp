#include "weyl/core/unfinished_file.h"

#include <unistd.h>

#include <charconv>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr std::string_view ending = ".tmp";

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
