// Models in principal axes: exact under all rotations and reflections on generic clouds, and refused or told where not.
#include "weyl/models/framed_model.h"

#include "tests/equivariance.h"
#include "tests/gradients.h"
#include "tests/models/points_fixtures.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/study/audit/audit_samples.h"

namespace weyl {
namespace framed_model_test {

platonic::Options signs(int64_t dimension) {
  platonic::Options o;
  o.group = dimension == 3 ? "octahedron_reflections" : "dihedral_2";
  o.width = dimension == 3 ? 64 : 32;
  o.heads = dimension == 3 ? 8 : 4;
  o.blocks = 2;
  o.ffn_factor = 2;
  return o;
}

transformer::Options plain() {
  transformer::Options o;
  o.width = 16;
  o.heads = 2;
  o.blocks = 2;
  return o;
}

std::shared_ptr<Model> make(const SystemOptions& system, FrameMethod frames, const Interface& interface) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(11);
  ModelOptions options{system};
  options.frames = frames;
  auto model = build(options, interface);
  model->train(false);
  return model;
}

/// Clouds whose principal moments are well apart.
Batch generic(int64_t dimension) {
  Batch batch = random_points({9, 7, 12}, dimension);
  auto& points = std::get<Points>(batch.input);
  points.positions = points.positions * (at::arange(dimension, at::kDouble) + 1) + 0.7;
  return batch;
}

double error_of(Model& model, Claim::Of of, const Batch& batch) {
  return equivariance::claim_error(model, {of, "", nullptr}, batch,
                                   schema_of_all_kinds(model.interface.dimension));
}

double error_of_shear(Model& model, const Batch& batch) {
  const int64_t D = model.interface.dimension;
  Tensor shear = at::eye(D, at::kDouble).repeat({batch.count(), 1, 1});
  shear.select(1, 0).select(1, 1).fill_(0.5);
  return equivariance::motion_error(model, batch, schema_of_all_kinds(D), {shear, {}});
}

void expect_exact(Model& model, const Batch& batch, const char* what) {
  const Symmetry symmetry = model.symmetry_for(batch.input);
  EXPECT_EQ(symmetry.exact.size(), 3U) << what;
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    model.to(dtype);
    for (const Claim& claim : symmetry.exact) {
      EXPECT_LT(
          equivariance::claim_error(model, claim, batch, schema_of_all_kinds(model.interface.dimension)),
          dtype == at::kDouble ? 1e-11 : 1e-5)
          << what << ", " << claim.group << " in " << dtype;
    }
  }
  EXPECT_GT(error_of_shear(model, batch), 1e-3) << what << ": the control passed";
}

TEST(FramedModel, PrincipalAxesMakeAGroupOfSignsExactUnderAllRotationsAndReflections) {
  for (const int64_t D : {2, 3}) {
    const Interface interface = interface_of_all_kinds(D);
    EXPECT_GT(error_of(*make(signs(D), FrameMethod::none, interface), Claim::Of::rotations, generic(D)),
              1e-3);
    const auto model = make(signs(D), FrameMethod::pca, interface);
    EXPECT_EQ(model->symmetry().exact.front().of, Claim::Of::rotoreflections);
    expect_exact(*model, generic(D), "pca");
  }
}

TEST(FramedModel, AveragesMakeAnyModelExact) {
  for (const int64_t D : {2, 3}) {
    const Interface interface = interface_of_all_kinds(D);
    EXPECT_GT(error_of(*make(plain(), FrameMethod::none, interface), Claim::Of::rotations, generic(D)), 1e-3);
    const auto all = make(plain(), FrameMethod::average, interface);
    expect_exact(*all, generic(D), "average");
    const auto rotations = make(plain(), FrameMethod::average_rotations, interface);
    EXPECT_EQ(rotations->symmetry().exact.front().of, Claim::Of::rotations);
    EXPECT_GT(error_of(*rotations, Claim::Of::rotoreflections, generic(D)), 1e-3);
    expect_exact(*rotations, generic(D), "average over rotations");
  }
}

TEST(FramedModel, IsItsModelWhereTheAxesAreThoseOfSpace) {
  // Signs of axes are those of the eigenvectors; the group of signs makes them no matter.
  const Interface interface = interface_of_all_kinds(3);
  Batch batch = random_points({6}, 3);
  auto& points = std::get<Points>(batch.input);
  points.positions =
      at::tensor({1., 0., 0., -1., 0., 0., 0., 2., 0., 0., -2., 0., 0., 0., 3., 0., 0., -3.}, at::kDouble)
          .view({6, 3});
  EXPECT_LT(equivariance::relative_error((*make(signs(3), FrameMethod::pca, interface))(batch.input),
                                         (*make(signs(3), FrameMethod::none, interface))(batch.input)),
            1e-12);
}

TEST(FramedModel, HasTheWeightsOfItsModelAndAsManyPassesAsFrames) {
  const Interface interface = interface_of_all_kinds(3);
  const auto bare = make(plain(), FrameMethod::none, interface),
             framed = make(plain(), FrameMethod::average, interface),
             rotations = make(plain(), FrameMethod::average_rotations, interface);
  const auto a = bare->parameters(), b = framed->parameters();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_TRUE(at::equal(a[i].tensor, b[i].tensor));
  }
  EXPECT_DOUBLE_EQ(framed->work_of_token().forward, 8 * bare->work_of_token().forward);
  EXPECT_DOUBLE_EQ(rotations->work_of_token().backward, 4 * bare->work_of_token().backward);
  EXPECT_EQ(framed->freeze("blocks.0"), bare->freeze("blocks.0"));
}

TEST(FramedModel, WhatFramesCannotServeIsRefusedByName) {
  const Interface interface = interface_of_all_kinds(3);
  const auto refused = [&](const SystemOptions& system, FrameMethod frames, const Interface& i,
                           const char* word) {
    try {
      make(system, frames, i);
      ADD_FAILURE() << word << ": was not refused";
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  refused(plain(), FrameMethod::pca, interface, "changes of the axes' signs");
  // All passes would give the same.
  refused(signs(3), FrameMethod::average, interface,
          "whose 8 passes would all give the same, got \"average\"");
  refused(signs(3), FrameMethod::average_rotations, interface, "whose 4 passes would all give the same");
  platonic::Options rotations = signs(3);
  rotations.group = "tetrahedron";
  rotations.width = 48;
  rotations.heads = 12;
  refused(rotations, FrameMethod::pca, interface, "changes of the axes' signs");
  Interface even = interface;
  even.features = {{"charge"}};
  even.outputs = {{"energy", Level::graph, Kind::scalar, 1}};
  refused(geomformer::Options{}, FrameMethod::average, even, "by itself");
  refused(gatr::Options{}, FrameMethod::average_rotations, even, "by itself, got \"average_rotations\"");
  EXPECT_NO_THROW(make(gatr::Options{}, FrameMethod::average, even));  // which adds the reflections
  Interface poses;
  poses.group = LieGroup::se3;
  poses.outputs = {{"gap"}};
  refused(lie::Options{}, FrameMethod::average, poses,
          "must be \"none\" for 'lie', which works on poses and not on points, got \"average\"");
}

TEST(FramedModel, SaysOfAnInputThatItHasNoAxes) {
  const Interface interface = interface_of_all_kinds(3);
  const auto model = make(signs(3), FrameMethod::pca, interface);
  Batch batch = random_points({9, 4, 7}, 3);
  auto& points = std::get<Points>(batch.input);
  points.positions = points.positions * at::tensor({1., 2., 3.}, at::kDouble);
  EXPECT_TRUE(model->symmetry_for(points).obstacles.empty());
  points.positions.narrow(0, 9, 4).copy_(
      at::tensor({1., 1., 1., 1., -1., -1., -1., 1., -1., -1., -1., 1.}, at::kDouble).view({4, 3}));
  const Symmetry symmetry = model->symmetry_for(points);
  ASSERT_EQ(symmetry.obstacles.size(), 1U);
  EXPECT_NE(symmetry.obstacles[0].find("1 of 3 graphs"), std::string::npos) << symmetry.obstacles[0];
  EXPECT_TRUE(symmetry.exact.empty());  // shifts and orders of the nodes round in their own way too
  ASSERT_EQ(symmetry.approximate.size(), 3U);
  EXPECT_EQ(symmetry.approximate.front().of, Claim::Of::rotoreflections);
  std::string note;
  const Batch part = exact_part(*model, batch, schema_of_all_kinds(3), note);
  EXPECT_EQ(part.count(), 2);
  EXPECT_NE(note.find("audited on the other 2"), std::string::npos) << note;
  const int64_t second = 1;
  Stream stream(9, "a motion whose matrix rounds");
  const Batch none = transform(take(batch, {&second, 1}, schema_of_all_kinds(3)),
                               random_rotations(1, 3, false, stream), schema_of_all_kinds(3));
  for (const Claim::Of of : {Claim::Of::rotoreflections, Claim::Of::translations, Claim::Of::permutations}) {
    EXPECT_GT(error_of(*model, of, none), 1e-11);
  }
  try {
    exact_part(*model, none, schema_of_all_kinds(3), note);
    ADD_FAILURE() << "was not refused";
  } catch (const DataError& error) {
    const std::string line = error.what();
    EXPECT_NE(line.find("got none of 1: model.frames: 1 of 1 graphs"), std::string::npos) << line;
  }
  EXPECT_EQ(model->warnings("").size(), 1U);
}

/// Off the line by rounding alone, which decides the two axes across it. What both do not change is exact nonetheless.
TEST(FramedModel, NodesOnALineHaveNoAxesForVectorsAndAreExactForScalars) {
  Interface interface;
  interface.types = 3;
  interface.typical_nodes = 4;
  interface.outputs = {{"energy", Level::graph, Kind::scalar, 1}};
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{4});
  const Tensor along = at::tensor({0.48, -0.6, 0.64}, at::kDouble);
  points.positions = at::tensor({-1.0, 0.3, 0.9, 2.2}, at::kDouble).unsqueeze(1) * along;
  points.positions = points.positions + 1e-9 * (7 * points.positions.flip(1)).sin();
  points.types = at::tensor({0, 1, 2, 0}, at::kLong);
  const Schema schema = schema_of(interface);
  const Batch line{points, {}};
  for (const bool vectors : {false, true}) {
    if (vectors) {
      interface.outputs.push_back({"dipole", Level::graph, Kind::vector, 1});
    }
    const auto model = make(plain(), FrameMethod::average, interface);
    const Symmetry symmetry = model->symmetry_for(line.input);
    EXPECT_EQ(symmetry.obstacles.empty(), !vectors);
    const Claim turned{Claim::Of::rotoreflections, "", nullptr};
    const double error = equivariance::claim_error(*model, turned, line, schema);
    EXPECT_EQ(error < 1e-11, !vectors) << error;
  }
}

TEST(FramedModel, DerivativesByPositionsAreRightAndRefusedNearDegeneracy) {
  Interface interface = interface_of_all_kinds(3);
  interface.outputs = {{"energy", Level::graph, Kind::scalar, 1, Role::free, true}};
  const Batch batch = generic(3);
  for (const FrameMethod method : {FrameMethod::pca, FrameMethod::average}) {
    const auto model =
        method == FrameMethod::pca ? make(signs(3), method, interface) : make(plain(), method, interface);
    const auto energies = [&](const std::vector<Tensor>& x) {
      Points points = std::get<Points>(batch.input);
      points.positions = x[0];
      return (*model)(points).at("energy");
    };
    expect_second_gradients(energies, {std::get<Points>(batch.input).positions},
                            {.step = 1e-5, .absolute = 1e-6, .samples = 6});
    Points symmetric = std::get<Points>(batch.input);
    symmetric.positions =
        at::cat({at::eye(3, at::kDouble), -at::eye(3, at::kDouble), at::randn({22, 3}, at::kDouble)});
    symmetric.graphs = Segments::of_sizes(std::vector<int64_t>{6, 10, 12});
    EXPECT_NO_THROW((*model)(symmetric));
    symmetric.positions.requires_grad_();
    try {
      (*model)(symmetric);
      ADD_FAILURE() << "was not refused";
    } catch (const ShapeError& error) {
      EXPECT_NE(std::string(error.what()).find("graph 0"), std::string::npos) << error.what();
    }
  }
}

TEST(FramedModel, WarnsOfLinesWhereTheirAxesMatter) {
  Interface scalars = interface_of_all_kinds(3);
  scalars.features = {{"charge"}};
  scalars.outputs = {{"energy", Level::graph, Kind::scalar, 1}};
  const auto names_lines = [](const Interface& interface, std::string_view differentiated_by) {
    const auto all = make(plain(), FrameMethod::average, interface)->warnings(differentiated_by);
    return all.back().find("linear ones, single atoms") != std::string::npos;
  };
  EXPECT_FALSE(names_lines(scalars, ""));
  EXPECT_TRUE(names_lines(scalars, "task.force_field.forces"));
  scalars.outputs.push_back({"dipole", Level::graph, Kind::vector, 1});
  EXPECT_TRUE(names_lines(scalars, ""));
}

TEST(FramedModel, NeedsPositions) {
  const auto model = make(signs(3), FrameMethod::pca, interface_of_all_kinds(3));
  Points points = std::get<Points>(generic(3).input);
  points.placed = false;
  EXPECT_THROW((*model)(points), ConfigError);
}

TEST(PrincipalAxes, AreThoseOfAnEllipsoidAndTurnWithIt) {
  const Batch batch = generic(3);
  const auto& points = std::get<Points>(batch.input);
  const PrincipalAxes axes = principal_axes(points);
  for (int64_t b = 0; b < points.count(); ++b) {
    const Tensor own = points.positions.narrow(0, points.graphs.offsets[b], points.graphs.size(b));
    const Tensor offsets = own - own.mean(0);
    const Tensor covariance = at::matmul(offsets.t(), offsets), U = axes.axes[b];
    EXPECT_LT((at::matmul(covariance, U) - U * axes.spreads[b]).abs().max().item<double>(),
              1e-12 * covariance.norm().item<double>());
    EXPECT_LT((at::matmul(U.t(), U) - at::eye(3, at::kDouble)).abs().max().item<double>(), 1e-14);
  }
}

TEST(PrincipalAxes, GapsAreThoseOfNeighboursAndKnowTheNullSpace) {
  const Tensor spreads =
      at::tensor({1., 2., 4., 0., 0., 3., 0., 0., 0., 1., 1., 2.}, at::kDouble).view({4, 3});
  EXPECT_TRUE(at::allclose(least_gaps(spreads, false), at::tensor({0.25, 1., 1., 0.}, at::kDouble)));
  EXPECT_TRUE(at::allclose(least_gaps(spreads, true), at::tensor({0.25, 0., 0., 0.}, at::kDouble)));
}

}  // namespace framed_model_test
}  // namespace weyl
