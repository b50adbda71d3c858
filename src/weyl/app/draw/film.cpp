#include "weyl/app/draw/film.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <sstream>

#include "weyl/app/draw/gnuplot.h"
#include "weyl/app/draw/plot.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace {

constexpr size_t most_pictures = 12;
constexpr double sparse =
    0.6;  // of the room for numbers, of which small pictures beside one another need few

std::vector<float> floats_of(const SafetensorsFile& file, const std::string& name) {
  require<DataError>(file.entry(name).type == ElementType::f32, file.path(), ": ", name, ": must be f32");
  const std::vector<std::byte> bytes = file.bytes(name);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

std::string word_of(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.header().metadata.find(key);
  return found == file.header().metadata.end() ? "" : found->second;
}

/// What all pictures show: the same stretch of space in each.
struct Window {
  double x0 = std::numeric_limits<double>::infinity(), x1 = -x0, y0 = x0, y1 = -x0;

  void take(const std::vector<float>& numbers) {
    for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
      if (std::isfinite(numbers[i]) && std::isfinite(numbers[i + 1])) {
        x0 = std::min<double>(x0, numbers[i]);
        x1 = std::max<double>(x1, numbers[i]);
        y0 = std::min<double>(y0, numbers[i + 1]);
        y1 = std::max<double>(y1, numbers[i + 1]);
      }
    }
  }
  /// A margin around it, no side less than a third of the other.
  void widen() {
    const double most = std::max({x1 - x0, y1 - y0, 1e-6 * std::max(std::abs(x0), std::abs(y0)), 1e-12});
    const auto wide = [&](double& low, double& high) {
      const double half = std::max((high - low) * 0.54, most / 6), middle = (low + high) / 2;
      low = middle - half;
      high = middle + half;
    };
    wide(x0, x1);
    wide(y0, y1);
  }
};

/// Lines of a block of data: ends of lines with an empty line after each, or dots.
std::string block_of(const float* numbers, int64_t count, bool lines) {
  std::string block;
  char line[96];
  for (int64_t i = 0; i < count; ++i) {
    const float* n = numbers + i * (lines ? 4 : 2);
    if (!std::all_of(n, n + (lines ? 4 : 2), [](float x) { return std::isfinite(x); })) {
      continue;
    }
    if (lines) {
      std::snprintf(line, sizeof line, "%.7g %.7g\n%.7g %.7g\n\n", n[0], n[1], n[2], n[3]);
    } else {
      std::snprintf(line, sizeof line, "%.7g %.7g\n", n[0], n[1]);
    }
    block += line;
  }
  return block;
}

/// The ways of dots through the first `pictures` of them; where `first` is given, from there.
std::string ways_of(const std::vector<float>& dots, const std::vector<float>& first, int64_t pictures,
                    int64_t count) {
  std::string block;
  char line[64];
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t f = 0; f < pictures; ++f) {
      const float* n = (f == 0 ? first : dots).data() + 2 * (f * count + i);
      if (std::isfinite(n[0]) && std::isfinite(n[1])) {
        std::snprintf(line, sizeof line, "%.7g %.7g\n", n[0], n[1]);
        block += line;
      }
    }
    block += "\n";
  }
  return block;
}

constexpr const char* truth_colour = "lc rgb '#666666'";
constexpr const char* prediction_colour = "lc rgb '#d95f02'";

/// The bodies of picture f, and its key in the last.
void add_bodies(PlotScript& script, const Film& film, int64_t f, bool key) {
  const int64_t begin = f * film.count * film.numbers();
  const auto title = [&](const char* words) { return std::string(key ? words : ""); };
  const auto style = [](const char* with, const char* colour) {
    return text("using 1:2 with ", with, " ", colour);
  };
  if (film.outlines) {
    script.plot(block_of(film.truth.data() + begin, film.count, true), style("lines lw 2.2", truth_colour),
                title("true"));
    if (f > 0) {
      script.plot(block_of(film.prediction.data() + begin, film.count, true),
                  style("lines lw 1.1", prediction_colour), title("predicted"));
    }
    return;
  }
  script.plot(ways_of(film.truth, film.truth, f + 1, film.count), style("lines lw 1.2", truth_colour));
  if (f > 0) {
    script.plot(ways_of(film.prediction, film.truth, f + 1, film.count),
                style("lines lw 1.2 dt 2", prediction_colour));
  }
  script.plot(block_of(film.truth.data() + begin, film.count, false),
              style("points pt 6 ps 1.4 lw 1.6", truth_colour), title("true"));
  if (f > 0) {
    script.plot(block_of(film.prediction.data() + begin, film.count, false),
                style("points pt 7 ps 0.7", prediction_colour), title("predicted"));
  }
}

void check_film(const Film& film, const std::string& path) {
  const size_t frames = film.times.size();
  const size_t numbers = frames * static_cast<size_t>(film.count * film.numbers());
  require<DataError>(frames > 0 && frames <= most_pictures && film.truth.size() == numbers &&
                         film.prediction.size() == numbers && film.ground.size() % 4 == 0,
                     path, ": a film must have 1 to ", most_pictures, " times with ", film.count,
                     " bodies each, of truth and prediction, got ", frames, " times with ", film.truth.size(),
                     " and ", film.prediction.size(), " numbers");
}

}  // namespace

Film read_film(const std::string& path) {
  const SafetensorsFile file(path);
  Film film;
  film.title = word_of(file, "title");
  film.unit = word_of(file, "unit");
  std::istringstream lines(word_of(file, "times"));
  for (std::string line; std::getline(lines, line);) {
    film.times.push_back(line);
  }
  const auto& shape = file.entry("truth").shape;
  require<DataError>(
      shape.size() == 3 && (shape[2] == 2 || shape[2] == 4) && file.entry("prediction").shape == shape, path,
      ": truth and prediction must both be (F, bodies, 2 or 4)");
  film.outlines = shape[2] == 4;
  film.count = shape[1];
  film.truth = floats_of(file, "truth");
  film.prediction = floats_of(file, "prediction");
  if (file.contains("ground")) {
    film.ground = floats_of(file, "ground");
  }
  check_film(film, path);
  return film;
}

void draw(const Film& film, const std::string& path) {
  check_film(film, path);
  Window window;
  window.take(film.truth);
  window.take(film.prediction);
  require<Error>(window.x0 <= window.x1, path, ": a film must have bodies to draw, got none");
  window.take(film.ground);
  window.widen();
  const auto frames = static_cast<int64_t>(film.times.size());
  const int across = frames > 6 ? 200 : 270, left = 76, gap = 14, above = 66, below = 92;
  const double ratio = (window.y1 - window.y0) / (window.x1 - window.x0);
  const int down = static_cast<int>(across * ratio), width = left + static_cast<int>(frames) * (across + gap),
            height = above + down + below;
  const AxisTics x_tics = linear_tics(window.x0, window.x1, sparse * across, false),
                 y_tics = linear_tics(window.y0, window.y1, sparse * down, false, true);
  // Outlines are seen from above the horizon, dots from wherever they are spread most.
  const auto axis = [&](const std::string& direction) {
    return !film.outlines ? film.unit : film.unit.empty() ? direction : direction + " / " + film.unit;
  };
  PlotScript script;
  for (int64_t f = 0; f < frames; ++f) {
    script.plot(block_of(film.ground.data(), static_cast<int64_t>(film.ground.size()) / 4, true),
                "using 1:2 with lines lw 0.7 lc rgb '#c9d6c9'");
    add_bodies(script, film, f, f + 1 == frames);
    script.next(
        "set title " + gnuplot_string(film.times[static_cast<size_t>(f)]) + " noenhanced\n" + "set xlabel " +
        gnuplot_string(axis("across")) + " noenhanced offset 0,0.5\n" + axis_settings('y', y_tics, f == 0) +
        (f == 0 ? "set ylabel " + gnuplot_string(axis("up")) + " noenhanced\n" : "unset ylabel\n") +
        (f + 1 == frames ? "set key noenhanced at screen 0.5,screen 0.02 center bottom horizontal maxrows 1\n"
                         : "unset key\n"));
  }
  const double w = width, h = height;
  script.draw(text("set multiplot layout 1,", frames, " title ", gnuplot_string(film.title),
                   " noenhanced margins ", left / w, ",", (width - gap) / w, ",", below / h, ",",
                   (height - above) / h, " spacing ", gap / w, ",0\n", axis_settings('x', x_tics),
                   "set border 15 lw 0.6 lc rgb '#999999'\nset tics nomirror scale 0.5 font ',9'\n"
                   "set size ratio -1\n"),
              width, height, 11, path);
}

}  // namespace weyl
