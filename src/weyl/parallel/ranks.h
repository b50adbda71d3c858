#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/parallel/message.h"
#include "weyl/parallel/place.h"

namespace weyl {

using at::Tensor;

/// Another rank has ended, did not answer in time, or never came. The message names this one.
class RankError : public Error {
 public:
  using Error::Error;
};

/// What goes wrong on all ranks alike is told by the first of them. The others throw this, about which there is nothing to say.
class RankLeaves : public RankError {
 public:
  using RankError::RankError;
};

/// How the ranks find and reach one another.
struct Meeting {
  std::string
      file;  // where they meet if the place has no address: of one start alone, on a disk that all see
  std::string
      interface;  // of the network, "eth0"; empty: the loopback where all ranks are of this host, else what the
                  // host's name stands for. Nothing on it asks for a password
  std::chrono::milliseconds timeout{60'000};  // for which one waits for another, to come or to answer
};

/// Several processes that work together, over Gloo of LibTorch's c10d: float32, float64 and int64 tensors on the CPU, and on
/// cards (`use_card`). All ranks must make the same calls in the same order. The result of `sum` has the same bits on all ranks, and each time for
/// as many ranks and tensors of the same size; with other borders between tensors it has others from three ranks on, where
/// a ring adds each element in an order that depends on its place. Every call may throw a RankError.
class Ranks {
 public:
  /// Meets the others; returns when all are there. From then on the process ignores SIGPIPE.
  Ranks(const RankPlace& place, const Meeting& meeting);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  const RankPlace& place() const { return place_; }
  /// The name of each rank's host, in their order.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// Which of the ranks of its host this one is: as the place says, else by their order.
  int local_rank() const { return local_rank_; }
  /// How many ranks may use the cores that this one may: those of its host that are bound to no others.
  int64_t sharing_cores() const { return sharing_cores_; }

  /// To be called once, by all ranks with the CUDA device of each, before tensors on it are summed or broadcast. That is done by
  /// NCCL where each rank has a device of its own and this build has NCCL, else by Gloo through the host's memory.
  void use_card(at::Device card);
  /// Whether NCCL does it.
  bool has_nccl() const;

  /// A sum that is under way.
  class Sum {
   public:
    Sum();
    ~Sum();
    Sum(Sum&&) noexcept;
    Sum& operator=(Sum&&) noexcept;
    /// Returns when the tensor holds the sum.
    void wait();

   private:
    friend class Ranks;
    struct Work;
    std::unique_ptr<Work> work_;
  };

  /// The sum over all ranks, in place of x, which must be contiguous and of one shape and dtype everywhere.
  void sum(const Tensor& x);
  /// The same while the caller goes on; x must not be touched before `wait`.
  Sum start_sum(const Tensor& x);
  /// x of rank `from`, in place of that of the others.
  void broadcast(const Tensor& x, int from = 0);
  /// The sum of a whole number over all ranks, the same on all of them.
  int64_t total(int64_t here);
  /// The bytes of all ranks, in their order, of any sizes, on every rank.
  std::vector<std::string> gather(std::string bytes);
  /// Gives those of all ranks to `use` on the first rank, one after the other as they come; none on the others.
  void collect(std::string bytes, const std::function<void(std::string)>& use);
  /// DataError unless `own` is the same on all ranks: `what` "must be the same for all", with what the first of the others has.
  void require_same(const std::string& what, const std::string& own);
  /// Returns when all ranks have called it.
  void barrier();
  /// Returns when the first rank has called it, however long that takes: it alone measures and writes what all need. RankError: it has
  /// ended.
  void wait_for_first();

  /// To be called by a rank that is about to end for a fault, before it says so. Nothing: no other has called it, and this one
  /// says why all end. Else the others' ends follow from that one's: the exit code that it gave.
  std::optional<int> failed_before(int code) noexcept;
  /// For a rank that has nothing to say of it: returns when another has called `failed_before`, with its exit code, or has gone.
  int failure_of_another(int otherwise) noexcept;
  /// Lets the others hear of this rank's end, and of what `failed_before` says. To be called once and last, after a fault, in a
  /// process that ends by _exit: sums that are under way may never end. The first rank, at whose address all hear of it, stays
  /// until they have, at most for `waits`.
  void leave(std::chrono::milliseconds waits) noexcept;

 private:
  struct Group;
  std::vector<int64_t> all_sizes(size_t own);
  RankPlace place_;
  Meeting meeting_;
  std::unique_ptr<Group> group_;
  std::vector<std::string> hosts_;
  int64_t sharing_cores_ = 1;
  int local_rank_ = 0;
  int64_t waits_for_first_ = 0;
};

/// What all ranks tell, in their order, on each of them.
template <class T>
std::vector<T> told_by_all(Ranks& ranks, T own) {
  Message message;
  message(own);
  own = T();
  std::vector<T> all;
  for (std::string& bytes : ranks.gather(message.take())) {
    Message(std::move(bytes))(all.emplace_back());
  }
  return all;
}

/// Gives `use` what all ranks tell, one after the other, on the first rank alone, which holds one of them at a time.
template <class T>
void tell_first(Ranks& ranks, T own, const std::function<void(T)>& use) {
  Message message;
  message(own);
  own = T();
  ranks.collect(message.take(), [&](std::string bytes) {
    T told;
    Message(std::move(bytes))(told);
    use(std::move(told));
  });
}

/// Whether this process is the first of those that work together; null: it is alone.
inline bool is_first(const std::shared_ptr<Ranks>& ranks) {
  return ranks == nullptr || ranks->rank() == 0;
}
/// How many they are.
inline int64_t count_of(const std::shared_ptr<Ranks>& ranks) {
  return ranks == nullptr ? 1 : ranks->size();
}

}  // namespace weyl
