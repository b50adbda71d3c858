#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/bodies/rigid_scenes.h"

namespace {

/// The file with the right checksum of its header, where it has one: what lies behind it would never be reached.
std::string sealed(std::string file) {
  const std::string begin = R"({"__metadata__":{"weyl.xxh3_64.header":"0123456789abcdef)";
  uint64_t length = 0;
  std::memcpy(&length, file.data(), std::min(file.size(), sizeof length));
  if (length >= begin.size() && length <= file.size() - std::min(file.size(), sizeof length)) {
    std::string head = file.substr(0, sizeof length + length);
    weyl::seal_header(head);
    file.replace(0, head.size(), head);
  }
  return file;
}

void check(const std::string& file) {
  const int descriptor = memfd_create("scenes", 0);
  if (descriptor < 0 || write(descriptor, file.data(), file.size()) != static_cast<ssize_t>(file.size())) {
    std::abort();
  }
  try {
    const weyl::RigidScenesFile scenes("/proc/self/fd/" + std::to_string(descriptor));
    for (int64_t i = 0; i < std::min<int64_t>(scenes.scenes(), 100); ++i) {
      const auto scene = scenes.scene(i);
      bool sound = !scene.objects.empty() &&
                   scene.poses.size() == scene.objects.size() * static_cast<size_t>(scenes.frames()) * 7 &&
                   scene.contacts.size() * 7 == scene.poses.size();
      for (const auto& object : scene.objects) {
        const auto& mesh = scenes.shapes().at(object.shape).mesh;
        sound = sound && object.scale > 0 && mesh.triangle_count() > 0;
        for (const int64_t corner : mesh.triangles) {
          sound = sound && std::isfinite(mesh.vertices.at(3 * corner));
        }
      }
      if (!sound) {
        std::abort();
      }
    }
  } catch (const weyl::DataError&) {
  } catch (...) {
    close(descriptor);
    throw;
  }
  close(descriptor);
}

}  // namespace

/// A file is refused with a DataError, or its scenes have objects whose shapes and poses are there.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  check(file);
  check(sealed(file));
  return 0;
}
