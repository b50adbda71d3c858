#pragma once

#include <string>
#include <vector>

#include "weyl/core/json.h"

namespace weyl {

/// Versions of the programs and libraries that weyl uses when they are there: {name: version or null}.
/// Torch-free.
Json optional_programs();

/// What `doctor` prints: `ok`, `torch`, `blas`, `devices`, `optional`, and `problems` for people.
struct DoctorReport {
  std::string torch, blas;  // empty: no engine
  std::vector<std::string> devices;
  std::vector<std::string> problems;
  int64_t threads = 0;
};

/// Prints it, with what keeps weyl's own modules from being opened among the problems, and returns the exit code: 0 when
/// there is no problem, else 1.
int print(DoctorReport report, bool json);

}  // namespace weyl
