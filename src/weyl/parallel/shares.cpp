#include "weyl/parallel/shares.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {

std::vector<std::vector<int64_t>> shares_of(std::span<const int64_t> work, int ranks) {
  require(ranks >= 1, "shares_of: ranks must be at least 1, got ", ranks);
  std::vector<int64_t> order(work.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](int64_t i) { return work[i]; });
  using Load = std::pair<int64_t, int>;  // work and rank
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (int r = 0; r < ranks; ++r) {
    least.emplace(0, r);
  }
  std::vector<std::vector<int64_t>> shares(static_cast<size_t>(ranks));
  for (const int64_t i : order) {
    const auto [load, rank] = least.top();
    least.pop();
    shares[rank].push_back(i);
    least.emplace(load + work[i], rank);
  }
  for (auto& share : shares) {
    std::ranges::sort(share);
  }
  return shares;
}

double balance_of(std::span<const int64_t> work, const std::vector<std::vector<int64_t>>& shares) {
  int64_t all = 0, most = 0;
  for (const auto& share : shares) {
    int64_t load = 0;
    for (const int64_t i : share) {
      load += work[i];
    }
    all += load;
    most = std::max(most, load);
  }
  return most == 0
             ? 1
             : static_cast<double>(all) / static_cast<double>(most) / static_cast<double>(shares.size());
}

std::vector<Bucket> buckets_of(std::span<const int64_t> bytes, int64_t most) {
  std::vector<Bucket> buckets;
  for (size_t p = bytes.size(); p-- > 0;) {
    if (buckets.empty() || buckets.back().bytes + bytes[p] > most) {
      buckets.emplace_back();
    }
    buckets.back().parameters.insert(buckets.back().parameters.begin(), p);
    buckets.back().bytes += bytes[p];
  }
  return buckets;
}

}  // namespace weyl
