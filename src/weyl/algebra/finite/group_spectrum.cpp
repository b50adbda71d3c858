#include "weyl/algebra/finite/group_spectrum.h"

#include <algorithm>
#include <utility>

#include "weyl/algebra/finite/adapted_irreps.h"
#include "weyl/algebra/finite/subgroup_chain.h"

namespace weyl {
namespace {

// The transform of one group of the chain before it is normalised.
struct Level {
  std::vector<AdaptedIrrep> irreps = trivial_irreps();
  std::vector<DoubleDouble> entries{1};  // (G, G), row (irrep, i, l), column g: u_i^T rho(g) e_l
  std::vector<DoubleDouble> squares{1};  // (G) d/G of a row's irrep: one over the sum of its squares
  std::vector<int64_t> places{0};        // (G) which element stands in a place of the transform by stages
};

void fill_entries(int64_t G, Level& level) {
  level.entries.clear();
  level.squares.clear();
  for (const auto& irrep : level.irreps) {
    const int64_t d = irrep.character.dimension;
    for (int64_t i = 0; i < irrep.multiplicity(); ++i) {
      for (int64_t l = 0; l < d; ++l) {
        level.squares.push_back(DoubleDouble(static_cast<double>(d)) / static_cast<double>(G));
        for (int64_t g = 0; g < G; ++g) {
          DoubleDouble entry;
          for (int64_t k = 0; k < d; ++k) {
            const DoubleDouble& u = irrep.rows[i * d + k];
            if (u.high != 0) {
              entry += u * irrep.matrices[(g * d + k) * d + l];
            }
          }
          level.entries.push_back(entry);
        }
      }
    }
  }
}

// What makes a group's transform of those of the cosets t H: its entries at t h, analysed by H.
SparseStage stage_between(const GroupTable& group, std::span<const int64_t> subgroup,
                          std::span<const int64_t> cosets, const Level& below, const Level& level) {
  const int64_t G = group.order();
  const auto H = static_cast<int64_t>(subgroup.size());
  SparseStage stage{G, {0}, {}, {}};
  for (int64_t row = 0; row < G; ++row) {
    for (int64_t t = 0; t < static_cast<int64_t>(cosets.size()); ++t) {
      for (int64_t c = 0; c < H; ++c) {
        DoubleDouble sum;
        for (int64_t h = 0; h < H; ++h) {
          sum += level.entries[row * G + group.product(cosets[t], subgroup[h])] * below.entries[c * H + h];
        }
        const double coefficient = rounded(sum * below.squares[c]);
        if (coefficient != 0) {
          stage.columns.push_back(t * H + c);
          stage.coefficients.push_back(coefficient);
        }
      }
    }
    stage.starts.push_back(static_cast<int64_t>(stage.columns.size()));
  }
  return stage;
}

// From the subgroup's elements, as indices in the group, to the group.
Level level_above(const GroupTable& group, std::span<const int64_t> subgroup, const Level& below,
                  std::vector<SparseStage>& stages) {
  Level level;
  level.irreps = adapted_irreps(group, subgroup, below.irreps);
  fill_entries(group.order(), level);
  const auto cosets = group.left_cosets(subgroup);
  stages.push_back(stage_between(group, subgroup, cosets, below, level));
  level.places.clear();
  for (const int64_t t : cosets) {
    for (const int64_t place : below.places) {
      level.places.push_back(group.product(t, subgroup[place]));
    }
  }
  return level;
}

std::vector<double> rounded_all(const std::vector<DoubleDouble>& numbers) {
  std::vector<double> doubles;
  doubles.reserve(numbers.size());
  for (const auto& x : numbers) {
    doubles.push_back(rounded(x));
  }
  return doubles;
}

}  // namespace

GroupSpectrum::GroupSpectrum(GroupTable table) : table_(std::move(table)) {
  Level level;
  const auto chain = subgroup_chain(table_);
  for (size_t i = 1; i < chain.size(); ++i) {
    std::vector<int64_t> inside;  // the smaller subgroup's elements as indices of the larger
    for (const int64_t g : chain[i - 1]) {
      inside.push_back(std::ranges::lower_bound(chain[i], g) - chain[i].begin());
    }
    level = level_above(table_.subgroup(chain[i]), inside, level, fast_.stages);
  }
  const int64_t G = order();
  fast_.gather = level.places;
  transform_.resize(G * G);
  for (int64_t c = 0; c < G; ++c) {
    const DoubleDouble factor = sqrt(level.squares[c]);
    fast_.factors.push_back(rounded(factor));
    for (int64_t g = 0; g < G; ++g) {
      transform_[g * G + c] = rounded(factor * level.entries[c * G + g]);
    }
  }
  int64_t offset = 0;
  for (const auto& irrep : level.irreps) {
    const int64_t d = irrep.character.dimension, m = irrep.multiplicity();
    irreps_.push_back({irrep.character.type, d, m, offset, rounded_all(irrep.character.values),
                       rounded_all(irrep.matrices), rounded_all(irrep.rows)});
    offset += m * d;
  }
}

}  // namespace weyl
