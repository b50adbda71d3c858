#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "weyl/core/check.h"
#include "weyl/data/atoms/frame_index.h"

namespace {

/// A file in memory, read by its path as any other.
struct File {
  int descriptor = ::memfd_create("weyl-frame-index-fuzz", 0);
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  ~File() { ::close(descriptor); }
};

void check(const std::string& path) {
  constexpr int64_t channels = 3;
  try {
    const weyl::FrameIndex index = weyl::read_index(weyl::SafetensorsFile(path), {channels});
    const size_t samples = index.sizes.size();
    bool sound = (index.places.empty() || index.places.size() == samples) && index.states.size() == 1 &&
                 index.states[0].size() == samples && index.common.typical_nodes > 0;
    for (const uint16_t channel : index.states[0]) {
      sound = sound && channel < channels;
    }
    for (const int64_t sample : index.isolated) {
      sound = sound && sample >= 0 && static_cast<size_t>(sample) < samples;
    }
    if (!sound) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
}

}  // namespace

/// An index is refused with a DataError, or its parts fit together; also behind the right checksum of its header.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const File file;
  std::string whole(reinterpret_cast<const char*>(data), size);
  for (const bool sealed : {false, true}) {
    const std::string begin = R"({"__metadata__":{"weyl.xxh3_64.header":"0123456789abcdef)";
    uint64_t length = 0;
    std::memcpy(&length, whole.data(), std::min(size, sizeof length));
    if (sealed && (length < begin.size() || length > size - std::min(size, sizeof length))) {
      return 0;
    }
    if (sealed) {
      std::string head = whole.substr(0, sizeof length + length);
      weyl::seal_header(head);
      whole.replace(0, head.size(), head);
    }
    if (::ftruncate(file.descriptor, 0) != 0 ||
        ::pwrite(file.descriptor, whole.data(), whole.size(), 0) != static_cast<ssize_t>(whole.size())) {
      std::abort();
    }
    check(file.path);
  }
  return 0;
}
