#include "weyl/algebra/finite/fast_transform.h"

#include <algorithm>
#include <cmath>

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

}  // namespace weyl
