#include "weyl/ops/frames/group_fourier.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/split_with_sizes.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/frames/fourier_tables.h"

namespace weyl {
namespace {

constexpr double group_fourier_nanoseconds = 0.3;  // of a number: estimated, to be measured

/// x (N, P G C) -> planes, or planes -> x: each is the derivative of the other.
class GroupFourier : public Differentiable {
 public:
  GroupFourier(std::shared_ptr<const FourierTables> tables, int64_t parts, bool inverse)
      : tables_(std::move(tables)), parts_(parts), inverse_(inverse) {}

  size_t results() const override { return inverse_ ? 1 : irreps().size(); }

  Tensors reference(const Tensors& in) const override {
    return inverse_ ? Tensors{rows_of_planes(in, *tables_, parts_)} : planes_of_rows(in[0], *tables_, parts_);
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    tell_operations(in);
    return run(in, inverse_);
  }

  Tensors backward(const Tensors&, const Tensors&, const Tensors& gys,
                   const std::vector<bool>&) const override {
    tell_operations(gys);
    return run(gys, !inverse_);
  }

  // Linear: only what the gradients of the results get is not zero.
  Tensors second(const Tensors& in, const Tensors&, const Tensors&, const Tensors& gg,
                 const std::vector<bool>&) const override {
    Tensors directions;
    for (size_t i = 0; i < in.size(); ++i) {
      directions.push_back(gg[i].defined() ? gg[i] : at::zeros_like(in[i]));
    }
    Tensors g(in.size());
    const Tensors moved = run(directions, inverse_);
    g.insert(g.end(), moved.begin(), moved.end());
    return g;
  }

 private:
  const GroupSpectrum& spectrum() const { return tables_->spectrum(); }
  const std::vector<RealIrrep>& irreps() const { return spectrum().irreps(); }

  void tell_operations(const Tensors& moved) const {
    double numbers = 0;
    for (const Tensor& x : moved) {
      numbers += static_cast<double>(x.numel());
    }
    count_operations(2 * numbers / static_cast<double>(spectrum().order()) *
                     static_cast<double>(tables_->multiply_adds()));
  }

  Tensors run(const Tensors& given, bool inverse) const {
    Tensors in;
    for (const Tensor& x : given) {
      in.push_back(x.contiguous());
    }
    const int64_t G = spectrum().order(), n = inverse ? rows_in(in, *tables_) : in[0].size(0);
    const int64_t channels = inverse ? channels_in(in, *tables_) : in[0].size(1) / G;  // of all parts
    const Tensor rows = inverse ? at::empty({n, G * channels}, in[0].options()) : in[0];
    const Tensors planes = inverse ? in : empty_planes(*tables_, n, channels, in[0].options());
    with_type(rows.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const PlaneTransform<T> transform(planes, *tables_, parts_);
      share_out(n, workers_worth(rows.numel(), group_fourier_nanoseconds),
                [&](int64_t, int64_t first, int64_t last) {
                  const int64_t at = first * rows.size(1);
                  if (inverse) {
                    transform.to_rows(rows.mutable_data_ptr<T>() + at, first, last);
                  } else {
                    transform.to_planes(rows.const_data_ptr<T>() + at, first, last);
                  }
                });
    });
    return inverse ? Tensors{rows} : planes;
  }

  std::shared_ptr<const FourierTables> tables_;
  int64_t parts_;
  bool inverse_;
};

}  // namespace

Tensors group_fourier(const Tensor& x, const GroupTables& tables, int64_t parts) {
  const int64_t G = tables.group().order();
  require(parts > 0 && x.dim() == 2 && x.size(1) % (parts * G) == 0, "group_fourier: x must be (N, ", parts,
          " x ", G, " C), got ", x.sizes());
  return call(std::make_shared<GroupFourier>(tables.fourier(), parts, false), {x});
}

Tensor inverse_group_fourier(const Tensors& planes, const GroupTables& tables, int64_t parts) {
  const auto fourier = tables.fourier();
  require_planes("inverse_group_fourier", planes, *fourier, parts);
  return call(std::make_shared<GroupFourier>(fourier, parts, true), planes)[0];
}

Tensors spectral_blocks(const Tensor& kernel, const GroupTables& tables) {
  const int64_t G = tables.group().order();
  require(kernel.dim() == 3 && kernel.size(0) == G, "spectral_blocks: kernel must be (", G, ", O, I), got ",
          kernel.sizes());
  const FullPrecision no_autocast;
  const auto fourier = tables.fourier();
  const int64_t out = kernel.size(1), in = kernel.size(2);
  std::vector<int64_t> rows;
  for (const RealIrrep& r : fourier->spectrum().irreps()) {
    rows.push_back(r.dimension * r.dimension);
  }
  const Tensor all =
      at::matmul(fourier->blocks(kernel.device(), kernel.scalar_type()), kernel.reshape({G, out * in}));
  Tensors blocks = at::split_with_sizes(all, rows, 0);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int64_t d = fourier->spectrum().irreps()[i].dimension;
    // A copy, of one row too: a view would keep all rows of the product.
    blocks[i] = blocks[i]
                    .view({d, d, out, in})
                    .permute({0, 2, 1, 3})
                    .clone(at::MemoryFormat::Contiguous)
                    .view({d * out, d * in});
  }
  return blocks;
}

Tensors spectral_products(Tensors planes, const Tensors& blocks) {
  require(blocks.size() == planes.size(), "spectral_products: needs a block for each of ", planes.size(),
          " irreps, got ", blocks.size());
  for (size_t i = 0; i < planes.size(); ++i) {
    require(planes[i].defined() == blocks[i].defined(), "spectral_products: plane ", i, " must ",
            planes[i].defined() ? "" : "not ", "have a block");
    planes[i] = planes[i].defined() ? at::linear(planes[i], blocks[i]) : Tensor();
  }
  return planes;
}

Tensor rows_of_products(Tensors planes, const GroupTables& tables, int64_t parts) {
  const auto& irreps = tables.fourier()->spectrum().irreps();
  const auto some = std::ranges::find_if(planes, [](const Tensor& plane) { return plane.defined(); });
  require(planes.size() == irreps.size() && some != planes.end(), "rows_of_products: needs planes of ",
          irreps.size(), " irreps, not all of them nought, got ", planes.size());
  const RealIrrep& known = irreps[static_cast<size_t>(some - planes.begin())];
  const int64_t n = some->size(0) / known.multiplicity, out = some->size(1) / known.dimension;
  const auto product = some->scalar_type();
  const auto options = widened(*some).options();
  const FullPrecision no_autocast;
  for (size_t i = 0; i < planes.size(); ++i) {
    planes[i] = planes[i].defined()
                    ? widened(planes[i])
                    : at::zeros({irreps[i].multiplicity * n, irreps[i].dimension * out}, options);
  }
  return inverse_group_fourier(planes, tables, parts).to(product);
}

}  // namespace weyl
