// Does a layer or a whole model commute with the transformations it claims? Each check has its negative
// control.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "weyl/carriers/layout.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/model.h"
#include "weyl/ops/frames/group_tables.h"
#include "weyl/study/audit/transformations.h"

namespace weyl::equivariance {

/// The largest |a - b| over all outputs, each divided by the root mean square of that output in `b`.
inline double relative_error(const Named& a, const Named& b) {
  double worst = 0;
  for (const auto& [name, value] : b) {
    if (value.numel() > 0) {
      const auto x = a.at(name).detach().to(at::kDouble), y = value.detach().to(at::kDouble);
      worst = worst_of(worst,
                       (x - y).abs().max().item<double>() / (y.pow(2).mean().sqrt().item<double>() + 1e-300));
    }
  }
  return worst;
}

/// |f(m x) - m f(x)| of a model on any carrier; `batch` is float64 and is rounded to the model's dtype after
/// it moved.
inline double motion_error(Model& model, const Batch& batch, const Schema& schema, const Motions& motions) {
  const auto dtype = model.dtype();
  const Batch moved = transform(batch, motions, schema);
  const Named out_moved = model(to(moved.input, at::kCPU, dtype));
  const Input input = to(batch.input, at::kCPU, dtype);
  return relative_error(out_moved, transform(model(input), model.interface.outputs, motions, input));
}

inline double permutation_error(Model& model, const Batch& batch, const Schema& schema, const Tensor& order) {
  const auto dtype = model.dtype();
  const Named out = model(to(permute_nodes(batch, order, schema).input, at::kCPU, dtype));
  return relative_error(
      out, permute_nodes(model(to(batch.input, at::kCPU, dtype)), model.interface.outputs, order));
}

/// How much a right factor for each token moves the outputs of a model of poses: their control.
inline double right_factors_error(Model& model, const Batch& batch, const Schema& schema, Stream& stream) {
  const Moved moved = right_factors(schema).apply(batch, 0, stream);
  const auto of = [&](const Batch& b) { return model(to(b.input, at::kCPU, model.dtype())); };
  return relative_error(of(moved.batch), moved.act(of(batch), model.interface.outputs));
}

/// One element of a finite group for each graph of a batch: graph b moves by element (first + b) mod G.
inline Motions elements_from(const FiniteGroup& group, int64_t first, int64_t graphs) {
  const int64_t d = group.dimension();
  Motions motions{at::empty({graphs, d, d}, at::TensorOptions(at::kDouble)), {}};
  for (int64_t b = 0; b < graphs; ++b) {
    const auto element = group.element((first + b) % group.order());
    std::copy(element.begin(), element.end(), motions.linear.mutable_data_ptr<double>() + b * d * d);
  }
  return motions;
}

inline Motions translations(int64_t graphs, int64_t dimension, Stream& stream) {
  Motions motions{at::eye(dimension, at::TensorOptions(at::kDouble)).repeat({graphs, 1, 1}),
                  at::empty({graphs, dimension}, at::TensorOptions(at::kDouble))};
  auto* shift = motions.translation.mutable_data_ptr<double>();
  std::generate_n(shift, graphs * dimension, [&] { return stream.normal(); });
  return motions;
}

/// A random order of the nodes inside each graph.
inline Tensor random_order(const Segments& graphs, Stream& stream) {
  Tensor order = at::empty({graphs.rows()}, at::TensorOptions(at::kLong));
  auto* row = order.mutable_data_ptr<int64_t>();
  for (int64_t b = 0; b < graphs.count(); ++b) {
    for (const int64_t i : stream.permutation(graphs.size(b))) {
      *row++ = graphs.offsets[b] + i;
    }
  }
  return order;
}

/// The error of one claim: the worst of `samples` draws (finite groups: every element, up to `samples` times
/// B).
inline double claim_error(Model& model, const Claim& claim, const Batch& batch, const Schema& schema,
                          int64_t samples = 24) {
  using Of = Claim::Of;
  const int64_t graphs = batch.count(), dimension = model.interface.dimension;
  Stream stream(7, "equivariance");
  double worst = 0;
  const int64_t order = claim.finite ? claim.finite->order() : 0;
  const int64_t draws = claim.of == Of::finite ? std::min(samples, (order + graphs - 1) / graphs)
                                               : std::min<int64_t>(samples, 3);
  for (int64_t i = 0; i < draws; ++i) {
    switch (claim.of) {
      case Of::finite:
        worst = worst_of(
            worst, motion_error(model, batch, schema, elements_from(*claim.finite, i * graphs, graphs)));
        break;
      case Of::rotations:
      case Of::rotoreflections:
        worst = worst_of(worst, motion_error(model, batch, schema,
                                             random_rotations(graphs, dimension,
                                                              claim.of == Of::rotoreflections, stream)));
        break;
      case Of::translations:
        worst = worst_of(worst, motion_error(model, batch, schema, translations(graphs, dimension, stream)));
        break;
      case Of::permutations: {
        const auto* points = std::get_if<Points>(&batch.input);
        const bool objects = points != nullptr && points->objects.count() > 0;
        const auto& segments = objects ? points->objects : graphs_of(batch.input);
        worst = worst_of(worst, permutation_error(model, batch, schema, random_order(segments, stream)));
        break;
      }
      case Of::left_motions: {
        const LieGroup group = *model.interface.group;
        const Tensor elements = random_elements(group, graphs, 1, stream);
        worst = worst_of(worst, motion_error(model, batch, schema, motions_of(group, elements)));
        break;
      }
    }
  }
  return worst;
}

struct Tolerances {
  double float32 = 1e-5, float64 = 1e-11, control = 1e-4;
};

/// Every exact claim holds in float64 and in float32, and random rotations, which are claimed by no finite
/// group (of poses: right factors), move the outputs by at least `control`. The model comes in float64 and
/// leaves in float32.
inline void expect_claims_hold(Model& model, const Batch& batch, const Schema& schema,
                               Tolerances tolerances = {}) {
  const Claim rotations{Claim::Of::rotations, "rotations", nullptr};
  const Symmetry symmetry = model.symmetry();
  EXPECT_FALSE(symmetry.exact.empty());
  Stream stream(8, "equivariance control");
  const bool poses = std::holds_alternative<Poses>(batch.input);
  EXPECT_GT(poses ? right_factors_error(model, batch, schema, stream)
                  : claim_error(model, rotations, batch, schema),
            tolerances.control)
      << "the control passed: the model is blind to " << (poses ? "relative poses" : "rotations");
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    model.to(dtype);
    for (const auto& claim : symmetry.exact) {
      EXPECT_LT(claim_error(model, claim, batch, schema),
                dtype == at::kDouble ? tolerances.float64 : tolerances.float32)
          << claim.group << " in " << dtype;
    }
  }
}

/// x (N, G C), a function on the group, moved by element g: new[j] = old[g^-1 j].
inline Tensor moved_frames(const Tensor& x, const GroupTables& tables, int64_t g) {
  const int64_t order = tables.group().order();
  return x.reshape({x.size(0), order, x.size(1) / order})
      .index_select(1, tables.translation(g, x.device()))
      .reshape(x.sizes());
}

/// A layer on functions on the group: f(g x) = g f(x) for every g, where `on_moved(g)` is f of the input
/// moved by g. The control takes for g f(x) the translation by g^-1: it must fail, unless every element is
/// its own inverse; then no translation at all must fail.
inline void expect_layer_commutes(const std::string& name, const GroupTables& tables,
                                  const std::function<Tensor(int64_t g)>& on_moved, double tolerance) {
  const int64_t order = tables.group().order(), e = tables.group().identity();
  const Tensor y = on_moved(e);
  double worst = 0, control = 0;
  bool involutions = true;
  for (int64_t g = 0; g < order; ++g) {
    involutions = involutions && tables.group().inverse(g) == g;
  }
  for (int64_t g = 0; g < order; ++g) {
    const Tensor y_moved = on_moved(g);
    const Tensor wrong = involutions ? y : moved_frames(y, tables, tables.group().inverse(g));
    worst = worst_of(worst, (y_moved - moved_frames(y, tables, g)).abs().max().item<double>());
    control = worst_of(control, (y_moved - wrong).abs().max().item<double>());
  }
  EXPECT_LT(worst, tolerance) << name << ", " << tables.group().name();
  if (order > 1) {
    EXPECT_GT(control, 1e-3) << name << ", " << tables.group().name() << ": the control passed";
  }
}

}  // namespace weyl::equivariance
