#pragma once

#include <span>
#include <string>
#include <vector>

namespace weyl {

/// What can be said after a verb: its flags ("--out", "-o") and the verbs below it.
struct Words {
  std::string name;
  std::vector<std::string> flags;
  std::vector<Words> verbs;
};

/// The first argument that is no verb or flag where it stands, as a message that names the nearest one:
/// "weyl train: unknown flag '--devise'; did you mean '--device'?". Empty when there is none.
std::string wrong_word(const Words& program, std::span<const std::string> arguments);

}  // namespace weyl
