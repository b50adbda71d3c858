#pragma once

#include <functional>

#include "weyl/core/prepared_file.h"
#include "weyl/core/tensor_file.h"

namespace weyl {

/// The tensors that a prepared file keeps, where `fits` takes them (a DataError of it is a no); else those that `make` makes,
/// which the file then keeps. Of several processes that ask for the same, one makes them.
NamedTensors kept_or_made(const PreparedFile& file, const std::function<bool(const NamedTensors&)>& fits,
                          const std::function<NamedTensors()>& make);

}  // namespace weyl
