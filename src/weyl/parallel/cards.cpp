#include "weyl/parallel/cards.h"

#ifdef USE_C10D_NCCL
#include <ATen/cuda/CUDAContextLight.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <thread>

#include "weyl/core/check.h"

namespace weyl {

#ifdef USE_C10D_NCCL

std::string card_name(at::Device card) {
  const auto& uuid = at::cuda::getDeviceProperties(card.index())->uuid.bytes;
  return {uuid, sizeof uuid};
}

c10::intrusive_ptr<c10d::Backend> start_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                             const std::string& interface,
                                             std::chrono::milliseconds timeout) {
  setenv("NCCL_ALGO", "^NVLS,NVLSTree", /*overwrite=*/0);
  if (!interface.empty()) {
    setenv("NCCL_SOCKET_IFNAME", ("=" + interface).c_str(), 0);  // of this name, not those that begin so
  }
  // What goes wrong is thrown by the call that waits; no thread of c10d's ends the process, or looks for the others.
  setenv("TORCH_NCCL_BLOCKING_WAIT", "1", 1);
  setenv("TORCH_NCCL_RETHROW_CUDA_ERRORS", "0", 1);
  setenv("TORCH_NCCL_ENABLE_MONITORING", "0", 1);
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(c10::make_intrusive<c10d::PrefixStore>("nccl", store),
                                                     rank, size, options);
}

#else

std::string card_name(at::Device) {
  return {};
}

c10::intrusive_ptr<c10d::Backend> start_nccl(const c10::intrusive_ptr<c10d::Store>&, int, int,
                                             const std::string&, std::chrono::milliseconds) {
  throw Error("NCCL: this build must have it, but has none");
}

#endif

void shut_down(const c10::intrusive_ptr<c10d::Backend>& nccl, std::chrono::milliseconds timeout) {
  // Of another thread, which may outlive this call: c10d's own function knows no limit.
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> end = done->get_future();
  std::thread([nccl, done] {
    try {
      nccl->shutdown();
    } catch (const std::exception&) {  // one has ended before
    }
    done->set_value();
  }).detach();
  end.wait_for(timeout);  // what is left then ends with the process
}

}  // namespace weyl
