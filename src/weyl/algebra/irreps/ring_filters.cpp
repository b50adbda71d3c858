#include "weyl/algebra/irreps/ring_filters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/algebra/irreps/harmonics.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr int64_t support = 3;  // degree 5 is zero from there on

/// The centred cardinal B-spline of degree n; at the jumps of degree 0 their mean.
double b_spline(int64_t n, double x) {
  if (n == 0) {
    return std::abs(x) < 0.5 - 1e-9 ? 1 : std::abs(x) < 0.5 + 1e-9 ? 0.5 : 0;
  }
  const auto d = static_cast<double>(n);
  return ((x + (d + 1) / 2) * b_spline(n - 1, x + 0.5) + ((d + 1) / 2 - x) * b_spline(n - 1, x - 0.5)) / d;
}

}  // namespace

SplineInterpolant::SplineInterpolant(int64_t degree, int64_t size) : degree_(degree), size_(size) {
  require(degree >= 0 && degree <= 5 && size >= 2,
          "SplineInterpolant: degree must be from 0 to 5 and size at least 2, got ", degree, " and ", size);
  // Gauss-Jordan of the matrix of the splines at the values, whose diagonal outweighs the rest of a row.
  inverse_.resize(static_cast<size_t>(size * size));
  std::vector<double> a(inverse_.size());
  for (int64_t i = 0; i < size; ++i) {
    inverse_[i * size + i] = 1;
    for (int64_t k = i - support; k <= i + support; ++k) {
      a[i * size + mirrored(k)] += b_spline(degree, static_cast<double>(i - k));
    }
  }
  for (int64_t i = 0; i < size; ++i) {
    const double pivot = a[i * size + i];
    for (int64_t k = 0; k < size; ++k) {
      a[i * size + k] /= pivot;
      inverse_[i * size + k] /= pivot;
    }
    for (int64_t r = 0; r < size; ++r) {
      const double factor = r == i ? 0 : a[r * size + i];
      for (int64_t k = 0; k < size && factor != 0; ++k) {
        a[r * size + k] -= factor * a[i * size + k];
        inverse_[r * size + k] -= factor * inverse_[i * size + k];
      }
    }
  }
}

std::vector<double> SplineInterpolant::weights(double x) const {
  std::vector<double> result(static_cast<size_t>(size_));
  const auto nearest = static_cast<int64_t>(std::floor(x + 0.5));
  for (int64_t k = nearest - support; k <= nearest + support; ++k) {
    const double b = b_spline(degree_, x - static_cast<double>(k));
    for (int64_t i = 0; i < size_ && b != 0; ++i) {
      result[i] += b * inverse_[mirrored(k) * size_ + i];
    }
  }
  return result;
}

int64_t SplineInterpolant::mirrored(int64_t k) const {
  const int64_t period = 2 * (size_ - 1), place = ((k % period) + period) % period;
  return std::min(place, period - place);
}

namespace {

using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi;
constexpr int64_t circle_samples = 256;                   // a multiple of 4: the ring turns with the square
constexpr int64_t polar_samples = 12, turn_samples = 24;  // on the sphere, before its 24 copies

double radius(const RingOptions& o, int64_t ring) {
  return static_cast<double>((ring + 1) * (o.size - 1)) / static_cast<double>(2 * o.rings);
}

void require_options(const char* where, const RingOptions& o, int64_t highest, int64_t limit) {
  require(highest >= 0 && highest <= limit, where, ": the highest order must be from 0 to ", limit, ", got ",
          highest);
  require(o.size >= 2 && o.size <= 31, where, ": size must be from 2 to 31, got ", o.size);
  require(o.rings >= 1 && o.rings <= 16, where, ": rings must be from 1 to 16, got ", o.rings);
  require(o.spline >= 0 && o.spline <= 5, where, ": spline must be from 0 to 5, got ", o.spline);
}

/// A point on a ring of radius 1, the harmonics there (one for each component), and its weight.
struct Sample {
  std::array<double, 3> at;
  std::vector<Complex> harmonics;
  double weight;
};

std::vector<Sample> circle(int64_t highest) {
  std::vector<Sample> samples;
  for (int64_t t = 0; t < circle_samples; ++t) {
    const double angle = 2 * pi * static_cast<double>(t) / circle_samples;
    Sample s{{std::cos(angle), std::sin(angle), 0}, {}, 1.0 / circle_samples};
    for (int64_t k = -highest; k <= highest; ++k) {
      s.harmonics.push_back(std::polar(1.0, -static_cast<double>(k) * angle));
    }
    samples.push_back(std::move(s));
  }
  return samples;
}

std::vector<Complex> scaled_harmonics(int64_t highest, const std::array<double, 3>& p) {
  std::vector<Complex> y = spherical_harmonics(highest, p);
  for (int64_t l = 0; l <= highest; ++l) {
    for (int64_t m = 0; m <= 2 * l; ++m) {
      y[l * l + m] *= std::sqrt(4 * pi / static_cast<double>(2 * l + 1));
    }
  }
  return y;
}

/// Nodes and weights on (-1, 1), the weights summing to 1.
std::vector<std::pair<double, double>> gauss_legendre(int64_t n) {
  std::vector<std::pair<double, double>> nodes;
  for (int64_t i = 0; i < n; ++i) {
    double x = std::cos(pi * (static_cast<double>(i) + 0.75) / (static_cast<double>(n) + 0.5)), slope = 0;
    for (int step = 0; step < 8; ++step) {
      double before = 1, p = x;
      for (int64_t k = 2; k <= n; ++k) {
        const auto d = static_cast<double>(k);
        const double next = ((2 * d - 1) * x * p - (d - 1) * before) / d;
        before = p;
        p = next;
      }
      slope = static_cast<double>(n) * (x * p - before) / (x * x - 1);
      x -= p / slope;
    }
    nodes.emplace_back(x, 1 / ((1 - x * x) * slope * slope));
  }
  return nodes;
}

/// A product rule on the sphere has a polar axis, and filters summed over it turn with the cube to 1e-2 at
/// best. Summed over the 24 copies of it they turn exactly.
std::vector<Sample> sphere(int64_t highest) {
  std::vector<Sample> samples;
  const GroupPtr cube = named_group("octahedron");
  for (const auto& [z, share] : gauss_legendre(polar_samples)) {
    for (int64_t t = 0; t < turn_samples; ++t) {
      const double angle = 2 * pi * (static_cast<double>(t) + 0.25) / turn_samples, r = std::sqrt(1 - z * z);
      const std::array<double, 3> p{r * std::cos(angle), r * std::sin(angle), z};
      for (int64_t g = 0; g < cube->order(); ++g) {
        Sample s{{}, {}, share / static_cast<double>(turn_samples * cube->order())};
        for (int64_t i = 0; i < 3; ++i) {
          for (int64_t k = 0; k < 3; ++k) {
            s.at[i] += cube->element(g)[3 * i + k] * p[k];
          }
        }
        s.harmonics = scaled_harmonics(highest, s.at);
        samples.push_back(std::move(s));
      }
    }
  }
  return samples;
}

RingFilters empty(int64_t components, int64_t dimension, const RingOptions& o) {
  RingFilters f{components,
                o.rings + (o.centre ? 1 : 0),
                dimension == 2 ? o.size * o.size : o.size * o.size * o.size,
                {},
                {}};
  f.values.resize(static_cast<size_t>(components * f.rings * f.pixels));
  f.kept.assign(static_cast<size_t>(components * f.rings), true);
  return f;
}

/// Sum over the samples of every ring of weight, harmonic and the interpolant of each pixel.
void interpolate(const std::vector<Sample>& samples, int64_t dimension, const RingOptions& o,
                 RingFilters& f) {
  const SplineInterpolant spline(o.spline, o.size);
  const double centre = static_cast<double>(o.size - 1) / 2;
  const int64_t depth = dimension == 2 ? 1 : o.size;
  for (int64_t ring = 0; ring < o.rings; ++ring) {
    const double share = static_cast<double>(ring + 1) / static_cast<double>(o.rings);
    const double scale = (dimension == 2 ? share : share * share / 2) / static_cast<double>(o.rings);
    for (const Sample& s : samples) {
      std::array<std::vector<double>, 3> w;
      for (int64_t a = 0; a < dimension; ++a) {
        w[a] = spline.weights(centre + radius(o, ring) * s.at[a]);
      }
      for (int64_t x = 0; x < o.size; ++x) {
        for (int64_t y = 0; y < o.size; ++y) {
          for (int64_t z = 0; z < depth; ++z) {
            const double pixel = w[0][x] * w[1][y] * (dimension == 2 ? 1 : w[2][z]);
            for (int64_t c = 0; c < f.components && pixel != 0; ++c) {
              f.values[(c * f.rings + ring) * f.pixels + (x * o.size + y) * depth + z] +=
                  scale * s.weight * pixel * s.harmonics[c];
            }
          }
        }
      }
    }
  }
}

/// profile(r, ring) times harmonics(p) on every pixel; `scalar` is the component of order 0.
template <class Harmonics>
void evaluate(const Harmonics& harmonics, int64_t scalar, int64_t dimension, const RingOptions& o,
              RingFilters& f) {
  const double centre = static_cast<double>(o.size - 1) / 2;
  const auto profile = [&](double r, int64_t ring) {
    const double off = r - radius(o, ring);
    return o.profile == RingProfile::gaussian ? std::exp(-off * off / (2 * 0.6 * 0.6))
                                              : std::max(0.0, 1 - std::abs(off) / radius(o, 0));
  };
  for (int64_t pixel = 0; pixel < f.pixels; ++pixel) {
    std::array<double, 3> p{};
    for (int64_t a = dimension - 1, rest = pixel; a >= 0; --a, rest /= o.size) {
      p[a] = static_cast<double>(rest % o.size) - centre;
    }
    const double r = std::hypot(p[0], p[1], p[2]);
    const std::vector<Complex> h = harmonics(p);
    for (int64_t c = 0; c < f.components; ++c) {
      for (int64_t ring = 0; ring < o.rings && (r > 0 || c == scalar); ++ring) {
        f.values[(c * f.rings + ring) * f.pixels + pixel] = profile(r, ring) * h[c];
      }
    }
  }
}

/// Drops what rings do not carry of `order` (of each component).
template <class Order>
void cut(const RingOptions& o, int64_t dimension, const Order& order, RingFilters& f) {
  for (int64_t c = 0; o.cut && c < f.components; ++c) {
    for (int64_t ring = 0; ring < o.rings; ++ring) {
      if (!is_carried(o, dimension, ring, order(c))) {
        f.kept[c * f.rings + ring] = false;
        const auto begin = f.values.begin() + (c * f.rings + ring) * f.pixels;
        std::fill(begin, begin + f.pixels, Complex{});
      }
    }
  }
}

/// The ring of radius zero: the pixels in the middle, one or 2^D of them, as component `scalar`.
void add_centre(int64_t scalar, int64_t dimension, const RingOptions& o, RingFilters& f) {
  if (!o.centre) {
    return;
  }
  const auto values = [&](int64_t ring) { return f.values.begin() + (scalar * f.rings + ring) * f.pixels; };
  std::vector<int64_t> middle;
  for (int64_t pixel = 0; pixel < f.pixels; ++pixel) {
    bool inside = true;
    for (int64_t a = 0, rest = pixel; a < dimension; ++a, rest /= o.size) {
      inside = inside && std::abs(2 * (rest % o.size) - (o.size - 1)) <= 1;
    }
    if (inside) {
      middle.push_back(pixel);
    }
  }
  double square = 0;  // of the first ring's filter
  std::for_each(values(0), values(1), [&](const Complex& z) { square += std::norm(z); });
  for (const int64_t pixel : middle) {
    values(o.rings)[pixel] = std::sqrt(square / static_cast<double>(middle.size()));
  }
  for (int64_t c = 0; c < f.components; ++c) {
    f.kept[c * f.rings + o.rings] = c == scalar;
  }
}

}  // namespace

bool is_carried(const RingOptions& o, int64_t dimension, int64_t ring, int64_t order) {
  // The pixels of a square's edge are 4 (size - 1), all of them next to the last ring.
  const bool by_the_edge = dimension == 2 && ring == o.rings - 1 && order < 2 * (o.size - 1);
  return static_cast<double>(order) <= pi * radius(o, ring) || by_the_edge;
}

RingFilters circular_filters(int64_t highest, const RingOptions& o) {
  require_options("circular_filters", o, highest, 64);
  RingFilters f = empty(2 * highest + 1, 2, o);
  if (o.profile == RingProfile::interpolated) {
    interpolate(circle(highest), 2, o, f);
  } else {
    const auto harmonics = [&](const std::array<double, 3>& p) {
      std::vector<Complex> h;
      for (int64_t k = -highest; k <= highest; ++k) {
        h.push_back(std::polar(1.0, -static_cast<double>(k) * std::atan2(p[1], p[0])));
      }
      return h;
    };
    evaluate(harmonics, highest, 2, o, f);
  }
  add_centre(highest, 2, o, f);
  cut(o, 2, [&](int64_t c) { return std::abs(c - highest); }, f);
  return f;
}

RingFilters spherical_filters(int64_t highest, const RingOptions& o) {
  require_options("spherical_filters", o, highest, 16);
  RingFilters f = empty((highest + 1) * (highest + 1), 3, o);
  if (o.profile == RingProfile::interpolated) {
    interpolate(sphere(highest), 3, o, f);
  } else {
    evaluate([&](const std::array<double, 3>& p) { return scaled_harmonics(highest, p); }, 0, 3, o, f);
  }
  add_centre(0, 3, o, f);
  cut(o, 3, [](int64_t c) { return static_cast<int64_t>(std::sqrt(static_cast<double>(c) + 0.5)); }, f);
  return f;
}

}  // namespace weyl
