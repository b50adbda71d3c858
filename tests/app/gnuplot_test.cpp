#include "weyl/app/gnuplot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/app/program.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

std::string place(const std::string& name) {
  static const std::string folder = scratch("gnuplot");
  return folder + "/" + name;
}

std::string start_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string start(8, '\0');
  in.read(start.data(), 8);
  return start;
}

TEST(Gnuplot, DrawsPngAndSvgAndSkipsWhatIsNotFinite) {
  Figure figure{"a title's quote",
                "step",
                "loss, Å^2",
                {{"train_loss", {0, 1, 2}, {1, 0.1, NAN}}, {"valid", {0, 2}, {2, 0.2}}}};
  figure.log_y = true;
  draw(figure, place("curve"));
  EXPECT_EQ(start_of(place("curve.png")).substr(1, 3), "PNG");
  std::ifstream svg(place("curve.svg"));
  const std::string drawn((std::istreambuf_iterator<char>(svg)), {});
  EXPECT_NE(drawn.find("train_loss"), std::string::npos);
  EXPECT_NE(drawn.find("a title's quote"), std::string::npos);
}

TEST(Gnuplot, DrawsAConstantAndADiagonal) {
  Figure figure{"parity", "label", "prediction", {{"y", {1, 1}, {1, 1}, true}}};
  figure.diagonal = true;
  draw(figure, place("parity"));
  EXPECT_TRUE(std::filesystem::exists(place("parity.svg")));
}

TEST(Gnuplot, DrawsASinglePoint) {
  Figure figure{"one", "step", "loss", {{"train", {5}, {0.3}}}};
  figure.log_y = true;
  draw(figure, place("one"));
  EXPECT_TRUE(std::filesystem::exists(place("one.png")));
}

TEST(Gnuplot, RefusesAFigureWithoutPointsAndAFolderThatIsNotThere) {
  EXPECT_THROW(draw({"t", "x", "y", {{"s", {NAN}, {1}}}}, place("none")), Error);
  EXPECT_THROW(draw({"t", "x", "y", {{"s", {0, 1}, {1, 2}}}}, place("no/such/folder")), Error);
}

}  // namespace
}  // namespace weyl
