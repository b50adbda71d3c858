// Sequences of each group: what stands in the gap is what the neighbours say, by the laws that the maker's
// header states.
#include "weyl/makers/poses/pose_sequences.h"
#include "tests/lie_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <fstream>
#include <numbers>
#include <numeric>

#include "tests/data/folder.h"
#include "weyl/algebra/lie/group.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace pose_sequences_test {

using Vector = std::vector<double>;

/// log(a^-1 b) of matrices.
Vector relative(LieGroup group, std::span<const double> a, std::span<const double> b) {
  const Lie<double> lie(group);
  Vector g(compact_size(group)), h(g.size()), r(g.size()), w(degrees_of_freedom(group));
  lie.from_matrix(a, g);
  lie.from_matrix(b, h);
  lie.between(g, h, r);
  EXPECT_GT(lie.log(r, w), 0);
  return w;
}

double norm(const Vector& w) {
  return std::sqrt(std::inner_product(w.begin(), w.end(), w.begin(), 0.0));
}

Vector sum(const Vector& a, const Vector& b, double factor = 1) {
  Vector c(a);
  for (size_t k = 0; k < c.size(); ++k) {
    c[k] += factor * b[k];
  }
  return c;
}

struct Tokens {
  const PoseSequence& s;
  size_t size;
  size_t count() const { return s.flank.size(); }
  std::span<const double> operator[](size_t i) const { return std::span(s.tokens).subspan(i * size, size); }
  std::vector<size_t> flanks() const {
    std::vector<size_t> found;
    for (size_t i = 0; i < count(); ++i) {
      if (s.flank[i] == 1) {
        found.push_back(i);
      }
    }
    return found;
  }
};

Tokens tokens_of(LieGroup group, const PoseSequence& s) {
  return {s, static_cast<size_t>(matrix_size(group) * matrix_size(group))};
}

TEST(PoseSequences, TheGapLiesOneStepFromBothFlanks) {
  for (const LieGroup group : lie_groups) {
    PoseSequencesMakerOptions o;
    o.group = group;
    for (int64_t i = 0; i < 50; ++i) {
      const PoseSequence s = make_pose_sequence(o, "train", i);
      const Tokens t = tokens_of(group, s);
      ASSERT_EQ(t.count(), 7u);
      const auto flanks = t.flanks();
      ASSERT_EQ(flanks.size(), 2u);
      const Vector to = relative(group, t[flanks[0]], s.element),
                   from = relative(group, s.element, t[flanks[1]]);
      EXPECT_LT(norm(sum(to, from, -1)), 1e-10) << name_of(group);  // the same step before and after
      EXPECT_GT(norm(to), 0);
      // Every relative pose is a whole multiple of the step: no logarithm wraps.
      std::vector<bool> seen(15, false);
      for (size_t a = 0; a < t.count(); ++a) {
        const Vector w = relative(group, t[flanks[0]], t[a]);
        const double k = std::inner_product(w.begin(), w.end(), to.begin(), 0.0) / (norm(to) * norm(to));
        EXPECT_LT(norm(sum(w, to, -std::round(k))), 1e-9) << name_of(group) << " " << k;
        ASSERT_LE(std::abs(std::round(k)), 7);
        EXPECT_FALSE(seen[7 + std::lround(k)]);
        seen[7 + std::lround(k)] = true;
      }
    }
  }
}

// A share of the sequences lacks no inner element: as many tokens as the others, one step after another.
TEST(PoseSequences, AShareIsWhole) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::aff3}) {
    PoseSequencesMakerOptions o;
    o.group = group;
    o.whole = 0.3;
    int64_t whole = 0;
    for (int64_t i = 0; i < 300; ++i) {
      const PoseSequence s = make_pose_sequence(o, "train", i);
      const Tokens t = tokens_of(group, s);
      ASSERT_EQ(t.count(), 7u);
      const size_t flanks = t.flanks().size();
      ASSERT_TRUE(flanks == 0 || flanks == 2);
      whole += flanks == 0 ? 1 : 0;
      // The powers of the step at which tokens stand, as the first of them sees them, in units of the nearest.
      std::vector<double> at;
      Vector least = relative(group, t[0], t[1]);
      for (size_t a = 2; a < t.count(); ++a) {
        const Vector w = relative(group, t[0], t[a]);
        least = norm(w) < norm(least) ? w : least;
      }
      for (size_t a = 0; a < t.count(); ++a) {
        const Vector w = relative(group, t[0], t[a]);
        at.push_back(std::inner_product(w.begin(), w.end(), least.begin(), 0.0) /
                     (norm(least) * norm(least)));
      }
      std::ranges::sort(at);
      double widest = 0, narrowest = 10;
      for (size_t a = 1; a < at.size(); ++a) {
        widest = std::max(widest, at[a] - at[a - 1]);
        narrowest = std::min(narrowest, at[a] - at[a - 1]);
      }
      EXPECT_NEAR(widest / narrowest, flanks == 0 ? 1 : 2, 1e-6) << name_of(group) << " " << i;
    }
    EXPECT_NEAR(static_cast<double>(whole) / 300, 0.3, 0.08);  // three standard deviations
    o.whole = 1;
    EXPECT_TRUE(tokens_of(group, make_pose_sequence(o, "train", 0)).flanks().empty());
  }
}

TEST(PoseSequences, RotationsStayBelowTheBound) {
  for (const LieGroup group : {LieGroup::so2, LieGroup::se2, LieGroup::so3, LieGroup::se3}) {
    PoseSequencesMakerOptions o;
    o.group = group;
    const int n = dimension_of(group), size = n == 2 ? 1 : 3, begin = matrix_size(group) > n ? n : 0;
    double largest = 0, mean = 0;
    for (int64_t i = 0; i < 400; ++i) {
      const PoseSequence s = make_pose_sequence(o, "train", i);
      const Tokens t = tokens_of(group, s);
      const Vector w = relative(group, t[t.flanks()[0]], s.element);
      const double angle = norm({w.begin() + begin, w.begin() + begin + size});
      largest = worst_of(largest, angle);
      mean += angle / 400;
    }
    const double bound = std::numbers::pi / 8;
    EXPECT_LT(largest, bound);
    EXPECT_GT(largest, 0.95 * bound);
    EXPECT_NEAR(mean, bound * size / (size + 1), 0.05 * bound);  // of a ball of that dimension
  }
}

/// The largest |Im lambda| of X (n, n), by all roots of its characteristic polynomial at once
/// (Durand-Kerner), its coefficients by Faddeev-LeVerrier.
double largest_imaginary(const Vector& X, int n) {
  Vector c(n + 1), M(n * n);  // lambda^n + c[1] lambda^(n-1) + ...
  c[0] = 1;
  for (int k = 1; k <= n; ++k) {
    Vector next(n * n);  // X (M + c[k-1])
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int l = 0; l < n; ++l) {
          next[n * i + j] += X[n * i + l] * (M[n * l + j] + (l == j ? c[k - 1] : 0));
        }
      }
    }
    M = next;
    for (int i = 0; i < n; ++i) {
      c[k] -= M[n * i + i] / k;
    }
  }
  using Complex = std::complex<double>;
  std::vector<Complex> roots;
  for (int i = 0; i < n; ++i) {
    roots.push_back(0.3 * std::pow(Complex(0.4, 0.9), i));
  }
  for (int step = 0; step < 200; ++step) {
    for (int i = 0; i < n; ++i) {
      Complex value = 0, others = 1;
      for (const double a : c) {
        value = value * roots[i] + a;
      }
      for (int j = 0; j < n; ++j) {
        others *= j == i ? 1 : roots[i] - roots[j];
      }
      roots[i] -= value / others;
    }
  }
  double largest = 0;
  for (const Complex& root : roots) {
    largest = worst_of(largest, std::abs(root.imag()));
  }
  return largest;
}

TEST(PoseSequences, AffineStepsTurnBelowTheBound) {
  EXPECT_NEAR(largest_imaginary({1, -2, 2, 1}, 2), 2, 1e-12);
  EXPECT_NEAR(largest_imaginary({1, -0.5, 0, 0.5, 1, 0, 0, 0, 7}, 3), 0.5, 1e-12);
  for (const LieGroup group : {LieGroup::aff2, LieGroup::aff3}) {
    PoseSequencesMakerOptions o;
    o.group = group;
    o.length = 24;  // so many that every third step would turn too far
    const int n = dimension_of(group), m = matrix_size(group);
    const double bound = std::numbers::pi / 24;
    double largest = 0;
    for (int64_t i = 0; i < 300; ++i) {
      const PoseSequence s = make_pose_sequence(o, "train", i);
      const Tokens t = tokens_of(group, s);
      const Vector w = relative(group, t[t.flanks()[0]], s.element);
      Vector hat(m * m), X;
      Lie<double>(group).hat(w, hat);
      for (int row = 0; row < n; ++row) {
        X.insert(X.end(), hat.begin() + m * row, hat.begin() + m * row + n);
      }
      largest = worst_of(largest, largest_imaginary(X, n));
    }
    EXPECT_LT(largest, bound * (1 + 1e-6)) << name_of(group);
    EXPECT_GT(largest, 0.95 * bound) << name_of(group);  // cut there and not before
  }
}

/// |det A| over the product of the rows' norms: to float32 a map below 1e-6 is singular.
double volume(LieGroup group, std::span<const double> g) {
  const size_t n = dimension_of(group), m = n + 1;
  const auto row = [&](size_t i) { return g.subspan(m * i, n); };
  double bound = 1;
  for (size_t i = 0; i < n; ++i) {
    bound *= norm({row(i).begin(), row(i).end()});
  }
  if (n == 2) {
    return std::abs(row(0)[0] * row(1)[1] - row(0)[1] * row(1)[0]) / bound;
  }
  double det = 0;
  for (size_t j = 0; j < 3; ++j) {
    const size_t k = (j + 1) % 3, l = (j + 2) % 3;
    det += row(0)[j] * (row(1)[k] * row(2)[l] - row(1)[l] * row(2)[k]);
  }
  return std::abs(det) / bound;
}

TEST(PoseSequences, LongAffineOnesStayReadable) {
  const struct {
    LieGroup group;
    int64_t length;
    SequenceVariant variant;
    double noise;
  } cases[] = {{LieGroup::aff3, 30, SequenceVariant::constant, 0},
               {LieGroup::aff2, 60, SequenceVariant::constant, 0},
               {LieGroup::aff3, 60, SequenceVariant::constant, 0},
               {LieGroup::aff3, 20, SequenceVariant::blocks, 0},
               {LieGroup::aff3, 20, SequenceVariant::constant, 0.1}};
  for (const auto& c : cases) {
    PoseSequencesMakerOptions o;
    o.group = c.group;
    o.length = c.length;
    o.variant = c.variant;
    o.noise = c.noise;
    const Lie<double> lie(o.group);
    Vector a(compact_size(o.group)), b(a), between(a);
    for (int64_t i = 0; i < 60; ++i) {
      const PoseSequence s = make_pose_sequence(o, "train", i);
      const Tokens t = tokens_of(o.group, s);
      EXPECT_GT(volume(o.group, s.element), 1e-6) << name_of(o.group) << " " << i;
      for (size_t j = 0; j < t.count(); ++j) {
        EXPECT_GT(volume(o.group, t[j]), 1e-6) << name_of(o.group) << " " << i;
        lie.from_matrix(t[j], a);
        for (size_t k = 0; k < t.count(); ++k) {
          lie.from_matrix(t[k], b);
          lie.between(a, b, between);
          EXPECT_GT(lie.chart_margin(between), 0) << name_of(o.group) << " " << i;
        }
      }
    }
  }
}

TEST(PoseSequences, RefusesLengthsThatStretchAffineMapsFlat) {
  PoseSequencesMakerOptions o;
  o.group = LieGroup::aff3;
  o.length = 2000;
  try {
    make_pose_sequence(o, "train", 0);
    ADD_FAILURE() << "made";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("no sequence of 2000 elements inside the chart of aff3"),
              std::string::npos)
        << error.what();
  }
}

TEST(PoseSequences, BlocksAlternate) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::se3, LieGroup::aff2, LieGroup::aff3}) {
    PoseSequencesMakerOptions o;
    o.group = group;
    o.variant = SequenceVariant::blocks;
    for (int64_t i = 0; i < 20; ++i) {
      const PoseSequence s = make_pose_sequence(o, "train", i);
      const Tokens t = tokens_of(group, s);
      const auto flanks = t.flanks();
      const Vector to = relative(group, t[flanks[0]], s.element),
                   from = relative(group, s.element, t[flanks[1]]);
      // Each step lies in one block, and the two in different ones.
      std::vector<LiePart> found;
      for (const Vector& w : {to, from}) {
        int blocks = 0;
        for (const LieBlock& b : blocks_of(group)) {
          if (norm({w.begin() + b.begin, w.begin() + b.begin + b.size}) > 1e-9) {
            ++blocks;
            found.push_back(b.part);
          }
        }
        EXPECT_EQ(blocks, 1) << name_of(group);
      }
      EXPECT_NE(found.at(0), found.at(1)) << name_of(group);
    }
  }
  PoseSequencesMakerOptions o;
  o.group = LieGroup::so3;
  o.variant = SequenceVariant::blocks;
  EXPECT_THROW(make_pose_sequence(o, "train", 0), ConfigError);
}

TEST(PoseSequences, NeighboursBeyondTheChartHaveNoLogarithm) {
  for (const LieGroup group : {LieGroup::aff2, LieGroup::aff3}) {
    PoseSequencesMakerOptions o;
    o.group = group;
    o.variant = SequenceVariant::beyond;
    const Lie<double> lie(group);
    Vector at(compact_size(group)), missing(at.size()), step(at.size()), second(at.size()), twice(at.size());
    for (int64_t i = 0; i < 20; ++i) {
      const PoseSequence s = make_pose_sequence(o, "train", i);
      const Tokens t = tokens_of(group, s);
      const auto flanks = t.flanks();
      lie.from_matrix(s.element, missing);
      lie.from_matrix(t[flanks[0]], at);
      lie.between(at, missing, step);
      EXPECT_LT(lie.chart_margin(step), -1e-3) << name_of(group);
      lie.from_matrix(t[flanks[1]], second);
      lie.between(at, second, twice);
      EXPECT_GT(lie.chart_margin(twice), 0) << name_of(group);  // two steps have one: the turns cancel
    }
  }
  PoseSequencesMakerOptions o;
  o.group = LieGroup::se3;
  o.variant = SequenceVariant::beyond;
  EXPECT_THROW(make_pose_sequence(o, "train", 0), ConfigError);
}

TEST(PoseSequences, LengthsVaryAndNoiseDisturbsTokensAlone) {
  PoseSequencesMakerOptions o;
  o.longest = 12;
  std::vector<int> counts(13);
  for (int64_t i = 0; i < 200; ++i) {
    ++counts.at(make_pose_sequence(o, "train", i).flank.size());
  }
  for (int n = 0; n < 13; ++n) {
    EXPECT_EQ(counts[n] > 0, n >= 7 && n <= 11) << n;
  }
  for (const LieGroup group : lie_groups) {
    PoseSequencesMakerOptions clean, noisy;
    clean.group = noisy.group = group;
    noisy.noise = 0.01;
    const PoseSequence a = make_pose_sequence(clean, "test", 3), b = make_pose_sequence(noisy, "test", 3);
    EXPECT_EQ(a.flank, b.flank);
    EXPECT_EQ(a.element, b.element) << name_of(group);
    Vector off(a.tokens.size());
    for (size_t k = 0; k < off.size(); ++k) {
      off[k] = std::abs(a.tokens[k] - b.tokens[k]);
    }
    EXPECT_GT(*std::max_element(off.begin(), off.end()), 1e-3);
    const Tokens before = tokens_of(group, a), after = tokens_of(group, b);
    double square = 0;
    for (size_t i = 0; i < 7; ++i) {
      Vector e = relative(group, before[i], after[i]);
      Lie<double>(group).to_orthonormal(e);
      square += norm(e) * norm(e) / 7;
    }
    EXPECT_GT(square, 1e-4 * degrees_of_freedom(group) * 0.2);
    EXPECT_LT(square, 1e-4 * degrees_of_freedom(group) * 3);
  }
}

// Of a block alone, tokens lie apart from where they were by an element of that block, and nothing else.
TEST(PoseSequences, NoiseOfOneBlockStaysInIt) {
  for (const LieGroup group : lie_groups) {
    for (const LieBlock& block : blocks_of(group)) {
      PoseSequencesMakerOptions clean, noisy;
      clean.group = noisy.group = group;
      noisy.noise = 0.01;
      noisy.noise_in = block.part;
      const PoseSequence a = make_pose_sequence(clean, "test", 3), b = make_pose_sequence(noisy, "test", 3);
      EXPECT_EQ(a.element, b.element) << name_of(group);
      const Tokens before = tokens_of(group, a), after = tokens_of(group, b);
      for (size_t i = 0; i < 7; ++i) {
        Vector e = relative(group, before[i], after[i]);
        const Vector inside(e.begin() + block.begin, e.begin() + block.begin + block.size);
        EXPECT_GT(norm(inside), 1e-7) << name_of(group) << " " << i;
        std::fill_n(e.begin() + block.begin, block.size, 0.0);
        EXPECT_LT(norm(e), 1e-12) << name_of(group) << " " << i;
      }
    }
  }
  PoseSequencesMakerOptions o;
  o.noise_in = LiePart::rotation;
  EXPECT_THROW(make_pose_sequence(o, "train", 0), ConfigError);  // without noise
  o.noise = 0.1;
  EXPECT_NO_THROW(make_pose_sequence(o, "train", 0));
  o.noise_in = LiePart::scale;
  EXPECT_THROW(make_pose_sequence(o, "train", 0), ConfigError);  // se2 has none
}

TEST(PoseSequences, AreAPureFunctionOfSeedSplitAndIndex) {
  PoseSequencesMakerOptions o;
  o.train = 40;
  o.valid = 10;
  o.test = 0;
  const auto bytes = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const Folder folder;
  o.threads = 1;
  ASSERT_TRUE(make_pose_sequences(o, folder / "one"));
  o.threads = 3;
  ASSERT_TRUE(make_pose_sequences(o, folder / "three"));
  EXPECT_EQ(bytes(folder / "one/train.safetensors"), bytes(folder / "three/train.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder / "one/test.safetensors"));
  EXPECT_THROW(make_pose_sequences(o, folder / "one"), ConfigError);  // never replaced
  const auto tokens = [&](std::string_view split, int64_t i, int64_t seed) {
    o.seed = seed;
    return make_pose_sequence(o, split, i).tokens;
  };
  EXPECT_EQ(tokens("train", 7, 0), tokens("train", 7, 0));
  EXPECT_NE(tokens("train", 7, 0), tokens("train", 8, 0));
  EXPECT_NE(tokens("train", 7, 0), tokens("valid", 7, 0));
  EXPECT_NE(tokens("train", 7, 0), tokens("train", 7, 1));
  const SafetensorsFile file(folder / "one/train.safetensors");
  EXPECT_EQ(file.header().metadata.at("group"), "se2");
  EXPECT_EQ(file.header().metadata.at("maker"), "pose_sequences");
  EXPECT_EQ(file.entry("elements").shape, (std::vector<int64_t>{280, 3, 3}));
  EXPECT_EQ(file.entry("element").shape, (std::vector<int64_t>{40, 3, 3}));
}

TEST(PoseSequences, StopsWithoutAFile) {
  PoseSequencesMakerOptions o;
  o.train = 100000;
  const Folder folder;
  JobHooks hooks;
  hooks.stop = [] { return true; };
  EXPECT_FALSE(make_pose_sequences(o, folder / "none", hooks));
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

TEST(PoseSequences, RefusesWhatCannotBeMade) {
  PoseSequencesMakerOptions o;
  o.length = 3;
  EXPECT_THROW(make_pose_sequence(o, "train", 0), ConfigError);
  o.length = 8;
  o.longest = 6;
  EXPECT_THROW(make_pose_sequence(o, "train", 0), ConfigError);
  o.longest = 0;
  o.train = o.valid = o.test = 0;
  EXPECT_THROW(make_pose_sequences(o, "x"), ConfigError);
}

}  // namespace pose_sequences_test
}  // namespace weyl
