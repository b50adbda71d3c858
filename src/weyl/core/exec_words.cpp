#include "weyl/core/exec_words.h"

#include <unistd.h>

#include <utility>

extern char** environ;

namespace weyl {

ExecWords::ExecWords(std::vector<std::string> words) : words_(std::move(words)) {
  for (std::string& word : words_) {
    pointers_.push_back(word.data());
  }
  pointers_.push_back(nullptr);
}

std::vector<std::string> environment_for_child(std::vector<std::string> more,
                                               const std::function<bool(std::string_view)>& drops) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!drops(*entry)) {
      more.emplace_back(*entry);
    }
  }
  return more;
}

}  // namespace weyl
