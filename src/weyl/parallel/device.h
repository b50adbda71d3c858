#pragma once

#include <c10/core/Device.h>
#include <string>

namespace weyl {

/// The number of a device among those of its kind: that of the current one where it has none, as in "cuda".
c10::DeviceIndex device_index(at::Device device);

/// Waits until a device has done all work that it was given, so that a clock read afterwards counts it. On the CPU, where
/// a call is done when it returns, it does nothing. c10::Error: LibTorch has no such device.
void synchronise(at::Device device);

/// What the driver calls a device ("NVIDIA H100 80GB HBM3"), or "cpu"; where the driver does not say, as LibTorch writes it.
std::string device_name(at::Device device);

/// A device on one line: "cuda:0: NVIDIA H100 80GB HBM3, 79.2 GiB, compute capability 9.0"; where the driver does not say,
/// as LibTorch writes it.
std::string device_text(at::Device device);

}  // namespace weyl
