#include "weyl/data/makers/glyphs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/new_files.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/data/formats/amat.h"

namespace weyl {

void fields(Fields& f, GlyphsMakerOptions& o) {
  f("train", o.train, "training images; a fifth as many more are made for validation", {0, 1e7});
  f("test", o.test, "test images, of other fonts", {0, 1e7});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("rotation", o.rotation, "turns of each image: none, by 0, 90, 180 or 270 degrees, by any angle");
  f("angle", o.angle, "turns every image, degrees counter-clockwise", {-3600, 3600});
  f("noise", o.noise, "standard deviation of the noise of a pixel, of 1", {0, 1});
  f("digits", o.digits, "the digits that are made, drawn at random; without 9 none is another upside down");
  f("fonts", o.fonts, "folder with the fonts of Debian's packages");
  f("threads", o.threads, "threads that make images; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const GlyphsMakerOptions& o) {
  return {.what = "images of digits (and a fifth as many as train for validation)",
          .counts = {{"train", o.train}, {"test", o.test}},
          .make = std::bind_front(make_glyphs, o)};
}

namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = amat_side;
constexpr int64_t kChunkImages = 64;  // images that one renderer makes

DigitShape draw_shape(Stream& stream) {
  const auto uniform = [&](double low, double high) { return low + (high - low) * stream.uniform(); };
  DigitShape shape;
  shape.height = uniform(14, 20);
  shape.width = uniform(0.85, 1.15);
  shape.slant = uniform(-0.3, 0.3);
  shape.stroke = uniform(-0.2, 0.6);
  shape.x = uniform(-1.5, 1.5);
  shape.y = uniform(-1.5, 1.5);
  return shape;
}

/// Counter-clockwise.
std::vector<float> quarter_turned(const std::vector<float>& image) {
  std::vector<float> turned(image.size());
  for (int64_t i = 0; i < kSide; ++i) {
    for (int64_t j = 0; j < kSide; ++j) {
      turned[i * kSide + j] = image[j * kSide + kSide - 1 - i];
    }
  }
  return turned;
}

void require_digits(const GlyphsMakerOptions& o) {
  const bool sound =
      !o.digits.empty() && std::ranges::all_of(o.digits, [](char c) { return c >= '0' && c <= '9'; });
  require<ConfigError>(sound, "glyphs: digits must be some of 0123456789, got ", quote(o.digits));
}

/// Images of one file, made one after the other.
struct GlyphsPart {
  std::string split;
  int64_t count;
  const DigitFonts* fonts;
  std::vector<float> pixels;
  std::vector<int64_t> labels;
};

}  // namespace

GlyphMaker::GlyphMaker(const GlyphsMakerOptions& options, const DigitFonts& fonts)
    : o_(options), fonts_(fonts) {
  require_digits(o_);
}

Glyph GlyphMaker::make(std::string_view split, int64_t index) {
  const auto seed = static_cast<uint64_t>(o_.seed), sample = static_cast<uint64_t>(index);
  const std::string name = "glyphs " + std::string(split);
  Stream what(seed, name, {sample}), turns(seed, name + " turn", {sample}),
      noise(seed, name + " noise", {sample});
  Glyph glyph;
  glyph.label = o_.digits[what.below(static_cast<int64_t>(o_.digits.size()))] - '0';
  const auto& group = fonts_.groups[what.below(static_cast<int64_t>(fonts_.groups.size()))];
  const DigitFont& font = group[what.below(static_cast<int64_t>(group.size()))];
  glyph.font = font.file;
  DigitShape shape = draw_shape(what);
  const double turn = turns.uniform();
  double angle = std::fmod(o_.angle, 360) + (o_.rotation == GlyphRotation::any ? 360 * turn : 0);
  angle += o_.rotation == GlyphRotation::quarter ? 90 * std::floor(4 * turn) : 0;
  const double quarters = std::floor(angle / 90);
  shape.angle = angle - 90 * quarters;
  glyph.angle = angle - 360 * std::floor(angle / 360);
  const std::vector<uint8_t> ink = renderer_.draw(font.digits[glyph.label], shape, kSide);
  for (const uint8_t grey : ink) {
    const double x = std::clamp(grey / 255.0 + o_.noise * noise.normal(), 0.0, 1.0);
    glyph.pixels.push_back(static_cast<float>(std::round(1000 * x) / 1000));
  }
  for (int64_t k = static_cast<int64_t>(quarters - 4 * std::floor(quarters / 4)); k > 0; --k) {
    glyph.pixels = quarter_turned(glyph.pixels);
  }
  return glyph;
}

bool make_glyphs(const GlyphsMakerOptions& options, const std::string& folder, const JobHooks& hooks) {
  const DigitFonts training = load_digit_fonts(options.fonts, false),
                   testing = load_digit_fonts(options.fonts, true);
  NewFiles files;
  std::vector<GlyphsPart> parts;
  std::vector<int64_t> firsts{0};  // chunks of each part
  for (const auto& [split, count, fonts] :
       {std::tuple{"train_valid", options.train + options.train / 5, &training},
        {"test", options.test, &testing}}) {
    const std::string path =
        (fs::path(folder) / ("mnist_all_rotation_normalized_float_" + std::string(split) + ".amat")).string();
    if (count > 0) {
      files.add(path);
      parts.push_back(
          {split, count, fonts, std::vector<float>(count * amat_pixels), std::vector<int64_t>(count)});
      firsts.push_back(firsts.back() + (count + kChunkImages - 1) / kChunkImages);
    }
  }
  require_digits(options);
  require<ConfigError>(!parts.empty(), "glyphs: train and test are both 0, there is nothing to make");
  const int64_t total = firsts.back();
  JobHooks of_chunks = hooks;
  if (hooks.report) {
    of_chunks.report = [&](int64_t done, int64_t all) {
      hooks.report(done * kChunkImages, all * kChunkImages);
    };
  }
  const bool whole = run_samples(total, options.threads, of_chunks, [&](int64_t chunk, const auto& stopped) {
    const auto k = std::upper_bound(firsts.begin(), firsts.end(), chunk) - firsts.begin() - 1;
    GlyphsPart& part = parts[k];
    GlyphMaker maker(options, *part.fonts);
    const int64_t begin = (chunk - firsts[k]) * kChunkImages,
                  end = std::min(part.count, begin + kChunkImages);
    for (int64_t i = begin; i < end && !stopped; ++i) {
      const Glyph glyph = maker.make(part.split, i);
      std::copy(glyph.pixels.begin(), glyph.pixels.end(), part.pixels.begin() + i * amat_pixels);
      part.labels[i] = glyph.label;
    }
  });
  if (!whole) {
    return false;
  }
  files.write_each([&](size_t k) {
    AtomicFile file(files.path(k), Existing::keep);
    for (int64_t i = 0; i < parts[k].count; i += kChunkImages) {
      const int64_t n = std::min(kChunkImages, parts[k].count - i);
      file.write(amat_text(std::span(parts[k].pixels).subspan(i * amat_pixels, n * amat_pixels),
                           std::span(parts[k].labels).subspan(i, n)));
    }
    file.commit();
  });
  return true;
}

}  // namespace weyl
