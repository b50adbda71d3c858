#include "weyl/ops/frames/lifted_fourier.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/frames/fourier_tables.h"

namespace weyl {
namespace {

constexpr double rounding = 1e-12;  // of matrices in float64; those of float32 are 1e-8 off

Tensor matrix_from(int64_t rows, int64_t columns, const std::vector<double>& numbers) {
  Tensor table = at::empty({rows, columns}, at::TensorOptions(at::kDouble).device(at::kCPU));
  std::ranges::copy(numbers, table.mutable_data_ptr<double>());
  return table;
}

// (n, sum of K m), column (k, i) of each irrep.
Tensor onto_of(const std::vector<LiftedFactors>& factors, int64_t n) {
  int64_t columns = 0;
  for (const LiftedFactors& f : factors) {
    columns += static_cast<int64_t>(f.onto.size()) / n;
  }
  std::vector<double> table(n * columns);
  int64_t column = 0;
  for (const LiftedFactors& f : factors) {
    for (size_t ki = 0; ki < f.onto.size() / n; ++ki, ++column) {
      for (int64_t b = 0; b < n; ++b) {
        table[b * columns + column] = f.onto[ki * n + b];
      }
    }
  }
  return matrix_from(n, columns, table);
}

// (sum of d K, G n): row (j, k) of each irrep, column (g, a), holds sum_l along[k, l, a] rho(g)_lj, since
// W_r[(j, o), (l, c)] = sum_g rho(g)_lj kernel[g, o, c].
Tensor along_of(const std::vector<LiftedFactors>& factors, int64_t n, const GroupSpectrum& spectrum) {
  const int64_t G = spectrum.order();
  std::vector<double> table;
  for (const LiftedFactors& f : factors) {
    const RealIrrep& irrep = spectrum.irreps()[f.irrep];
    const int64_t d = irrep.dimension;
    for (int64_t j = 0; j < d; ++j) {
      for (int64_t k = 0; k < f.rank; ++k) {
        for (int64_t g = 0; g < G; ++g) {
          for (int64_t a = 0; a < n; ++a) {
            double sum = 0;
            for (int64_t l = 0; l < d; ++l) {
              sum += f.along[(k * d + l) * n + a] * irrep.matrix(g)[l * d + j];
            }
            table.push_back(sum);
          }
        }
      }
    }
  }
  return matrix_from(static_cast<int64_t>(table.size()) / (G * n), G * n, table);
}

using Parts = std::vector<std::vector<Tensor>>;  // of each irrep, run by run

std::vector<Tensor> side_by_side(const Parts& parts) {
  std::vector<Tensor> joined(parts.size());
  for (size_t r = 0; r < parts.size(); ++r) {
    if (!parts[r].empty()) {
      joined[r] = (parts[r].size() == 1 ? parts[r][0] : at::cat(parts[r], 1)).contiguous();
    }
  }
  return joined;
}

}  // namespace

LiftedFourier::Run::Run(const LiftedChannels& channels, const LiftedSpectrum& lifted,
                        const GroupSpectrum& spectrum)
    : Run(channels, lifted.components, factors_of(lifted, spectrum), spectrum) {}

LiftedFourier::Run::Run(const LiftedChannels& channels, int64_t n, std::vector<LiftedFactors> of_irreps,
                        const GroupSpectrum& spectrum)
    : of(channels),
      components(n),
      factors(std::move(of_irreps)),
      onto(onto_of(factors, n)),
      along(along_of(factors, n, spectrum)) {}

LiftedFourier::LiftedFourier(const GroupTables& tables, const std::vector<LiftedChannels>& runs)
    : fourier_(tables.fourier()) {
  const GroupSpectrum& spectrum = fourier_->spectrum();
  for (const LiftedChannels& run : runs) {
    require(runs_.empty() || run.vectors || !runs_.back().of.vectors,
            "LiftedFourier: scalars must stand before vectors");
    const LiftedSpectrum lifted = run.vectors ? lifted_vector(tables.group(), spectrum, run.odd)
                                              : lifted_scalar(tables.group(), spectrum, run.odd);
    exact_ = exact_ && lifted.remainder < rounding;
    runs_.emplace_back(run, lifted, spectrum);
  }
}

std::vector<Tensor> LiftedFourier::planes(const Tensor& scalars, const Tensor& vectors) const {
  const FullPrecision no_autocast;
  const auto& irreps = fourier_->spectrum().irreps();
  Parts parts(irreps.size());
  int64_t first = 0;
  for (size_t r = 0; r < runs_.size(); ++r) {
    const Run& run = runs_[r];
    first = r > 0 && run.of.vectors == runs_[r - 1].of.vectors ? first : 0;
    const Tensor& all = run.of.vectors ? vectors : scalars;
    require(all.defined() && first + run.of.channels <= all.size(1), "LiftedFourier: needs ", run.of.channels,
            run.of.vectors ? " vectors" : " scalars", " from ", first, " on, got ",
            all.defined() ? all.sizes() : at::IntArrayRef());
    const Tensor x = all.narrow(1, first, run.of.channels);
    first += run.of.channels;
    if (!run.of.vectors) {  // `onto` is 1
      parts[run.factors[0].irrep].push_back(x);
      continue;
    }
    const int64_t n = x.size(0), v = run.of.channels;
    const Tensor in_irreps =
        at::matmul(x.reshape({n * v, run.components}), run.onto.on(x.device(), x.scalar_type()));
    int64_t column = 0;
    for (const LiftedFactors& f : run.factors) {
      const int64_t m = irreps[f.irrep].multiplicity;
      parts[f.irrep].push_back(in_irreps.narrow(1, column, f.rank * m)
                                   .view({n, v, f.rank, m})
                                   .permute({3, 0, 2, 1})
                                   .reshape({m * n, f.rank * v}));
      column += f.rank * m;
    }
  }
  return side_by_side(parts);
}

std::vector<Tensor> LiftedFourier::blocks(const Tensor& kernel) const {
  const FullPrecision no_autocast;
  const auto& irreps = fourier_->spectrum().irreps();
  require(kernel.dim() == 3, "LiftedFourier: kernel must be (G, O, I), got ", kernel.sizes());
  const int64_t G = kernel.size(0), out = kernel.size(1);
  Parts parts(irreps.size());
  int64_t first = 0;
  for (const Run& run : runs_) {
    const int64_t n = run.components, v = run.of.channels;
    require(G == fourier_->spectrum().order() && first + v * n <= kernel.size(2), "LiftedFourier: kernel (",
            kernel.sizes(), ") must have ", first + v * n, " columns or more");
    const Tensor columns = kernel.narrow(2, first, v * n)
                               .reshape({G, out, v, n})
                               .permute({0, 3, 1, 2})
                               .reshape({G * n, out * v});
    first += v * n;
    const Tensor all = at::matmul(run.along.on(kernel.device(), kernel.scalar_type()), columns);
    int64_t row = 0;
    for (const LiftedFactors& f : run.factors) {
      const int64_t d = irreps[f.irrep].dimension;
      parts[f.irrep].push_back(all.narrow(0, row, d * f.rank)
                                   .view({d, f.rank, out, v})
                                   .permute({0, 2, 1, 3})
                                   .reshape({d * out, f.rank * v}));
      row += d * f.rank;
    }
  }
  return side_by_side(parts);
}

int64_t LiftedFourier::multiply_adds(int64_t out) const {
  int64_t count = 0;
  for (const Run& run : runs_) {
    for (const LiftedFactors& f : run.factors) {
      const RealIrrep& irrep = fourier_->spectrum().irreps()[f.irrep];
      count += irrep.multiplicity * irrep.dimension * out * f.rank * run.of.channels;
    }
  }
  return count;
}

int64_t LiftedFourier::plane_multiply_adds() const {
  int64_t count = 0;
  for (const Run& run : runs_) {
    for (const LiftedFactors& f : run.factors) {
      count += run.of.vectors ? run.of.channels * static_cast<int64_t>(f.onto.size()) : 0;
    }
  }
  return count;
}

}  // namespace weyl
