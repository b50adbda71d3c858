#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/dynamics/single_point.h"

namespace weyl {

/// The heaviest element of GFN2-xTB: radon.
constexpr int kHeaviestOfXtb = 86;

/// "API 1.0.0" of the xtb library of this machine; empty when there is none, or when the loader would look for it in the
/// current folder too (require_absolute_library_path). Looks for it once.
std::string xtb_version();

/// ConfigError when there is no xtb library, with the package to install, or with what LD_LIBRARY_PATH must be.
void require_xtb();

/// GFN2-xTB of Bannwarth, Ehlert and Grimme (JCTC 2019, 15, 1652), a self-consistent tight-binding method,
/// through the C interface of the xtb library, on one thread. The library is opened at its first use, not
/// linked: weyl starts and runs without it, its BLAS and LibTorch's never meet, and its threads are switched
/// off before it looks how many it may use.
///
/// A point is a function of its positions alone, to the bit: each begins from a fresh guess. One object
/// serves one thread at a time; objects are independent.
class Xtb {
 public:
  struct Options {
    int charge = 0;         // e
    int unpaired = 0;       // electrons
    double accuracy = 0.1;  // xtb's scale of all thresholds: 1 is its own default, less is tighter
  };

  /// ConfigError: no library; no atom; an element outside 1 .. 86; a number of electrons that the charge and
  /// the unpaired ones do not allow.
  Xtb(std::vector<int> numbers, const Options& options);
  ~Xtb();
  Xtb(Xtb&&) noexcept;
  Xtb& operator=(Xtb&&) noexcept;

  /// DataError: atoms nearer than 0.3 A, no self-consistent charges after 1,000 iterations, what else xtb
  /// says, a result that is not finite. ShapeError unless there are 3 N positions.
  SinglePoint operator()(std::span<const double> positions);

 private:
  struct Handles;
  std::vector<int> numbers_;
  Options options_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace weyl
