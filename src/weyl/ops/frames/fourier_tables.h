#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "weyl/algebra/finite/group_spectrum.h"
#include "weyl/kernels/frames/group_fourier.h"
#include "weyl/ops/frames/table_copies.h"

namespace weyl {

/// A map of functions on a group by stages as kernels take it: row p of x comes from place in[p], row p of the result
/// goes to place out[p].
template <class T>
class FourierStages {
 public:
  /// Of one stage after another of x[gather], or of their inverse where they are orthogonal together.
  FourierStages(std::vector<SparseStage> stages, const std::vector<int64_t>& gather, bool inverse);
  FourierStages(const FourierStages&) = delete;
  FourierStages& operator=(const FourierStages&) = delete;

  const std::vector<kernels::FourierStage<T>>& stages() const { return stages_; }
  const std::vector<int64_t>& in() const { return in_; }
  const std::vector<int64_t>& out() const { return out_; }

 private:
  struct Matrix {
    std::vector<int64_t> starts, columns;
    std::vector<T> coefficients;
  };

  std::vector<Matrix> matrices_;
  std::vector<kernels::FourierStage<T>> stages_;
  std::vector<int64_t> in_, out_;
};

/// The Fourier transform of functions on a group, as tensors and as stages for kernels. Constant, so safe to use
/// from several threads.
class FourierTables {
 public:
  explicit FourierTables(const FiniteGroup& group);

  const GroupSpectrum& spectrum() const { return spectrum_; }
  /// Of the stages, for one channel.
  int64_t multiply_adds() const;
  /// Q (G, G).
  Tensor transform(at::Device device, at::ScalarType dtype) const { return transform_.on(device, dtype); }
  /// (sum_r d_r^2, G): row (j, l) of irrep r holds rho(a)_lj, so that it times a kernel (G, O I) is W_r (spectral_linear.h).
  Tensor blocks(at::Device device, at::ScalarType dtype) const { return blocks_.on(device, dtype); }

  template <class T>
  const FourierStages<T>& stages(bool inverse) const;

 private:
  explicit FourierTables(const GroupSpectrum& spectrum);
  FourierTables(const GroupSpectrum& spectrum, const std::vector<SparseStage>& stages);

  GroupSpectrum spectrum_;
  TableCopies transform_, blocks_;
  FourierStages<float> forward_, inverse_;
  FourierStages<double> forward_double_, inverse_double_;
};

template <>
inline const FourierStages<float>& FourierTables::stages<float>(bool inverse) const {
  return inverse ? inverse_ : forward_;
}
template <>
inline const FourierStages<double>& FourierTables::stages<double>(bool inverse) const {
  return inverse ? inverse_double_ : forward_double_;
}

}  // namespace weyl
