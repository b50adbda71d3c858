#include "weyl/app/draw/plot.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/app/program.h"
#include "weyl/app/draw/gnuplot.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/data/images/image.h"

namespace weyl {
namespace gnuplot_test {

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

TEST(Gnuplot, NumbersOfAnAxisStandApart) {
  const auto labels = [](double low, double high, double pixels, bool whole = true) {
    std::vector<std::string> all;
    for (const AxisTic& tic : linear_tics(low, high, pixels, whole).marks) {
      all.push_back(tic.label);
    }
    return all;
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(8e10, 1.57e12, 360), (Labels{"0", "0.5T", "1T", "1.5T", "2T"}));
  EXPECT_EQ(labels(750, 15000, 360), (Labels{"0", "5000", "10000", "15000"}));
  EXPECT_EQ(labels(1, 11, 360), (Labels{"0", "2", "4", "6", "8", "10", "12"}));
  EXPECT_EQ(labels(-0.031, 0.029, 360, false), (Labels{"-0.03", "-0.02", "-0.01", "0", "0.01", "0.02"}));
  for (const double pixels : {360.0, 520.0, 780.0}) {
    for (const auto& [low, high] : {std::pair{0.0, 1e-7},
                                    {0.0, 3.0},
                                    {3e5, 9.99e5},
                                    {0.0, 123456.0},
                                    {-12345678.25, -12345677.5},
                                    {0.0, 8.9e13},
                                    {1.0, 1e30},
                                    {0.0, 1e300}}) {
      for (const bool whole : {false, true}) {
        const AxisTics tics = linear_tics(low, high, pixels, whole);
        ASSERT_GE(tics.marks.size(), 2u) << low << " to " << high;
        EXPECT_LE(tics.marks.size(), 9u);
        EXPECT_LE(tics.low, low);
        EXPECT_GE(tics.high, high);
        for (size_t i = 1; i < tics.marks.size(); ++i) {
          EXPECT_NE(tics.marks[i].label, tics.marks[i - 1].label) << low << " to " << high;
          const double apart = (tics.marks[i].at - tics.marks[i - 1].at) / (tics.high - tics.low);
          EXPECT_GT(apart * pixels, 7.0 * static_cast<double>(tics.marks[i].label.size()))
              << low << " to " << high << ": " << tics.marks[i].label;
        }
      }
    }
  }
  EXPECT_TRUE(linear_tics(1e16, 1e16 + 2, 360, true).marks.empty());
  EXPECT_TRUE(linear_tics(-1e308, 1e308, 360, true).marks.empty());
}

TEST(Gnuplot, NumbersOfALogarithmicAxisAreThereInEachRange) {
  const auto labels = [](double low, double high, bool upright) {
    std::vector<std::string> all;
    for (const AxisTic& tic : logarithmic_tics(low, high, upright).marks) {
      EXPECT_EQ(tic.minor, tic.label.empty());
      EXPECT_LE(low, tic.at);
      EXPECT_LE(tic.at, high);
      if (!tic.minor) {
        all.push_back(tic.label);
      }
    }
    return all;
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(0.15, 0.55, true), (Labels{"0.2", "0.3", "0.4", "0.5"}));
  EXPECT_EQ(labels(0.15, 0.55, false), (Labels{"0.2", "0.3", "0.5"}));  // beside one another
  EXPECT_EQ(labels(1.5e-5, 1.9e-4, true), (Labels{"2×10^{-5}", "5×10^{-5}", "10^{-4}"}));
  EXPECT_EQ(labels(9e15, 2e19, false), (Labels{"10^{16}", "10^{17}", "10^{18}", "10^{19}"}));
  EXPECT_EQ(labels(1e-9, 1e9, false),
            (Labels{"10^{-9}", "10^{-6}", "10^{-3}", "1", "1000", "10^{6}", "10^{9}"}));
  EXPECT_EQ(logarithmic_tics(1e-9, 1e9, false).marks.size(), 19u);
}

// A line breaks where a value is missing, and draws nothing across.
TEST(Gnuplot, BreaksLinesAndDrawsBandsAndArrows) {
  Figure figure{"marks", "compute", "loss", {{"", {1, 10, 100, 1000}, {1, 2, NAN, 4}}}, true, true};
  figure.marks.push_back({"", {1, 10}, {1, 2}, Mark::Kind::band, {"#08306b"}, 1, {}, {2, 3}});
  figure.marks.push_back({"", {1, 10}, {1, 2}, Mark::Kind::arrows, {"#08306b", 2}, 1, {2, 20}, {1, 2}});
  figure.key = {{"both of them", {"#08306b", 2, 5}}};
  for (const Figure::Key place_of_key : {Figure::Key::inside, Figure::Key::below, Figure::Key::right}) {
    figure.key_place = place_of_key;
    draw(figure, place("marks"));
    EXPECT_NE(contents(place("marks.svg")).find("both of them"), std::string::npos);
  }
  EXPECT_TRUE(has_points(figure));
  figure.marks = {{"", {-1, 0, 1}, {1, 1, NAN}}};  // nothing of it lies on a logarithmic axis
  EXPECT_FALSE(has_points(figure));
  EXPECT_THROW(draw(figure, place("none")), Error);
}

TEST(Gnuplot, ShowsZerosOnALogarithmicAxis) {
  Figure figure{"zeros", "step", "error", {{"error", {0, 1, 2}, {1, 0.1, 0}}}, true};
  draw(figure, place("zeros"));
  EXPECT_NE(contents(place("zeros.svg")).find("error: 0"), std::string::npos);
  figure.marks[0].y = {0, 0, 0};  // nothing above zero: a linear axis
  draw(figure, place("only_zeros"));
  figure.marks[0].y = {1, 0.1, -1};
  draw(figure, place("negative"));
  EXPECT_EQ(contents(place("negative.svg")).find("error: 0"), std::string::npos);
}

TEST(Gnuplot, DrawsPanelsWithAKeyEachOrOneForAll) {
  const Figure a{"first", "step", "loss", {{"one", {0, 1}, {1, 0.1}}, {"two", {0, 1}, {2, 0.2}}}, true};
  const Figure b{"second", "s", "loss", {{"one", {0, 9}, {1, 0.1}}, {"two", {0, 5}, {2, 0.2}}}, true};
  const Figure empty{"third", "s", "loss", {{"one", {NAN}, {1}}}};
  draw(Panels{"page's title", {a, b, empty}}, place("panels"));
  draw(Panels{"page's title", {a, b, b}, true}, place("one_key"));
  const auto times = [&](const char* file, const std::string& words) {
    const std::string svg = contents(place(file));
    size_t count = 0;
    for (size_t at = svg.find(words); at != std::string::npos; at = svg.find(words, at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_GE(times("panels.svg", "page's title"), 1u);
  EXPECT_GE(times("panels.svg", "second"), 1u);
  EXPECT_GE(times("one_key.svg", ">two</"), 1u);
  EXPECT_EQ(times("panels.svg", ">two</"), 2 * times("one_key.svg", ">two</"));
  EXPECT_THROW(draw(Panels{"page", {empty, empty}}, place("none")), Error);
}

// gnuplot remarks on a key whose lines it draws closer, which is no fault of the picture.
TEST(Gnuplot, DrawsAsManyCurvesWithLongNamesAsThereAre) {
  Figure figure{"many", "step", "loss", {}};
  for (int i = 0; i < 40; ++i) {
    const auto y = static_cast<double>(i);
    figure.marks.push_back({"a system with a long name, number " + std::to_string(i), {0, 1}, {y, y + 1}});
  }
  draw(Panels{"page", {figure, figure, figure, figure}}, place("many"));
  EXPECT_NE(contents(place("many.svg")).find("number 39"), std::string::npos);
}

TEST(Gnuplot, DrawsAConstantAndADiagonal) {
  Figure figure{"parity", "label", "prediction", {{"y", {1, 1}, {1, 1}, Mark::Kind::points}}};
  figure.diagonal = true;
  draw(figure, place("parity"));
  EXPECT_TRUE(std::filesystem::exists(place("parity.svg")));
}

// Six digits do not tell the ends of such an axis apart, and gnuplot refuses an empty range.
TEST(Gnuplot, DrawsLargeNumbersThatLieCloseTogether) {
  Figure figure{"energies",
                "label",
                "prediction",
                {{"y", {-12345678, -12345677}, {-12345677.5, -12345677}, Mark::Kind::points}}};
  figure.diagonal = true;
  draw(figure, place("energies"));
  EXPECT_TRUE(std::filesystem::exists(place("energies.png")));
  Figure constant{"one energy", "step", "energy", {{"y", {3e18, 3e18}, {-3e18, -3e18}}}};
  draw(constant, place("constant"));
  constant.diagonal = true;
  draw(constant, place("constant_diagonal"));
  EXPECT_TRUE(std::filesystem::exists(place("constant_diagonal.png")));
}

TEST(Gnuplot, DrawsASinglePoint) {
  Figure figure{"one", "step", "loss", {{"train", {5}, {0.3}}}};
  figure.log_y = true;
  draw(figure, place("one"));
  EXPECT_TRUE(std::filesystem::exists(place("one.png")));
  std::ifstream file(place("one.svg"));
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(svg.find(">0.2<"), std::string::npos);  // numbers at the logarithmic axis
  EXPECT_NE(svg.find(">0.5<"), std::string::npos);
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

TEST(Gnuplot, DrawsPicturesInRows) {
  PicturesFigure figure{2, 3, 2, {}, "attention"};
  for (const char* words : {"layer 1", "head 1", "layer 2"}) {
    figure.pictures.push_back({std::vector<uint8_t>(18, 90), words});
  }
  draw(figure, place("pictures"));
  EXPECT_EQ(start_of(place("pictures.png")).substr(1, 3), "PNG");
  figure.pictures[1].cells.pop_back();
  EXPECT_THROW(draw(figure, place("short_one")), Error);
  figure.pictures.clear();
  EXPECT_THROW(draw(figure, place("no_picture")), Error);
}

/// Where in a picture an image lies cell by cell, each `scale` pixels wide: the share of its pixels that are true, by place,
/// where that is nearly all of them. Cell `but` does not count.
std::vector<double> places_of(const Array& picture, const OverlayFigure& f, int64_t scale, int64_t but) {
  const auto* pixels = reinterpret_cast<const uint8_t*>(picture.bytes.data());
  const int64_t H = f.height * scale, W = f.width * scale, across = picture.shape[1];
  std::vector<double> found;
  for (int64_t place = 0; place + (H - 1) * across + W <= picture.shape[0] * across; ++place) {
    int64_t wrong = 0, all = 0;
    const auto look = [&](int64_t y) {
      for (int64_t x = 0; x < W && 50 * wrong <= H * W; ++x) {
        const int64_t cell = (y / scale) * f.width + x / scale;
        if (cell != but) {
          ++all;
          wrong += std::memcmp(pixels + 3 * (place + y * across + x), &f.image[3 * cell], 3) != 0 ? 1 : 0;
        }
      }
    };
    look(H / 2);  // of most places this is enough to see
    if (2 * wrong > all) {
      continue;
    }
    wrong = all = 0;
    for (int64_t y = 0; y < H; ++y) {
      look(y);
    }
    if (50 * wrong <= H * W) {
      found.push_back(1 - static_cast<double>(wrong) / static_cast<double>(all));
    }
  }
  return found;
}

// Rectangles of gnuplot's let white through: a constant 61 was drawn as 108 to 122.
TEST(Gnuplot, OverlaysHaveTheGreysOfTheImage) {
  Stream stream(11, "greys");
  const std::vector<double> three_true{1, 1, 1};
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{29, 29}, {17, 40}}) {
    OverlayFigure f;
    f.height = height;
    f.width = width;
    f.classes = {"none", "rim"};
    f.title = "case a, axial slice 3 of 9";
    for (int64_t i = 0; i < height * width; ++i) {
      f.image.insert(f.image.end(), 3, static_cast<uint8_t>(10 + 61 * stream.below(4)));
    }
    f.truth = f.prediction = std::vector<uint8_t>(static_cast<size_t>(height * width));
    const int64_t scale = 360 / std::max(height, width), middle = height / 2 * width + width / 2;
    draw(f, place("greys"));
    EXPECT_EQ(places_of(read_image(place("greys.png")), f, scale, -1), three_true)
        << height << " x " << width;
    // A mask changes its own cells alone.
    f.truth[static_cast<size_t>(middle)] = 1;
    draw(f, place("masked"));
    const Array masked = read_image(place("masked.png"));
    EXPECT_EQ(places_of(masked, f, scale, middle), three_true) << height << " x " << width;
    EXPECT_EQ(std::ranges::count(places_of(masked, f, scale, -1), 1.0), 2);
  }
}

// What a class, a column or a file may be called, all of it at once or one by one: nothing runs, nothing hangs, and every
// picture is drawn.
const std::vector<std::string>& nasty_names() {
  static const std::vector<std::string> names{
      "`touch PWNED`",
      "'; system('touch PWNED'); x='",
      "\"; system(\"touch PWNED\"); #",
      "|touch PWNED #",
      "a\nEOD\nsystem('touch PWNED')\n",
      "a\r!touch PWNED\r",
      "@x @ARG1 $data",
      "%500000d",
      "%s%n%s",
      "%",
      "100 %%",
      "\\\\",
      "a\\",
      "''",
      "'",
      "{/Symbol a}_{b}^{c} &{x} ~a{.8-}",
      "<script>alert(1)</script>",
      "]]>&#0;&#x41;&lt;&",
      "\x1b]0;t\x07\x1b[31m",
      "\xff\xc3(",
      std::string("nul\0l", 5),
      "\xe2\x80\xae"
      "gnp.exe",
      std::string(100000, 'w'),
      " ",
      "Å²",
      "-",
      "''; system(''touch PWNED'')",
  };
  return names;
}

bool well_formed(const std::string& svg) {
  return svg.find("]]>") == std::string::npos && svg.find("<script") == std::string::npos &&
         svg.find('\x1b') == std::string::npos && svg.find('\0') == std::string::npos;
}

TEST(Gnuplot, NamesAreDataOnEveryPlot) {
  const std::string folder = place("nasty");
  std::filesystem::create_directories(folder);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  const auto& names = nasty_names();
  std::string drawn;
  for (size_t i = 0; i + 2 < names.size(); i += 3) {
    const std::string &a = names[i], &b = names[i + 1], &c = names[i + 2];
    const std::string path = "p" + std::to_string(i);
    EXPECT_NO_THROW(
        draw(Figure{a, b, c, {{a, {0, 1}, {1, 2}}, {b, {0.5}, {1}}, {c, {0, 1}, {2, 1}, Mark::Kind::points}}},
             path));
    EXPECT_NO_THROW(draw(ConfusionFigure{a, {a, b, c}, {3, 1, 0, 2, 1, 1, 0, 0, 4}}, path + "c"));
    EXPECT_NO_THROW(draw(
        OverlayFigure{2, 2, std::vector<uint8_t>(12, 9), {0, 1, 2, 3}, {1, 0, 1, 2}, {"none", a, b, c}, a},
        path + "o"));
    EXPECT_EQ(start_of(path + "o.png").substr(1, 3), "PNG");
    for (const std::string& svg : {contents(path + ".svg"), contents(path + "c.svg")}) {
      EXPECT_TRUE(well_formed(svg)) << printable(a) << " " << printable(b) << " " << printable(c);
      drawn += svg;
    }
  }
  EXPECT_EQ(names.size() % 3, 0u);
  EXPECT_FALSE(std::filesystem::exists("PWNED"));
  for (const char* shown :
       {">%500000d<", ">`touch PWNED`<", ">''<", ">'<", ">a\\<", ">%s%n%s<", ">100 %%<", ">Å²<",
        ">@x @ARG1 $data<", ">\\x1b]0;t\\x07\\x1b[31m<", ">{/Symbol a}_{b}^{c} &amp;{x} ~a{.8-}<"}) {
    size_t places = 0;
    for (size_t at = 0; (at = drawn.find(shown, at)) != std::string::npos; ++at) {
      ++places;
    }
    EXPECT_GE(places, 4u) << shown;  // a label, a title, a key; two tics
  }
  std::filesystem::current_path(before);
}

TEST(Gnuplot, PathsAreNeverGnuplots) {
  const std::string folder = place("paths");
  std::filesystem::create_directories(folder);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  for (const char* path :
       {"|touch PWNED #", "|touch X;cat >>", "a'b`touch PWNED`", "-", "%d %500000d", "a\nb"}) {
    draw({"t", "x", "y", {{"s", {0, 1}, {1, 2}}}}, path);
    EXPECT_EQ(start_of(std::string(path) + ".png").substr(1, 3), "PNG") << path;
    EXPECT_TRUE(contents(std::string(path) + ".svg").starts_with("<?xml")) << path;
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator("."), {}), 12);
  std::filesystem::current_path(before);
}

TEST(Gnuplot, ReadsNoSettingsAndIsNotTakenFromTheCurrentFolder) {
  const std::string folder = place("planted");
  std::filesystem::create_directories(folder);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  for (const char* name : {".gnuplot", "gnuplotrc"}) {
    std::ofstream(name) << "system('touch " << folder << "/PWNED')\n";
  }
  std::ofstream("gnuplot") << "#!/bin/sh\ntouch " << folder << "/PWNED\n";
  std::filesystem::permissions("gnuplot", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH"),
                    home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  ::setenv("HOME", folder.c_str(), 1);
  ::setenv("GNUTERM", "no such terminal", 1);
  for (const std::string& entries : {":" + path, ".:" + path, "../planted:" + path, path + ":"}) {
    ::setenv("PATH", entries.c_str(), 1);
    EXPECT_NO_THROW(draw({"t", "x", "y", {{"s", {0, 1}, {1, 2}}}}, "drawn")) << entries;
  }
  ::setenv("PATH", ":.", 1);
  EXPECT_EQ(gnuplot_version(), "");
  EXPECT_THROW(draw({"t", "x", "y", {{"s", {0, 1}, {1, 2}}}}, "absent"), Error);
  ::setenv("PATH", path.c_str(), 1);
  ::setenv("HOME", home.c_str(), 1);
  ::unsetenv("GNUTERM");
  EXPECT_FALSE(std::filesystem::exists("PWNED"));
  EXPECT_TRUE(std::filesystem::exists("drawn.svg"));
  std::filesystem::current_path(before);
}

// A file size limit stands for a full disk.
TEST(Gnuplot, APictureThatDoesNotFitLeavesNoFile) {
  const Figure figure{"t", "x", "y", {{"s", {0, 1}, {1, 2}}}};
  const std::string folder = place("full");
  std::filesystem::create_directories(folder);
  draw(figure, folder + "/old");
  const std::string old_png = contents(folder + "/old.png"), old_svg = contents(folder + "/old.svg");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{100}, rlim_t{1024}, rlim_t{4096}, old_png.size() - 1}) {
    rlimit small = limit;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
    for (const char* name : {"/new", "/old"}) {
      EXPECT_THROW(draw(figure, folder + name), DataError) << bytes;
    }
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
  EXPECT_EQ(contents(folder + "/old.png"), old_png);
  EXPECT_EQ(contents(folder + "/old.svg"), old_svg);
}

TEST(Gnuplot, ALinkAtAPicturesNameIsReplacedAndItsTargetLeftAlone) {
  std::ofstream(place("precious")) << "precious";
  std::filesystem::create_symlink("precious", place("linked.png"));
  draw({"t", "x", "y", {{"s", {0, 1}, {1, 2}}}}, place("linked"));
  EXPECT_EQ(contents(place("precious")), "precious");
  EXPECT_EQ(start_of(place("linked.png")).substr(1, 3), "PNG");
}

}  // namespace gnuplot_test
}  // namespace weyl
