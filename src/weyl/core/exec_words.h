#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// Words as exec and posix_spawn take them: arguments, or an environment of "NAME=value".
class ExecWords {
 public:
  explicit ExecWords(std::vector<std::string> words);
  ExecWords(const ExecWords&) = delete;
  ExecWords& operator=(const ExecWords&) = delete;

  char* const* data() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;  // null at the end
};

/// This process's environment without the settings that `drops`, behind `more`.
std::vector<std::string> environment_for_child(std::vector<std::string> more,
                                               const std::function<bool(std::string_view)>& drops);

}  // namespace weyl
