#include "weyl/makers/images/glyphs.h"

#include <ft2build.h>

#include FT_FREETYPE_H
#include FT_BBOX_H
#include FT_OUTLINE_H

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/data/images/digit_files.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// Some styles of a family: `files` are the endings after `stem`.
struct FontFamily {
  int group;
  bool testing;
  std::string_view package, stem, files;
};

// Families of one group are near twins (Arimo has Liberation Sans's outlines, which follow Helvetica's), so a
// group is of one split whole.
constexpr FontFamily kFamilies[] = {
    {0, false, "fonts-liberation2", "truetype/liberation2/LiberationSans-", "Regular Bold Italic BoldItalic"},
    {0, false, "fonts-croscore", "truetype/croscore/Arimo-", "Regular Bold"},
    {0, false, "fonts-urw-base35", "opentype/urw-base35/NimbusSans-", "Regular Bold Italic"},
    {0, false, "fonts-urw-base35", "opentype/urw-base35/NimbusSansNarrow-", "Regular Bold Oblique"},
    {0, false, "fonts-freefont-ttf", "truetype/freefont/FreeSans", " Bold Oblique"},
    {1, false, "fonts-liberation2", "truetype/liberation2/LiberationSerif-",
     "Regular Bold Italic BoldItalic"},
    {1, false, "fonts-urw-base35", "opentype/urw-base35/NimbusRoman-", "Regular Bold Italic BoldItalic"},
    {1, false, "fonts-freefont-ttf", "truetype/freefont/FreeSerif", " Bold Italic BoldItalic"},
    {2, false, "fonts-urw-base35", "opentype/urw-base35/NimbusMonoPS-", "Regular Bold Italic BoldItalic"},
    {2, false, "fonts-freefont-ttf", "truetype/freefont/FreeMono", " Bold Oblique BoldOblique"},
    {3, false, "fonts-croscore", "truetype/croscore/Cousine-", "Regular Bold Italic BoldItalic"},
    {3, false, "fonts-liberation2", "truetype/liberation2/LiberationMono-", "Regular Bold"},
    {4, false, "fonts-dejavu-core", "truetype/dejavu/DejaVuSans", " -Bold"},
    {4, false, "fonts-dejavu-extra", "truetype/dejavu/DejaVuSans",
     "-Oblique -ExtraLight Condensed Condensed-Bold"},
    {4, false, "fonts-dejavu-core", "truetype/dejavu/DejaVuSansMono", " -Bold"},
    {4, false, "fonts-dejavu-core", "truetype/dejavu/DejaVuSerif", " -Bold"},
    {4, false, "fonts-dejavu-extra", "truetype/dejavu/DejaVuSerif",
     "-Italic -BoldItalic Condensed Condensed-Bold"},
    {5, false, "fonts-urw-base35", "opentype/urw-base35/URWBookman-", "Light Demi LightItalic DemiItalic"},
    {6, false, "fonts-urw-base35", "opentype/urw-base35/Z003-", "MediumItalic"},
    {7, true, "fonts-crosextra-carlito", "truetype/crosextra/Carlito-", "Regular Bold Italic BoldItalic"},
    {8, true, "fonts-urw-base35", "opentype/urw-base35/P052-", "Roman Bold Italic BoldItalic"},
    {9, true, "fonts-urw-base35", "opentype/urw-base35/C059-", "Roman Bold Italic BdIta"},
    {10, true, "fonts-urw-base35", "opentype/urw-base35/URWGothic-", "Book Demi BookOblique DemiOblique"}};

/// The files of a family; an empty style is the stem itself.
std::vector<std::string> files_of(const FontFamily& family) {
  std::vector<std::string> files;
  const std::string extension = family.stem.starts_with("opentype") ? ".otf" : ".ttf";
  for (std::string_view rest = family.files; true;) {
    const size_t end = rest.find(' ');
    files.push_back(std::string(family.stem) + std::string(rest.substr(0, end)) + extension);
    if (end == std::string_view::npos) {
      return files;
    }
    rest.remove_prefix(end + 1);
  }
}

using FontLibrary = std::unique_ptr<FT_LibraryRec_, decltype(&FT_Done_FreeType)>;
using Face = std::unique_ptr<FT_FaceRec_, decltype(&FT_Done_Face)>;

DigitOutline outline_of(FT_Face face, int digit, const std::string& path) {
  const FT_UInt glyph = FT_Get_Char_Index(face, FT_ULong{'0'} + static_cast<FT_ULong>(digit));
  require<DataError>(glyph != 0 && FT_Load_Glyph(face, glyph, FT_LOAD_NO_SCALE) == 0 &&
                         face->glyph->format == FT_GLYPH_FORMAT_OUTLINE && face->glyph->outline.n_points > 0,
                     path, ": the font has no outline for the digit ", digit);
  const FT_Outline& found = face->glyph->outline;
  FT_BBox box;
  require<DataError>(FT_Outline_Get_BBox(&face->glyph->outline, &box) == 0 && box.yMax > box.yMin, path,
                     ": the digit ", digit, " has no height");
  const double scale = digit_height / static_cast<double>(box.yMax - box.yMin);
  DigitOutline outline;
  outline.flags = found.flags;
  for (int i = 0; i < found.n_points; ++i) {
    outline.points.emplace_back(std::llround(static_cast<double>(found.points[i].x) * scale),
                                std::llround(static_cast<double>(found.points[i].y) * scale));
    outline.tags.push_back(static_cast<uint8_t>(found.tags[i]));
  }
  outline.ends.assign(found.contours, found.contours + found.n_contours);
  return outline;
}

}  // namespace

DigitFonts load_digit_fonts(const std::string& folder, bool testing) {
  FT_Library raw = nullptr;
  require<DataError>(FT_Init_FreeType(&raw) == 0, "glyphs: FreeType does not start");
  const FontLibrary library(raw, FT_Done_FreeType);
  DigitFonts fonts;
  int group = -1;
  for (const FontFamily& family : kFamilies) {
    if (family.testing != testing) {
      continue;
    }
    if (family.group != group) {
      fonts.groups.emplace_back();
      group = family.group;
    }
    for (const std::string& file : files_of(family)) {
      const std::string path = (fs::path(folder) / file).string();
      require<DataError>(fs::exists(path), path, ": there is no such font; it is in Debian's package ",
                         family.package);
      FT_Face opened = nullptr;
      require<DataError>(FT_New_Face(library.get(), path.c_str(), 0, &opened) == 0, path,
                         ": is no font that FreeType reads");
      const Face face(opened, FT_Done_Face);
      DigitFont font{file, {}};
      for (int digit = 0; digit < 10; ++digit) {
        font.digits[digit] = outline_of(face.get(), digit, path);
      }
      fonts.groups.back().push_back(std::move(font));
    }
  }
  return fonts;
}

std::vector<std::string> digit_font_files(bool testing) {
  std::vector<std::string> result;
  for (const FontFamily& family : kFamilies) {
    if (family.testing == testing) {
      const auto files = files_of(family);
      result.insert(result.end(), files.begin(), files.end());
    }
  }
  return result;
}

namespace {

constexpr double kRim = 0.5;      // pixels free between a digit and the circle inside the image
constexpr double kSubpixel = 64;  // of FreeType's coordinates

struct Point {
  double x, y;
};

}  // namespace

struct DigitRenderer::State {
  FT_Library library = nullptr;
};

DigitRenderer::DigitRenderer() : state_(std::make_unique<State>()) {
  require<DataError>(FT_Init_FreeType(&state_->library) == 0, "glyphs: FreeType does not start");
}

DigitRenderer::~DigitRenderer() {
  FT_Done_FreeType(state_->library);
}

std::vector<uint8_t> DigitRenderer::draw(const DigitOutline& outline, const DigitShape& s, int64_t side) {
  std::vector<FT_Vector> points;
  for (const auto& [x, y] : outline.points) {
    points.push_back({static_cast<FT_Pos>(x), static_cast<FT_Pos>(y)});
  }
  std::vector<uint8_t> tags = outline.tags;
  std::vector<int16_t> ends = outline.ends;
  FT_Outline drawn{static_cast<int16_t>(ends.size()),
                   static_cast<int16_t>(points.size()),
                   points.data(),
                   reinterpret_cast<char*>(tags.data()),
                   ends.data(),
                   outline.flags};
  const auto strength = std::lround(s.stroke / s.height * digit_height);
  require(FT_Outline_Embolden(&drawn, strength) == 0, "glyphs: an outline cannot be made bolder");

  std::vector<Point> placed;
  for (const FT_Vector& p : points) {
    const auto y = static_cast<double>(p.y);
    placed.push_back({(static_cast<double>(p.x) + s.slant * y) * s.width, y});
  }
  const auto [left, right] = std::ranges::minmax(placed, {}, &Point::x);
  const auto [low, high] = std::ranges::minmax(placed, {}, &Point::y);
  const Point middle{(left.x + right.x) / 2, (low.y + high.y) / 2};
  double scale = s.height / (high.y - low.y), radius = 0;
  for (Point& p : placed) {
    p = {p.x - middle.x, p.y - middle.y};
    radius = std::max(radius, std::hypot(p.x, p.y));
  }
  const double half = static_cast<double>(side) / 2;
  scale = std::min(scale, (half - kRim - std::hypot(s.x, s.y)) / radius);
  require(scale > 0, "glyphs: a digit must be moved by less than half the image");
  const double turn = s.angle * std::numbers::pi / 180, c = std::cos(turn), n = std::sin(turn);
  for (size_t i = 0; i < placed.size(); ++i) {
    const double x = placed[i].x * scale + s.x, y = placed[i].y * scale + s.y;
    points[i] = {std::lround((c * x - n * y + half) * kSubpixel),
                 std::lround((n * x + c * y + half) * kSubpixel)};
  }
  std::vector<uint8_t> image(side * side);
  FT_Bitmap bitmap{};
  bitmap.rows = bitmap.width = static_cast<unsigned>(side);
  bitmap.pitch = static_cast<int>(side);  // positive: the first row is the top one
  bitmap.buffer = image.data();
  bitmap.pixel_mode = FT_PIXEL_MODE_GRAY;
  bitmap.num_grays = 256;
  require(FT_Outline_Get_Bitmap(state_->library, &drawn, &bitmap) == 0, "glyphs: an outline cannot be drawn");
  return image;
}

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
