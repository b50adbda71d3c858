// The whole model: what it claims, what it reads and gives, and that scenes do not see each other.
#include "weyl/models/gatr/gatr.h"

#include <torch/csrc/autograd/autograd.h>

#include <cstdlib>

#include "tests/equivariance.h"
#include "tests/gradients.h"
#include "tests/models/gatr/goldens.h"
#include "tests/models/gatr/pin.h"
#include "tests/models/gatr/small.h"
#include "weyl/carriers/multivector_motion.h"
#include "weyl/core/check.h"
#include "weyl/models/systems.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl::gatr {
namespace gatr_test {

/// Features of every kind, role and level.
Schema all_kinds() {
  Schema schema;
  Interface& i = schema.interface;
  i.types = 2;
  i.typical_nodes = 6;
  i.features = {{.name = "charge", .channels = 2},
                {.name = "handed", .kind = Kind::pseudoscalar},
                {.name = "velocity", .kind = Kind::vector},
                {.name = "corner", .kind = Kind::vector, .channels = 2, .role = Role::offset},
                {.name = "normal", .kind = Kind::vector, .role = Role::normal},
                {.name = "target", .kind = Kind::vector, .role = Role::point},
                {.name = "spin", .kind = Kind::axial_vector},
                {.name = "shape", .kind = Kind::multivector, .channels = 2},
                {.name = "mass", .level = Level::object},
                {.name = "axis", .level = Level::object, .kind = Kind::axial_vector},
                {.name = "handle", .level = Level::object, .kind = Kind::vector, .role = Role::offset},
                {.name = "gravity", .level = Level::graph, .kind = Kind::vector},
                {.name = "floor", .level = Level::graph, .kind = Kind::vector, .role = Role::normal},
                {.name = "frame", .level = Level::graph, .kind = Kind::multivector}};
  for (const Level level : {Level::node, Level::object, Level::graph}) {
    const std::string of = std::string(level_names[static_cast<size_t>(level)]) + " ";
    const auto add = [&](const char* name, Kind kind, int64_t channels = 1, Role role = Role::free,
                         bool extensive = false) {
      i.outputs.push_back({of + name, level, kind, channels, role, extensive});
    };
    add("number", Kind::scalar, 2);
    add("volume", Kind::pseudoscalar);
    add("push", Kind::vector, 2);
    add("side", Kind::vector, 1, Role::normal);
    add("step", Kind::vector, 1, Role::offset);
    add("goal", Kind::vector, 1, Role::point);
    add("turn", Kind::axial_vector, 2);
    add("motor", Kind::multivector);
    if (level != Level::node) {
      add("energy", Kind::scalar, 1, Role::free, true);
      add("torque", Kind::vector, 1, Role::free, true);
    }
  }
  return schema;
}

Batch tokens(const Schema& schema, int64_t graphs = 3, int64_t nodes = 6) {
  return random_tokens(schema, graphs, nodes, 4);
}

bool claims(const std::vector<Claim>& all, Claim::Of of) {
  return std::ranges::any_of(all, [&](const Claim& claim) { return claim.of == of; });
}

/// Every exact claim in float64 and float32. The control: outputs move with a random rotation of the input, which the
/// model claims, so that taking them as they were is wrong.
void expect_claims(Gatr& model, const Schema& schema) {
  const Batch batch = tokens(schema);
  Stream stream(9, "gatr control");
  const Batch turned = transform(batch, random_rotations(batch.count(), 3, false, stream), schema);
  EXPECT_GT(equivariance::relative_error(model(turned.input), model(batch.input)), 1e-2)
      << "the control passed";
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    model.to(dtype);
    for (const Claim& claim : model.symmetry().exact) {
      EXPECT_LT(equivariance::claim_error(model, claim, batch, schema, /*samples=*/2),
                dtype == at::kDouble ? 1e-11 : 1e-5)
          << claim.group << " in " << dtype;
    }
  }
}

TEST(Gatr, ClaimsOfEveryOptionHold) {
  const Schema schema = all_kinds();
  const auto expect = [&](const char* name, auto change) {
    SCOPED_TRACE(name);
    Options o = small();
    change(o);
    const auto model = make(o, schema.interface);
    const Symmetry symmetry = model->symmetry();
    EXPECT_TRUE(claims(symmetry.exact, Claim::Of::rotations));
    EXPECT_TRUE(claims(symmetry.exact, Claim::Of::translations));
    EXPECT_TRUE(claims(symmetry.approximate, Claim::Of::rotoreflections));
    EXPECT_EQ(claims(symmetry.exact, Claim::Of::permutations), !o.rotary && !o.axial);
    expect_claims(*model, schema);
  };
  expect("default", [](auto&) {});
  expect("multi-head", [](auto& o) { o.multi_query = false; });
  expect("canonical", [](auto& o) { o.reference = Reference::canonical; });
  expect("hierarchical", [](auto& o) { o.attention = AttentionScope::hierarchical; });
  expect("axial", [](auto& o) { o.axial = true; });
  expect("axial, of which one axis knows the order",
         [](auto& o) { o.axial = true, o.rotary = 100, o.rotary_axes = RotaryAxes::across; });
  expect("rotary", [](auto& o) { o.rotary = 100; });
  expect("scalars in multivectors", [](auto& o) { o.scalars_as = ScalarsAs::multivector; });
  expect("inserted again", [](auto& o) { o.reinsert_multivectors = {0, 3}, o.reinsert_scalars = {1}; });
  expect("sigmoid", [](auto& o) { o.activation = MultivectorGate::sigmoid, o.epsilon = 0.1; });
}

/// Kinds that mirrors move as they move their embeddings: everything but points.
Schema without_points() {
  Schema schema = all_kinds();
  const auto point = [](const Quantity& q) {
    return q.kind == Kind::vector && (q.role == Role::point || q.role == Role::offset);
  };
  std::erase_if(schema.interface.features, point);
  std::erase_if(schema.interface.outputs, point);
  return schema;
}

TEST(Gatr, WithoutPointsReflectionsAreExact) {
  const Schema schema = without_points();
  Options o = small();
  o.positions = false;
  const auto model = make(o, schema.interface, 0.1);
  ASSERT_TRUE(claims(model->symmetry().exact, Claim::Of::rotoreflections));
  EXPECT_TRUE(model->symmetry().approximate.empty());
  expect_claims(*model, schema);
  // A reference that is given moves with the scene, whatever it belongs to.
  o.reference = Reference::given;
  for (const Level level : {Level::graph, Level::object, Level::node}) {
    Schema given = schema;
    given.interface.features.push_back({.name = "reference", .level = level, .kind = Kind::multivector});
    const auto told = make(o, given.interface, 0.1);
    ASSERT_TRUE(claims(told->symmetry().exact, Claim::Of::rotoreflections));
    expect_claims(*told, given);
  }
  // The control: a reference that mirrors do not turn.
  o.reference = Reference::canonical;
  const auto canonical = make(o, schema.interface, 0.1);
  EXPECT_FALSE(claims(canonical->symmetry().exact, Claim::Of::rotoreflections));
  const Claim mirrors{Claim::Of::rotoreflections, "O(3)", nullptr};
  EXPECT_GT(equivariance::claim_error(*canonical, mirrors, tokens(schema), schema), 1e-3);
}

/// A node at the origin has a position as any other: only an input to which none was given has none.
TEST(Gatr, ANodeAtTheOriginIsOneAsElsewhere) {
  const BuildOn float64(at::kCPU, at::kDouble);
  Interface interface = golden_interface();
  interface.features.erase(interface.features.begin() + 1, interface.features.end());  // the multivectors
  const auto net = make(small(), interface, 0.1);
  net->train(false);
  Points points = nodes_of({1}, {1});
  points.placed = true;
  at::manual_seed(3);
  points.multivectors = at::randn({1, interface.features[0].channels, 16}, at::kDouble);
  Points moved = points;
  const Tensor by = at::tensor({3.0, -1.0, 2.0}, at::kDouble).unsqueeze(0);
  moved.positions = points.positions + by;
  moved.multivectors = translated_multivectors(points.multivectors, by);
  const Named here = (*net)(points), there = (*net)(moved);
  EXPECT_LT((translated_multivectors(here.at("moved"), by) - there.at("moved")).abs().max().item<double>(),
            1e-11);
  points.placed = false;
  EXPECT_THROW((*net)(points), DataError);
}

/// Multivectors alone: Pin(3,0,1) itself, translations among it, of net and layers at once.
TEST(Gatr, NetsOfMultivectorsCommuteWithPin) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const Interface interface = golden_interface();
  const auto expect = [&](const char* name, auto change) {
    Options o = golden_options();
    change(o);
    const auto net = make(o, interface, 0.1);
    const auto layer = [&](const Streams& x) {
      Points points = nodes_of({4, 3}, {2, 2, 3});
      points.positions = points.positions.to(x.multivectors.scalar_type());
      points.multivectors = components_last(x.multivectors);
      points.scalars = x.scalars;
      Named out = (*net)(points);
      return Streams{components_first(out.at("moved")), out.at("counted")};
    };
    at::manual_seed(2);
    const Streams x{at::randn({16, 7, 3}, at::kDouble), at::randn({7, 3}, at::kDouble)};
    expect_pin(name, layer, x, [&](auto dtype) { net->to(dtype); });
  };
  expect("multi-query", [](auto&) {});
  expect("multi-head", [](auto& o) { o.multi_query = false; });
  expect("hierarchical", [](auto& o) { o.attention = AttentionScope::hierarchical; });
  expect("axial", [](auto& o) { o.axial = true; });
}

TEST(Gatr, ASecondSceneChangesNothingToTheBit) {
  const Schema schema = all_kinds();
  const Batch all = tokens(schema, 3, 37);
  const bool expressions =
      std::getenv("WEYL_TEST_EXPRESSIONS") != nullptr;  // whose matrix products round otherwise
  for (const auto scope : {AttentionScope::global, AttentionScope::hierarchical}) {
    Options o = small();
    o.attention = scope;
    o.width = 16;
    o.scalars = 32;
    const auto model = make(o, schema.interface);
    for (const auto dtype : {at::kDouble, at::kFloat}) {
      model->to(dtype);
      const at::NoGradGuard quiet;
      const Named together = (*model)(to(all.input, at::kCPU, dtype));
      for (int64_t g = 0; g < 3; ++g) {
        const Batch one = take(all, std::vector<int64_t>{g}, schema);
        const Named alone = (*model)(to(one.input, at::kCPU, dtype));
        for (const Quantity& q : model->interface.outputs) {
          const int64_t rows = alone.at(q.name).size(0);
          const Tensor same = together.at(q.name).slice(0, g * rows, (g + 1) * rows);
          if (expressions) {
            EXPECT_TRUE(at::allclose(alone.at(q.name), same, 1e-4, 1e-4)) << q.name;
          } else {
            EXPECT_TRUE(at::equal(alone.at(q.name), same)) << q.name << ", scene " << g << ", " << dtype;
          }
        }
      }
    }
  }
}

TEST(Gatr, GivesEveryOutputItsShapeAlsoOfNothing) {
  const Schema schema = all_kinds();
  const auto model = make(small(), schema.interface);
  for (const std::vector<int64_t>& chosen : {std::vector<int64_t>{}, {0}, {1, 0}}) {
    const Batch batch = take(tokens(schema, 2, 4), chosen, schema);
    const auto& points = std::get<Points>(batch.input);
    const Named out = (*model)(batch.input);
    ASSERT_EQ(out.size(), model->interface.outputs.size());
    for (const Quantity& q : model->interface.outputs) {
      const std::vector<int64_t> shape = shape_of(q, rows_of(points, q.level), 3);
      EXPECT_EQ(out.at(q.name).sizes(), at::IntArrayRef(shape)) << q.name;
      EXPECT_TRUE(at::isfinite(out.at(q.name)).all().item<bool>()) << q.name;
      EXPECT_EQ(out.at(q.name).scalar_type(), at::kDouble);
    }
  }
}

TEST(Gatr, OutputsShareChannelsWhereTheyAreDifferentParts) {
  const BuildOn shapes(at::kMeta, at::kFloat);
  const Schema schema = all_kinds();
  const Readout readout(small(), schema.interface);
  // Three whole multivectors; then eight free vectors (two and an extensive one more for objects and graphs), beside six
  // axial ones, six points and offsets, and so on.
  EXPECT_EQ(readout.multivectors(), 3 + 8);
  EXPECT_EQ(readout.scalars(), std::optional<int64_t>(3 * 2 + 2));
  Options o = small();
  o.scalars_as = ScalarsAs::multivector;
  EXPECT_EQ(Readout(o, schema.interface).multivectors(), 3 + 8);
  EXPECT_EQ(Readout(o, schema.interface).scalars(), std::nullopt);
  const Embedding embedding(small(), schema.interface);
  EXPECT_EQ(embedding.multivectors(), 1 + 14);
  EXPECT_EQ(embedding.scalars(), 2 + 2 + 1);
  EXPECT_EQ(Embedding(o, schema.interface).multivectors(), 1 + 14 + 5);
  EXPECT_EQ(Embedding(o, schema.interface).scalars(), 1);  // which is zero
}

/// What an embedding makes of one node, channel by channel, against the formulas of the fact sheet.
TEST(Gatr, EmbedsAsTheSheetSays) {
  Interface i;
  i.features = {{.name = "v", .kind = Kind::vector},
                {.name = "o", .kind = Kind::vector, .role = Role::offset},
                {.name = "n", .kind = Kind::vector, .role = Role::normal},
                {.name = "a", .kind = Kind::axial_vector},
                {.name = "h", .kind = Kind::pseudoscalar},
                {.name = "s"}};
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{1});
  points.positions = at::tensor({1.0, 2.0, 3.0}, at::kDouble).view({1, 3});
  points.vectors =
      at::tensor({0.5, 0.25, -1.0, 1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, at::kDouble).view({1, 4, 3});
  points.scalars = at::tensor({7.0, 9.0}, at::kDouble).view({1, 2});
  const Embedding embedding(small(), i);
  const Streams x = embedding(points, frame_of(points, /*centred=*/false));
  const Tensor rows = components_last(x.multivectors)[0];
  const auto row = [&](int64_t channel) {
    std::map<int, double> found;
    for (int c = 0; c < 16; ++c) {
      if (const double value = rows[channel][c].item<double>(); value != 0) {
        found[c] = value;
      }
    }
    return found;
  };
  using Numbers = std::map<int, double>;
  EXPECT_EQ(row(0), (Numbers{{14, 1}, {13, -1}, {12, 2}, {11, -3}}));  // the position
  EXPECT_EQ(row(1), (Numbers{{5, 0.5}, {6, 0.25}, {7, -1}}));          // free
  EXPECT_EQ(row(2), (Numbers{{14, 1}, {13, -2}, {12, 2}, {11, -5}}));  // position + (1, 0, 2)
  EXPECT_EQ(row(3), (Numbers{{3, 1}, {1, -2}}));                       // the plane y = 2
  EXPECT_EQ(row(4), (Numbers{{8, 1}, {5, 2}, {6, -1}}));               // through the position along z
  EXPECT_EQ(row(5), (Numbers{{15, 7}}));
  EXPECT_EQ(x.scalars.item<double>(), 9);
  // Seen from its centroid, the node is the origin.
  const Tensor centred = embedding(points, frame_of(points, true)).multivectors.select(2, 0);
  EXPECT_EQ(centred.abs().sum().item<double>(), 1);
}

/// Points come out as where they went in: a channel that is a node's position is an offset of zero from it.
TEST(Gatr, ReadsWhatItEmbeds) {
  Interface i;
  i.outputs = {{.name = "step", .kind = Kind::vector, .role = Role::offset},
               {.name = "turn", .kind = Kind::axial_vector},
               {.name = "push", .kind = Kind::vector}};
  at::manual_seed(3);
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{2, 3});
  points.positions = at::randn({5, 3}, at::kDouble);
  const Readout readout(small(), i);
  ASSERT_EQ(readout.multivectors(), 1);
  const Tensor to = at::randn({5, 1, 3}, at::kDouble), axis = at::randn({5, 1, 3}, at::kDouble);
  Interface in;
  in.features = {{.name = "to", .kind = Kind::vector, .role = Role::offset},
                 {.name = "axis", .kind = Kind::axial_vector}};
  points.vectors = at::cat({to, axis}, 1);
  Options o = small();
  o.positions = false;
  const Frame frame = frame_of(points, true);
  const Tensor both = Embedding(o, in)(points, frame).multivectors.sum(2, true);  // point and line in one
  const Named out = readout({both, {}}, points, frame);
  EXPECT_TRUE(
      at::allclose(out.at("step"), to / 2, 1e-12, 1e-12));  // halfway to the node's own place, of weight 1
  EXPECT_TRUE(at::allclose(out.at("turn"), axis, 1e-12, 1e-12));
  EXPECT_LT(out.at("push").abs().max().item<double>(), 1e-12);  // the line goes through the node
}

TEST(Gatr, ForcesAndTheirDerivativesAreRight) {
  Interface i;
  i.types = 2;
  i.outputs = {{.name = "energy", .level = Level::graph, .extensive = true}};
  const auto model = make(small(), i, 0.1);
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{3, 1});
  points.types = at::tensor({0, 1, 1, 0}, at::kLong);
  at::manual_seed(3);
  const Tensor positions = at::randn({4, 3}, at::kDouble);
  const Expression energy = [&](const std::vector<Tensor>& in) {
    Points moved = points;
    moved.positions = in[0];
    return (*model)(moved).at("energy");
  };
  expect_second_gradients(energy, {positions}, {.relative = 1e-5});
  Tensor coincident = positions.clone();
  coincident[1].copy_(coincident[0]);
  expect_finite_gradients(energy, {coincident});
  expect_finite_gradients(energy, {at::zeros_like(positions)});
}

// Multivectors are seen from the centroid, which moves with every position; so is the multivector that comes out.
TEST(Gatr, DerivativesByPositionsAreRightBesideFeaturesOfEveryKind) {
  Schema schema = all_kinds();
  schema.interface.outputs = {
      {.name = "energy", .level = Level::graph, .extensive = true},
      {.name = "motor", .level = Level::graph, .kind = Kind::multivector},
      {.name = "motion", .level = Level::node, .kind = Kind::multivector},
      {.name = "goal", .level = Level::node, .kind = Kind::vector, .role = Role::point}};
  const auto expect = [&](const char* name, auto change, bool all = false) {
    SCOPED_TRACE(name);
    Options o = small();
    change(o);
    const auto model = make(o, schema.interface, 0.1);
    const auto points = std::get<Points>(tokens(schema, 2, 2).input);
    for (const Quantity& q : schema.interface.outputs) {
      if (!all && q.name != "energy") {
        continue;
      }
      SCOPED_TRACE(q.name);
      const Expression output = [&](const std::vector<Tensor>& in) {
        Points moved = points;
        moved.positions = in[0];
        return (*model)(moved).at(q.name);
      };
      expect_second_gradients(output, {points.positions}, {.relative = 1e-5});
    }
  };
  expect("default", [](auto&) {}, /*all=*/true);
  expect("canonical", [](auto& o) { o.reference = Reference::canonical; });
  expect("heads", [](auto& o) { o.multi_query = false; });
  expect("rotary", [](auto& o) { o.rotary = 100; });
  expect("scalars as multivectors", [](auto& o) { o.scalars_as = ScalarsAs::multivector; });
}

TEST(Gatr, EnergiesOfFarMoleculesKeepTheirDigits) {
  Interface i;
  i.outputs = {{.name = "energy", .level = Level::graph, .extensive = true},
               {.name = "force", .kind = Kind::vector}};
  const auto model = make(small(), i, 0.1);
  model->to(at::kFloat);
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{4});
  at::manual_seed(3);
  points.positions = (at::round(at::randn({4, 3}, at::kDouble) * 1024) / 1024).to(at::kFloat);
  const Named near = (*model)(points);
  points.positions = points.positions + 1024;  // exact in float32
  const Named far = (*model)(points);
  EXPECT_LT(equivariance::relative_error(far, near), 1e-6);
}

TEST(Gatr, RefusesWhatItCannotReadOrGive) {
  const BuildOn shapes(at::kMeta, at::kFloat);
  const auto refused = [](const Interface& i, const Options& o, const std::string& what) {
    try {
      Gatr model(o, i);
      ADD_FAILURE() << what;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  Interface i;
  i.outputs = {{.name = "energy", .level = Level::graph}};
  EXPECT_NO_THROW(Gatr(small(), i));
  const auto with_feature = [&](const Quantity& q) {
    Interface other = i;
    other.features = {q};
    return other;
  };
  refused(with_feature({.name = "bond", .level = Level::pair}), small(), "feature 'bond' (pair scalar)");
  refused(with_feature({.name = "strain", .kind = Kind::symmetric_tensor}), small(), "symmetric_tensor");
  const auto with_output = [&](const Quantity& q) {
    Interface other = i;
    other.outputs = {q};
    return other;
  };
  refused(with_output({.name = "stress", .level = Level::graph, .kind = Kind::symmetric_tensor}), small(),
          "'stress'");
  refused(with_output({.name = "link", .level = Level::pair}), small(), "'link'");
  refused(with_output({.name = "all",
                       .level = Level::graph,
                       .kind = Kind::vector,
                       .role = Role::offset,
                       .extensive = true}),
          small(), "'all' must not be extensive");
  Interface flat = i;
  flat.dimension = 2;
  refused(flat, small(), "3 dimensions");
  Options o = small();
  o.positions = false;
  refused(i, o, "model.gatr.positions");
  o = small();
  o.reinsert_multivectors = {1};
  refused(i, o, "model.gatr.reinsert_multivectors: must be below the 1 channels");
  o = small();
  o.reinsert_scalars = {1};
  refused(i, o, "model.gatr.reinsert_scalars");
  o = small();
  o.attention = AttentionScope::hierarchical;
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{2});
  points.positions = at::zeros({2, 3}, at::kDouble);
  EXPECT_THROW((*make(o, i))(points), ShapeError);  // no objects
}

}  // namespace gatr_test
}  // namespace weyl::gatr
