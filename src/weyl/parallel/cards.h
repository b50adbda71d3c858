#pragma once

#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace weyl {

/// What a card is called in all processes, its UUID, where NCCL can be used; empty: this build has none (parallel/CMakeLists.txt).
std::string card_name(at::Device card);

/// NCCL between `size` ranks, each of which has a card of its own. From then on NCCL_ALGO, unless it is set, forbids sums within
/// switches, which have other bits each time. `interface` of the network, where NCCL_SOCKET_IFNAME names none; empty: NCCL's own
/// choice. As with Gloo, a wait returns when the sum is there or throws after `timeout`.
c10::intrusive_ptr<c10d::Backend> start_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                             const std::string& interface, std::chrono::milliseconds timeout);

/// Ends it together with the others; those that have not come after `timeout` are no longer waited for.
void shut_down(const c10::intrusive_ptr<c10d::Backend>& nccl, std::chrono::milliseconds timeout);

}  // namespace weyl
