// `weyl scale plot` and `weyl scale report`: which pictures fits and runs give, what is left out with a word, foreign words.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/app/program.h"
#include "tests/study/scaling/paper_runs.h"
#include "weyl/core/json.h"

namespace weyl {
namespace scale_figures_test {

class ScaleFigures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = scratch("scale-figures");
    std::ofstream csv(at("runs.csv"));
    csv.precision(17);
    csv << "system,parameters,tokens,loss,flops\n";
    for (const PublishedLaw& published : {baseline, equivariant}) {
      for (const ScalingRun& run : paper_runs(published, 0.02, 4)) {
        csv << run.system << "," << run.parameters << "," << run.tokens << "," << run.loss << ","
            << *run.flops << "\n";
      }
    }
    csv << "baseline,10,20,-1,\n";
    csv.close();
    std::ofstream data(at("data.csv"));
    data << "system,parameters,tokens,unique_tokens,loss\n";
    for (const char* system : {"transformer", "transformer-augmented"}) {
      for (const int unique : {100, 1000, 10000}) {
        data << system << ",50,100000," << unique << "," << 1.0 / unique << "\n"
             << system << ",50,100000," << unique << "," << 1.1 / unique << "\n";
      }
    }
    data.close();
    ASSERT_EQ(weyl("fit runs.csv --bootstraps 100 --out fit.json -q").code, 0);
  }
  static std::string& folder() {
    static std::string path;
    return path;
  }
  static std::string at(const std::string& name) { return folder() + "/" + name; }
  static Outcome weyl(const std::string& arguments) { return weyl_program("scale " + arguments, folder()); }
  static bool drawn(const std::string& path) {
    return contents(at(path + ".png")).ends_with("IEND\xae\x42\x60\x82") &&
           contents(at(path + ".svg")).find("</svg>") != std::string::npos;
  }
  static size_t count(const std::string& words, const std::string& what) {
    size_t found = 0;
    for (size_t i = words.find(what); i != std::string::npos; i = words.find(what, i + 1)) {
      ++found;
    }
    return found;
  }
  static void refused(const std::string& arguments, int code, const std::string& words) {
    const Outcome outcome = weyl(arguments);
    EXPECT_EQ(outcome.code, code) << arguments << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << arguments << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
};

TEST_F(ScaleFigures, DrawsFitsAndRuns) {
  const Outcome outcome = weyl("plot fit.json data.csv --out plots --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(Json::parse(outcome.out, "stdout").find("files")->items().size(), 10u);
  for (const char* name : {"isoflops", "loss_over_compute", "best_sizes", "ratios", "data_scaling"}) {
    EXPECT_TRUE(drawn(std::string("plots/") + name)) << name;
    EXPECT_NE(outcome.out.find(name), std::string::npos) << outcome.out;
  }
  const std::string isoflops = contents(at("plots/isoflops.svg"));
  for (const char* words : {"baseline", "equivariant", "1e16 FLOPs", "3.16e18 FLOPs", "best size"}) {
    EXPECT_NE(isoflops.find(words), std::string::npos) << words;
  }
  EXPECT_NE(contents(at("plots/data_scaling.svg")).find("transformer-augmented"), std::string::npos);
  EXPECT_NE(contents(at("plots/ratios.svg")).find("baseline over equivariant"), std::string::npos);
  EXPECT_EQ(weyl("plot fit.json --out plots -q").code, 0);  // as `weyl plot`: pictures are replaced
}

/// What the lines and points of the key of a picture look like, without their colours.
std::vector<std::pair<std::string, std::string>> looks_of_key(const std::string& svg) {
  std::vector<std::pair<std::string, std::string>> looks;
  std::istringstream lines(svg);
  const auto quoted = [](const std::string& line, const std::string& before) {
    const size_t at = line.find(before);
    return at == std::string::npos
               ? ""
               : line.substr(at + before.size(), line.find('\'', at + before.size()) - at - before.size());
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.find("<path stroke=") != std::string::npos &&
        line.find("<use xlink:href='#gpPt") != std::string::npos) {
      looks.emplace_back(quoted(line, "stroke-dasharray='"), quoted(line, "xlink:href='#gpPt"));
    }
  }
  return looks;
}

// A system of any place in the table, augmented or not, can be told from the others in a grey print.
TEST_F(ScaleFigures, SystemsHaveDashesAndShapesOfTheirOwn) {
  std::ofstream csv(at("grey.csv"));
  csv << "system,parameters,tokens,unique_tokens,loss\n";
  for (const char* system : {"transformer", "gatr", "transformer-augmented", "platonic", "geomformer"}) {
    for (const int unique : {100, 1000}) {
      csv << system << ",50,100000," << unique << "," << 1.0 / unique << "\n";
    }
  }
  csv.close();
  ASSERT_EQ(weyl("plot grey.csv --out grey -q").code, 0);
  ASSERT_EQ(weyl("plot fit.json --out grey -q").code, 0);
  for (const auto& [picture, systems] : std::map<std::string, size_t>{
           {"data_scaling", 5}, {"loss_over_compute", 2}, {"best_sizes", 4}}) {  // two panels
    const auto looks = looks_of_key(contents(at("grey/" + picture + ".svg")));
    ASSERT_EQ(looks.size(), systems) << picture;
    std::set<std::string> dashes, shapes;
    for (const auto& [dash, shape] : looks) {
      dashes.insert(dash);
      shapes.insert(shape);
    }
    const size_t expected = picture == "best_sizes" ? 2 : systems;
    EXPECT_EQ(dashes.size(), expected) << picture;
    EXPECT_EQ(shapes.size(), expected) << picture;
  }
}

TEST_F(ScaleFigures, FitsTablesWhereNoFitIsGiven) {
  const Outcome outcome = weyl("plot runs.csv data.csv --bootstraps 0 --out fitted");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(drawn("fitted/isoflops") && drawn("fitted/ratios") && drawn("fitted/data_scaling"));
  for (const char* words :
       {"runs.csv:128: loss must be positive", "data.csv: no system can be fitted: transformer must have",
        "left out: baseline: intervals: the fit has none: it was made without --bootstraps, or says why"}) {
    EXPECT_NE(outcome.err.find(words), std::string::npos) << words << "\n" << outcome.err;
  }
}

TEST_F(ScaleFigures, LeavesOutWhatIsNotKnown) {
  std::ofstream laws(at("laws.csv"));
  laws << "system,A,alpha,B,beta,xi\nx,1,0.5,1,0.5,6\ny,1,0.5,1,0.5,\n";
  laws.close();
  ASSERT_EQ(weyl("fit --coefficients laws.csv --budgets 1e16,1e17 --out laws.json -q").code, 0);
  const Outcome outcome = weyl("plot laws.json --out laws");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(drawn("laws/loss_over_compute") && drawn("laws/best_sizes"));
  for (const char* words :
       {"left out: x: isoflops: a law that is given has no runs", "left out: x: intervals",
        "left out: y: L*, N*, D* over compute: FLOPs are not known", "left out: ratios: two systems",
        "left out: data_scaling: no table"}) {
    EXPECT_NE(outcome.err.find(words), std::string::npos) << words << "\n" << outcome.err;
  }
  EXPECT_FALSE(std::filesystem::exists(at("laws/ratios.svg")));
}

// N and D that rise together tell no law: its ratios say nothing, and wherever it is shown this is said first.
TEST_F(ScaleFigures, SayFirstWhetherTheLawIsDetermined) {
  std::ofstream csv(at("line.csv"));
  csv << contents(at("runs.csv"));
  for (int k = 0; k < 8; ++k) {
    const double N = 1e5 * std::pow(2, k), D = 20 * N;
    csv << "alike," << N << "," << D << "," << (1 + 0.01 * (k % 3)) * (2 / std::sqrt(N) + 80 / std::sqrt(D))
        << "," << 6 * N * D << "\n";
  }
  csv.close();
  const char* verdict = "law not determined: alike; law determined: baseline, equivariant";
  const Outcome fitted = weyl("fit line.csv --bootstraps 100 --out line.json");
  ASSERT_EQ(fitted.code, 0) << fitted.err;
  EXPECT_TRUE(fitted.out.starts_with(std::string(verdict) + "\n")) << fitted.out.substr(0, 300);
  const std::string file = contents(at("line.json"));
  EXPECT_TRUE(file.starts_with("{\n  \"determined\": [\n")) << file.substr(0, 300);
  const Json fit = Json::parse(file, "line.json");
  const Json& doubted = fit.find("determined")->items().at(2);
  EXPECT_EQ(doubted.find("determined")->dump(), "false");
  EXPECT_NE(doubted.find("reason")->string_or("").find("rise together"), std::string::npos);

  const Outcome plotted = weyl("plot line.json --out line");
  ASSERT_EQ(plotted.code, 0) << plotted.err;
  EXPECT_EQ(count(plotted.err, "the runs do not determine the law of alike"), 2u) << plotted.err;
  for (const char* name : {"isoflops", "loss_over_compute", "best_sizes", "ratios"}) {
    EXPECT_NE(contents(at(std::string("line/") + name + ".svg")).find(verdict), std::string::npos) << name;
  }
  const std::string ratios = contents(at("line/ratios.svg"));
  EXPECT_NE(ratios.find("baseline over equivariant"), std::string::npos);
  EXPECT_EQ(ratios.find("over alike"), std::string::npos);
  EXPECT_EQ(ratios.find("alike over"), std::string::npos);

  const Outcome outcome = weyl("report line.csv --fit line.json --out told.html --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("{\n  \"determined\": [")) << outcome.out;
  EXPECT_EQ(Json::parse(outcome.out, "stdout").find("files")->items().size(), 4u);
  const std::string page = contents(at("told.html"));
  EXPECT_LT(page.find("<td>alike</td><td>not determined</td>"), page.find("<h2>"));
  EXPECT_TRUE(contents(at("told.md")).starts_with("## Whether the runs determine the law\n"));
  EXPECT_NE(contents(at("told.csv")).find("\n# Ratios\n"), std::string::npos);
  EXPECT_NE(contents(at("told.tex")).find("alike & not determined & the runs do not"), std::string::npos);
  refused("report line.csv --fit line.json --out told.html", 2, "told.html: exists already");
  std::filesystem::remove(at("told.html"));
  refused("report line.csv --fit line.json --out told.html", 2, "told.md: exists already");
  refused("report line.csv --fit line.json --out told.md --force", 2, "its tables come to that name");
  // The table of runs keeps its name.
  ASSERT_EQ(weyl("report line.csv --fit line.json --out line.html -q").code, 0);
  EXPECT_TRUE(std::filesystem::exists(at("line-tables.csv")));
}

// Captions name what there is: without resamples nothing is shaded.
TEST_F(ScaleFigures, SayShadedWhereSomethingIs) {
  ASSERT_EQ(weyl("fit runs.csv --bootstraps 0 --out bare.json -q").code, 0);
  ASSERT_EQ(weyl("plot bare.json --out bare -q").code, 0);
  ASSERT_EQ(weyl("plot fit.json --out shades -q").code, 0);
  for (const char* name : {"loss_over_compute", "best_sizes", "ratios"}) {
    EXPECT_EQ(contents(at(std::string("bare/") + name + ".svg")).find("shaded"), std::string::npos) << name;
    EXPECT_NE(contents(at(std::string("shades/") + name + ".svg")).find("shaded: 95 % intervals"),
              std::string::npos)
        << name;
  }
}

// A mean over two budgets is the loss of neither.
TEST_F(ScaleFigures, DataScalingIsOfOneBudget) {
  for (const bool stated : {true, false}) {
    std::ofstream csv(at("mixed.csv"));
    csv << "system,parameters,tokens,unique_tokens,loss" << (stated ? ",budget\n" : "\n");
    for (const int budget : {100'000, 1'000'000}) {
      for (const int unique : {100, 1000}) {
        for (const double noise : {0.9, 1.0}) {
          csv << "a,50," << budget << "," << unique << "," << noise * (budget == 100'000 ? 4.0 : 1.0) / unique
              << (stated ? "," + std::to_string(budget) : "") << "\n";
        }
      }
    }
    csv.close();
    const std::string name = stated ? "stated" : "silent";
    const Outcome report = weyl("report mixed.csv --bootstraps 0 -q --json --out " + name + ".html");
    ASSERT_EQ(report.code, 0);
    const Json verdict = Json::parse(report.out, "stdout").find("determined")->items().at(0);
    EXPECT_EQ(verdict.find("system")->string_or(""), "a");
    EXPECT_EQ(verdict.find("determined")->dump(), "false");
    ASSERT_EQ(weyl("plot mixed.csv --bootstraps 0 -q --out " + name).code, 0);
    const std::string table = contents(at(name + ".csv")), picture = contents(at(name + "/data_scaling.svg"));
    const std::string first = stated ? "a, budget 1e05" : "a, from 1e05 tokens",
                      second = stated ? "a, budget 1e06" : "a, from 1e06 tokens";
    EXPECT_NE(table.find("unique tokens,\"" + first + "\",\"" + second +
                         "\"\n100,\"0.03795 (0.036, "
                         "0.04)\",\"0.009487 (0.009, 0.01)\"\n"),
              std::string::npos)
        << table;
    EXPECT_NE(picture.find(first), std::string::npos);
    EXPECT_NE(picture.find(second), std::string::npos);
  }
}

TEST_F(ScaleFigures, ShowsSystemsWithoutALaw) {
  std::ofstream csv(at("two.csv"));
  csv << "system,parameters,tokens,loss,flops,budget\n";
  for (const int seconds : {60, 240}) {
    for (const double noise : {0.9, 1.0, 1.1}) {  // seeds
      csv << "one,5000," << 100 * seconds << "," << noise * 30 / seconds << "," << 1e8 * seconds << ","
          << seconds << "\nother,7000," << 50 * seconds << "," << noise * 60 / seconds << "," << 2e8 * seconds
          << "," << seconds << "\n";
    }
  }
  csv.close();
  const Outcome plotted = weyl("plot two.csv --out two");
  EXPECT_EQ(plotted.code, 0) << plotted.err;
  EXPECT_NE(plotted.err.find("no system can be fitted"), std::string::npos) << plotted.err;
  EXPECT_EQ(plotted.out, "two/loss_over_compute.png\ntwo/loss_over_compute.svg\n");
  EXPECT_TRUE(drawn("two/loss_over_compute"));
  ASSERT_EQ(weyl("report two.csv --out two.html -q").code, 0);
  const std::string page = contents(at("two.html"));
  EXPECT_NE(page.find("Lowest loss of each budget"), std::string::npos);
  const std::string row =
      "<td class=\"number\">240</td><td>other</td><td class=\"number\">7000</td><td class=\"number\">3</td>";
  EXPECT_NE(page.find(row), std::string::npos) << page.substr(page.find("Lowest loss"), 1500);
}

TEST_F(ScaleFigures, ReportsInOneFileThatLoadsNothing) {
  std::filesystem::create_directories(at("sweep/runs/one"));
  std::filesystem::copy_file(at("runs.csv"), at("sweep/runs.csv"));
  std::ofstream(at("sweep/sweep.toml")) << "# <b>settings</b> & so on\n";
  std::ofstream(at("sweep/runs/one/environment.json")) << R"({"cpu": "A <fast> one", "threads": 2})";
  for (const char* name : {"one", "two"}) {
    std::ofstream(at("sweep/runs/") + name + ".recipe")
        << "# weyl train c.toml train.seed=" << name << "\n[train]\nbest = \"<only once>\"\n";
  }
  std::ofstream(at("sweep/runs/damaged.recipe")) << "no words";
  const Outcome outcome = weyl("report sweep --bootstraps 100 --out report.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "report.html\n");
  const std::string page = contents(at("report.html"));
  EXPECT_EQ(count(page, "data:image/svg+xml;base64,"), 4u);
  EXPECT_EQ(count(page, "src=\""), 4u);  // nothing else
  EXPECT_EQ(count(page, "href"), 0u);
  for (const char* words :
       {"# &lt;b&gt;settings&lt;/b&gt; &amp; so on", "A &lt;fast&gt; one",
        "weyl scale run sweep/sweep.toml --out sweep",
        "weyl scale fit sweep/runs.csv --hold-out --bootstraps 100 --seed 0 --out fit.json",
        "weyl scale plot fit.json sweep/runs.csv --out plots", "the largest budget held out",
        "inside the sizes tried", "baseline over equivariant", "127 rows of sweep/runs.csv",
        "loss must be positive", "one: weyl train c.toml train.seed=one",
        "two: weyl train c.toml train.seed=two", "<summary>one, and 1 more of its config</summary>"}) {
    EXPECT_NE(page.find(words), std::string::npos) << words;
  }
  EXPECT_EQ(count(page, "&lt;only once&gt;"), 1u);
  refused("report sweep --out report.html", 2, "report.html: exists already");
  refused("report sweep --out sweep/runs.csv --force", 2, "is read by the same call");
  // The call behind a fit that is given is the one that made it.
  ASSERT_EQ(weyl("fit runs.csv --bootstraps 0 --seed 3 --budgets 1e16,2.5e17 --out other.json -q").code, 0);
  EXPECT_EQ(weyl("report sweep --fit other.json --out report.html --force").code, 0);
  const char* call =
      "weyl scale fit runs.csv --budgets 1e+16,2.5e+17 --bootstraps 0 --seed 3 --out other.json";
  EXPECT_NE(contents(at("report.html")).find(call), std::string::npos);
}

TEST_F(ScaleFigures, LowestLossesAreOfOneAmountOfData) {
  ASSERT_EQ(weyl("report data.csv --out data.html --bootstraps 0 -q").code, 0);
  const std::string table = contents(at("data.html"));
  EXPECT_NE(table.find("<td class=\"number\">1000</td><td class=\"number\">0.001049 (0.001, 0.0011)</td><td "
                       "class=\"number\">"
                       "0.001049 (0.001, 0.0011)</td>"),
            std::string::npos)
      << table.substr(table.find("amount of training data"), 1500);
  std::ofstream(at("budget.csv")) << "system,parameters,tokens,unique_tokens,loss,budget\n"
                                     "a,50,1000,10,0.4,7\na,50,1000,10,0.5,7\n"
                                     "a,50,1000,100,0.2,7\na,50,1000,100,0.3,7\n";
  ASSERT_EQ(weyl("report budget.csv --out budget.html --bootstraps 0 -q").code, 0);
  const std::string page = contents(at("budget.html"));
  const auto cell = [](const std::string& number) { return "<td class=\"number\">" + number + "</td>"; };
  EXPECT_NE(page.find(cell("7") + "<td>a</td>" + cell("50") + cell("100") + cell("2") + cell("0.2449") +
                      cell("0.2") + cell("0.3")),
            std::string::npos)
      << page.substr(page.find("Lowest loss"), 1500);
}

TEST_F(ScaleFigures, ForeignNamesActNowhere) {
  const std::string name = "<script>alert(1)</script>`touch PWNED`";
  std::string table = contents(at("runs.csv"));
  for (size_t i = 0; (i = table.find("baseline", i)) != std::string::npos; i += name.size()) {
    table.replace(i, 8, name);
  }
  std::ofstream(at("odd.csv")) << table;
  ASSERT_EQ(weyl("report odd.csv --bootstraps 0 --out odd.html -q").code, 0);
  ASSERT_EQ(weyl("plot odd.csv --bootstraps 0 --out odd -q").code, 0);
  EXPECT_EQ(contents(at("odd.html")).find("<script"), std::string::npos);
  EXPECT_NE(contents(at("odd.html")).find("&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(contents(at("odd/isoflops.svg")).find("<script"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(at("PWNED")));
}

TEST_F(ScaleFigures, RefusesWithOneLine) {
  std::ofstream(at("none.json")) << "{}";
  std::filesystem::create_directories(at("empty"));
  refused("plot fit.json -q", 2, "--out is required");
  refused("plot no.csv --out p", 3, "no.csv: cannot be opened");
  refused("plot empty --out p", 3, "empty/runs.csv: cannot be opened");
  refused("plot none.json --out p", 3, "none.json: must be what `weyl scale fit --out` writes");
  refused("plot fit.json fit.json --out p", 2, "system 'baseline': must stand in one fit alone");
  refused("plot fit.json --bootstraps 100 --out p", 2, "--bootstraps: a fit is given");
  refused("plot runs.csv --bootstraps 3 --out p", 2, "--bootstraps: must be 0 or at least 100, got 3");
  refused("plot fit.json --out runs.csv -q", 3, "runs.csv: must be a folder");
  refused("report fit.json --out r.html", 2, "a fit is given with --fit fit.json");
  refused("report runs.csv --fit runs.csv --out r.html", 2, "--fit: must be a .json file");
  EXPECT_FALSE(std::filesystem::exists(at("p")));
}

}  // namespace scale_figures_test
}  // namespace weyl
