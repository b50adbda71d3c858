#pragma once

#include <string>
#include <vector>

namespace weyl {

/// How something is drawn: told apart by dashes and shapes as well as by colours, so that it can be read in grey.
struct Look {
  std::string colour;  // "#rrggbb"
  int dash = 1;        // 1 is solid, to 5
  int shape = 7;       // gnuplot's number of a point: 7 a dot, 6 a circle, 5 a square, ...
};

/// A part of a chart. Points that are not finite and positive are left out: a line breaks there.
struct Mark {
  enum class Kind {
    line,
    points,
    band,   // between (x, y) and (x, y2), shaded
    arrows  // from (x, y) to (x2, y2)
  };
  Kind kind = Kind::line;
  Look look;
  double size = 1;  // of points; of a line its width
  std::vector<double> x, y, x2, y2;
};

struct KeyEntry {
  std::string title;
  Look look;
  bool line = true, points = true;
};

/// Marks on logarithmic axes, in their order from below, and a key beneath them, or to their right.
struct Chart {
  std::string title, x_label, y_label;
  std::vector<Mark> marks;
  std::vector<KeyEntry> key;
  bool key_right = false;

  /// Whether something would be drawn.
  bool has_points() const;
};

/// Charts beside one another, two in a row, as `path`.png and `path`.svg; see draw_script (app/gnuplot_process.h) for names,
/// words from elsewhere and errors. Error: none of them has a point.
void draw(const std::string& title, const std::vector<Chart>& charts, const std::string& path);

}  // namespace weyl
