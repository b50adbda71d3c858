// The kernels that are there for CUDA devices too. A build without CMake's WEYL_CUDA has none of them (none.cpp).
#pragma once

#include "weyl/kernels/multivectors/gate.h"
#include "weyl/kernels/multivectors/norm.h"
#include "weyl/kernels/multivectors/products.h"

namespace weyl::kernels {

bool has_cuda_kernels();

/// The table for tensors on CUDA devices, as best<Kernel>() (dispatch.h) is for those of the processor: its functions take
/// pointers into the device's memory and queue their work on the stream of the OnStream that lives. Null where the build has
/// none.
template <class Kernel>
const Kernel* for_cuda();
template <>
const MultivectorGating<float>* for_cuda();
template <>
const MultivectorGating<double>* for_cuda();
template <>
const MultivectorNorm<float>* for_cuda();
template <>
const MultivectorNorm<double>* for_cuda();
template <>
const MultivectorProducts<float>* for_cuda();
template <>
const MultivectorProducts<double>* for_cuda();

/// While one lives, kernels for CUDA that this thread calls queue their work on this stream, a cudaStream_t. Without one
/// they take CUDA's default stream.
class OnStream {
 public:
  explicit OnStream(void* stream);
  ~OnStream();  // NOLINT(performance-trivially-destructible): it does nothing in none.cpp alone
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  void* before_ = nullptr;
};

}  // namespace weyl::kernels
