#include "weyl/data/declared_samples.h"

#include "weyl/data/formats/rigid_scenes.h"

namespace weyl {
namespace {

template <class Set>
PartCounts samples_of(const Set& o) {
  if constexpr (requires { PartCounts{o.train, o.valid, o.test}; }) {
    return {o.train, o.valid, o.test};
  } else {
    return {};
  }
}

/// These count scenes.
PartCounts samples_of(const RigidBodiesDataOptions& o) {
  const int64_t frames = rigid_scene_frames - 1 - o.rollout;
  const int64_t per_scene = frames > 0 ? (frames + o.stride - 1) / o.stride : 0;
  return {o.train * per_scene, o.valid * per_scene, o.test * per_scene};
}

}  // namespace

PartCounts declared_samples(const DataOptions& options) {
  return std::visit([](const auto& o) { return samples_of(o); }, options.set);
}

}  // namespace weyl
