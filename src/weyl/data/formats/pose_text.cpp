#include "weyl/data/formats/pose_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

/// The unit quaternion x y z w of a rotation, by its largest component (Shepperd), with w >= 0.
std::array<double, 4> quaternion_of(const std::array<double, 9>& r) {
  const double trace = r[0] + r[4] + r[8];
  const std::array<double, 4> squares{1 + 2 * r[0] - trace, 1 + 2 * r[4] - trace, 1 + 2 * r[8] - trace,
                                      1 + trace};
  const auto k = std::ranges::max_element(squares) - squares.begin();
  std::array<double, 4> q{};
  const double twice = std::sqrt(squares[k]);  // 2 |q_k|
  if (k == 3) {
    q = {(r[7] - r[5]) / twice, (r[2] - r[6]) / twice, (r[3] - r[1]) / twice, twice};
  } else {
    const auto i = static_cast<size_t>(k), j = (i + 1) % 3, l = (i + 2) % 3;
    q[i] = twice;
    q[j] = (r[3 * i + j] + r[3 * j + i]) / twice;
    q[l] = (r[3 * i + l] + r[3 * l + i]) / twice;
    q[3] = (r[3 * l + j] - r[3 * j + l]) / twice;
  }
  double square = 0;
  for (const double x : q) {
    square += x * x;
  }
  const double scale = (q[3] < 0 ? -1 : 1) / std::sqrt(square);
  for (double& x : q) {
    x = x * scale + 0.0;  // no negative zero
  }
  return q;
}

}  // namespace

std::string pose_text(PoseFormat format, std::span<const double> matrices,
                      std::span<const std::string> stamps) {
  const bool tum = format == PoseFormat::tum;
  require(tum || format == PoseFormat::kitti, "pose_text: the format must be tum or kitti");
  require(matrices.size() % 16 == 0, "pose_text: matrices must be (n, 4, 4), got ", matrices.size(),
          " numbers");
  const size_t poses = matrices.size() / 16;
  require(!tum || stamps.size() == poses, "pose_text: tum needs a timestamp for each of ", poses,
          " poses, got ", stamps.size());
  std::string result;
  for (size_t p = 0; p < poses; ++p) {
    const double* g = matrices.data() + 16 * p;
    if (tum) {
      const auto q = quaternion_of({g[0], g[1], g[2], g[4], g[5], g[6], g[8], g[9], g[10]});
      result += stamps[p];
      for (const double x : {g[3], g[7], g[11], q[0], q[1], q[2], q[3]}) {
        result += ' ';
        append_number(result, x);
      }
    } else {
      for (int k = 0; k < 12; ++k) {
        result += k == 0 ? "" : " ";
        append_number(result, g[k]);
      }
    }
    result += '\n';
  }
  return result;
}

std::string stamp_between(const std::string& a, const std::string& b, std::string_view where) {
  const auto parsed = [](std::string_view s) {
    if (s.starts_with('+')) {
      s.remove_prefix(1);
    }
    long double x = 0;
    std::from_chars(s.data(), s.data() + s.size(), x);
    return x;
  };
  const long double low = parsed(a), high = parsed(b), middle = low + (high - low) / 2;
  for (const int digits : {9, 18}) {
    std::array<char, 64> text;
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), middle, std::chars_format::fixed, digits);
    const std::string stamp(text.data(), end);
    if (const long double t = parsed(stamp); error == std::errc() && t > low && t < high) {
      return stamp;
    }
  }
  throw DataError(weyl::text(where, ": has no time between ", quote(a, 40), " and ", quote(b, 40)));
}

}  // namespace weyl
