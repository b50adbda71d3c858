// Linear maps by irreps and by dense matrices: two ways of one function of the same weights.
#include <torch/csrc/autograd/autograd.h>

#include "tests/autocast.h"
#include "tests/models/platonic/named_groups.h"
#include "tests/models/points_fixtures.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/platonic/platonic.h"

namespace weyl::platonic {
namespace spectral_test {

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

/// The largest difference in root mean squares of `want`.
double relative_difference(const Tensor& want, const Tensor& found) {
  if (want.numel() == 0) {
    return 0;
  }
  const Tensor exact = want.to(at::kDouble), off = (exact - found.to(at::kDouble)).abs();
  return off.max().item<double>() / exact.square().mean().sqrt().item<double>();
}

/// The worst of all outputs.
double relative_difference(const Named& want, const Named& found) {
  double worst = 0;
  for (const auto& [name, value] : want) {
    worst = worst_of(worst, relative_difference(value, found.at(name)));
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

/// The group as it is, and of small ones and of T and O other ways through a block.
std::vector<Options> variants_of(const Options& plain) {
  std::vector<Options> all{plain};
  const bool chosen = plain.group == "tetrahedron" || plain.group == "octahedron";
  if (plain.generators.empty() && (chosen || named_group(plain.group)->order() <= 6)) {
    all.push_back(plain);
    all.back().use_key = all.back().rope_on_values = true;
    all.push_back(plain);
    all.back().attention = AttentionLaw::linear;
    all.back().ffn_readout = false;
  }
  return all;
}

std::string name_of(const Options& o) {
  return o.group + (o.generators.empty() ? "" : ", generated") + (o.use_key ? ", learned keys" : "") +
         (o.attention == AttentionLaw::linear ? ", linear attention" : "");
}

struct Derivative {
  std::string of;
  Tensor value;  // undefined where nothing depends on it
};

/// Of the sum of squares of all outputs by every weight.
std::vector<Derivative> first_derivatives(Platonic& model, const Input& input) {
  std::vector<Tensor> weights;
  for (const auto& p : model.parameters()) {
    weights.push_back(p.tensor);
  }
  const auto grads = torch::autograd::grad({sum_of_squares(model(input))}, weights, {}, {}, {}, true);
  std::vector<Derivative> all;
  for (size_t i = 0; i < grads.size(); ++i) {
    all.push_back({model.parameters()[i].name, grads[i]});
  }
  return all;
}

/// The forces, and of the sum of their squares by every weight.
std::vector<Derivative> second_derivatives(Platonic& model, const Input& input) {
  Points points = std::get<Points>(input);
  points.positions = points.positions.detach().clone().requires_grad_(true);
  const Tensor energy = model(points).at("energy").sum();
  const Tensor force = torch::autograd::grad({energy}, {points.positions}, {}, {}, /*create_graph=*/true)[0];
  std::vector<Tensor> weights;
  for (const auto& p : model.parameters()) {
    weights.push_back(p.tensor);
  }
  const auto grads = torch::autograd::grad({force.pow(2).sum()}, weights, {}, {}, {}, /*allow_unused=*/true);
  std::vector<Derivative> all{{"forces", force.detach()}};
  for (size_t i = 0; i < grads.size(); ++i) {
    all.push_back({model.parameters()[i].name, grads[i]});
  }
  return all;
}

/// `bound` is of the largest difference in root mean squares of what is wanted. Numbers that the symmetry makes zero (the bias of
/// a vector's readout meets the sum of all elements) have no size of their own: they count by that of the others.
void expect_same(const std::vector<Derivative>& want, const std::vector<Derivative>& found, double bound,
                 const std::string& what) {
  ASSERT_EQ(want.size(), found.size());
  const auto size_of = [](const Tensor& x) {
    return x.defined() ? x.to(at::kDouble).square().mean().sqrt().item<double>() : 0;
  };
  double largest = 0;
  for (const Derivative& d : want) {
    largest = worst_of(largest, size_of(d.value));
  }
  int64_t compared = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(want[i].of, found[i].of);
    // Where a second derivative is zero the one form may have none at all.
    const Tensor& b = found[i].value;
    const Tensor a = want[i].value.defined() || !b.defined() ? want[i].value : at::zeros_like(b, at::kDouble);
    if (a.defined()) {
      ASSERT_TRUE(b.defined()) << what << " " << want[i].of;
      ASSERT_EQ(a.sizes(), b.sizes());
      const double own = size_of(a);
      const bool zero = own < 1e-13 * largest;
      const double off = (a - b.to(at::kDouble)).abs().max().item<double>();
      EXPECT_LT(off / (zero ? largest : own), bound) << what << " " << want[i].of;
      compared += zero ? 0 : 1;
    }
  }
  EXPECT_GT(compared, 10) << what;
}

/// `o` by dense matrices and by irreps in float64, and by irreps in float32, of the same weights.
struct Forms {
  explicit Forms(Options o) : dense(make(o)) {
    o.linear = LinearForm::spectral;
    spectral = make(o);
    spectral32 = make(o, at::kFloat);
    copy_weights(*spectral, *spectral32);
  }
  std::shared_ptr<Platonic> dense, spectral, spectral32;
};

// Of float32: outputs keep 1e-5. Derivatives go back through the norms of four channels, which amplify its rounding: of first
// ones the worst here is 1.3e-5 (a reflection with learned keys), of second ones 5.4e-5 (C4, linear attention); the dense matrix
// in float32 is as far from itself in float64, 1.2e-5 and 1.0e-4.
constexpr double first32 = 4e-5, second32 = 2e-4;

TEST(PlatonicSpectral, GivesWhatTheDenseMatrixGives) {
  for (const Options& of_group : of_every_group(LinearForm::dense)) {
    for (const Options& o : variants_of(of_group)) {
      const Forms forms(o);
      const Input input = random_points({4, 1, 0, 5}, forms.dense->interface.dimension).input,
                  single = to(input, at::kCPU, at::kFloat);
      for (const bool training : {true, false}) {
        forms.dense->train(training);
        forms.spectral->train(training);
        EXPECT_LT(relative_difference((*forms.dense)(input), (*forms.spectral)(input)), 1e-12) << name_of(o);
      }
      EXPECT_LT(relative_difference((*forms.dense)(input), (*forms.spectral32)(single)), 1e-5) << name_of(o);
      // Gradients of all weights, which stay spatial.
      forms.dense->train(true);
      forms.spectral->train(true);
      const auto want = first_derivatives(*forms.dense, input);
      expect_same(want, first_derivatives(*forms.spectral, input), 1e-12, name_of(o));
      expect_same(want, first_derivatives(*forms.spectral32, single), first32, name_of(o) + ", float32");
    }
  }
}

TEST(PlatonicSpectral, ForcesAndTheirGradientsAreThoseOfTheDenseMatrix) {
  for (Options of_group : of_every_group(LinearForm::dense)) {
    of_group.blocks = 1;
    of_group.rope_on_values = true;
    for (const Options& o : variants_of(of_group)) {
      const Forms forms(o);
      const Input input = random_points({4, 3}, forms.dense->interface.dimension).input,
                  single = to(input, at::kCPU, at::kFloat);
      const auto want = second_derivatives(*forms.dense, input);
      expect_same(want, second_derivatives(*forms.spectral, input), 1e-12, name_of(o));
      expect_same(want, second_derivatives(*forms.spectral32, single), second32, name_of(o) + ", float32");
    }
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
}

}  // namespace spectral_test
}  // namespace weyl::platonic
