#include "weyl/models/steerable/layers.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/max_pool3d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/upsample_trilinear3d.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>

#include "weyl/algebra/irreps/wigner.h"
#include "weyl/core/check.h"
#include "weyl/nn/shared_batch.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/steerable/conv.h"
#include "weyl/ops/steerable/irrep_norms.h"

namespace weyl::steerable {

Linear::Linear(const SteerableType& in, const SteerableType& out) : in_(in), out_(out) {
  require(in.dimension == out.dimension && in.irreps() == out.irreps() && in.irreps() > 0,
          "SteerableLinear: types must have the same dimension and as many irreps, got ", in.irreps(),
          " in (dimension ", in.dimension, ") and ", out.irreps(), " out (dimension ", out.dimension, ")");
  std::vector<Tensor> init;
  int64_t weights = 0;
  for (int64_t l = 0; l < in.irreps(); ++l) {
    require(in.channels[l] > 0 && out.channels[l] > 0, "SteerableLinear: irrep ", l,
            " must have channels, got ", in.channels[l], " in and ", out.channels[l], " out");
    const bool joins = in.dimension == 2 && l > 0 && in.channels[l] == in.channels[l - 1] &&
                       out.channels[l] == out.channels[l - 1];
    if (joins) {
      ++parts_.back().irreps;
    } else {
      parts_.push_back({l, 1, weights});
    }
    init.push_back(initial_normals({out.channels[l] * in.channels[l], 2}) /
                   std::sqrt(2.0 * static_cast<double>(in.channels[l])));
    weights += init.back().size(0);
  }
  weight_ = complex_parameter("weight", at::cat(init), true);
  matrices_ = std::vector<Derived>(parts_.size());
}

void Linear::mode_changed() {
  for (Derived& d : matrices_) {
    d.drop();
  }
}

Tensor Linear::matrices(const Part& part) const {
  const int64_t o = out_.channels[part.first], c = in_.channels[part.first];
  const Tensor w = weight_.narrow(0, part.weight, part.irreps * o * c).view({part.irreps, o, c, 2});
  const Tensor re = w.select(3, 0), im = w.select(3, 1);
  return at::cat({at::cat({re, -im}, 2), at::cat({im, re}, 2)}, 1);
}

Tensor Linear::operator()(const Tensor& x) const {
  require(x.defined() && x.dim() >= 2 && x.size(1) == 2 * in_.width(), "SteerableLinear: x must be (B, ",
          2 * in_.width(), ", ...), got ", x.defined() ? x.sizes() : at::IntArrayRef{});
  std::vector<int64_t> shape = x.sizes().vec();
  int64_t pixels = 1;
  for (size_t a = 2; a < shape.size(); ++a) {
    pixels *= shape[a];
  }
  const int64_t batch = x.size(0);
  const Tensor features = x.reshape({batch, 2, in_.width(), pixels});
  std::vector<Tensor> results;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const int64_t c = in_.channels[part.first], o = out_.channels[part.first];
    const int64_t n = part.irreps * in_.components(part.first);  // vectors of channels at a pixel
    const Tensor w =
        matrices_[i].get(training(), weight_, [&] { return matrices(part); }).to(x.scalar_type());
    const std::vector<int64_t> split{part.irreps, n / part.irreps, c};
    const Tensor vectors = features.narrow(2, in_.offset(part.first), n * c)
                               .unflatten(2, split)  // (B, 2, irreps, components, C, P)
                               .permute({2, 1, 4, 0, 3, 5})
                               .reshape({part.irreps, 2 * c, batch * split[1] * pixels});
    results.push_back(at::bmm(w, vectors)
                          .view({part.irreps, 2, o, batch, split[1], pixels})
                          .permute({3, 1, 0, 4, 2, 5})
                          .reshape({batch, 2, n * o, pixels}));
  }
  shape[1] = 2 * out_.width();
  return (results.size() == 1 ? results.front() : at::cat(results, 2)).reshape(shape);
}

Work Linear::work() const {
  int64_t complex_products = 0;
  for (int64_t l = 0; l < in_.irreps(); ++l) {
    complex_products += in_.width(l) * out_.channels[l];
  }
  return Work::product(4 * static_cast<double>(complex_products));
}

Conv::Conv(const SteerableType& in, const SteerableType& out, const ConvOptions& options)
    : options_(options), kernel_(std::make_shared<Kernel>(in, out, options.kernel)) {
  require(!options.same || options.kernel.rings.size % 2 == 1,
          "SteerableConv: a convolution that keeps the size needs an odd kernel, got ",
          options.kernel.rings.size);
  Tensor init = initial_normals({kernel_->weights(), 2});
  if (!init.is_meta()) {
    init = init * kernel_->standard_deviations().unsqueeze(1) * std::sqrt(0.5);
  }
  weight_ = complex_parameter("weight", init, true);
}

namespace {

/// The largest number of each window of x (B, 1, pixels...), beyond whose borders there is nothing.
Tensor largest_in_windows(const Tensor& x, int64_t size, int64_t stride, int64_t padding,
                          int64_t dilation = 1) {
  const std::vector<int64_t> sizes(static_cast<size_t>(x.dim() - 2), size), strides(sizes.size(), stride),
      paddings(sizes.size(), padding), dilations(sizes.size(), dilation);
  return x.dim() == 4 ? at::max_pool2d(x, sizes, strides, paddings, dilations)
                      : at::max_pool3d(x, sizes, strides, paddings, dilations);
}

}  // namespace

Tensor Conv::reached(const Tensor& seen) const {
  const int64_t size = options_.kernel.rings.size;
  return largest_in_windows(seen, size, options_.stride,
                            options_.same ? options_.dilation * (size - 1) / 2 : 0, options_.dilation);
}

Tensor Conv::operator()(const Tensor& x) const {
  const int64_t dimension = in().dimension;
  require(x.defined() && x.dim() == dimension + 2 && x.size(1) == 2 * in().width(),
          "SteerableConv: x must be (B, ", 2 * in().width(), ", ", dimension, " axes), got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  const bool constant = !follows_weights(training(), weight_);
  const bool dense = options_.stride != 1 || options_.dilation != 1 || UseReferences::active() ||
                     !conv_pays(x, *kernel_, options_.same, constant);
  if (!dense) {
    const Tensor weight = constant ? weight_.detach() : weight_;
    return conv(x, weight.to(x.scalar_type()), kernel_, options_.same);
  }
  const Tensor kernel =
      expanded_.get(training(), weight_, [&] { return kernel_->expand(weight_); }).to(x.scalar_type());
  const std::vector<int64_t> stride(static_cast<size_t>(dimension), options_.stride),
      dilation(static_cast<size_t>(dimension), options_.dilation),
      padding(static_cast<size_t>(dimension),
              options_.same ? options_.dilation * (options_.kernel.rings.size - 1) / 2 : 0);
  return dimension == 2 ? at::conv2d(x, kernel, {}, stride, padding, dilation)
                        : at::conv3d(x, kernel, {}, stride, padding, dilation);
}

Work Conv::work(bool input_learns) const {
  const double taps = std::pow(static_cast<double>(options_.kernel.rings.size), in().dimension);
  const auto numbers = static_cast<double>(in().width() * out().width());
  return Work::product(4 * numbers * taps, input_learns ? 2 : 1);  // complex numbers
}

namespace {

constexpr double floor_ = 1e-5;  // below it lengths count as this: no division by zero, finite gradients
constexpr double momentum = 0.1;

/// Lengths as if each vector had one component more, of 1e-5.
Tensor lengths(const Tensor& squares) {
  return (squares + floor_ * floor_).sqrt();
}

}  // namespace

NormActivation::NormActivation(const SteerableType& type, Law law, double init) : type_(type), law_(law) {
  require(init <= 0, "NormActivation: biases must be initialised at zero or below, got ", init);
  bias_ = parameter("bias", {type.multiplicity()}, Init::constant(init));
}

Tensor NormActivation::operator()(const Tensor& x) const {
  const Tensor n = lengths(irrep_squares(x, type_)), bias = along_channels(bias_, n), inner = n + bias;
  return scale_irreps(x, (law_ == Law::relu ? at::relu(inner) : at::gelu(inner) - at::gelu(bias)) / n, type_);
}

GatedActivation::GatedActivation(const SteerableType& out) : in_(out), out_(out) {
  in_.channels.front() += (out.multiplicity() + 1) / 2;
}

Tensor GatedActivation::operator()(const Tensor& x) const {
  require(x.defined() && x.dim() >= 2 && x.size(1) == 2 * in_.width(), "GatedActivation: x must be (B, ",
          2 * in_.width(), ", ...), got ", x.defined() ? x.sizes() : at::IntArrayRef{});
  const int64_t trivial = out_.channels.front(), gates = in_.channels.front() - trivial;
  const Tensor parts = x.unflatten(1, {2, in_.width()});
  const Tensor features =
      at::cat({parts.narrow(2, 0, trivial), parts.narrow(2, trivial + gates, out_.width() - trivial)}, 2);
  const Tensor gate =
      at::sigmoid(parts.narrow(2, trivial, gates)).flatten(1, 2).narrow(1, 0, out_.multiplicity());
  return scale_irreps(features.flatten(1, 2), gate, out_);
}

Norm::Norm(const SteerableType& type, Law law) : type_(type), law_(law) {
  const bool alike = std::all_of(type.channels.begin(), type.channels.end(),
                                 [&](int64_t c) { return c == type.channels.front(); });
  require(law != Law::joint || alike, "SteerableNorm: a joint norm needs the same channels for all irreps");
  if (law == Law::layer) {
    weight_ = parameter("weight", {type.multiplicity()}, Init::ones());
  }
}

Tensor Norm::operator()(const Tensor& x) const {
  Tensor squares = irrep_squares(x, type_);
  if (law_ == Law::layer) {
    return scale_irreps(x, along_channels(weight_, squares) / lengths(squares.mean(1, /*keepdim=*/true)),
                        type_);
  }
  if (law_ == Law::joint) {
    const Tensor of_irreps = squares.unflatten(1, {type_.irreps(), type_.channels.front()});
    squares = of_irreps.sum(1, /*keepdim=*/true).expand_as(of_irreps).flatten(1, 2);
  }
  return scale_irreps(x, 1 / lengths(squares), type_);
}

BatchNorm::BatchNorm(const SteerableType& type) : type_(type) {
  const int64_t multiplicity = type.multiplicity();
  weight_ = parameter("weight", {multiplicity}, Init::ones());
  bias_ = complex_parameter("bias", at::zeros({type.channels.front(), 2}, at::kDouble));
  mean_square_ = parameter("mean_square", at::ones({multiplicity}, at::kDouble), false, /*trainable=*/false);
  for (int64_t l = 0; l < type.irreps(); ++l) {
    components_.insert(components_.end(), static_cast<size_t>(type.channels[l]),
                       static_cast<double>(type.components(l)));
  }
  for (int64_t part = 0; part < 2; ++part) {
    for (int64_t l = 0, first = 0; l < type.irreps(); first += type.channels[l++]) {
      for (int64_t k = 0; k < type.width(l); ++k) {
        copies_.push_back(first + k % type.channels[l]);
      }
    }
  }
}

Tensor BatchNorm::operator()(const Tensor& features) const {
  const Tensor x = widened(features);
  Tensor mean = mean_square_.to(x.scalar_type());
  Tensor squares;  // their mean over the pixels of the batch; of none undefined
  if (training() && SharedBatch::active()) {
    const Tensor all = irrep_squares(x, type_).transpose(0, 1).flatten(1);
    const Tensor of_pixels = all.sum(1, false, at::kDouble);
    const auto pixels = at::full({1}, static_cast<double>(all.size(1)), of_pixels.options());
    const Tensor sums = over_the_batch(at::cat({of_pixels, pixels}));
    if (const double n = sums.detach()[-1].item<double>(); n > 0) {
      squares = (sums.slice(0, 0, -1) / n).to(x.scalar_type());
    }
  } else if (training() && x.numel() > 0) {
    squares = irrep_squares(x, type_).transpose(0, 1).flatten(1).mean(1);
  }
  if (squares.defined()) {
    mean = squares / constant(components_, squares.scalar_type(), squares.device());
    const at::NoGradGuard no_grad;
    mean_square_.detach().mul_(1 - momentum).add_(mean.detach(), momentum);
  }
  const Tensor factors = weight_.to(x.scalar_type()) / lengths(mean);
  // A factor for each number of a pixel: one pass over the features, which irrep by irrep would be taken apart for it.
  const Tensor scaled = x * along_channels(factors.index_select(0, constant(copies_, factors.device())), x);
  // The trivial irrep's channels stand first.
  const Tensor bias = at::constant_pad_nd(bias_.to(x.scalar_type()).transpose(0, 1),
                                          {0, type_.width() - type_.channels.front()});
  return scaled + along_channels(bias.flatten(), scaled);
}

namespace {

/// (sum of 2l+1, (2 l1 + 1)(2 l2 + 1)): a row for each degree and component.
Tensor coupling_of(int64_t l1, int64_t l2, const std::vector<int64_t>& degrees) {
  std::vector<Tensor> rows;
  for (const int64_t l : degrees) {
    const ClebschGordan c(l1, l2, l);
    const Tensor block = at::zeros({2 * l + 1, (2 * l1 + 1) * (2 * l2 + 1)}, at::kDouble);
    std::copy(c.values().begin(), c.values().end(), block.mutable_data_ptr<double>());
    rows.push_back(block);
  }
  return at::cat(rows);
}

}  // namespace

CgActivation::CgActivation(const SteerableType& type) : type_(type) {
  const int64_t n = type.irreps();
  h_ = *std::min_element(type.channels.begin(), type.channels.end());
  if (type.dimension == 2) {
    require(std::all_of(type.channels.begin(), type.channels.end(), [&](int64_t c) { return c == h_; }),
            "CgActivation: orders must have the same channels");
    std::vector<Tensor> init;
    for (int64_t l = 0; l < n; ++l) {
      init.push_back(initial_normals({l + 1, h_, 2}) / std::sqrt(2.0 * static_cast<double>(l + 1)));
    }
    weight_ = complex_parameter("weight", at::cat(init), true);
    return;
  }
  std::vector<int64_t> reached(static_cast<size_t>(n));
  for (int64_t l1 = 0; l1 < n; ++l1) {
    for (int64_t l2 = l1; l2 < n; ++l2) {
      Pair pair{l1, l2, {}, {}};
      for (int64_t l = l2 - l1; l <= std::min(l1 + l2, n - 1); ++l) {
        if (l1 != l2 || l % 2 == 0) {
          pair.degrees.push_back(l);
          ++reached[l];
        }
      }
      if (!pair.degrees.empty()) {
        const Tensor coupling = coupling_of(l1, l2, pair.degrees);
        pair.numbers = coupling.numel();
        pair.coupling = std::make_shared<const TableCopies>(coupling);
        pairs_.push_back(std::move(pair));
      }
    }
  }
  inner_ = {3, std::vector<int64_t>(static_cast<size_t>(n), h_)};
  SteerableType coupled{3, {}};
  for (const int64_t count : reached) {
    coupled.channels.push_back(count * h_);
  }
  in_ = child("in", std::make_shared<Linear>(type, inner_));
  out_ = child("out", std::make_shared<Linear>(coupled, type));
}

Tensor CgActivation::operator()(const Tensor& x) const {
  require(x.defined() && x.dim() == type_.dimension + 2 && x.size(1) == 2 * type_.width(),
          "CgActivation: x must be (B, ", 2 * type_.width(), ", ", type_.dimension, " axes), got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  return type_.dimension == 2 ? in_the_plane(x) : in_space(x);
}

Tensor CgActivation::in_the_plane(const Tensor& x) const {
  const Tensor parts = x.unflatten(1, {2, type_.irreps(), h_}).flatten(4);  // (B, 2, K, C, P)
  const Tensor re = parts.select(1, 0), im = parts.select(1, 1);
  const Tensor w = weight_.to(x.scalar_type()).unsqueeze(3);  // (pairs, C, 2, 1)
  std::vector<Tensor> real, imaginary;
  for (int64_t l = 0, first = 0; l < type_.irreps(); first += ++l) {
    // x_m x_{l-m} once, with the weights of m and of l - m.
    const int64_t pairs = (l + 1) / 2, products = l / 2 + 1;
    const Tensor of_l = w.narrow(0, first, l + 1);
    Tensor folded = of_l.narrow(0, 0, pairs) + of_l.flip(0).narrow(0, 0, pairs);
    if (l % 2 == 0) {
      folded = at::cat({folded, of_l.narrow(0, pairs, 1)});
    }
    const auto low = [&](const Tensor& t) { return t.narrow(1, 0, products); };
    const auto high = [&](const Tensor& t) { return t.narrow(1, l + 1 - products, products).flip(1); };
    const Tensor a = low(re), b = low(im), c = high(re), d = high(im);
    const Tensor p = a * c - b * d, q = a * d + b * c;
    const Tensor u = folded.select(2, 0), v = folded.select(2, 1);
    real.push_back((u * p - v * q).sum(1));
    imaginary.push_back((u * q + v * p).sum(1));
  }
  return at::stack({at::stack(real, 1), at::stack(imaginary, 1)}, 1).reshape(x.sizes());
}

Tensor CgActivation::in_space(const Tensor& x) const {
  const at::ScalarType wide = at_least_float32(x.scalar_type());
  const Tensor y = (*in_)(x).to(wide).unflatten(1, {2, inner_.width()}).flatten(3);  // (B, 2, F, P)
  const auto degree = [&](int64_t l) {                                               // (B, 2, 2l+1, h P)
    return y.narrow(2, inner_.offset(l), inner_.width(l)).unflatten(2, {2 * l + 1, h_}).flatten(3);
  };
  std::vector<std::vector<Tensor>> of(static_cast<size_t>(type_.irreps()));
  for (const Pair& pair : pairs_) {
    const Tensor f = degree(pair.l1).unsqueeze(3), g = degree(pair.l2).unsqueeze(2);
    const Tensor a = f.select(1, 0), b = f.select(1, 1), c = g.select(1, 0), d = g.select(1, 1);
    const Tensor products = at::stack({a * c - b * d, a * d + b * c}, 1).flatten(2, 3);
    const FullPrecision no_autocast;
    const Tensor coupled = at::matmul(pair.coupling->on(products.device(), products.scalar_type()), products);
    int64_t row = 0;
    for (const int64_t l : pair.degrees) {
      of[l].push_back(coupled.narrow(2, row, 2 * l + 1).unflatten(3, {h_, -1}));
      row += 2 * l + 1;
    }
  }
  std::vector<Tensor> degrees;
  for (const auto& terms : of) {
    degrees.push_back(at::cat(terms, 3).flatten(2, 3));  // (B, 2, (2l+1) pairs h, P)
  }
  const Tensor coupled = at::cat(degrees, 2);
  std::vector<int64_t> shape = x.sizes().vec();
  shape[1] = 2 * coupled.size(2);
  return (*out_)(coupled.reshape(shape));
}

Work CgActivation::work() const {
  if (type_.dimension == 2) {
    return {};
  }
  double coupled = 0;
  for (const Pair& pair : pairs_) {
    coupled += static_cast<double>(pair.numbers * 2 * h_);
  }
  return in_->work() + Work::product(coupled, 1) + out_->work();  // couplings are constants
}

namespace {

/// Pixels on each side that a Gaussian for this spacing reaches.
int64_t gaussian_reach(int64_t spacing) {
  return static_cast<int64_t>(std::ceil(3 * 0.5 * static_cast<double>(spacing)));
}

/// (n, n): row i the weights of a Gaussian around i, half of `spacing` wide, which add up to 1.
Tensor gaussian_rows(int64_t n, int64_t spacing, const at::TensorOptions& options) {
  const double sigma = 0.5 * static_cast<double>(spacing);
  const Tensor i = at::arange(n, at::kDouble), apart = i.unsqueeze(1) - i;
  const Tensor weights =
      (-0.5 * (apart / sigma).square()).exp().masked_fill(apart.abs() > gaussian_reach(spacing), 0);
  return (weights / weights.sum(1, true)).to(options);
}

/// x with the rows m (n_out, n) applied along each axis of pixels, those of `of(n)` for an axis of n.
template <class F>
Tensor along_each_axis(Tensor x, const F& of) {
  for (int64_t axis = 2; axis < x.dim(); ++axis) {
    x = at::matmul(x.movedim(axis, -1), of(x.size(axis)).t()).movedim(-1, axis);
  }
  return x.contiguous();
}

}  // namespace

Tensor smoothed(const Tensor& x, int64_t spacing) {
  require(x.dim() == 4 || x.dim() == 5, "smoothed: x must be (B, C, 2 or 3 axes), got ", x.sizes());
  if (spacing == 1) {
    return x;
  }
  return along_each_axis(x, [&](int64_t n) { return gaussian_rows(n, spacing, x.options()); });
}

Tensor average_pool(const Tensor& x, int64_t size, bool low_pass) {
  require(x.dim() == 4 || x.dim() == 5, "average_pool: x must be (B, C, 2 or 3 axes), got ", x.sizes());
  const at::IntArrayRef pixels = x.sizes().slice(2);
  require(*std::min_element(pixels.begin(), pixels.end()) >= size, "average_pool: an axis must have ", size,
          " pixels at least, got ", pixels);
  if (size == 1) {
    return x;
  }
  if (low_pass) {  // both at once: few rows are left
    return along_each_axis(x, [&](int64_t n) {
      return gaussian_rows(n, size, x.options())
          .narrow(0, 0, n / size * size)
          .unflatten(0, {n / size, size})
          .mean(1);
    });
  }
  return x.dim() == 4 ? at::avg_pool2d(x, {size, size}) : at::avg_pool3d(x, {size, size, size});
}

Tensor reached_by_smoothing(const Tensor& seen, int64_t spacing) {
  const int64_t reach = spacing == 1 ? 0 : gaussian_reach(spacing);
  return largest_in_windows(seen, 2 * reach + 1, 1, reach);
}

Tensor reached_by_pool(const Tensor& seen, int64_t size, bool low_pass) {
  return largest_in_windows(low_pass ? reached_by_smoothing(seen, size) : seen, size, size, 0);
}

Tensor upsample(const Tensor& x, at::IntArrayRef sizes) {
  require(x.dim() == 4 || x.dim() == 5, "upsample: x must be (B, C, 2 or 3 axes), got ", x.sizes());
  if (x.sizes().slice(2) == sizes) {
    return x;
  }
  return x.dim() == 4 ? at::upsample_bilinear2d(x, sizes, /*align_corners=*/false)
                      : at::upsample_trilinear3d(x, sizes, /*align_corners=*/false);
}

}  // namespace weyl::steerable
