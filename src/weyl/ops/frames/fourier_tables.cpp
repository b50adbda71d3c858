#include "weyl/ops/frames/fourier_tables.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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

}  // namespace weyl
