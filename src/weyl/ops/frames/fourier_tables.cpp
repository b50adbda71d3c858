#include "weyl/ops/frames/fourier_tables.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"

namespace weyl {
namespace {

// M^T of every run.
SparseStage transposed(const SparseStage& stage) {
  SparseStage result{stage.size, {0}, {}, {}};
  for (int64_t row = 0; row < stage.size; ++row) {
    for (int64_t from = 0; from < stage.size; ++from) {
      for (int64_t i = stage.starts[from]; i < stage.starts[from + 1]; ++i) {
        if (stage.columns[i] == row) {
          result.columns.push_back(from);
          result.coefficients.push_back(stage.coefficients[i]);
        }
      }
    }
    result.starts.push_back(static_cast<int64_t>(result.columns.size()));
  }
  return result;
}

// Row r of every run of the last stage, which is the whole group, times factors[r]; of a group of one element alone there
// is none yet.
std::vector<SparseStage> with_factors(const FastTransform& transform) {
  std::vector<SparseStage> stages = transform.stages;
  if (stages.empty()) {
    stages.push_back({1, {0, 1}, {0}, {1}});
  }
  SparseStage& last = stages.back();
  for (int64_t row = 0; row < last.size; ++row) {
    for (int64_t i = last.starts[row]; i < last.starts[row + 1]; ++i) {
      last.coefficients[i] *= transform.factors[row];
    }
  }
  return stages;
}

// What a stage costs, in products of a coefficient and a row of channels; to begin and end a row is taken as two more.
int64_t cost_of(const SparseStage& stage, int64_t order) {
  constexpr int64_t of_a_row = 2;
  return order / stage.size * (static_cast<int64_t>(stage.coefficients.size()) + of_a_row * stage.size);
}

// One stage that does `first`, of which the size divides that of `second`, and then `second`.
SparseStage product(const SparseStage& first, const SparseStage& second) {
  SparseStage result{second.size, {0}, {}, {}};
  std::vector<double> row(second.size);
  for (int64_t r = 0; r < second.size; ++r) {
    std::ranges::fill(row, 0);
    for (int64_t i = second.starts[r]; i < second.starts[r + 1]; ++i) {
      const int64_t within = second.columns[i] % first.size, run = second.columns[i] - within;
      for (int64_t j = first.starts[within]; j < first.starts[within + 1]; ++j) {
        row[run + first.columns[j]] += second.coefficients[i] * first.coefficients[j];
      }
    }
    for (int64_t column = 0; column < second.size; ++column) {
      if (std::abs(row[column]) > 1e-14) {  // else what cancels
        result.columns.push_back(column);
        result.coefficients.push_back(row[column]);
      }
    }
    result.starts.push_back(static_cast<int64_t>(result.columns.size()));
  }
  return result;
}

// Stages that follow one another as one where that takes less: those of a chain of subgroups have two or three
// coefficients a row, which is little work for a row.
std::vector<SparseStage> joined(std::vector<SparseStage> stages) {
  const int64_t order = stages.back().size;
  for (size_t s = 0; s + 1 < stages.size();) {
    SparseStage both = product(stages[s], stages[s + 1]);
    if (cost_of(both, order) <= cost_of(stages[s], order) + cost_of(stages[s + 1], order)) {
      stages[s] = std::move(both);
      stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(s) + 1);
    } else {
      ++s;
    }
  }
  return stages;
}

template <class T>
std::vector<T> as(const std::vector<double>& numbers) {
  return {numbers.begin(), numbers.end()};
}

Tensor table_of(std::initializer_list<int64_t> sizes, std::span<const double> numbers) {
  const Tensor table = at::empty(sizes, at::TensorOptions(at::kDouble));
  std::ranges::copy(numbers, table.mutable_data_ptr<double>());
  return table;
}

Tensor block_rows(const GroupSpectrum& spectrum) {
  std::vector<double> rows;
  for (const RealIrrep& irrep : spectrum.irreps()) {
    for (int64_t j = 0; j < irrep.dimension; ++j) {
      for (int64_t l = 0; l < irrep.dimension; ++l) {
        for (int64_t a = 0; a < spectrum.order(); ++a) {
          rows.push_back(irrep.matrix(a)[l * irrep.dimension + j]);
        }
      }
    }
  }
  return table_of({static_cast<int64_t>(rows.size()) / spectrum.order(), spectrum.order()}, rows);
}

}  // namespace

template <class T>
FourierStages<T>::FourierStages(std::vector<SparseStage> stages, const std::vector<int64_t>& gather,
                                bool inverse) {
  std::vector<int64_t> columns(gather.size());
  std::iota(columns.begin(), columns.end(), 0);
  in_ = inverse ? columns : gather;
  out_ = inverse ? gather : columns;
  if (inverse) {
    std::ranges::reverse(stages);
    std::ranges::transform(stages, stages.begin(), transposed);
  }
  for (const SparseStage& stage : stages) {
    matrices_.push_back({stage.starts, stage.columns, as<T>(stage.coefficients)});
  }
  for (size_t s = 0; s < stages.size(); ++s) {
    const Matrix& matrix = matrices_[s];
    stages_.push_back(
        {stages[s].size, matrix.starts.data(), matrix.columns.data(), matrix.coefficients.data()});
  }
}

template class FourierStages<float>;
template class FourierStages<double>;

FourierTables::FourierTables(const FiniteGroup& group) : FourierTables(GroupSpectrum(GroupTable(group))) {}

FourierTables::FourierTables(const GroupSpectrum& spectrum)
    : FourierTables(spectrum, joined(with_factors(spectrum.fast()))) {}

FourierTables::FourierTables(const GroupSpectrum& spectrum, const std::vector<SparseStage>& stages)
    : spectrum_(spectrum),
      transform_(table_of({spectrum.order(), spectrum.order()}, spectrum.transform())),
      blocks_(block_rows(spectrum)),
      forward_(stages, spectrum.fast().gather, false),
      inverse_(stages, spectrum.fast().gather, true),
      forward_double_(stages, spectrum.fast().gather, false),
      inverse_double_(stages, spectrum.fast().gather, true) {}

int64_t FourierTables::multiply_adds() const {
  int64_t count = 0;
  for (const auto& stage : forward_.stages()) {
    count += spectrum_.order() / stage.size * stage.starts[stage.size];
  }
  return count;
}

namespace {

const std::vector<RealIrrep>& irreps_of(const FourierTables& tables) {
  return tables.spectrum().irreps();
}

static_assert(kernels::GroupFourier<float>::most_rows >= GroupTable::most_elements);

/// Half of the numbers of AVX-512's vectors lie idle over rows of 32 bytes, and every second row crosses two lines of the
/// cache: vectors of that size are faster.
template <class T>
const kernels::GroupFourier<T>& kernel_for(int64_t channels) {
#if defined(__x86_64__) && !defined(WEYL_BASELINE_KERNELS)
  using kernels::InstructionSet;
  if (channels * static_cast<int64_t>(sizeof(T)) <= 32 && kernels::instruction_set() == InstructionSet::v4) {
    return kernels::compiled<kernels::GroupFourier<T>, InstructionSet::v3>();
  }
#endif
  return kernels::best<kernels::GroupFourier<T>>();
}

}  // namespace

Tensors planes_of_rows(const Tensor& x, const FourierTables& tables, int64_t parts) {
  const Tensor q = tables.transform(x.device(), x.scalar_type());
  const int64_t G = tables.spectrum().order(), n = x.size(0), channels = x.size(1) / (parts * G);
  const Tensor on_group = x.reshape({n * parts, G, channels});
  Tensors planes;
  for (const RealIrrep& r : irreps_of(tables)) {
    planes.push_back(at::matmul(q.narrow(1, r.offset, r.multiplicity * r.dimension).t(), on_group)
                         .view({n, parts, r.multiplicity, r.dimension, channels})
                         .permute({2, 0, 3, 1, 4})
                         .reshape({r.multiplicity * n, r.dimension * parts * channels}));
  }
  return planes;
}

Tensor rows_of_planes(const Tensors& planes, const FourierTables& tables, int64_t parts) {
  const Tensor q = tables.transform(planes[0].device(), planes[0].scalar_type());
  const int64_t G = tables.spectrum().order(), n = rows_in(planes, tables),
                channels = channels_in(planes, tables) / parts;
  Tensors columns;
  for (size_t i = 0; i < planes.size(); ++i) {
    const RealIrrep& r = irreps_of(tables)[i];
    columns.push_back(planes[i]
                          .view({r.multiplicity, n, r.dimension, parts, channels})
                          .permute({1, 3, 0, 2, 4})
                          .reshape({n * parts, r.multiplicity * r.dimension, channels}));
  }
  return at::matmul(q, at::cat(columns, 1)).view({n, parts * G * channels});
}

Tensors empty_planes(const FourierTables& tables, int64_t n, int64_t channels,
                     const at::TensorOptions& options) {
  Tensors planes;
  for (const RealIrrep& r : irreps_of(tables)) {
    planes.push_back(at::empty({r.multiplicity * n, r.dimension * channels}, options));
  }
  return planes;
}

int64_t rows_in(const Tensors& planes, const FourierTables& tables) {
  return planes[0].size(0) / irreps_of(tables)[0].multiplicity;
}

int64_t channels_in(const Tensors& planes, const FourierTables& tables) {
  return planes[0].size(1) / irreps_of(tables)[0].dimension;
}

Tensors dense_from(const Tensors& tensors, size_t first, size_t count) {
  Tensors function;
  for (size_t i = first; i < first + count; ++i) {
    function.push_back(tensors[i].contiguous());
  }
  return function;
}

Tensors empty_like(const Tensors& function) {
  Tensors result;
  for (const Tensor& x : function) {
    result.push_back(at::empty(x.sizes(), x.options()));
  }
  return result;
}

Tensors filled_from(const Tensors& tensors, size_t first, const Tensors& like) {
  Tensors function;
  bool some = false;
  for (size_t i = 0; i < like.size(); ++i) {
    const Tensor& x = tensors[first + i];
    some = some || x.defined();
    function.push_back(x.defined() ? x.contiguous() : at::zeros(like[i].sizes(), like[i].options()));
  }
  return some ? function : Tensors();
}

bool any_from(const std::vector<bool>& needed, size_t first, size_t count) {
  const auto from = needed.begin() + static_cast<std::ptrdiff_t>(first);
  return std::any_of(from, from + static_cast<std::ptrdiff_t>(count), [](bool x) { return x; });
}

void require_planes(const char* where, const Tensors& planes, const FourierTables& tables, int64_t parts) {
  const auto& irreps = irreps_of(tables);
  require(parts > 0 && planes.size() == irreps.size(), where, ": needs a plane for each of ", irreps.size(),
          " irreps, got ", planes.size());
  for (size_t i = 0; i < planes.size(); ++i) {
    const RealIrrep &r = irreps[i], &first = irreps[0];
    require(planes[i].dim() == 2 && planes[i].size(1) % (r.dimension * parts) == 0 &&
                planes[i].size(0) * first.multiplicity == planes[0].size(0) * r.multiplicity &&
                planes[i].size(1) * first.dimension == planes[0].size(1) * r.dimension,
            where, ": plane ", i, " must be (", r.multiplicity, " N, ", r.dimension, " x ", parts,
            " C), N and C the same for all, got ", planes[i].sizes());
  }
}

template <class T>
PlaneTransform<T>::PlaneTransform(const Tensors& planes, const FourierTables& tables, int64_t parts)
    : tables_(tables), parts_(parts), channels_(channels_in(planes, tables) / parts) {
  const int64_t n = rows_in(planes, tables);
  for (size_t i = 0; i < planes.size(); ++i) {
    const RealIrrep& r = irreps_of(tables)[i];
    const int64_t stride = r.dimension * parts * channels_;
    T* plane = const_cast<T*>(planes[i].template const_data_ptr<T>());
    for (int64_t copy = 0; copy < r.multiplicity; ++copy) {
      for (int64_t l = 0; l < r.dimension; ++l) {
        columns_.push_back(plane + copy * n * stride + l * parts * channels_);
        strides_.push_back(stride);
      }
    }
  }
}

// One row of the kernel is a column c of x^ on one side, an element of the group on the other.
template <class T>
void PlaneTransform<T>::run(bool inverse, T* rows, int64_t first, int64_t last) const {
  const auto& stages = tables_.stages<T>(inverse);
  const auto& order = inverse ? stages.out() : stages.in();
  const auto G = static_cast<int64_t>(columns_.size());
  const kernels::GroupFourier<T>& kernel = kernel_for<T>(channels_);
  const std::vector<int64_t> row_strides(G, parts_ * G * channels_);
  std::vector<T*> columns(G), elements(G);
  for (int64_t part = 0; part < parts_; ++part) {
    for (int64_t p = 0; p < G; ++p) {
      columns[p] = columns_[p] + first * strides_[p] + part * channels_;
      elements[p] = rows + (part * G + order[p]) * channels_;
    }
    kernel.transform(
        {G, channels_, static_cast<int64_t>(stages.stages().size()), stages.stages().data(),
         inverse ? columns.data() : elements.data(), inverse ? strides_.data() : row_strides.data(),
         inverse ? elements.data() : columns.data(), inverse ? row_strides.data() : strides_.data()},
        0, last - first);
  }
}

template <class T>
FunctionTiles<T>::FunctionTiles(const Tensors& function, const FourierTables* planes) {
  if (function.empty() || !function[0].defined()) {
    return;
  }
  if (planes) {
    planes_ = std::make_unique<PlaneTransform<T>>(function, *planes);
  } else {
    rows_ = const_cast<T*>(function[0].template const_data_ptr<T>());
    width_ = function[0].size(1);
  }
}

template <class T>
const T* FunctionTiles<T>::read(int64_t first, int64_t last, T* buffer) const {
  if (planes_) {
    planes_->to_rows(buffer, first, last);
    return buffer;
  }
  return rows_ ? rows_ + first * width_ : nullptr;
}

template <class T>
T* FunctionTiles<T>::place(int64_t first, T* buffer) const {
  if (planes_) {
    return buffer;
  }
  return rows_ ? rows_ + first * width_ : nullptr;
}

template <class T>
void FunctionTiles<T>::written(const T* rows, int64_t first, int64_t last) const {
  if (planes_) {
    planes_->to_planes(rows, first, last);
  }
}

template class PlaneTransform<float>;
template class PlaneTransform<double>;
template class FunctionTiles<float>;
template class FunctionTiles<double>;

}  // namespace weyl
