#include "weyl/makers/bodies/rigid_world.h"

#include "weyl/core/check.h"
#include "weyl/core/module.h"
#include "weyl/makers/bodies/bullet_module.h"

namespace weyl {
namespace {

struct BulletModule : OpenedModule {
  decltype(&weyl_bullet_version) version = nullptr;
  decltype(&weyl_bullet_world) world = nullptr;

  BulletModule()
      : OpenedModule(WEYL_BULLET_MODULE,
                     "which this build is without; run scripts/setup, then scripts/build") {
    find(version, "weyl_bullet_version");
    find(world, "weyl_bullet_world");
  }
};

const BulletModule& bullet_module() {
  static const BulletModule opened;
  return opened;
}

}  // namespace

std::unique_ptr<RigidWorld> make_rigid_world() {
  require<ConfigError>(bullet_module().fault().empty(), "rigid_bodies: needs Bullet (libbullet-dev), ",
                       bullet_module().fault());
  return std::unique_ptr<RigidWorld>(bullet_module().world());
}

std::string bullet_version() {
  std::string version;
  if (bullet_module().fault().empty()) {
    bullet_module().version(version);
  }
  return version;
}

}  // namespace weyl
