#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/fixtures.h"
#include "weyl/algebra/finite/finite_group.h"
#include "weyl/carriers/consistency.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace motion_test {

Motions composed(const Motions& outer, const Motions& inner) {
  Motions result;
  result.linear = at::matmul(outer.linear, inner.linear);
  Tensor t;
  if (inner.translation.defined()) {
    t = at::matmul(outer.linear, inner.translation.unsqueeze(2)).squeeze(2);
  }
  if (outer.translation.defined()) {
    t = t.defined() ? t + outer.translation : outer.translation;
  }
  result.translation = t;
  return result;
}

Motions random_motions(int64_t b, uint64_t seed, int64_t dimension = 3) {
  Stream stream(seed, "test");
  Motions m = random_rotations(b, dimension, true, stream);
  at::manual_seed(seed);
  m.translation = at::randn({b, dimension}, at::kDouble);
  return m;
}

TEST(RandomRotations, AreOrthogonalAndOfTheSignAskedFor) {
  for (const int64_t d : {2, 3}) {
    Stream stream(5, "rotations");
    const Tensor r = random_rotations(500, d, false, stream).linear;
    EXPECT_LT((at::matmul(r, r.transpose(1, 2)) - at::eye(d, at::kDouble)).abs().max().item<double>(), 1e-14);
    EXPECT_GT(at::linalg_det(r).min().item<double>(), 0);
    const Tensor o = random_rotations(500, d, true, stream).linear;
    const int64_t reflections = at::linalg_det(o).lt(0).sum().item<int64_t>();
    EXPECT_GT(reflections, 200);
    EXPECT_LT(reflections, 300);
  }
}

TEST(RandomRotations, OfALineAreItsTwoSigns) {
  Stream stream(5, "line");
  EXPECT_TRUE(random_rotations(500, 1, false, stream).linear.eq(1).all().item<bool>());
  const Tensor o = random_rotations(500, 1, true, stream).linear;
  EXPECT_TRUE(o.abs().eq(1).all().item<bool>());
  EXPECT_GT(o.lt(0).sum().item<int64_t>(), 200);
  EXPECT_LT(o.lt(0).sum().item<int64_t>(), 300);
}

TEST(RandomRotations, AreUniform) {
  // Haar measure: the mean of R is 0, of trace^2 is 1 (3-D), of every entry squared 1/D.
  Stream stream(6, "rotations");
  const Tensor r = random_rotations(20000, 3, false, stream).linear;
  EXPECT_LT(r.mean(0).abs().max().item<double>(), 0.02);
  EXPECT_LT((r.square().mean(0) - 1. / 3).abs().max().item<double>(), 0.02);
  const Tensor trace = r.diagonal(0, 1, 2).sum(1);
  EXPECT_NEAR(trace.square().mean().item<double>(), 1, 0.05);
  EXPECT_NEAR(trace.mean().item<double>(), 0, 0.05);
}

TEST(RandomRotations, AreAFunctionOfTheStream) {
  Stream a(1, "x"), b(1, "x"), c(2, "x");
  const Tensor r = random_rotations(3, 3, true, a).linear;
  EXPECT_TRUE(at::equal(r, random_rotations(3, 3, true, b).linear));
  EXPECT_FALSE(at::equal(r, random_rotations(3, 3, true, c).linear));
  EXPECT_THROW(random_rotations(1, 4, false, a), ShapeError);
}

TEST(Transform, IsAHomomorphism) {
  const Schema schema = rich_schema();
  const Batch batch = rich_batch({3, 1, 4});
  const Motions g = random_motions(3, 1), h = random_motions(3, 2);
  const Batch twice = transform(transform(batch, h, schema), g, schema);
  EXPECT_LT(difference(twice, transform(batch, composed(g, h), schema)), 1e-12);
  // the control: SO(3) is not abelian, so the other order is another motion
  EXPECT_GT(difference(twice, transform(batch, composed(h, g), schema)), 0.1);
}

TEST(Transform, OfTheIdentityChangesNothing) {
  const Schema schema = rich_schema();
  const Batch batch = rich_batch({3, 1});
  const Motions identity{at::eye(3, at::kDouble).expand({2, 3, 3}), at::zeros({2, 3}, at::kDouble)};
  EXPECT_EQ(difference(transform(batch, identity, schema), batch), 0);
}

TEST(Transform, FollowsKindAndRole) {
  const Schema schema = rich_schema();
  const Batch batch = rich_batch({3, 2});
  const Motions mirror{-at::eye(3, at::kDouble).expand({2, 3, 3}), at::ones({2, 3}, at::kDouble)};
  const Batch moved = transform(batch, mirror, schema);
  const auto &p = std::get<Points>(batch.input), &q = std::get<Points>(moved.input);
  const auto equal = [](const Tensor& a, const Tensor& b) { return at::allclose(a, b, 0, 1e-14); };
  EXPECT_TRUE(equal(q.positions, 1 - p.positions));
  EXPECT_TRUE(equal(q.scalars.slice(1, 0, 2), p.scalars.slice(1, 0, 2)));   // charge
  EXPECT_TRUE(equal(q.scalars.slice(1, 2, 3), -p.scalars.slice(1, 2, 3)));  // a pseudoscalar
  EXPECT_TRUE(equal(q.vectors.slice(1, 0, 2), -p.vectors.slice(1, 0, 2)));  // velocity, normal: not shifted
  EXPECT_TRUE(equal(q.vectors.slice(1, 2, 4), p.vectors.slice(1, 2, 4)));   // spins
  EXPECT_TRUE(equal(q.pairs.select(1, 0), p.pairs.select(1, 0)));
  EXPECT_TRUE(equal(q.pairs.select(1, 1), -p.pairs.select(1, 1)));
  EXPECT_TRUE(equal(q.cell, -p.cell));
  EXPECT_TRUE(equal(q.of_graphs.at("gravity"), -p.of_graphs.at("gravity")));
  EXPECT_TRUE(equal(q.of_objects.at("inertia"), p.of_objects.at("inertia")));
  EXPECT_TRUE(equal(moved.labels.at("later"), 1 - batch.labels.at("later")));
  EXPECT_TRUE(equal(moved.labels.at("forces"), -batch.labels.at("forces")));
  EXPECT_TRUE(equal(moved.labels.at("volume"), -batch.labels.at("volume")));
  EXPECT_TRUE(equal(moved.labels.at("torque"), batch.labels.at("torque")));
  EXPECT_TRUE(equal(moved.labels.at("energy"), batch.labels.at("energy")));
  EXPECT_TRUE(at::equal(moved.labels.at("class"), batch.labels.at("class")));
}

TEST(Transform, KeepsWhatGeometryMeans) {
  // Under any invertible matrix: a cross product is an axial vector, a triple product a pseudoscalar, the
  // normal of the plane through two vectors stays normal to them.
  Schema schema;
  schema.interface.features = {{"a", Level::node, Kind::vector, 1},
                               {"b", Level::node, Kind::vector, 1},
                               {"cross", Level::node, Kind::axial_vector, 1},
                               {"normal", Level::node, Kind::vector, 1, Role::normal},
                               {"volume", Level::node, Kind::pseudoscalar, 1}};
  at::manual_seed(3);
  const Tensor a = at::randn({4, 3}, at::kDouble), b = at::randn({4, 3}, at::kDouble);
  const Tensor c = at::linalg_cross(a, b);
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{1, 3});
  p.positions = at::randn({4, 3}, at::kDouble);
  p.vectors = at::stack({a, b, c, c}, 1);
  p.scalars = (c * p.positions).sum(1, true);  // triple product with the position
  const Motions m{at::randn({2, 3, 3}, at::kDouble), {}};
  const Batch moved = transform(Batch{p, {}}, m, schema);
  const auto& q = std::get<Points>(moved.input);
  const auto v = q.vectors.unbind(1);
  EXPECT_TRUE(at::allclose(at::linalg_cross(v[0], v[1]), v[2], 1e-10, 1e-10));
  EXPECT_LT((v[3] * v[0]).sum(1).abs().max().item<double>(), 1e-10);
  EXPECT_TRUE(at::allclose((v[2] * q.positions).sum(1, true), q.scalars, 1e-10, 1e-10));
  EXPECT_FALSE(at::allclose(
      v[2], at::matmul(c.unsqueeze(1), m.linear.index_select(0, p.graphs.index).transpose(1, 2)).squeeze(1)));
}

TEST(Transform, RoundsOnce) {
  const Schema schema = rich_schema();
  const Motions m = random_motions(1, 9);
  const Batch narrow = rich_batch({4}, at::kFloat);
  const Batch moved = transform(narrow, m, schema);
  const Batch wide = transform(to(narrow, at::kCPU, at::kDouble), m, schema);
  EXPECT_EQ(difference(moved, to(wide, at::kCPU, at::kFloat)), 0);
}

TEST(Transform, OfNamedOutputsIsThatOfLabels) {
  const Schema schema = rich_schema();
  const Batch batch = rich_batch({3, 2});
  const Motions m = random_motions(2, 4);
  const Named outputs = transform(batch.labels, schema.labels, m, batch.input);
  const Batch moved = transform(batch, m, schema);
  for (const auto& [name, t] : outputs) {
    EXPECT_TRUE(at::equal(t, moved.labels.at(name))) << name;
  }
  EXPECT_THROW(transform(Named{{"nothing", at::zeros({2, 1})}}, schema.labels, m, batch.input), ShapeError);
  EXPECT_THROW(transform(batch, random_motions(3, 4), schema), ShapeError);
}

TEST(Transform, OfAnEmptyBatchIsEmpty) {
  const Schema schema = rich_schema();
  const Batch batch = rich_batch({});
  EXPECT_EQ(transform(batch, random_motions(0, 4), schema).count(), 0);
  require_consistent(transform(rich_batch({0, 0}), random_motions(2, 4), schema),
                     schema);  // two graphs of no nodes
}

TEST(Transform, MovesPosesFromTheLeft) {
  Schema schema;
  schema.interface.group = LieGroup::se3;
  schema.labels = {{"pose", Level::graph, Kind::element, 1}};
  Stream stream(8, "poses");
  Tensor elements = at::zeros({3, 4, 4}, at::kDouble);
  elements.slice(1, 0, 3).slice(2, 0, 3).copy_(random_rotations(3, 3, false, stream).linear);
  elements.slice(1, 0, 3).select(2, 3).normal_();
  elements.select(1, 3).select(1, 3).fill_(1);
  Batch batch{Poses{LieGroup::se3, elements, {}, Segments::of_sizes(std::vector<int64_t>{2, 1})},
              {{"pose", elements.slice(0, 0, 2).clone()}}};
  const auto se3 = [&](uint64_t seed) {
    Stream s(seed, "m");
    Motions m = random_rotations(2, 3, false, s);
    m.translation = at::randn({2, 3}, at::kDouble);
    return m;
  };
  const Motions g = se3(1), h = se3(2);
  const Batch twice = transform(transform(batch, h, schema), g, schema);
  EXPECT_LT(difference(twice, transform(batch, composed(g, h), schema)), 1e-12);
  EXPECT_GT(difference(twice, transform(batch, composed(h, g), schema)), 0.1);
  // relative poses of a graph stay
  const auto relative = [](const Batch& b) {
    const auto& e = std::get<Poses>(b.input).elements;
    return at::matmul(at::linalg_inv(e[0]), e[1]);
  };
  EXPECT_TRUE(at::allclose(relative(batch), relative(twice), 1e-10, 1e-10));
  const Motions mirror{-at::eye(3, at::kDouble).expand({2, 3, 3}), {}};
  EXPECT_THROW(transform(batch, mirror, schema), ShapeError);
}

TEST(Transform, TurnsGridsByQuartersWithoutInterpolation) {
  Schema schema;
  schema.interface.grid = true;
  schema.interface.dimension = 2;
  schema.interface.features = {{"grey", Level::node, Kind::scalar, 1},
                               {"flow", Level::node, Kind::vector, 1}};
  schema.labels = {{"mask", Level::node, Kind::scalar, 1}};
  const Batch batch{Grid{at::randn({2, 3, 4, 4}, at::kDouble), {1, 1, 1}},
                    {{"mask", at::randn({2, 1, 4, 4}, at::kDouble)}}};
  const auto both = [](std::initializer_list<double> x) {
    return Motions{at::tensor(std::vector<double>(x), at::kDouble).view({2, 2}).expand({2, 2, 2}), {}};
  };
  const Motions quarter = both({0, -1, 1, 0}), flip = both({-1, 0, 0, 1});
  const Batch twice = transform(transform(batch, flip, schema), quarter, schema);
  EXPECT_EQ(difference(twice, transform(batch, composed(quarter, flip), schema)), 0);
  EXPECT_GT(difference(twice, transform(batch, composed(flip, quarter), schema)), 0.1);
  Batch four = batch;
  for (int i = 0; i < 4; ++i) {
    four = transform(four, quarter, schema);
  }
  EXPECT_EQ(difference(four, batch), 0);
  // a cell at (x, y) about the centre goes to R (x, y): (3, 1) -> (-1, 3) in units of half a cell
  const auto& v = std::get<Grid>(batch.input).values;
  const Tensor w = std::get<Grid>(transform(batch, quarter, schema).input).values;
  EXPECT_EQ(w[0][0][1][3].item<double>(), v[0][0][3][2].item<double>());
  EXPECT_EQ(w[0][1][1][3].item<double>(), -v[0][2][3][2].item<double>());  // flow' = R flow = (-y, x)
  EXPECT_EQ(w[0][2][1][3].item<double>(), v[0][1][3][2].item<double>());
  EXPECT_THROW(transform(batch, both({0.8, -0.6, 0.6, 0.8}), schema), ShapeError);
  EXPECT_THROW(transform(batch, both({1, 0, 1, 0}), schema), ShapeError);
  const Batch oblong{Grid{at::randn({2, 3, 4, 5}, at::kDouble), {}},
                     {{"mask", at::randn({2, 1, 4, 5}, at::kDouble)}}};
  Motions one_of_two = quarter;
  one_of_two.linear = one_of_two.linear.clone();
  one_of_two.linear[1].copy_(at::eye(2, at::kDouble));
  EXPECT_THROW(transform(oblong, one_of_two, schema), ShapeError);
  const Batch upright = transform(oblong, quarter, schema);
  EXPECT_EQ(std::get<Grid>(upright.input).values.sizes(), (at::IntArrayRef{2, 3, 5, 4}));
  EXPECT_EQ(difference(transform(transform(upright, quarter, schema), quarter, schema),
                       transform(upright, composed(quarter, quarter), schema)),
            0);
  EXPECT_EQ(difference(transform(transform(oblong, flip, schema), flip, schema), oblong), 0);
}

TEST(Transform, TurnsEachGridOfABatchByItselfAndKeepsCategories) {
  Schema schema;
  schema.interface.grid = true;
  schema.interface.features = {
      {"grey"}, {"flow", Level::node, Kind::vector}, {"sense", Level::node, Kind::pseudoscalar}};
  schema.labels = {{"mask", Level::node, Kind::category}, {"class", Level::graph, Kind::category}};
  const GroupPtr group = named_group("octahedron_full");
  const int64_t B = 48;
  Tensor linear = at::empty({B, 3, 3}, at::kDouble);
  for (int64_t g = 0; g < B; ++g) {
    std::copy(group->element((7 * g) % B).begin(), group->element((7 * g) % B).end(),
              linear.data_ptr<double>() + 9 * g);
  }
  const Batch batch{
      Grid{at::randn({B, 5, 3, 3, 3}, at::kDouble)},
      {{"mask", at::randint(0, 4, {B, 1, 3, 3, 3}, at::kLong)}, {"class", at::arange(B).view({B, 1})}}};
  const Batch moved = transform(batch, {linear, {}}, schema);
  EXPECT_EQ(moved.labels.at("mask").scalar_type(), at::kLong);
  EXPECT_TRUE(moved.labels.at("class").equal(batch.labels.at("class")));
  for (int64_t b = 0; b < B; ++b) {
    const Batch alone =
        transform(take(batch, std::vector<int64_t>{b}, schema), {linear.narrow(0, b, 1), {}}, schema);
    EXPECT_EQ(difference(alone, take(moved, std::vector<int64_t>{b}, schema)), 0);
    // the value at p goes to R p: the first corner
    const Tensor corner = at::matmul(linear[b], at::full({3}, -1.0, at::kDouble)) + 1;
    const auto at_corner = [&](const Tensor& x) {
      return x[b][0][corner[0].item<int64_t>()][corner[1].item<int64_t>()][corner[2].item<int64_t>()]
          .item<double>();
    };
    EXPECT_EQ(at_corner(std::get<Grid>(moved.input).values),
              std::get<Grid>(batch.input).values[b][0][0][0][0].item<double>());
    EXPECT_EQ(at_corner(moved.labels.at("mask").to(at::kDouble)),
              batch.labels.at("mask")[b][0][0][0][0].item<double>());
  }
}

TEST(PermuteNodes, MovesNodesAndPairsTogether) {
  Schema schema = rich_schema();
  const Batch batch = rich_batch({3, 2});
  // inside objects {0,1}, {2}, {3,4}
  const Tensor order = at::tensor(std::vector<int64_t>{1, 0, 2, 4, 3}, at::kLong);
  const Batch moved = permute_nodes(batch, order, schema);
  const auto &p = std::get<Points>(batch.input), &q = std::get<Points>(moved.input);
  EXPECT_TRUE(at::equal(q.positions[0], p.positions[1]));
  EXPECT_TRUE(at::equal(q.pairs[0 * 3 + 2], p.pairs[1 * 3 + 2]));  // (0, 2) was (1, 2)
  EXPECT_TRUE(
      at::equal(q.pairs[9 + 0 * 2 + 1], p.pairs[9 + 1 * 2 + 0]));  // (0, 1) of the second graph was (1, 0)
  EXPECT_TRUE(at::equal(moved.labels.at("pull")[2], batch.labels.at("pull")[5]));
  EXPECT_TRUE(at::equal(moved.labels.at("forces")[3], batch.labels.at("forces")[4]));
  EXPECT_TRUE(at::equal(moved.labels.at("energy"), batch.labels.at("energy")));
  EXPECT_EQ(difference(permute_nodes(moved, order, schema), batch), 0);  // an involution
  const Named forces{{"forces", batch.labels.at("forces")}};
  EXPECT_TRUE(at::equal(permute_nodes(forces, schema.labels, order).at("forces"), moved.labels.at("forces")));
}

TEST(PermuteNodes, RefusesOrdersThatLeaveAGraphOrAnObject) {
  const Schema schema = rich_schema();
  const Batch batch = rich_batch({3, 2});
  const auto order = [](std::initializer_list<int64_t> x) {
    return at::tensor(std::vector<int64_t>(x), at::kLong);
  };
  EXPECT_THROW(permute_nodes(batch, order({0, 1, 3, 2, 4}), schema), ShapeError);  // another graph
  EXPECT_THROW(permute_nodes(batch, order({0, 2, 1, 3, 4}), schema), ShapeError);  // another object
  EXPECT_THROW(permute_nodes(batch, order({0, 0, 2, 3, 4}), schema), ShapeError);  // a repeat
  EXPECT_THROW(permute_nodes(batch, order({0, 1, 2}), schema), ShapeError);
}

}  // namespace motion_test
}  // namespace weyl
