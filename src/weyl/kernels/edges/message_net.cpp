#include "weyl/kernels/edges/message_net.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/edges/bond_messages.h"
#include "weyl/kernels/edges/matrix_product.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

constexpr int64_t bonds_at_once = 32;  // whose filters stay in the second cache

/// Hands out arrays one after the other; without a base it only counts them.
template <class T>
struct Memory {
  T* base = nullptr;
  int64_t used = 0;

  T* take(int64_t count) {
    const int64_t at = used;
    used += padded<T>(count);
    return base ? base + at : nullptr;
  }
};

template <class T>
void apply(const DenseMap<T>& map, Matrix<const T> x, int64_t rows, Matrix<T> y) {
  product<T>(x, rows, map.in, {map.transposed, map.out}, map.out, map.bias ? Start::bias : Start::zero,
             map.bias, y);
}
/// The derivative by x from that by y, added to what is there or not.
template <class T>
void pull(const DenseMap<T>& map, Matrix<const T> gy, int64_t rows, Matrix<T> gx, Start start = Start::zero) {
  product<T>(gy, rows, map.out, {map.weight, map.in}, map.in, start, nullptr, gx);
}

template <class T>
BiasActivationInput<T> activation_of(ActivationLaw law, const T* x, int64_t width) {
  BiasActivationInput<T> in;
  in.law = law;
  in.width = in.channels = width;
  in.x = x;
  return in;
}
template <class T>
void activate(ActivationLaw law, const T* x, int64_t rows, int64_t width, T* y) {
  compiled<BiasActivation<T>, InstructionSet::WEYL_ISA>().forward(activation_of(law, x, width), y, 0, rows);
}
/// g times the slope at x, in its place.
template <class T>
void activate_backward(ActivationLaw law, const T* x, int64_t rows, int64_t width, T* g) {
  compiled<BiasActivation<T>, InstructionSet::WEYL_ISA>().backward(activation_of(law, x, width), g, g,
                                                                   nullptr, 0, rows);
}

/// What lies between the two maps of an mlp: before the activation, which derivatives need, and after.
template <class T>
struct Hidden {
  T *before, *after;
};
template <class T>
void apply(const DenseMlp<T>& mlp, ActivationLaw law, Matrix<const T> x, int64_t rows, Hidden<T> h,
           Matrix<T> y) {
  const int64_t width = mlp.first.out;
  apply<T>(mlp.first, x, rows, {h.before, width});
  activate(law, h.before, rows, width, h.after);
  apply<T>(mlp.second, {h.after, width}, rows, y);
}
/// Overwrites what lies after the activation.
template <class T>
void pull(const DenseMlp<T>& mlp, ActivationLaw law, Matrix<const T> gy, int64_t rows, Hidden<T> h,
          Matrix<T> gx, Start start = Start::zero) {
  const int64_t width = mlp.first.out;
  pull<T>(mlp.second, gy, rows, {h.after, width});
  activate_backward(law, h.before, rows, width, h.after);
  pull<T>(mlp.first, {h.after, width}, rows, gx, start);
}

template <class T>
T row_sum(const T* x, int64_t width) {
  Vec<T> sum{};
  along<T>(width, [&]<bool whole>(int64_t c, int64_t left) { sum += get<whole>(x + c, left); });
  return sum_of<T>(sum);
}
template <class T>
T row_dot(const T* x, const T* y, int64_t width) {
  Vec<T> sum{};
  along<T>(width, [&]<bool whole>(int64_t c, int64_t left) {
    sum += get<whole>(x + c, left) * get<whole>(y + c, left);
  });
  return sum_of<T>(sum);
}

/// (x - mean) / sqrt(variance + 1e-5) of a row; returns the divisor's inverse.
template <class T>
T whiten_row(const T* x, int64_t width, T* y) {
  const T mean = row_sum(x, width) / static_cast<T>(width);
  for (int64_t c = 0; c < width; ++c) {
    y[c] = x[c] - mean;
  }
  const T inverse = T(1) / root_of<T>(row_dot(y, y, width) / static_cast<T>(width) + T(1e-5));
  for (int64_t c = 0; c < width; ++c) {
    y[c] *= inverse;
  }
  return inverse;
}
template <class T>
void apply(const RowNorm<T>& norm, const T* x, int64_t rows, int64_t width, Matrix<T> y) {
  for (int64_t n = 0; n < rows; ++n) {
    T* to = y.at + n * y.apart;
    whiten_row(x + n * width, width, to);
    for (int64_t c = 0; c < width; ++c) {
      to[c] = to[c] * norm.weight[c] + norm.bias[c];
    }
  }
}
/// gx += the derivative by x from gy, which is overwritten. row: (width)
template <class T>
void pull(const RowNorm<T>& norm, const T* x, T* gy, int64_t rows, int64_t width, T* row, T* gx) {
  for (int64_t n = 0; n < rows; ++n, gy += width, gx += width) {
    const T inverse = whiten_row(x + n * width, width, row);
    for (int64_t c = 0; c < width; ++c) {
      gy[c] *= norm.weight[c];
    }
    const T mean = row_sum(gy, width) / static_cast<T>(width),
            along_row = row_dot(gy, row, width) / static_cast<T>(width);
    for (int64_t c = 0; c < width; ++c) {
      gx[c] += inverse * (gy[c] - mean - row[c] * along_row);
    }
  }
}

/// What the derivative of a layer needs of its values. Null where the layer has no such part.
template <class T>
struct LayerValues {
  T *normed, *query, *key, *values, *own,
      *products;  // (N, F), ..., values and own (N, 3 F), products (N, 9 F)
  Hidden<T> of_values;
  T *middle, *maps, *joined, *mixed;  // before mixing (N, F), (N, 6 F), (N, 2 F), (N, 3 F)
  Hidden<T> of_mixing;

  LayerValues(const MessageNet<T>& net, const MessageLayer<T>& layer, int64_t nodes, Memory<T>& memory) {
    const int64_t row = nodes * net.width;
    const auto take = [&](const T* wanted, int64_t rows) {
      return wanted ? memory.take(rows * row) : nullptr;
    };
    normed = take(layer.norm.weight, 1);
    query = take(layer.query.weight, 1);
    key = take(layer.key.weight, 1);
    values = memory.take(3 * row);
    own = take(layer.out.weight, 3);
    products = take(layer.out.weight, 9);
    of_values = {take(layer.values.first.weight, 1), take(layer.values.first.weight, 1)};
    middle = take(layer.mixing_norm.weight, 1);
    const T* mixing = layer.mixing_vectors.weight;
    maps = take(mixing, 6);
    joined = take(mixing, 2);
    mixed = take(mixing, 3);
    of_mixing = {take(mixing, 1), take(mixing, 1)};
  }
};

/// The same of a gated block: I columns in, O out.
template <class T>
struct GatedValues {
  T *maps, *squares, *joined, *update, *vectors;  // (N, 3 I), (N, I), (N, 2 I), (N, 2 O), (N, 3 O)
  Hidden<T> hidden;

  GatedValues(const GatedMaps<T>& gated, int64_t nodes, Memory<T>& memory) {
    const int64_t in = gated.lengths.in;
    maps = memory.take(nodes * 3 * in);
    squares = memory.take(nodes * in);
    joined = memory.take(nodes * 2 * in);
    hidden = {memory.take(nodes * in), memory.take(nodes * in)};
    update = memory.take(nodes * gated.update.second.out);
    vectors = memory.take(nodes * 3 * gated.vectors.out);
  }
};

/// Of the head: its last numbers of nodes, and what the first gated block gives the second.
template <class T>
struct HeadValues {
  T *normed, *counts, *x, *v;
  Hidden<T> hidden;

  HeadValues(const MessageNet<T>& net, int64_t nodes, Memory<T>& memory) {
    const int64_t half = net.gated[0].vectors.out, wide = net.head.first.out;
    normed = memory.take(net.norm.weight ? nodes * net.width : 0);
    counts = memory.take(nodes);
    hidden = {memory.take(nodes * wide), memory.take(nodes * wide)};
    x = memory.take(nodes * half);
    v = memory.take(nodes * 3 * half);
  }
};

/// Arrays that one layer after the other uses.
template <class T>
struct Scratch {
  T *filters, *slopes, *by_filters;  // of bonds at once, (4 F): those of values, of keys
  T *scores, *row;                   // (2 F), (2 F)
  T *sum, *by_sum;                   // (N, F)
  T *by_vector_sum, *by_values;      // (N, 3 F)
  T *by_query, *by_key, *by_normed;  // (N, F)
  T *wide, *by_wide;                 // (N, 9 F), (N, 3 F)

  Scratch(const MessageNet<T>& net, int64_t nodes, Memory<T>& memory) {
    const auto take = [&](int64_t rows, auto&... arrays) { ((arrays = memory.take(rows * net.width)), ...); };
    take(4 * bonds_at_once, filters, slopes, by_filters);
    take(2, scores, row);
    take(nodes, sum, by_sum, by_query, by_key, by_normed);
    take(3 * nodes, by_vector_sum, by_values, by_wide);
    take(9 * nodes, wide);
  }
};

/// Values and derivatives of one graph.
template <class T>
class Pass {
 public:
  Pass(const MessageNet<T>& net, const MessageGraph<T>& graph, T* memory)
      : net_(net),
        graph_(graph),
        F_(net.width),
        N_(graph.nodes),
        keys_at_(bonds_at_once * 3 * net.width),
        memory_{memory, 0},
        xs_(memory_.take((net.layers + 1) * N_ * F_)),
        vs_(memory_.take((net.layers + 1) * N_ * 3 * F_)),
        gx_(memory_.take(N_ * F_)),
        gv_(memory_.take(N_ * 3 * F_)),
        joined_(memory_.take(N_ * 2 * F_)),
        scratch_(net, N_, memory_) {}

  /// How many numbers `run` takes, of a pass without memory.
  int64_t numbers() {
    for (int64_t l = 0; l < net_.layers; ++l) {
      LayerValues<T>(net_, net_.layer[l], N_, memory_);
    }
    HeadValues<T>(net_, N_, memory_);
    GatedValues<T>(net_.gated[0], N_, memory_);
    GatedValues<T>(net_.gated[1], N_, memory_);
    return memory_.used;
  }

  void run() {
    start();
    const int64_t before = memory_.used;
    for (int64_t l = 0; l < net_.layers; ++l) {
      const LayerValues<T> values(net_, net_.layer[l], N_, memory_);
      send_messages(l, values);
      mix(net_.layer[l], values, x(l + 1), v(l + 1));
    }
    const int64_t after = memory_.used;
    head();
    const int64_t each = net_.layers > 0 ? (after - before) / net_.layers : 0;  // layers are alike
    for (int64_t l = net_.layers - 1; l >= 0; --l) {
      memory_.used = before + l * each;
      const LayerValues<T> values(net_, net_.layer[l], N_, memory_);
      mix_backward(net_.layer[l], values);
      messages_backward(l, values);
    }
    start_backward();
  }

 private:
  T* x(int64_t layer) const { return xs_ + layer * N_ * F_; }
  T* v(int64_t layer) const { return vs_ + layer * N_ * 3 * F_; }
  Matrix<T> rows(T* at, int64_t parts = 1) const { return {at, parts * F_}; }
  Matrix<const T> rows(const T* at, int64_t parts = 1) const { return {at, parts * F_}; }

  /// Calls f with each edge of the bonds first .. first + count, whose filters are at hand.
  template <class Function>
  void each_edge(int64_t first, int64_t count, const Function& f) const {
    for (int64_t b = 0; b < count; ++b) {
      const int64_t p = first + b;
      const T* u = graph_.direction + 3 * p;
      MessageEdge<T> e;
      e.i = graph_.first[p];
      e.j = graph_.second[p];
      e.u[0] = u[0], e.u[1] = u[1], e.u[2] = u[2];
      e.fade = graph_.fade[p];
      e.filter = scratch_.filters + b * 3 * F_;
      e.key_filter = scratch_.filters + keys_at_ + b * F_;
      e.by_filter = scratch_.by_filters + b * 3 * F_;
      e.by_key_filter = scratch_.by_filters + keys_at_ + b * F_;
      e.by_u = graph_.by_direction + 3 * p;
      e.by_fade = graph_.by_fade + p;
      e.sign = T(1);
      f(e);
      if (!graph_.alone[p]) {
        f(e.reversed());
      }
    }
  }

  /// f(first, count) for all bonds, a few at a time.
  template <class Function>
  void each_block(const Function& f) const {
    for (int64_t first = 0; first < graph_.bonds; first += bonds_at_once) {
      const int64_t left = graph_.bonds - first;
      f(first, left < bonds_at_once ? left : bonds_at_once);
    }
  }
  Matrix<const T> basis(int64_t first) const { return {graph_.basis + first * net_.kernels, net_.kernels}; }
  Matrix<T> by_basis(int64_t first) const { return {graph_.by_basis + first * net_.kernels, net_.kernels}; }

  /// The filters of bonds, and in `slopes` how they change with what their maps give.
  void find_filters(const MessageLayer<T>& layer, int64_t first, int64_t count) const {
    const auto find = [&](const DenseMap<T>& map, T* filters, T* slopes, bool activation) {
      apply<T>(map, basis(first), count, {filters, map.out});
      along<T>(activation ? count * map.out : 0, [&]<bool whole>(int64_t k, int64_t left) {
        Vec<T> slope;
        put<whole>(filters + k, silu<T>(get<whole>(filters + k, left), slope), left);
        put<whole>(slopes + k, slope, left);
      });
    };
    find(layer.value_filter, scratch_.filters, scratch_.slopes, net_.filter_activation);
    if (layer.key_filter.weight) {
      find(layer.key_filter, scratch_.filters + keys_at_, scratch_.slopes + keys_at_, true);
    }
  }
  void filters_backward(const MessageLayer<T>& layer, int64_t first, int64_t count) const {
    const auto add = [&](const DenseMap<T>& map, T* by, const T* slopes, bool activation) {
      along<T>(activation ? count * map.out : 0, [&]<bool whole>(int64_t k, int64_t left) {
        put<whole>(by + k, get<whole>(by + k, left) * get<whole>(slopes + k, left), left);
      });
      pull<T>(map, {by, map.out}, count, by_basis(first), Start::sum);
    };
    add(layer.value_filter, scratch_.by_filters, scratch_.slopes, net_.filter_activation);
    if (layer.key_filter.weight) {
      add(layer.key_filter, scratch_.by_filters + keys_at_, scratch_.slopes + keys_at_, true);
    }
  }

  Messages<T> messages(const LayerValues<T>& values, int64_t l) const {
    Messages<T> m;
    m.width = F_;
    m.heads = net_.heads;
    m.vector_cutoff = net_.vector_cutoff;
    m.query = values.query;
    m.key = values.key;
    m.values = values.values;
    m.vectors = v(l);
    m.scores = scratch_.scores;
    return m;
  }

  /// f<scored, moved>(): what a layer's messages are made of. Vectors are zero before the first layer.
  template <class Function>
  void with_form(int64_t l, const Function& f) const {
    const bool scored = net_.layer[l].query.weight != nullptr;
    if (scored) {
      l > 0 ? f.template operator()<true, true>() : f.template operator()<true, false>();
    } else {
      l > 0 ? f.template operator()<false, true>() : f.template operator()<false, false>();
    }
  }

  /// What nodes start from.
  void start() {
    T* to = x(0);
    const auto type = [&](int64_t n) { return graph_.type ? graph_.type[n] : 0; };
    const bool gathers = net_.neighbour_embedding != nullptr;
    for (int64_t n = 0; n < N_; ++n) {
      copy(net_.embedding + type(n) * F_, F_, gathers ? joined_ + n * 2 * F_ : to + n * F_);
      clear(joined_ + (2 * n + 1) * F_, F_);
    }
    clear(v(0), N_ * 3 * F_);
    if (gathers) {
      each_block([&](int64_t first, int64_t count) {
        apply<T>(net_.neighbour_filter, basis(first), count, rows(scratch_.filters));
        for (int64_t b = 0; b < count; ++b) {
          const int64_t p = first + b, i = graph_.first[p], j = graph_.second[p];
          if (graph_.alone[p]) {
            continue;
          }
          const T* f = scratch_.filters + b * F_;
          const auto gather = [&](int64_t centre, int64_t neighbour) {
            T* sum = joined_ + (2 * centre + 1) * F_;
            const T* e = net_.neighbour_embedding + type(neighbour) * F_;
            for (int64_t c = 0; c < F_; ++c) {
              sum[c] += graph_.fade[p] * e[c] * f[c];
            }
          };
          gather(i, j);
          gather(j, i);
        }
      });
      apply<T>(net_.combine, rows(joined_, 2), N_, rows(to));
    }
    for (int64_t k = 0; graph_.features && k < N_ * F_; ++k) {
      to[k] += graph_.features[k];
    }
  }
  void start_backward() {
    if (!net_.neighbour_embedding) {
      return;
    }
    const auto type = [&](int64_t n) { return graph_.type ? graph_.type[n] : 0; };
    T* by_gathered = scratch_.sum;
    product<T>(rows(gx_), N_, F_, {net_.combine.weight + F_, 2 * F_}, F_, Start::zero, nullptr,
               rows(by_gathered));
    each_block([&](int64_t first, int64_t count) {
      apply<T>(net_.neighbour_filter, basis(first), count, rows(scratch_.filters));
      for (int64_t b = 0; b < count; ++b) {
        const int64_t p = first + b, i = graph_.first[p], j = graph_.second[p];
        T* g = scratch_.by_filters + b * F_;
        if (graph_.alone[p]) {
          clear(g, F_);
          continue;
        }
        const T *gi = by_gathered + i * F_, *gj = by_gathered + j * F_;
        const T *ei = net_.neighbour_embedding + type(i) * F_, *ej = net_.neighbour_embedding + type(j) * F_;
        for (int64_t c = 0; c < F_; ++c) {
          g[c] = gi[c] * ej[c] + gj[c] * ei[c];
        }
        graph_.by_fade[p] += row_dot<T>(g, scratch_.filters + b * F_, F_);
        for (int64_t c = 0; c < F_; ++c) {
          g[c] *= graph_.fade[p];
        }
      }
      pull<T>(net_.neighbour_filter, rows(scratch_.by_filters), count, by_basis(first), Start::sum);
    });
  }

  void send_messages(int64_t l, const LayerValues<T>& values) {
    const MessageLayer<T>& layer = net_.layer[l];
    const T* in = x(l);
    if (layer.norm.weight) {
      apply<T>(layer.norm, in, N_, F_, rows(values.normed));
      in = values.normed;
    }
    if (layer.query.weight) {
      apply<T>(layer.query, rows(in), N_, rows(values.query));
      apply<T>(layer.key, rows(in), N_, rows(values.key));
    }
    if (layer.values.first.weight) {
      apply<T>(layer.values, ActivationLaw::silu, rows(in), N_, values.of_values, rows(values.values, 3));
    } else {
      apply<T>(layer.values.second, rows(in), N_, rows(values.values, 3));
    }
    copy(x(l), N_ * F_, x(l + 1));
    copy(v(l), N_ * 3 * F_, v(l + 1));
    Messages<T> m = messages(values, l);
    m.sum = layer.out.weight ? scratch_.sum : x(l + 1);
    m.vector_sum = v(l + 1);
    if (layer.out.weight) {
      clear(m.sum, N_ * F_);
    }
    with_form(l, [&]<bool scored, bool moved>() {
      each_block([&](int64_t first, int64_t count) {
        find_filters(layer, first, count);
        each_edge(first, count, [&](const MessageEdge<T>& e) { send<T, scored, moved>(m, e); });
      });
    });
    if (layer.out.weight) {
      apply<T>(layer.out, rows(m.sum), N_, rows(values.own, 3));
      apply<T>(layer.own_vectors, rows(v(l)), 3 * N_, rows(values.products, 3));
      own_products(values, x(l + 1), v(l + 1));
    }
  }

  /// x += <p1, p2> o2 + o3,  v += p3 o1
  void own_products(const LayerValues<T>& values, T* to, T* to_vectors) const {
    for (int64_t n = 0; n < N_; ++n) {
      const T *o = values.own + n * 3 * F_, *p = values.products + n * 9 * F_;
      T *x = to + n * F_, *v = to_vectors + n * 3 * F_;
      along<T>(F_, [&]<bool whole>(int64_t c, int64_t left) {
        const auto at = [&](const T* from) { return get<whole>(from + c, left); };
        Vec<T> dot{};
        for (int64_t k = 0; k < 3; ++k) {
          dot += at(p + 3 * k * F_) * at(p + (3 * k + 1) * F_);
          put<whole>(v + k * F_ + c, at(v + k * F_) + at(p + (3 * k + 2) * F_) * at(o), left);
        }
        put<whole>(x + c, at(x) + dot * at(o + F_) + at(o + 2 * F_), left);
      });
    }
  }
  /// From the derivatives gx_ and gv_: by o into by_wide, by p in the place of p.
  void own_products_backward(const LayerValues<T>& values) {
    for (int64_t n = 0; n < N_; ++n) {
      const T *o = values.own + n * 3 * F_, *gx = gx_ + n * F_, *gv = gv_ + n * 3 * F_;
      T *go = scratch_.by_wide + n * 3 * F_, *p = values.products + n * 9 * F_;
      along<T>(F_, [&]<bool whole>(int64_t c, int64_t left) {
        const auto at = [&](const T* from) { return get<whole>(from + c, left); };
        const Vec<T> g = at(gx), by_dot = g * at(o + F_);
        Vec<T> dot{}, by_first{};
        for (int64_t k = 0; k < 3; ++k) {
          T* q = p + 3 * k * F_;
          const Vec<T> p1 = at(q), p2 = at(q + F_), G = at(gv + k * F_);
          dot += p1 * p2;
          by_first += G * at(q + 2 * F_);
          put<whole>(q + c, by_dot * p2, left);
          put<whole>(q + F_ + c, by_dot * p1, left);
          put<whole>(q + 2 * F_ + c, G * at(o), left);
        }
        put<whole>(go + c, by_first, left);
        put<whole>(go + F_ + c, g * dot, left);
        put<whole>(go + 2 * F_ + c, g, left);
      });
    }
  }

  void messages_backward(int64_t l, const LayerValues<T>& values) {
    const MessageLayer<T>& layer = net_.layer[l];
    const Scratch<T>& s = scratch_;
    Messages<T> m = messages(values, l);
    copy(gv_, N_ * 3 * F_, s.by_vector_sum);
    copy(gx_, N_ * F_, s.by_sum);
    if (layer.out.weight) {
      own_products_backward(values);
      pull<T>(layer.out, rows(s.by_wide, 3), N_, rows(s.by_sum));
      pull<T>(layer.own_vectors, rows(values.products, 3), 3 * N_, rows(gv_), Start::sum);
    }
    m.by_sum = s.by_sum;
    m.by_vector_sum = s.by_vector_sum;
    m.by_query = s.by_query;
    m.by_key = s.by_key;
    m.by_values = s.by_values;
    m.by_vectors = gv_;
    clear(m.by_query, N_ * F_);
    clear(m.by_key, N_ * F_);
    clear(m.by_values, N_ * 3 * F_);
    with_form(l, [&]<bool scored, bool moved>() {
      each_block([&](int64_t first, int64_t count) {
        find_filters(layer, first, count);
        clear(s.by_filters, bonds_at_once * 4 * F_);
        each_edge(first, count, [&](const MessageEdge<T>& e) { send_backward<T, scored, moved>(m, e); });
        filters_backward(layer, first, count);
      });
    });
    T* by_normed = layer.norm.weight ? s.by_normed : gx_;
    if (layer.norm.weight) {
      clear(by_normed, N_ * F_);
    }
    if (layer.query.weight) {
      pull<T>(layer.query, rows(m.by_query), N_, rows(by_normed), Start::sum);
      pull<T>(layer.key, rows(m.by_key), N_, rows(by_normed), Start::sum);
    }
    if (layer.values.first.weight) {
      pull<T>(layer.values, ActivationLaw::silu, rows(m.by_values, 3), N_, values.of_values, rows(by_normed),
              Start::sum);
    } else {
      pull<T>(layer.values.second, rows(m.by_values, 3), N_, rows(by_normed), Start::sum);
    }
    if (layer.norm.weight) {
      pull<T>(layer.norm, x(l), by_normed, N_, F_, s.row, gx_);
    }
  }

  /// With (p, w) the maps of v and (a, b, c) those of x and the lengths |p|: x += a + c <p, w>,  v += b w.
  void mix(const MessageLayer<T>& layer, const LayerValues<T>& values, T* x, T* v) {
    if (!layer.mixing_vectors.weight) {
      return;
    }
    apply<T>(layer.mixing_vectors, rows(v), 3 * N_, rows(values.maps, 2));
    if (layer.mixing_norm.weight) {
      copy(x, N_ * F_, values.middle);
      apply<T>(layer.mixing_norm, x, N_, F_, rows(values.joined, 2));
    }
    for (int64_t n = 0; n < N_; ++n) {
      T* joined = values.joined + n * 2 * F_;
      if (!layer.mixing_norm.weight) {
        copy(x + n * F_, F_, joined);
      }
      const T* p = values.maps + n * 6 * F_;
      for (int64_t c = 0; c < F_; ++c) {
        joined[F_ + c] =
            root_of<T>(p[c] * p[c] + p[2 * F_ + c] * p[2 * F_ + c] + p[4 * F_ + c] * p[4 * F_ + c] + T(1e-8));
      }
    }
    apply<T>(layer.mixing, net_.activation, rows(values.joined, 2), N_, values.of_mixing,
             rows(values.mixed, 3));
    for (int64_t n = 0; n < N_; ++n) {
      const T *p = values.maps + n * 6 * F_, *y = values.mixed + n * 3 * F_;
      T *to = x + n * F_, *to_vectors = v + n * 3 * F_;
      along<T>(F_, [&]<bool whole>(int64_t c, int64_t left) {
        const auto at = [&](const T* from) { return get<whole>(from + c, left); };
        Vec<T> dot{};
        for (int64_t k = 0; k < 3; ++k) {
          const Vec<T> w = at(p + (2 * k + 1) * F_);
          dot += at(p + 2 * k * F_) * w;
          put<whole>(to_vectors + k * F_ + c, at(to_vectors + k * F_) + at(y + F_) * w, left);
        }
        put<whole>(to + c, at(to) + at(y) + at(y + 2 * F_) * dot, left);
      });
    }
  }
  void mix_backward(const MessageLayer<T>& layer, const LayerValues<T>& values) {
    if (!layer.mixing_vectors.weight) {
      return;
    }
    T *by_maps = scratch_.wide, *by_mixed = scratch_.by_wide, *by_joined = scratch_.by_values;
    for (int64_t n = 0; n < N_; ++n) {
      const T *p = values.maps + n * 6 * F_, *y = values.mixed + n * 3 * F_, *gx = gx_ + n * F_,
              *gv = gv_ + n * 3 * F_;
      T *gp = by_maps + n * 6 * F_, *gy = by_mixed + n * 3 * F_;
      along<T>(F_, [&]<bool whole>(int64_t c, int64_t left) {
        const auto at = [&](const T* from) { return get<whole>(from + c, left); };
        const Vec<T> g = at(gx), by_dot = g * at(y + 2 * F_);
        Vec<T> dot{}, by_b{};
        for (int64_t k = 0; k < 3; ++k) {
          const Vec<T> first = at(p + 2 * k * F_), w = at(p + (2 * k + 1) * F_), G = at(gv + k * F_);
          dot += first * w;
          by_b += G * w;
          put<whole>(gp + 2 * k * F_ + c, by_dot * w, left);
          put<whole>(gp + (2 * k + 1) * F_ + c, G * at(y + F_) + by_dot * first, left);
        }
        put<whole>(gy + c, g, left);
        put<whole>(gy + F_ + c, by_b, left);
        put<whole>(gy + 2 * F_ + c, g * dot, left);
      });
    }
    pull<T>(layer.mixing, net_.activation, rows(by_mixed, 3), N_, values.of_mixing, rows(by_joined, 2));
    for (int64_t n = 0; n < N_; ++n) {
      const T *p = values.maps + n * 6 * F_, *length = values.joined + (2 * n + 1) * F_,
              *by_length = by_joined + (2 * n + 1) * F_;
      T* gp = by_maps + n * 6 * F_;
      for (int64_t k = 0; k < 3; ++k) {
        for (int64_t c = 0; c < F_; ++c) {
          gp[2 * k * F_ + c] += by_length[c] * p[2 * k * F_ + c] / length[c];
        }
      }
      T* to = layer.mixing_norm.weight ? scratch_.by_normed : gx_;
      for (int64_t c = 0; c < F_; ++c) {
        const T g = by_joined[2 * n * F_ + c];
        to[n * F_ + c] = layer.mixing_norm.weight ? g : to[n * F_ + c] + g;
      }
    }
    if (layer.mixing_norm.weight) {
      pull<T>(layer.mixing_norm, values.middle, scratch_.by_normed, N_, F_, scratch_.row, gx_);
    }
    pull<T>(layer.mixing_vectors, rows(by_maps, 2), 3 * N_, rows(gv_), Start::sum);
  }

  /// From the last streams to energies, and back to gx_ and gv_.
  void head() {
    const HeadValues<T> h(net_, N_, memory_);
    const bool normed = net_.norm.weight != nullptr;
    const T* in = x(net_.layers);
    if (normed) {
      apply<T>(net_.norm, in, N_, F_, rows(h.normed));
      in = h.normed;
    }
    clear(gx_, N_ * F_);
    T* by_in = normed ? scratch_.by_normed : gx_;
    for (int64_t n = 0; n < N_; ++n) {
      h.counts[n] = graph_.counts ? graph_.counts[n] : T(1);
    }
    if (net_.head.second.weight) {
      clear(gv_, N_ * 3 * F_);
      apply<T>(net_.head, net_.activation, rows(in), N_, h.hidden, {graph_.energies, 1});
      pull<T>(net_.head, net_.activation, {h.counts, 1}, N_, h.hidden, rows(by_in));
    } else {
      const GatedValues<T> one(net_.gated[0], N_, memory_), two(net_.gated[1], N_, memory_);
      gate(net_.gated[0], one, in, v(net_.layers));
      pass_gate(net_.gated[0], one, v(net_.layers), h);
      gate(net_.gated[1], two, h.x, h.v);
      copy(two.update, N_, graph_.energies);
      gate_backward(net_.gated[1], two, h.counts, h.x, h.v);
      pass_gate_backward(net_.gated[0], one, h);
      gate_backward(net_.gated[0], one, scratch_.by_wide, by_in, gv_);
      pull<T>(net_.gated[0].vectors, {one.vectors, net_.gated[0].vectors.out}, 3 * N_, rows(gv_), Start::sum);
    }
    if (normed) {
      pull<T>(net_.norm, x(net_.layers), by_in, N_, F_, scratch_.row, gx_);
    }
  }

  /// The update of a gated block, from x and the lengths of V1 v.
  void gate(const GatedMaps<T>& maps, const GatedValues<T>& g, const T* x, const T* v) const {
    const int64_t in = maps.lengths.in;
    apply<T>(maps.lengths, {v, in}, 3 * N_, {g.maps, in});
    for (int64_t n = 0; n < N_; ++n) {
      const T* p = g.maps + n * 3 * in;
      T* joined = g.joined + n * 2 * in;
      copy(x + n * in, in, joined);
      for (int64_t c = 0; c < in; ++c) {
        const T square = p[c] * p[c] + p[in + c] * p[in + c] + p[2 * in + c] * p[2 * in + c];
        g.squares[n * in + c] = square;
        joined[in + c] = square / root_of<T>(square + net_.least_square);
      }
    }
    apply<T>(maps.update, ActivationLaw::silu, {g.joined, 2 * in}, N_, g.hidden,
             {g.update, maps.update.second.out});
  }
  /// By x and v, which are overwritten, from that by the update.
  void gate_backward(const GatedMaps<T>& maps, const GatedValues<T>& g, const T* by_update, T* gx,
                     T* gv) const {
    const int64_t in = maps.lengths.in;
    T* by_joined = scratch_.by_values;
    pull<T>(maps.update, ActivationLaw::silu, {by_update, maps.update.second.out}, N_, g.hidden,
            {by_joined, 2 * in});
    for (int64_t n = 0; n < N_; ++n) {
      const T* by = by_joined + n * 2 * in;
      T* p = g.maps + n * 3 * in;
      copy(by, in, gx + n * in);
      for (int64_t c = 0; c < in; ++c) {
        const T square = g.squares[n * in + c], root = root_of<T>(square + net_.least_square);
        const T by_map = by[in + c] * (square + 2 * net_.least_square) / (root * root * root);
        for (int64_t k = 0; k < 3; ++k) {
          p[k * in + c] *= by_map;
        }
      }
    }
    pull<T>(maps.lengths, {g.maps, in}, 3 * N_, {gv, in});
  }

  /// What a gated block hands on, of its update (y, g): SiLU(y) and g V2 v.
  void pass_gate(const GatedMaps<T>& maps, const GatedValues<T>& g, const T* v,
                 const HeadValues<T>& to) const {
    const int64_t out = maps.vectors.out;
    apply<T>(maps.vectors, {v, maps.vectors.in}, 3 * N_, {g.vectors, out});
    for (int64_t n = 0; n < N_; ++n) {
      const T *y = g.update + n * 2 * out, *w = g.vectors + n * 3 * out;
      along<T>(out, [&]<bool whole>(int64_t c, int64_t left) {
        Vec<T> slope;
        put<whole>(to.x + n * out + c, silu<T>(get<whole>(y + c, left), slope), left);
        for (int64_t k = 0; k < 3; ++k) {
          put<whole>(to.v + (3 * n + k) * out + c,
                     get<whole>(y + out + c, left) * get<whole>(w + k * out + c, left), left);
        }
      });
    }
  }
  /// By the update into by_wide and by V2 v in its place, from what stands where the values that were handed on stood.
  void pass_gate_backward(const GatedMaps<T>& maps, const GatedValues<T>& g, const HeadValues<T>& by) const {
    const int64_t out = maps.vectors.out;
    for (int64_t n = 0; n < N_; ++n) {
      const T *y = g.update + n * 2 * out, *gx = by.x + n * out, *gv = by.v + n * 3 * out;
      T *w = g.vectors + n * 3 * out, *gy = scratch_.by_wide + n * 2 * out;
      along<T>(out, [&]<bool whole>(int64_t c, int64_t left) {
        Vec<T> slope, by_gate{};
        silu<T>(get<whole>(y + c, left), slope);
        put<whole>(gy + c, get<whole>(gx + c, left) * slope, left);
        for (int64_t k = 0; k < 3; ++k) {
          const Vec<T> G = get<whole>(gv + k * out + c, left);
          by_gate += G * get<whole>(w + k * out + c, left);
          put<whole>(w + k * out + c, G * get<whole>(y + out + c, left), left);
        }
        put<whole>(gy + out + c, by_gate, left);
      });
    }
  }

  const MessageNet<T>& net_;
  const MessageGraph<T>& graph_;
  int64_t F_, N_, keys_at_;  // among filters, those of keys
  Memory<T> memory_;
  T *xs_, *vs_, *gx_, *gv_, *joined_;
  Scratch<T> scratch_;
};

template <class T>
int64_t numbers(const MessageNet<T>& net, int64_t nodes) {
  MessageGraph<T> graph;
  graph.nodes = nodes;
  return Pass<T>(net, graph, nullptr).numbers();
}

template <class T>
void run(const MessageNet<T>& net, const MessageGraph<T>& graph, T* memory) {
  Pass<T>(net, graph, memory).run();
}

template <class T>
constexpr MessageNets<T> table{numbers<T>, run<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const MessageNets<float>& compiled<MessageNets<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const MessageNets<double>& compiled<MessageNets<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels
