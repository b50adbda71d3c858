#include "weyl/ops/steerable/conv.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/steerable/kernel.h"

namespace weyl::steerable {
namespace {

/// The real and imaginary parts of complex filters, each once: those of order -m follow from those of m.
class RealFilters {
 public:
  RealFilters(const RingFilters& filters, int64_t dimension, int64_t size)
      : filters_(filters), dimension_(dimension), size_(size) {}

  /// Component and ring as re_sign real + i im_sign imaginary; -1: zero.
  struct Parts {
    int64_t re = -1, im = -1;
    double re_sign = 1, im_sign = 1;
  };

  Parts parts(int64_t component, int64_t ring) {
    Parts p;
    int64_t source = component;
    if (dimension_ == 2) {
      const int64_t highest = filters_.components / 2;
      if (component < highest) {
        source = 2 * highest - component;
        p.im_sign = -1;
      }
    } else {
      const auto l = static_cast<int64_t>(std::sqrt(static_cast<double>(component) + 0.5));
      const int64_t m = component - l * (l + 1);
      if (m < 0) {
        source = l * (l + 1) - m;
        p.re_sign = m % 2 == 0 ? 1 : -1;
        p.im_sign = -p.re_sign;
      }
    }
    double worst = 0;
    for (int64_t k = 0; k < filters_.pixels; ++k) {
      const auto z = filters_(component, ring, k), w = filters_(source, ring, k);
      largest_ = std::max(largest_, std::abs(z));
      worst = std::max(
          {worst, std::abs(z.real() - p.re_sign * w.real()), std::abs(z.imag() - p.im_sign * w.imag())});
    }
    sound_ = sound_ && worst <= 1e-12 * largest_;
    p.re = number(source, ring, 0);
    p.im = number(source, ring, 1);
    return p;
  }

  bool sound() const { return sound_; }

  /// Sorted into groups; `place` of a filter is where it went.
  void group(Plan& plan, std::vector<int64_t>& place) const {
    place.assign(found_.size(), 0);
    std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> by_kind;  // ring, sign
    for (size_t k = 0; k < found_.size(); ++k) {
      by_kind[{found_[k].ring, found_[k].sign}].push_back(static_cast<int64_t>(k));
    }
    for (const auto& [kind, members] : by_kind) {
      const auto count = static_cast<int64_t>(members.size()), parts = (count + 5) / 6;
      for (int64_t part = 0; part < parts; ++part) {
        const int64_t first = count * part / parts, last = count * (part + 1) / parts;
        add_group(plan, place, {members.begin() + first, members.begin() + last}, kind.second);
      }
    }
  }

 private:
  struct Filter {
    int64_t ring, sign;
    std::vector<double> values;
  };

  int64_t number(int64_t component, int64_t ring, int64_t part) {
    const auto [at, fresh] = numbers_.try_emplace({component, ring, part}, -1);
    if (!fresh) {
      return at->second;
    }
    Filter f{ring, 1, {}};
    double size = 0, even = 0, odd = 0;
    for (int64_t k = 0; k < filters_.pixels; ++k) {
      const auto z = filters_(component, ring, k), w = filters_(component, ring, filters_.pixels - 1 - k);
      const double x = part == 0 ? z.real() : z.imag(), y = part == 0 ? w.real() : w.imag();
      f.values.push_back(x);
      size = std::max(size, std::abs(x));
      even = std::max(even, std::abs(x - y));
      odd = std::max(odd, std::abs(x + y));
    }
    if (size <= 1e-15 * largest_) {
      return -1;
    }
    f.sign = even <= odd ? 1 : -1;
    sound_ = sound_ && std::min(even, odd) <= 1e-12 * largest_;
    found_.push_back(std::move(f));
    at->second = static_cast<int64_t>(found_.size()) - 1;
    return at->second;
  }

  void add_group(Plan& plan, std::vector<int64_t>& place, const std::vector<int64_t>& members,
                 int64_t sign) const {
    kernels::ConvGroup g{plan.filters,
                         static_cast<int64_t>(members.size()),
                         sign,
                         static_cast<int64_t>(plan.taps.size()) / 3,
                         0,
                         static_cast<int64_t>(plan.values.size())};
    for (const int64_t k : members) {
      place[k] = plan.filters++;
    }
    for (int64_t p = 0; 2 * p < filters_.pixels; ++p) {
      const bool centre = 2 * p + 1 == filters_.pixels;
      double most = 0;
      for (const int64_t k : members) {
        most = std::max(most, std::abs(found_[k].values[p]));
      }
      if (most <= 1e-16 * largest_ || (centre && sign < 0)) {
        continue;
      }
      for (const int64_t k : members) {
        plan.values.push_back(found_[k].values[p] * (centre ? 0.5 : 1));  // the centre is met twice
      }
      const int64_t z = p % size_, y = p / size_ % size_, x = p / (size_ * size_);
      for (const int64_t t : {dimension_ == 2 ? int64_t{0} : x, y, z}) {
        plan.taps.push_back(static_cast<int32_t>(t));
      }
      ++g.tap_count;
    }
    plan.groups.push_back(g);
  }

  const RingFilters& filters_;
  int64_t dimension_, size_;
  std::map<std::array<int64_t, 3>, int64_t> numbers_;
  std::vector<Filter> found_;
  double largest_ = 0;
  bool sound_ = true;
};

}  // namespace

std::shared_ptr<const Plan> conv_plan(const SteerableType& in, const SteerableType& out,
                                      const KernelOptions& options, const RingFilters& filters) {
  auto plan = std::make_shared<Plan>();
  plan->size = options.rings.size;
  RealFilters real(filters, in.dimension, plan->size);
  // By (l, l1), in the kernel's order of weights; rows by l1.
  std::vector<std::vector<std::vector<std::vector<Product>>>> found(static_cast<size_t>(out.irreps()));
  std::vector<std::vector<int64_t>> first(static_cast<size_t>(out.irreps()));
  const bool shared = in.dimension == 2 && options.restricted;
  int64_t kernel_weights = 0;
  for (int64_t l = 0; l < out.irreps(); ++l) {
    bool any = false;
    for (int64_t l1 = 0; l1 < in.irreps(); ++l1) {
      found[l].push_back(couplings_of(in, out, options, filters, l, l1));
      const auto j = static_cast<int64_t>(found[l].back().size());
      const int64_t count = out.channels[l] * in.channels[l1] * j;
      first[l].push_back(plan->weights);
      if (count == 0) {
        continue;
      }
      const int64_t begin = shared && any ? kernel_weights - count : kernel_weights;
      for (int64_t k = 0; shared && k < count; ++k) {
        plan->weight_index.push_back(begin + k);
      }
      kernel_weights = begin + count;
      plan->weights += count;
      any = true;
    }
  }
  struct Raw {
    int64_t input;  // component 2 + part, and the filter before sorting
    int64_t filter;
    double coefficient;
  };
  std::vector<std::vector<Raw>> rows;
  std::vector<bool> reached(static_cast<size_t>(out.irreps()));
  for (int64_t l1 = 0; l1 < in.irreps(); ++l1) {
    kernels::ConvIrrep irrep{in.components(l1),
                             in.channels[l1],
                             in.offset(l1),
                             static_cast<int64_t>(rows.size()),
                             0,
                             static_cast<int64_t>(plan->pairs.size()),
                             0};
    for (int64_t l = 0; l < out.irreps(); ++l) {
      const auto& paths = found[l][l1];
      if (paths.empty() || out.channels[l] * in.channels[l1] == 0) {
        continue;
      }
      const auto j = static_cast<int64_t>(paths.size());
      plan->pairs.push_back(
          {irrep.rows, first[l][l1], j, out.components(l), out.channels[l], out.offset(l), !reached[l]});
      reached[l] = true;
      ++irrep.pairs;
      for (int64_t m = 0; m < out.components(l); ++m) {
        for (const auto& path : paths) {
          std::vector<Raw> re, im;
          for (const Product& p : path) {
            if (p.m != m) {
              continue;
            }
            const RealFilters::Parts f = real.parts(p.component, p.ring);
            if (f.re >= 0) {
              re.push_back({2 * p.m1, f.re, p.coefficient * f.re_sign});
              im.push_back({2 * p.m1 + 1, f.re, p.coefficient * f.re_sign});
            }
            if (f.im >= 0) {
              re.push_back({2 * p.m1 + 1, f.im, -p.coefficient * f.im_sign});
              im.push_back({2 * p.m1, f.im, p.coefficient * f.im_sign});
            }
          }
          rows.push_back(std::move(re));
          rows.push_back(std::move(im));
        }
      }
      irrep.rows += out.components(l) * j * 2;
      plan->mixing_work += static_cast<double>(out.components(l) * j * 4 * out.channels[l] * in.channels[l1]);
    }
    plan->irreps.push_back(irrep);
  }
  plan->complete = std::all_of(reached.begin(), reached.end(), [](bool r) { return r; });
  if (!real.sound()) {
    return nullptr;
  }
  std::vector<int64_t> place;
  real.group(*plan, place);
  plan->row_terms.push_back(0);
  for (const auto& row : rows) {
    for (const Raw& t : row) {
      plan->terms.push_back({t.input * plan->filters + place[t.filter], t.coefficient});
    }
    plan->row_terms.push_back(static_cast<int64_t>(plan->terms.size()));
  }
  double of_a_number = 0;
  for (const kernels::ConvGroup& g : plan->groups) {
    of_a_number += static_cast<double>(g.tap_count * g.count);
  }
  plan->filter_work = of_a_number * 2 * static_cast<double>(in.width());
  for (const kernels::ConvIrrep& irrep : plan->irreps) {
    plan->mixing_work += static_cast<double>(
        irrep.channels * (plan->row_terms[irrep.row + irrep.rows] - plan->row_terms[irrep.row]));
  }
  return plan;
}

int64_t Plan::chunks() const {
  int64_t sum = 0;
  for (const kernels::ConvIrrep& irrep : irreps) {
    sum += (irrep.channels + kernels::conv_chunk - 1) / kernels::conv_chunk;
  }
  return sum;
}

namespace {

constexpr double conv_nanoseconds = 0.15;  // of a real multiplication of the plan: estimated, to be measured

/// Inputs x (B, 2 F, pixels...), weights (n, 2) of the plan.
class SteerableConvOp : public Differentiable {
 public:
  SteerableConvOp(std::shared_ptr<const Kernel> kernel, bool same)
      : kernel_(std::move(kernel)), plan_(kernel_->plan()), same_(same) {}

  Tensors reference(const Tensors& in) const override {
    const Tensor dense = kernel_->expand(in[1]);
    const std::vector<int64_t> padding(static_cast<size_t>(in[0].dim() - 2),
                                       same_ ? (plan_->size - 1) / 2 : 0);
    const std::vector<int64_t> one(padding.size(), 1);
    return {in[0].dim() == 4 ? at::conv2d(in[0], dense, {}, one, padding)
                             : at::conv3d(in[0], dense, {}, one, padding)};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor x = in[0].contiguous(), w = unshared(in[1]);
    return with_type(x.scalar_type(), [&](auto zero) -> Tensors {
      using T = decltype(zero);
      const Operands<T> a(x, w, *this);
      count_operations(a.products());
      const Tensor y = plan_->complete ? at::empty(a.shape, x.options()) : at::zeros(a.shape, x.options());
      const auto& kernel = kernels::best<kernels::SteerableConv<T>>();
      const int64_t tiles = kernel.tiles(a.input);
      const int64_t workers =
          workers_worth(tiles, a.nanoseconds_of(*plan_) / static_cast<double>(std::max<int64_t>(tiles, 1)));
      const int64_t size = kernel.scratch(a.input, false);
      const Tensor scratch = at::zeros({workers, size}, x.options());
      share_out(tiles, workers, [&](int64_t worker, int64_t first, int64_t last) {
        kernel.forward(a.input, mutable_numbers<T>(y), mutable_numbers<T>(scratch) + worker * size, first,
                       last);
      });
      return {y};
    });
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensor x = in[0].contiguous(), w = unshared(in[1]), gy = gys[0].contiguous();
    return with_type(x.scalar_type(), [&](auto zero) -> Tensors {
      using T = decltype(zero);
      const Operands<T> a(x, w, *this);
      count_operations((needed[0] + needed[1]) * a.products());
      const int64_t chunks = plan_->chunks(), batch = x.size(0);
      const int64_t pieces = std::max<int64_t>(chunks * batch, 1);
      const int64_t threads =
          workers_worth(pieces, 2 * a.nanoseconds_of(*plan_) / static_cast<double>(pieces));
      // Samples are shared out too where chunks of channels alone would leave workers idle.
      const int64_t splits =
          chunks % threads == 0 || chunks >= 8 * threads ? 1 : std::min(batch, 2 * threads / chunks + 1);
      const Tensor gx = needed[0] ? at::zeros(x.sizes(), x.options()) : Tensor();
      const Tensor gw = needed[1] ? at::zeros({splits, w.size(0), 2}, w.options()) : Tensor();
      const int64_t workers = std::min(threads, std::max<int64_t>(chunks * splits, 1));
      const int64_t size = kernels::best<kernels::SteerableConv<T>>().scratch(a.input, true);
      const Tensor scratch = at::zeros({workers, size}, x.options());
      const auto& kernel = kernels::best<kernels::SteerableConvBackward<T>>();
      share_out(chunks * splits, workers, [&](int64_t worker, int64_t first, int64_t last) {
        for (int64_t k = first; k < last; ++k) {
          const int64_t split = k / chunks, chunk = k % chunks;
          kernel.backward(a.input, numbers<T>(gy), mutable_numbers<T>(gx),
                          gw.defined() ? mutable_numbers<T>(gw) + split * w.numel() : nullptr,
                          mutable_numbers<T>(scratch) + worker * size, chunk, chunk + 1,
                          batch * split / splits, batch * (split + 1) / splits);
        }
      });
      Tensors g{gx, Tensor()};
      if (needed[1]) {
        g[1] = splits == 1 ? gw[0] : gw.sum(0);
        if (!plan_->weight_index.empty()) {
          g[1] = at::zeros(in[1].sizes(), in[1].options()).index_add(0, index(at::kCPU), g[1]);
        }
      }
      return g;
    });
  }

 private:
  Tensor index(at::Device device) const { return constant(plan_->weight_index, device); }
  Tensor unshared(const Tensor& w) const {
    return plan_->weight_index.empty() ? w.contiguous() : w.index_select(0, index(w.device()));
  }

  template <class T>
  struct Operands {
    Operands(const Tensor& x, const Tensor& w, const SteerableConvOp& op)
        : values(op.plan_->values.begin(), op.plan_->values.end()) {
      const Plan& plan = *op.plan_;
      const int64_t dimension = x.dim() - 2;
      shape = {x.size(0), 2 * op.kernel_->out.width()};
      for (int64_t a = 0; a < 3; ++a) {
        const bool real = a >= 3 - dimension;
        input.size[a] = real ? x.size(a - 1 + dimension) : 1;
        input.kernel[a] = real ? plan.size : 1;
        input.before[a] = real && op.same_ ? (plan.size - 1) / 2 : 0;
        input.out[a] = input.size[a] + 2 * input.before[a] - input.kernel[a] + 1;
        if (real) {
          shape.push_back(input.out[a]);
        }
      }
      input.batch = x.size(0);
      input.in_width = op.kernel_->in.width();
      input.out_width = op.kernel_->out.width();
      input.irreps = plan.irreps.data();
      input.irrep_count = static_cast<int64_t>(plan.irreps.size());
      input.pairs = plan.pairs.data();
      input.row_terms = plan.row_terms.data();
      input.terms = plan.terms.data();
      input.groups = plan.groups.data();
      input.group_count = static_cast<int64_t>(plan.groups.size());
      input.filters = plan.filters;
      input.taps = plan.taps.data();
      input.values = values.data();
      input.x = numbers<T>(x);
      input.weights = numbers<T>(w);
    }
    /// Floating-point operations of the dense convolution that this one is equal to, a multiply-add counting two.
    double products() const {
      double of_a_pair = 2 * 4 * static_cast<double>(input.batch);  // of complex numbers: four of real ones
      for (int64_t a = 0; a < 3; ++a) {
        of_a_pair *= static_cast<double>(input.out[a] * input.kernel[a]);
      }
      return of_a_pair * static_cast<double>(input.in_width * input.out_width);
    }
    /// Of a forward pass on one thread, about.
    double nanoseconds_of(const Plan& plan) const {
      double pixels = static_cast<double>(input.batch);
      for (const int64_t size : input.out) {
        pixels *= static_cast<double>(size);
      }
      return conv_nanoseconds * pixels * (plan.filter_work + plan.mixing_work);
    }
    std::vector<T> values;
    std::vector<int64_t> shape;
    kernels::SteerableConvInput<T> input;
  };

  std::shared_ptr<const Kernel> kernel_;
  std::shared_ptr<const Plan> plan_;
  bool same_;
};

}  // namespace

Tensor conv(const Tensor& x, const Tensor& weights, const std::shared_ptr<const Kernel>& kernel, bool same) {
  const char* where = "steerable_conv";
  const int64_t dimension = kernel->in.dimension;
  require(x.defined() && x.dim() == dimension + 2 && x.size(1) == 2 * kernel->in.width(), where,
          ": x must be (B, ", 2 * kernel->in.width(), ", ", dimension, " axes), got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  require(weights.defined() && weights.sizes() == at::IntArrayRef({kernel->weights(), 2}) &&
              weights.scalar_type() == x.scalar_type(),
          where, ": weights must be (", kernel->weights(), ", 2) ", x.scalar_type(), ", got ",
          weights.defined() ? weights.sizes() : at::IntArrayRef{});
  require(kernel->plan() != nullptr, where, ": the kernel has no plan");
  for (int64_t a = 2; a < x.dim(); ++a) {
    require(same || x.size(a) >= kernel->plan()->size, where, ": x must not be smaller than the kernel of ",
            kernel->plan()->size, " pixels, got ", x.sizes());
  }
  return call(std::make_shared<SteerableConvOp>(kernel, same), {x, weights})[0];
}

bool conv_pays(const Tensor& x, const Kernel& kernel, bool same, bool expanded) {
  if (kernel.plan() == nullptr || !kernels_take({x}) || x.dim() != kernel.in.dimension + 2 ||
      x.numel() == 0) {
    return false;
  }
  const Plan& plan = *kernel.plan();
  double pixels = static_cast<double>(x.size(0)), taps = 1;
  for (int64_t a = 2; a < x.dim(); ++a) {
    const int64_t size = same ? x.size(a) : x.size(a) - plan.size + 1;
    if (size <= 0) {
      return false;
    }
    pixels *= static_cast<double>(size);
    taps *= static_cast<double>(plan.size);
  }
  const auto numbers = static_cast<double>(4 * kernel.in.width() * kernel.out.width());
  const double dense = numbers * taps * pixels + (expanded ? 0 : 4 * numbers * taps);
  // Measured: a multiplication of the dense form takes a third of the time of one here, and a number of the
  // result as long as 25. Margins of short rows are filtered with them.
  const int64_t last = same ? x.size(-1) : x.size(-1) - plan.size + 1;
  const double margin = static_cast<double>(last + plan.size - 1) / static_cast<double>(last);
  const double plain =
      3 * (plan.filter_work * margin + plan.mixing_work) + 50.0 * static_cast<double>(kernel.out.width());
  return plain * pixels < dense;
}

}  // namespace weyl::steerable
