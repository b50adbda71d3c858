#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weyl {

/// One line or cloud of a figure. Points whose x or y is not finite are left out.
struct Series {
  std::string title;
  std::vector<double> x, y;
  bool points = false;  // dots instead of a line
};

/// On a logarithmic axis zeros are drawn as triangles at its lower end; with a value below zero, or none above, the axis
/// is linear. Series have colours by their places, those without a point included, so that panels agree.
struct Figure {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_y = false;
  bool diagonal = false;  // square axes with the line y = x
};

/// Figures beside one another, at most two in a row; with `one_key`, all in one row above one key for the series
/// of the first.
struct Panels {
  std::string title;
  std::vector<Figure> figures;
  bool one_key = false;
};

/// Draws `path`.png and `path`.svg with gnuplot, as a process (app/gnuplot_process.h has what it does to names and files,
/// and its errors). All words of a figure may come from elsewhere. A figure without a point is an Error too; a panel
/// without one is left empty, unless all are.
void draw(const Figure& figure, const std::string& path);
void draw(const Panels& panels, const std::string& path);

/// A square table of counts, rows from above the truth: colour by the share of a row, the count in each cell
/// of up to 20 classes.
struct ConfusionFigure {
  std::string title;
  std::vector<std::string> classes;
  std::vector<double> counts;  // (K, K)
};
void draw(const ConfusionFigure& figure, const std::string& path);

/// An image beside itself with the outlines of two masks on it, one colour a class: the truth, and what was
/// predicted.
struct OverlayFigure {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> image;              // (height, width, 3)
  std::vector<uint8_t> truth, prediction;  // (height, width), 0 is the background
  std::vector<std::string> classes;
  std::string title;  // of the prediction
};
/// `path`.png alone: a picture of pixels has no lines to scale. Error: see above; sizes that do not fit.
void draw(const OverlayFigure& figure, const std::string& path);

}  // namespace weyl
