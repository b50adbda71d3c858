#include "weyl/makers/slabs/slabs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/random.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/dynamics/relaxation.h"
#include "weyl/makers/slabs/effective_medium.h"
#include "weyl/makers/split_files.h"

namespace weyl {

void fields(Fields& f, SlabsMakerOptions& o) {
  f("train", o.train, "slabs for training", {0, 1e6});
  f("valid", o.valid, "slabs for validation, of other pairs of metal and adsorbate", {0, 1e6});
  f("test", o.test, "slabs for testing, of others again", {0, 1e6});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("threads", o.threads, "threads that work; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const SlabsMakerOptions& o) {
  return {.what = "slabs with an adsorbate, relaxed by effective-medium theory",
          .counts = {{"train", o.train}, {"valid", o.valid}, {"test", o.test}},
          .make = std::bind_front(make_slabs, o)};
}

namespace {

constexpr std::array kMetals{13, 28, 29, 46, 47, 78, 79};
constexpr std::array kAdsorbates{1, 6, 7, 8};
constexpr double kVacuum = 12, kLargestStrain = 0.03, kOffSite = 0.2, kOffPlace = 0.05;  // A, but the strain
constexpr double kLargestForce = 0.01;                                                   // eV/A
constexpr int64_t kMostSteps = 1000, kMostDraws = 100;
constexpr double kHighestAdsorbate = 3;  // A above the highest metal atom: the adsorbate has left the surface

/// Which split a pair of metal and adsorbate belongs to: 0 train, 1 valid, 2 test.
using Pairs = std::array<std::array<int, kAdsorbates.size()>, kMetals.size()>;

Pairs pairs_of(int64_t seed) {
  Stream stream(static_cast<uint64_t>(seed), "slab pairs");
  const auto metals = stream.permutation(kMetals.size());
  const auto adsorbates = stream.permutation(kAdsorbates.size());
  Pairs pairs{};
  for (size_t k = 0; k < kAdsorbates.size(); ++k) {
    pairs[static_cast<size_t>(metals[k])][static_cast<size_t>(adsorbates[k])] = 2;
    // The last metal is the first of the other split again, with another adsorbate.
    const size_t other = (k + kAdsorbates.size()) % kMetals.size();
    pairs[static_cast<size_t>(metals[other])][static_cast<size_t>(adsorbates[k])] = 1;
  }
  return pairs;
}

/// Metal atoms in layers, the lowest first, in a cell with vacuum along z.
struct Slab {
  std::vector<int> numbers;
  std::vector<double> positions;  // (N, 3)
  CellRows cell{};
  int64_t fixed = 0;          // atoms, the first ones
  Vector3 first{}, second{};  // the vectors of the surface's primitive cell
  Vector3 origin{};           // an atom of the highest layer
  bool hexagonal = true;
};

/// The (111) surface, rows of hexagons stacked in threes, or the (100) surface, squares stacked in twos, of a crystal with
/// nearest neighbours at distance d.
Slab clean_slab(double d, Stream& stream) {
  Slab slab;
  slab.hexagonal = stream.below(2) == 0;
  const int64_t along = 2 + stream.below(2), across = 2 + stream.below(2), layers = 3 + stream.below(2);
  slab.first = {d, 0, 0};
  slab.second = slab.hexagonal ? Vector3{d / 2, d * std::sqrt(0.75), 0} : Vector3{0, d, 0};
  const double share = slab.hexagonal ? 1.0 / 3 : 1.0 / 2;
  const double height = d * (slab.hexagonal ? std::sqrt(2.0 / 3) : std::sqrt(0.5));
  for (int64_t layer = 0; layer < layers; ++layer) {
    const double shift = share * static_cast<double>(layer);
    for (int64_t i = 0; i < along; ++i) {
      for (int64_t j = 0; j < across; ++j) {
        const double u = static_cast<double>(i) + shift, v = static_cast<double>(j) + shift;
        Vector3 x{};
        for (size_t c = 0; c < 3; ++c) {
          x[c] = u * slab.first[c] + v * slab.second[c];
        }
        x[2] = kVacuum / 2 + height * static_cast<double>(layer);
        slab.origin = i == 0 && j == 0 ? x : slab.origin;
        slab.positions.insert(slab.positions.end(), x.begin(), x.end());
      }
    }
  }
  slab.fixed = 2 * along * across;
  for (size_t c = 0; c < 3; ++c) {
    slab.cell[0][c] = static_cast<double>(along) * slab.first[c];
    slab.cell[1][c] = static_cast<double>(across) * slab.second[c];
  }
  slab.cell[2] = {0, 0, height * static_cast<double>(layers - 1) + kVacuum + 2};
  return slab;
}

/// A place above a top, bridge or hollow site.
Vector3 above_site(const Slab& slab, Stream& stream) {
  constexpr std::pair<double, double> hexagonal[] = {{0, 0},
                                                     {0.5, 0},
                                                     {1.0 / 3, 1.0 / 3},
                                                     {2.0 / 3, 2.0 / 3}},
                                      square[] = {{0, 0}, {0.5, 0}, {0.5, 0.5}};
  const auto [u, v] = slab.hexagonal ? hexagonal[stream.below(4)] : square[stream.below(3)];
  Vector3 x = slab.origin;
  for (size_t c = 0; c < 2; ++c) {
    x[c] += u * slab.first[c] + v * slab.second[c] + kOffSite * stream.normal();
  }
  x[2] += 1.2 + 0.8 * stream.uniform();
  return x;
}

/// Relaxed with the first `fixed` atoms where they are.
Relaxed relaxed_slab(const std::vector<int>& numbers, const std::vector<double>& positions,
                     const CellRows& cell, int64_t fixed) {
  const EffectiveMedium theory(numbers, cell, {true, true, true});
  const EnergySurface surface = [&](std::span<const double> x) {
    SinglePoint point = theory(x);
    std::fill_n(point.forces.begin(), 3 * fixed, 0.0);
    return point;
  };
  return relax(surface, positions, kLargestForce, kMostSteps);
}

/// One draw; an empty frame where the adsorbate does not stay.
AtomsFrame draw_slab(const Pairs& pairs, int split, Stream& stream) {
  std::vector<std::pair<size_t, size_t>> of_split;
  for (size_t m = 0; m < kMetals.size(); ++m) {
    for (size_t a = 0; a < kAdsorbates.size(); ++a) {
      if (pairs[m][a] == split) {
        of_split.emplace_back(m, a);
      }
    }
  }
  const auto [host, adsorbate] =
      of_split[static_cast<size_t>(stream.below(static_cast<int64_t>(of_split.size())))];
  std::vector<int> guests;
  for (size_t m = 0; m < kMetals.size(); ++m) {
    if (m != host && (pairs[m][adsorbate] == 0 || pairs[m][adsorbate] == split)) {
      guests.push_back(kMetals[m]);
    }
  }
  const bool alloy = stream.below(2) == 0;
  const int guest = guests[static_cast<size_t>(stream.below(static_cast<int64_t>(guests.size())))];
  const double strain = 1 + kLargestStrain * (2 * stream.uniform() - 1);
  Slab slab = clean_slab(strain * EffectiveMedium::bond_length(kMetals[host]), stream);
  const auto metals = static_cast<int64_t>(slab.positions.size() / 3);
  for (int64_t i = 0; i < metals; ++i) {
    slab.numbers.push_back(stream.uniform() < 0.25 && alloy ? guest : kMetals[host]);
    for (size_t c = 0; c < 3; ++c) {
      const double off = kOffPlace * stream.normal();
      slab.positions[static_cast<size_t>(3 * i) + c] += i < slab.fixed ? 0 : off;
    }
  }
  const Vector3 place = above_site(slab, stream);
  AtomsFrame frame;
  frame.numbers = slab.numbers;
  frame.numbers.push_back(kAdsorbates[adsorbate]);
  frame.positions = slab.positions;
  frame.positions.insert(frame.positions.end(), place.begin(), place.end());
  const Relaxed whole = relaxed_slab(frame.numbers, frame.positions, slab.cell, slab.fixed);
  double top = 0;
  for (int64_t i = 0; i < metals; ++i) {
    top = std::max(top, whole.positions[static_cast<size_t>(3 * i) + 2]);
  }
  const double height = whole.positions.back() - top;
  if (height > kHighestAdsorbate || height < -1) {
    return {};
  }
  const Relaxed alone = relaxed_slab(slab.numbers, slab.positions, slab.cell, slab.fixed);
  frame.cell.emplace();
  for (size_t k = 0; k < 9; ++k) {
    (*frame.cell)[k] = slab.cell[k / 3][k % 3];
  }
  frame.pbc = {true, true, true};
  std::vector<int64_t> tags(static_cast<size_t>(metals), 1);
  std::vector<uint8_t> fixed(static_cast<size_t>(metals) + 1, 0);
  std::fill_n(tags.begin(), slab.fixed, 0);
  std::fill_n(fixed.begin(), slab.fixed, 1);
  tags.push_back(2);
  frame.set(AtomColumn{"tags", 1, tags});
  frame.set(AtomColumn{"fixed", 1, fixed});
  frame.set(AtomColumn{"relaxed", 3, whole.positions});
  frame.set("energy", whole.point.energy - alone.point.energy -
                          EffectiveMedium::energy_of_atom(kAdsorbates[adsorbate]));
  frame.set(FrameValue{"host", {}, std::vector<std::string>{std::string(element_symbol(kMetals[host]))}});
  frame.set(FrameValue{
      "adsorbate", {}, std::vector<std::string>{std::string(element_symbol(kAdsorbates[adsorbate]))}});
  return frame;
}

}  // namespace

AtomsFrame make_slab(const SlabsMakerOptions& options, std::string_view split, int64_t index) {
  const Pairs pairs = pairs_of(options.seed);
  const int part = split == "train" ? 0 : split == "valid" ? 1 : 2;
  Stream stream(static_cast<uint64_t>(options.seed), "slab",
                {static_cast<uint64_t>(part), static_cast<uint64_t>(index)});
  for (int64_t draw = 0; draw < kMostDraws; ++draw) {
    try {
      AtomsFrame frame = draw_slab(pairs, part, stream);
      if (frame.size() > 0) {
        return frame;
      }
    } catch (const DataError&) {  // it does not relax: an atom came too near
    }
  }
  throw DataError(text("slabs: one of ", kMostDraws,
                       " draws must relax with its adsorbate on the surface, none did of ", split, " ",
                       index));
}

bool make_slabs(const SlabsMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  return stream_split_files(
      "slabs", {o.train, o.valid, o.test}, folder, o.threads, hooks,
      [&](const char* split, int64_t index) { return make_slab(o, split, index); },
      [](const std::string& path) { return ExtendedXyzWriter(path, Existing::keep); }, ".extxyz");
}

}  // namespace weyl
