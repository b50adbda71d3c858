#include "weyl/data/makers/rigid_world.h"

#include <dlfcn.h>

#include "weyl/core/check.h"
#include "weyl/core/library_folder.h"
#include "weyl/data/makers/bullet_module.h"

namespace weyl {
namespace {

/// The module beside this library.
struct BulletModule {
  std::string fault;  // why it cannot be used
  decltype(&weyl_bullet_version) version = nullptr;
  decltype(&weyl_bullet_world) world = nullptr;

  BulletModule();

 private:
  template <class F>
  void find(void* handle, F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(handle, name));
    if (function == nullptr) {
      fault = text("the module has no ", name);
    }
  }
};

BulletModule::BulletModule() {
  const std::string name = WEYL_BULLET_MODULE;
  if (name.empty()) {
    fault = "which this build is without; run scripts/setup, then scripts/build";
    return;
  }
  void* handle = nullptr;
  try {
    require_absolute_library_path();
    handle = dlopen((library_folder() / name).c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (const ConfigError& error) {
    fault = text("which cannot be opened: ", error.what());
    return;
  }
  if (handle == nullptr) {
    fault = text("which cannot be opened: ", dlerror());
    return;
  }
  find(handle, version, "weyl_bullet_version");
  find(handle, world, "weyl_bullet_world");
}

const BulletModule& bullet_module() {
  static const BulletModule opened;
  return opened;
}

}  // namespace

std::unique_ptr<RigidWorld> make_rigid_world() {
  require<ConfigError>(bullet_module().fault.empty(), "rigid_bodies: needs Bullet (libbullet-dev), ",
                       bullet_module().fault);
  return std::unique_ptr<RigidWorld>(bullet_module().world());
}

std::string bullet_version() {
  std::string version;
  if (bullet_module().fault.empty()) {
    bullet_module().version(version);
  }
  return version;
}

}  // namespace weyl
