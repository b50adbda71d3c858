#include "weyl/data/bodies/options.h"

#include "weyl/data/bodies/rigid_scenes.h"

namespace weyl {

void fields(Fields& f, RigidBodiesDataOptions& o) {
  f("path", o.path, "folder with train, valid and test: made by `weyl data make rigid_bodies`");
  f("train", o.train, "the first so many scenes of the training split, which must have them; 0: all",
    {0, 1e9});
  f("valid", o.valid, "the first so many scenes of the validation split, which must have them; 0: all",
    {0, 1e9});
  f("test", o.test, "the first so many scenes of the test split, which must have them; 0: all", {0, 1e9});
  f("floor", o.floor, "adds what every token knows of the floor: its normal `up`, and the `height` above it");
  f("rollout", o.rollout, "frames after the two that a model sees whose motions are labels", {1, 1e6});
  f("stride", o.stride, "frames between the samples of a scene; 1: every frame but the ends begins one",
    {1, 1e6});
}

PartCounts declared_samples(const RigidBodiesDataOptions& o) {  // which count scenes
  const int64_t frames = rigid_scene_frames - 1 - o.rollout;
  const int64_t per_scene = frames > 0 ? (frames + o.stride - 1) / o.stride : 0;
  return {o.train * per_scene, o.valid * per_scene, o.test * per_scene};
}

}  // namespace weyl
