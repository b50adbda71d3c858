#include "weyl/makers/poses/pose_sequences.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "weyl/algebra/lie/group.h"
#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/poses/sequence_gap.h"
#include "weyl/makers/split_files.h"

namespace weyl {
namespace {

constexpr double kAffineStep = 0.15;  // of the entries of a step's linear part

/// Uniform in the ball (interval) of radius b.
void draw_rotation_vector(Stream& stream, double bound, std::span<double> omega) {
  double square = 0;
  do {
    square = 0;
    for (double& x : omega) {
      x = 2 * stream.uniform() - 1;
      square += x * x;
    }
  } while (square >= 1);
  for (double& x : omega) {
    x *= bound;
  }
}

/// X with independent entries, through hat and vee so that the order of coordinates is the algebra's.
void draw_affine(const Lie<double>& lie, Stream& stream, std::vector<double>& w) {
  const int n = dimension_of(lie.group), m = matrix_size(lie.group);
  std::vector<double> hat(m * m);
  lie.hat(w, hat);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      hat[i * m + j] = kAffineStep * stream.normal();
    }
  }
  lie.vee(hat, w);
}

/// The largest |Im lambda| of the linear part X. It is the angle of the complex pair: from the discriminant
/// in the plane, from the one real root and the trace in space.
double largest_angle(const Lie<double>& lie, const std::vector<double>& w) {
  const int n = dimension_of(lie.group), m = matrix_size(lie.group);
  std::vector<double> X(m * m);
  lie.hat(w, X);
  const auto x = [&](int i, int j) { return X[i * m + j]; };
  if (n == 2) {
    const double p = (x(0, 0) - x(1, 1)) / 2, d = p * p + x(0, 1) * x(1, 0);
    return d < 0 ? std::sqrt(-d) : 0;
  }
  const double trace = x(0, 0) + x(1, 1) + x(2, 2);
  double second = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i + 1; j < 3; ++j) {
      second += x(i, i) * x(j, j) - x(i, j) * x(j, i);
    }
  }
  const double det = x(0, 0) * (x(1, 1) * x(2, 2) - x(1, 2) * x(2, 1)) -
                     x(0, 1) * (x(1, 0) * x(2, 2) - x(1, 2) * x(2, 0)) +
                     x(0, 2) * (x(1, 0) * x(2, 1) - x(1, 1) * x(2, 0));
  // lambda = y + trace/3 with y^3 + p y + q = 0
  const double p = second - trace * trace / 3;
  const double q = -2 * trace * trace * trace / 27 + trace * second / 3 - det;
  const double discriminant = q * q / 4 + p * p * p / 27;
  if (discriminant <= 0) {
    return 0;  // three real roots
  }
  const double root = std::sqrt(discriminant);
  return std::numbers::sqrt3 / 2 * std::abs(std::cbrt(-q / 2 + root) - std::cbrt(-q / 2 - root));
}

}  // namespace

std::vector<double> draw_step(const Lie<double>& lie, double spread, double bound, Stream& stream) {
  std::vector<double> w(degrees_of_freedom(lie.group));
  const bool rigid = is_rigid(lie.group);
  while (true) {
    for (const LieBlock& block : blocks_of(lie.group)) {
      if (block.part == LiePart::translation) {
        for (int k = 0; k < block.size; ++k) {
          w[block.begin + k] = spread * stream.normal();
        }
      } else if (rigid) {
        draw_rotation_vector(stream, bound, std::span(w).subspan(block.begin, block.size));
      }
    }
    if (rigid) {
      return w;
    }
    draw_affine(lie, stream, w);
    if (largest_angle(lie, w) < bound) {
      return w;
    }
  }
}

std::vector<double> draw_step_beyond(const Lie<double>& lie, double spread, Stream& stream) {
  require(!is_rigid(lie.group), "pose_sequences: every element of ", name_of(lie.group),
          " is an exponential");
  using Vector = std::vector<double>;
  const int n = dimension_of(lie.group), m = matrix_size(lie.group);
  const auto element = [&](const Vector& matrix) {
    Vector g(compact_size(lie.group));
    lie.from_matrix(matrix, g);
    return g;
  };
  const auto product = [&](const Vector& a, const Vector& b) {
    Vector ab(a.size());
    lie.compose(a, b, ab);
    return ab;
  };
  Vector X(m * m), half_turn(m * m), w(degrees_of_freedom(lie.group)), exponential(compact_size(lie.group));
  double discriminant = 0;  // of the eigenvalues of X in the plane, a quarter of their squared distance
  do {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        const double drawn = kAffineStep * stream.normal();
        X[i * m + j] = (i < 2) == (j < 2) ? drawn : 0;
      }
    }
    const double p = (X[0] - X[m + 1]) / 2;
    discriminant = p * p + X[1] * X[m];
  } while (discriminant < 0.01);
  lie.vee(X, w);
  lie.exp(w, exponential);
  for (int i = 0; i < m; ++i) {
    half_turn[i * m + i] = i < 2 ? -1 : 1;
  }
  // Turned to any plane: Q h Q^-1.
  const Lie<double> rigid(n == 2 ? LieGroup::se2 : LieGroup::se3);
  Vector q(compact_size(rigid.group)), rotation(m * m), back(exponential.size()), matrix(m * m);
  rigid.random(stream, q, 0);
  rigid.to_matrix(q, rotation);
  const Vector turn = element(rotation);
  lie.inverse(turn, back);
  lie.to_matrix(product(product(turn, product(element(half_turn), exponential)), back), matrix);
  for (int i = 0; i < n; ++i) {
    matrix[i * m + n] = spread * stream.normal();
  }
  return element(matrix);
}

void fields(Fields& f, PoseSequencesMakerOptions& o) {
  f("group", o.group, "the Lie group of the poses");
  f("train", o.train, "training sequences", {0, 1e8});
  f("valid", o.valid, "validation sequences", {0, 1e8});
  f("test", o.test, "test sequences", {0, 1e8});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("variant", o.variant,
    "one step for a sequence, two in turn from different blocks of the algebra, or one of an affine group that has no logarithm");
  f("length", o.length, "elements of a sequence, the missing one included", {4, 10000});
  f("longest", o.longest, "lengths are uniform up to this one; 0: all are the same", {0, 10000});
  f("spread", o.spread, "standard deviation of the translation of the first element", {0, 1e6});
  f("step", o.step, "standard deviation of the translation of a step", {0, 1e6});
  f("whole", o.whole, "share of the sequences of which nothing is missing", {0, 1});
  f("noise", o.noise, "standard deviation of the noise on each element, in orthonormal coordinates", {0, 1});
  f("noise_in", o.noise_in, "the one block of the algebra that the noise is in; not given: all");
  f("threads", o.threads, "threads that make sequences; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const PoseSequencesMakerOptions& o) {
  return {.what = text("sequences of ", name_of(o.group)),
          .counts = {{"train", o.train}, {"valid", o.valid}, {"test", o.test}},
          .make = std::bind_front(make_pose_sequences, o)};
}

namespace {

constexpr double kChartMargin = 0.05;  // from the edge of the chart
constexpr double kEdge = 1e-6;      // the same for powers of one step, which come as near as 1 - cos(pi / S)
constexpr double kSolidity = 1e-6;  // of an affine map: its rounding to float32 is still invertible
constexpr int kSequenceAttempts = 1000;

using Vector = std::vector<double>;

void require_noise(const PoseSequencesMakerOptions& o) {
  if (!o.noise_in) {
    return;
  }
  const auto name = names_of(*o.noise_in)[static_cast<size_t>(*o.noise_in)];
  require<ConfigError>(o.noise > 0, "pose_sequences: noise_in = ", name, " needs noise above 0, got ",
                       o.noise);
  require<ConfigError>(
      std::ranges::any_of(blocks_of(o.group), [&](const LieBlock& b) { return b.part == *o.noise_in; }),
      "pose_sequences: noise_in must be a block of the algebra of ", name_of(o.group), ", got ", name);
}

void require_pose_sequences_options(const PoseSequencesMakerOptions& o) {
  require<ConfigError>(o.length >= kLeastOfGap, "pose_sequences: length must be at least ", kLeastOfGap,
                       ", got ", o.length);
  require<ConfigError>(o.longest == 0 || o.longest >= o.length,
                       "pose_sequences: longest must be 0 or at least length, ", o.length, ", got ",
                       o.longest);
  require<ConfigError>(o.variant != SequenceVariant::beyond || !is_rigid(o.group),
                       "pose_sequences: variant beyond needs an affine group, every element of ",
                       name_of(o.group), " is an exponential");
  require<ConfigError>(o.variant != SequenceVariant::blocks || blocks_of(o.group).size() > 1,
                       "pose_sequences: variant blocks needs a group with more than one block, ",
                       name_of(o.group), " has the rotation alone");
  require_noise(o);
}

/// Draws one sequence; each kind of draw has a stream of its own.
class SequenceDrawing {
 public:
  SequenceDrawing(const PoseSequencesMakerOptions& options, std::string_view split, int64_t index)
      : o_(options),
        lie_(options.group),
        dof_(degrees_of_freedom(o_.group)),
        sample_(static_cast<uint64_t>(index)),
        name_("pose_sequences " + std::string(split)) {
    Stream shape = stream("shape");
    elements_ = o_.length + (o_.longest > o_.length ? shape.below(o_.longest - o_.length + 1) : 0);
    gap_ = draw_gap(elements_, shape, o_.whole);
    bound_ = std::numbers::pi / static_cast<double>(elements_);
  }

  PoseSequence draw() const {
    Stream first = stream("first"), steps = stream("steps"), noise = stream("noise");
    Vector g0(compact_size(o_.group));
    lie_.random(first, g0, o_.spread);
    for (int attempt = 0; attempt < kSequenceAttempts; ++attempt) {
      const auto path = walk(g0, steps);
      const auto seen = o_.noise > 0 ? disturbed(path, noise) : path;
      if (is_sound(path, seen)) {
        return sequence(path, seen);
      }
    }
    throw ConfigError(text("pose_sequences: no sequence of ", elements_, " elements inside the chart of ",
                           name_of(o_.group), is_rigid(o_.group) ? "" : " and far from singular",
                           " was found in ", kSequenceAttempts,
                           " attempts; choose a smaller noise or length"));
  }

 private:
  Stream stream(std::string_view what) const {
    return {static_cast<uint64_t>(o_.seed), name_ + " " + std::string(what), {sample_}};
  }

  /// The part of w in one block.
  Vector only(const Vector& w, const LieBlock& block) const {
    Vector part(dof_);
    std::copy_n(w.begin() + block.begin, block.size, part.begin() + block.begin);
    return part;
  }

  /// g_0, g_0 h_0, g_0 h_0 h_1, ... in compact storage.
  std::vector<Vector> walk(const Vector& g0, Stream& steps) const {
    std::vector<Vector> h(2, Vector(compact_size(o_.group)));
    if (o_.variant == SequenceVariant::blocks) {
      const auto blocks = blocks_of(o_.group);
      const auto pick = steps.permutation(static_cast<int64_t>(blocks.size()));
      for (int k = 0; k < 2; ++k) {
        lie_.exp(only(draw_step(lie_, o_.step, bound_, steps), blocks[pick[k]]), h[k]);
      }
    } else {
      if (o_.variant == SequenceVariant::beyond) {
        h[0] = draw_step_beyond(lie_, o_.step, steps);
      } else {
        lie_.exp(draw_step(lie_, o_.step, bound_, steps), h[0]);
      }
      h[1] = h[0];
    }
    std::vector<Vector> path{g0};
    for (int64_t k = 1; k < elements_; ++k) {
      Vector next(g0.size());
      lie_.compose(path.back(), h[(k - 1) % 2], next);
      lie_.normalise(next);
      path.push_back(std::move(next));
    }
    return path;
  }

  std::vector<Vector> disturbed(const std::vector<Vector>& path, Stream& noise) const {
    std::vector<Vector> seen;
    for (const Vector& g : path) {
      Vector e(dof_), factor(g.size()), moved(g.size());
      for (double& x : e) {
        x = o_.noise * noise.normal();
      }
      for (const LieBlock& block : blocks_of(o_.group)) {
        if (o_.noise_in && block.part != *o_.noise_in) {
          std::fill_n(e.begin() + block.begin, block.size, 0.0);
        }
      }
      lie_.from_orthonormal(e);
      lie_.exp(e, factor);
      lie_.compose(g, factor, moved);
      lie_.normalise(moved);
      seen.push_back(std::move(moved));
    }
    return seen;
  }

  /// Whether files of the sequence can be read and every logarithm exists. Powers of a rigid step are so by
  /// law; those of an affine one are on paper, but grow until rounding has eaten one of their directions.
  bool is_sound(const std::vector<Vector>& path, const std::vector<Vector>& seen) const {
    const bool powers = o_.variant == SequenceVariant::constant && o_.noise == 0;
    if (is_rigid(o_.group)) {
      return powers || inside_chart(seen, kChartMargin);
    }
    const auto solid = [&](const Vector& g) { return solidity(g) > kSolidity; };
    const bool by_chart = o_.variant != SequenceVariant::beyond;
    return std::ranges::all_of(path, solid) && std::ranges::all_of(seen, solid) &&
           (!by_chart || inside_chart(seen, powers ? kEdge : kChartMargin));
  }

  double solidity(const Vector& g) const {
    const int m = matrix_size(o_.group);
    Vector matrix(m * m);
    lie_.to_matrix(g, matrix);
    return lie_.solidity(matrix);
  }

  bool inside_chart(const std::vector<Vector>& path, double edge) const {
    Vector relative(path[0].size());
    for (size_t i = 0; i < path.size(); ++i) {
      for (size_t j = i + 1; j < path.size(); ++j) {
        lie_.between(path[i], path[j], relative);
        if (!(lie_.chart_margin(relative) > edge)) {
          return false;
        }
      }
    }
    return true;
  }

  PoseSequence sequence(const std::vector<Vector>& path, const std::vector<Vector>& seen) const {
    const size_t size = matrix_size(o_.group) * matrix_size(o_.group);
    PoseSequence result;
    result.flank = gap_.flank;
    result.tokens.resize(gap_.tokens.size() * size);
    result.element.resize(size);
    lie_.to_matrix(path[gap_.hole], result.element);
    for (size_t i = 0; i < gap_.tokens.size(); ++i) {
      lie_.to_matrix(seen[gap_.tokens[i]], std::span(result.tokens).subspan(i * size, size));
    }
    return result;
  }

  const PoseSequencesMakerOptions& o_;
  Lie<double> lie_;
  int dof_;
  uint64_t sample_;
  std::string name_;
  int64_t elements_ = 0;
  SequenceGap gap_;
  double bound_ = 0;
};

/// Writes the sequences of one split.
void write_sequences(const PoseSequencesMakerOptions& o, std::span<const PoseSequence> sequences,
                     const char* split, const std::string& path) {
  const int64_t m = matrix_size(o.group);
  Vector tokens, element;
  std::vector<int64_t> flank, offsets{0};
  for (const PoseSequence& s : sequences) {
    tokens.insert(tokens.end(), s.tokens.begin(), s.tokens.end());
    element.insert(element.end(), s.element.begin(), s.element.end());
    flank.insert(flank.end(), s.flank.begin(), s.flank.end());
    offsets.push_back(static_cast<int64_t>(flank.size()));
  }
  const auto n = offsets.back(), b = static_cast<int64_t>(sequences.size());
  const TensorBytes tensors[] = {{"elements", ElementType::f64, {n, m, m}, std::as_bytes(std::span(tokens))},
                                 {"element", ElementType::f64, {b, m, m}, std::as_bytes(std::span(element))},
                                 {"offsets", ElementType::i64, {b + 1}, std::as_bytes(std::span(offsets))},
                                 {"flank", ElementType::i64, {n, 1}, std::as_bytes(std::span(flank))}};
  std::map<std::string, std::string> facts{
      {"format", "weyl.tensors"},
      {"group", std::string(name_of(o.group))},
      {"maker", PoseSequencesMakerOptions::name_in_config},
      {"maker_version", "1"},
      {"split", split},
      {"seed", std::to_string(o.seed)},
      {"variant", std::string(names_of(o.variant)[static_cast<size_t>(o.variant)])},
      {"length", std::to_string(o.length)},
      {"longest", std::to_string(o.longest)},
      {"spread", text(o.spread)},
      {"step", text(o.step)},
      {"noise", text(o.noise)},
      {"units", "translations in a unit of length of its own, rotations as matrices"}};
  if (o.whole > 0) {
    facts["whole"] = text(o.whole);
  }
  if (o.noise_in) {
    facts["noise_in"] = names_of(*o.noise_in)[static_cast<size_t>(*o.noise_in)];
  }
  write_safetensors(path, tensors, facts, Existing::keep);
}

/// Of groups of rotations nothing is drawn by lengths.
void require_pose_sequences_effects(const PoseSequencesMakerOptions& o) {
  const bool places = matrix_size(o.group) > dimension_of(o.group);
  const char* of_rotations = "of rotations, which have no places";
  const Conditional options[] = {{"spread", places, of_rotations}, {"step", places, of_rotations}};
  refuse_unused("pose_sequences", o, PoseSequencesMakerOptions{}, options);
}

}  // namespace

PoseSequence make_pose_sequence(const PoseSequencesMakerOptions& options, std::string_view split,
                                int64_t index) {
  require_pose_sequences_options(options);
  return SequenceDrawing(options, split, index).draw();
}

bool make_pose_sequences(const PoseSequencesMakerOptions& options, const std::string& folder,
                         const JobHooks& hooks) {
  require_pose_sequences_options(options);
  require_pose_sequences_effects(options);
  return make_split_files(
      PoseSequencesMakerOptions::name_in_config, {options.train, options.valid, options.test}, folder,
      options.threads, hooks,
      [&](const char* split, int64_t index) { return make_pose_sequence(options, split, index); },
      [&](const auto& samples, const char* split, const std::string& path) {
        write_sequences(options, samples, split, path);
      });
}

}  // namespace weyl
