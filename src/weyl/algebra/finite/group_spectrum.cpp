#include "weyl/algebra/finite/group_spectrum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weyl/algebra/finite/adapted_irreps.h"
#include "weyl/algebra/finite/group_table.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

// out = M in for every run, or M^T in.
void apply(const SparseStage& stage, bool transposed, int64_t channels, const std::vector<double>& in,
           std::vector<double>& out) {
  std::ranges::fill(out, 0);
  const int64_t run = stage.size * channels;
  for (int64_t first = 0; first < static_cast<int64_t>(in.size()); first += run) {
    for (int64_t row = 0; row < stage.size; ++row) {
      for (int64_t i = stage.starts[row]; i < stage.starts[row + 1]; ++i) {
        const int64_t from = first + (transposed ? row : stage.columns[i]) * channels;
        const int64_t to = first + (transposed ? stage.columns[i] : row) * channels;
        for (int64_t c = 0; c < channels; ++c) {
          out[to + c] += stage.coefficients[i] * in[from + c];
        }
      }
    }
  }
}

}  // namespace

void FastTransform::forward(std::span<const double> x, std::span<double> y, int64_t channels) const {
  const size_t G = gather.size();
  require(x.size() == G * channels && y.size() == x.size(), "FastTransform: x and y must hold ", G, " x ",
          channels, " numbers, got ", x.size(), " and ", y.size());
  std::vector<double> now(x.size()), next(x.size());
  for (size_t p = 0; p < G; ++p) {
    std::ranges::copy(x.subspan(gather[p] * channels, channels),
                      now.begin() + static_cast<int64_t>(p) * channels);
  }
  for (const auto& stage : stages) {
    apply(stage, false, channels, now, next);
    now.swap(next);
  }
  for (size_t i = 0; i < now.size(); ++i) {
    y[i] = factors[i / channels] * now[i];
  }
}

void FastTransform::inverse(std::span<const double> y, std::span<double> x, int64_t channels) const {
  const size_t G = gather.size();
  require(x.size() == G * channels && y.size() == x.size(), "FastTransform: x and y must hold ", G, " x ",
          channels, " numbers, got ", x.size(), " and ", y.size());
  std::vector<double> now(x.size()), next(x.size());
  for (size_t i = 0; i < now.size(); ++i) {
    now[i] = factors[i / channels] * y[i];
  }
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    apply(*stage, true, channels, now, next);
    now.swap(next);
  }
  for (size_t p = 0; p < G; ++p) {
    std::copy_n(now.begin() + static_cast<int64_t>(p) * channels, channels, x.begin() + gather[p] * channels);
  }
}

int64_t FastTransform::multiply_adds() const {
  auto count = static_cast<int64_t>(factors.size());
  for (const auto& stage : stages) {
    count +=
        static_cast<int64_t>(factors.size()) / stage.size * static_cast<int64_t>(stage.coefficients.size());
  }
  return count;
}

int64_t FastTransform::multiplications() const {
  auto count = static_cast<int64_t>(factors.size());
  for (const auto& stage : stages) {
    count += static_cast<int64_t>(factors.size()) / stage.size *
             std::ranges::count_if(stage.coefficients, [](double x) { return std::abs(x) != 1; });
  }
  return count;
}

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

namespace {

void require_sizes(const char* where, const GroupSpectrum& spectrum, const RealIrrep& irrep, int64_t out,
                   int64_t in, size_t kernel, size_t block) {
  const int64_t G = spectrum.order(), d = irrep.dimension;
  require(out >= 0 && in >= 0, where, ": channels must not be negative, got ", out, " and ", in);
  require(static_cast<int64_t>(kernel) == G * out * in, where, ": the kernel must hold ", G, " x ", out,
          " x ", in, " numbers, got ", kernel);
  require(static_cast<int64_t>(block) == d * out * d * in, where, ": the block must hold ", d * out, " x ",
          d * in, " numbers, got ", block);
}

// visit(rho(a)_lj, index in the kernel, index in the block) for a run of `in` numbers each, where the entry is not zero.
template <class Visit>
void for_each_run(const GroupSpectrum& spectrum, const RealIrrep& irrep, int64_t out, int64_t in,
                  Visit visit) {
  const int64_t d = irrep.dimension;
  for (int64_t a = 0; a < spectrum.order(); ++a) {
    for (int64_t l = 0; l < d; ++l) {
      for (int64_t j = 0; j < d; ++j) {
        const double entry = irrep.matrix(a)[l * d + j];
        for (int64_t o = 0; o < out && entry != 0; ++o) {
          visit(entry, (a * out + o) * in, ((j * out + o) * d + l) * in);
        }
      }
    }
  }
}

}  // namespace

void spectral_block(const GroupSpectrum& spectrum, const RealIrrep& irrep, int64_t out, int64_t in,
                    std::span<const double> kernel, std::span<double> block) {
  require_sizes("spectral_block", spectrum, irrep, out, in, kernel.size(), block.size());
  std::ranges::fill(block, 0);
  for_each_run(spectrum, irrep, out, in, [&](double entry, int64_t from, int64_t to) {
    for (int64_t c = 0; c < in; ++c) {
      block[to + c] += entry * kernel[from + c];
    }
  });
}

void add_to_kernel(const GroupSpectrum& spectrum, const RealIrrep& irrep, int64_t out, int64_t in,
                   double factor, std::span<const double> block, std::span<double> kernel) {
  require_sizes("add_to_kernel", spectrum, irrep, out, in, kernel.size(), block.size());
  for_each_run(spectrum, irrep, out, in, [&](double entry, int64_t to, int64_t from) {
    for (int64_t c = 0; c < in; ++c) {
      kernel[to + c] += factor * entry * block[from + c];
    }
  });
}

double spatial_factor(const GroupSpectrum& spectrum, const RealIrrep& irrep) {
  return static_cast<double>(irrep.multiplicity) / static_cast<double>(spectrum.order());
}

int64_t spectral_multiply_adds(const GroupSpectrum& spectrum, int64_t out, int64_t in) {
  int64_t sum = 0;
  for (const auto& irrep : spectrum.irreps()) {
    sum += irrep.multiplicity * irrep.dimension * irrep.dimension;
  }
  return sum * out * in;
}

}  // namespace weyl
