#pragma once

#include <vector>

#include "weyl/core/setting.h"

namespace weyl {

/// What a file of another program says beside its weights; empty where it says nothing.
struct ForeignRecord {
  Settings settings;               // its hyper_parameters
  std::vector<bool> trained_rows;  // of its tables of types: those that training has moved
};

}  // namespace weyl
