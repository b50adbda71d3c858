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

TEST(Gnuplot, DrawsConfusionWithTheNamesOfTheClasses) {
  draw(ConfusionFigure{"confusion", {"a_b", "c's"}, {3, 1, 0, 0}}, place("confusion"));
  const std::string svg = contents(place("confusion.svg"));
  EXPECT_NE(svg.find("a_b"), std::string::npos);
  EXPECT_NE(svg.find("c's"), std::string::npos);
  EXPECT_EQ(start_of(place("confusion.png")).substr(1, 3), "PNG");
  EXPECT_THROW(draw(ConfusionFigure{"confusion", {"a", "b"}, {1, 2, 3}}, place("none")), Error);
}

TEST(Gnuplot, DrawsOverlaysOfMasksAndOfNone) {
  OverlayFigure figure{2,  3,     std::vector<uint8_t>(18, 90), {0, 1, 1, 0, 0, 2}, std::vector<uint8_t>(6),
                       {}, "said"};
  figure.classes = {"none", "rim", "core"};
  draw(figure, place("overlay"));
  EXPECT_EQ(start_of(place("overlay.png")).substr(1, 3), "PNG");
  figure.truth.assign(6, 0);
  draw(figure, place("nothing"));
  figure.truth.pop_back();
  EXPECT_THROW(draw(figure, place("short")), Error);
}

}  // namespace
}  // namespace weyl
