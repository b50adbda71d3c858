// Point clouds of one's own through the program: inspected, trained on, and their classes written as a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "tests/app/program.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/data/clouds/ply.h"

namespace weyl {
namespace clouds_test {

namespace fs = std::filesystem;

/// A ball or a rod of 30 points with normals and a colour, in PLY.
std::string ply(int kind, int number) {
  std::string head = "ply\nformat ascii 1.0\nelement vertex 30\n";
  for (const char* name : {"x", "y", "z", "nx", "ny", "nz"}) {
    head += "property float " + std::string(name) + "\n";
  }
  head += "property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n";
  for (int p = 0; p < 30; ++p) {
    const double a = 0.7 * p + number, z = p / 15.0 - 1, r = std::sqrt(1 - z * z);
    const double x = kind == 0 ? r * std::cos(a) : 0.1 * std::cos(a);
    const double y = kind == 0 ? r * std::sin(a) : 0.1 * std::sin(a);
    head += std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(z) + " " + std::to_string(x) +
            " " + std::to_string(y) + " 0 10 20 30\n";
  }
  return head;
}

TEST(CloudsProgram, TrainsOnFoldersAndWritesATableOfClasses) {
  const std::string folder = scratch("clouds");
  for (int i = 0; i < 10; ++i) {
    for (const char* kind : {"ball", "rod"}) {
      fs::create_directories(folder + "/set/" + kind);
      std::ofstream(folder + "/set/" + kind + "/" + std::to_string(i) + ".ply")
          << ply(kind[0] == 'r' ? 1 : 0, i);
    }
  }
  const Outcome seen = weyl_program("data inspect set --json", folder);
  ASSERT_EQ(seen.code, 0) << seen.err;
  EXPECT_NE(seen.out.find("points"), std::string::npos) << seen.out;
  std::ofstream(folder + "/net.toml") << R"([data]
set = "clouds"
[data.clouds]
path = "set"
classes = 2
points = 16
features = [{ key = "normal", kind = "normal" }, { key = "colour", channels = 3 }]
[task]
name = "classification"
[model]
system = "platonic"
[model.platonic]
width = 48
heads = 12
blocks = 1
[train]
epochs = 2
batch = 4
)";
  const Outcome trained = weyl_program("train net.toml --out run", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(weyl_program("eval run", folder).code, 0);
  // The number of classes may be left to the files; the run's config says it then.
  const Outcome uncounted =
      weyl_program("train net.toml data.clouds.classes=0 train.epochs=1 --out uncounted", folder);
  EXPECT_EQ(uncounted.code, 0) << uncounted.err;
  EXPECT_NE(contents(folder + "/uncounted/config.toml").find("\nclasses = 2\n"), std::string::npos);
  EXPECT_EQ(weyl_program("eval uncounted", folder).code, 0);
  fs::create_directory(folder + "/new");
  for (const char* name : {"a", "b,c"}) {
    std::ofstream(folder + "/new/" + name + ".ply") << ply(name[0] == 'a' ? 0 : 1, 3);
  }
  const Outcome predicted = weyl_program("predict run new --out out", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  std::ifstream table(folder + "/out/predictions.csv");
  const std::vector<std::string> class_names{"ball", "rod"};
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "sample,source,class,class_name,p_0,p_1");
  for (const char* source : {"new/a.ply", "new/b,c.ply"}) {
    ASSERT_TRUE(std::getline(table, line));
    const auto cells = csv_cells(line);
    ASSERT_EQ(cells.size(), 6u) << line;
    EXPECT_EQ(cells[1], source);
    const double p0 = std::stod(cells[4]), p1 = std::stod(cells[5]);
    EXPECT_EQ(cells[3], class_names[cells[2] == "0" ? 0 : 1]);
    EXPECT_NEAR(p0 + p1, 1, 1e-6);
    EXPECT_EQ(cells[2], p0 >= p1 ? "0" : "1");
  }
  EXPECT_FALSE(std::getline(table, line));
  // Folders of some of the classes alone keep their numbers; of others nothing is known but what the model says.
  for (const char* place : {"some/rod", "others/cone"}) {
    fs::create_directories(folder + "/" + place);
    for (int i = 0; i < 3; ++i) {
      std::ofstream(folder + "/" + place + "/" + std::to_string(i) + ".ply") << ply(1, 50 + i);
    }
  }
  const Json some = Json::parse(weyl_program("eval run --data some --json", folder).out, "eval");
  ASSERT_NE(some.find("metrics"), nullptr);
  EXPECT_EQ(some.find("samples")->number_or(0), 3);
  for (const char* place : {"some", "others"}) {
    const Outcome out =
        weyl_program(std::string("predict run ") + place + " --out " + place + "-out", folder);
    EXPECT_EQ(out.code, 0) << out.err;
    EXPECT_EQ(contents(folder + "/" + place + "-out/predictions.csv")
                  .find("sample,source,class,class_name,p_0,p_1\n"),
              0u);
  }
  const Outcome others = weyl_program("eval run --data others", folder);
  EXPECT_EQ(others.code, 3);
  EXPECT_EQ(std::ranges::count(others.err, '\n'), 1) << others.err;
  // A cloud without what the model is told of, and a molecule.
  std::ofstream(folder + "/bare.txt") << "0 0 0\n1 1 1\n";
  const Outcome bare = weyl_program("predict run bare.txt --out bare", folder);
  EXPECT_EQ(bare.code, 3);
  EXPECT_NE(bare.err.find("has no feature 'normal'"), std::string::npos) << bare.err;
  std::ofstream(folder + "/water.xyz") << "3\nwater\nO 0 0 0\nH 0 0 1\nH 0 1 0\n";
  const Outcome water = weyl_program("predict run water.xyz --out water", folder);
  EXPECT_EQ(water.code, 3);
  EXPECT_NE(water.err.find("molecule"), std::string::npos) << water.err;
  EXPECT_EQ(weyl_program("predict run new --out a.tum", folder).code, 2);
}

/// Points of a stick along z, whose upper half is another class; with `labels` these, too.
std::string stick(int number, bool labels) {
  std::string rows = labels ? "x y z part\n" : "x y z\n";
  for (int p = 0; p < 40; ++p) {
    const double z = p / 20.0 - 1 + 0.01 * number;
    rows += std::to_string(10 + 0.05 * std::cos(p)) + " " + std::to_string(0.05 * std::sin(p)) + " " +
            std::to_string(z) + (labels ? p < 20 ? " 0" : " 1" : "") + "\n";
  }
  return rows;
}

TEST(CloudsProgram, SegmentsPointsAndWritesThemColoured) {
  const std::string folder = scratch("segments");
  for (const char* split : {"train", "valid", "test"}) {
    fs::create_directories(folder + "/set/" + split);
    for (int i = 0; i < (split[1] == 'r' ? 12 : 3); ++i) {
      std::ofstream(folder + "/set/" + split + "/" + std::to_string(i) + ".txt") << stick(i, true);
    }
  }
  const Outcome drafted = weyl_program("config new --data set --system transformer --out net.toml", folder);
  ASSERT_EQ(drafted.code, 0) << drafted.err;
  const std::string config = contents(folder + "/net.toml");
  for (const char* line :
       {"name = \"segmentation\"", "point_label = \"part\"", "point_classes = 2", "#> Orientation: "}) {
    EXPECT_NE(config.find(line), std::string::npos) << line << "\n" << config;
  }
  const Outcome trained = weyl_program(
      "train net.toml train.augment=none train.epochs=30 data.clouds.points=20 task.segmentation.names='[\"foot\", \"head\"]' "
      "model.transformer.blocks=1 --out run",
      folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  // A table of cases, and what turned clouds do to a model that is exact under no rotation.
  const Outcome measured = weyl_program("eval run --moved --out cases --json", folder);
  ASSERT_EQ(measured.code, 0) << measured.err;
  const Json said = Json::parse(measured.out, "eval");
  const auto metric = [](const Json& metrics, const char* name) {
    return metrics.find(name)->find("value")->number_or(-1);
  };
  const double iou = metric(*said.find("metrics"), "iou");
  EXPECT_GT(iou, 0.9) << measured.out;
  EXPECT_GT(metric(*said.find("metrics"), "iou_head"), 0.8);
  const std::string table = contents(folder + "/cases/cases.csv");
  EXPECT_EQ(std::ranges::count(table, '\n'), 4) << table;
  EXPECT_NE(table.find(",iou_head,"), std::string::npos) << table;
  double turned = 2, upright = -1;
  for (const Json& row : said.find("breakdowns")->find("placement")->items()) {
    const std::string name = row.find("name")->string_or("");
    if (name == "turned uniformly") {
      turned = metric(*row.find("metrics"), "iou");
    } else if (name == "as it is") {
      upright = metric(*row.find("metrics"), "iou");
    }
  }
  EXPECT_EQ(upright, iou);
  EXPECT_LT(turned, iou - 0.1);
  // The same by itself, its cases under their names. About its own axis a stick stays what it is.
  const Outcome any = weyl_program("eval run --rotate so3 --out turned_cases --json", folder);
  ASSERT_EQ(any.code, 0) << any.err;
  EXPECT_EQ(metric(*Json::parse(any.out, "eval").find("metrics"), "iou"), turned);
  EXPECT_NE(contents(folder + "/turned_cases/cases.csv").find(table.substr(table.find('\n') + 1, 2)),
            std::string::npos);
  const Outcome about_z = weyl_program("eval run --rotate z --json", folder);
  ASSERT_EQ(about_z.code, 0) << about_z.err;
  const Json along = Json::parse(about_z.out, "eval");
  EXPECT_GT(metric(*along.find("metrics"), "iou"), iou - 0.1);
  EXPECT_EQ(along.find("axis")->string_or(""), "z");
  EXPECT_NE(config.find("\nup = \"z\""), std::string::npos) << config;
  // Which axis is upwards may be said of what is measured alone, though nothing else reads it.
  const Outcome about_y = weyl_program("eval run --data set --rotate z data.clouds.up=y", folder);
  ASSERT_EQ(about_y.code, 0) << about_y.err;
  EXPECT_NE(about_y.out.find(", each turned about the upward axis, y\n"), std::string::npos) << about_y.out;
  EXPECT_EQ(about_y.err.find("has no effect"), std::string::npos) << about_y.err;
  // Predicted are all points of a file that says no labels, where they are, though the model has seen 20 of them.
  fs::create_directories(folder + "/new");
  std::ofstream(folder + "/new/a.txt") << stick(2, false);
  const Outcome predicted = weyl_program("predict run new --out out --probabilities", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const PointTable ply = read_ply(folder + "/out/a.ply");
  ASSERT_EQ(ply.rows, 40);
  int right = 0;
  for (int64_t p = 0; p < 40; ++p) {
    const auto at = [&](const char* name) { return ply.values[p * ply.columns() + ply.find(name)]; };
    EXPECT_NEAR(at("x"), 10 + 0.05 * std::cos(p), 1e-5);
    EXPECT_EQ(at("red"), at("class") == 0 ? 31 : 255);
    EXPECT_NEAR(at("p_0") + at("p_1"), 1, 1e-5);
    right += at("class") == (p < 20 ? 0 : 1) ? 1 : 0;
  }
  EXPECT_GE(right, 36);
  EXPECT_NE(contents(folder + "/out/a.ply").find("comment class 1 colour 255 127 14 head\n"),
            std::string::npos);
  EXPECT_EQ(contents(folder + "/out/predictions.csv"), "sample,source,output\n0,new/a.txt,a.ply\n");
  EXPECT_EQ(weyl_program("predict run new --out out", folder).code, 2);  // nothing is replaced
  // The same names in several folders: each output lies as its cloud does, and the table says which is which.
  std::set<std::string> rows;
  for (const char* place : {"hall/left", "hall/right"}) {
    fs::create_directories(folder + "/many/" + place);
    for (const char* name : {"1.txt", "2,b.txt"}) {
      std::ofstream(folder + "/many/" + place + "/" + name) << stick(3, false);
    }
  }
  const Outcome several = weyl_program("predict run many/hall --out several", folder);
  ASSERT_EQ(several.code, 0) << several.err;
  std::istringstream table_of_points(contents(folder + "/several/predictions.csv"));
  std::string row;
  std::getline(table_of_points, row);
  EXPECT_EQ(row, "sample,source,output");
  while (std::getline(table_of_points, row)) {
    const auto cells = csv_cells(row);
    ASSERT_EQ(cells.size(), 3u) << row;
    const fs::path source = cells[1], output = cells[2];
    EXPECT_EQ(source.parent_path().filename(), output.parent_path()) << row;
    EXPECT_EQ(source.stem(), output.stem()) << row;
    EXPECT_TRUE(fs::is_regular_file(folder + "/several/" + cells[2])) << row;
    rows.insert(cells[2]);
  }
  EXPECT_EQ(rows, (std::set<std::string>{"left/1.ply", "left/2,b.ply", "right/1.ply", "right/2,b.ply"}));
  const Outcome unlabelled = weyl_program("eval run --data new", folder);
  EXPECT_EQ(unlabelled.code, 3);
  EXPECT_NE(unlabelled.err.find("has no column 'part' (data.clouds.point_label)"), std::string::npos)
      << unlabelled.err;
}

}  // namespace clouds_test
}  // namespace weyl
