// GeoMFormer's equations written out: the plain padded form (torch expressions, tests/oracles/padded_geomformer.h)
// with the same weights, the laws from scores to weights, and what each part of a block is worth.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/equivariance.h"
#include "tests/models/geomformer/fixtures.h"
#include "tests/oracles/padded_geomformer.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"

namespace weyl::geomformer {
namespace equations_test {

/// Energies, forces, and the gradients of sum E^2 + sum F^2 by all weights.
struct Answers {
  Tensor energy, forces;
  std::vector<Tensor> gradients;
};

Answers answers(PointsModel& model, const Geomformer& weights, Points points) {
  const Tensor x = points.positions.detach().clone().requires_grad_();
  points.positions = x;
  const Tensor energy = model(points).at("energy");
  const Tensor forces = -torch::autograd::grad({energy.sum()}, {x}, {}, true, true)[0];
  std::vector<Tensor> all;
  for (const Parameter& p : weights.parameters()) {
    if (p.tensor.requires_grad()) {
      all.push_back(p.tensor);
    }
  }
  return {energy, forces,
          torch::autograd::grad({energy.square().sum() + forces.square().sum()}, all, {}, {}, false, true)};
}

double difference(const Tensor& a, const Tensor& b) {
  return ((a - b).abs().max() / b.abs().max().clamp_min(1e-30)).item<double>();
}

void expect_padded_form(const std::string& name, const Options& options) {
  SCOPED_TRACE(name);
  const auto model = built(options, molecules_interface());
  PaddedGeomformer padded(model);
  const Points points = points_at(random_positions(13), {5, 1, 7});
  const Answers found = answers(*model, *model, points), right = answers(padded, *model, points);
  EXPECT_GT(right.forces.abs().max().item<double>(), 1e-4);
  EXPECT_LT(difference(found.energy, right.energy), 1e-12);
  EXPECT_LT(difference(found.forces, right.forces), 1e-11);
  double largest = 0;
  for (const Tensor& g : right.gradients) {
    largest = worst_of(largest, g.defined() ? g.abs().max().item<double>() : 0);
  }
  ASSERT_GT(largest, 0);
  for (size_t i = 0; i < right.gradients.size(); ++i) {
    ASSERT_EQ(found.gradients[i].defined(), right.gradients[i].defined()) << i;
    if (found.gradients[i].defined()) {
      EXPECT_LT((found.gradients[i] - right.gradients[i]).abs().max().item<double>(), 1e-11 * largest) << i;
    }
  }
}

TEST(GeomformerEquations, AreThoseOfThePaddedForm) {
  Options o = small_geomformer();
  o.blocks = 3;
  expect_padded_form("default", o);
  Options shared = o;
  shared.shared_query = true;
  expect_padded_form("shared_query", shared);
  Options vectors = o;
  vectors.equ_scale = EquivariantScale::vectors;
  expect_padded_form("equ_scale = vectors", vectors);
  Options sequential = o;
  sequential.order = Order::sequential;
  expect_padded_form("sequential", sequential);
  expect_padded_form("et", small_preset(Preset::et));
}

/// Three nodes at distances of their own, all pairs or with a cut-off.
Neighbourhood three(bool cutoff) {
  Neighbourhood near;
  near.edges = all_pairs(Segments::of_sizes(std::vector<int64_t>{3}));
  if (cutoff) {
    near.envelope = at::tensor({1.0, 0.7, 0.2, 0.7, 1.0, 0.0, 0.2, 0.0, 1.0}, at::kDouble);
  }
  return near;
}

TEST(GeomformerEquations, LawsFromScoresToWeightsAreTheirFormulas) {
  const Tensor scores = random_positions(9, 3).narrow(1, 0, 2);  // (E, H)
  for (const bool cutoff : {false, true}) {
    const Neighbourhood near = three(cutoff);
    const Tensor softmax = normalised(scores, near.envelope, near.edges, Normaliser::softmax),
                 silu = normalised(scores, near.envelope, near.edges, Normaliser::silu),
                 constant = normalised(scores, near.envelope, near.edges, Normaliser::constant),
                 count = normalised(scores, near.envelope, near.edges, Normaliser::count);
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t h = 0; h < 2; ++h) {
        const auto score = [&](int64_t j) { return scores[3 * i + j][h].item<double>(); };
        const auto fade = [&](int64_t j) { return cutoff ? near.envelope[3 * i + j].item<double>() : 1.0; };
        double sum = 0, faded = 0;
        for (int64_t j = 0; j < 3; ++j) {
          sum += fade(j) * std::exp(score(j));
          faded += fade(j);
        }
        for (int64_t j = 0; j < 3; ++j) {
          const int64_t e = 3 * i + j;
          const double share = fade(j) * std::exp(score(j)) / sum, s = score(j);
          EXPECT_NEAR(softmax[e][h].item<double>(), share, 1e-11);
          EXPECT_NEAR(count[e][h].item<double>(), share * faded, 1e-11);
          EXPECT_NEAR(silu[e][h].item<double>(), fade(j) * s / (1 + std::exp(-s)), 1e-14);
          EXPECT_EQ(constant[e][h].item<double>(), fade(j));
        }
      }
    }
  }
}

/// What `part` has of maps that several parts share: rows, or columns, [first, last) of d each.
struct Share {
  std::string part, map;
  int64_t axis, first, last;
};
const std::vector<Share> shares{
    {"inv_self", "attention.inv", 0, 0, 3},     {"inv_cross", "attention.inv", 0, 3, 4},
    {"inv_cross", "attention.equ", 0, 0, 4},    {"equ_self", "attention.equ", 0, 4, 7},
    {"equ_cross", "attention.inv", 0, 4, 6},    {"equ_cross", "attention.equ", 0, 7, 10},
    {"inv_self", "attention.out_inv", 1, 0, 1}, {"inv_cross", "attention.out_inv", 1, 1, 2},
    {"equ_self", "attention.out_equ", 1, 0, 1}, {"equ_cross", "attention.out_equ", 1, 1, 2},
    {"inv_ffn", "ffn.inv_in", 0, 0, 1},         {"equ_ffn", "ffn.inv_in", 0, 1, 2}};

/// The weights of `whole` in the model without one part: what that part has of shared maps left out.
void copy_weights(const Geomformer& from, Geomformer& to, const std::string& part, int64_t d) {
  const at::NoGradGuard quiet;
  std::map<std::string, Tensor> all;
  for (const Parameter& p : from.parameters()) {
    all[p.name] = p.tensor;
  }
  for (const Parameter& p : to.parameters()) {
    Tensor source = all.at(p.name);
    for (const Share& share : shares) {
      if (share.part == part && p.name.ends_with(share.map + ".weight") &&
          source.sizes() != p.tensor.sizes()) {
        source =
            at::cat({source.slice(share.axis, 0, d * share.first), source.slice(share.axis, d * share.last)},
                    share.axis);
      }
    }
    p.tensor.copy_(source);
  }
}

// Every part is wired in: without it, and the weights of all others as they are, every output is another. And
// it is wired in where it says: the model without it is the whole one with zeros for the last map of that
// part.
TEST(GeomformerEquations, EveryPartCounts) {
  const Batch batch = featured_batch({5, 4});
  using Part = bool Parts::*;
  const struct {
    const char* name;
    Part part;
    const char* last_map;
    int64_t columns;  // which d of its columns are the part's
  } parts[] = {{"inv_self", &Parts::inv_self, "attention.out_inv.weight", 0},
               {"inv_cross", &Parts::inv_cross, "attention.out_inv.weight", 1},
               {"equ_self", &Parts::equ_self, "attention.out_equ.weight", 0},
               {"equ_cross", &Parts::equ_cross, "attention.out_equ.weight", 1},
               {"inv_ffn", &Parts::inv_ffn, "ffn.inv_out.weight", 0},
               {"equ_ffn", &Parts::equ_ffn, "ffn.equ_out.weight", 0},
               {"inv_norm", &Parts::inv_norm, nullptr, 0},
               {"equ_norm", &Parts::equ_norm, nullptr, 0}};
  for (const auto& [name, part, last_map, columns] : parts) {
    SCOPED_TRACE(name);
    const auto whole = built(small_geomformer(), featured_interface());
    Options o = small_geomformer();
    o.parts.*part = false;
    const auto without = built(o, featured_interface());
    EXPECT_LT(without->parameter_count(), whole->parameter_count());
    copy_weights(*whole, *without, name, o.width);
    const Named less = (*without)(batch.input), more = (*whole)(batch.input);
    for (const auto& [output, value] : more) {
      EXPECT_GT(difference(less.at(output), value), 1e-4) << output;
    }
    if (last_map != nullptr) {
      const at::NoGradGuard quiet;
      for (const Parameter& p : whole->parameters()) {
        if (p.name.ends_with(last_map)) {
          p.tensor.narrow(1, columns * o.width, o.width).zero_();
        }
      }
      EXPECT_LT(equivariance::relative_error((*whole)(batch.input), less), 1e-13);
    }
  }
}

// A block of both adds, to what it reads once, what its attentions give and the messages, written out here:
//   m_i = sum_e c_e w0_j f0_e,   V_i = sum_e c_e (e_j w1_j f1_e + u_e w2_j f2_e),   w = i Wv + b,  f = silu(basis Wf + b').
TEST(GeomformerEquations, MessagesBesideAttentionAddTheirSums) {
  for (const Basis basis : {Basis::pair_gaussian, Basis::exp_normal}) {
    Options o = small_geomformer();
    o.cutoff = CutoffOptions{CutoffLaw::cosine, 4.0, 0};
    o.interaction = Interaction::both;
    o.basis = basis;
    o.feed_forward = FeedForward::none;
    at::manual_seed(4);
    const BuildOn build(at::kCPU, at::kDouble);
    const at::NoGradGuard values;
    PairGeometry geometry(o, 4);
    Block block(o);
    StreamAttention attention(o);
    std::map<std::string, Tensor> weights;
    for (const Parameter& p : block.parameters()) {
      weights[p.name] = p.tensor;
    }
    for (const Parameter& p : attention.parameters()) {
      p.tensor.copy_(weights.at("attention." + p.name));
    }
    const Points points = std::get<Points>(featured_batch({5, 1, 4}).input);
    const Neighbourhood near = geometry(points);
    const Tensor inv = random_positions(10, 21).repeat({1, 6}).narrow(1, 0, o.width);
    const Tensor equ =
        random_positions(30, 22).repeat({1, 6}).narrow(1, 0, o.width).reshape({10, 3, o.width});
    const StreamAttention::Streams read = block.normed({inv, equ});
    const auto found = block({inv, equ}, read, {}, points.graphs, near, {});

    const auto map = [&](const std::string& name, const Tensor& x) {
      return at::matmul(x, weights.at(name + ".weight").t()) + weights.at(name + ".bias");
    };
    const Tensor basis_of_edges = of_edges(near.basis, near.basis_rows, near.edges);
    const auto f = at::silu(map("messages.dv_proj", basis_of_edges)).chunk(3, -1);
    const auto w = map("messages.v_proj", read.inv).index_select(0, near.edges.neighbour).chunk(3, -1);
    const Tensor fade = near.envelope.unsqueeze(1);
    const Tensor of_neighbours = read.equ.index_select(0, near.edges.neighbour);
    const Tensor scalars = fade * w[0] * f[0];
    const Tensor vectors = fade.unsqueeze(1) * (of_neighbours * (w[1] * f[1]).unsqueeze(1) +
                                                near.directions.unsqueeze(2) * (w[2] * f[2]).unsqueeze(1));
    const auto attended = attention(read.inv, read.equ, {}, points.graphs, near, {}, attention.attentions());
    EXPECT_LT(difference(found.inv,
                         inv + attended.inv + at::zeros_like(inv).index_add(0, near.edges.centre, scalars)),
              1e-13);
    EXPECT_LT(difference(found.equ,
                         equ + attended.equ + at::zeros_like(equ).index_add(0, near.edges.centre, vectors)),
              1e-13);
    EXPECT_GT(scalars.abs().max().item<double>(), 1e-3);
    EXPECT_GT(vectors.abs().max().item<double>(), 1e-3);
  }
}

// Joined towers whose products have no weights for the vectors of the other are separate ones: of the ten maps of vectors in
// a layer, those of the two values stay, and the eight others have the other tower's columns beside their own.
TEST(GeomformerEquations, JoinedTowersAreSeparateOnesWhereTheySeeTheirOwnVectors) {
  const at::NoGradGuard quiet;
  Options o = small_geomformer();
  o.towers = Towers::separate;
  const auto separate = built(o, featured_interface());
  o.towers = Towers::joined;
  const auto joined = built(o, featured_interface());
  std::map<std::string, Tensor> all;
  for (const Parameter& p : separate->parameters()) {
    all[p.name] = p.tensor;
  }
  const int64_t d = o.width;
  const std::string of_joined = "attention.joined.weight", of_equ = "attention.equ.weight";
  for (const Parameter& p : joined->parameters()) {
    const bool products = p.name.ends_with(of_joined);
    if (!products && !p.name.ends_with(of_equ)) {
      p.tensor.copy_(all.at(p.name));
      continue;
    }
    const std::string layer = p.name.substr(0, p.name.size() - (products ? of_joined : of_equ).size());
    const auto maps = all.at(layer + of_equ).split(d);
    if (!products) {
      p.tensor.copy_(at::cat({maps[6], maps[9]}));
      continue;
    }
    const Tensor own = at::cat({maps[0], maps[1], maps[2], maps[3], maps[4], maps[5], maps[7], maps[8]});
    const Tensor other = at::zeros_like(own);
    p.tensor.copy_(layer.starts_with("position.") ? at::cat({own, other}, 1) : at::cat({other, own}, 1));
  }
  const Batch batch = featured_batch({5, 1, 4});
  EXPECT_LT(equivariance::relative_error((*joined)(batch.input), (*separate)(batch.input)), 1e-13);
  for (const Parameter& p : joined->parameters()) {
    if (p.name.ends_with(of_joined)) {
      p.tensor.copy_(p.tensor.roll(d, 1));  // each tower takes its products of the other's vectors
    }
  }
  EXPECT_GT(equivariance::relative_error((*joined)(batch.input), (*separate)(batch.input)), 1e-3);
}

}  // namespace equations_test
}  // namespace weyl::geomformer
