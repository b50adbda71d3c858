#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weyl {

/// How something is drawn: told apart by dashes and shapes as well as by colours, so that it can be read in grey.
struct Look {
  std::string colour;  // "#rrggbb"; empty: gnuplot's of the mark's place in its figure
  int dash = 1;        // 1 is solid, to 5
  int shape = 7;       // gnuplot's number of a point: 7 a dot, 6 a circle, 5 a square, ...
};

/// A part of a figure. What cannot be drawn is left out, and a line breaks there: what is not finite, and on a logarithmic
/// axis what is not positive. A line of one point is drawn as a dot.
struct Mark {
  enum class Kind {
    line,
    points,
    band,   // between (x, y) and (x, y2), shaded
    arrows  // from (x, y) to (x2, y2)
  };
  std::string title;  // in the key; empty: not there
  std::vector<double> x, y;
  Kind kind = Kind::line;
  Look look = {};
  double size = 1;  // of points; of a line its width
  std::vector<double> x2 = {}, y2 = {};
};

/// A line of the key that stands for several marks.
struct KeyEntry {
  std::string title;
  Look look;
  bool line = true, points = true;
};

/// Marks on axes, in their order from below. On a logarithmic y axis zeros are drawn as triangles at its lower end; with a
/// value below zero, or none above, the axis is linear. Marks without a point count among the places of colours, so that
/// panels agree.
struct Figure {
  enum class Key { inside, below, right };

  std::string title, x_label, y_label;
  std::vector<Mark> marks;
  bool log_y = false, log_x = false;
  bool diagonal = false;           // square axes with the line y = x
  std::string subtitle = {};       // a second line below the title
  std::vector<KeyEntry> key = {};  // behind the titles of marks
  Key key_place = Key::inside;
};

/// Whether something would be drawn; whether something of a kind would.
bool has_points(const Figure& figure);
bool has_points(const Figure& figure, Mark::Kind kind);

/// Figures beside one another, at most two in a row; with `one_key`, all in one row above one key for the marks of the
/// first.
struct Panels {
  std::string title;
  std::vector<Figure> figures;
  bool one_key = false;
  std::string subtitle = {};  // a second line below the title
};

/// Draws `path`.png and `path`.svg with gnuplot, as a process (app/draw/gnuplot.h has what it does to names and files,
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
/// predicted. Each cell of the image is a square of whole pixels in exactly its colour, so that greys can be read off.
struct OverlayFigure {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> image;              // (height, width, 3)
  std::vector<uint8_t> truth, prediction;  // (height, width), 0 is the background
  std::vector<std::string> classes;
  std::string title;                    // of the picture: which case, which slice
  std::string predicted = "predicted";  // above the prediction
};
/// `path`.png alone: a picture of pixels has no lines to scale. Error: see above; sizes that do not fit.
void draw(const OverlayFigure& figure, const std::string& path);

/// Pictures of one size in rows, each with words above it and each cell in exactly its colour.
struct PicturesFigure {
  struct Picture {
    std::vector<uint8_t> cells;  // (height, width, 3)
    std::string words;
  };
  int64_t height = 0, width = 0, columns = 1;
  std::vector<Picture> pictures;  // row by row
  std::string title;
};
/// `path`.png alone, likewise. Error: none, or sizes that do not fit.
void draw(const PicturesFigure& figure, const std::string& path);

/// A mark of an axis; a minor one has no number.
struct AxisTic {
  double at = 0;
  std::string label;
  bool minor = false;
};

/// The ends of an axis and the marks along it.
struct AxisTics {
  double low = 0, high = 0;
  std::vector<AxisTic> marks;
};

/// Of a linear axis of `pixels` from `low` to a larger `high`: as many numbers as can be read, at multiples of 1, 2 or 5
/// times a power of ten, apart from one another by more than they are long, or high where the axis is `upright`. With `whole`
/// the axis ends at marks. From a million on all numbers are counted in one power of a thousand: 0, 0.5T, 1T, 1.5T. No
/// marks where doubles have no digits for them.
AxisTics linear_tics(double low, double high, double pixels, bool whole, bool upright = false);

/// Of a logarithmic axis: numbers at powers of ten, between them where there are few, and minor marks at 2, ..., 9.
AxisTics logarithmic_tics(double low, double high, bool upright);

/// The settings of gnuplot that make the axis 'x' or 'y' so; without numbers where it is beside another that has them.
std::string axis_settings(char axis, const AxisTics& tics, bool with_numbers = true);

}  // namespace weyl
