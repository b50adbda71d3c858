#pragma once

#include <string>
#include <vector>

namespace weyl {

/// One line or cloud of a figure. Points whose x or y is not finite are left out.
struct Series {
  std::string title;
  std::vector<double> x, y;
  bool points = false;  // dots instead of a line
};

struct Figure {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_y = false;
  bool diagonal = false;  // square axes with the line y = x
};

/// Draws `path`.png and `path`.svg with gnuplot, as a process. Error when gnuplot is absent (naming the
/// package) or complains (with its first line); a figure without a point is an Error too.
void draw(const Figure& figure, const std::string& path);

/// "gnuplot 5.4 patchlevel 4", or empty when there is none.
std::string gnuplot_version();

}  // namespace weyl
