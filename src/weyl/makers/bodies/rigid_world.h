#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "weyl/data/bodies/body.h"

namespace weyl {

/// Seconds of one step of the simulation, and the gravity along -z in m/s^2.
constexpr double rigid_time_step = 1.0 / 240;
constexpr double rigid_gravity = 10;

/// What a body is, beside its shape at scale 1.
struct BodyProperties {
  double scale = 1, mass = 1;  // m, kg
  double friction = 0.5, restitution = 0;
};

/// Where a body is and how it moves; the quaternion is (x, y, z, w), the angular velocity in the world's axes.
struct BodyState {
  std::array<double, 3> position{};
  std::array<double, 4> quaternion{0, 0, 0, 1};
  std::array<double, 3> velocity{}, angular_velocity{};
};

/// What a body touched, as bits.
enum Touched : uint8_t { touched_nothing = 0, touched_floor = 1, touched_body = 2 };

/// Rigid bodies above a floor whose top is z = 0, under gravity, by Bullet with the settings of MOVi (Kubric):
/// sequential impulses, 50 iterations, no warm starting, split impulses, pyramid friction, no damping and no sleep; bodies
/// are compounds of convex hulls with a margin of 0.001 m outside of them, their inertia is that of the solid
/// box around them, friction and restitution of a pair are products (the floor has 0.3 and 0.5). One world is one scene,
/// of one thread at a time; the same calls give the same bits.
class RigidWorld {
 public:
  virtual ~RigidWorld() = default;

  /// Adds a body, which is in the world once it is placed. Bodies are numbered from 0 as they are added.
  virtual void add(const BodyShape& shape, const BodyProperties& properties) = 0;
  /// Places the body that was added last, at rest. False when it touches the floor or another body there: then it is not
  /// placed.
  virtual bool place(const std::array<double, 3>& position, const std::array<double, 4>& quaternion) = 0;
  virtual void set_velocity(int64_t body, const std::array<double, 3>& linear,
                            const std::array<double, 3>& angular) = 0;
  /// Goes on by rigid_time_step.
  virtual void step() = 0;

  virtual BodyState state(int64_t body) const = 0;
  virtual uint8_t touched(int64_t body) const = 0;                // in the last step: bits of Touched
  virtual std::array<double, 3> inertia(int64_t body) const = 0;  // kg m^2, about the body's own axes
  /// How deep the tree of a body's parts is, of which a part is found in so many steps.
  virtual int64_t depth_of_parts(int64_t body) const = 0;
};

/// An empty world. ConfigError: this build has no Bullet, or its libraries cannot be opened.
std::unique_ptr<RigidWorld> make_rigid_world();

/// The version of Bullet, "3.24"; empty: there is none.
std::string bullet_version();

}  // namespace weyl
