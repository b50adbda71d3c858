#include "weyl/makers/bodies/bullet_module.h"

#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>
#include <BulletDynamics/ConstraintSolver/btSequentialImpulseConstraintSolver.h>
#include <btBulletDynamicsCommon.h>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "weyl/core/check.h"

#ifndef BT_USE_DOUBLE_PRECISION
#error \
    "weyl_bullet needs the float64 build of Bullet (pkg-config bullet-float64): the types of the other have the same names"
#endif

extern btScalar gDbvtMargin;  // of the tree of bodies; no header declares it

namespace weyl {
namespace {

constexpr double kMargin = 0.001;  // outside of every hull
constexpr double kFloorFriction = 0.3, kFloorRestitution = 0.5;
constexpr double kFloorHalfWidth = 80, kFloorHalfThickness = 0.41;

btVector3 vector(const std::array<double, 3>& x) {
  return {x[0], x[1], x[2]};
}
std::array<double, 3> array(const btVector3& x) {
  return {x.x(), x.y(), x.z()};
}

/// Whether the closest points of two objects are at distance 0 or less.
class TouchSeeker : public btCollisionWorld::ContactResultCallback {
 public:
  btScalar addSingleResult(btManifoldPoint& point, const btCollisionObjectWrapper*, int, int,
                           const btCollisionObjectWrapper*, int, int) override {
    found = found || point.getDistance() <= 0;
    return 0;
  }
  bool found = false;
};

/// A compound whose tree of parts is made when all are there. Bullet puts a part beside the nearest one and never
/// balances: of parts in a row, in their order, the tree is a chain, and n of them take n^2 steps. Many parts are
/// therefore taken from all over the body in turn; few in their order, as Bullet does.
class CompoundShape : public btCompoundShape {
 public:
  CompoundShape() : btCompoundShape(false) {}

  void make_tree() {
    constexpr int64_t kFew = 1024;
    m_dynamicAabbTree = new (btAlignedAlloc(sizeof(btDbvt), 16)) btDbvt();  // which ~btCompoundShape frees
    const int64_t count = m_children.size();
    const int64_t step = count > kFew ? golden_step(count) : 1;
    for (int64_t k = 0, part = 0; k < count; ++k, part = (part + step) % count) {
      btCompoundShapeChild& child = m_children[static_cast<int>(part)];
      btVector3 low, high;
      child.m_childShape->getAabb(child.m_transform, low, high);
      // Bullet keeps the number of a child in a pointer.
      void* const number = reinterpret_cast<void*>(part);  // NOLINT(performance-no-int-to-ptr)
      child.m_node = m_dynamicAabbTree->insert(btDbvtVolume::FromMM(low, high), number);
    }
  }

 private:
  /// The number nearest to the golden ratio of a count, from there up, that shares no factor with it.
  static int64_t golden_step(int64_t count) {
    auto step = static_cast<int64_t>(0.6180339887498949 * static_cast<double>(count));
    while (std::gcd(step, count) != 1) {
      ++step;
    }
    return step;
  }
};

/// A body with the shapes that it is made of.
struct Body {
  std::vector<std::unique_ptr<btConvexHullShape>> hulls;
  std::unique_ptr<CompoundShape> shape;
  std::unique_ptr<btRigidBody> object;
  std::array<double, 3> inertia{};
  uint8_t touched = touched_nothing;
  bool placed = false;
};

void set_up(btRigidBody& body, double friction, double restitution) {
  body.setFriction(friction);
  body.setRestitution(restitution);
  body.setRollingFriction(0);
  body.setSpinningFriction(0);
  body.setDamping(0, 0);
  body.setContactProcessingThreshold(0);
  body.setActivationState(DISABLE_DEACTIVATION);
}

class BulletWorld : public RigidWorld {
 public:
  BulletWorld()
      : dispatcher_(&configuration_),
        world_(&dispatcher_, &broadphase_, &solver_, &configuration_),
        floor_shape_(btVector3(kFloorHalfWidth, kFloorHalfWidth, kFloorHalfThickness)) {
    auto& info = world_.getSolverInfo();
    info.m_numIterations = 50;
    info.m_erp2 = 0.08;
    info.m_frictionERP = 0.2;
    info.m_linearSlop = 0;
    info.m_leastSquaresResidualThreshold = 1e-7;
    info.m_minimumSolverBatchSize = 0;
    info.m_warmstartingFactor = 0;
    info.m_splitImpulse = 1;
    info.m_restitutionVelocityThreshold = 0;
    info.m_solverMode |= SOLVER_DISABLE_IMPLICIT_CONE_FRICTION;
    solver_.setRandSeed(0);
    world_.getDispatchInfo().m_deterministicOverlappingPairs = true;
    world_.setGravity(btVector3(0, 0, -rigid_gravity));
    floor_shape_.setMargin(kMargin);
    floor_ =
        std::make_unique<btRigidBody>(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &floor_shape_));
    set_up(*floor_, kFloorFriction, kFloorRestitution);
    floor_->setWorldTransform(
        btTransform(btQuaternion::getIdentity(), btVector3(0, 0, -kFloorHalfThickness)));
    floor_->setUserIndex(-1);
    world_.addRigidBody(floor_.get());
  }

  ~BulletWorld() override {
    for (Body& body : bodies_) {
      if (body.placed) {
        world_.removeRigidBody(body.object.get());
      }
    }
    world_.removeRigidBody(floor_.get());
  }

  void add(const BodyShape& shape, const BodyProperties& is) override {
    require(bodies_.empty() || bodies_.back().placed, "rigid world: the body before must be placed first");
    Body body;
    body.shape = std::make_unique<CompoundShape>();
    body.shape->setMargin(kMargin);
    for (int64_t part = 0; part < shape.part_count(); ++part) {
      auto hull = std::make_unique<btConvexHullShape>();
      hull->setMargin(
          kMargin);  // before the points: the box around them, which gives the inertia, keeps its first
      for (int64_t i = shape.parts[part]; i < shape.parts[part + 1]; ++i) {
        const double* x = &shape.vertices[3 * i];
        hull->addPoint(btVector3(x[0], x[1], x[2]) * is.scale, false);
      }
      hull->recalcLocalAabb();
      hull->optimizeConvexHull();
      body.shape->addChildShape(btTransform::getIdentity(), hull.get());
      body.hulls.push_back(std::move(hull));
    }
    body.shape->make_tree();
    btVector3 inertia;
    body.shape->calculateLocalInertia(is.mass, inertia);
    body.inertia = array(inertia);
    body.object = std::make_unique<btRigidBody>(
        btRigidBody::btRigidBodyConstructionInfo(is.mass, nullptr, body.shape.get(), inertia));
    set_up(*body.object, is.friction, is.restitution);
    body.object->setUserIndex(static_cast<int>(bodies_.size()));
    bodies_.push_back(std::move(body));
  }

  bool place(const std::array<double, 3>& position, const std::array<double, 4>& q) override {
    require(!bodies_.empty() && !bodies_.back().placed, "rigid world: there must be a body to place");
    Body& body = bodies_.back();
    const btTransform at(btQuaternion(q[0], q[1], q[2], q[3]), vector(position));
    body.object->setCenterOfMassTransform(at);
    if (touches(*body.object, *floor_)) {
      return false;
    }
    for (size_t other = 0; other + 1 < bodies_.size(); ++other) {
      if (touches(*body.object, *bodies_[other].object)) {
        return false;
      }
    }
    world_.addRigidBody(body.object.get());
    body.placed = true;
    return true;
  }

  void set_velocity(int64_t body, const std::array<double, 3>& linear,
                    const std::array<double, 3>& angular) override {
    bodies_.at(body).object->setLinearVelocity(vector(linear));
    bodies_.at(body).object->setAngularVelocity(vector(angular));
  }

  void step() override {
    world_.stepSimulation(rigid_time_step, 0);
    for (Body& body : bodies_) {
      body.touched = touched_nothing;
    }
    for (int m = 0; m < dispatcher_.getNumManifolds(); ++m) {
      const btPersistentManifold& manifold = *dispatcher_.getManifoldByIndexInternal(m);
      bool touching = false;  // what the solver acted upon: it leaves out points at a distance
      for (int p = 0; p < manifold.getNumContacts(); ++p) {
        touching = touching || manifold.getContactPoint(p).getDistance() <= 0;
      }
      const int a = manifold.getBody0()->getUserIndex(), b = manifold.getBody1()->getUserIndex();
      if (touching) {
        mark(a, b);
        mark(b, a);
      }
    }
  }

  BodyState state(int64_t index) const override {
    const btRigidBody& body = *bodies_.at(index).object;
    const btTransform& at = body.getWorldTransform();
    const btQuaternion q = at.getRotation();
    return {array(at.getOrigin()),
            {q.x(), q.y(), q.z(), q.w()},
            array(body.getLinearVelocity()),
            array(body.getAngularVelocity())};
  }

  uint8_t touched(int64_t body) const override { return bodies_.at(body).touched; }
  std::array<double, 3> inertia(int64_t body) const override { return bodies_.at(body).inertia; }
  int64_t depth_of_parts(int64_t body) const override {
    return btDbvt::maxdepth(bodies_.at(body).shape->getDynamicAabbTree()->m_root);
  }

 private:
  void mark(int body, int other) {
    if (body >= 0) {
      bodies_[body].touched |= other < 0 ? touched_floor : touched_body;
    }
  }

  bool touches(btRigidBody& a, btRigidBody& b) {
    btVector3 low_a, high_a, low_b, high_b;
    a.getAabb(low_a, high_a);
    b.getAabb(low_b, high_b);
    if (!TestAabbAgainstAabb2(low_a, high_a, low_b, high_b)) {
      return false;
    }
    TouchSeeker seeker;
    world_.contactPairTest(&a, &b, seeker);
    return seeker.found;
  }

  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_;
  btBoxShape floor_shape_;
  std::unique_ptr<btRigidBody> floor_;
  std::vector<Body> bodies_;
};

/// Set before there is a world, and never again: worlds of several threads read it.
const bool without_margin = (gDbvtMargin = 0, true);

}  // namespace
}  // namespace weyl

void weyl_bullet_version(std::string& version) {
  const int number = btGetVersion();
  version = std::to_string(number / 100) + "." + std::to_string(number % 100);
}

weyl::RigidWorld* weyl_bullet_world() {
  return weyl::without_margin ? new weyl::BulletWorld : nullptr;
}
