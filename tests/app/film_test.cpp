#include "weyl/app/draw/film.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/app/program.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace film_test {

std::string place(const std::string& name) {
  static const std::string folder = scratch("film");
  return folder + "/" + name;
}

/// A square that falls, and a prediction that falls less.
Film falling_square() {
  Film film;
  film.title = "Sample 0 of the test split";
  film.unit = "m";
  film.times = {"start", "step 1", "step 2"};
  film.outlines = true;
  film.count = 4;
  for (int f = 0; f < 3; ++f) {
    const auto add = [&](std::vector<float>& to, float y) {
      const float corners[5][2] = {{0, y}, {1, y}, {1, y + 1}, {0, y + 1}, {0, y}};
      for (int k = 0; k < 4; ++k) {
        to.insert(to.end(), {corners[k][0], corners[k][1], corners[k + 1][0], corners[k + 1][1]});
      }
    };
    add(film.truth, -0.5f * static_cast<float>(f * f));
    add(film.prediction, -0.4f * static_cast<float>(f * f));
  }
  film.ground = {-1, -3, 2, -3};
  return film;
}

std::span<const std::byte> bytes_of(const std::vector<float>& x) {
  return std::as_bytes(std::span(x));
}

void write(const std::string& path, const Film& film, const std::string& times, std::vector<int64_t> shape) {
  write_safetensors(
      path,
      std::vector<TensorBytes>{{"truth", ElementType::f32, shape, bytes_of(film.truth)},
                               {"prediction", ElementType::f32, shape, bytes_of(film.prediction)}},
      {{"title", film.title}, {"unit", film.unit}, {"times", times}});
}

TEST(Film, DrawsOutlinesAtEachTime) {
  draw(falling_square(), place("square"));
  const std::string svg = contents(place("square.svg"));
  for (const char* words : {"start", "step 1", "step 2", "true", "predicted", "Sample 0 of the test split"}) {
    EXPECT_NE(svg.find(words), std::string::npos) << words;
  }
  EXPECT_EQ(contents(place("square.png")).substr(1, 3), "PNG");
  // The first picture is what the model is shown: no prediction in it.
  Film one = falling_square();
  one.times.resize(1);
  one.truth.resize(16);
  one.prediction.resize(16);
  draw(one, place("one"));
  EXPECT_EQ(contents(place("one.svg")).find("predicted"), std::string::npos);
}

TEST(Film, HasTicsOnBothSidesOfAFlatStrip) {
  Film film;  // three times as wide as high, where no multiple of a tic of the x axis lies
  film.times = {"start"};
  film.count = 2;
  film.truth = {-9, 1, 9, 1.2f};
  film.prediction = film.truth;
  draw(film, place("flat"));
  const std::string svg = contents(place("flat.svg"));
  for (const char* tic : {"-5", "5", "0", "2", "4"}) {
    const bool there = svg.find(text("> ", tic, "<")) != std::string::npos ||
                       svg.find(text(">", tic, "<")) != std::string::npos;
    EXPECT_TRUE(there) << tic;
  }
}

TEST(Film, DrawsDotsAndLeavesOutWhatIsNotFinite) {
  Film film;
  film.times = {"start", "after 0.1"};
  film.count = 3;
  film.truth = {0, 0, 1, 1, 2, 0, 0.5f, 0, 1, 1.5f, NAN, NAN};
  film.prediction = {0, 0, 1, 1, 2, 0, 0.4f, 0.1f, 1.1f, 1.5f, 2, 0.4f};
  draw(film, place("dots"));
  EXPECT_NE(contents(place("dots.svg")).find("after 0.1"), std::string::npos);
  film.truth.assign(12, NAN);
  film.prediction = film.truth;
  EXPECT_THROW(draw(film, place("none")), Error);
}

TEST(Film, IsReadAsItWasWritten) {
  const Film film = falling_square();
  write(place("film.safetensors"), film, "start\nstep 1\nstep 2\n", {3, 4, 4});
  const Film read = read_film(place("film.safetensors"));
  EXPECT_TRUE(read.outlines);
  EXPECT_EQ(read.times, film.times);
  EXPECT_EQ(read.truth, film.truth);
  EXPECT_EQ(read.prediction, film.prediction);
  EXPECT_TRUE(read.ground.empty());
}

TEST(Film, BrokenFilesAreOneLine) {
  const Film film = falling_square();
  write(place("short.safetensors"), film, "start\nstep 1\n", {3, 4, 4});  // three pictures, two times
  write(place("flat.safetensors"), film, "start\nstep 1\nstep 2\n", {12, 4});
  write(place("odd.safetensors"), film, "start\nstep 1\nstep 2\n", {2, 8, 3});
  write_safetensors(place("other.safetensors"), std::vector<TensorBytes>{});
  for (const char* name : {"short", "flat", "odd", "other"}) {
    try {
      read_film(place(std::string(name) + ".safetensors"));
      FAIL() << name;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find(std::string(name) + ".safetensors"), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

}  // namespace film_test
}  // namespace weyl
