// Linear maps by irreps and by dense matrices: two ways of one function of the same weights.
#include <torch/csrc/autograd/autograd.h>

#include "tests/autocast.h"
#include "tests/models/platonic/named_groups.h"
#include "tests/models/points_fixtures.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/platonic/frames.h"
#include "weyl/models/platonic/platonic.h"

namespace weyl::platonic {
namespace {

Options small(const std::string& group, LinearForm form) {
  Options o;
  o.group = group;
  const int64_t order = named_group(group)->order();
  o.width = 4 * order;
  o.heads = order;
  o.blocks = 2;
  o.ffn_factor = 2;
  o.linear = form;
  return o;
}

std::shared_ptr<Platonic> make(const Options& o, at::ScalarType dtype = at::kDouble) {
  const BuildOn on(at::kCPU, dtype);
  at::manual_seed(11);
  return std::make_shared<Platonic>(o, interface_of_all_kinds(named_group(o.group)->dimension()));
}

/// The largest difference of outputs in root mean squares of the first.
double relative_difference(const Named& a, const Named& b) {
  double worst = 0;
  for (const auto& [name, value] : a) {
    if (value.numel() > 0) {
      const double size = value.pow(2).mean().sqrt().item<double>();
      worst = worst_of(worst, (value - b.at(name)).abs().max().item<double>() / size);
    }
  }
  return worst;
}

Tensor sum_of_squares(const Named& outputs) {
  Tensor sum = at::zeros({}, outputs.begin()->second.options());
  for (const auto& [name, value] : outputs) {
    sum = sum + value.pow(2).sum();
  }
  return sum;
}

/// The weights of a model, in the other's dtype.
void copy_weights(const Platonic& from, const Platonic& to) {
  const at::NoGradGuard quiet;
  const auto source = from.parameters(), target = to.parameters();
  for (size_t i = 0; i < source.size(); ++i) {
    target[i].tensor.copy_(source[i].tensor);
  }
}

/// Every named group, and one of the user's own: the octahedron's from two generators.
std::vector<Options> of_every_group(LinearForm form) {
  std::vector<Options> all;
  for (const char* group : kNamedGroups) {
    all.push_back(small(group, form));
  }
  all.push_back(small("octahedron", form));
  all.back().generators = {{0, -1, 0, 1, 0, 0, 0, 0, 1}, {0, 0, 1, 1, 0, 0, 0, 1, 0}};
  return all;
}

TEST(PlatonicSpectral, GivesWhatTheDenseMatrixGives) {
  for (const Options& of_group : of_every_group(LinearForm::dense)) {
    const std::string group = of_group.group + (of_group.generators.empty() ? "" : ", generated");
    std::vector<Options> variants{of_group};
    if (named_group(of_group.group)->order() <= 6) {
      variants.push_back(variants[0]);
      variants.back().use_key = variants.back().rope_on_values = true;
      variants.push_back(variants[0]);
      variants.back().attention = AttentionLaw::linear;  // by the composition of plain layers
      variants.back().ffn_readout = false;
    }
    for (Options o : variants) {
      const auto dense = make(o);
      o.linear = LinearForm::spectral;
      const auto spectral = make(o);
      const Input input = random_points({4, 1, 0, 5}, dense->interface.dimension).input;
      for (const bool training : {true, false}) {
        dense->train(training);
        spectral->train(training);
        EXPECT_LT(relative_difference((*dense)(input), (*spectral)(input)), 1e-12) << group;
      }
      // Gradients of all weights, which stay spatial.
      dense->train(true);
      spectral->train(true);
      sum_of_squares((*dense)(input)).backward();
      sum_of_squares((*spectral)(input)).backward();
      const auto dense_weights = dense->parameters(), spectral_weights = spectral->parameters();
      for (size_t i = 0; i < dense_weights.size(); ++i) {
        const auto &a = dense_weights[i], &b = spectral_weights[i];
        ASSERT_EQ(a.name, b.name);
        ASSERT_EQ(a.tensor.sizes(), b.tensor.sizes());
        ASSERT_EQ(a.tensor.grad().defined(), b.tensor.grad().defined()) << group << " " << a.name;
        if (a.tensor.grad().defined()) {
          const double size = a.tensor.grad().abs().max().item<double>();
          EXPECT_LE((a.tensor.grad() - b.tensor.grad()).abs().max().item<double>(), 1e-11 * (1 + size))
              << group << " " << a.name;
        }
      }
      const auto spectral32 = make(o, at::kFloat);
      copy_weights(*spectral, *spectral32);
      const Input single = to(input, at::kCPU, at::kFloat);
      Named found = (*spectral32)(single);
      for (auto& [name, value] : found) {
        value = value.to(at::kDouble);
      }
      EXPECT_LT(relative_difference((*dense)(input), found), 1e-5) << group;
    }
  }
}

TEST(PlatonicSpectral, ForcesAndTheirGradientsAreThoseOfTheDenseMatrix) {
  for (Options o : of_every_group(LinearForm::dense)) {
    const std::string& group = o.group;
    o.blocks = 1;
    o.rope_on_values = true;
    const auto dense = make(o);
    o.linear = LinearForm::spectral;
    const auto spectral = make(o);
    const auto forces_and_gradients = [&](Platonic& model) {
      Points points = std::get<Points>(random_points({4, 3}, dense->interface.dimension).input);
      points.positions.requires_grad_(true);
      const Tensor energy = model(points).at("energy").sum();
      const Tensor force =
          torch::autograd::grad({energy}, {points.positions}, {}, {}, /*create_graph=*/true)[0];
      std::vector<Tensor> weights;
      for (const auto& p : model.parameters()) {
        weights.push_back(p.tensor);
      }
      std::vector<Tensor> all =
          torch::autograd::grad({force.pow(2).sum()}, weights, {}, {}, {}, /*allow_unused=*/true);
      all.push_back(force.detach());
      return all;
    };
    const auto want = forces_and_gradients(*dense), found = forces_and_gradients(*spectral);
    int64_t compared = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(want[i].defined(), found[i].defined());
      if (want[i].defined()) {
        const double size = want[i].abs().max().item<double>();
        EXPECT_LE((want[i] - found[i]).abs().max().item<double>(), 1e-11 * (1 + size)) << group << " " << i;
        compared += size > 0 ? 1 : 0;
      }
    }
    EXPECT_GT(compared, 10) << group;
  }
}

TEST(PlatonicSpectral, KeepsItsBlocksInEvaluationUntilTheWeightsAreNew) {
  const at::NoGradGuard constants;
  const auto model = make(small("octahedron", LinearForm::spectral));
  const Input input = random_points({4, 3}, 3).input;
  model->train(false);
  const Named before = (*model)(input);
  for (const auto& p : model->parameters()) {
    if (p.name.ends_with("kernel")) {
      p.tensor.mul_(1.1);
    }
  }
  EXPECT_EQ(relative_difference(before, (*model)(input)), 0);  // not told yet: what follows from them is kept
  model->train(false);
  const Named after = (*model)(input);
  EXPECT_GT(relative_difference(before, after), 1e-3);
  model->train(true);
  EXPECT_LT(relative_difference(after, (*model)(input)), 1e-12);
}

TEST(PlatonicSpectral, UnderAutocastItIsAsGoodAsTheDenseMatrix) {
  Options o = small("octahedron", LinearForm::dense);
  o.width = 24 * 16;
  const auto exact = make(o, at::kFloat);
  const Input input = to(random_points({4, 3}, 3).input, at::kCPU, at::kFloat);
  const Named want = (*exact)(input);
  const auto error_of = [&](LinearForm form) {
    o.linear = form;
    const auto model = make(o, at::kFloat);
    const Named found = [&] {
      const Autocast bfloat16;
      return (*model)(input);
    }();
    for (auto& [name, value] : found) {
      EXPECT_EQ(value.scalar_type(), want.at(name).scalar_type()) << name;
    }
    return relative_difference(want, found);
  };
  const double dense = error_of(LinearForm::dense), spectral = error_of(LinearForm::spectral);
  EXPECT_GT(dense, 1e-4);  // else nothing ran in bfloat16
  EXPECT_GT(spectral, 1e-4);
  EXPECT_LT(spectral, 2 * dense);
  const Tensor x = at::randn({3, 24 * 4});
  for (const LinearForm form : {LinearForm::dense, LinearForm::spectral}) {
    const BuildOn float32(at::kCPU, at::kFloat);
    const GroupLinear linear(std::make_shared<GroupTables>(named_group("octahedron")), 24 * 4, 24 * 4, form);
    const Autocast bfloat16;
    EXPECT_EQ(linear(x).scalar_type(), at::kBFloat16);
  }
}

TEST(PlatonicSpectral, AutoIsARuleOfGroupAndWidth) {
  const auto form_of = [](const std::string& group, int64_t channels) {
    Options o = small(group, LinearForm::automatic);
    o.width = channels * named_group(group)->order();
    return resolved(o, interface_of_all_kinds(named_group(group)->dimension())).linear;
  };
  EXPECT_EQ(form_of("octahedron", 48), LinearForm::spectral);
  EXPECT_EQ(form_of("tetrahedron", 96), LinearForm::spectral);
  EXPECT_EQ(form_of("icosahedron", 32), LinearForm::spectral);
  EXPECT_EQ(form_of("octahedron_reflections", 144), LinearForm::spectral);
  EXPECT_EQ(form_of("trivial", 1152), LinearForm::dense);
  EXPECT_EQ(form_of("tetrahedron", 16), LinearForm::spectral);  // 192 in all, the default width
  EXPECT_EQ(form_of("octahedron", 8), LinearForm::dense);       // 192 too, of narrower frames
  EXPECT_EQ(form_of("icosahedron", 8), LinearForm::spectral);
  EXPECT_EQ(form_of("icosahedron_full", 4), LinearForm::dense);  // 480 in all
  EXPECT_EQ(form_of("flop_2d_1", 128), LinearForm::spectral);
  EXPECT_EQ(form_of("cyclic_4", 32), LinearForm::dense);
  Options asked = small("trivial", LinearForm::spectral);
  EXPECT_EQ(resolved(asked, interface_of_all_kinds(3)).linear, LinearForm::spectral);
  EXPECT_EQ(make(small("octahedron", LinearForm::automatic))->options.linear, LinearForm::dense);  // as built
  as_stored(asked);  // a model stored before there was a choice
  EXPECT_EQ(asked.linear, LinearForm::dense);
}

}  // namespace
}  // namespace weyl::platonic
