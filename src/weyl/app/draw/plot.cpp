#include "weyl/app/draw/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "weyl/app/draw/gnuplot.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr double kCharacter = 7.5, kGap = 16, kLine = 24;  // pixels of the fonts of our figures
constexpr double kMostTics = 8;                            // beside the first
constexpr char kThousands[] = " kMGTPEZY";
constexpr size_t kLongestKey = 44;  // characters that leave room for the axes

/// `value` in thousands to the power `power`, with as many digits as multiples of a step of 10^`decade` have.
std::string tic_label(double value, int power, double largest, int decade) {
  const int digits = static_cast<int>(std::floor(std::log10(largest) + 1e-9)) - decade + 1;
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.*g", std::clamp(digits, 6, 15), value / std::pow(1000, power));
  const std::string number = buffer;
  return power > 0 && value != 0 ? number + kThousands[power] : number;
}

/// "10^{16}", "0.05", "2×10^{-5}": numbers of a logarithmic axis, in gnuplot's own writing.
std::string decade_label(int digit, int power) {
  char buffer[48];
  if (power >= -2 && power <= 3) {
    std::snprintf(buffer, sizeof buffer, "%.*f", std::max(0, -power), digit * std::pow(10, power));
  } else if (digit == 1) {
    std::snprintf(buffer, sizeof buffer, "10^{%d}", power);
  } else {
    std::snprintf(buffer, sizeof buffer, "%d×10^{%d}", digit, power);
  }
  return buffer;
}

struct PlotRange {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Of a logarithmic axis with a margin of 6 %, and half a decade at least.
AxisTics widened_tics(const PlotRange& range, bool upright) {
  const double decades = std::log10(range.high / range.low);
  const double margin = std::pow(10, std::max(0.06 * decades, (0.5 - decades) / 2));
  return logarithmic_tics(range.low / margin, range.high * margin, upright);
}

/// Of a linear axis, which has a length though all values are the same.
AxisTics whole_tics(const PlotRange& range, double pixels, bool upright) {
  // gnuplot warns of an empty range, and a warning counts as a failure here.
  const double beside = range.low < range.high ? 0 : std::max(1.0, 1e-6 * std::abs(range.low));
  return linear_tics(range.low - beside, range.high + beside, pixels, true, upright);
}

/// Both axes of a square figure.
AxisTics diagonal_tics(const PlotRange& x, const PlotRange& y, double pixels) {
  const double low = std::min(x.low, y.low), high = std::max(x.high, y.high);
  const double margin = high > low ? 0.03 * (high - low) : std::max(1.0, 1e-6 * std::abs(high));
  return linear_tics(low - margin, high + margin, pixels, false);
}

/// `place`: of the mark in its figure.
std::string style_of(const Look& look, size_t place, bool line, bool points, double size) {
  static constexpr const char* dashes[] = {"1", "(14,6)", "(3,5)", "(16,5,3,5)", "(8,3,8,9)"};
  const auto dash = static_cast<size_t>(std::clamp(look.dash, 1, 5) - 1);
  std::string style = line && points ? "linespoints" : line ? "lines" : "points";
  style += look.colour.empty() ? text(" lt ", place + 1) : " lc rgb '" + look.colour + "'";
  if (line) {
    style += text(" dt ", dashes[dash], " lw ", 2.2 * (points ? 1 : size));
  }
  if (points) {
    style += text(" pt ", look.shape, " ps ", size, line ? "" : " lw 1.6");
  }
  return style;
}

/// What an axis can hold: on a logarithmic one with a margin. Numbers beyond are none that a run has come to.
bool fits_axis(double value, bool logarithmic) {
  return logarithmic ? value > 1e-200 && value < 1e200 : std::isfinite(value);
}

/// A title as gnuplot's settings have it, with a second line where there is one.
std::string title_of(const std::string& title, const std::string& subtitle,
                     size_t most = most_gnuplot_characters) {
  return gnuplot_string(title, most) + (subtitle.empty() ? "" : ".\"\\n\"." + gnuplot_string(subtitle)) +
         " noenhanced";
}

/// Puts a figure into a script, mark by mark.
class FigurePlot {
 public:
  FigurePlot(const Figure& figure, PlotScript& script, bool with_key)
      : figure_(figure), script_(script), with_key_(with_key) {
    double least = std::numeric_limits<double>::infinity();
    bool negative = false, any = false;
    for (const Mark& mark : figure.marks) {
      for (size_t i = 0; i < std::min(mark.x.size(), mark.y.size()); ++i) {
        if (is_curve(mark) && std::isfinite(mark.x[i]) && std::isfinite(mark.y[i])) {
          any = true;
          negative = negative || mark.y[i] < 0;
          least = fits_axis(mark.y[i], true) ? std::min(least, mark.y[i]) : least;
        }
      }
    }
    log_y_ = figure.log_y && !negative && std::isfinite(least);
    floor_ = least / 2;
    if (figure.diagonal && any) {
      script.add("x with lines lw 1 lc rgb '#888888' notitle");
    }
    for (size_t place = 0; place < figure.marks.size(); ++place) {
      add(figure.marks[place], place);
    }
    if (!script.is_empty()) {
      for (const KeyEntry& entry : figure.key) {
        script.add(text("keyentry with ", style_of(entry.look, 0, entry.line, entry.points, 1), " title ",
                        gnuplot_string(entry.title, kLongestKey)));
      }
    }
  }

  /// The axes are about so many pixels long.
  std::string settings(double x_pixels, double y_pixels) const {
    std::string lines =
        "set title " +
        title_of(figure_.title, figure_.subtitle,
                 figure_.key_place == Figure::Key::right ? kLongestKey : most_gnuplot_characters) +
        "\nset xlabel " + gnuplot_string(figure_.x_label) + " noenhanced\nset ylabel " +
        gnuplot_string(figure_.y_label) + " noenhanced\n" +
        (figure_.log_x ? "set logscale x\n" : "unset logscale x\n") +
        (log_y_ ? "set logscale y\n" : "unset logscale y\n") +
        "set tics nomirror\nset border 3 lw 0.8\n"
        "set grid xtics ytics back lt 1 lw 0.5 lc rgb '#d9d9d9'\n";
    if (figure_.diagonal) {
      const AxisTics tics = diagonal_tics(x_, y_, x_pixels);
      return lines + "set size square\n" + axis_settings('x', tics) + axis_settings('y', tics);
    }
    return lines +
           axis_settings('x', figure_.log_x ? widened_tics(x_, false) : whole_tics(x_, x_pixels, false)) +
           axis_settings('y', log_y_ ? widened_tics(y_, true) : whole_tics(y_, y_pixels, true));
  }

 private:
  static bool is_curve(const Mark& mark) {
    return mark.kind == Mark::Kind::line || mark.kind == Mark::Kind::points;
  }

  void add(const Mark& mark, size_t place) {
    const bool band = mark.kind == Mark::Kind::band, arrows = mark.kind == Mark::Kind::arrows;
    std::string block, zeros;
    size_t count = 0;
    for (size_t i = 0; i < std::min(mark.x.size(), mark.y.size()); ++i) {
      const double x = mark.x[i], y = mark.y[i];
      const double x2 = arrows ? mark.x2.at(i) : x, y2 = band || arrows ? mark.y2.at(i) : y;
      if (is_curve(mark) && log_y_ && y == 0 && fits_axis(x, figure_.log_x)) {
        zeros += line_of({x, floor_});
        take(x, floor_);
      } else if (!fits_axis(x, figure_.log_x) || !fits_axis(x2, figure_.log_x) || !fits_axis(y, log_y_) ||
                 !fits_axis(y2, log_y_)) {
        block += mark.kind == Mark::Kind::line || band ? "\n" : "";
      } else {
        // A vector is written as its start and what is added to it.
        block += arrows ? line_of({x, y, x2 - x, y2 - y}) : band ? line_of({x, y, y2}) : line_of({x, y});
        take(x, y);
        take(x2, y2);
        ++count;
      }
    }
    const std::string colour =
        mark.look.colour.empty() ? text("lt ", place + 1) : "lc rgb '" + mark.look.colour + "'";
    if (band) {
      plot(block, "using 1:2:3 with filledcurves fs transparent solid 0.2 noborder " + colour, mark.title);
    } else if (arrows) {
      plot(block, "using 1:2:3:4 with vectors head size screen 0.008,20 filled lw 1.6 " + colour, mark.title);
    } else {
      const bool line = mark.kind == Mark::Kind::line && count > 1;
      const double size = line || mark.kind == Mark::Kind::points ? mark.size : 1;
      plot(block, "using 1:2 with " + style_of(mark.look, place, line, !line, size), mark.title);
      plot(zeros, "using 1:2 with points " + colour + " pt 11 ps 1",
           mark.title.empty() ? "0" : mark.title + ": 0");
    }
  }

  void plot(const std::string& block, const std::string& how, const std::string& title) {
    script_.plot(block, how, with_key_ ? title : "");
  }

  static std::string line_of(std::initializer_list<double> numbers) {
    std::string line;
    for (const double x : numbers) {
      char number[32];
      std::snprintf(number, sizeof number, "%.9g", x);
      line += (line.empty() ? "" : " ") + std::string(number);
    }
    return line + "\n";
  }

  void take(double x, double y) {
    x_.take(x);
    y_.take(y);
  }

  const Figure& figure_;
  PlotScript& script_;
  bool with_key_, log_y_ = false;
  double floor_ = 0;  // where zeros are drawn
  PlotRange x_, y_;
};

std::string key_settings(const Figure& figure) {
  if (figure.key_place != Figure::Key::inside && figure.key.empty()) {
    return "unset key\n";
  }
  switch (figure.key_place) {
    case Figure::Key::inside:
      return text("set key noenhanced top ", figure.diagonal ? "left" : "right", "\n");
    case Figure::Key::below:
      return "set key noenhanced outside center bottom horizontal Left reverse samplen 3.5 height 1.4\n";
    case Figure::Key::right:
      break;
  }
  return "set key noenhanced outside right top vertical Left reverse samplen 1.5\n";
}

/// Rows of entries in a key `width` pixels wide.
int64_t key_rows(size_t entries, size_t longest, int64_t width) {
  const auto beside =
      static_cast<size_t>(std::max<int64_t>(1, width / static_cast<int64_t>(70 + 8 * longest)));
  return static_cast<int64_t>((entries + beside - 1) / beside);
}

std::string script_of(const ConfusionFigure& figure, const std::string& path) {
  const size_t k = figure.classes.size();
  require<Error>(k > 0 && figure.counts.size() == k * k, path, ": a table of ", k, " classes must have ",
                 k * k, " counts, got ", figure.counts.size());
  std::string cells, names_x, names_y;
  for (size_t i = 0; i < k; ++i) {
    double row = 0;
    for (size_t j = 0; j < k; ++j) {
      row += figure.counts[i * k + j];
    }
    for (size_t j = 0; j < k; ++j) {
      const double n = figure.counts[i * k + j], share = row > 0 ? n / row : 0;
      cells += text(j, " ", i, " ", share, " ", n, " ", share > 0.5 ? 0xffffff : 0, "\n");
    }
    const std::string name = gnuplot_tic_label(figure.classes[i]) + text(" ", i);
    names_x += i > 0 ? ", " + name : name;
    names_y += i > 0 ? ", " + name : name;
  }
  const std::string edge = text(static_cast<double>(k) - 0.5);
  std::string script = "reset\nset encoding utf8\n$cells << EOD\n" + cells + "EOD\nset title " +
                       gnuplot_string(figure.title) + " noenhanced\n";
  script += "set xlabel 'predicted'\nset ylabel 'true'\nunset key\nset xrange [-0.5:" + edge +
            "]\nset yrange [" + edge + ":-0.5]\nset xtics (" + names_x + ") noenhanced" +
            (k > 6 ? " rotate by 45 right" : "") + "\nset ytics (" + names_y +
            ") noenhanced\nset tics nomirror scale 0\nset size square\nset cbrange [0:1]\n"
            "set cblabel 'share of the true class'\nset palette defined (0 '#ffffff', 0.5 '#7fb2d6', 1 "
            "'#08306b')\n";
  std::string plots = "$cells using 1:2:3 with image pixels";
  if (k <= 20) {
    plots += ", $cells using 1:2:(sprintf('%d', $4)):5 with labels tc rgb variable noenhanced";
  }
  return script + into_png_and_svg("plot " + plots + "\n", 760, 660, 11);
}

constexpr uint8_t class_colours[][3] = {{0x00, 0xe5, 0x76}, {0xff, 0x40, 0x81}, {0xff, 0xd6, 0x00},
                                        {0x00, 0xb0, 0xff}, {0xff, 0x6d, 0x00}, {0xd5, 0x00, 0xf9}};
constexpr int64_t overlay_side = 360;  // pixels of a panel, about

/// Pixels beside one another, white at first.
struct Canvas {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> pixels = std::vector<uint8_t>(static_cast<size_t>(3 * height * width), 255);

  void set(int64_t y, int64_t x, const uint8_t* colour) {
    std::copy_n(colour, 3, &pixels[3 * (y * width + x)]);
  }
};

/// Every cell of the image as `scale` x `scale` pixels from (top, left) on, those of a mask's outline in the colour of its
/// class.
void add_panel(Canvas& canvas, int64_t top, int64_t left, const OverlayFigure& f,
               const std::vector<uint8_t>* mask, int64_t scale) {
  const int64_t H = f.height * scale, W = f.width * scale, thick = 1 + scale / 4;
  const auto of = [&](int64_t y, int64_t x) -> int {
    return y < 0 || x < 0 || y >= H || x >= W ? 0 : (*mask)[(y / scale) * f.width + x / scale];
  };
  for (int64_t y = 0; y < H; ++y) {
    for (int64_t x = 0; x < W; ++x) {
      const uint8_t* colour = &f.image[3 * ((y / scale) * f.width + x / scale)];
      if (mask != nullptr && of(y, x) != 0) {
        const int k = of(y, x);
        if (of(y - thick, x) != k || of(y + thick, x) != k || of(y, x - thick) != k ||
            of(y, x + thick) != k) {
          colour = class_colours[(k - 1) % std::size(class_colours)];
        }
      }
      canvas.set(top + y, left + x, colour);
    }
  }
}

std::string pixel_rows(const Canvas& canvas) {
  std::string rows;
  rows.reserve(canvas.pixels.size() * 7);
  for (int64_t y = 0; y < canvas.height; ++y) {
    for (int64_t x = 0; x < canvas.width; ++x) {
      const uint8_t* colour = &canvas.pixels[3 * (y * canvas.width + x)];
      char line[64];
      std::snprintf(line, sizeof line, "%d %d %d %d %d\n", static_cast<int>(x), static_cast<int>(y),
                    colour[0], colour[1], colour[2]);
      rows += line;
    }
  }
  return rows;
}

/// The classes that a figure shows, as entries of gnuplot's key.
struct ClassKey {
  std::string entries;
  size_t count = 0, longest = 0;
};
ClassKey class_key(const OverlayFigure& f) {
  ClassKey key;
  for (size_t k = 1; k < f.classes.size(); ++k) {
    if (std::ranges::find(f.truth, k) == f.truth.end() &&
        std::ranges::find(f.prediction, k) == f.prediction.end()) {
      continue;
    }
    const uint8_t* c = class_colours[(k - 1) % std::size(class_colours)];
    char colour[16];
    std::snprintf(colour, sizeof colour, "#%02x%02x%02x", c[0], c[1], c[2]);
    key.entries += ", keyentry with lines lw 4 lc rgb '" + std::string(colour) + "' title " +
                   gnuplot_string(f.classes[k]);
    key.longest = std::max(key.longest, std::min(f.classes[k].size(), most_gnuplot_characters));
    ++key.count;
  }
  return key;
}

/// Panels of one size in rows, as an image of gnuplot's that is as large in pixels as in cells and has white around it. A
/// picture of which each pixel has a cell of its own is drawn exactly, while rectangles for its cells (`with rgbimage pixels`)
/// let the paper through at their edges, and edges of an image are blended with the paper.
class PanelRows {
 public:
  /// Of `count` panels of so many cells.
  PanelRows(int64_t height, int64_t width, int64_t count, int64_t columns)
      : scale(std::max<int64_t>(1, overlay_side / std::max(height, width))),
        columns_(columns),
        rows_((count + columns - 1) / columns),
        down_(height * scale),
        across_(width * scale),
        box_(std::max<int64_t>(across_, 190)),  // room for the words above a panel
        canvas_{rows_ * down_ + (rows_ - 1) * between + 2 * edge,
                columns * box_ + (columns - 1) * gap + 2 * edge} {}

  const int64_t scale;  // pixels of a cell
  Canvas& canvas() { return canvas_; }
  int64_t top(int64_t i) const { return edge + i / columns_ * (down_ + between); }
  int64_t left(int64_t i) const { return edge + i % columns_ * (box_ + gap) + (box_ - across_) / 2; }

  std::string script(const std::vector<std::string>& above, const std::string& title,
                     const ClassKey& key) const {
    // One key below the pictures, in as many rows of 18 pixels as its entries need.
    const int64_t width = canvas_.width + 20, rows = key_rows(key.count, key.longest, width);
    const int64_t below = 22 + 18 * rows, height = canvas_.height + below + 60;
    // gnuplot counts in twentieths of a pixel, of which it takes one off the far ends of an area and cuts fractions off: an
    // image a twentieth too narrow would lose a row of its pixels.
    const auto share = [](double pixels, int64_t of) {
      char number[32];
      std::snprintf(number, sizeof number, "%.15g", pixels / static_cast<double>(of));
      return std::string(number);
    };
    constexpr double rest = 0.04;
    const auto across = [&](auto pixels) { return share(static_cast<double>(pixels), width); };
    const auto up = [&](auto pixels) { return share(static_cast<double>(pixels), height); };
    std::string script = "reset\nset encoding utf8\n$image << EOD\n" + pixel_rows(canvas_) + "EOD\n";
    script += text("set term pngcairo size ", width, ",", height,
                   " font 'DejaVu Sans,11'\nset output 'picture.png'\nunset tics\nunset border\nunset key\n");
    script += "set lmargin at screen " + across(10) + "\nset rmargin at screen " +
              across(static_cast<double>(10 + canvas_.width) + rest) + "\nset bmargin at screen " +
              up(below) + "\nset tmargin at screen " +
              up(static_cast<double>(below + canvas_.height) + rest) + "\n";
    script += text("set xrange [-0.5:", canvas_.width, "-0.5]\nset yrange [", canvas_.height, "-0.5:-0.5]\n");
    const auto words = [&](const std::string& line, int64_t x, int64_t y, int64_t room) {
      script += "set label " +
                gnuplot_string(line, static_cast<size_t>(static_cast<double>(room) / kCharacter)) +
                " at screen " + across(x) + ",screen " + up(y) + " center noenhanced\n";
    };
    words(title, width / 2, height - 16, width);
    for (int64_t i = 0; i < std::ssize(above); ++i) {
      words(above[static_cast<size_t>(i)], 10 + edge + i % columns_ * (box_ + gap) + box_ / 2,
            below + canvas_.height + 14 - i / columns_ * (down_ + between), box_ + gap);
    }
    if (key.count > 0) {
      script +=
          text("set key noenhanced at screen 0.5,screen 0.01 center bottom vertical maxrows ", rows, "\n");
    }
    return script + "plot $image using 1:2:3:4:5 with rgbimage notitle" + key.entries + "\nset output\n";
  }

 private:
  static constexpr int64_t edge = 4, gap = 20,
                           between = 32;  // pixels; the last has the words of the next row
  int64_t columns_, rows_, down_, across_, box_;
  Canvas canvas_;
};

std::string script_of(const OverlayFigure& f, const std::string& path) {
  const auto cells = static_cast<size_t>(f.height * f.width);
  require<Error>(
      cells > 0 && f.image.size() == 3 * cells && f.truth.size() == cells && f.prediction.size() == cells,
      path, ": image and masks must have ", f.height, " x ", f.width, " pixels");
  PanelRows panels(f.height, f.width, 3, 3);
  const std::vector<uint8_t>* masks[] = {nullptr, &f.truth, &f.prediction};
  for (int64_t i = 0; i < 3; ++i) {
    add_panel(panels.canvas(), panels.top(i), panels.left(i), f, masks[i], panels.scale);
  }
  return panels.script({"image", "truth", f.predicted}, f.title, class_key(f));
}

std::string script_of(const PicturesFigure& f, const std::string& path) {
  const auto cells = static_cast<size_t>(f.height * f.width);
  const bool fit =
      std::ranges::all_of(f.pictures, [&](const auto& p) { return p.cells.size() == 3 * cells; });
  require<Error>(cells > 0 && fit && !f.pictures.empty() && f.columns > 0, path, ": pictures must have ",
                 f.height, " x ", f.width, " pixels, and there must be some");
  PanelRows panels(f.height, f.width, std::ssize(f.pictures), f.columns);
  std::vector<std::string> above;
  for (const auto& [image, words] : f.pictures) {
    const auto i = std::ssize(above);
    OverlayFigure alone;
    alone.height = f.height;
    alone.width = f.width;
    alone.image = image;
    add_panel(panels.canvas(), panels.top(i), panels.left(i), alone, nullptr, panels.scale);
    above.push_back(words);
  }
  return panels.script(above, f.title, {});
}

}  // namespace

AxisTics linear_tics(double low, double high, double pixels, bool whole, bool upright) {
  const double span = high - low, largest = std::max(std::abs(low), std::abs(high));
  const int power = largest < 1e6 || largest >= 1e27 ? 0 : static_cast<int>(std::log10(largest) / 3 + 1e-9);
  AxisTics tics{low, high, {}};
  if (!std::isfinite(span) || span <= 1e-12 * largest) {
    return tics;
  }
  for (int decade = static_cast<int>(std::floor(std::log10(span / kMostTics)));; ++decade) {
    for (const int factor : {1, 2, 5}) {
      const double step = factor * std::pow(10, decade);
      const double first = whole ? std::floor(low / step + 1e-9) : std::ceil(low / step - 1e-9),
                   last = whole ? std::ceil(high / step - 1e-9) : std::floor(high / step + 1e-9);
      if (last - first > kMostTics) {
        continue;
      }
      AxisTics wider{std::min(low, first * step), std::max(high, last * step), {}};
      size_t longest = 0;
      for (int k = 0; k <= last - first; ++k) {
        const double n = first + k;
        const double at = n == 0 ? 0 : n * step;  // not -0
        wider.marks.push_back({at, tic_label(at, power, largest, decade)});
        longest = std::max(longest, wider.marks.back().label.size());
      }
      if (wider.marks.size() < 2) {
        return tics;
      }
      tics = std::move(wider);
      const double room = upright ? kLine : static_cast<double>(longest) * kCharacter + kGap;
      if (step / (tics.high - tics.low) * pixels >= room) {
        return tics;
      }
    }
  }
}

AxisTics logarithmic_tics(double low, double high, bool upright) {
  AxisTics tics{low, high, {}};
  const double decades = std::log10(high / low);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / 8)));
  for (int power = static_cast<int>(std::floor(std::log10(low)));
       power <= static_cast<int>(std::ceil(std::log10(high))); ++power) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double at = digit * std::pow(10, power);
      if (at < low || at > high || (digit > 1 && decades > 12)) {
        continue;
      }
      const bool half = digit == 2 || digit == 5;  // numbers beside one another need more room than above
      const bool numbered = digit == 1    ? power % every == 0
                            : decades < 1 ? upright || half || digit == 3 || digit == 7
                            : decades < 2 ? half
                                          : false;
      tics.marks.push_back({at, numbered ? decade_label(digit, power) : "", !numbered});
    }
  }
  return tics;
}

std::string axis_settings(char axis, const AxisTics& tics, bool with_numbers) {
  std::string marks;
  for (const AxisTic& tic : tics.marks) {
    char place[40];
    std::snprintf(place, sizeof place, " %.17g %d", tic.at, tic.minor ? 1 : 0);
    marks += (marks.empty() ? "" : ", ") + gnuplot_string(with_numbers ? tic.label : "") + place;
  }
  // All digits: of energies of -12345678 and -12345677 fewer are an empty range.
  char range[96];
  std::snprintf(range, sizeof range, "set %crange [%.17g:%.17g]\n", axis, tics.low, tics.high);
  return range + text("set ", axis, "tics ", marks.empty() ? "autofreq" : "(" + marks + ")", "\n");
}

bool has_points(const Figure& figure) {
  PlotScript script;
  FigurePlot(figure, script, false);
  return !script.is_empty();
}

bool has_points(const Figure& figure, Mark::Kind kind) {
  Figure part = figure;
  std::erase_if(part.marks, [kind](const Mark& mark) { return mark.kind != kind; });
  part.diagonal = false;
  return has_points(part);
}

void draw(const Panels& panels, const std::string& path) {
  const auto n = static_cast<int>(panels.figures.size());
  const int columns = panels.one_key ? n : std::min(n, 2), rows = (n + columns - 1) / columns;
  const bool diagonal = n == 1 && panels.figures.front().diagonal;
  const bool outside = std::ranges::any_of(
      panels.figures, [](const Figure& figure) { return figure.key_place != Figure::Key::inside; });
  const int across = columns > 1 ? (outside ? 640 : 480) : diagonal ? 640 : outside ? 860 : 900;
  const int down = columns > 1 ? (outside ? 500 : 420) : diagonal ? 640 : 560;
  // A key that panels share has rows of 18 pixels.
  size_t longest = 1;
  for (const Mark& mark : panels.figures.front().marks) {
    longest = std::max(longest, std::min(mark.title.size(), most_gnuplot_characters));
  }
  const int64_t width = columns * across;
  const int64_t below =
      panels.one_key ? 20 + 18 * key_rows(panels.figures.front().marks.size(), longest, width) : 0;
  const int64_t above = panels.title.empty() ? 0 : panels.subtitle.empty() ? 40 : 62;
  const int64_t height = rows * down + above + below;
  // Shares of the picture, where one key lies below all panels; else what gnuplot leaves.
  const double left = 0.09, right = 0.98, spacing = 0.07;
  const double x_pixels =
      panels.one_key ? static_cast<double>(width) * (right - left - spacing * (n - 1)) / n : across - 120;
  std::string layout = text("set multiplot layout ", rows, ",", columns);
  if (!panels.title.empty()) {
    layout += " title " + title_of(panels.title, panels.subtitle) + " font ',13'";
  }
  if (panels.one_key) {
    const auto share = [&](int64_t pixels) {
      return static_cast<double>(pixels) / static_cast<double>(height);
    };
    layout += text(" margins ", left, ",", right, ",", share(below + 70), ",", 1 - share(above + 35),
                   " spacing ", spacing);
  }
  PlotScript script;
  bool any = false;
  for (size_t i = 0; i < panels.figures.size(); ++i) {
    const Figure& figure = panels.figures[i];
    const FigurePlot plot(figure, script, !panels.one_key || i == 0);
    if (script.is_empty()) {
      script.next("");
      continue;
    }
    any = true;
    script.next(plot.settings(x_pixels, down - 110) +
                (!panels.one_key ? key_settings(figure)
                 : i == 0        ? "set key noenhanced at screen 0.5,screen 0.02 center bottom horizontal\n"
                                 : "unset key\n"));
  }
  require<Error>(any, path, ": a plot must have points to draw, got none");
  script.draw(layout + "\n", width, height, columns > 1 && !outside ? 11 : 12, path);
}

void draw(const Figure& figure, const std::string& path) {
  draw(Panels{"", {figure}}, path);
}

void draw(const ConfusionFigure& figure, const std::string& path) {
  draw_script(script_of(figure, path), {".png", ".svg"}, path);
}

void draw(const OverlayFigure& figure, const std::string& path) {
  draw_script(script_of(figure, path), {".png"}, path);
}

void draw(const PicturesFigure& figure, const std::string& path) {
  draw_script(script_of(figure, path), {".png"}, path);
}

}  // namespace weyl
