#include "weyl/algebra/finite/subgroup_chain.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace weyl {
namespace {

using Elements = std::vector<int64_t>;
constexpr size_t most_subgroups = 400;

struct LargestFirst {
  bool operator()(const Elements& a, const Elements& b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};

// One generator for each cyclic subgroup: what any element adds to a subgroup, one of these adds.
Elements cyclic_generators(const GroupTable& group) {
  std::set<Elements> known;
  Elements generators;
  for (int64_t g = 0; g < group.order(); ++g) {
    if (g != group.identity() && known.insert(group.generated({{g}})).second) {
      generators.push_back(g);
    }
  }
  return generators;
}

// Subgroups by size, largest first, each with generators: each comes from a smaller one and one element more. The largest
// is extended first, so that large ones are found also where there are too many.
std::map<Elements, Elements, LargestFirst> subgroups_of(const GroupTable& group) {
  const Elements candidates = cyclic_generators(group);
  std::map<Elements, Elements, LargestFirst> found{{{group.identity()}, {}}}, waiting = found;
  while (!waiting.empty() && found.size() < most_subgroups) {
    const auto [subgroup, generators] = *waiting.begin();
    waiting.erase(waiting.begin());
    for (const int64_t g : candidates) {
      if (std::ranges::binary_search(subgroup, g)) {
        continue;
      }
      Elements more = generators;
      more.push_back(g);
      Elements larger = group.generated(more);
      if (found.emplace(larger, more).second) {
        waiting.emplace(std::move(larger), std::move(more));
      }
    }
  }
  return found;
}

}  // namespace

std::vector<std::vector<int64_t>> subgroup_chain(const GroupTable& group) {
  Elements all(group.order());
  for (int64_t g = 0; g < group.order(); ++g) {
    all[g] = g;
  }
  std::vector<Elements> chain{all};
  for (const auto& [subgroup, generators] :
       subgroups_of(group)) {  // largest first, so one pass finds each next one
    if (subgroup.size() < chain.back().size() && std::ranges::includes(chain.back(), subgroup)) {
      chain.push_back(subgroup);
    }
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace weyl
