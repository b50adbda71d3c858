#include "weyl/kernels/edges/message_net.h"

#include "weyl/kernels/edges/bond_messages.h"
#include "weyl/kernels/edges/message_memory.h"
#include "weyl/kernels/edges/stream_rows.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

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
    clear(graph_.by_direction, 3 * graph_.bonds);
    clear(graph_.by_fade, graph_.bonds);
    clear(graph_.by_basis, net_.kernels * graph_.bonds);
    start();
    const int64_t before = memory_.used;
    for (int64_t l = 0; l < net_.layers; ++l) {
      const LayerValues<T> values(net_, net_.layer[l], N_, memory_);
      send_messages(l, values);
      mix(l, values);
    }
    const int64_t after = memory_.used;
    head();
    const int64_t each = net_.layers > 0 ? (after - before) / net_.layers : 0;  // layers are alike
    for (int64_t l = net_.layers - 1; l >= 0; --l) {
      memory_.used = before + l * each;
      const LayerValues<T> values(net_, net_.layer[l], N_, memory_);
      mix_backward(l, values);
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
        Vec<T> by_fade{};
        along<T>(F_, [&]<bool whole>(int64_t c, int64_t left) {
          const auto at = [&](const T* from) { return get<whole>(from + c, left); };
          const Vec<T> x = at(gi) * at(ej) + at(gj) * at(ei);
          by_fade += x * get<whole>(scratch_.filters + b * F_ + c, left);
          put<whole>(g + c, x * graph_.fade[p], left);
        });
        graph_.by_fade[p] += sum_of<T>(by_fade);
      }
      pull<T>(net_.neighbour_filter, rows(scratch_.by_filters), count, by_basis(first), Start::sum);
    });
  }

  void send_messages(int64_t l, const LayerValues<T>& values) {
    const MessageLayer<T>& layer = net_.layer[l];
    const T* in = x(l);
    if (layer.norm.weight) {
      apply(layer.norm, in, N_, F_, values.moments, values.normed);
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
      if (l > 0) {
        apply<T>(layer.own_vectors, rows(v(l)), 3 * N_, rows(values.products, 3));
      } else {
        clear(values.products, N_ * 9 * F_);
      }
      own_products(N_, F_, values.own, values.products, x(l + 1), v(l + 1));
    }
  }

  void messages_backward(int64_t l, const LayerValues<T>& values) {
    const MessageLayer<T>& layer = net_.layer[l];
    const Scratch<T>& s = scratch_;
    Messages<T> m = messages(values, l);
    copy(gv_, N_ * 3 * F_, s.by_vector_sum);
    copy(gx_, N_ * F_, s.by_sum);
    if (layer.out.weight) {
      own_products_backward(N_, F_, values.own, gx_, gv_, values.products, s.by_wide);
      pull<T>(layer.out, rows(s.by_wide, 3), N_, rows(s.by_sum));
      if (l > 0) {
        pull<T>(layer.own_vectors, rows(values.products, 3), 3 * N_, rows(gv_), Start::sum);
      }
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
      pull(layer.norm, x(l), by_normed, N_, F_, values.moments, gx_);
    }
  }

  /// PaiNN's mixing of the streams, of its own outputs.
  void mix(int64_t l, const LayerValues<T>& values) {
    const MessageLayer<T>& layer = net_.layer[l];
    if (!layer.mixing_vectors.weight) {
      return;
    }
    T *to = x(l + 1), *to_vectors = v(l + 1);
    apply<T>(layer.mixing_vectors, rows(to_vectors), 3 * N_, rows(values.maps, 2));
    const T* in = to;
    if (layer.mixing_norm.weight) {
      copy(to, N_ * F_, values.middle);
      apply(layer.mixing_norm, values.middle, N_, F_, values.mixing_moments, scratch_.sum);
      in = scratch_.sum;
    }
    copy_rows<T>(rows(in), N_, F_, rows(values.joined, 2));
    mixing_lengths(N_, F_, values.maps, values.joined);
    apply<T>(layer.mixing, net_.activation, rows(values.joined, 2), N_, values.of_mixing,
             rows(values.mixed, 3));
    mix_streams(N_, F_, values.maps, values.mixed, to, to_vectors);
  }
  void mix_backward(int64_t l, const LayerValues<T>& values) {
    const MessageLayer<T>& layer = net_.layer[l];
    if (!layer.mixing_vectors.weight) {
      return;
    }
    T *by_maps = scratch_.wide, *by_mixed = scratch_.by_wide, *by_joined = scratch_.by_values;
    mix_streams_backward(N_, F_, values.maps, values.mixed, gx_, gv_, by_maps, by_mixed);
    pull<T>(layer.mixing, net_.activation, rows(by_mixed, 3), N_, values.of_mixing, rows(by_joined, 2));
    mixing_lengths_backward(N_, F_, values.maps, values.joined, by_joined, by_maps);
    if (layer.mixing_norm.weight) {
      copy_rows<T>(rows(by_joined, 2), N_, F_, rows(scratch_.by_normed));
      pull<T>(layer.mixing_norm, values.middle, scratch_.by_normed, N_, F_, values.mixing_moments, gx_);
    } else {
      add_rows<T>(rows(by_joined, 2), N_, F_, rows(gx_));
    }
    pull<T>(layer.mixing_vectors, rows(by_maps, 2), 3 * N_, rows(gv_), Start::sum);
  }

  /// From the last streams to energies, and back to gx_ and gv_.
  void head() {
    const HeadValues<T> h(net_, N_, memory_);
    const bool normed = net_.norm.weight != nullptr;
    const T* in = x(net_.layers);
    if (normed) {
      apply(net_.norm, in, N_, F_, h.moments, h.normed);
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
      const DenseMap<T>& vectors = net_.gated[0].vectors;
      apply<T>(vectors, rows(v(net_.layers)), 3 * N_, {one.vectors, vectors.out});
      open_gate(N_, vectors.out, one.update, one.vectors, h.x, h.v);
      gate(net_.gated[1], two, h.x, h.v);
      copy(two.update, N_, graph_.energies);
      gate_backward(net_.gated[1], two, h.counts, h.x, h.v);
      open_gate_backward(N_, vectors.out, one.update, h.x, h.v, one.vectors, scratch_.by_wide);
      gate_backward(net_.gated[0], one, scratch_.by_wide, by_in, gv_);
      pull<T>(vectors, {one.vectors, vectors.out}, 3 * N_, rows(gv_), Start::sum);
    }
    if (normed) {
      pull<T>(net_.norm, x(net_.layers), by_in, N_, F_, h.moments, gx_);
    }
  }

  /// The update of a gated block, from x and the lengths of V1 v.
  void gate(const GatedMaps<T>& maps, const GatedValues<T>& g, const T* x, const T* v) const {
    const int64_t in = maps.lengths.in;
    apply<T>(maps.lengths, {v, in}, 3 * N_, {g.maps, in});
    copy_rows<T>({x, in}, N_, in, {g.joined, 2 * in});
    gated_lengths(N_, in, net_.least_square, g.maps, g.squares, g.joined);
    apply<T>(maps.update, ActivationLaw::silu, {g.joined, 2 * in}, N_, g.hidden,
             {g.update, maps.update.second.out});
  }
  /// From the derivatives by the update those by x and v, which are overwritten.
  void gate_backward(const GatedMaps<T>& maps, const GatedValues<T>& g, const T* by_update, T* gx,
                     T* gv) const {
    const int64_t in = maps.lengths.in;
    T* by_joined = scratch_.by_values;
    pull<T>(maps.update, ActivationLaw::silu, {by_update, maps.update.second.out}, N_, g.hidden,
            {by_joined, 2 * in});
    copy_rows<T>({by_joined, 2 * in}, N_, in, {gx, in});
    gated_lengths_backward(N_, in, net_.least_square, g.squares, by_joined, g.maps);
    pull<T>(maps.lengths, {g.maps, in}, 3 * N_, {gv, in});
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
