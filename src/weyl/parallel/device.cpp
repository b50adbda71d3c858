#include "weyl/parallel/device.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <array>
#include <cstdint>
#include <iomanip>
#include <optional>
#include <sstream>

namespace weyl {
namespace {

/// What the driver says of a device.
struct Facts {
  std::string name;
  double gib = 0;
  int major = 0, minor = 0;  // compute capability
};

/// CUDA's driver, of which LibTorch tells nothing without CUDA's own headers. The functions asked here have had the same
/// binary interface in all its versions.
class Driver {
 public:
  /// LibTorch has loaded the library by the time that it knows of a device; nothing is searched for here.
  Driver() : library_(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) {}
  ~Driver() {
    if (library_ != nullptr) {
      dlclose(library_);
    }
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  std::optional<Facts> facts(int index) const {
    using Handle = int;
    int (*start)(unsigned) = nullptr;
    int (*get)(Handle*, int) = nullptr;
    int (*name)(char*, int, Handle) = nullptr;
    int (*bytes)(size_t*, Handle) = nullptr;
    int (*attribute)(int*, int, Handle) = nullptr;
    if (library_ == nullptr || !find(start, "cuInit") || !find(get, "cuDeviceGet") ||
        !find(name, "cuDeviceGetName") || !find(bytes, "cuDeviceTotalMem_v2") ||
        !find(attribute, "cuDeviceGetAttribute")) {
      return std::nullopt;
    }
    constexpr int capability_major = 75, capability_minor = 76;
    Handle handle = 0;
    std::array<char, 256> written{};
    size_t memory = 0;
    Facts facts;
    if (start(0) != 0 || get(&handle, index) != 0 || name(written.data(), written.size() - 1, handle) != 0 ||
        bytes(&memory, handle) != 0 || attribute(&facts.major, capability_major, handle) != 0 ||
        attribute(&facts.minor, capability_minor, handle) != 0) {
      return std::nullopt;
    }
    facts.name = written.data();
    facts.gib = static_cast<double>(memory) / (1 << 30);
    return facts;
  }

 private:
  template <class F>
  bool find(F& function, const char* name) const {
    function = reinterpret_cast<F>(dlsym(library_, name));
    return function != nullptr;
  }

  void* library_;
};

std::optional<Facts> device_facts(at::Device device) {
  return device.is_cuda() ? Driver().facts(device_index(device)) : std::nullopt;
}

}  // namespace

c10::DeviceIndex device_index(at::Device device) {
  return device.has_index() ? device.index() : c10::impl::VirtualGuardImpl(device.type()).getDevice().index();
}

void synchronise(at::Device device) {
  if (!device.is_cpu()) {
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device_index(device));
  }
}

std::string device_name(at::Device device) {
  const std::optional<Facts> facts = device_facts(device);
  return facts ? facts->name : device.str();
}

std::string device_text(at::Device device) {
  const std::optional<Facts> facts = device_facts(device);
  if (!facts) {
    return device.str();
  }
  std::ostringstream line;
  line << device.str() << ": " << facts->name << std::fixed << std::setprecision(1) << ", " << facts->gib
       << " GiB, compute capability " << facts->major << "." << facts->minor;
  return line.str();
}

}  // namespace weyl
