#include "weyl/ops/frames/group_fourier.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/split_with_sizes.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <memory>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/frames/group_fourier.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/frames/fourier_tables.h"

namespace weyl {
namespace {

constexpr double nanoseconds = 0.3;  // of a number: estimated, to be measured

static_assert(kernels::GroupFourier<float>::most_rows >= GroupTable::most_elements);

int64_t nodes_of(const Tensors& planes, const GroupSpectrum& spectrum) {
  return planes[0].size(0) / spectrum.irreps()[0].multiplicity;
}

/// x (N, P G C) -> planes, or planes -> x: each is the derivative of the other.
class GroupFourier : public Differentiable {
 public:
  GroupFourier(std::shared_ptr<const FourierTables> tables, int64_t parts, bool inverse)
      : tables_(std::move(tables)), parts_(parts), inverse_(inverse) {}

  size_t results() const override { return inverse_ ? 1 : irreps().size(); }

  Tensors reference(const Tensors& in) const override {
    const Tensor q = tables_->transform(in[0].device(), in[0].scalar_type());
    return inverse_ ? Tensors{from_planes(in, q)} : to_planes(in[0], q);
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

  Tensors to_planes(const Tensor& x, const Tensor& q) const {
    const int64_t G = spectrum().order(), n = x.size(0), channels = x.size(1) / (parts_ * G);
    const Tensor on_group = x.reshape({n * parts_, G, channels});
    Tensors planes;
    for (const RealIrrep& r : irreps()) {
      const int64_t columns = r.multiplicity * r.dimension;
      planes.push_back(at::matmul(q.narrow(1, r.offset, columns).t(), on_group)
                           .view({n, parts_, r.multiplicity, r.dimension, channels})
                           .permute({2, 0, 3, 1, 4})
                           .reshape({r.multiplicity * n, r.dimension * parts_ * channels}));
    }
    return planes;
  }

  Tensor from_planes(const Tensors& planes, const Tensor& q) const {
    const int64_t G = spectrum().order(), n = nodes_of(planes, spectrum()),
                  channels = planes[0].size(1) / (irreps()[0].dimension * parts_);
    Tensors columns;
    for (size_t i = 0; i < planes.size(); ++i) {
      const RealIrrep& r = irreps()[i];
      columns.push_back(planes[i]
                            .view({r.multiplicity, n, r.dimension, parts_, channels})
                            .permute({1, 3, 0, 2, 4})
                            .reshape({n * parts_, r.multiplicity * r.dimension, channels}));
    }
    return at::matmul(q, at::cat(columns, 1)).view({n, parts_ * G * channels});
  }

  Tensors run(const Tensors& given, bool inverse) const {
    Tensors in, out;
    for (const Tensor& x : given) {
      in.push_back(x.contiguous());
    }
    const int64_t G = spectrum().order();
    const int64_t n = inverse ? nodes_of(in, spectrum()) : in[0].size(0);
    const int64_t channels =
        in[0].size(1) / (parts_ * (inverse ? irreps()[0].dimension : G));  // of a part and a frame
    if (inverse) {
      out.push_back(at::empty({n, parts_ * G * channels}, in[0].options()));
    } else {
      for (const RealIrrep& r : irreps()) {
        out.push_back(at::empty({r.multiplicity * n, r.dimension * parts_ * channels}, in[0].options()));
      }
    }
    with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      transform<T>(inverse, inverse ? out[0] : in[0], inverse ? in : out, n, channels);
    });
    return out;
  }

  // One row of the kernel is a column c of x^ on one side, an element of the group on the other.
  template <class T>
  void transform(bool inverse, const Tensor& x, const Tensors& planes, int64_t n, int64_t channels) const {
    const int64_t G = spectrum().order();
    const auto& stages = tables_->stages<T>(inverse);
    std::vector<T*> of_columns, of_elements;
    std::vector<int64_t> column_strides, element_strides(G, parts_ * G * channels);
    for (size_t i = 0; i < planes.size(); ++i) {
      const RealIrrep& r = irreps()[i];
      const int64_t stride = r.dimension * parts_ * channels;
      for (int64_t column = 0; column < r.multiplicity * r.dimension; ++column) {
        const int64_t copy = column / r.dimension, l = column % r.dimension;
        of_columns.push_back(const_cast<T*>(planes[i].const_data_ptr<T>()) + copy * n * stride +
                             l * parts_ * channels);
        column_strides.push_back(stride);
      }
    }
    for (const int64_t g : inverse ? stages.out() : stages.in()) {
      of_elements.push_back(const_cast<T*>(x.const_data_ptr<T>()) + g * channels);
    }
    const auto& kernel = kernels::best<kernels::GroupFourier<T>>();
    share_out(n, workers_worth(n * parts_ * G * channels, nanoseconds),
              [&](int64_t, int64_t first, int64_t last) {
                for (int64_t part = 0; part < parts_; ++part) {
                  std::vector<T*> columns = of_columns, elements = of_elements;
                  for (int64_t p = 0; p < G; ++p) {
                    columns[p] += part * channels;
                    elements[p] += part * G * channels;
                  }
                  const kernels::GroupFourierInput<T> input{
                      G,
                      channels,
                      static_cast<int64_t>(stages.stages().size()),
                      stages.stages().data(),
                      inverse ? columns.data() : elements.data(),
                      inverse ? column_strides.data() : element_strides.data(),
                      inverse ? elements.data() : columns.data(),
                      inverse ? element_strides.data() : column_strides.data()};
                  kernel.transform(input, first, last);
                }
              });
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
  const auto& irreps = fourier->spectrum().irreps();
  require(parts > 0 && planes.size() == irreps.size(), "inverse_group_fourier: needs a plane for each of ",
          irreps.size(), " irreps, got ", planes.size());
  for (size_t i = 0; i < planes.size(); ++i) {
    const RealIrrep &r = irreps[i], &first = irreps[0];
    require(planes[i].dim() == 2 && planes[i].size(1) % (r.dimension * parts) == 0 &&
                planes[i].size(0) * first.multiplicity == planes[0].size(0) * r.multiplicity &&
                planes[i].size(1) * first.dimension == planes[0].size(1) * r.dimension,
            "inverse_group_fourier: plane ", i, " must be (", r.multiplicity, " N, ", r.dimension, " x ",
            parts, " C), N and C the same for all, got ", planes[i].sizes());
  }
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

Tensor spectral_linear(const Tensor& x, const Tensors& blocks, const GroupTables& tables, int64_t parts) {
  Tensors planes = [&] {
    const FullPrecision no_autocast;
    return group_fourier(widened(x), tables);
  }();
  return spectral_products(std::move(planes), blocks, tables, parts);
}

Tensor spectral_products(Tensors planes, const Tensors& blocks, const GroupTables& tables, int64_t parts) {
  const auto& irreps = tables.fourier()->spectrum().irreps();
  require(blocks.size() == irreps.size() && planes.size() == irreps.size(),
          "spectral_products: needs a plane and a block for each of ", irreps.size(), " irreps, got ",
          planes.size(), " and ", blocks.size());
  Tensor sample;  // of which the type and the size of the others are
  int64_t nodes = 0, out = 0;
  for (size_t i = 0; i < planes.size(); ++i) {
    require(planes[i].defined() == blocks[i].defined(), "spectral_products: plane ", i, " must ",
            planes[i].defined() ? "" : "not ", "have a block");
    if (planes[i].defined()) {
      planes[i] = at::linear(planes[i], blocks[i]);
      sample = planes[i];
      nodes = sample.size(0) / irreps[i].multiplicity;
      out = sample.size(1) / irreps[i].dimension;
    }
  }
  require(sample.defined(), "spectral_products: needs a plane that is not nought");
  const auto product = sample.scalar_type();
  const FullPrecision no_autocast;
  for (size_t i = 0; i < planes.size(); ++i) {
    planes[i] = planes[i].defined() ? widened(planes[i])
                                    : at::zeros({irreps[i].multiplicity * nodes, irreps[i].dimension * out},
                                                sample.options().dtype(at_least_float32(product)));
  }
  return inverse_group_fourier(planes, tables, parts).to(product);
}

}  // namespace weyl
