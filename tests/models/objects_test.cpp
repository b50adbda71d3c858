// Outputs of objects: means and sums over their nodes, of every kind, by every system of points that gives them.
#include <ATen/ATen.h>

#include "tests/equivariance.h"
#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/study/audit/audit.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl {
namespace objects_test {

Schema bodies() {
  Schema schema;
  schema.interface.typical_nodes = 7;
  schema.interface.features = {{"height"},
                               {"velocity", Level::node, Kind::vector},
                               {"normal", Level::node, Kind::vector, 1, Role::normal},
                               {"mass", Level::object, Kind::scalar},
                               {"push", Level::object, Kind::vector},
                               {"gravity", Level::graph, Kind::vector}};
  return schema;
}

std::vector<Quantity> outputs_of(Level level) {
  return {{"grip", level, Kind::scalar, 2},
          {"weight", level, Kind::scalar, 1, Role::free, /*extensive=*/true},
          {"chirality", level, Kind::pseudoscalar, 2},
          {"shift", level, Kind::vector, 2},
          {"turn", level, Kind::axial_vector, 2},
          {"impulse", level, Kind::axial_vector, 1, Role::free, /*extensive=*/true},
          {"centre", level, Kind::vector, 1, Role::point}};
}

/// As outputs of objects, nodes and graphs side by side, with symmetric tensors for the system that gives them.
Interface of_all_levels(const std::string& system) {
  Interface interface = bodies().interface;
  for (const Level level : {Level::object, Level::node, Level::graph}) {
    std::vector<Quantity> outputs = outputs_of(level);
    if (system.starts_with("geomformer")) {
      outputs.push_back({"stretch", level, Kind::symmetric_tensor, 2});
      outputs.push_back({"inertia", level, Kind::symmetric_tensor, 1, Role::free, /*extensive=*/true});
    }
    for (Quantity q : outputs) {
      q.name = text(level_names[static_cast<int>(level)], "_", q.name);
      interface.outputs.push_back(q);
    }
  }
  return interface;
}

const std::vector<std::string> systems{"transformer", "platonic", "geomformer", "geomformer gated"};

std::shared_ptr<Model> made(const std::string& system, const Interface& interface) {
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(5);
  if (system == "transformer") {
    transformer::Options o;
    o.width = 16;
    o.heads = 2;
    o.blocks = 2;
    return build({o}, interface);
  }
  if (system == "platonic") {
    platonic::Options o;
    o.group = "tetrahedron";
    o.width = 48;
    o.heads = 12;
    o.blocks = 2;
    return build({o}, interface);
  }
  geomformer::Options o;
  o.width = 16;
  o.heads = 2;
  o.blocks = 2;
  o.head = system == "geomformer" ? geomformer::Head::mlp : geomformer::Head::gated;
  return build({o}, interface);
}

/// Four scenes of different sizes, the first two and the last of several bodies.
Batch scenes() {
  const Schema schema = bodies();
  Schema asked = schema;
  asked.labels = outputs_of(Level::object);
  const Batch parts[] = {random_tokens(asked, 2, 7, 1), random_tokens(asked, 1, 2, 2),
                         random_tokens(asked, 1, 9, 3)};
  return concatenate(parts, schema);
}

const Points& points_of(const Batch& batch) {
  return std::get<Points>(batch.input);
}

TEST(Objects, RandomTokensHaveThem) {
  const Batch batch = scenes();
  const Points& p = points_of(batch);
  EXPECT_EQ(p.objects.sizes(), (std::vector<int64_t>{3, 3, 1, 3, 3, 1, 2, 3, 3, 3}));
  EXPECT_EQ(p.of_objects.at("push").sizes(), at::IntArrayRef({10, 1, 3}));
}

TEST(Objects, EverySystemGivesEveryKind) {
  const Batch batch = scenes();
  for (const std::string& system : systems) {
    SCOPED_TRACE(system);
    const auto model = made(system, of_all_levels(system));
    const Named out = (*model)(batch.input);
    for (const Quantity& q : model->interface.outputs) {
      EXPECT_EQ(out.at(q.name).sizes(), at::IntArrayRef(shape_of(q, batch.input))) << q.name;
      EXPECT_GT(out.at(q.name).abs().max().item<double>(), 1e-6) << q.name;
    }
  }
}

TEST(Objects, CommuteWithWhatTheSystemClaims) {
  for (const std::string& system : systems) {
    SCOPED_TRACE(system);
    const auto model = made(system, of_all_levels(system));
    const Batch batch = scenes();
    const Motions shear{at::diag(at::tensor({0.6, 1.0, 1.5}, at::kDouble)).expand({batch.count(), 3, 3}), {}};
    EXPECT_GT(equivariance::motion_error(*model, batch, bodies(), shear), 1e-3);  // the control
    for (const auto dtype : {at::kDouble, at::kFloat}) {
      model->to(dtype);
      for (const Claim& claim : model->symmetry().exact) {
        EXPECT_LT(equivariance::claim_error(*model, claim, batch, bodies()),
                  dtype == at::kDouble ? 1e-11 : 1e-5)
            << claim.group << " in " << dtype;
      }
    }
  }
}

/// The control: what is odd under reflections does not move as what is even, nor a free vector as a point.
TEST(Objects, OtherKindsDoNotMoveAlike) {
  const Batch batch = scenes();
  const auto model = made("geomformer", of_all_levels("geomformer"));
  const Motions mirrors{-at::eye(3, at::kDouble).expand({batch.count(), 3, 3}),
                        at::ones({batch.count(), 3}, at::kDouble)};
  const Named moved = (*model)(transform(batch, mirrors, bodies()).input), out = (*model)(batch.input);
  const auto error = [&](const std::string& name, Kind kind, Role role) {
    Quantity q = *find_quantity(model->interface.outputs, name);
    q.kind = kind;
    q.role = role;
    const Named expected = transform({{name, out.at(name)}}, std::vector{q}, mirrors, batch.input);
    return equivariance::relative_error({{name, moved.at(name)}}, expected);
  };
  EXPECT_LT(error("object_turn", Kind::axial_vector, Role::free), 1e-11);
  EXPECT_GT(error("object_turn", Kind::vector, Role::free), 0.1);
  EXPECT_LT(error("object_chirality", Kind::pseudoscalar, Role::free), 1e-11);
  EXPECT_GT(error("object_chirality", Kind::scalar, Role::free), 0.1);
  EXPECT_LT(error("object_shift", Kind::vector, Role::free), 1e-11);
  EXPECT_GT(error("object_shift", Kind::axial_vector, Role::free), 0.1);
  EXPECT_LT(error("object_centre", Kind::vector, Role::point), 1e-11);
  EXPECT_GT(error("object_centre", Kind::vector, Role::free), 0.1);
}

/// By the same weights: their names do not know the level.
TEST(Objects, AreMeansAndSumsOverTheirNodes) {
  const Batch batch = scenes();
  const Points& p = points_of(batch);
  for (const char* system : {"transformer", "geomformer", "geomformer gated"}) {
    SCOPED_TRACE(system);
    Interface of_objects = bodies().interface, of_nodes = of_objects;
    of_objects.outputs = outputs_of(Level::object);
    of_nodes.outputs = outputs_of(Level::node);
    const Named objects = (*made(system, of_objects))(batch.input),
                nodes = (*made(system, of_nodes))(batch.input);
    for (const Quantity& q : of_objects.outputs) {
      Tensor on_nodes = nodes.at(q.name);
      double worst = 0, least = 1;
      for (int64_t o = 0; o < p.objects.count(); ++o) {
        const Tensor rows = on_nodes.slice(0, p.objects.offsets[o], p.objects.offsets[o + 1]);
        const Tensor wanted = q.extensive ? rows.sum(0) : rows.mean(0);
        worst = worst_of(worst, (objects.at(q.name)[o] - wanted).abs().max().item<double>());
        least = std::min(least, (objects.at(q.name)[o] - on_nodes[0]).abs().max().item<double>());
      }
      EXPECT_LT(worst, 1e-12) << q.name;
      EXPECT_GT(least, 1e-6) << q.name << ": the control, one node for all";
      EXPECT_EQ(objects.at(q.name).scalar_type(), at::kDouble);
    }
  }
}

TEST(Objects, OfPlatonicTheTrunkIsAveraged) {
  const Batch batch = scenes();
  const BuildOn wide(at::kCPU, at::kDouble);
  platonic::Options o;
  o.group = "tetrahedron";
  o.width = 48;
  o.heads = 12;
  o.blocks = 1;
  o.ffn_readout = false;  // then the order of mean and readout is the same
  Interface of_objects = bodies().interface, of_nodes = of_objects;
  of_objects.outputs = {outputs_of(Level::object)[3]};
  of_nodes.outputs = {outputs_of(Level::node)[3]};
  at::manual_seed(2);
  const Tensor objects = (*build({o}, of_objects))(batch.input).at("shift");
  at::manual_seed(2);
  const Tensor nodes = (*build({o}, of_nodes))(batch.input).at("shift");
  EXPECT_LT((objects[1] - nodes.slice(0, 3, 6).mean(0)).abs().max().item<double>(), 1e-12);
  EXPECT_GT((objects[1] - nodes.slice(0, 0, 3).mean(0)).abs().max().item<double>(), 1e-6);
}

TEST(Objects, DoNotDependOnOtherScenes) {
  const Batch batch = scenes();
  const std::vector<int64_t> last{3};
  const Batch alone = take(batch, last, bodies());
  for (const std::string& system : systems) {
    SCOPED_TRACE(system);
    Interface interface = bodies().interface;
    interface.outputs = outputs_of(Level::object);
    const auto model = made(system, interface);
    const Named all = (*model)(batch.input), one = (*model)(alone.input);
    for (const auto& [name, value] : one) {
      ASSERT_EQ(value.size(0), 3);
      EXPECT_LT((value - all.at(name).slice(0, 7, 10)).abs().max().item<double>(), 1e-12) << name;
    }
  }
}

TEST(Objects, NeedObjects) {
  for (const std::string& system : systems) {
    Interface interface = bodies().interface;
    interface.features.clear();
    interface.outputs = {{"grip", Level::object, Kind::scalar}};
    const auto model = made(system, interface);
    Points p;
    p.graphs = Segments::of_sizes(std::vector<int64_t>{3});
    p.positions = at::randn({3, 3}, at::kDouble);
    try {
      (*model)(p);
      FAIL() << system;
    } catch (const ShapeError& error) {
      EXPECT_STREQ(error.what(), "model input: output 'grip' belongs to objects, and the input has none");
    }
    Points none;  // no nodes, no objects
    none.positions = at::empty({0, 3}, at::kDouble);
    none.graphs = none.objects = Segments::of_sizes({});
    EXPECT_EQ((*model)(none).at("grip").sizes(), at::IntArrayRef({0, 1})) << system;
    interface.outputs = {{"grip", Level::pair, Kind::scalar}};
    EXPECT_THROW(made(system, interface), ConfigError) << system;
  }
}

TEST(Objects, AuditCoversThem) {
  for (const char* system : {"platonic", "geomformer"}) {
    SCOPED_TRACE(system);
    Interface interface = bodies().interface;
    interface.outputs = outputs_of(Level::object);
    const auto model = made(system, interface);
    model->to(at::kFloat);
    AuditOptions quick;
    quick.elements = 4;
    const AuditReport report = audit(*model, nullptr, scenes(), bodies(), quick);
    EXPECT_TRUE(report.passed);
    for (const Quantity& q : interface.outputs) {
      EXPECT_TRUE(
          std::ranges::any_of(report.claims, [&](const AuditClaim& c) { return c.output == q.name; }));
    }
    for (const AuditClaim& c : report.claims) {
      EXPECT_TRUE(c.passed) << c.group << " " << c.output << " " << c.dtype << " " << c.error;
    }
    for (const AuditControl& c : report.controls) {
      EXPECT_TRUE(c.passed) << c.transformation << " " << c.error;
    }
  }
}

/// Says that its objects' numbers are what the first node of each graph says: a mean over other rows.
class OfTheFirst : public PointsModel {
 public:
  explicit OfTheFirst(const Interface& interface) : PointsModel(interface) {
    parameter("none", {1}, Init::ones());  // whose dtype is the model's
  }
  Named forward(const Points& p) override {
    std::vector<int64_t> first(p.objects.offsets.begin(), p.objects.offsets.end() - 1);
    const Tensor rows = at::tensor(first, at::kLong);
    return {{"shift", p.positions.index_select(0, rows).unsqueeze(1)}};
  }
  Symmetry symmetry() const override {
    return {{{Claim::Of::rotations, "SO(3)", nullptr},
             {Claim::Of::translations, "translations", nullptr},
             {Claim::Of::permutations, "permutations", nullptr}},
            {}};
  }
  Work work(double /*nodes*/) const override { return {}; }
};

TEST(Objects, AuditFindsOneThatIsNotWhatItSays) {
  Interface interface = bodies().interface;
  interface.outputs = {{"shift", Level::object, Kind::vector}};
  OfTheFirst model(interface);
  AuditOptions quick;
  quick.elements = 4;
  const AuditReport report = audit(model, nullptr, scenes(), bodies(), quick);
  EXPECT_FALSE(report.passed);
  for (const AuditClaim& c : report.claims) {
    EXPECT_EQ(c.passed, c.group == "SO(3)") << c.group << " " << c.error;
  }
}

TEST(Objects, ProductsOfVectorsHaveDerivativesToSecondOrder) {
  const Batch batch = random_tokens(
      [] {
        Schema schema = bodies();
        schema.labels = outputs_of(Level::object);
        return schema;
      }(),
      1, 4, 9);
  Interface interface = bodies().interface;
  interface.outputs = {{"chirality", Level::object, Kind::pseudoscalar, 2},
                       {"turn", Level::object, Kind::axial_vector, 2},
                       {"stretch", Level::object, Kind::symmetric_tensor, 1}};
  const auto model = made("geomformer", interface);
  GradientCheck check;
  check.samples = 12;
  check.relative = 1e-5;
  expect_second_gradients(
      [&](const std::vector<Tensor>& x) {
        Points p = points_of(batch);
        p.positions = x[0];
        const Named out = (*model)(p);
        return at::cat(
            {out.at("chirality").flatten(), out.at("turn").flatten(), out.at("stretch").flatten()});
      },
      {points_of(batch).positions}, check);
}

}  // namespace objects_test
}  // namespace weyl
