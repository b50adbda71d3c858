// Motors about the centres of objects: against the sandwich of the algebra, against vertices moved one by one.
#include "weyl/tasks/object_motion.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/gradients.h"
#include "tests/tasks/rigid_scenes.h"
#include "weyl/algebra/clifford/embeddings.h"
#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"

namespace weyl {
namespace object_motion_test {

Tensor random(at::IntArrayRef shape) {
  return at::randn(shape, at::kDouble);
}

double largest(const Tensor& x) {
  return x.abs().max().item<double>();
}

/// R r + shift of row `o` for points (V, 3).
Tensor moved(const ObjectMotions& motions, int64_t o, const Tensor& r) {
  return r + at::matmul(r, motions.change[o].t()) + motions.shift[o];
}

clifford::Vector<double, 3> vector_of(const Tensor& x) {
  return {{x[0].item<double>(), x[1].item<double>(), x[2].item<double>()}};
}

TEST(ObjectMotion, OfAMotorIsItsSandwich) {
  at::manual_seed(1);
  const int64_t L = 20;
  const Tensor w = random({L}), p = random({L}), ideal = random({L, 3}), bivector = random({L, 3});
  const ObjectMotions motions = motions_of_motors(w, p, ideal, bivector);
  double control = 0;
  for (int64_t o = 0; o < L; ++o) {
    // Not normalised, and no multiple of a motor: m m~ has a part e0123 too.
    clifford::Multivector<double> m = clifford::embed_direction(vector_of(ideal[o]));
    const auto line = clifford::embed_axial_vector(vector_of(bivector[o]), {{0.0, 0.0, 0.0}});
    for (int i = 0; i < clifford::components; ++i) {
      m[i] += line[i];
    }
    m[clifford::one] = w[o].item<double>();
    m[clifford::e0123] = p[o].item<double>();
    const Tensor r = random({3});
    const auto said = clifford::extract_point(
        clifford::sandwich(clifford::normalise(m), clifford::embed_point(vector_of(r))));
    const Tensor expected = at::tensor({said[0], said[1], said[2]}, at::kDouble);
    EXPECT_LT(largest(moved(motions, o, r.unsqueeze(0))[0] - expected), 1e-12 * (1 + largest(expected)));
    const ObjectMotions back = motions_of_motors(w, p, ideal, -bivector);
    control = std::max(control, largest(moved(back, o, r.unsqueeze(0))[0] - expected));
  }
  EXPECT_GT(control, 0.1);
}

TEST(ObjectMotion, OfTurnsIsTheExponential) {
  at::manual_seed(2);
  const Tensor turn = random({9, 3}), shift = random({9, 3});
  turn[0].zero_();
  turn[1].mul_(1e-9);
  turn[2].mul_(3 / turn[2].norm());
  const ObjectMotions motions = motions_of_turns(turn, shift);
  for (int64_t o = 0; o < 9; ++o) {
    EXPECT_LT(largest(motions.change[o] + at::eye(3, at::kDouble) - rigid::rotation(turn[o])), 1e-14);
  }
  EXPECT_LT(largest(turns_of(motions) - turn), 1e-13);
  EXPECT_TRUE(at::equal(motions.shift, shift));
  // R - 1 of the smallest turns keeps its digits.
  EXPECT_NEAR(motions.change[1][2][1].item<double>() / turn[1][0].item<double>(), 1, 1e-8);
}

TEST(ObjectMotion, ComposeOneAfterTheOther) {
  at::manual_seed(3);
  const ObjectMotions a = motions_of_turns(random({4, 3}), random({4, 3})),
                      b = motions_of_turns(random({4, 3}), random({4, 3}));
  const ObjectMotions both = composed(a, b), other = composed(b, a);
  for (int64_t o = 0; o < 4; ++o) {
    const Tensor r = random({5, 3});
    // The second turns about the centre that the first has moved.
    const Tensor expected = moved(b, o, moved(a, o, r) - a.shift[o]) + a.shift[o];
    EXPECT_LT(largest(moved(both, o, r) - expected), 1e-13);
    EXPECT_GT(largest(moved(other, o, r) - expected), 1e-2);
  }
}

TEST(ObjectMotion, OfVelocitiesIsWhatBroughtTheObjectsHere) {
  const Batch batch = rigid::batch_of(rigid::random_scenes(5, 8), 1);
  const Points& p = std::get<Points>(batch.input);
  const ObjectMotions found = motions_of_velocities(p, p.vectors.select(1, 10));
  const ObjectMotions truth = motions_of_turns(batch.labels.at("past_turn").select(1, 0),
                                               batch.labels.at("past_displacement").select(1, 0));
  EXPECT_LT(largest(found.change - truth.change), 1e-11);
  EXPECT_LT(largest(found.shift - truth.shift), 1e-13);
  EXPECT_LT(largest(angle_errors(found, truth)), 1e-11);
  EXPECT_GT(largest(truth.change), 1e-2);
  const ObjectMotions rest = rest_of(truth, found),
                      other = motions_of_turns(random({p.objects.count(), 3}), truth.shift);
  EXPECT_LT(largest(rest.change), 1e-11);
  EXPECT_LT(largest(composed(found, rest_of(other, found)).change - other.change), 1e-13);
  // One node, and nodes on one line: no rotation that can be seen, and finite.
  Points alone = p;
  alone.graphs = alone.objects = Segments::of_sizes(std::vector<int64_t>{1, 2});
  alone.positions = p.positions.slice(0, 0, 3);
  const ObjectMotions lone = motions_of_velocities(alone, p.vectors.select(1, 10).slice(0, 0, 3));
  EXPECT_EQ(largest(lone.change[0]), 0);
  EXPECT_TRUE(at::isfinite(lone.change).all().item<bool>());
}

TEST(ObjectMotion, AnglesAreThoseOfTheTrace) {
  at::manual_seed(4);
  const ObjectMotions a = motions_of_turns(random({8, 3}), random({8, 3})),
                      b = motions_of_turns(random({8, 3}), random({8, 3}));
  const Tensor one = at::eye(3, at::kDouble),
               R = at::matmul((a.change + one).transpose(1, 2), b.change + one);
  const Tensor expected = ((R.diagonal(0, 1, 2).sum(1) - 1) / 2).acos();
  EXPECT_LT(largest(angle_errors(a, b) - expected), 1e-12);
  EXPECT_LT(largest(angle_errors(a, a)), 1e-14);
}

/// The loss is that of vertices, which it never sees.
TEST(ObjectMotion, MomentsGiveTheErrorOfVerticesExactly) {
  at::manual_seed(5);
  const int64_t L = 6;
  const ObjectMotions said = motions_of_motors(1 + 0.1 * random({L}), 0.1 * random({L}), random({L, 3}),
                                               random({L, 3})),
                      truth = motions_of_turns(random({L, 3}), random({L, 3}));
  std::vector<Tensor> means, moments, errors, about_mean;
  for (int64_t o = 0; o < L; ++o) {
    const Tensor r = random({7 + o, 3}) + random({3});
    means.push_back(r.mean(0));
    moments.push_back(at::matmul(r.t(), r) / r.size(0));
    errors.push_back((moved(said, o, r) - moved(truth, o, r)).square().mean());
  }
  const Tensor found = vertex_errors(said, truth, at::stack(means), at::stack(moments));
  EXPECT_LT(largest(found / at::stack(errors) - 1), 1e-12);
  const Tensor centred = vertex_errors(said, truth, 0 * at::stack(means), at::stack(moments));
  EXPECT_GT(largest(centred / at::stack(errors) - 1), 1e-2);  // the control: the mean matters
}

TEST(ObjectMotion, HasDerivativesOfMotorsAndIsFiniteAtTheIdentity) {
  at::manual_seed(6);
  const Expression all = [](const std::vector<Tensor>& x) {
    const ObjectMotions m = motions_of_motors(1 + x[0], x[1], x[2], x[3]);
    return at::cat({m.change.flatten(), m.shift.flatten(), m.rotation.flatten()});
  };
  expect_second_gradients(all, {0.3 * random({2}), random({2}), random({2, 3}), random({2, 3})});
  const std::vector<Tensor> none{at::zeros({2}, at::kDouble), at::zeros({2}, at::kDouble),
                                 at::zeros({2, 3}, at::kDouble), at::zeros({2, 3}, at::kDouble)};
  expect_second_gradients(all, none);
  const ObjectMotions still = motions_of_motors(1 + none[0], none[1], none[2], none[3]);
  EXPECT_EQ(largest(still.change), 0);
  EXPECT_EQ(largest(still.shift), 0);
  EXPECT_EQ(largest(turns_of(still)), 0);
}

/// A motor without rotation and without 1 moves nothing that can be said: finite, with finite derivatives.
TEST(ObjectMotion, IsGuardedWhereAMotorVanishes) {
  const Tensor zero = at::zeros({1}, at::kDouble), place = at::ones({1, 3}, at::kDouble);
  for (const double small : {0.0, 1e-12, 1e-4}) {
    const Tensor bivector = small * place;
    const ObjectMotions m = motions_of_motors(zero, zero + 1, place, bivector);
    for (const Tensor& x : {m.change, m.shift, m.rotation, turns_of(m)}) {
      EXPECT_TRUE(at::isfinite(x).all().item<bool>()) << small;
    }
    EXPECT_LE(largest(m.change), 2.0);
    expect_finite_gradients(
        [&](const std::vector<Tensor>& x) {
          const ObjectMotions of = motions_of_motors(x[0], x[1], x[2], x[3]);
          return at::cat({of.change.flatten(), of.shift.flatten()});
        },
        {zero, zero, place, bivector});
  }
}

TEST(ObjectMotion, SinglePrecisionIsComputedInDouble) {
  at::manual_seed(7);
  const Tensor w = random({3}).to(at::kFloat), i = random({3, 3}).to(at::kFloat),
               b = random({3, 3}).to(at::kFloat);
  const ObjectMotions m = motions_of_motors(w, w, i, b),
                      wide = motions_of_motors(w.to(at::kDouble), w.to(at::kDouble), i.to(at::kDouble),
                                               b.to(at::kDouble));
  EXPECT_TRUE(at::equal(m.change, wide.change));
  EXPECT_TRUE(at::equal(m.shift, wide.shift));
  EXPECT_THROW(motions_of_motors(w, w, i, b.slice(1, 0, 2)), ShapeError);
}

/// Tokens a frame later are those that the next frame has.
TEST(MovedObjects, AreTheTokensOfTheNextFrame) {
  const auto scenes = rigid::random_scenes(4, 2);
  const Batch now = rigid::batch_of(scenes, 1, 3), next = rigid::batch_of(scenes, 1, 4);
  const Points &p = std::get<Points>(now.input), &wanted = std::get<Points>(next.input);
  const Interface interface = rigid::schema(1).interface;
  const ObjectMotions truth =
      motions_of_turns(now.labels.at("turn").select(1, 0), now.labels.at("displacement").select(1, 0));
  const Points found = moved_objects(p, interface, truth);
  EXPECT_LT(largest(found.positions - wanted.positions), 1e-13);
  EXPECT_LT(largest(found.scalars - wanted.scalars), 1e-13);
  for (const Columns& c : vector_columns(interface, Level::node)) {
    const auto of = [&](const Points& x) { return x.vectors.slice(1, c.begin, c.end); };
    EXPECT_LT(largest(of(found) - of(wanted)), 1e-13) << c.quantity->name;
    if (c.quantity->name != "up") {
      EXPECT_GT(largest(of(p) - of(wanted)), 1e-4) << c.quantity->name;  // the control: it does move
    }
  }
  const Tensor corners = p.vectors.slice(1, 0, 3);
  EXPECT_LT(largest(p.positions.unsqueeze(1) + moved_places(p, corners, truth) - now.labels.at("later")),
            1e-13);
}

TEST(MovedObjects, RefuseWhatTheyCannotMove) {
  Interface interface = rigid::schema(1).interface;
  EXPECT_NO_THROW(require_movable(interface));
  const auto with = [&](const Quantity& q) {
    Interface other = interface;
    other.features.push_back(q);
    return other;
  };
  EXPECT_NO_THROW(require_movable(with({.name = "mass", .level = Level::object})));
  EXPECT_NO_THROW(require_movable(with({.name = "gravity", .level = Level::graph, .kind = Kind::vector})));
  EXPECT_NO_THROW(require_movable(with({.name = "tip", .kind = Kind::vector, .role = Role::point})));
  EXPECT_THROW(require_movable(with({.name = "wind", .kind = Kind::vector})), ConfigError);
  EXPECT_THROW(require_movable(with({.name = "motor", .kind = Kind::multivector})), ConfigError);
  EXPECT_THROW(require_movable(with({.name = "spin", .kind = Kind::axial_vector})), ConfigError);
  EXPECT_THROW(require_movable(with({.name = "push", .level = Level::object, .kind = Kind::vector})),
               ConfigError);
  interface.features.erase(interface.features.begin() + 1);  // vertices
  EXPECT_THROW(require_movable(interface), ConfigError);
}

}  // namespace object_motion_test
}  // namespace weyl
