#pragma once

namespace weyl {

/// The version of the project, "0.2.0".
const char* version();

}  // namespace weyl
