#pragma once

#include <string>

#include "weyl/makers/bodies/rigid_world.h"

// What the module weyl_bullet has for bodies/rigid_world.cpp, which finds the functions by their names. It is built
// when Bullet is there, and from the same tree: the types need no stable layout.
extern "C" {
void weyl_bullet_version(std::string& version);
weyl::RigidWorld* weyl_bullet_world();  // the caller's own
}
