#pragma once

namespace weyl {

/// The version of the project, "0.1.0".
const char* version();

}  // namespace weyl
