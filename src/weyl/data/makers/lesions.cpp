#include "weyl/data/makers/lesions.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/new_files.h"
#include "weyl/data/formats/image.h"
#include "weyl/data/makers/lesion_painter.h"

namespace weyl {

namespace fs = std::filesystem;

void fields(Fields& f, LesionsMakerOptions& o) {
  f("count", o.count, "pictures", {1, 1e5});
  f("height", o.height, "pixels", {16, 8192});
  f("width", o.width, "pixels", {16, 8192});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("threads", o.threads, "threads that make pictures; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const LesionsMakerOptions& o) {
  return {.what = text("pictures of ", o.height, " x ", o.width, " pixels with masks"),
          .counts = {{"count", o.count}},
          .make = std::bind_front(make_lesions, o)};
}

Lesion make_lesion(const LesionsMakerOptions& o, int64_t index) {
  const auto stream = [&](std::string_view what) {
    return Stream(static_cast<uint64_t>(o.seed), "lesions " + std::string(what),
                  {static_cast<uint64_t>(index)});
  };
  Stream borders = stream("border"), paint = stream("colours"), hairs = stream("hairs"),
         lights = stream("light"), noise = stream("noise");
  const LesionBorder border(borders);
  const LesionColours colours(paint);
  const LesionLight light(lights);
  const double scale = 1 / static_cast<double>(std::min(o.height, o.width));
  const auto x = [&](int64_t j) {
    return (static_cast<double>(j) + 0.5 - static_cast<double>(o.width) / 2) * scale;
  };
  const auto y = [&](int64_t i) {
    return (static_cast<double>(i) + 0.5 - static_cast<double>(o.height) / 2) * scale;
  };
  Lesion lesion{{ElementType::u8, {o.height, o.width, 3}, {}}, {ElementType::u8, {o.height, o.width, 1}, {}}};
  std::vector<Colour> picture;
  for (int64_t i = 0; i < o.height; ++i) {
    for (int64_t j = 0; j < o.width; ++j) {
      picture.push_back(colours.at(x(j), y(i), border));
      lesion.mask.bytes.push_back(border.depth(x(j), y(i)) > 0 ? std::byte{255} : std::byte{0});
    }
  }
  draw_hairs(picture, o.height, o.width, hairs);
  const double corner = std::hypot(static_cast<double>(o.height), static_cast<double>(o.width)) / 2 * scale;
  for (int64_t i = 0; i < o.height; ++i) {
    for (int64_t j = 0; j < o.width; ++j) {
      const double bright = light.at(x(j), y(i), corner);
      for (const double c : picture[i * o.width + j]) {
        const double value = std::clamp(c * bright + 0.012 * noise.normal(), 0.0, 1.0);
        lesion.image.bytes.push_back(static_cast<std::byte>(std::lround(255 * value)));
      }
    }
  }
  return lesion;
}

bool make_lesions(const LesionsMakerOptions& options, const std::string& folder, const JobHooks& hooks) {
  require<ConfigError>(options.count > 0, "lesions: count is 0, there is nothing to make");
  NewFiles files;
  for (int64_t i = 1; i <= options.count; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "IMD%03d", static_cast<int>(i));
    const std::string stem = name;
    const fs::path place = fs::path(folder) / "PH2 Dataset images" / stem;
    files.add((place / (stem + "_Dermoscopic_Image") / (stem + ".bmp")).string());
    files.add((place / (stem + "_lesion") / (stem + "_lesion.bmp")).string());
  }
  std::vector<Lesion> made(options.count);
  const bool whole = run_samples(options.count, options.threads, hooks,
                                 [&](int64_t i, const auto&) { made[i] = make_lesion(options, i); });
  if (!whole) {
    return false;
  }
  files.write_each([&](size_t i) {
    write_image(files.path(i), i % 2 == 0 ? made[i / 2].image : made[i / 2].mask, Existing::keep);
  });
  return true;
}

}  // namespace weyl
