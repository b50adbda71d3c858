#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "weyl/core/check.h"

namespace weyl {

/// A batch of `samples` gave `error`: throws the DataError "WHERE: sample I: ..." of the first sample that
/// `attempt`, given it alone, answers with a ShapeError too. Where none does, throws `error` as it is.
[[noreturn]] void blame_sample(const std::string& where, const ShapeError& error,
                               std::span<const int64_t> samples,
                               const std::function<void(int64_t sample)>& attempt);

}  // namespace weyl
