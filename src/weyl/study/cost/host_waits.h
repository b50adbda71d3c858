#pragma once

#include <c10/core/Device.h>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace weyl {

/// How often the host waited for a device of this kind while `work` ran, on whichever thread: for a number that is read
/// back, a copy from or to memory that is not pinned, a stream, an event or all of the device. Nothing on the CPU, which is
/// the host, nor where somebody else (Python) already hears of these waits. Calls of several threads take turns.
///
/// With `places`, what called each wait, innermost first, one function a line, and how many waits it was; much slower.
std::optional<int64_t> host_waits(at::Device device, const std::function<void()>& work,
                                  std::map<std::string, int64_t>* places = nullptr);

}  // namespace weyl
