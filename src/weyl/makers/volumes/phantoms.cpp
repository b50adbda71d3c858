#include "weyl/makers/volumes/phantoms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <numbers>
#include <sstream>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/core/random.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {

SmoothNoise::SmoothNoise(Stream& stream, double length, int octaves) : length_(length), lattices_(octaves) {
  for (auto& lattice : lattices_) {
    turns_.push_back(draw_rotation(Turning::uniform, 2, stream));
    lattice.resize(kPoints * kPoints * kPoints);
    for (float& value : lattice) {
      value = static_cast<float>(2 * stream.uniform() - 1);
    }
  }
}

double SmoothNoise::operator()(const std::array<double, 3>& x) const {
  double sum = 0, weight = 1, scale = 1 / length_;
  for (size_t octave = 0; octave < lattices_.size(); ++octave) {
    const auto& lattice = lattices_[octave];
    const Rotation& r = turns_[octave];
    std::array<int64_t, 3> low{}, high{};
    std::array<double, 3> part{};
    for (size_t d = 0; d < 3; ++d) {
      const double at = (r[3 * d] * x[0] + r[3 * d + 1] * x[1] + r[3 * d + 2] * x[2]) * scale,
                   floor = std::floor(at), t = at - floor;
      low[d] = static_cast<int64_t>(floor) & (kPoints - 1);
      high[d] = (low[d] + 1) & (kPoints - 1);
      part[d] = t * t * t * (t * (6 * t - 15) + 10);
    }
    double value = 0;
    for (int corner = 0; corner < 8; ++corner) {
      int64_t at = 0;
      double w = 1;
      for (size_t d = 0; d < 3; ++d) {
        const bool upper = (corner >> d & 1) != 0;
        at = at * kPoints + (upper ? high[d] : low[d]);
        w *= upper ? part[d] : 1 - part[d];
      }
      value += w * lattice[at];
    }
    sum += weight * value;
    weight *= 0.5;
    scale *= 2;
  }
  return 1.5 * sum;
}

namespace {

using HeadPoint = std::array<double, 3>;

constexpr double kRadius = 75;  // mm, of the head that lengths below are for

double uniform_between(Stream& stream, double low, double high) {
  return low + (high - low) * stream.uniform();
}

double ellipsoid_norm(const HeadPoint& x, const HeadPoint& centre, const HeadPoint& radii) {
  return std::hypot((x[0] - centre[0]) / radii[0], (x[1] - centre[1]) / radii[1],
                    (x[2] - centre[2]) / radii[2]);
}

HeadPoint scaled(const HeadPoint& x, double factor) {
  return {factor * x[0], factor * x[1], factor * x[2]};
}

HeadPoint times(const Rotation& r, const HeadPoint& x) {
  return {r[0] * x[0] + r[1] * x[1] + r[2] * x[2], r[3] * x[0] + r[4] * x[1] + r[5] * x[2],
          r[6] * x[0] + r[7] * x[1] + r[8] * x[2]};
}

/// A rotation by small angles about x, y and z.
Rotation tilted(double degrees, Stream& stream) {
  Rotation r{1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int axis = 0; axis < 3; ++axis) {
    const double angle = uniform_between(stream, -degrees, degrees) * std::numbers::pi / 180;
    const double c = std::cos(angle), s = std::sin(angle);
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    Rotation next = r;
    for (int k = 0; k < 3; ++k) {
      next[3 * i + k] = c * r[3 * i + k] - s * r[3 * j + k];
      next[3 * j + k] = s * r[3 * i + k] + c * r[3 * j + k];
    }
    r = next;
  }
  return r;
}

}  // namespace

PhantomHead::PhantomHead(const HeadPoint& radii, double tilt, Stream& stream)
    : radii_(scaled(radii, uniform_between(stream, 0.93, 1))),
      brain_(scaled(radii_, 0.88)),
      scale_((radii_[0] + radii_[1] + radii_[2]) / 3 / kRadius),
      turn_(tilted(tilt, stream)),
      shift_(scaled({stream.uniform() - 0.5, stream.uniform() - 0.5, stream.uniform() - 0.5}, 6 * scale_)),
      surface_(stream, 45 * scale_),
      folds_(stream, 14 * scale_),
      rim_(stream, 14 * scale_),
      spread_(stream, 28 * scale_),
      ventricle_(uniform_between(stream, 0.8, 1.3)),
      gap_(uniform_between(stream, 0.55, 0.9)),
      necrosis_(uniform_between(stream, 0.5, 0.78)),
      extent_(uniform_between(stream, 1.5, 2.2)),
      enhances_(stream.uniform() >= 0.1) {
  for (double& r : tumour_) {
    r = uniform_between(stream, 9, 17) * scale_;
  }
  do {  // inside the brain, beside the middle
    for (size_t d = 0; d < 3; ++d) {
      centre_[d] = (2 * stream.uniform() - 1) * 0.7 * brain_[d];
    }
  } while (ellipsoid_norm(centre_, {}, brain_) > 0.62 || std::abs(centre_[0]) < 0.25 * brain_[0]);
}

Tissue PhantomHead::healthy(const HeadPoint& x) const {
  const double bulge = 1 + 0.03 * surface_(x);
  const double head = ellipsoid_norm(x, {}, radii_) * bulge;
  if (head > 1) {
    return Tissue::air;
  }
  const double mean = scale_ * kRadius;
  if (head > 1 - 4 * scale_ / mean) {
    return Tissue::scalp;
  }
  const double brain = ellipsoid_norm(x, {}, brain_) * bulge;
  if (brain > 1) {
    return brain > 1 + 2 * scale_ / mean ? Tissue::skull : Tissue::fluid;
  }
  const double depth = (1 - brain) * 0.88 * kRadius;  // mm below the surface, of a head of standard size
  const double middle = std::abs(x[0]) / scale_;      // from the fissure between the hemispheres
  const double mirrored = std::abs(x[0]);
  const double s = scale_;
  const double ventricle =
      ellipsoid_norm({mirrored, x[1], x[2] - 0.0025 * x[1] * x[1] / s}, {9 * s, 2 * s, 8 * s},
                     {5 * s * ventricle_, 24 * s, 9 * s * ventricle_});
  if (ventricle < 1) {
    return Tissue::fluid;
  }
  const double fold = std::abs(folds_(x));
  const double sulcus = 16 - depth;  // folds reach so deep
  const bool above = x[2] > -5 * s;
  if ((sulcus > 0 && fold < 0.007 * sulcus) || (above && middle < gap_ && depth < 34)) {
    return Tissue::fluid;
  }
  if (depth < 2.6 || (sulcus > 0 && fold < 0.12 + 0.012 * sulcus) || (above && middle < 3.5 && depth < 34)) {
    return Tissue::grey;
  }
  const double deep = ellipsoid_norm({mirrored, x[1], x[2]}, {17 * s, 0, -3 * s}, {8 * s, 15 * s, 9 * s});
  return deep < 1 ? Tissue::grey : Tissue::white;
}

Tissue PhantomHead::tissue(const HeadPoint& at) const {
  const HeadPoint x = times(turn_, {at[0] - shift_[0], at[1] - shift_[1], at[2] - shift_[2]});
  const Tissue found = healthy(x);
  const bool brain = found == Tissue::grey || found == Tissue::white;
  if (!brain && found != Tissue::fluid) {
    return found;
  }
  const double far = ellipsoid_norm(x, centre_, tumour_);
  if (far > 2 * extent_ || ellipsoid_norm(x, {}, brain_) > 0.97) {
    return found;
  }
  const double core = far * (1 + 0.3 * rim_(x));
  if (core < 1) {  // it displaces fluid too
    const double inner = necrosis_ + 0.25 * rim_(scaled(x, 1.7));
    return core >= inner && enhances_ ? Tissue::enhancing : Tissue::core;
  }
  const double edema = far * (1 + 0.35 * spread_(x));
  const double extent = found == Tissue::white ? extent_ : 0.5 + 0.5 * extent_;  // it follows white matter
  return brain && edema < extent ? Tissue::edema : found;
}

void fields(Fields& f, PhantomsMakerOptions& o) {
  f("count", o.count, "labelled cases", {1, 1e5});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("size", o.size, "voxels along the three axes", {4, 1024});
  f("spacing", o.spacing, "mm between voxels along the three axes", {0.01, 100});
  f("skull", o.skull, "keeps scalp and skull; false: what is not brain is 0");
  f("noise", o.noise, "standard deviation of the noise; white matter is about 500", {0, 1000});
  f("bias", o.bias, "standard deviation of the logarithm of the receiver's sensitivity", {0, 2});
  f("tilt", o.tilt, "degrees that a head is turned by at most about each axis", {0, 180});
  f("threads", o.threads, "threads that make cases; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const PhantomsMakerOptions& o) {
  std::string sides;
  for (const int64_t side : o.size) {
    sides += text(sides.empty() ? "" : " x ", side);
  }
  return {.what = "volumes of " + sides + " voxels in four modalities",
          .counts = {{"count", o.count}},
          .make = std::bind_front(make_phantoms, o)};
}

namespace {

namespace fs = std::filesystem;

constexpr size_t kModalities = 4;

/// Brightness of the tissues, in the order of Tissue: air, scalp, skull, fluid, grey, white, edema, core,
/// enhancing.
constexpr std::array<std::array<float, tissue_count>, kModalities> kBrightness{{
    {0, 420, 60, 110, 520, 430, 880, 560, 760},   // FLAIR: fluid dark, edema bright
    {0, 850, 60, 150, 430, 620, 410, 290, 470},   // T1w: white matter bright
    {0, 850, 60, 160, 450, 640, 420, 300, 1120},  // T1gd: the rim that takes up the agent
    {0, 500, 50, 1050, 620, 440, 880, 800, 720},  // T2w: fluid bright
}};
constexpr std::array<uint8_t, tissue_count> kLabels{0, 0, 0, 0, 0, 0, 1, 2, 3};
constexpr float kTexture = 0.04F;  // of a tissue's own brightness
constexpr double kBlur = 0.55;     // voxels, standard deviation of the point spread

/// Gaussian blur along one axis: `stride` between neighbours, `count` of them; edges repeat.
void blur(std::vector<float>& values, int64_t stride, int64_t count) {
  constexpr int kReach = 2;
  std::array<float, 2 * kReach + 1> weights{};
  float sum = 0;
  for (int i = -kReach; i <= kReach; ++i) {
    sum += weights[i + kReach] = static_cast<float>(std::exp(-0.5 * i * i / (kBlur * kBlur)));
  }
  std::vector<float> line(count);
  const auto size = static_cast<int64_t>(values.size());
  for (int64_t first = 0; first < size; ++first) {
    if (first / stride % count != 0) {
      continue;
    }
    for (int64_t i = 0; i < count; ++i) {
      line[i] = values[first + i * stride];
    }
    for (int64_t i = 0; i < count; ++i) {
      float blurred = 0;
      for (int k = -kReach; k <= kReach; ++k) {
        blurred += weights[k + kReach] * line[std::clamp<int64_t>(i + k, 0, count - 1)];
      }
      values[first + i * stride] = blurred / sum;
    }
  }
}

/// Drawing one case.
class PhantomDrawing {
 public:
  PhantomDrawing(const PhantomsMakerOptions& options, int64_t index)
      : o_(options), index_(static_cast<uint64_t>(index)), voxels_(o_.size[0] * o_.size[1] * o_.size[2]) {}

  Phantom draw() {
    Stream shape = stream("shape");
    std::array<double, 3> radii{};
    for (size_t d = 0; d < 3; ++d) {
      radii[d] = 0.5 * static_cast<double>(o_.size[d]) * o_.spacing[d] * kFill[d];
    }
    const PhantomHead head(radii, o_.tilt, shape);
    std::vector<Tissue> tissues(voxels_);
    each([&](int64_t at, const std::array<double, 3>& x) { tissues[at] = head.tissue(x); });
    Phantom phantom;
    for (const Tissue t : tissues) {
      phantom.mask.push_back(kLabels[static_cast<size_t>(t)]);
    }
    const double length = (radii[0] + radii[1] + radii[2]) / 3;
    for (size_t m = 0; m < kModalities; ++m) {
      add_modality(phantom, tissues, m, length);
    }
    return phantom;
  }

 private:
  static constexpr std::array<double, 3> kFill{0.86, 0.96, 0.86};  // of the field of view by the head

  Stream stream(std::string_view what, uint64_t modality = 0) const {
    return {static_cast<uint64_t>(o_.seed), "phantoms " + std::string(what), {index_, modality}};
  }

  /// f(voxel, place in mm): the axes of the file run left, posterior, superior.
  template <class F>
  void each(F f) const {
    int64_t at = 0;
    for (int64_t k = 0; k < o_.size[2]; ++k) {
      for (int64_t j = 0; j < o_.size[1]; ++j) {
        for (int64_t i = 0; i < o_.size[0]; ++i) {
          f(at++, {-place(i, 0), -place(j, 1), place(k, 2)});
        }
      }
    }
  }
  double place(int64_t voxel, size_t d) const {
    return (static_cast<double>(voxel) - 0.5 * static_cast<double>(o_.size[d] - 1)) * o_.spacing[d];
  }

  void add_modality(Phantom& to, const std::vector<Tissue>& tissues, size_t m, double length) const {
    Stream bias_stream = stream("bias", m), texture_stream = stream("texture", m), noise = stream("noise", m);
    const SmoothNoise bias(bias_stream, 1.2 * length, 1), texture(texture_stream, 0.08 * length, 2);
    std::vector<float> values(voxels_);
    each([&](int64_t at, const std::array<double, 3>& x) {
      const float brightness = kBrightness[m][static_cast<size_t>(tissues[at])];
      const auto own = static_cast<float>(texture(x));
      values[at] = brightness * (1 + kTexture * own) * static_cast<float>(std::exp(o_.bias * bias(x)));
    });
    blur(values, 1, o_.size[0]);
    blur(values, o_.size[0], o_.size[1]);
    blur(values, o_.size[0] * o_.size[1], o_.size[2]);
    for (int64_t at = 0; at < voxels_; ++at) {
      const double real = values[at] + o_.noise * noise.normal(), imaginary = o_.noise * noise.normal();
      const double value = std::round(std::hypot(real, imaginary));  // Rician
      const Tissue t = tissues[at];
      const bool kept = o_.skull || (t != Tissue::air && t != Tissue::scalp && t != Tissue::skull);
      // No cell of the brain is 0, so that "nonzero" is "brain".
      to.image.push_back(kept ? static_cast<int16_t>(std::clamp(value, o_.skull ? 0.0 : 1.0, 32767.0)) : 0);
    }
  }

  const PhantomsMakerOptions& o_;
  uint64_t index_;
  int64_t voxels_;
};

void require_phantoms_options(const PhantomsMakerOptions& o) {
  const auto positive = [](const auto& values) {
    return values.size() == 3 && std::all_of(values.begin(), values.end(), [](auto x) { return x > 0; });
  };
  require<ConfigError>(positive(o.size) && positive(o.spacing),
                       "phantoms: size and spacing must be three positive numbers each");
}

NiftiHeader header_of(const PhantomsMakerOptions& o) {
  NiftiHeader header{.shape = o.size};
  NiftiGeometry& g = header.geometry;
  for (size_t d = 0; d < 3; ++d) {
    const double sign = d < 2 ? -1 : 1;
    g.pixdim[d + 1] = o.spacing[d];
    g.srow[5 * d] = sign * o.spacing[d];
    g.srow[4 * d + 3] = g.qoffset[d] = -sign * 0.5 * static_cast<double>(o.size[d] - 1) * o.spacing[d];
  }
  g.quatern = {0, 0, 1};  // half a turn about z
  g.qform_code = g.sform_code = 1;
  return header;
}

std::string case_name(int64_t index) {
  std::ostringstream name;
  name << "PHANTOM_" << std::setw(3) << std::setfill('0') << index + 1 << ".nii.gz";
  return name.str();
}

VolumeIndex index_of(const PhantomsMakerOptions& o) {
  VolumeIndex index{"phantoms",
                    {"FLAIR", "T1w", "T1gd", "T2w"},
                    {"background", "edema", "non-enhancing tumor", "enhancing tumor"},
                    {},
                    {}};
  for (int64_t i = 0; i < o.count; ++i) {
    index.training.push_back({"", {"imagesTr/" + case_name(i)}, "labelsTr/" + case_name(i)});
  }
  return index;
}

}  // namespace

Phantom make_phantom(const PhantomsMakerOptions& options, int64_t index) {
  require_phantoms_options(options);
  return PhantomDrawing(options, index).draw();
}

bool make_phantoms(const PhantomsMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  require_phantoms_options(o);
  const VolumeIndex index = index_of(o);
  NewFiles files;
  files.add((fs::path(folder) / "dataset.json").string());
  for (const auto& c : index.training) {
    files.add((fs::path(folder) / c.channels[0]).string());
    files.add((fs::path(folder) / c.mask).string());
  }
  return files.keep_if([&](const NewFiles::Written& written) {
    const bool whole = run_samples(o.count, o.threads, hooks, [&](int64_t i, const auto&) {
      const Phantom phantom = make_phantom(o, i);
      NiftiHeader header = header_of(o);
      header.type = ElementType::u8;
      write_nifti((fs::path(folder) / index.training[i].mask).string(), header,
                  std::as_bytes(std::span(phantom.mask)), Existing::keep);
      written(2 * i + 2);
      header.type = ElementType::i16;
      header.shape.push_back(kModalities);
      write_nifti((fs::path(folder) / index.training[i].channels[0]).string(), header,
                  std::as_bytes(std::span(phantom.image)), Existing::keep);
      written(2 * i + 1);
    });
    if (whole) {
      write_file_atomically(files.path(0), decathlon_json(index), Existing::keep);
      written(0);
    }
    return whole;
  });
}

}  // namespace weyl
