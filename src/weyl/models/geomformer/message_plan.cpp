#include "weyl/models/geomformer/message_plan.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <string>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/edges/message_net.h"
#include "weyl/kernels/edges/radial_functions.h"
#include "weyl/models/features.h"
#include "weyl/models/geomformer/head.h"
#include "weyl/nn/activation_law.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/edges/cutoff.h"
#include "weyl/ops/edges/neighbours.h"

namespace weyl::geomformer {
namespace {

constexpr int64_t few_nodes = 64;  // whose graph is never worth several threads
constexpr double message_nanoseconds =
    5e4;  // of a node: measured, 20 neighbours and three layers of width 64

/// Memory of one thread, which grows and stays.
class MessageWorkspace {
 public:
  void* of_bytes(int64_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      bytes_ = 0;  // should there be none
      memory_.reset(::operator new(static_cast<size_t>(bytes), kLine));
      bytes_ = bytes;
    }
    return memory_.get();
  }
  int64_t bytes() const { return bytes_; }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(void* p) const { ::operator delete(p, kLine); }
  };
  std::unique_ptr<void, Free> memory_;
  int64_t bytes_ = 0;
};

MessageWorkspace& message_workspace() {
  thread_local MessageWorkspace workspace;
  return workspace;
}

/// Hands out arrays of a workspace one after the other; without memory it only counts their bytes.
struct Arrays {
  std::byte* at = nullptr;
  int64_t used = 0;

  template <class Number>
  Number* take(int64_t count) {
    const int64_t begin = used;
    used += (count * static_cast<int64_t>(sizeof(Number)) + 63) / 64 * 64;
    return at != nullptr ? reinterpret_cast<Number*>(at + begin) : nullptr;
  }
};

bool covers(const Options& o, const Interface& interface) {
  const auto& outputs = interface.outputs;
  const bool energy = outputs.size() == 1 && outputs[0].level == Level::graph && outputs[0].extensive &&
                      outputs[0].kind == Kind::scalar && outputs[0].channels == 1;
  return energy && o.interaction == Interaction::messages && o.input == VectorInput::zero &&
         (o.norm == VectorNormLaw::none || !o.parts.equ_norm) && o.feed_forward != FeedForward::gated &&
         !o.pair_embedding && o.towers == Towers::one && o.rounds == 1 &&
         input_columns(interface, "geomformer").vector_count() == 0;
}

/// Weights by their names, as arrays of T that live as long as this.
template <class T>
class Weights {
 public:
  explicit Weights(const std::vector<Parameter>& parameters) {
    for (const Parameter& p : parameters) {
      by_name_.emplace(p.name, p.tensor.detach());
    }
  }
  Tensor find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found != by_name_.end() ? found->second : Tensor();
  }
  const T* numbers(const std::string& name) { return kept(find(name)); }
  kernels::DenseMap<T> dense(const std::string& name, int64_t rows = 1 << 30) {
    Tensor weight = find(name + ".weight");
    if (!weight.defined()) {
      return {};
    }
    weight = weight.narrow(0, 0, std::min(rows, weight.size(0)));
    return {kept(weight), kept(weight.t()), numbers(name + ".bias"), weight.size(1), weight.size(0)};
  }
  kernels::DenseMlp<T> mlp(const std::string& name, int64_t rows = 1 << 30) {
    return {dense(name + ".0"), dense(name + ".2", rows)};
  }
  kernels::RowNorm<T> norm(const std::string& name) {
    return {numbers(name + ".weight"), numbers(name + ".bias")};
  }

 private:
  const T* kept(const Tensor& x) {
    return x.defined()
               ? kept_.emplace_back(x.clone(at::MemoryFormat::Contiguous)).template const_data_ptr<T>()
               : nullptr;
  }

  std::map<std::string, Tensor> by_name_;
  std::vector<Tensor> kept_;
};

/// The bonds of one graph, in its thread's workspace.
template <class T>
struct Bonds {
  int64_t *first, *second;
  bool* alone;
  T *lengths, *direction, *fade, *fade_slope, *basis_fade, *basis_fade_slope, *basis, *basis_slope;
  T *by_direction, *by_fade, *by_basis, *counts;

  Bonds(int64_t nodes, int64_t bonds, int64_t kernels, Arrays& arrays) {
    const auto take = [&](int64_t each, auto&... all) {
      ((all = arrays.take<std::remove_reference_t<decltype(*all)>>(bonds * each)), ...);
    };
    take(1, first, second, alone, lengths, fade, fade_slope, basis_fade, basis_fade_slope, by_fade);
    take(3, direction, by_direction);
    take(kernels, basis, basis_slope, by_basis);
    counts = arrays.take<T>(nodes);
  }
};

/// What a call gives and finds, of all graphs.
struct MessageCall {
  BondGradient& found;
  Tensor positions, cell, types, features, counts;
};

template <class T>
class PlanOf : public MessagePlan {
 public:
  PlanOf(const Options& options, const Interface& interface, const std::vector<Parameter>& parameters)
      : options_(options), cutoff_(*options.cutoff), typed_(interface.types > 0), weights_(parameters) {
    describe_radial();
    describe_net("head." + interface.outputs[0].name + ".");
  }

  bool takes(const Points& points) const override {
    const int64_t threads = at::get_num_threads(), longest = points.graphs.longest();
    return !points.strains.defined() && kernels_take({points.positions}) &&
           !at::autocast::is_autocast_enabled(at::kCPU) &&
           (longest <= few_nodes || longest * threads <= 2 * points.nodes());
  }

  BondGradient operator()(const Points& points, const Tensor& features, const Tensor& counts) const override {
    require(!counts.defined() || (counts.scalar_type() == at::kBool && counts.is_cpu() && counts.dim() == 1 &&
                                  counts.size(0) == points.nodes()),
            "energies of nodes: the nodes that count must be bool (", points.nodes(), ") on the CPU");
    BondGradient found;
    found.edges = neighbours(points.positions, points.graphs, cutoff_.radius, points.cell, points.pbc,
                             has_self_edges(options_));
    found.energies = at::empty({points.nodes()}, points.positions.options());
    found.steps = at::empty({found.edges.bonds(), 3}, at::kDouble);
    found.slopes = at::empty({found.edges.bonds(), 3}, at::kDouble);
    const MessageCall call{found,
                           contiguous_of(points.positions.detach()),
                           contiguous_of(points.cell),
                           typed_ ? contiguous_of(points.types) : Tensor(),
                           contiguous_of(features),
                           contiguous_of(counts)};
    const int64_t graphs = points.count();
    const double each = message_nanoseconds * static_cast<double>(points.nodes()) /
                        static_cast<double>(std::max<int64_t>(graphs, 1));
    share_out(graphs, workers_worth(graphs, each), [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        if (points.graphs.size(g) > 0) {
          of_graph(call, points.graphs.offsets[static_cast<size_t>(g)], points.graphs.size(g), g);
        }
      }
    });
    return found;
  }

 private:
  void describe_radial() {
    using kernels::RadialLaw;
    radial_.functions = options_.kernels;
    if (options_.basis == Basis::exp_normal) {
      radial_.law = RadialLaw::exp_normal;
      radial_.first = weights_.numbers("geometry.radial.means");
      radial_.second = weights_.numbers("geometry.radial.betas");
      radial_.rate = static_cast<T>(5 / (cutoff_.radius - cutoff_.lower));
      radial_.start = static_cast<T>(cutoff_.lower);
    } else if (options_.basis == Basis::bessel) {
      radial_.law = RadialLaw::bessel;
      radial_.first = weights_.numbers("geometry.radial.freqs");
    } else {
      radial_.law = RadialLaw::gaussian;
      radial_.first = weights_.numbers("geometry.radial.offset");
      radial_.rate = *weights_.numbers("geometry.radial.coeff");
    }
  }

  void describe_net(const std::string& head) {
    for (int64_t l = 0; l < options_.blocks; ++l) {
      const std::string at = text("layers.", l, "."), messages = at + "messages.";
      kernels::MessageLayer<T>& layer = layers_.emplace_back();
      layer.norm = weights_.norm(at + "inv_norm");
      layer.mixing_norm = weights_.norm(at + "inv_norm_2");
      layer.query = weights_.dense(messages + "q_proj");
      layer.key = weights_.dense(messages + "k_proj");
      layer.key_filter = weights_.dense(messages + "dk_proj");
      layer.value_filter = weights_.dense(messages + "dv_proj");
      layer.values = messages_of(options_).deep_values
                         ? weights_.mlp(messages + "values")
                         : kernels::DenseMlp<T>{{}, weights_.dense(messages + "v_proj")};
      layer.out = weights_.dense(messages + "o_proj");
      layer.own_vectors = weights_.dense(messages + "vec_proj");
      layer.mixing_vectors = weights_.dense(at + "mixing.vectors");
      layer.mixing = weights_.mlp(at + "mixing.mlp");
    }
    net_.width = options_.width;
    net_.heads = has_heads(options_) ? options_.heads : 1;
    net_.kernels = options_.kernels;
    net_.layers = options_.blocks;
    net_.layer = layers_.data();
    net_.embedding = weights_.numbers("start.embedding.weight");
    net_.neighbour_embedding = weights_.numbers("start.neighbours.embedding.weight");
    net_.neighbour_filter = weights_.dense("start.neighbours.distance_proj");
    net_.combine = weights_.dense("start.neighbours.combine");
    net_.filter_activation = messages_of(options_).filter_activation;
    net_.vector_cutoff = messages_of(options_).vector_cutoff;
    net_.norm = weights_.norm("norm");
    if (options_.head == Head::gated) {
      net_.gated[0] = {weights_.dense(head + "0.vec1_proj"), weights_.dense(head + "0.vec2_proj"),
                       weights_.mlp(head + "0.update_net")};
      net_.gated[1] = {weights_.dense(head + "1.vec1_proj"), {}, weights_.mlp(head + "1.update_net", 1)};
    } else {
      net_.head = weights_.mlp(head + "mlp");
    }
    net_.least_square = static_cast<T>(least_square(c10::CppTypeToScalarType<T>::value));
    net_.activation = law_of(options_.activation);
  }

  /// Energies of graph g, whose nodes begin at `begin`, and the slopes of its bonds.
  void of_graph(const MessageCall& call, int64_t begin, int64_t nodes, int64_t g) const {
    const Edges& edges = call.found.edges;
    const auto* edge = edges.edge_of_bond.const_data_ptr<int64_t>();
    const auto bond_at = [&](int64_t graph) {  // the first of it
      return std::lower_bound(edge, edge + edges.bonds(),
                              edges.of_graph.offsets[static_cast<size_t>(graph)]) -
             edge;
    };
    const int64_t first = bond_at(g), bonds = bond_at(g + 1) - first;
    const auto& net = kernels::best<kernels::MessageNets<T>>();
    Arrays count;
    Bonds<T>(nodes, bonds, options_.kernels, count);
    count.take<T>(net.numbers(net_, nodes));
    Arrays arrays{static_cast<std::byte*>(message_workspace().of_bytes(count.used)), 0};
    Bonds<T> b(nodes, bonds, options_.kernels, arrays);
    measure(call, begin, g, first, bonds, b);
    const auto from = [&](const Tensor& rows, auto number, int64_t each) {
      using Number = decltype(number);
      return rows.defined() ? rows.const_data_ptr<Number>() + begin * each : nullptr;
    };
    kernels::MessageGraph<T> graph;
    graph.nodes = nodes;
    graph.bonds = bonds;
    graph.type = from(call.types, int64_t{}, 1);
    graph.features = from(call.features, T{}, options_.width);
    if (const bool* counts = from(call.counts, bool{}, 1)) {
      std::copy(counts, counts + nodes, b.counts);
      graph.counts = b.counts;
    }
    graph.first = b.first;
    graph.second = b.second;
    graph.alone = b.alone;
    graph.direction = b.direction;
    graph.fade = b.fade;
    graph.basis = b.basis;
    graph.energies = call.found.energies.template mutable_data_ptr<T>() + begin;
    graph.by_direction = b.by_direction;
    graph.by_fade = b.by_fade;
    graph.by_basis = b.by_basis;
    net.run(net_, graph, arrays.take<T>(net.numbers(net_, nodes)));
    add_up(call, first, bonds, b);
  }

  /// Steps of the bonds, and what the net is told of them.
  void measure(const MessageCall& call, int64_t begin, int64_t g, int64_t first, int64_t bonds,
               Bonds<T>& b) const {
    const Edges& edges = call.found.edges;
    const T* x = call.positions.template const_data_ptr<T>();
    const T* cell = edges.shifts.defined() ? call.cell.template const_data_ptr<T>() + 9 * g : nullptr;
    const auto* shifts = edges.shifts.defined() ? edges.shifts.const_data_ptr<int64_t>() : nullptr;
    const auto *edge = edges.edge_of_bond.const_data_ptr<int64_t>() + first,
               *centre = edges.centre.const_data_ptr<int64_t>(),
               *neighbour = edges.neighbour.const_data_ptr<int64_t>();
    double* step = call.found.steps.mutable_data_ptr<double>() + 3 * first;
    for (int64_t k = 0; k < bonds; ++k, step += 3) {
      const int64_t e = edge[k], i = centre[e], j = neighbour[e];
      bool moved = false;
      for (int64_t a = 0; a < 3; ++a) {
        step[a] = static_cast<double>(x[3 * j + a]) - static_cast<double>(x[3 * i + a]);
        for (int64_t s = 0; shifts != nullptr && s < 3; ++s) {
          step[a] += static_cast<double>(shifts[3 * e + s]) * static_cast<double>(cell[3 * s + a]);
          moved = moved || shifts[3 * e + s] != 0;
        }
      }
      b.first[k] = i - begin;
      b.second[k] = j - begin;
      b.alone[k] = i == j && !moved;
      const double length = std::sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
      b.lengths[k] = static_cast<T>(length);
      for (int64_t a = 0; a < 3; ++a) {
        b.direction[3 * k + a] = static_cast<T>(length > 0 ? step[a] / length : step[a]);
      }
      const CutoffWeight fade = cutoff_weight(length, cutoff_.name, cutoff_.radius, cutoff_.lower),
                         own = cutoff_weight(length, CutoffLaw::cosine, cutoff_.radius);
      b.fade[k] = static_cast<T>(fade.value);
      b.fade_slope[k] = static_cast<T>(fade.slope);
      b.basis_fade[k] = static_cast<T>(own.value);
      b.basis_fade_slope[k] = static_cast<T>(own.slope);
    }
    kernels::RadialInput<T> radial = radial_;
    radial.count = bonds;
    radial.lengths = b.lengths;
    radial.fade = b.basis_fade;
    radial.fade_slope = b.basis_fade_slope;
    kernels::best<kernels::RadialFunctions<T>>().run(radial, b.basis, b.basis_slope);
  }

  /// From the derivatives by directions, cut-offs and functions of lengths those by steps.
  void add_up(const MessageCall& call, int64_t first, int64_t bonds, const Bonds<T>& b) const {
    const double* step = call.found.steps.const_data_ptr<double>() + 3 * first;
    double* slope = call.found.slopes.mutable_data_ptr<double>() + 3 * first;
    for (int64_t k = 0; k < bonds; ++k, step += 3, slope += 3) {
      T by_length = b.by_fade[k] * b.fade_slope[k];
      for (int64_t r = k * options_.kernels; r < (k + 1) * options_.kernels; ++r) {
        by_length += b.by_basis[r] * b.basis_slope[r];
      }
      const T* by = b.by_direction + 3 * k;
      const double length = std::sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
      if (length == 0) {  // where the direction jumps, as autograd has it
        std::copy_n(by, 3, slope);
        continue;
      }
      double along = 0;
      for (int64_t a = 0; a < 3; ++a) {
        along += static_cast<double>(by[a]) * step[a] / length;
      }
      for (int64_t a = 0; a < 3; ++a) {
        const double unit = step[a] / length;
        slope[a] =
            static_cast<double>(by_length) * unit + (static_cast<double>(by[a]) - along * unit) / length;
      }
    }
  }

  Options options_;
  CutoffOptions cutoff_;
  bool typed_;
  Weights<T> weights_;
  kernels::RadialInput<T> radial_;
  std::vector<kernels::MessageLayer<T>> layers_;
  kernels::MessageNet<T> net_;
};

}  // namespace

std::shared_ptr<const MessagePlan> message_plan(const Options& options, const Interface& interface,
                                                const std::vector<Parameter>& parameters) {
  const Tensor& any = parameters.front().tensor;
  if (!covers(options, interface) || !any.is_cpu()) {
    return nullptr;
  }
  if (any.scalar_type() == at::kDouble) {
    return std::make_shared<PlanOf<double>>(options, interface, parameters);
  }
  return any.scalar_type() == at::kFloat ? std::make_shared<PlanOf<float>>(options, interface, parameters)
                                         : nullptr;
}

int64_t message_workspace_bytes() {
  return message_workspace().bytes();
}

}  // namespace weyl::geomformer
