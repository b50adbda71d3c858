#include "weyl/kernels/cuda/tables.h"

#include <cuda_runtime_api.h>

#include "weyl/core/check.h"

namespace weyl::kernels {
namespace {

thread_local void* stream = nullptr;

}  // namespace

bool has_cuda_kernels() {
  return true;
}

OnStream::OnStream(void* on) : before_(stream) {
  stream = on;
}
OnStream::~OnStream() {
  stream = before_;
}

void* launch_stream() {
  return stream;
}

void require_launched() {
  const cudaError_t error = cudaGetLastError();
  require<Error>(error == cudaSuccess, "CUDA: a kernel was refused: ", cudaGetErrorString(error));
}

}  // namespace weyl::kernels
