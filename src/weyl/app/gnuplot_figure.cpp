#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "weyl/app/axis_tics.h"
#include "weyl/app/gnuplot.h"
#include "weyl/app/gnuplot_process.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

struct FigureRange {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

std::string point_line(double x, double y) {
  char line[64];
  std::snprintf(line, sizeof line, "%.9g %.9g\n", x, y);
  return line;
}

/// A figure as parts of a script: blocks of data with names of its own, the settings of its axes, and what follows
/// `plot`; empty when there is no point. The x axis is about so many pixels long.
struct FigurePlot {
  std::string data, settings, plots;
};

FigurePlot figure_plot(const Figure& figure, size_t panel, bool with_key, double pixels) {
  FigureRange x, y, positive;
  bool zeros = false;
  for (const Series& s : figure.series) {
    for (size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
      if (std::isfinite(s.x[i]) && std::isfinite(s.y[i])) {
        x.take(s.x[i]);
        y.take(s.y[i]);
        zeros = zeros || s.y[i] == 0;
        if (s.y[i] > 0) {
          positive.take(s.y[i]);
        }
      }
    }
  }
  FigurePlot plot;
  if (!(x.low <= x.high)) {
    return plot;
  }
  const bool log_y = figure.log_y && y.low >= 0 && y.high > 0;
  const double floor = positive.low / 2;  // where zeros are drawn
  size_t number = 0;
  for (size_t at = 0; at < figure.series.size(); ++at) {
    const Series& s = figure.series[at];
    const std::string colour = text(" lt ", at + 1);
    std::string points, at_zero;
    size_t count = 0;
    for (size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
      if (std::isfinite(s.x[i]) && std::isfinite(s.y[i])) {
        const bool hidden = log_y && s.y[i] == 0;
        (hidden ? at_zero : points) += point_line(s.x[i], hidden ? floor : s.y[i]);
        count += hidden ? 0 : 1;
      }
    }
    const auto add = [&](const std::string& block, const std::string& style, const std::string& title) {
      const std::string name = text("$data", panel, "_", number++);
      plot.data += name + " << EOD\n" + block + "EOD\n";
      plot.plots += (plot.plots.empty() ? "" : ", ") + name + " using 1:2 with " + style +
                    (with_key && !title.empty() ? " title " + gnuplot_string(title) : " notitle");
    };
    if (!points.empty()) {
      // A line needs two points.
      add(points,
          s.points     ? "points" + colour + " pt 7 ps 0.35"
          : count == 1 ? "points" + colour + " pt 7 ps 1"
                       : "lines" + colour + " lw 2",
          s.title);
    }
    if (!at_zero.empty()) {
      add(at_zero, "points" + colour + " pt 11 ps 1", s.title.empty() ? "0" : s.title + ": 0");
    }
  }
  plot.settings =
      "set title " + gnuplot_string(figure.title) + " noenhanced\nset xlabel " +
      gnuplot_string(figure.x_label) + " noenhanced\nset ylabel " + gnuplot_string(figure.y_label) +
      " noenhanced\nset key noenhanced top " + (figure.diagonal ? "left" : "right") +
      "\nset grid back lt 1 lw 0.5 lc rgb '#dddddd'\nset border 3\nset tics nomirror\nset format y '%g'\n" +
      (log_y ? "set logscale y\n" : "unset logscale y\n");
  // gnuplot warns of an empty range, and a warning counts as a failure here: of energies of -12345678 and -12345677
  // all digits are written.
  const auto range = [&](const char* axis, double low, double high) {
    char line[96];
    std::snprintf(line, sizeof line, "set %srange [%.17g:%.17g]\n", axis, low, high);
    plot.settings += line;
  };
  const auto numbers = [&](const char* axis, const AxisTics& tics) {
    std::string marks;
    for (const auto& [at, label] : tics.marks) {
      char place[32];
      std::snprintf(place, sizeof place, "%.17g", at);
      marks += (marks.empty() ? "" : ", ") + gnuplot_string(label) + " " + place;
    }
    plot.settings += text("set ", axis, "tics ", marks.empty() ? "autofreq" : "(" + marks + ")", "\n");
  };
  const auto around = [](double value) { return std::max(1.0, 1e-6 * std::abs(value)); };
  plot.settings += "set yrange [*:*]\nset ytics autofreq\n";
  if (figure.diagonal) {
    const double low = std::min(x.low, y.low), high = std::max(x.high, y.high);
    const double margin = high > low ? 0.03 * (high - low) : around(high);
    plot.settings += "set size square\n";
    const AxisTics tics = axis_tics(low - margin, high + margin, pixels, false);
    for (const char* axis : {"x", "y"}) {
      range(axis, low - margin, high + margin);
      numbers(axis, tics);
    }
    plot.plots = "x with lines lw 1 lc rgb '#888888' notitle, " + plot.plots;
    return plot;
  }
  const double beside = x.low < x.high ? 0 : around(x.low);
  const AxisTics tics = axis_tics(x.low - beside, x.high + beside, pixels, true);
  range("x", tics.low, tics.high);
  numbers("x", tics);
  // Whole decades, as gnuplot takes by itself: a logarithmic axis has numbers at those alone.
  const auto decades = [&](double low, double high) {
    range("y", std::pow(10, std::floor(std::log10(low))), std::pow(10, std::ceil(std::log10(high))));
  };
  if (log_y && (zeros || !(y.low < y.high))) {
    decades(zeros ? floor / 1.2 : y.low / 1.2, 1.2 * positive.high);
  } else if (!(y.low < y.high)) {
    range("y", y.low - around(y.low), y.high + around(y.low));
  }
  return plot;
}

}  // namespace

void draw(const Figure& figure, const std::string& path) {
  const int side = 640, beside_the_axis = 120;
  const FigurePlot plot = figure_plot(figure, 0, true, (figure.diagonal ? side : 900) - beside_the_axis);
  require<Error>(!plot.plots.empty(), path, ": a plot must have points to draw, got none");
  draw_script("reset\nset encoding utf8\n" + plot.data + plot.settings +
                  into_png_and_svg("plot " + plot.plots + "\n", figure.diagonal ? side : 900,
                                   figure.diagonal ? side : 560, 12),
              {".png", ".svg"}, path);
}

void draw(const Panels& panels, const std::string& path) {
  const auto n = static_cast<int>(panels.figures.size());
  const int columns = panels.one_key ? n : std::min(n, 2), rows = (n + columns - 1) / columns;
  const int width = columns * 480 + (columns == 1 ? 420 : 0);
  // Shares of the width, where one key lies below all panels; else what gnuplot leaves.
  const double left = 0.09, right = 0.98, spacing = 0.07;
  const double axis = panels.one_key ? width * (right - left - spacing * (n - 1)) / n
                                     : static_cast<double>(width) / columns - 120;
  std::string data, plots;
  bool any = false;
  for (size_t i = 0; i < panels.figures.size(); ++i) {
    const FigurePlot plot = figure_plot(panels.figures[i], i, !panels.one_key || i == 0, axis);
    data += plot.data;
    if (plot.plots.empty()) {
      plots += "set multiplot next\n";
      continue;
    }
    plots += plot.settings;
    any = true;
    if (panels.one_key) {
      plots +=
          i == 0 ? "set key noenhanced at screen 0.5,screen 0.02 center bottom horizontal\n" : "unset key\n";
    }
    plots += "plot " + plot.plots + "\n";
  }
  require<Error>(any, path, ": a plot must have points to draw, got none");
  // Rows of keys, of 18 pixels each, below panels that share one.
  size_t longest = 1, entries = 0;
  for (const Series& s : panels.figures.front().series) {
    longest = std::max(longest, std::min(s.title.size(), most_gnuplot_characters));
    ++entries;
  }
  const size_t beside = std::max<size_t>(1, static_cast<size_t>(width) / (60 + 8 * longest));
  const int below = panels.one_key ? static_cast<int>(20 + 18 * ((entries + beside - 1) / beside)) : 0;
  const int height = rows * 420 + 40 + below;
  std::string layout = text("set multiplot layout ", rows, ",", columns, " title ",
                            gnuplot_string(panels.title), " noenhanced");
  if (panels.one_key) {
    const double share = static_cast<double>(below + 70) / height;
    layout += text(" margins ", left, ",", right, ",", share, ",", 1 - 75.0 / height, " spacing ", spacing);
  }
  draw_script("reset\nset encoding utf8\n" + data +
                  into_png_and_svg(layout + "\n" + plots + "unset multiplot\n", width, height, 11),
              {".png", ".svg"}, path);
}

}  // namespace weyl
