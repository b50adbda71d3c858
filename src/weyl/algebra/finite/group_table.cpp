#include "weyl/algebra/finite/group_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {
namespace {

std::vector<int64_t> products_of(const FiniteGroup& group) {
  const int64_t G = group.order();
  require<ConfigError>(G <= GroupTable::most_elements, "group '", group.name(), "': irreps want at most ",
                       GroupTable::most_elements, " elements, got ", G);
  std::vector<int64_t> products(G * G);
  for (int64_t g = 0; g < G; ++g) {
    for (int64_t h = 0; h < G; ++h) {
      products[g * G + h] = group.product(g, h);
    }
  }
  return products;
}

}  // namespace

GroupTable::GroupTable(std::string name, std::vector<int64_t> products)
    : name_(std::move(name)), products_(std::move(products)) {
  const auto entries = static_cast<int64_t>(products_.size());
  order_ = std::llround(std::sqrt(static_cast<double>(entries)));
  require<ConfigError>(order_ >= 1 && order_ * order_ == entries, "group '", name_,
                       "': a table of products must have G x G entries, got ", entries);
  require<ConfigError>(order_ <= most_elements, "group '", name_, "': irreps want at most ", most_elements,
                       " elements, got ", order_);
  require_laws();
}

GroupTable::GroupTable(const FiniteGroup& group) : GroupTable(group.name(), products_of(group)) {}

void GroupTable::require_laws() {
  const int64_t G = order_;
  for (int64_t i = 0; i < G * G; ++i) {
    require<ConfigError>(products_[i] >= 0 && products_[i] < G, "group '", name_,
                         "': products must be from 0 to ", G - 1, ", got element ", i / G, " times element ",
                         i % G, " = ", products_[i]);
  }
  for (int64_t e = 0; e < G && identity_ < 0; ++e) {
    bool neutral = true;
    for (int64_t g = 0; g < G && neutral; ++g) {
      neutral = product(e, g) == g && product(g, e) == g;
    }
    identity_ = neutral ? e : -1;
  }
  require<ConfigError>(identity_ >= 0, "group '", name_, "': its table must have an identity, got none");
  inverse_.assign(G, -1);
  for (int64_t g = 0; g < G; ++g) {
    for (int64_t h = 0; h < G && inverse_[g] < 0; ++h) {
      inverse_[g] = product(g, h) == identity_ && product(h, g) == identity_ ? h : -1;
    }
    require<ConfigError>(inverse_[g] >= 0, "group '", name_,
                         "': every element must have an inverse, element ", g, " has none");
  }
  // Light's test: (a s) b = a (s b) for every s of a set that generates everything is enough.
  std::vector<int64_t> generators, reached{identity_};
  while (static_cast<int64_t>(reached.size()) < G) {
    int64_t next = 0;
    while (std::ranges::binary_search(reached, next)) {
      ++next;
    }
    generators.push_back(next);
    reached = generated(generators);
  }
  for (const int64_t s : generators) {
    for (int64_t a = 0; a < G; ++a) {
      for (int64_t b = 0; b < G; ++b) {
        const int64_t left = product(product(a, s), b), right = product(a, product(s, b));
        require<ConfigError>(left == right, "group '", name_, "': products must be associative, got (", a,
                             " ", s, ") ", b, " = ", left, " and ", a, " (", s, " ", b, ") = ", right);
      }
    }
  }
}

std::vector<int64_t> GroupTable::generated(std::span<const int64_t> elements) const {
  std::vector<bool> known(order_);
  std::vector<int64_t> reached{identity_};
  known[identity_] = true;
  for (size_t next = 0; next < reached.size(); ++next) {
    for (const int64_t g : elements) {
      const int64_t product = this->product(reached[next], g);
      if (!known[product]) {
        known[product] = true;
        reached.push_back(product);
      }
    }
  }
  std::ranges::sort(reached);
  return reached;
}

GroupTable GroupTable::subgroup(std::span<const int64_t> elements) const {
  const auto H = static_cast<int64_t>(elements.size());
  std::vector<int64_t> place(order_, -1), products(H * H);
  for (int64_t i = 0; i < H; ++i) {
    place[elements[i]] = i;
  }
  for (int64_t i = 0; i < H; ++i) {
    for (int64_t j = 0; j < H; ++j) {
      products[i * H + j] = place[product(elements[i], elements[j])];
    }
  }
  return {name_, std::move(products)};
}

std::vector<int64_t> GroupTable::left_cosets(std::span<const int64_t> subgroup) const {
  std::vector<bool> covered(order_);
  std::vector<int64_t> cosets;
  const auto take = [&](int64_t t) {
    if (!covered[t]) {
      cosets.push_back(t);
      for (const int64_t h : subgroup) {
        covered[product(t, h)] = true;
      }
    }
  };
  take(identity_);
  for (int64_t g = 0; g < order_; ++g) {
    take(g);
  }
  return cosets;
}

ConjugacyClasses::ConjugacyClasses(const GroupTable& group) : of(group.order(), -1) {
  const auto collect = [&](int64_t g) {
    if (of[g] >= 0) {
      return;
    }
    sizes.push_back(0);
    first.push_back(g);
    for (int64_t x = 0; x < group.order(); ++x) {
      int64_t& place = of[group.product(group.product(x, g), group.inverse(x))];
      if (place < 0) {
        place = count() - 1;
        ++sizes.back();
      }
    }
  };
  collect(group.identity());
  for (int64_t g = 0; g < group.order(); ++g) {
    collect(g);
  }
}

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
