#include "weyl/data/atoms/molecular_graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {

std::array<Quantity, 3> graph_features() {
  return {Quantity{.name = "degree", .level = Level::node, .channels = degree_channels},
          {.name = "bond", .level = Level::pair, .channels = bond_channels},
          {.name = "path", .level = Level::pair, .channels = path_channels}};
}

void append_graph(const AtomsFrame& frame, std::vector<double>& degrees, std::vector<double>& pairs) {
  require(frame.size() <= most_atoms_of_graph, "molecular graph: must have at most ", most_atoms_of_graph,
          " atoms, has ", frame.size());
  const auto n = static_cast<size_t>(frame.size());
  constexpr auto width = static_cast<size_t>(bond_channels + path_channels);
  std::vector<std::vector<size_t>> bonded(n);
  const size_t first = pairs.size();
  pairs.resize(first + n * n * width, 0);
  const auto row = [&](size_t i, size_t j) {
    return pairs.begin() + static_cast<ptrdiff_t>(first + (i * n + j) * width);
  };
  for (const Bond& bond : frame.bonds) {
    const auto i = static_cast<size_t>(bond.first), j = static_cast<size_t>(bond.second);
    bonded[i].push_back(j);
    bonded[j].push_back(i);
    const int kind = bond.order >= 1 && bond.order <= 4 ? bond.order - 1 : 4;
    row(i, j)[kind] = row(j, i)[kind] = 1;
  }
  for (size_t i = 0; i < n; ++i) {
    const size_t begin = degrees.size();
    degrees.resize(begin + degree_channels, 0);
    degrees[begin + std::min<size_t>(bonded[i].size(), degree_channels - 1)] = 1;
    // Breadth first: `reached` atoms of one distance follow those of the distance before.
    std::vector<int64_t> distance(n, -1);
    std::vector<size_t> reached{i};
    distance[i] = 0;
    for (size_t at = 0; at < reached.size(); ++at) {
      for (const size_t j : bonded[reached[at]]) {
        if (distance[j] < 0) {
          distance[j] = distance[reached[at]] + 1;
          reached.push_back(j);
          row(i, j)[bond_channels + std::min(distance[j], path_channels) - 1] = 1;
        }
      }
    }
  }
}

namespace {

/// The atoms that each atom is bonded to, and twice the sum of its bonds' orders, by which those of an aromatic ring count
/// alike however the ring is written.
struct BondedAtoms {
  std::vector<std::vector<size_t>> of;
  std::vector<int64_t> orders;

  explicit BondedAtoms(const AtomsFrame& frame)
      : of(static_cast<size_t>(frame.size())), orders(of.size(), 0) {
    for (const Bond& bond : frame.bonds) {
      const auto a = static_cast<size_t>(bond.first), b = static_cast<size_t>(bond.second);
      of[a].push_back(b);
      of[b].push_back(a);
      const int64_t twice = bond.order == 4 ? 3 : 2 * bond.order;
      orders[a] += twice;
      orders[b] += twice;
    }
    for (auto& atoms : of) {
      std::ranges::sort(atoms);
    }
  }
  bool has(size_t a, size_t b) const { return std::ranges::binary_search(of[a], b); }
};

using Colours = std::vector<int64_t>;

/// The same number for atoms of both molecules around which nothing differs: by elements, by the orders of bonds where
/// `orders`, and by the numbers of the atoms they are bonded to, round by round (Morgan, 1965). Few rounds are enough to
/// tell most atoms apart; what they leave open, the search decides.
std::array<Colours, 2> colours_of(const std::array<const AtomsFrame*, 2>& frames,
                                  const std::array<BondedAtoms, 2>& bonded, bool orders) {
  constexpr int rounds = 16;
  std::array<Colours, 2> colours;
  for (size_t m = 0; m < 2; ++m) {
    colours[m].assign(frames[m]->numbers.begin(), frames[m]->numbers.end());
  }
  size_t kinds = 0;
  for (int round = 0; round < rounds; ++round) {
    std::map<std::vector<int64_t>, int64_t> numbers;
    std::array<Colours, 2> next;
    for (size_t m = 0; m < 2; ++m) {
      for (size_t i = 0; i < colours[m].size(); ++i) {
        std::vector<int64_t> around{colours[m][i]};
        if (round == 0) {
          around.push_back(orders ? bonded[m].orders[i] : 0);
        }
        for (const size_t j : bonded[m].of[i]) {
          around.push_back(colours[m][j]);
        }
        std::sort(around.begin() + (round == 0 ? 2 : 1), around.end());
        next[m].push_back(
            numbers.emplace(std::move(around), static_cast<int64_t>(numbers.size())).first->second);
      }
    }
    colours = std::move(next);
    if (numbers.size() == kinds) {
      break;
    }
    kinds = numbers.size();
  }
  return colours;
}

/// Looks for a match atom by atom, each next to one that has its place, and goes back where it finds none.
class MatchSearch {
 public:
  MatchSearch(const std::array<BondedAtoms, 2>& bonded, const std::array<Colours, 2>& colours)
      : bonded_(bonded), colours_(colours), n_(colours[0].size()), place_(n_, n_), taken_(n_, false) {
    std::vector<bool> reached(n_, false);
    for (size_t begin = 0; begin < n_; ++begin) {
      const size_t first = order_.size();
      if (!reached[begin]) {
        reached[begin] = true;
        order_.push_back(begin);
        from_.push_back(n_);
      }
      for (size_t at = first; at < order_.size(); ++at) {
        for (const size_t j : bonded_[0].of[order_[at]]) {
          if (!reached[j]) {
            reached[j] = true;
            order_.push_back(j);
            from_.push_back(order_[at]);
          }
        }
      }
    }
  }

  std::optional<std::vector<size_t>> find() {
    // Which bounds time and memory; a molecule needs a few for each atom.
    const size_t most_looked_at = 2'000'000 + 100 * n_;
    std::vector<std::vector<size_t>> left;  // what may still be tried for each atom that has been reached
    if (n_ > 0) {
      left.push_back(candidates(0));
    }
    while (!left.empty() && looked_at_ < most_looked_at) {
      size_t& place = place_[order_[left.size() - 1]];
      if (place < n_) {  // which led nowhere
        taken_[place] = false;
        place = n_;
      }
      if (left.back().empty()) {
        left.pop_back();
        continue;
      }
      place = left.back().back();
      taken_[place] = true;
      left.back().pop_back();
      if (left.size() == n_) {
        return place_;
      }
      left.push_back(candidates(left.size()));
    }
    return std::nullopt;
  }

 private:
  /// What the k-th atom may be, the best last.
  std::vector<size_t> candidates(size_t k) {
    const size_t atom = order_[k];
    std::vector<size_t> found;
    const auto add = [&](size_t candidate) {
      ++looked_at_;
      if (!taken_[candidate] && colours_[1][candidate] == colours_[0][atom] &&
          std::ranges::all_of(bonded_[0].of[atom], [&](size_t j) {
            return place_[j] == n_ || bonded_[1].has(candidate, place_[j]);
          })) {
        found.push_back(candidate);
      }
    };
    if (from_[k] < n_) {
      std::ranges::for_each(bonded_[1].of[place_[from_[k]]], add);
    } else {
      for (size_t candidate = 0; candidate < n_; ++candidate) {
        add(candidate);
      }
    }
    std::ranges::reverse(found);
    if (const auto same = std::ranges::find(found, atom); same != found.end()) {
      std::rotate(same, same + 1, found.end());
    }
    return found;
  }

  const std::array<BondedAtoms, 2>& bonded_;
  const std::array<Colours, 2>& colours_;
  size_t n_;
  std::vector<size_t> place_;         // of each atom; n_: none yet
  std::vector<bool> taken_;           // the atoms of the other molecule
  size_t looked_at_ = 0;              // candidates
  std::vector<size_t> order_, from_;  // the atoms as they are placed, and the bonded one before, n_: none
};

}  // namespace

std::optional<std::vector<size_t>> matching_atoms(const AtomsFrame& molecule, const AtomsFrame& other) {
  const auto n = static_cast<size_t>(molecule.size());
  if (other.numbers.size() != n || molecule.bonds.size() != other.bonds.size()) {
    return std::nullopt;
  }
  const std::array<BondedAtoms, 2> bonded{BondedAtoms(molecule), BondedAtoms(other)};
  if (molecule.numbers == other.numbers && bonded[0].of == bonded[1].of &&
      bonded[0].orders == bonded[1].orders) {
    std::vector<size_t> same(n);
    std::iota(same.begin(), same.end(), size_t{0});
    return same;
  }
  for (const bool orders : {true, false}) {
    const auto colours = colours_of({&molecule, &other}, bonded, orders);
    auto sorted = colours;
    std::ranges::for_each(sorted, [](Colours& all) { std::ranges::sort(all); });
    if (sorted[0] != sorted[1]) {
      continue;
    }
    if (auto found = MatchSearch(bonded, colours).find()) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace weyl
