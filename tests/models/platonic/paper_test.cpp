// Equations of the paper, transcribed frame by frame, against the layers.
#include "weyl/models/platonic/attention.h"
#include "weyl/models/platonic/block.h"
#include "weyl/models/platonic/embedding.h"
#include "weyl/models/platonic/platonic.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/frames/group_linear.h"
#include "weyl/study/cost/allocation_peak.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace weyl::platonic {
namespace paper_test {

constexpr int64_t n = 5, width = 48, heads = 24,
                  head_width = 2;  // two heads of two numbers in each of 12 frames

struct Setting {
  std::shared_ptr<GroupTables> tables = std::make_shared<GroupTables>(named_group("tetrahedron"));
  Segments graphs = Segments::of_sizes(std::vector<int64_t>{n});
  Tensor x = at::randn({n, width}, at::kDouble), p = at::randn({n, 3}, at::kDouble);
};

Options options() {
  Options o;
  o.width = width;
  o.heads = heads;
  o.rope = RopeOptions{.sigma = 1.5, .init = FrequencyInit::random};
  return o;
}

Tensor named(const Module& m, const std::string& name) {
  for (const auto& p : m.parameters()) {
    if (p.name == name) {
      return p.tensor;
    }
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

/// Eq. 8 with the dense matrix, then (N, frame, head, K).
Tensor projected(const FrameAttention& a, const Setting& s, const std::string& name) {
  const Tensor dense = expand_group_kernel(named(a, name + ".kernel"), *s.tables);
  return (at::matmul(s.x, dense.t()) + named(a, name + ".bias").repeat({12}))
      .view({n, 12, heads / 12, head_width});
}

/// rho_Omega of eqs. 2 and 3 at one displacement, for one head: (K, K).
Tensor rho(const Tensor& frequencies, const Tensor& displacement) {
  Tensor r = at::zeros({head_width, head_width}, at::kDouble);
  for (int64_t k = 0; k < head_width / 2; ++k) {
    const double t = (frequencies[k] * displacement).sum().item<double>();
    r[2 * k][2 * k] = r[2 * k + 1][2 * k + 1] = std::cos(t);
    r[2 * k][2 * k + 1] = -std::sin(t);
    r[2 * k + 1][2 * k] = std::sin(t);
  }
  return r;
}

/// s_ij(R, h) of eqs. 5, 6, 11 and 22, from positions seen in the frame: (N, N), unscaled.
Tensor scores(const FrameAttention& a, const Setting& s, int64_t frame, int64_t h, bool constant_keys) {
  const Tensor q = projected(a, s, "q_proj").select(1, frame).select(1, h);
  const Tensor k = constant_keys ? at::ones({n, head_width}, at::kDouble)
                                 : projected(a, s, "k_proj").select(1, frame).select(1, h);
  const Tensor seen = at::matmul(s.p, s.tables->elements(at::kCPU, at::kDouble)[frame]);  // R^-1 p
  const Tensor frequencies = named(a, "rope_emb.freqs")[h];
  Tensor result = at::empty({n, n}, at::kDouble);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      result[i][j] = at::matmul(q[i], at::matmul(rho(frequencies, seen[j] - seen[i]), k[j]));
    }
  }
  return result;
}

/// The layer's result when `pattern(frame, head)` (N, N) multiplies the values, through the output
/// projection.
Tensor through_values(const FrameAttention& a, const Setting& s,
                      const std::function<Tensor(int64_t, int64_t)>& pattern) {
  const Tensor v = projected(a, s, "v_proj");
  Tensor y = at::empty({n, 12, heads / 12, head_width}, at::kDouble);
  for (int64_t frame = 0; frame < 12; ++frame) {
    for (int64_t h = 0; h < heads / 12; ++h) {
      y.select(1, frame).select(1, h).copy_(at::matmul(pattern(frame, h), v.select(1, frame).select(1, h)));
    }
  }
  const Tensor out = expand_group_kernel(named(a, "out_proj.kernel"), *s.tables);
  return at::matmul(y.view({n, width}), out.t()) + named(a, "out_proj.bias").repeat({12});
}

class PlatonicPaper : public ::testing::Test {
 protected:
  const BuildOn float64_{at::kCPU, at::kDouble};
  const uint64_t seed_ = (at::manual_seed(9), 9);
  Setting s;
  const double scale = 1 / std::sqrt(static_cast<double>(head_width));

  void expect_layer(const FrameAttention& a, const Tensor& wanted) {
    EXPECT_LT((a(s.x, {s.p, s.graphs, 1}) - wanted).abs().max().item<double>(), 1e-12);
    const Tensor fused = a.products({s.x}, {s.p, s.graphs, 1}).front() + a.output_bias().repeat({12});
    EXPECT_LT((fused - wanted).abs().max().item<double>(), 1e-12);
  }
};

TEST_F(PlatonicPaper, Equations5To7And11AreSoftmaxAttentionInEveryFrame) {
  for (const bool use_key : {false, true}) {
    auto o = options();
    o.use_key = use_key;
    const FrameAttention a(o, s.tables);
    expect_layer(a, through_values(a, s, [&](int64_t f, int64_t h) {
                   return at::softmax(scores(a, s, f, h, !use_key) * scale, -1);
                 }));
  }
}

TEST_F(PlatonicPaper, Equation12IsOnePatternForAllFrames) {
  auto o = options();
  o.use_key = true;
  o.scores = Scores::invariant;
  const FrameAttention a(o, s.tables);
  expect_layer(a, through_values(a, s, [&](int64_t, int64_t h) {
                 Tensor sum = at::zeros({n, n}, at::kDouble);
                 for (int64_t f = 0; f < 12; ++f) {
                   sum = sum + scores(a, s, f, h, false);
                 }
                 return at::softmax(sum * scale, -1);
               }));
}

// Frames stay where they are: one pattern for all takes no copies that a pattern for each does not take.
TEST_F(PlatonicPaper, Equation12CopiesNothing) {
  constexpr int64_t nodes = 300;
  const Tensor x = at::randn({nodes, width}, at::kDouble), p = at::randn({nodes, 3}, at::kDouble);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{nodes});
  const auto peak_of = [&](Scores law) {
    auto o = options();
    o.use_key = true;
    o.scores = law;
    const FrameAttention a(o, s.tables);
    Tensor leaf = x.detach().requires_grad_();
    const AllocationPeak peak;
    const Tensor y = a(leaf, {p, graphs, 1});
    torch::autograd::grad({y.sum()}, {leaf});
    return peak.bytes();
  };
  const int64_t rows = x.numel() * x.element_size();
  EXPECT_LT(peak_of(Scores::invariant), peak_of(Scores::equivariant) + rows / 2);
  // Control: frames side by side are copies.
  const Tensor q = x.view({nodes, 12, heads / 12, head_width});
  const auto beside = [](const Tensor& t) { return t.transpose(1, 2).flatten(2); };
  const auto bytes = [&](const auto& attention) {
    const AllocationPeak peak;
    const Tensor y = attention();
    return peak.bytes();
  };
  const int64_t in_place = bytes([&] { return ragged_attention(q, q, q, graphs, 1); });
  const int64_t copied = bytes([&] {
    return beside(ragged_attention(beside(q), beside(q), beside(q), graphs, 1)
                      .view({nodes, heads / 12, 12, head_width}));
  });
  if (kernels_take({q})) {
    EXPECT_LT(in_place, rows + rows);
    EXPECT_GT(copied, in_place + 2 * rows);
  }
}

TEST_F(PlatonicPaper, InvariantValuesAreTheMeanOverTheFrames) {
  for (const Scores law : {Scores::equivariant, Scores::invariant}) {
    auto o = options();
    o.use_key = true;
    o.scores = law;
    o.values = FrameValues::invariant;
    const FrameAttention a(o, s.tables);
    const Tensor v = projected(a, s, "v_proj").mean(1);  // (N, head, K)
    Tensor y = at::empty({n, 12, heads / 12, head_width}, at::kDouble);
    for (int64_t h = 0; h < heads / 12; ++h) {
      Tensor sum = at::zeros({n, n}, at::kDouble);
      for (int64_t f = 0; f < 12; ++f) {
        sum = sum + scores(a, s, f, h, false);
      }
      for (int64_t f = 0; f < 12; ++f) {
        const Tensor of_frame = law == Scores::invariant ? sum : scores(a, s, f, h, false);
        y.select(1, f).select(1, h).copy_(at::matmul(at::softmax(of_frame * scale, -1), v.select(1, h)));
      }
    }
    const Tensor out = expand_group_kernel(named(a, "out_proj.kernel"), *s.tables);
    expect_layer(a, at::matmul(y.view({n, width}), out.t()) + named(a, "out_proj.bias").repeat({12}));
    if (law ==
        Scores::
            invariant) {  // "a fully invariant output": the same in all frames, before and after the projection
      const Tensor frames = a(s.x, {s.p, s.graphs, 1}).view({n, 12, -1});
      EXPECT_LT((frames - frames.select(1, 0).unsqueeze(1)).abs().max().item<double>(), 1e-13);
    }
  }
}

TEST_F(PlatonicPaper, QueriesAndKeysAreNormalisedHeadByHeadBeforeTheirRotation) {
  for (const bool use_key : {false, true}) {
    auto o = options();
    o.use_key = use_key;
    o.qk_norm = true;
    const FrameAttention a(o, s.tables);
    named(a, "q_norm.weight").detach().copy_(at::tensor({1.5, 0.5}, at::kDouble));
    const auto normed = [&](const char* name, const Tensor& x) {
      return x / (x.square().mean(-1, true) + 1e-5).sqrt() * named(a, std::string(name) + "_norm.weight");
    };
    const Tensor q = normed("q", projected(a, s, "q_proj"));
    const Tensor k = use_key ? normed("k", projected(a, s, "k_proj")) : at::ones_like(q);
    expect_layer(a, through_values(a, s, [&](int64_t f, int64_t h) {
                   const Tensor seen = at::matmul(s.p, s.tables->elements(at::kCPU, at::kDouble)[f]);
                   const Tensor frequencies = named(a, "rope_emb.freqs")[h];
                   Tensor result = at::empty({n, n}, at::kDouble);
                   for (int64_t i = 0; i < n; ++i) {
                     for (int64_t j = 0; j < n; ++j) {
                       result[i][j] = at::matmul(q[i][f][h],
                                                 at::matmul(rho(frequencies, seen[j] - seen[i]), k[j][f][h]));
                     }
                   }
                   return at::softmax(result * scale, -1);
                 }));
  }
}

TEST_F(PlatonicPaper, AppendixFPutsNormsBeforeOrAfterTheParts) {
  for (const NormPlace place : {NormPlace::before, NormPlace::after}) {
    auto o = options();
    o.norm_place = place;
    o.ffn_factor = 2;
    const FrameBlock block(o, s.tables);
    const auto part = [&](const std::string& name) { return named(block, name); };
    for (const char* name : {"norm1.weight", "norm2.bias"}) {
      part(name).detach().add_(at::randn({width / 12}, at::kDouble));
    }
    FrameAttention attention(o, s.tables);
    for (const Parameter& p : attention.parameters()) {
      p.tensor.detach().copy_(part("interaction." + p.name));
    }
    const auto norm = [&](const std::string& name, const Tensor& x) {
      const Tensor frames = x.view({n, 12, -1});
      return (at::layer_norm(frames, {width / 12}) * part(name + ".weight") + part(name + ".bias"))
          .view({n, width});
    };
    const auto linear = [&](const std::string& name, const Tensor& x) {
      return at::matmul(x, expand_group_kernel(part(name + ".kernel"), *s.tables).t()) +
             part(name + ".bias").repeat({12});
    };
    const FrameInput input{s.p, s.graphs, 1};
    const auto feed_forward = [&](const Tensor& x) {
      return linear("linear2", at::gelu(linear("linear1", x)));
    };
    Tensor wanted;
    if (place == NormPlace::before) {
      const Tensor mixed = s.x + attention(norm("norm1", s.x), input);
      wanted = mixed + feed_forward(norm("norm2", mixed));
    } else {
      const Tensor mixed = norm("norm1", s.x + attention(s.x, input));
      wanted = norm("norm2", mixed + feed_forward(mixed));
    }
    EXPECT_LT((block(s.x, input) - wanted).abs().max().item<double>(), 1e-11);
  }
}

TEST_F(PlatonicPaper, Proposition2AndEquation21AreADynamicConvolution) {
  auto o = options();
  o.attention = AttentionLaw::linear;
  const FrameAttention a(o, s.tables);
  const Tensor q = projected(a, s, "q_proj"), all_frequencies = named(a, "rope_emb.freqs");
  // Eq. 10: phi_q(dp) = sum_k a_k cos(w_k dp) + b_k sin(w_k dp), a = q_2k-1 + q_2k, b = q_2k - q_2k-1.
  expect_layer(a, through_values(a, s, [&](int64_t f, int64_t h) {
                 const Tensor seen = at::matmul(s.p, s.tables->elements(at::kCPU, at::kDouble)[f]);
                 const Tensor difference = seen.unsqueeze(0) - seen.unsqueeze(1);  // [i][j] = p_j - p_i
                 Tensor kernel = at::zeros({n, n}, at::kDouble);
                 for (int64_t k = 0; k < head_width / 2; ++k) {
                   const Tensor odd = q.select(1, f).select(1, h).select(1, 2 * k).unsqueeze(1);
                   const Tensor even = q.select(1, f).select(1, h).select(1, 2 * k + 1).unsqueeze(1);
                   const Tensor t = at::matmul(difference, all_frequencies[h][k]);
                   kernel = kernel + (odd + even) * at::cos(t) + (even - odd) * at::sin(t);
                 }
                 return kernel;
               }));
}

TEST_F(PlatonicPaper, RotatedValuesAreSeenFromTheQuery) {
  auto o = options();
  o.rope_on_values = true;
  const FrameAttention a(o, s.tables);
  const Tensor v = projected(a, s, "v_proj"), frequencies = named(a, "rope_emb.freqs");
  Tensor y = at::zeros({n, 12, heads / 12, head_width}, at::kDouble);
  for (int64_t f = 0; f < 12; ++f) {
    const Tensor seen = at::matmul(s.p, s.tables->elements(at::kCPU, at::kDouble)[f]);
    for (int64_t h = 0; h < heads / 12; ++h) {
      const Tensor pattern = at::softmax(scores(a, s, f, h, true) * scale, -1);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          y[i][f][h] += pattern[i][j] * at::matmul(rho(frequencies[h], seen[j] - seen[i]), v[j][f][h]);
        }
      }
    }
  }
  const Tensor out = expand_group_kernel(named(a, "out_proj.kernel"), *s.tables);
  expect_layer(a, at::matmul(y.view({n, width}), out.t()) + named(a, "out_proj.bias").repeat({12}));
}

TEST_F(PlatonicPaper, Equations24To27SteerFrequenciesInPlaceOfPositions) {
  const Tensor w = at::randn({4, 3}, at::kDouble);
  const Tensor angles = frame_angles(s.p, w, *s.tables).view({n, 12, 4});
  for (int64_t f = 0; f < 12; ++f) {
    const Tensor seen = at::matmul(s.p, s.tables->elements(at::kCPU, at::kDouble)[f]);
    EXPECT_LT((angles.select(1, f) - at::matmul(seen, w.t())).abs().max().item<double>(), 1e-13);
  }
}

TEST_F(PlatonicPaper, AnglesAreNeverBelowFloat32) {
  EXPECT_EQ(frame_angles(s.p.to(at::kHalf), at::randn({4, 3}, at::kHalf), *s.tables).scalar_type(),
            at::kFloat);
  EXPECT_EQ(frame_angles(s.p.to(at::kFloat), at::randn({4, 3}, at::kFloat), *s.tables).scalar_type(),
            at::kFloat);
  EXPECT_EQ(frame_angles(s.p, at::randn({4, 3}, at::kDouble), *s.tables).scalar_type(), at::kDouble);
}

// The code of OMol25 pools so: its typical number of nodes stays 1.
TEST_F(PlatonicPaper, TheTotalOfNodesIsDividedByNothing) {
  Interface three;
  three.types = 2;
  three.typical_nodes = 3;
  three.outputs = {{.name = "energy", .level = Level::graph}};
  Interface one = three;
  one.typical_nodes = 1;
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{4, 2});
  points.positions = at::randn({6, 3}, at::kDouble);
  points.types = at::randint(0, 2, {6}, at::kLong);
  Options o = options();
  o.blocks = 1;
  const auto energy = [&](FramePooling pooling, const Interface& interface) {
    o.pooling = pooling;
    const BuildOn float64(at::kCPU, at::kDouble);
    at::manual_seed(11);
    return Platonic(o, interface)(points).at("energy");
  };
  const Tensor total = energy(FramePooling::total, three);
  EXPECT_LT((total - energy(FramePooling::sum, one)).abs().max().item<double>(), 1e-13);
  EXPECT_GT((total - energy(FramePooling::sum, three)).abs().max().item<double>(), 1e-3);
}

TEST_F(PlatonicPaper, ReadingVectorsOutUndoesTheLift) {
  const Tensor v = at::randn({n, 2, 3}, at::kDouble);
  const std::vector<bool> proper(2, false);
  EXPECT_LT(
      (frame_vectors(lift({}, v, {}, proper, *s.tables), proper, *s.tables) - v).abs().max().item<double>(),
      1e-14);
}

}  // namespace paper_test
}  // namespace weyl::platonic
