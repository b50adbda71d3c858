#include "weyl/app/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "weyl/app/gnuplot_process.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr size_t longest_key = 44;  // characters that leave room for the axes

// What an axis can hold with a margin; numbers beyond are none that a run has come to.
bool drawable(double value) {
  return value > 1e-200 && value < 1e200;
}

struct LogAxis {
  double low = std::numeric_limits<double>::infinity(), high = 0;

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// A margin of 6 %, and a range of half a decade at least.
  void widen() {
    const double decades = std::log10(high / low);
    const double margin = std::pow(10, std::max(0.06 * decades, (0.5 - decades) / 2));
    low /= margin;
    high *= margin;
  }
};

// "10^{16}", "0.05", "2×10^{-5}": numbers of an axis, in gnuplot's own writing.
std::string axis_number(int digit, int power) {
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

// Numbers at decades, between them where there are few, and small tics at 2, ..., 9.
std::string decade_tics(char axis, const LogAxis& range) {
  const double decades = std::log10(range.high / range.low);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / 8)));
  std::string tics = text("set ", axis, "tics (");
  bool first = true;
  for (int power = static_cast<int>(std::floor(std::log10(range.low)));
       power <= static_cast<int>(std::ceil(std::log10(range.high))); ++power) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double at = digit * std::pow(10, power);
      if (at < range.low || at > range.high || (digit > 1 && decades > 12)) {
        continue;
      }
      const bool half = digit == 2 || digit == 5, wide = axis == 'x';  // numbers beside one another need room
      const bool numbered = digit == 1    ? power % every == 0
                            : decades < 1 ? !wide || half || digit == 3 || digit == 7
                            : decades < 2 ? half
                                          : false;
      char place[40];
      std::snprintf(place, sizeof place, " %.9g %d", at, numbered ? 0 : 1);
      tics += text(first ? "" : ", ", "'", numbered ? axis_number(digit, power) : "", "'", place);
      first = false;
    }
  }
  return tics + ")\n";
}

std::string style_of(const Look& look, bool line, bool points, double size) {
  static constexpr const char* dashes[] = {"1", "(14,6)", "(3,5)", "(16,5,3,5)", "(8,3,8,9)"};
  const auto dash = static_cast<size_t>(std::clamp(look.dash, 1, 5) - 1);
  std::string style = line && points ? "linespoints" : line ? "lines" : "points";
  style += " lc rgb '" + look.colour + "'";
  if (line) {
    style += text(" dt ", dashes[dash], " lw ", 2.2 * (points ? 1 : size));
  }
  if (points) {
    style += text(" pt ", look.shape, " ps ", size, line ? "" : " lw 1.6");
  }
  return style;
}

struct Block {
  std::string lines;
  size_t points = 0;
};

Block mark_block(const Mark& mark, LogAxis& x, LogAxis& y) {
  Block block;
  const bool band = mark.kind == Mark::Kind::band, arrows = mark.kind == Mark::Kind::arrows;
  for (size_t i = 0; i < std::min(mark.x.size(), mark.y.size()); ++i) {
    const double y2 = band || arrows ? mark.y2.at(i) : mark.y[i], x2 = arrows ? mark.x2.at(i) : mark.x[i];
    if (!drawable(mark.x[i]) || !drawable(mark.y[i]) || !drawable(x2) || !drawable(y2)) {
      block.lines += mark.kind == Mark::Kind::line || band ? "\n" : "";
      continue;
    }
    x.take(mark.x[i]);
    x.take(x2);
    y.take(mark.y[i]);
    y.take(y2);
    char line[128];
    // A vector is written as its start and what is added to it.
    std::snprintf(line, sizeof line, "%.9g %.9g %.9g %.9g\n", mark.x[i], mark.y[i],
                  arrows ? x2 - mark.x[i] : y2, y2 - mark.y[i]);
    block.lines += line;
    ++block.points;
  }
  return block;
}

struct ChartPlot {
  std::string data, script;
};

std::string settings_of(const Chart& chart, LogAxis x, LogAxis y) {
  x.widen();
  y.widen();
  char ranges[160];
  std::snprintf(ranges, sizeof ranges, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n", x.low, x.high,
                y.low, y.high);
  return "set title " + gnuplot_string(chart.title, chart.key_right ? longest_key : most_gnuplot_characters) +
         " noenhanced\nset xlabel " + gnuplot_string(chart.x_label) + " noenhanced\nset ylabel " +
         gnuplot_string(chart.y_label) + " noenhanced\nset logscale xy\n" + ranges + decade_tics('x', x) +
         decade_tics('y', y) +
         "set tics nomirror\nset border 3 lw 0.8\nset grid xtics ytics back lt 1 lw 0.5 lc rgb '#d9d9d9'\n" +
         (chart.key.empty() ? "unset key\n"
          : chart.key_right
              ? "set key noenhanced outside right top vertical Left reverse samplen 1.5\n"
              : "set key noenhanced outside center bottom horizontal Left reverse samplen 3.5 height 1.4\n");
}

/// Of a chart without a point nothing.
ChartPlot chart_plot(const Chart& chart, size_t panel) {
  ChartPlot plot;
  LogAxis x, y;
  std::string parts;
  for (size_t i = 0; i < chart.marks.size(); ++i) {
    const Mark& mark = chart.marks[i];
    const Block block = mark_block(mark, x, y);
    if (block.points == 0 || (block.points == 1 && mark.kind == Mark::Kind::band)) {
      continue;
    }
    const std::string name = text("$marks", panel, "_", i);
    plot.data += name + " << EOD\n" + block.lines + "EOD\n";
    parts += parts.empty() ? "plot " : ", \\\n  ";
    switch (mark.kind) {
      case Mark::Kind::band:
        parts += name + " using 1:2:3 with filledcurves fs transparent solid 0.2 noborder lc rgb '" +
                 mark.look.colour + "' notitle";
        break;
      case Mark::Kind::arrows:
        parts += name + " using 1:2:3:4 with vectors head size screen 0.008,20 filled lw 1.6 lc rgb '" +
                 mark.look.colour + "' notitle";
        break;
      case Mark::Kind::line:
        parts += name + " using 1:2 with " + style_of(mark.look, true, false, mark.size) + " notitle";
        break;
      case Mark::Kind::points:
        parts += name + " using 1:2 with " + style_of(mark.look, false, true, mark.size) + " notitle";
    }
  }
  if (parts.empty()) {
    return plot;
  }
  for (const KeyEntry& entry : chart.key) {
    parts += ", \\\n  keyentry with " + style_of(entry.look, entry.line, entry.points, 1) + " title " +
             gnuplot_string(entry.title, longest_key);
  }
  plot.script = settings_of(chart, x, y) + parts + "\n";
  return plot;
}

}  // namespace

bool Chart::has_points() const {
  return !chart_plot(*this, 0).script.empty();
}

void draw(const std::string& title, const std::vector<Chart>& charts, const std::string& path) {
  std::string data, plots;
  bool any = false;
  for (size_t i = 0; i < charts.size(); ++i) {
    const ChartPlot plot = chart_plot(charts[i], i);
    data += plot.data;
    plots += plot.script.empty() ? "set multiplot next\n" : plot.script;
    any = any || !plot.script.empty();
  }
  require<Error>(any, path, ": a plot must have points to draw, got none");
  const auto n = static_cast<int>(charts.size());
  const int columns = std::min(n, 2), rows = (n + columns - 1) / columns;
  const int width = columns == 1 ? 860 : 2 * 640, height = 40 + rows * (columns == 1 ? 560 : 500);
  draw_script("reset\nset encoding utf8\n" + data +
                  into_png_and_svg(text("set multiplot layout ", rows, ",", columns, " title ",
                                        gnuplot_string(title), " noenhanced font ',13'\n") +
                                       plots + "unset multiplot\n",
                                   width, height, 12),
              {".png", ".svg"}, path);
}

}  // namespace weyl
