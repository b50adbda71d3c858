#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// How many characters of words gnuplot_string keeps.
constexpr size_t most_gnuplot_characters = 120;

/// Words from elsewhere (names of classes, columns, units) as a string of a gnuplot script, quotes included, in which
/// gnuplot finds nothing to replace: no `command`, no @macro, no end. What is no visible character is written out, and
/// long words are cut. Every use of such a string is `noenhanced`.
std::string gnuplot_string(std::string_view words, size_t most = most_gnuplot_characters);

/// The same as a label of a tic, which gnuplot takes for a format of numbers.
std::string gnuplot_tic_label(std::string_view words);

/// What draws the same plots into picture.png and picture.svg, of `width` x `height` pixels.
std::string into_png_and_svg(const std::string& plots, int64_t width, int64_t height, int font_size);

/// Runs a script that draws a `picture` with each of these endings (.png, .svg) in its current folder, which is new, of
/// this user alone and removed afterwards, and puts the pictures at `path` with the same endings, when all of them are
/// there and whole. No name of ours reaches gnuplot, and gnuplot reads no settings of the user or the current folder. A
/// picture that is there is replaced; of a link the target is left alone. Error: there is no gnuplot (naming the
/// package). DataError: it complains (its first line), a picture is not whole, a file cannot be written.
void draw_script(const std::string& script, const std::vector<std::string>& endings, const std::string& path);

/// Pictures beside one another, as a script: blocks of data, and what is drawn of them in each picture.
class PlotScript {
 public:
  /// Adds to the picture that is being made; nothing without data. `how`: "using 1:2 with lines". The title may be foreign.
  void plot(const std::string& block, const std::string& how, const std::string& title = "");
  /// Adds what needs no data: a function, an entry of the key.
  void add(const std::string& part);
  /// Whether nothing was added to it.
  bool is_empty() const { return line_.empty(); }
  /// Ends it with the settings that it is drawn with; an empty one leaves its place empty.
  void next(const std::string& settings);

  /// Draws all into `path`.png and `path`.svg. `layout` begins gnuplot's multiplot.
  void draw(const std::string& layout, int64_t width, int64_t height, int font_size,
            const std::string& path) const;

 private:
  std::string data_, plots_, line_;
  int64_t blocks_ = 0;
};

/// "gnuplot 5.4 patchlevel 4", or empty when there is none.
std::string gnuplot_version();

}  // namespace weyl
