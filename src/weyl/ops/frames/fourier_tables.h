#pragma once

#include <ATen/core/Tensor.h>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "weyl/algebra/finite/group_spectrum.h"
#include "weyl/kernels/frames/group_fourier.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/frames/group_tables.h"

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
  /// (sum_r d_r^2, G): row (j, l) of irrep r holds rho(a)_lj, so that it times a kernel (G, O I) is W_r (group_spectrum.h).
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

using at::Tensor;
using Tensors = std::vector<Tensor>;

// For ops on functions on a group, which stand as rows (N, P G C) or as the planes of their irreps (group_fourier.h).

/// Q^T and Q as torch expressions.
Tensors planes_of_rows(const Tensor& x, const FourierTables& tables, int64_t parts = 1);
Tensor rows_of_planes(const Tensors& planes, const FourierTables& tables, int64_t parts = 1);

/// For N rows of P functions of C channels; channels: P C.
Tensors empty_planes(const FourierTables& tables, int64_t n, int64_t channels,
                     const at::TensorOptions& options);

/// N and P C of planes.
int64_t rows_in(const Tensors& planes, const FourierTables& tables);
int64_t channels_in(const Tensors& planes, const FourierTables& tables);

/// The tensors of a function among an op's inputs or results, dense; new ones like them; those that are undefined as zeros,
/// unless all are: then none.
Tensors dense_from(const Tensors& tensors, size_t first, size_t count);
Tensors empty_like(const Tensors& function);
Tensors filled_from(const Tensors& tensors, size_t first, const Tensors& like);
/// Whether one of them is.
bool any_from(const std::vector<bool>& needed, size_t first, size_t count);

/// ShapeError unless there is a plane for each irrep, with N and P C the same for all.
void require_planes(const char* where, const Tensors& planes, const FourierTables& tables, int64_t parts = 1);

/// Q^T and Q by kernel, a few rows at a time. The planes are dense and of type T, and outlive it.
template <class T>
class PlaneTransform {
 public:
  PlaneTransform(const Tensors& planes, const FourierTables& tables, int64_t parts = 1);
  /// Rows first <= n < last, of which `rows` holds the first first.
  void to_planes(const T* rows, int64_t first, int64_t last) const {
    run(false, const_cast<T*>(rows), first, last);
  }
  void to_rows(T* rows, int64_t first, int64_t last) const { run(true, rows, first, last); }

 private:
  void run(bool inverse, T* rows, int64_t first, int64_t last) const;

  const FourierTables& tables_;
  int64_t parts_, channels_;
  std::vector<T*> columns_;       // column c of x^ for row 0
  std::vector<int64_t> strides_;  // from row to row
};

/// A function on a group that an op reads or writes tile by tile: rows (N, W) where they stand, planes (where `planes` is not
/// null) by way of a buffer. Tensors are dense and of type T, and outlive it; undefined or none: absent.
template <class T>
class FunctionTiles {
 public:
  FunctionTiles(const Tensors& function, const FourierTables* planes);
  explicit operator bool() const { return rows_ || planes_; }
  /// Rows first <= n < last.
  const T* read(int64_t first, int64_t last, T* buffer) const;
  /// Where to write them, and then to say that they are written, there or elsewhere. Null where absent.
  T* place(int64_t first, T* buffer) const;
  void written(const T* rows, int64_t first, int64_t last) const;

 private:
  T* rows_ = nullptr;
  int64_t width_ = 0;
  std::unique_ptr<PlaneTransform<T>> planes_;
};

/// Rows first <= n < last of a worker's share, with room for some tiles.
template <class T>
struct Tile {
  int64_t worker, first, last;
  T* buffers;
  int64_t size;  // numbers in a buffer
  T* buffer(int64_t i) const { return buffers + i * size; }
  int64_t count() const { return last - first; }
};

struct AlignedDelete {
  template <class T>
  void operator()(T* p) const {
    ::operator delete[](p, std::align_val_t{64});
  }
};

/// Calls work(tile) for all rows, which workers share; a tile of rows of `width` numbers, with so many buffers of its size,
/// stays in the second cache between what is done to it.
template <class T, class F>
void share_tiles(int64_t rows, int64_t width, int64_t workers, int64_t buffers, const F& work) {
  constexpr int64_t bytes = 65536;
  const int64_t most = std::max<int64_t>(1, bytes / (std::max<int64_t>(1, width) * sizeof(T)));
  share_out(rows, workers, [&](int64_t worker, int64_t first, int64_t last) {
    // On the cache's lines, as tensors are: vectors that cross two of them take twice the time.
    constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(T));
    const int64_t size = (std::min(most, last - first) * width + line - 1) / line * line;
    const std::unique_ptr<T[], AlignedDelete> room(new (std::align_val_t{64}) T[buffers * size]);
    for (int64_t at = first; at < last; at += most) {
      work(Tile<T>{worker, at, std::min(at + most, last), room.get(), size});
    }
  });
}

}  // namespace weyl
