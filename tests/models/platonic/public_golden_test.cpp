// Whole models of the public code with random weights, float64, to 1e-11 (tests/goldens/platonic.safetensors, by
// tools/goldens/public_platonic.py): groups of the plane, learned keys, absolute position encoding, padded layouts; by dense
// matrices and by irreps.
#include <gtest/gtest.h>

#include <functional>

#include "weyl/core/tensor_file.h"
#include "weyl/models/platonic/platonic.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/train/import.h"

namespace weyl::platonic {
namespace public_golden_test {

/// One case of the file: weights and gradients by name, and what else it holds.
struct Golden {
  explicit Golden(const std::string& name) {
    static const NamedTensors all =
        load_tensors(std::string(WEYL_SOURCE_DIR) + "/tests/goldens/platonic.safetensors");
    for (const auto& [key, tensor] : all) {
      if (key.starts_with(name + ".weights.")) {
        weights[key.substr(name.size() + 9)] = tensor;
      } else if (key.starts_with(name + ".gradients.")) {
        gradients[key.substr(name.size() + 11)] = tensor;
      } else if (key.starts_with(name + ".")) {
        numbers[key.substr(name.size() + 1)] = tensor;
      }
    }
    EXPECT_FALSE(weights.empty()) << name;
  }
  Points points() const {
    Points p;
    p.positions = numbers.at("positions").clone();
    p.scalars = numbers.at("in_scalars");
    p.vectors = numbers.at("in_vectors");
    p.graphs = Segments::of_sizes(std::vector<int64_t>{3, 2});
    return p;
  }
  NamedTensors weights, gradients, numbers;
};

/// Two scalars and a vector of each node in, two scalars of graphs and a vector of each node out.
Interface interface_in(int dimension) {
  Interface i;
  i.dimension = dimension;
  i.typical_nodes = 2.5;
  i.features = {{"s", Level::node, Kind::scalar, 2}, {"v", Level::node, Kind::vector, 1}};
  i.outputs = {{"scalars", Level::graph, Kind::scalar, 2}, {"vectors", Level::node, Kind::vector, 1}};
  return i;
}

struct Case {
  std::string name, group;
  int dimension;
  std::function<void(Options&)> change;
};

const std::vector<Case>& cases() {
  const auto padded = [](Options& o) {
    o.use_key = true;
    o.ape = ApeOptions{};
    o.ffn_readout = false;
    o.pooling = FramePooling::sum;
  };
  static const std::vector<Case> all{
      {"trivial_2", "trivial_2", 2, [](Options& o) { o.use_key = true; }},
      {"flop_2d_2", "flop_2d_2", 2, [](Options& o) { o.heads *= 2; }},
      {"cyclic_4", "cyclic_4", 2, [](Options&) {}},
      {"cyclic_6", "cyclic_6", 2, [](Options& o) { o.use_key = o.rope_on_values = true; }},
      {"dihedral_2", "dihedral_2", 2, [](Options& o) { o.attention = AttentionLaw::linear; }},
      {"dihedral_3", "dihedral_3", 2, [](Options& o) { o.rope_on_values = true; }},
      {"images", "cyclic_4", 2,
       [padded](Options& o) {
         padded(o);
         o.heads *= 2;
       }},
      {"images_dihedral_3", "dihedral_3", 2, padded},
      {"plane_ape_linear", "cyclic_6", 2,
       [](Options& o) {
         o.ape = ApeOptions{};
         o.attention = AttentionLaw::linear;
       }},
      {"ape", "tetrahedron", 3, [](Options& o) { o.ape = ApeOptions{}; }},
      {"ape_alone", "octahedron_reflections", 3,
       [](Options& o) {
         o.ape = ApeOptions{};
         o.rope.reset();
       }},
      {"keys", "tetrahedron", 3, [](Options& o) { o.use_key = true; }},
      {"keys_ape_values", "octahedron", 3,
       [](Options& o) {
         o.use_key = o.rope_on_values = true;
         o.ape = ApeOptions{};
       }},
      {"keys_linear", "tetrahedron", 3, [](Options& o) {
         o.use_key = true;
         o.attention = AttentionLaw::linear;
       }}};
  return all;
}

/// The model of a case, four channels and a head, or two heads, in each frame.
std::shared_ptr<Platonic> model_of(const Case& c, LinearForm form, bool authors_tables = true) {
  Options o;
  o.group = c.group;
  o.heads = named_group(c.group)->order();
  o.blocks = 2;
  o.ffn_factor = 2;
  o.centre = false;
  o.pooling = FramePooling::authors_sum;
  o.position_vector = PositionVector::off;
  o.authors_tables = authors_tables;
  o.linear = form;
  c.change(o);
  o.width = 4 * o.heads;
  auto model = std::make_shared<Platonic>(o, interface_in(c.dimension));
  import_weights(*model, Golden(c.name).weights, c.name);
  return model;
}

double error_of(const Tensor& found, const Tensor& theirs) {
  EXPECT_EQ(found.sizes(), theirs.sizes());
  return ((found - theirs).abs().max() / theirs.abs().max()).item<double>();
}

double error_of(Platonic& model, const Golden& golden) {
  const Named out = model(golden.points());
  return std::max(error_of(out.at("scalars"), golden.numbers.at("scalars")),
                  error_of(out.at("vectors"), golden.numbers.at("vectors")));
}

constexpr LinearForm forms[] = {LinearForm::dense, LinearForm::spectral};

TEST(PlatonicPublicGolden, WholeModels) {
  const BuildOn float64(at::kCPU, at::kDouble);
  for (const Case& c : cases()) {
    const Golden golden(c.name);
    for (const LinearForm form : forms) {
      SCOPED_TRACE(c.name + (form == LinearForm::dense ? ", dense" : ", spectral"));
      const auto model = model_of(c, form);
      for (const bool training : {true, false}) {
        model->train(training);
        EXPECT_LT(error_of(*model, golden), 1e-11);
      }
      {
        const UseReferences by_pairs;
        EXPECT_LT(error_of(*model, golden), 1e-11);
      }
      // Our tables are exact, theirs have seven digits.
      const auto exact = model_of(c, form, /*authors_tables=*/false);
      exact->train(false);
      EXPECT_LT(error_of(*exact, golden), 1e-6);
    }
  }
}

/// A bias of vectors is the same numbers in every frame: the mean over the frames takes it out, but for rounding.
bool is_taken_out(const std::string& name) {
  return name == "vector_readout.bias" || name == "vector_readout.2.bias";
}

// Another value of any weight moves an output, but for two biases: that of keys which are not rotated adds the same to all
// scores, and that of vectors is taken out.
TEST(PlatonicPublicGolden, SeesAnyWeightThatIsWrong) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const at::NoGradGuard quiet;
  for (const Case& c : cases()) {
    const Golden golden(c.name);
    const auto model = model_of(c, LinearForm::dense);
    for (const Parameter& p : model->parameters()) {
      if ((!model->options.rope && p.name.ends_with("k_proj.bias")) || is_taken_out(p.name)) {
        continue;
      }
      const Tensor before = p.tensor.clone();
      p.tensor.view({-1})[0] += 0.1;
      EXPECT_GT(error_of(*model, golden), 1e-7) << c.name << ", " << p.name;
      p.tensor.copy_(before);
    }
  }
}

TEST(PlatonicPublicGolden, Gradients) {
  const BuildOn float64(at::kCPU, at::kDouble);
  for (const Case& c : cases()) {
    const Golden golden(c.name);
    if (golden.gradients.empty()) {
      continue;
    }
    for (const LinearForm form : forms) {
      const auto model = model_of(c, form);
      Points points = golden.points();
      points.positions.requires_grad_(true);
      const Named out = (*model)(points);
      (out.at("scalars").square().sum() + out.at("vectors").square().sum()).backward();
      ASSERT_EQ(golden.gradients.size(), model->parameters().size() + 1) << c.name;
      EXPECT_LT(error_of(points.positions.grad(), golden.gradients.at("positions")), 1e-11) << c.name;
      for (const Parameter& p : model->parameters()) {
        ASSERT_TRUE(p.tensor.grad().defined()) << c.name << ", " << p.name;
        const Tensor &found = p.tensor.grad(), &wanted = golden.gradients.at(p.name);
        if (is_taken_out(p.name)) {
          EXPECT_LT((found - wanted).abs().max().item<double>(), 1e-12) << c.name << ", " << p.name;
        } else {
          EXPECT_LT(error_of(found, wanted), 1e-10) << c.name << ", " << p.name;
        }
      }
    }
  }
}

}  // namespace public_golden_test
}  // namespace weyl::platonic
