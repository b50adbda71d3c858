#include "weyl/app/wrong_word.h"

#include <algorithm>

#include "weyl/core/nearest.h"

namespace weyl {
namespace {

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

bool is_flag(const std::string& argument) {
  if (argument.size() < 2 || argument[0] != '-') {
    return false;
  }
  const char second = argument[1];  // a negative number is a value
  return second != '.' && (second < '0' || second > '9');
}

std::string wrong_flag(const Words& at, const std::string& where, const std::string& argument) {
  const std::string flag = argument.substr(0, argument.find('='));
  // A short flag may carry its value: -oFILE.
  const std::string name = flag[1] == '-' ? flag : flag.substr(0, 2);
  if (std::find(at.flags.begin(), at.flags.end(), name) != at.flags.end()) {
    return "";
  }
  return where + ": unknown flag '" + flag + "'" + did_you_mean(flag, at.flags);
}

}  // namespace

std::string wrong_word(const Words& program, std::span<const std::string> arguments) {
  const Words* at = &program;
  std::string where = program.name;
  for (const std::string& argument : arguments) {
    if (argument == "--") {
      return "";
    }
    if (is_flag(argument)) {
      if (const std::string wrong = wrong_flag(*at, where, argument); !wrong.empty()) {
        return wrong;
      }
      continue;
    }
    if (at->verbs.empty()) {
      continue;
    }
    std::vector<std::string> names;
    for (const Words& verb : at->verbs) {
      names.push_back(verb.name);
    }
    const auto found = std::find(names.begin(), names.end(), argument);
    if (found == names.end()) {
      const std::string meant = did_you_mean(argument, names);
      std::string list;
      for (const std::string& name : names) {
        list += (list.empty() ? "; there are " : ", ") + name;
      }
      return where + ": there is no verb '" + argument + "'" + (meant.empty() ? list : meant);
    }
    at = &at->verbs[static_cast<size_t>(found - names.begin())];
    where += " " + argument;
  }
  return "";
}

}  // namespace weyl
