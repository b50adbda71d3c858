#pragma once

#include <exception>

namespace weyl {

/// `report` of app/verbs/verbs.h that knows LibTorch's errors: without their stack, and with exit code 4 for want of memory.
int report_torch(const std::exception& error);

}  // namespace weyl
