// Models that say what a test tells them, or what they see, of rigid bodies; and what the task measures of it.
#pragma once

#include <ATen/ATen.h>

#include <numeric>

#include "tests/all_samples.h"
#include "tests/tasks/rigid_scenes.h"
#include "weyl/tasks/object_motion.h"
#include "weyl/tasks/rigid_motion.h"

namespace weyl {

inline constexpr const char* kParts[] = {"motor_scalar", "motor_pseudoscalar", "motor_ideal",
                                         "motor_bivector"};

/// A model in float64.
class Wide : public PointsModel {
 public:
  explicit Wide(const Interface& interface) : PointsModel(interface) {
    const BuildOn wide(at::kCPU, at::kDouble);
    parameter("none", {1}, Init::ones());  // whose dtype is the model's
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }
};

/// Says the same four parts, (8) numbers, of every object.
class Same : public Wide {
 public:
  Same(const Interface& interface, const Tensor& parts)
      : Wide(interface), parts_(parts.clone().requires_grad_()) {}
  Named forward(const Points& p) override {
    const int64_t L = p.objects.count();
    const Tensor all = parts_.to(p.positions.scalar_type()).expand({L, 8});
    return {{kParts[0], all.slice(1, 0, 1)},
            {kParts[1], all.slice(1, 1, 2)},
            {kParts[2], all.slice(1, 2, 5).unsqueeze(1)},
            {kParts[3], all.slice(1, 5, 8).unsqueeze(1)}};
  }
  Tensor parts_;
};

/// Says motions (L, 3) and (L, 3) that it was told, as motors without units.
class Told : public Wide {
 public:
  Told(const Interface& interface, Tensor shift, Tensor turn)
      : Wide(interface), shift_(std::move(shift)), turn_(std::move(turn)) {}
  Named forward(const Points& p) override {
    // m = T R: w = cos, a = -sin n, ideal = -(w t + t x b)/2 and p = t.b/2 of the quaternion (b, w).
    const Tensor q = motions_of_turns(turn_, shift_).rotation, b = q.slice(1, 0, 3), w = q.slice(1, 3, 4);
    const auto dtype = p.positions.scalar_type();
    return {{kParts[0], (w - 1).to(dtype)},
            {kParts[1], (0.5 * (shift_ * b).sum(1, true)).to(dtype)},
            {kParts[2], (-0.5 * (w * shift_ + at::linalg_cross(shift_, b, 1))).unsqueeze(1).to(dtype)},
            {kParts[3], (-b).unsqueeze(1).to(dtype)}};
  }
  Tensor shift_, turn_;
};

inline RigidMotionOptions plain() {
  return {.normalise = false};
}

inline Tensor step_of(const Batch& batch, const char* label, int64_t k = 0) {
  return batch.labels.at(label).select(1, k);
}

inline Told told_truth(const RigidMotion& task, const Dataset& data, const Batch& batch) {
  return {task.interface(data.schema()), step_of(batch, "displacement"), step_of(batch, "turn")};
}

inline double largest(const Tensor& x) {
  return x.abs().max().item<double>();
}

inline Metrics measured(const RigidMotion& task, Model& model, const Batch& batch) {
  const auto meter = task.meter(model.interface);
  meter->add(batch, task.predict(model, batch));
  return meter->values();
}

/// A model that looks: it repeats the velocities it is shown, so only tokens that are moved rightly keep it going.
class Repeats : public Wide {
 public:
  using Wide::Wide;
  Named forward(const Points& p) override {
    const int64_t L = p.objects.count();
    const Tensor v = p.vectors.select(1, 10).to(at::kDouble);  // `velocity`
    std::vector<Tensor> shifts, bivectors;
    for (int64_t o = 0; o < L; ++o) {
      // v = v0 + (1 - R^T) arm: least squares of an antisymmetric (1 - R^T) on the arms gives tan(angle/2).
      const int64_t begin = p.objects.offsets[o], end = p.objects.offsets[o + 1];
      const Tensor x = p.positions.slice(0, begin, end).to(at::kDouble), arm = x - x.mean(0),
                   own = v.slice(0, begin, end);
      const Tensor middle = arm - 0.5 * (own - own.mean(0));  // half-way: v = 2 tan(angle/2) n x middle
      const Tensor lever = at::cross(middle, own - own.mean(0), 1).sum(0);
      const Tensor inertia = middle.square().sum() * at::eye(3, at::kDouble) - at::matmul(middle.t(), middle);
      bivectors.push_back(-0.5 * at::linalg_solve(inertia, lever));
      shifts.push_back(own.mean(0));
    }
    const Tensor b = at::stack(bivectors), t = at::stack(shifts), zero = at::zeros({L, 1}, at::kDouble);
    // The quaternion (-b, 1), not normalised, after which t: ideal = -(t - t x b)/2, p = -t.b/2.
    const Tensor ideal = -0.5 * (t - at::linalg_cross(t, b, 1));
    const auto dtype = p.positions.scalar_type();
    return {{kParts[0], zero.to(dtype)},
            {kParts[1], (-0.5 * (t * b).sum(1, true)).to(dtype)},
            {kParts[2], ideal.unsqueeze(1).to(dtype)},
            {kParts[3], b.unsqueeze(1).to(dtype)}};
  }
  Symmetry symmetry() const override {
    return {{{Claim::Of::rotoreflections, "O(3)", nullptr},
             {Claim::Of::translations, "translations", nullptr},
             {Claim::Of::permutations, "permutations", nullptr}},
            {}};
  }
};

}  // namespace weyl
