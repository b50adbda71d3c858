// A block by ops of several steps is its definition, step by step: values and gradients, with every option.
#include "weyl/models/platonic/block.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/autocast.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl::platonic {
namespace block_test {

struct Variant {
  const char* name;
  std::function<void(Options&)> set;
  double bfloat16 = 0.12;  // bound of what it rounds, in norms of an output or a gradient; 0.085 was measured
};

const Variant variants[] = {
    {"as it is", [](Options&) {}},
    {"rms", [](Options& o) { o.norm = FrameNorm::rms; }},
    {"layer scale", [](Options& o) { o.layer_scale = 0.3; }},
    {"silu", [](Options& o) { o.activation = Activation::silu; }},
    {"relu", [](Options& o) { o.activation = Activation::relu; }},
    {"mish", [](Options& o) { o.activation = Activation::mish; }},
    {"dropout", [](Options& o) { o.dropout = 0.3; }},
    {"drop path", [](Options& o) { o.drop_path = 0.4; }},
    {"drop path by node", [](Options& o) { o.drop_path = 0.4, o.drop_path_by = DropPathBy::node; }},
    {"norms after", [](Options& o) { o.norm_place = NormPlace::after; }},
    {"learned keys", [](Options& o) { o.use_key = true; }},
    {"learned keys, rotated values", [](Options& o) { o.use_key = o.rope_on_values = true; }},
    {"linear attention", [](Options& o) { o.attention = AttentionLaw::linear; }},
    // Gradients of biases that nearly cancel: 0.21 and 0.18 were measured.
    {"linear attention by the mean",
     [](Options& o) { o.attention = AttentionLaw::linear, o.linear_norm = LinearNorm::mean; }, 0.25},
    {"linear attention, learned keys",
     [](Options& o) { o.attention = AttentionLaw::linear, o.use_key = true; }},
    {"linear attention, rotated values",
     [](Options& o) { o.attention = AttentionLaw::linear, o.rope_on_values = true; }},
    {"linear attention by the mean, learned keys, rotated values",
     [](Options& o) {
       o.attention = AttentionLaw::linear;
       o.linear_norm = LinearNorm::mean;
       o.use_key = o.rope_on_values = true;
     }},
    {"linear attention without rope", [](Options& o) { o.attention = AttentionLaw::linear, o.rope.reset(); }},
    {"invariant scores", [](Options& o) { o.scores = Scores::invariant; }},
    {"invariant values", [](Options& o) { o.values = FrameValues::invariant; }, 0.25},
    {"normed queries and keys", [](Options& o) { o.qk_norm = o.use_key = true; }},
    {"dropped weights", [](Options& o) { o.attention_dropout = 0.3; }},
    {"dropped weights of one pattern for all frames",
     [](Options& o) {
       o.scores = Scores::invariant;
       o.attention_dropout = 0.3;
     }},
    {"rotated values", [](Options& o) { o.rope_on_values = true; }},
    {"no rope", [](Options& o) { o.rope.reset(); }},
    {"all at once",
     [](Options& o) {
       o.norm = FrameNorm::rms;
       o.norm_place = NormPlace::after;
       o.layer_scale = 0.3;
       o.activation = Activation::silu;
       o.dropout = o.drop_path = o.attention_dropout = 0.2;
     }},
};

struct Blocks {
  Blocks(const Variant& variant, LinearForm form, at::ScalarType dtype = at::kDouble)
      : graphs(Segments::of_sizes(std::vector<int64_t>{4, 0, 1, 6})) {
    options.group = "tetrahedron";
    options.width = 48;
    options.heads = 12;
    options.ffn_factor = 2;
    options.linear = form;
    variant.set(options);
    const BuildOn on(at::kCPU, dtype);
    at::manual_seed(5);
    block = std::make_shared<FrameBlock>(options, std::make_shared<GroupTables>(named_group(options.group)));
    block->train(true);
    at::manual_seed(6);
    x = at::randn({11, 48}, dtype).requires_grad_();
    positions = at::randn({11, 3}, dtype).requires_grad_();
  }
  /// The output, then the gradients of x, positions and all weights.
  std::vector<Tensor> run() const {
    at::manual_seed(7);
    const Tensor y = (*block)(x, {positions, graphs, 5});
    std::vector<Tensor> leaves{x, positions}, result{y.detach().to(at::kDouble)};
    for (const auto& p : block->parameters()) {
      leaves.push_back(p.tensor);
    }
    const Tensor weights = at::arange(y.numel(), y.options()).sin().view(y.sizes());
    for (const Tensor& g :
         torch::autograd::grad({(y * weights).sum()}, leaves, {}, std::nullopt, false, true)) {
      result.push_back(g.defined() ? g.to(at::kDouble) : g);
    }
    return result;
  }
  Options options;
  Segments graphs;
  std::shared_ptr<FrameBlock> block;
  Tensor x, positions;
};

void expect_same(const std::vector<Tensor>& found, const std::vector<Tensor>& wanted, double bound,
                 const std::string& what) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(found[i].defined(), wanted[i].defined()) << what << " " << i;
    if (wanted[i].defined()) {
      const double size = wanted[i].abs().max().item<double>();
      EXPECT_LE((found[i] - wanted[i]).abs().max().item<double>(), bound * (1 + size)) << what << " " << i;
    }
  }
}

TEST(FrameBlock, ByOpsOfSeveralStepsIsItsDefinition) {
  for (const Variant& variant : variants) {
    for (const LinearForm form : {LinearForm::dense, LinearForm::spectral}) {
      const Blocks blocks(variant, form);
      std::vector<Tensor> wanted;
      {
        const UseReferences references;
        wanted = blocks.run();
      }
      expect_same(blocks.run(), wanted, 1e-12, variant.name);
    }
  }
}

TEST(FrameBlock, UnderAutocastItIsWithinTheRoundingOfBfloat16) {
  for (const Variant& variant : variants) {
    for (const LinearForm form : {LinearForm::dense, LinearForm::spectral}) {
      if (std::string(variant.name) == "relu") {
        continue;  // rounding moves numbers across its corner
      }
      const Blocks blocks(variant, form, at::kFloat);
      const std::vector<Tensor> wanted = blocks.run();
      std::vector<Tensor> found;
      {
        const Autocast autocast;
        found = blocks.run();
      }
      double moved = 0;
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].defined(), wanted[i].defined()) << variant.name << " " << i;
        if (found[i].defined() && wanted[i].norm().item<double>() > 1e-4) {
          const double off = ((found[i] - wanted[i]).norm() / wanted[i].norm()).item<double>();
          EXPECT_LT(off, variant.bfloat16) << variant.name << " " << i;
          moved = std::max(moved, off);
        }
      }
      EXPECT_GT(moved, 1e-6) << "products in bfloat16, " << variant.name;
    }
  }
}

}  // namespace block_test
}  // namespace weyl::platonic
