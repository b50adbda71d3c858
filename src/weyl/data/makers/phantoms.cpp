#include "weyl/data/makers/phantoms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/new_files.h"
#include "weyl/core/random.h"
#include "weyl/data/formats/decathlon.h"
#include "weyl/data/formats/nifti.h"
#include "weyl/data/makers/phantom_head.h"

namespace weyl {

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

DecathlonIndex index_of(const PhantomsMakerOptions& o) {
  DecathlonIndex index{"phantoms",
                       {"FLAIR", "T1w", "T1gd", "T2w"},
                       {"background", "edema", "non-enhancing tumor", "enhancing tumor"},
                       {},
                       {}};
  for (int64_t i = 0; i < o.count; ++i) {
    index.training.push_back({"imagesTr/" + case_name(i), "labelsTr/" + case_name(i)});
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
  const DecathlonIndex index = index_of(o);
  NewFiles files;
  files.add((fs::path(folder) / "dataset.json").string());
  for (const auto& c : index.training) {
    files.add((fs::path(folder) / c.image).string());
    files.add((fs::path(folder) / c.label).string());
  }
  return files.keep_if([&](const NewFiles::Written& written) {
    const bool whole = run_samples(o.count, o.threads, hooks, [&](int64_t i, const auto&) {
      const Phantom phantom = make_phantom(o, i);
      NiftiHeader header = header_of(o);
      header.type = ElementType::u8;
      write_nifti((fs::path(folder) / index.training[i].label).string(), header,
                  std::as_bytes(std::span(phantom.mask)), Existing::keep);
      written(2 * i + 2);
      header.type = ElementType::i16;
      header.shape.push_back(kModalities);
      write_nifti((fs::path(folder) / index.training[i].image).string(), header,
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
