#include "weyl/data/atoms/molecular_graph.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "weyl/algebra/lie/kabsch.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

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

/// How far an atom is from what it may be; the nearest is tried first.
using Farness = std::function<double(size_t atom, size_t candidate)>;

/// Looks for matches atom by atom, each next to one that has its place, and goes back where it finds none.
class MatchSearch {
 public:
  /// Without `farness` atoms that may keep their number are tried first.
  MatchSearch(const std::array<BondedAtoms, 2>& bonded, const std::array<Colours, 2>& colours,
              Farness farness = {})
      : bonded_(bonded),
        colours_(colours),
        farness_(std::move(farness)),
        n_(colours[0].size()),
        place_(n_, n_),
        taken_(n_, false) {
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

  /// The next match, at first the first one.
  std::optional<AtomMatch> next() {
    // Which bounds time and memory; a molecule needs a few for each atom.
    const size_t most_looked_at = 2'000'000 + 100 * n_;
    if (n_ > 0 && !std::exchange(begun_, true)) {
      left_.push_back(candidates(0));
    }
    while (!left_.empty() && looked_at_ < most_looked_at) {
      size_t& place = place_[order_[left_.size() - 1]];
      if (place < n_) {  // which led nowhere, or to the match before
        taken_[place] = false;
        place = n_;
      }
      if (left_.back().empty()) {
        left_.pop_back();
        continue;
      }
      place = left_.back().back();
      taken_[place] = true;
      left_.back().pop_back();
      if (left_.size() == n_) {
        return place_;
      }
      left_.push_back(candidates(left_.size()));
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
    if (farness_) {
      std::vector<std::pair<double, size_t>> far;
      for (const size_t candidate : found) {
        far.emplace_back(farness_(atom, candidate), candidate);
      }
      std::ranges::sort(far, std::greater());
      std::ranges::transform(far, found.begin(), [](const auto& each) { return each.second; });
    } else if (const auto same = std::ranges::find(found, atom); same != found.end()) {
      std::rotate(same, same + 1, found.end());
    }
    return found;
  }

  const std::array<BondedAtoms, 2>& bonded_;
  const std::array<Colours, 2>& colours_;
  Farness farness_;
  size_t n_;
  AtomMatch place_;                        // of each atom; n_: none yet
  std::vector<bool> taken_;                // the atoms of the other molecule
  std::vector<std::vector<size_t>> left_;  // what may still be tried for each atom that has been reached
  bool begun_ = false;
  size_t looked_at_ = 0;              // candidates
  std::vector<size_t> order_, from_;  // the atoms as they are placed, and the bonded one before, n_: none
};

AtomMatch same_numbers(size_t n) {
  AtomMatch same(n);
  std::iota(same.begin(), same.end(), size_t{0});
  return same;
}

/// A match, and whether it keeps the orders of bonds.
struct FoundMatch {
  AtomMatch atoms;
  bool orders = true;
};

std::optional<FoundMatch> first_match(const AtomsFrame& molecule, const AtomsFrame& other) {
  const auto n = static_cast<size_t>(molecule.size());
  if (other.numbers.size() != n || molecule.bonds.size() != other.bonds.size()) {
    return std::nullopt;
  }
  const std::array<BondedAtoms, 2> bonded{BondedAtoms(molecule), BondedAtoms(other)};
  if (molecule.numbers == other.numbers && bonded[0].of == bonded[1].of &&
      bonded[0].orders == bonded[1].orders) {
    return FoundMatch{same_numbers(n)};
  }
  for (const bool orders : {true, false}) {
    const auto colours = colours_of({&molecule, &other}, bonded, orders);
    auto sorted = colours;
    std::ranges::for_each(sorted, [](Colours& all) { std::ranges::sort(all); });
    if (sorted[0] != sorted[1]) {
      continue;
    }
    if (auto found = MatchSearch(bonded, colours).next()) {
      return FoundMatch{*std::move(found), orders};
    }
  }
  return std::nullopt;
}

using Geometry = std::vector<Vector3>;

Geometry geometry_of(const std::vector<double>& places) {
  Geometry geometry(places.size() / 3);
  for (size_t k = 0; k < places.size(); ++k) {
    geometry[k / 3][k % 3] = places[k];
  }
  return geometry;
}

Geometry in_order(const Geometry& places, const AtomMatch& atoms) {
  Geometry result;
  for (const size_t atom : atoms) {
    result.push_back(places[atom]);
  }
  return result;
}

double square_of_way(const Vector3& a, const Vector3& b) {
  double sum = 0;
  for (size_t c = 0; c < 3; ++c) {
    sum += (a[c] - b[c]) * (a[c] - b[c]);
  }
  return sum;
}

/// The symmetry of a graph that brings a geometry nearest to another one.
class NearestSymmetry {
 public:
  NearestSymmetry(const Geometry& from, const Geometry& to)
      : from_(from), to_(to), best_(same_numbers(from.size())), least_(farness(best_)) {}

  /// Whether it is nearer than all before, beyond rounding, by which every symmetry of an exact one is as near.
  bool take(const AtomMatch& symmetry) {
    constexpr double rounding = 1e-9;  // A^2
    const double far = farness(symmetry);
    if (far >= least_ - rounding) {
      return false;
    }
    best_ = symmetry;
    least_ = far;
    return true;
  }

  /// Takes a symmetry and goes on to those whose atoms lie nearest to where the rotation of the one before puts them.
  void refine(const std::array<BondedAtoms, 2>& bonded, const std::array<Colours, 2>& colours,
              const AtomMatch& symmetry) {
    constexpr int most = 20;
    NearestSymmetry here(from_, to_);
    here.best_ = symmetry;
    here.least_ = farness(symmetry);
    for (int round = 0; round < most; ++round) {
      const RigidFit fit = kabsch(in_order(from_, here.best_), to_);
      Geometry turned;
      std::ranges::transform(from_, std::back_inserter(turned), fit);
      auto found = MatchSearch(bonded, colours, [&](size_t atom, size_t candidate) {
                     return square_of_way(turned[candidate], to_[atom]);
                   }).next();
      if (!found || !here.take(*found)) {
        break;
      }
    }
    take(here.best_);
  }

  const AtomMatch& best() const { return best_; }

 private:
  double farness(const AtomMatch& symmetry) const {
    const Geometry from = in_order(from_, symmetry);
    const RigidFit fit = kabsch(from, to_);
    double sum = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      sum += square_of_way(fit(from[i]), to_[i]);
    }
    return sum;
  }

  const Geometry &from_, &to_;
  AtomMatch best_;
  double least_;
};

}  // namespace

std::optional<AtomMatch> matching_atoms(const AtomsFrame& molecule, const AtomsFrame& other) {
  auto found = first_match(molecule, other);
  return found ? std::optional(std::move(found->atoms)) : std::nullopt;
}

const std::vector<AtomMatch>& AtomMatcher::symmetries(bool orders) {
  std::vector<AtomMatch>& all = symmetries_[orders ? 1 : 0];
  if (all.empty()) {
    const BondedAtoms each(molecule_);
    const std::array<BondedAtoms, 2> bonded{each, each};
    const auto colours = colours_of({&molecule_, &molecule_}, bonded, orders);
    MatchSearch search(bonded, colours);
    for (auto found = search.next(); found && all.size() < most_symmetries; found = search.next()) {
      all.push_back(*std::move(found));
    }
  }
  return all;
}

std::optional<AtomMatch> AtomMatcher::nearest(const AtomsFrame& other, const std::vector<double>& places) {
  const auto found = first_match(molecule_, other);
  if (!found || found->atoms.empty()) {
    return found ? std::optional(found->atoms) : std::nullopt;
  }
  const std::vector<AtomMatch>& all = symmetries(found->orders);
  if (all.size() == 1) {
    return found->atoms;
  }
  const Geometry from = in_order(geometry_of(other.positions), found->atoms), to = geometry_of(places);
  NearestSymmetry nearest(from, to);
  std::ranges::for_each(all, [&](const AtomMatch& symmetry) { nearest.take(symmetry); });
  if (all.size() == most_symmetries) {
    const BondedAtoms each(molecule_);
    const std::array<BondedAtoms, 2> bonded{each, each};
    const auto colours = colours_of({&molecule_, &molecule_}, bonded, found->orders);
    nearest.refine(bonded, colours, AtomMatch(nearest.best()));
    Stream stream(0, "symmetries", {all.front().size()});
    for (size_t draw = 0; draw < drawn_symmetries; ++draw) {
      const auto drawn =
          MatchSearch(bonded, colours, [&](size_t, size_t) { return stream.uniform(); }).next();
      if (drawn) {
        nearest.refine(bonded, colours, *drawn);
      }
    }
  }
  AtomMatch result;
  for (const size_t atom : nearest.best()) {
    result.push_back(found->atoms[atom]);
  }
  return result;
}

}  // namespace weyl
