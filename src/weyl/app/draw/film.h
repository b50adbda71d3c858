#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weyl {

/// Bodies at several times, as they were and as a model says: pictures side by side, drawn from one side.
struct Film {
  std::string title, unit;         // of the strip; of both axes
  std::vector<std::string> times;  // F, what stands above each picture
  bool outlines = false;           // bodies are lines, else dots
  int64_t count = 0;               // of lines or dots, the same in every picture
  /// (F, count, 4) x y of both ends of a line, or (F, count, 2) of a dot. Those of the first picture are what the model
  /// was shown; predictions there are not drawn.
  std::vector<float> truth, prediction;
  std::vector<float> ground;  // (G, 4) lines behind the bodies

  int64_t numbers() const { return outlines ? 4 : 2; }
};

/// Reads a film of a run (app/draw/picture_data.h writes it): tensors `truth` and `prediction` f32 (F, count, 4 or 2), `ground` (G, 4)
/// where there is one; metadata `title`, `unit`, `times`, one a line. DataError: it is no such file.
Film read_film(const std::string& path);

/// Draws `path`.png and `path`.svg (app/draw/gnuplot.h has the errors): the truth in grey, what is predicted in colour; of
/// dots also the ways from picture to picture. What is not finite is left out.
void draw(const Film& film, const std::string& path);

}  // namespace weyl
