// In place of the kernels for CUDA devices, in a build without them.
#include "weyl/kernels/cuda/tables.h"

namespace weyl::kernels {

bool has_cuda_kernels() {
  return false;
}

template <>
const MultivectorGating<float>* for_cuda() {
  return nullptr;
}
template <>
const MultivectorGating<double>* for_cuda() {
  return nullptr;
}
template <>
const MultivectorNorm<float>* for_cuda() {
  return nullptr;
}
template <>
const MultivectorNorm<double>* for_cuda() {
  return nullptr;
}
template <>
const MultivectorProducts<float>* for_cuda() {
  return nullptr;
}
template <>
const MultivectorProducts<double>* for_cuda() {
  return nullptr;
}

OnStream::OnStream(void*) {}
OnStream::~OnStream() = default;

}  // namespace weyl::kernels
