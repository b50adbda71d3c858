#include "weyl/app/gnuplot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "weyl/app/gnuplot_process.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

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

// Every cell of the image as `scale` x `scale` pixels, those of a mask's outline in the colour of its class.
std::string panel(const OverlayFigure& f, const std::vector<uint8_t>* mask, int64_t scale) {
  const int64_t H = f.height * scale, W = f.width * scale, thick = 1 + scale / 4;
  const auto of = [&](int64_t y, int64_t x) -> int {
    return y < 0 || x < 0 || y >= H || x >= W ? 0 : (*mask)[(y / scale) * f.width + x / scale];
  };
  std::string rows;
  rows.reserve(static_cast<size_t>(H * W * 18));
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
      char line[64];
      std::snprintf(line, sizeof line, "%d %d %d %d %d\n", static_cast<int>(x), static_cast<int>(y),
                    colour[0], colour[1], colour[2]);
      rows += line;
    }
  }
  return rows;
}

std::string script_of(const OverlayFigure& f, const std::string& path) {
  const auto cells = static_cast<size_t>(f.height * f.width);
  require<Error>(
      cells > 0 && f.image.size() == 3 * cells && f.truth.size() == cells && f.prediction.size() == cells,
      path, ": image and masks must have ", f.height, " x ", f.width, " pixels");
  const int64_t scale = std::max<int64_t>(1, overlay_side / std::max(f.height, f.width));
  const int64_t H = f.height * scale, W = f.width * scale;
  std::string script = "reset\nset encoding utf8\n$image << EOD\n" + panel(f, nullptr, scale) +
                       "EOD\n$truth << EOD\n" + panel(f, &f.truth, scale) + "EOD\n$predicted << EOD\n" +
                       panel(f, &f.prediction, scale) + "EOD\n";
  std::string keys;
  size_t count = 0, longest = 0;
  for (size_t k = 1; k < f.classes.size(); ++k) {
    const uint8_t* c = class_colours[(k - 1) % std::size(class_colours)];
    char colour[16];
    std::snprintf(colour, sizeof colour, "#%02x%02x%02x", c[0], c[1], c[2]);
    const bool used = std::count(f.truth.begin(), f.truth.end(), k) +
                          std::count(f.prediction.begin(), f.prediction.end(), k) >
                      0;
    if (used) {
      keys +=
          ", NaN with lines lw 4 lc rgb '" + std::string(colour) + "' title " + gnuplot_string(f.classes[k]);
      longest = std::max(longest, std::min(f.classes[k].size(), most_gnuplot_characters));
      ++count;
    }
  }
  // One key below the three pictures, in as many rows of 18 pixels as its entries need.
  const int64_t width = 3 * W + 80;
  const auto beside =
      static_cast<size_t>(std::max<int64_t>(1, width / static_cast<int64_t>(70 + 8 * longest)));
  const auto rows = static_cast<int64_t>((count + beside - 1) / beside);
  const int64_t above = 45, below = 26 + 18 * rows, height = H + above + below;
  const auto share = [&](int64_t pixels) {
    return static_cast<double>(pixels) / static_cast<double>(height);
  };
  script +=
      text("set term pngcairo size ", width, ",", height,
           " font 'DejaVu Sans,11'\nset output 'picture.png'\nset multiplot layout 1,3 margins 0.01,0.99,",
           share(below), ",", share(height - above),
           " spacing 0.02\nunset tics\nunset border\nset size ratio -1\nset xrange [-0.5:", W,
           "-0.5]\nset yrange [", H, "-0.5:-0.5]\nunset key\n");
  const auto plot = [&](const std::string& data, const std::string& title, const std::string& more) {
    script += "set title " + gnuplot_string(title) + " noenhanced\nplot " + data +
              " using 1:2:3:4:5 with rgbimage pixels notitle" + more + "\n";
  };
  plot("$image", "image", "");
  plot("$truth", "truth", "");
  if (count > 0) {
    script +=
        text("set key noenhanced at screen 0.5,screen 0.01 center bottom vertical maxrows ", rows, "\n");
  }
  plot("$predicted", f.title, keys);
  return script + "unset multiplot\nset output\n";
}

}  // namespace

void draw(const ConfusionFigure& figure, const std::string& path) {
  draw_script(script_of(figure, path), {".png", ".svg"}, path);
}

void draw(const OverlayFigure& figure, const std::string& path) {
  draw_script(script_of(figure, path), {".png"}, path);
}

}  // namespace weyl
