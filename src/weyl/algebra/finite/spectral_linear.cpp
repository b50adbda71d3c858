#include "weyl/algebra/finite/spectral_linear.h"

#include <algorithm>

#include "weyl/core/check.h"

namespace weyl {
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
