#pragma once

#include <string>

#include "weyl/models/options.h"

namespace weyl {

/// What `weyl config new` is asked for.
struct NewConfigRequest {
  std::string data;    // a file or folder of any format that is trained on
  std::string task;    // empty: the one that the data are for
  std::string system;  // empty: the one that does best on such data
};

/// A config for people to read and change, and what was chosen in it.
struct NewConfig {
  std::string text, task, system;
};

/// Looks at the data and writes a config that trains on them within minutes, with a comment beside each key. What it
/// writes was read again and has no option that nothing reads. `known`: the systems that configs may name.
/// DataError: there is no such path, no format takes it, or it cannot be read. ConfigError: data that must be cut, split
/// or given as a folder first, with the command; several tasks fit and none is named; a task or system that does not fit,
/// with those that do.
NewConfig new_config(const NewConfigRequest& request, const ModelOptions& known);

}  // namespace weyl
