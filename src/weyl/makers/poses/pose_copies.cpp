#include "weyl/makers/poses/pose_copies.h"

#include <functional>
#include <span>

#include "weyl/algebra/lie/group.h"
#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/safetensors.h"
#include "weyl/makers/split_files.h"

namespace weyl {

void fields(Fields& f, PoseCopiesMakerOptions& o) {
  f("group", o.group, "the Lie group of the poses: so2, se2, so3 or se3");
  f("train", o.train, "training samples", {0, 1e8});
  f("valid", o.valid, "validation samples", {0, 1e8});
  f("test", o.test, "test samples", {0, 1e8});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("length", o.length, "poses of a set, of which there are two copies", {2, 10000});
  f("spread", o.spread, "standard deviation of the translations, of poses and of motions", {0, 1e6});
  f("noise", o.noise, "standard deviation of noise on the translations of both copies", {0, 1e6});
  f("angle_noise", o.angle_noise, "the same of their rotations, in radians", {0, 3});
  f("threads", o.threads, "threads that make samples; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const PoseCopiesMakerOptions& o) {
  using Make = bool (*)(const PoseCopiesMakerOptions&, const std::string&, const JobHooks&);
  return {.what = text("pairs of copies of sets of ", name_of(o.group)),
          .counts = {{"train", o.train}, {"valid", o.valid}, {"test", o.test}},
          .make = std::bind_front(static_cast<Make>(make_pose_copies), o)};
}

namespace {

void require_pose_copies_options(const PoseCopiesMakerOptions& o) {
  require<ConfigError>(is_rigid(o.group), "pose_copies: group must be so2, se2, so3 or se3, got ",
                       name_of(o.group));
}

void write_copies(const PoseCopiesMakerOptions& o, std::span<const PoseCopies> samples, const char* split,
                  const std::string& path) {
  const int64_t m = matrix_size(o.group), b = static_cast<int64_t>(samples.size()), n = 2 * b * o.length;
  std::vector<double> tokens, carried, copy;
  std::vector<int64_t> offsets{0};
  for (const PoseCopies& s : samples) {
    tokens.insert(tokens.end(), s.tokens.begin(), s.tokens.end());
    carried.insert(carried.end(), s.carried.begin(), s.carried.end());
    copy.insert(copy.end(), s.copy.begin(), s.copy.end());
    offsets.push_back(offsets.back() + 2 * o.length);
  }
  const TensorBytes tensors[] = {{"elements", ElementType::f64, {n, m, m}, std::as_bytes(std::span(tokens))},
                                 {"offsets", ElementType::i64, {b + 1}, std::as_bytes(std::span(offsets))},
                                 {"scalars", ElementType::f64, {n, 1}, std::as_bytes(std::span(copy))},
                                 {"pose", ElementType::f64, {n, m, m}, std::as_bytes(std::span(carried))}};
  write_safetensors(path, tensors,
                    {{"format", "weyl.tensors"},
                     {"group", std::string(name_of(o.group))},
                     {"maker", PoseCopiesMakerOptions::name_in_config},
                     {"maker_version", "1"},
                     {"split", split},
                     {"seed", std::to_string(o.seed)},
                     {"length", std::to_string(o.length)},
                     {"spread", text(o.spread)},
                     {"noise", text(o.noise)},
                     {"angle_noise", text(o.angle_noise)},
                     {"scalars", "copy"},
                     {"units", "translations in a unit of length of their own, rotations as matrices"}},
                    Existing::keep);
}

/// Of groups of rotations nothing is drawn by lengths.
void require_pose_copies_effects(const PoseCopiesMakerOptions& o) {
  const bool places = matrix_size(o.group) > dimension_of(o.group);
  const char* of_rotations = "of rotations, which have no places";
  const Conditional options[] = {{"spread", places, of_rotations}, {"noise", places, of_rotations}};
  refuse_unused("pose_copies", o, PoseCopiesMakerOptions{}, options);
}

}  // namespace

PoseCopies make_pose_copies(const PoseCopiesMakerOptions& o, std::string_view split, int64_t index) {
  require_pose_copies_options(o);
  const auto stream = [&](std::string_view what) {
    return Stream(static_cast<uint64_t>(o.seed), text("pose_copies ", split, " ", what),
                  {static_cast<uint64_t>(index)});
  };
  using Vector = std::vector<double>;
  const Lie<double> lie(o.group);
  Stream poses = stream("poses"), motions = stream("motions"), noise = stream("noise"),
         order = stream("order");
  const auto drawn = [&](Stream& from) {
    Vector g(compact_size(o.group));
    lie.random(from, g, o.spread);
    return g;
  };
  const auto product = [&](const Vector& a, const Vector& b) {
    Vector ab(a.size());
    lie.compose(a, b, ab);
    lie.normalise(ab);
    return ab;
  };
  const auto disturbed = [&](const Vector& g) {
    Vector e(degrees_of_freedom(o.group)), factor(g.size());
    for (const LieBlock& block : blocks_of(o.group)) {
      for (int k = 0; k < block.size; ++k) {
        e[block.begin + k] = (block.part == LiePart::translation ? o.noise : o.angle_noise) * noise.normal();
      }
    }
    lie.exp(e, factor);
    return product(g, factor);
  };
  std::vector<Vector> set;
  for (int64_t i = 0; i < o.length; ++i) {
    set.push_back(drawn(poses));
  }
  const Vector a = drawn(motions), b = drawn(motions);
  Vector back(a.size()), forth(a.size());  // a b^-1, b a^-1
  lie.inverse(b, back);
  back = product(a, back);
  lie.inverse(a, forth);
  forth = product(b, forth);
  const std::vector<int64_t> shuffled = order.permutation(o.length);
  const auto row = static_cast<size_t>(matrix_size(o.group)), size = row * row;
  PoseCopies made;
  Vector matrix(size);
  const auto append = [&](const Vector& g, Vector& to) {
    lie.to_matrix(g, matrix);
    to.insert(to.end(), matrix.begin(), matrix.end());
  };
  for (int64_t k = 0; k < 2 * o.length; ++k) {
    const bool second = k >= o.length;
    const Vector g = disturbed(product(second ? b : a, set[second ? shuffled[k - o.length] : k]));
    append(g, made.tokens);
    append(product(second ? back : forth, g), made.carried);
    made.copy.push_back(second ? 1 : 0);
  }
  return made;
}

bool make_pose_copies(const PoseCopiesMakerOptions& options, const std::string& folder,
                      const JobHooks& hooks) {
  require_pose_copies_options(options);
  require_pose_copies_effects(options);
  return make_split_files(
      PoseCopiesMakerOptions::name_in_config, {options.train, options.valid, options.test}, folder,
      options.threads, hooks,
      [&](const char* split, int64_t index) { return make_pose_copies(options, split, index); },
      [&](const auto& samples, const char* split, const std::string& path) {
        write_copies(options, samples, split, path);
      });
}

}  // namespace weyl
