// Layers and whole models commute with every named group, in float64 and float32.
#include "tests/equivariance.h"
#include "tests/models/platonic/named_groups.h"
#include "tests/models/points_fixtures.h"
#include "weyl/models/platonic/embedding.h"
#include "weyl/models/platonic/platonic.h"

namespace weyl::platonic {
namespace equivariance_test {

Options smallest(const std::string& group) {
  Options o;
  o.group = group;
  const int64_t order = named_group(group)->order();
  o.width = 4 * order;
  o.heads = order;
  o.blocks = 2;
  o.ffn_factor = 2;
  return o;
}

std::shared_ptr<Platonic> make(const Options& options, int64_t dimension) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(11);
  auto model = std::make_shared<Platonic>(options, interface_of_all_kinds(dimension));
  model->train(false);
  return model;
}

const std::vector<LinearForm> both_forms{LinearForm::dense, LinearForm::spectral};

void expect_claims_hold(Options options, double float32 = 1e-5,
                        const std::vector<LinearForm>& forms = both_forms) {
  const int64_t dimension = named_group(options.group)->dimension();
  // Graphs of many sizes, an empty one and a single node among them.
  const Batch batch = random_points({4, 1, 0, 7, 3, 5}, dimension);
  for (const LinearForm form : forms) {
    options.linear = form;
    SCOPED_TRACE(options.group + ", width " + std::to_string(options.width) +
                 (form == LinearForm::spectral ? ", spectral" : ""));
    const auto model = make(options, dimension);
    equivariance::expect_claims_hold(*model, batch, schema_of_all_kinds(dimension), {.float32 = float32});
  }
}

TEST(PlatonicEquivariance, WholeModelsOfEveryNamedGroup) {
  for (const char* name : kNamedGroups) {
    // Norms over four channels amplify the rounding of float32, of I_h by irreps, with 120 frames, to 2.5e-5. There it has
    // eight, from which on `auto` takes irreps: kernels keep 1e-5, torch's expressions 1.4e-5.
    Options o = smallest(name);
    const bool large = o.heads == 120;
    expect_claims_hold(o, 1e-5, large ? std::vector<LinearForm>{LinearForm::dense} : both_forms);
    if (large) {
      o.width *= 2;
      expect_claims_hold(o, 2e-5, {LinearForm::spectral});
    }
  }
}

TEST(PlatonicEquivariance, EveryOption) {
  std::vector<Options> variants;
  const auto add = [&](auto change) {
    auto o = smallest("tetrahedron_full");
    o.width *= 2;  // norms over four channels amplify the rounding of float32
    change(o);
    variants.push_back(o);
  };
  add([](auto& o) { o.attention = AttentionLaw::linear; });
  add([](auto& o) {
    o.attention = AttentionLaw::linear, o.linear_norm = LinearNorm::mean, o.rope_on_values = true;
  });
  add([](auto& o) { o.scores = Scores::invariant, o.use_key = true; });
  add([](auto& o) { o.use_key = true, o.rope_on_values = true, o.rope->init = FrequencyInit::random; });
  add([](auto& o) { o.rope.reset(), o.ape = ApeOptions{}; });
  add([](auto& o) { o.norm = FrameNorm::rms, o.layer_scale = 0.5, o.activation = Activation::mish; });
  add([](auto& o) {
    o.pooling = FramePooling::mean, o.ffn_readout = false, o.activation = Activation::relu;
  });
  add([](auto& o) { o.position_vector = PositionVector::on; });
  add([](auto& o) { o.values = FrameValues::invariant, o.use_key = true; });
  add([](auto& o) {
    o.values = FrameValues::invariant, o.scores = Scores::invariant, o.use_key = true,
    o.rope_on_values = true;
  });
  add([](auto& o) { o.qk_norm = true, o.use_key = true; });
  add([](auto& o) { o.norm_place = NormPlace::after; });
  for (size_t i = 0; i < variants.size(); ++i) {
    SCOPED_TRACE("variant " + std::to_string(i));
    // Pseudoscalars cancel over the frames, and lose digits: of values that are the same in all frames most.
    expect_claims_hold(variants[i], variants[i].values == FrameValues::invariant ? 5e-5 : 2e-5);
  }
}

TEST(PlatonicEquivariance, GroupsAboutAnyAxisAndFromGenerators) {
  auto about = smallest("dihedral_3d_3");
  about.axis = {1, -2, 0.5};
  expect_claims_hold(about);
  auto own = smallest("octahedron");
  own.generators = {{0, -1, 0, 1, 0, 0, 0, 0, 1}, {0, 0, 1, 1, 0, 0, 0, 1, 0}};
  expect_claims_hold(own);
}

TEST(PlatonicEquivariance, RoundedTablesClaimTheirGroupOnlyWhereRoundingChangesNothing) {
  for (const auto& [name, changed] : {std::pair{"octahedron", false}, {"icosahedron", true}}) {
    auto o = smallest(name);
    o.authors_tables = true;
    const auto model = make(o, 3);
    const auto symmetry = model->symmetry();
    const auto& claims = changed ? symmetry.approximate : symmetry.exact;
    ASSERT_EQ(claims.front().of, Claim::Of::finite) << name;
    const double error =
        equivariance::claim_error(*model, claims.front(), random_points({4, 5}, 3), schema_of_all_kinds(3));
    EXPECT_EQ(error > 1e-11, changed) << name << ": " << error;
    EXPECT_LT(error, 1e-4) << name;
  }
}

TEST(PlatonicEquivariance, AbsolutePositionsWithoutCentringClaimNoTranslation) {
  auto o = smallest("tetrahedron");
  o.ape = ApeOptions{};
  o.centre = false;
  const auto model = make(o, 3);
  for (const auto& claim : model->symmetry().exact) {
    EXPECT_NE(claim.of, Claim::Of::translations);
  }
  const Claim shift{Claim::Of::translations, "translations", nullptr};
  EXPECT_GT(equivariance::claim_error(*model, shift, random_points({4, 5}, 3), schema_of_all_kinds(3)), 1e-3);
}

TEST(PlatonicEquivariance, LinearMapsCommuteWithEveryNamedGroup) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(6);
  for (const char* name : kNamedGroups) {
    const auto tables = std::make_shared<GroupTables>(named_group(name));
    const int64_t order = tables->group().order();
    const Tensor x = at::randn({2, 2 * order}, at::kDouble);
    for (const LinearForm form : both_forms) {
      const GroupLinear linear(tables, 2 * order, 3 * order, form);
      equivariance::expect_layer_commutes(
          "linear", *tables, [&](int64_t g) { return linear(equivariance::moved_frames(x, *tables, g)); },
          1e-12);
    }
  }
}

TEST(PlatonicEquivariance, LayersCommuteWithTranslationsOfFrames) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(5);
  for (const char* name : {"tetrahedron", "octahedron_reflections", "icosahedron", "octahedron_full",
                           "cyclic_5", "dihedral_3"}) {
    const auto tables = std::make_shared<GroupTables>(named_group(name));
    const auto& group = tables->group();
    const int64_t order = group.order(), d = group.dimension();
    auto o = smallest(name);
    o.rope_on_values = true;
    const auto graphs = Segments::of_sizes(std::vector<int64_t>{3, 2});
    const Tensor x = at::randn({5, o.width}, at::kDouble), p = at::randn({5, d}, at::kDouble);
    const auto moved = [&](int64_t g) { return equivariance::moved_frames(x, *tables, g); };
    const auto turned = [&](int64_t g) {
      return at::matmul(p, tables->elements(at::kCPU, at::kDouble)[g].t());
    };

    const GroupLinear linear(tables, o.width, 2 * order);
    equivariance::expect_layer_commutes(
        "linear", *tables, [&](int64_t g) { return linear(moved(g)); }, 1e-12);
    const FrameApe ape(ApeOptions{}, 4, d);
    equivariance::expect_layer_commutes(
        "ape", *tables, [&](int64_t g) { return ape(turned(g), *tables); }, 1e-12);
    const FrameAttention attention(o, tables);
    equivariance::expect_layer_commutes(
        "attention", *tables, [&](int64_t g) { return attention(moved(g), {turned(g), graphs, 2}); }, 1e-12);
    const FrameBlock block(o, tables);
    equivariance::expect_layer_commutes(
        "block", *tables, [&](int64_t g) { return block(moved(g), {turned(g), graphs, 2}); }, 1e-11);
    const Tensor s = at::randn({5, 2}, at::kDouble), v = at::randn({5, 2, d}, at::kDouble);
    const std::vector<bool> odd{false, true};
    equivariance::expect_layer_commutes(
        "lift", *tables,
        [&](int64_t g) {
          const Tensor r = tables->elements(at::kCPU, at::kDouble)[g];
          const double det = group.determinant(g);
          const Tensor sign = at::tensor({1.0, det}, at::kDouble);
          return lift(s * sign, at::matmul(v, r.t()) * sign.view({2, 1}), odd, odd, *tables);
        },
        1e-12);
  }
}

}  // namespace equivariance_test
}  // namespace weyl::platonic
