#include "weyl/parallel/ranks.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <c10/util/Logging.h>
#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <set>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/text_number.h"
#include "weyl/parallel/cards.h"

namespace weyl {
namespace {

// For which a rank that ends waits to hear of the others.
constexpr std::chrono::milliseconds kLastWords{2'000};
constexpr const char *kFailed = "weyl failed", *kCode = "weyl exit code", *kLeft = "weyl left",
                     *kFirst = "weyl first";

/// What went wrong while `doing`, as one line of ours: c10d's have several, with the stack.
template <class F>
auto told(const RankPlace& place, const char* doing, const F& f) {
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    std::string what = e.what();
    what = what.substr(0, std::min(what.find('\n'), what.find(". ")));       // what is typically the cause
    for (size_t file = 0; (file = what.find("[/")) != std::string::npos;) {  // of Gloo's sources
      what.erase(file, what.find("] ", file) == std::string::npos ? std::string::npos
                                                                  : what.find("] ", file) + 2 - file);
    }
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
  const int64_t number = parse_integer(port).value_or(0);
  require<ConfigError>(colon > 0 && colon != std::string::npos && number > 0 && number < 65536,
                       "ranks: the address must be HOST:PORT with a port from 1 to 65535, got '",
                       place.address, "'");
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(number);
  options.isServer = place.rank == 0;
  options.numWorkers = static_cast<size_t>(place.size);
  options.timeout = meeting.timeout;
  return c10::make_intrusive<c10d::TCPStore>(place.address.substr(0, colon), options);
}

/// The bytes themselves, as Gloo takes them; they must stay.
Tensor as_tensor(std::string& bytes) {
  return at::from_blob(bytes.data(), {static_cast<int64_t>(bytes.size())}, at::kByte);
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

/// The cores that this process may use, one character each.
std::string own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      cores += CPU_ISSET(core, &set) ? '1' : '0';
    }
  }
  return cores;
}

bool is_one_host(const RankPlace& place) {
  return place.local_size == place.size;
}

auto device_of(const RankPlace& place, const Meeting& meeting) {
  if (!meeting.interface.empty()) {
    return c10d::ProcessGroupGloo::createDeviceForInterface(meeting.interface);
  }
  return is_one_host(place) ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                            : c10d::ProcessGroupGloo::createDefaultDevice();
}

}  // namespace

struct Ranks::Group {
  c10::intrusive_ptr<c10d::Store> store;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;
  c10::intrusive_ptr<c10d::Backend> nccl;

  c10d::Backend& of(const Tensor& x) const {
    return x.is_cuda() && nccl ? *nccl : static_cast<c10d::Backend&>(*gloo);
  }
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
    : place_(place), meeting_(meeting), group_(std::make_unique<Group>()) {
  require(place.size >= 1 && place.rank >= 0 && place.rank < place.size, "ranks: rank must be from 0 to ",
          place.size - 1, ", got ", place.rank);
  std::signal(SIGPIPE, SIG_IGN);  // a rank that has ended is an error here and no end
  FLAGS_caffe2_log_level = 3;     // exceptions say all that c10d would write to stderr, with its stack
  told(place_, "the start", [&] {
    auto options = c10d::ProcessGroupGloo::Options::create(meeting.timeout);
    options->devices.push_back(device_of(place, meeting));
    options->threads = 1;
    group_->store = store_of(place, meeting);
    group_->gloo =
        c10::make_intrusive<c10d::ProcessGroupGloo>(group_->store, place.rank, place.size, options);
  });
  const std::string host = host_name(), own = host + "\n" + own_cores();
  sharing_cores_ = 0;
  for (const std::string& other : gather(own)) {
    hosts_.push_back(other.substr(0, other.find('\n')));
    sharing_cores_ += other == own ? 1 : 0;
  }
  local_rank_ = place.local_rank.value_or(
      static_cast<int>(std::count(hosts_.begin(), hosts_.begin() + place.rank, hosts_[place.rank])));
}

Ranks::~Ranks() {
  try {
    if (group_->gloo) {  // or `leave` has said so
      group_->store->setTimeout(kLastWords);
      group_->store->add(kLeft, 1);
    }
    if (group_->nccl) {
      shut_down(group_->nccl,
                meeting_.timeout);  // together with the others, whose sums may still need this card
    }
  } catch (const std::exception&) {  // one has ended before
  }
}

void Ranks::use_card(at::Device card) {
  const std::string own = card_name(card);
  const std::vector<std::string> cards = gather(own);
  if (own.empty() || std::set(cards.begin(), cards.end()).size() < cards.size()) {
    return;
  }
  const std::string interface =
      meeting_.interface.empty() && is_one_host(place_) ? "lo" : meeting_.interface;  // as Gloo's
  told(place_, "the start of NCCL", [&] {
    group_->nccl = start_nccl(group_->store, place_.rank, place_.size, interface, meeting_.timeout);
    sum(at::ones({1}, at::TensorOptions(card)));  // which makes the connections
  });
}

bool Ranks::has_nccl() const {
  return group_->nccl != nullptr;
}

Ranks::Sum Ranks::start_sum(const Tensor& x) {
  require(x.is_contiguous(), "ranks: a sum must be of a contiguous tensor");
  Sum sum;
  sum.work_ = std::make_unique<Sum::Work>();
  sum.work_->place = place_;
  sum.work_->work = told(place_, "a sum", [&] {
    std::vector<Tensor> tensors{x.detach()};
    return group_->of(x).allreduce(tensors);
  });
  return sum;
}

void Ranks::sum(const Tensor& x) {
  start_sum(x).wait();
}

void Ranks::broadcast(const Tensor& x, int from) {
  require(x.is_contiguous(), "ranks: a broadcast must be of a contiguous tensor");
  told(place_, "a broadcast", [&] {
    std::vector<Tensor> tensors{x.detach()};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    group_->of(x).broadcast(tensors, options)->wait();
  });
}

std::vector<int64_t> Ranks::all_sizes(size_t own) {
  const Tensor sizes = at::zeros({place_.size}, at::kLong);
  sizes[place_.rank] = static_cast<int64_t>(own);
  sum(sizes);
  return {sizes.const_data_ptr<int64_t>(), sizes.const_data_ptr<int64_t>() + place_.size};
}

int64_t Ranks::total(int64_t here) {
  const Tensor number = at::full({1}, here, at::kLong);
  sum(number);
  return number.item<int64_t>();
}

std::vector<std::string> Ranks::gather(std::string bytes) {
  const std::vector<int64_t> sizes = all_sizes(bytes.size());
  std::vector<std::string> all;
  for (int r = 0; r < place_.size; ++r) {
    std::string& part = all.emplace_back(r == place_.rank ? std::move(bytes)
                                                          : std::string(static_cast<size_t>(sizes[r]), '\0'));
    if (sizes[r] > 0) {
      broadcast(as_tensor(part), r);
    }
  }
  return all;
}

void Ranks::collect(std::string bytes, const std::function<void(std::string)>& use) {
  const std::vector<int64_t> sizes = all_sizes(bytes.size());
  if (place_.rank > 0) {
    if (!bytes.empty()) {
      told(place_, "a message", [&] {
        std::vector<Tensor> part{as_tensor(bytes)};
        group_->gloo->send(part, 0, 0)->wait();
      });
    }
    return;
  }
  use(std::move(bytes));
  for (int r = 1; r < place_.size; ++r) {
    std::string of_rank(static_cast<size_t>(sizes[r]), '\0');
    if (!of_rank.empty()) {
      told(place_, "a message", [&] {
        std::vector<Tensor> part{as_tensor(of_rank)};
        group_->gloo->recv(part, r, 0)->wait();
      });
    }
    use(std::move(of_rank));
  }
}

void Ranks::require_same(const std::string& what, const std::string& own) {
  const std::vector<std::string> all = gather(own);
  for (int rank = 1; rank < place_.size; ++rank) {
    require<DataError>(all[rank] == all[0], what, ": must be the same for all ranks, but rank 0 has ", all[0],
                       " and rank ", rank, " has ", all[rank]);
  }
}

void Ranks::barrier() {
  total(0);
}

void Ranks::wait_for_first() {
  const std::string key = text(kFirst, " ", ++waits_for_first_);
  told(place_, "the first one's work", [&] {
    if (place_.rank == 0) {
      group_->store->set(key, std::string());
    }
    while (!group_->store->check({key})) {
      require<RankLeaves>(!group_->store->check({kFailed}), "another rank has failed");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

std::optional<int> Ranks::failed_before(int code) noexcept {
  try {
    group_->store->setTimeout(kLastWords);
    if (group_->store->add(kFailed, 1) == 1) {
      group_->store->set(kCode, std::to_string(code));
      return {};
    }
    return static_cast<int>(parse_integer(group_->store->get_to_str(kCode)).value_or(code));
  } catch (const std::exception&) {  // the first rank has ended, and with it where all meet
    return {};
  }
}

int Ranks::failure_of_another(int otherwise) noexcept {
  try {
    return static_cast<int>(parse_integer(group_->store->get_to_str(kCode)).value_or(otherwise));
  } catch (const std::exception&) {
    return otherwise;
  }
}

void Ranks::leave(std::chrono::milliseconds waits) noexcept {
  const auto left = [&](int64_t more) { return group_->store->add(kLeft, more); };
  try {
    // Which waits for sums that are under way.
    std::thread([gloo = std::move(group_->gloo), nccl = std::move(group_->nccl)]() mutable {
      if (nccl) {
        nccl->abort();
      }
      gloo.reset();
    }).detach();
    group_->store->setTimeout(kLastWords);
    left(1);
    const auto end = std::chrono::steady_clock::now() + waits;
    const bool keeps_store = place_.rank == 0 && !place_.address.empty();
    while (keeps_store && left(0) < place_.size && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  } catch (const std::exception&) {  // the first rank has ended, and with it where all meet
  }
}

}  // namespace weyl
