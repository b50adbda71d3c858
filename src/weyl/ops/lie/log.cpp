#include "weyl/ops/lie/log.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/pairs.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/edges/edges.h"
#include "weyl/ops/lie/number.h"
#include "weyl/ops/lie/planes.h"

namespace weyl::lie {
namespace {

constexpr double log_nanoseconds = 20;  // of a logarithm: estimated, to be measured

using lie_number::Number;
namespace formulas = lie_number::formulas;

/// {w, margin} of relative elements (as columns); `zero`, where defined, marks the rows whose w is 0.
template <class G, class S>
Tensors logs_of(const typename G::template Element<Number<S>>& relative, const Tensor& zero, int64_t rows,
                const at::TensorOptions& options) {
  Number<S> margin;
  {
    const at::NoGradGuard off;
    margin = G::margin(relative);
  }
  const Number<S> nothing(0);
  typename G::template Tangent<Number<S>> w;
  if constexpr (is_rigid(G::group)) {
    w = G::log(relative);
  } else {
    const auto inside = margin > nothing;
    const auto number = inside | (margin < Number<S>(1));
    w = G::log(select(inside, relative, G::template identity<Number<S>>()));
    for (int k = 0; k < G::dof; ++k) {
      w[k] = select(number, select(inside, w[k], nothing), margin);
    }
  }
  Tensor found = lie_number::rows_of(w, rows, options);
  if (zero.defined()) {
    found = found.masked_fill(zero.unsqueeze(1), 0);
  }
  return {found, margin.column.detach().to(options.dtype())};
}

/// Inputs a, b (N, c). Results w (N, dof), margin (N).
class RowLogs : public Differentiable {
 public:
  explicit RowLogs(LieGroup group) : group_(group) {}
  size_t results() const override { return 2; }

  Tensors reference(const Tensors& in) const override {
    return lie_number::visit(group_, in[0].scalar_type(), [&]<class G, class S>(G, S) {
      const auto a = formulas::admitted<G, Number<S>>(lie_number::columns_of<S, G::compact>(in[0]));
      const auto b = formulas::admitted<G, Number<S>>(lie_number::columns_of<S, G::compact>(in[1]));
      return logs_of<G, S>(lie_number::formulas::between<G, Number<S>>(a, b), {}, in[0].size(0),
                           in[0].options());
    });
  }

  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor a = normalised_planes(in[0], group_), b = normalised_planes(in[1], group_);
    const int64_t n = a.size(1);
    const Tensor w = at::empty({degrees_of_freedom(group_), n}, a.options());
    const Tensor margin = at::empty({n}, a.options());
    each(a, b, [&]<class T>(const auto& x, const auto& y, T, int64_t first, int64_t last) {
      kernels::best<kernels::LieLogs<T>>().rows(x, y, mutable_numbers<T>(w), n, mutable_numbers<T>(margin),
                                                first, last);
    });
    return {w.t(), margin};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensor a = normalised_planes(in[0], group_), b = normalised_planes(in[1], group_);
    const Tensor gw = planes_of(gys[0]);
    const int64_t n = a.size(1);
    const Tensor ga = needed[0] ? at::empty({gw.size(0), n}, a.options()) : Tensor();
    const Tensor gb = needed[1] ? at::empty({gw.size(0), n}, a.options()) : Tensor();
    each(a, b, [&]<class T>(const auto& x, const auto& y, T, int64_t first, int64_t last) {
      kernels::best<kernels::LieLogsBackward<T>>().rows(x, y, numbers<T>(gw), n, mutable_numbers<T>(ga),
                                                        mutable_numbers<T>(gb), first, last);
    });
    return {compact_gradient(in[0], ga, group_), compact_gradient(in[1], gb, group_)};
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& ggs,
                 const std::vector<bool>& needed) const override {
    const Tensor a = planes_of(in[0]), b = planes_of(in[1]), gw = planes_of(gys[0]);
    const Tensor va = planes_like(ggs[0], a), vb = planes_like(ggs[1], b);
    const int64_t n = a.size(1);
    const auto wanted = [&](bool is, int64_t width) {
      return is ? at::empty({width, n}, a.options()) : Tensor();
    };
    const Tensor ga = wanted(needed[0], a.size(0)), gb = wanted(needed[1], a.size(0));
    const Tensor ggw = wanted(needed[2], gw.size(0));
    each(a, b, [&]<class T>(const auto& x, const auto& y, T, int64_t first, int64_t last) {
      kernels::best<kernels::LieLogsSecond<T>>().rows(x, y, numbers<T>(gw), n, numbers<T>(va), numbers<T>(vb),
                                                      mutable_numbers<T>(ggw), mutable_numbers<T>(ga),
                                                      mutable_numbers<T>(gb), first, last);
    });
    const auto rows = [](const Tensor& x) { return x.defined() ? x.t() : x; };
    return {rows(ga), rows(gb), rows(ggw), Tensor()};
  }

 private:
  template <class F>
  void each(const Tensor& a, const Tensor& b, const F& work) const {
    with_type(a.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t packs = (a.size(1) + 15) / 16;  // whole vectors to each worker
      share_out(packs, std::min(workers_worth(a.size(1), log_nanoseconds), std::max<int64_t>(packs, 1)),
                [&](int64_t, int64_t first, int64_t last) {
                  work(elements_of<T>(a, group_), elements_of<T>(b, group_), zero, 16 * first,
                       std::min(16 * last, a.size(1)));
                });
    });
  }

  LieGroup group_;
};

/// Input: elements (N, c). Results w (P, dof), margin (P). The kernels take pairs as two lists of elements,
/// gathered piece by piece, so that small graphs fill whole vectors too.
class PairLogs : public Differentiable {
 public:
  PairLogs(const Segments& graphs, LieGroup group) : graphs_(graphs), group_(group) {
    pairs_before_.push_back(0);
    for (int64_t s = 0; s < graphs_.count(); ++s) {
      pairs_before_.push_back(pairs_before_.back() + graphs_.size(s) * graphs_.size(s));
    }
  }
  size_t results() const override { return 2; }

  Tensors reference(const Tensors& in) const override {
    const Edges pairs = all_pairs(graphs_);
    return lie_number::visit(group_, in[0].scalar_type(), [&]<class G, class S>(G, S) {
      const auto g = formulas::admitted<G, Number<S>>(lie_number::columns_of<S, G::compact>(in[0]));
      auto a = G::anchor(g), b = g;
      for (int c = 0; c < G::compact; ++c) {
        a[c].column = a[c].column.index_select(0, pairs.centre);
        b[c].column = b[c].column.index_select(0, pairs.neighbour);
      }
      return logs_of<G, S>(G::from_anchor(a, b), pairs.centre == pairs.neighbour, graphs_.pairs(),
                           in[0].options());
    });
  }

  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor g = normalised_planes(in[0], group_);
    const int64_t total = graphs_.pairs(), dof = degrees_of_freedom(group_);
    const Tensor w = at::empty({dof, total}, g.options());
    const Tensor margin = at::empty({total}, g.options());
    each_piece(g, [&]<class T>(const Piece<T>& p, int64_t) {
      T* to = mutable_numbers<T>(w) + p.begin;
      kernels::best<kernels::LieLogs<T>>().rows(p.a, p.b, to, total, mutable_numbers<T>(margin) + p.begin, 0,
                                                p.count);
      for (int64_t k = 0; k < p.count; ++k) {
        for (int64_t d = 0; p.first[k] == p.second[k] && d < dof; ++d) {
          to[d * total + k] = 0;
        }
      }
    });
    return {w.t(), margin};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>&) const override {
    const Tensor g = normalised_planes(in[0], group_), gw = planes_of(gys[0]);
    const int64_t total = graphs_.pairs(), dof = degrees_of_freedom(group_), n = g.size(1);
    const Tensor sums = at::zeros({workers(), dof, n}, g.options());
    each_piece(g, [&]<class T>(const Piece<T>& p, int64_t worker) {
      T ga[12 * length], gb[12 * length];
      kernels::LieElements<T> a = p.a, b = p.b;
      kernels::best<kernels::LieLogsBackward<T>>().rows(a, b, numbers<T>(gw) + p.begin, total, ga, gb, 0,
                                                        p.count);
      add_to_nodes(p, dof, ga, gb, mutable_numbers<T>(sums) + worker * dof * n, n);
    });
    return {compact_gradient(in[0], sums.size(0) == 1 ? sums[0] : sums.sum(0), group_)};
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& ggs,
                 const std::vector<bool>& needed) const override {
    const Tensor g = planes_of(in[0]), gw = planes_of(gys[0]), v = planes_like(ggs[0], g);
    const int64_t total = graphs_.pairs(), dof = degrees_of_freedom(group_), n = g.size(1), c = g.size(0);
    const Tensor sums = at::zeros({workers(), c, n}, g.options());
    const Tensor ggw = needed[1] ? at::empty({dof, total}, g.options()) : Tensor();
    each_piece(g, [&]<class T>(const Piece<T>& p, int64_t worker) {
      T va[12 * length], vb[12 * length], ga[12 * length], gb[12 * length];
      gather(p, numbers<T>(v), c, n, va, vb);
      T* to = needed[1] ? mutable_numbers<T>(ggw) + p.begin : nullptr;
      kernels::best<kernels::LieLogsSecond<T>>().rows(p.a, p.b, numbers<T>(gw) + p.begin, total, va, vb, to,
                                                      ga, gb, 0, p.count);
      add_to_nodes(p, c, ga, gb, mutable_numbers<T>(sums) + worker * c * n, n);
      for (int64_t k = 0; to && k < p.count; ++k) {
        for (int64_t d = 0; p.first[k] == p.second[k] && d < dof; ++d) {
          to[d * total + k] = 0;
        }
      }
    });
    return {needed[0] ? (sums.size(0) == 1 ? sums[0] : sums.sum(0)).t() : Tensor(),
            needed[1] ? ggw.t() : Tensor(), Tensor()};
  }

 private:
  static constexpr int64_t length = 256;

  /// Consecutive pairs and their elements.
  template <class T>
  struct Piece {
    int64_t begin = 0, count = 0;
    kernels::LieElements<T> a, b;
    int64_t first[length], second[length];  // nodes
    T a_planes[12 * length], b_planes[12 * length];
  };

  template <class T>
  static void gather(const Piece<T>& p, const T* planes, int64_t width, int64_t n, T* a, T* b) {
    for (int64_t c = 0; c < width; ++c) {
      for (int64_t k = 0; k < p.count; ++k) {
        a[c * length + k] = planes[c * n + p.first[k]];
        b[c * length + k] = planes[c * n + p.second[k]];
      }
    }
  }
  /// w_ii is 0 whatever g_i is.
  template <class T>
  static void add_to_nodes(const Piece<T>& p, int64_t width, const T* ga, const T* gb, T* sums, int64_t n) {
    for (int64_t c = 0; c < width; ++c) {
      for (int64_t k = 0; k < p.count; ++k) {
        if (p.first[k] != p.second[k]) {
          sums[c * n + p.first[k]] += ga[c * length + k];
          sums[c * n + p.second[k]] += gb[c * length + k];
        }
      }
    }
  }

  int64_t workers() const { return workers_worth(graphs_.pairs(), log_nanoseconds); }

  template <class F>
  void each_piece(const Tensor& planes, const F& work) const {
    with_type(planes.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t pieces = (graphs_.pairs() + length - 1) / length, n = planes.size(1);
      share_out(pieces, workers(), [&](int64_t w, int64_t first, int64_t last) {
        const auto p = std::make_unique<Piece<T>>();
        int64_t at = first * length;
        int64_t s =
            std::upper_bound(pairs_before_.begin(), pairs_before_.end(), at) - pairs_before_.begin() - 1;
        int64_t size = graphs_.size(s), i = (at - pairs_before_[s]) / size,
                j = (at - pairs_before_[s]) % size;
        for (; first < last; ++first) {
          p->begin = at;
          p->count = std::min(length, graphs_.pairs() - at);
          for (int64_t k = 0; k < p->count; ++k) {
            p->first[k] = graphs_.offsets[s] + i;
            p->second[k] = graphs_.offsets[s] + j;
            i += ++j == size;
            j = j == size ? 0 : j;
            if (i == size) {
              i = 0;
              for (++s; s < graphs_.count() && graphs_.size(s) == 0;) {
                ++s;
              }
              size = s < graphs_.count() ? graphs_.size(s) : 1;
            }
          }
          at += p->count;
          gather(*p, numbers<T>(planes), planes.size(0), n, p->a_planes, p->b_planes);
          p->a = {group_, p->count, length, p->a_planes};
          p->b = {group_, p->count, length, p->b_planes};
          work(*p, w);
        }
      });
    });
  }

  Segments graphs_;
  LieGroup group_;
  std::vector<int64_t> pairs_before_;
};

void require_elements(const char* where, const Tensor& x, int64_t rows, LieGroup group) {
  require(x.defined() && x.dim() == 2 && x.size(0) == rows && x.size(1) == compact_size(group), where,
          ": elements of ", name_of(group), " must be (", rows, ", ", compact_size(group), "), got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  require(x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble, where,
          ": elements must be float32 or float64, got ", x.scalar_type());
  require_rotations(where, x, group);
}

}  // namespace

Logs logs(const Tensor& a, const Tensor& b, LieGroup group) {
  require_elements("lie_logs", a, a.defined() && a.dim() > 0 ? a.size(0) : 0, group);
  require_elements("lie_logs", b, a.size(0), group);
  require(a.scalar_type() == b.scalar_type(), "lie_logs: b must have a's dtype ", a.scalar_type(), ", got ",
          b.scalar_type());
  const Tensors found = call(std::make_shared<RowLogs>(group), {a, b});
  return {found[0], found[1].detach()};
}

Logs pair_logs(const Tensor& compact, const Segments& graphs, LieGroup group) {
  require_elements("lie_pair_logs", compact, graphs.rows(), group);
  const Tensors found = call(std::make_shared<PairLogs>(graphs, group), {compact});
  return {found[0], found[1].detach()};
}

}  // namespace weyl::lie
