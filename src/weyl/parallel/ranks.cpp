#include "weyl/parallel/ranks.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <charconv>
#include <csignal>
#include <cstring>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// What went wrong while `doing`, as one line of ours: c10d's have several, with the stack.
template <class F>
auto told(const RankPlace& place, const char* doing, const F& f) {
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    std::string_view what = e.what();
    what = what.substr(0, what.find('\n'));
    throw RankError(text("rank ", place.rank, " of ", place.size, ": ", doing,
                         " needs all ranks: one has ended, did not answer "
                         "in time or never came (",
                         what, ")"));
  }
}

c10::intrusive_ptr<c10d::Store> store_of(const RankPlace& place, const Meeting& meeting) {
  if (place.address.empty()) {
    require<ConfigError>(!meeting.file.empty(), "ranks: without an address there must be a file to meet at");
    const auto store = c10::make_intrusive<c10d::FileStore>(meeting.file, place.size);
    store->setTimeout(meeting.timeout);
    return store;
  }
  const size_t colon = place.address.rfind(':');
  const std::string port = colon == std::string::npos ? "" : place.address.substr(colon + 1);
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  require<ConfigError>(colon > 0 && error == std::errc() && end == port.data() + port.size() && number > 0,
                       "ranks: the address must be HOST:PORT with a port from 1 to 65535, got '",
                       place.address, "'");
  c10d::TCPStoreOptions options;
  options.port = number;
  options.isServer = place.rank == 0;
  options.numWorkers = static_cast<size_t>(place.size);
  options.timeout = meeting.timeout;
  return c10::make_intrusive<c10d::TCPStore>(place.address.substr(0, colon), options);
}

auto device_of(const RankPlace& place, const Meeting& meeting) {
  if (!meeting.interface.empty()) {
    return c10d::ProcessGroupGloo::createDeviceForInterface(meeting.interface);
  }
  return place.local_size == place.size ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                        : c10d::ProcessGroupGloo::createDefaultDevice();
}

}  // namespace

struct Ranks::Group {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;
};

struct Ranks::Sum::Work {
  RankPlace place;
  c10::intrusive_ptr<c10d::Work> work;
};

Ranks::Sum::Sum() = default;
Ranks::Sum::~Sum() = default;
Ranks::Sum::Sum(Sum&&) noexcept = default;
Ranks::Sum& Ranks::Sum::operator=(Sum&&) noexcept = default;

void Ranks::Sum::wait() {
  if (work_ != nullptr) {
    told(work_->place, "a sum", [&] { work_->work->wait(); });
    work_.reset();
  }
}

Ranks::Ranks(const RankPlace& place, const Meeting& meeting)
    : place_(place), group_(std::make_unique<Group>()) {
  require(place.size >= 1 && place.rank >= 0 && place.rank < place.size, "ranks: rank must be from 0 to ",
          place.size - 1, ", got ", place.rank);
  std::signal(SIGPIPE, SIG_IGN);  // a rank that has ended is an error here and no end
  told(place_, "the start", [&] {
    auto options = c10d::ProcessGroupGloo::Options::create(meeting.timeout);
    options->devices.push_back(device_of(place, meeting));
    options->threads = 1;
    group_->gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store_of(place, meeting), place.rank,
                                                               place.size, options);
  });
}

Ranks::~Ranks() = default;

Ranks::Sum Ranks::start_sum(const Tensor& x) {
  require(x.is_cpu() && x.is_contiguous(), "ranks: a sum must be of a contiguous tensor on the CPU");
  Sum sum;
  sum.work_ = std::make_unique<Sum::Work>();
  sum.work_->place = place_;
  sum.work_->work = told(place_, "a sum", [&] {
    std::vector<Tensor> tensors{x.detach()};
    return group_->gloo->allreduce(tensors);
  });
  return sum;
}

void Ranks::sum(const Tensor& x) {
  start_sum(x).wait();
}

void Ranks::broadcast(const Tensor& x, int from) {
  require(x.is_cpu() && x.is_contiguous(), "ranks: a broadcast must be of a contiguous tensor on the CPU");
  told(place_, "a broadcast", [&] {
    std::vector<Tensor> tensors{x.detach()};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    group_->gloo->broadcast(tensors, options)->wait();
  });
}

std::vector<std::string> Ranks::gather(std::string_view bytes) {
  const Tensor sizes = at::zeros({place_.size}, at::kLong);
  sizes[place_.rank] = static_cast<int64_t>(bytes.size());
  sum(sizes);
  const auto* size = sizes.const_data_ptr<int64_t>();
  std::vector<std::string> all;
  for (int r = 0; r < place_.size; ++r) {
    const Tensor part = at::empty({size[r]}, at::kByte);
    if (r == place_.rank && !bytes.empty()) {
      std::memcpy(part.mutable_data_ptr<uint8_t>(), bytes.data(), bytes.size());
    }
    if (size[r] > 0) {
      broadcast(part, r);
    }
    all.emplace_back(reinterpret_cast<const char*>(part.const_data_ptr<uint8_t>()),
                     static_cast<size_t>(size[r]));
  }
  return all;
}

void Ranks::barrier() {
  sum(at::zeros({1}, at::kLong));
}

}  // namespace weyl
