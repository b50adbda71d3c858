#include "weyl/data/makers/digit_fonts.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_BBOX_H
#include FT_OUTLINE_H

#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "weyl/core/check.h"

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

}  // namespace weyl
