#include "tests/oracles/padded_geomformer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "weyl/core/check.h"
#include "weyl/models/geomformer/head.h"

namespace weyl {
namespace {

/// (B, n, d) -> (B, H, n, d / H); (B, n, 3, d) -> (B, H, n, 3 d / H).
Tensor by_heads(const Tensor& x, int64_t heads) {
  const int64_t B = x.size(0), n = x.size(1), h = x.size(-1) / heads;
  return x.dim() == 3 ? x.reshape({B, n, heads, h}).transpose(1, 2)
                      : x.reshape({B, n, 3, heads, h}).permute({0, 3, 1, 2, 4}).reshape({B, heads, n, 3 * h});
}

/// And back, to the shape of `like`.
Tensor from_heads(const Tensor& y, const Tensor& like) {
  const int64_t B = y.size(0), heads = y.size(1), n = y.size(2);
  return like.dim() == 3 ? y.transpose(1, 2).reshape(like.sizes())
                         : y.reshape({B, heads, n, 3, -1}).permute({0, 2, 3, 1, 4}).reshape(like.sizes());
}

}  // namespace

PaddedGeomformer::PaddedGeomformer(std::shared_ptr<geomformer::Geomformer> of)
    : PointsModel(of->interface), of_(child("of", of)) {
  const geomformer::Options& o = of_->options;
  const bool et = o.preset == geomformer::Preset::et;
  require<ConfigError>(
      o.preset != geomformer::Preset::painn &&
          o.interaction == (et ? geomformer::Interaction::messages : geomformer::Interaction::attention),
      "the padded form: must be the preset et or geomformer as it is");
  for (const Parameter& p : of_->parameters()) {
    weights_[p.name] = p.tensor;
  }
}

PaddedGeomformer::Atoms PaddedGeomformer::padded(const Points& points) const {
  const int64_t B = points.count(), n = points.graphs.longest();
  std::vector<int64_t> rows;
  std::vector<double> real;
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t i = 0; i < n; ++i) {
      const bool there = i < points.graphs.size(b);
      rows.push_back(points.graphs.offsets[b] + (there ? i : 0));
      real.push_back(there ? 1 : 0);
    }
  }
  const Tensor index = at::tensor(rows, at::kLong);
  const auto dtype = points.positions.scalar_type();
  Atoms a;
  a.positions = points.positions.index_select(0, index).view({B, n, 3});
  a.types = points.types.index_select(0, index).view({B, n});
  a.real = at::tensor(real, at::kDouble).view({B, n}).to(dtype);
  a.pairs = a.real.unsqueeze(1) * a.real.unsqueeze(2);
  const Tensor same = at::eye(n, at::kBool);
  a.others = a.pairs.masked_fill(same, 0);
  const Tensor apart = a.positions.unsqueeze(1) - a.positions.unsqueeze(2);  // from the centre i to j
  const Tensor nowhere = a.others == 0;                                      // no root of 0
  const Tensor root = (apart * apart).sum(-1).masked_fill(nowhere, 1).sqrt();
  a.lengths = root.masked_fill(nowhere, 0);
  a.directions = apart / root.unsqueeze(-1) * a.others.unsqueeze(-1);
  return a;
}

Tensor PaddedGeomformer::linear(const std::string& name, const Tensor& x) const {
  const auto bias = weights_.find(name + ".bias");
  return at::linear(x, weights_.at(name + ".weight"), bias == weights_.end() ? Tensor() : bias->second);
}

Tensor PaddedGeomformer::norm(const std::string& name, const Tensor& x) const {
  return at::layer_norm(x, {x.size(-1)}, weights_.at(name + ".weight"), weights_.at(name + ".bias"), 1e-5);
}

Tensor PaddedGeomformer::vector_norm(const std::string& name, const Tensor& z) const {
  const Tensor a = z - z.mean(-1, true);
  return a * at::rsqrt((a * a).mean({-2, -1}, true) + of_->options.norm_epsilon) *
         weights_.at(name + ".weight");
}

Tensor PaddedGeomformer::et(const Atoms& a) const {
  const geomformer::Options& o = of_->options;
  const double reach = o.cutoff->radius;
  const Tensor within = a.pairs * (a.lengths < reach);
  const Tensor envelope = 0.5 * (at::cos(a.lengths * (std::numbers::pi / reach)) + 1) * within;
  const Tensor t = at::exp(a.lengths * (-5 / reach)).unsqueeze(-1) - weights_.at("geometry.radial.means");
  const Tensor basis = envelope.unsqueeze(-1) * at::exp(-weights_.at("geometry.radial.betas") * t * t);

  const Tensor around =
      at::embedding(weights_.at("start.neighbours.embedding.weight"), a.types).unsqueeze(1) *
      linear("start.neighbours.distance_proj", basis) * (envelope * a.others).unsqueeze(-1);
  Streams s;
  s.inv = linear("start.neighbours.combine",
                 at::cat({at::embedding(weights_.at("start.embedding.weight"), a.types), around.sum(2)}, -1));
  s.equ = at::zeros({s.inv.size(0), s.inv.size(1), 3, o.width}, s.inv.options());
  for (int64_t layer = 0; layer < o.blocks; ++layer) {
    et_layer("layers." + std::to_string(layer), a, envelope, basis, s);
  }
  s.inv = norm("norm", s.inv);
  s = gated_block("head.energy.1", gated_block("head.energy.0", s, false), true);
  return s.inv.squeeze(-1);
}

void PaddedGeomformer::et_layer(const std::string& name, const Atoms& a, const Tensor& envelope,
                                const Tensor& basis, Streams& s) const {
  const int64_t B = a.types.size(0), n = a.types.size(1), heads = of_->options.heads;
  const std::string m = name + ".messages.";
  const Tensor x = norm(name + ".inv_norm", s.inv);
  const Tensor key_filter = at::silu(linear(m + "dk_proj", basis));
  const Tensor scores =
      (linear(m + "q_proj", x).unsqueeze(2) * linear(m + "k_proj", x).unsqueeze(1) * key_filter)
          .view({B, n, n, heads, -1})
          .sum(-1);
  const Tensor fade = envelope.unsqueeze(-1);
  const auto w =
      (linear(m + "v_proj", x).unsqueeze(1) * at::silu(linear(m + "dv_proj", basis)) * fade).chunk(3, -1);
  const Tensor scalars =
      (w[0].view({B, n, n, heads, -1}) * at::silu(scores).unsqueeze(-1)).view({B, n, n, -1}).sum(2);
  const Tensor vectors =
      (s.equ.unsqueeze(1) * w[1].unsqueeze(3) + a.directions.unsqueeze(-1) * w[2].unsqueeze(3)).sum(2);
  const auto own = linear(m + "o_proj", scalars).chunk(3, -1), p = linear(m + "vec_proj", s.equ).chunk(3, -1);
  s.inv = s.inv + (p[0] * p[1]).sum(2) * own[1] + own[2];
  s.equ = s.equ + p[2] * own[0].unsqueeze(2) + vectors;
}

PaddedGeomformer::Streams PaddedGeomformer::gated_block(const std::string& name, const Streams& s,
                                                        bool last) const {
  const Tensor v = linear(name + ".vec1_proj", s.equ), square = (v * v).sum(2);
  const Tensor lengths = square * at::rsqrt(square + geomformer::least_square(square.scalar_type()));
  const Tensor hidden = at::silu(linear(name + ".update_net.0", at::cat({s.inv, lengths}, -1)));
  const auto parts = linear(name + ".update_net.2", hidden).chunk(2, -1);
  return {last ? parts[0] : at::silu(parts[0]), parts[1].unsqueeze(2) * linear(name + ".vec2_proj", s.equ)};
}

Tensor PaddedGeomformer::gaussians(const std::string& name, const Tensor& d, const Tensor& types) const {
  const Tensor u = at::embedding(weights_.at(name + ".mul.weight"), types) * d.unsqueeze(-1) +
                   at::embedding(weights_.at(name + ".bias.weight"), types);
  const Tensor width = at::abs(weights_.at(name + ".stds.weight").squeeze(0)) + of_->options.least_width;
  const Tensor t = (u - weights_.at(name + ".means.weight").squeeze(0)) / width;
  return at::exp(-0.5 * t * t) / (width * std::sqrt(2 * std::numbers::pi));
}

Tensor PaddedGeomformer::attention(const Tensor& q, const Tensor& k, const Tensor& v, const Atoms& a,
                                   const Tensor& bias) const {
  const int64_t heads = of_->options.heads;
  const bool of_vectors = q.dim() == 4 && of_->options.equ_scale == geomformer::EquivariantScale::vectors;
  const double scale = 1 / std::sqrt(static_cast<double>((of_vectors ? 3 : 1) * of_->options.width / heads));
  const Tensor scores =
      at::matmul(by_heads(q, heads) * scale, by_heads(k, heads).transpose(-1, -2)) + bias;  // (B, H, n, n)
  const Tensor none = (a.real == 0).view({a.real.size(0), 1, 1, -1});
  const Tensor shares = at::softmax(scores.masked_fill(none, -std::numeric_limits<double>::infinity()), -1);
  return from_heads(at::matmul(shares, by_heads(v, heads)), q);
}

PaddedGeomformer::Streams PaddedGeomformer::attentions(const std::string& name, const Atoms& a,
                                                       const Tensor& bias, const Streams& s, bool self,
                                                       bool cross) const {
  const bool shared = of_->options.shared_query;
  const auto i = linear(name + ".inv", s.inv).split(of_->options.width, -1),
             e = linear(name + ".equ", s.equ).split(of_->options.width, -1);
  const auto dot = [](const Tensor& x, const Tensor& y) { return (x * y).sum(2); };
  // Of a stream's output map, the columns of its self-attention, then those of its cross-attention.
  const auto out = [&](bool wanted, const char* map, int64_t attention_of, const Tensor& q, const Tensor& k,
                       const Tensor& v) {
    const int64_t d = of_->options.width;
    return wanted ? at::linear(attention(q, k, v, a, bias),
                               weights_.at(name + map + ".weight").narrow(1, attention_of * d, d))
                  : at::zeros_like(q);
  };
  Streams add;
  const Tensor& inv_query = shared ? i[0] : i[3];
  add.inv = out(self, ".out_inv", 0, i[0], i[1], i[2]) +
            out(cross, ".out_inv", 1, inv_query, dot(e[0], e[1]), dot(e[2], e[3]));
  if (weights_.contains(name + ".out_equ.weight")) {
    const size_t I = shared ? 3 : 4, E = shared ? 7 : 8;  // where the maps of the last module begin
    const Tensor& equ_query = shared ? e[4] : e[7];
    add.equ =
        out(self, ".out_equ", 0, e[4], e[5], e[6]) +
        out(cross, ".out_equ", 1, equ_query, e[E] * i[I].unsqueeze(2), e[E + 1] * i[I + 1].unsqueeze(2));
  }
  return add;
}

Tensor PaddedGeomformer::geomformer(const Atoms& a) const {
  const geomformer::Options& o = of_->options;
  const int64_t types = std::max<int64_t>(interface.types, 1);
  const Tensor kinds = a.types.unsqueeze(2) * types + a.types.unsqueeze(1);
  const Tensor hidden = at::gelu(linear("bias.mlp.0", gaussians("geometry.gaussian", a.lengths, kinds)));
  const Tensor bias = linear("bias.mlp.2", hidden).permute({0, 3, 1, 2});  // (B, H, n, n)

  const Tensor real = a.real.unsqueeze(-1), count = real.sum(1, true);
  const Tensor away = a.positions - (a.positions * real).sum(1, true) / count;
  const Tensor length = at::sqrt((away * away).sum(-1) + o.smoothing * o.smoothing);
  const Tensor radial =
      linear("start.position.map", gaussians("start.position.gaussian", length - o.smoothing, a.types));
  Streams s{at::embedding(weights_.at("start.embedding.weight"), a.types),
            (away / length.unsqueeze(-1)).unsqueeze(-1) * radial.unsqueeze(2)};
  for (int64_t layer = 0; layer < o.blocks; ++layer) {
    const std::string name = "layers." + std::to_string(layer);
    const auto attend = [&](bool self, bool cross) {
      const Streams normed{norm(name + ".inv_norm", s.inv), vector_norm(name + ".equ_norm", s.equ)};
      const Streams add = attentions(name + ".attention", a, bias, normed, self, cross);
      s = {s.inv + add.inv, add.equ.defined() ? s.equ + add.equ : s.equ};
    };
    if (o.order == geomformer::Order::parallel) {
      attend(true, true);
    } else {
      attend(true, false);
      attend(false, true);
    }
    const std::string ffn = name + ".ffn.";
    const Tensor i = norm(name + ".inv_norm_2", s.inv);
    const auto hidden = at::gelu(linear(ffn + "inv_in", i)).split(o.hidden.value_or(o.width), -1);
    s.inv = s.inv + linear(ffn + "inv_out", hidden[0]);
    if (weights_.contains(ffn + "equ_in.weight")) {
      const Tensor e = vector_norm(name + ".equ_norm_2", s.equ);
      s.equ = s.equ + linear(ffn + "equ_out", linear(ffn + "equ_in", e) * hidden[1].unsqueeze(2));
    }
  }
  return linear("head.energy.mlp.2", at::gelu(linear("head.energy.mlp.0", norm("norm", s.inv)))).squeeze(-1);
}

Named PaddedGeomformer::forward(const Points& points) {
  const Atoms a = padded(points);
  const bool is_et = of_->options.preset == geomformer::Preset::et;
  const Tensor energies = (is_et ? et(a) : geomformer(a)) * a.real;
  return {{"energy", energies.sum(1, true)}};
}

}  // namespace weyl
