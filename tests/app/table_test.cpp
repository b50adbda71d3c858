// Tables as HTML, Markdown, CSV and LaTeX: the same cells, and words from elsewhere are markup in none of them.
#include "weyl/app/draw/table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/program.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace table_test {

bool holds(const std::string& words, const std::string& part) {
  return words.find(part) != std::string::npos;
}

TEST(Tables, SayTheSameInEachForm) {
  const std::vector<Table> tables{
      {"Losses",
       "mean ± spread",
       {{"run", "mse / Å²", "steps"}, {"et-seed*", "0.25 ± 0.01", "-3"}, {"gatr", "0.5", "-"}}},
      {"Second", "", {{"a"}, {"b"}}}};
  EXPECT_EQ(
      markdown_of(tables),
      "## Losses\n\nmean ± spread\n\n| run | mse / Å² | steps |\n|---|---|---|\n| et-seed\\* | 0.25 ± 0.01 | -3 |\n"
      "| gatr | 0.5 | - |\n\n## Second\n\n| a |\n|---|\n| b |\n");
  // Numbers stay numbers, so that a spreadsheet reads them: a spread has a column of its own, and -3 is no formula.
  EXPECT_EQ(
      csv_of(tables),
      "# Losses\nrun,mse / Å²,\"mse / Å², spread\",steps\net-seed*,0.25,0.01,-3\ngatr,0.5,,\n\n# Second\na\nb\n");
  EXPECT_EQ(
      latex_of({tables[0]}),
      "\\begin{table}\n\\caption{Losses. mean ± spread}\n\\begin{tabular}{lrr}\n\\hline\nrun & mse / Å² & steps "
      "\\\\\n\\hline\net{-}seed* & 0.25 $\\pm$ 0.01 & {-}3 \\\\\ngatr & 0.5 & {-} \\\\\n\\hline\n\\end{tabular}\n"
      "\\end{table}\n");
  const std::string page = html_of(tables);
  for (const char* part : {"<h3>Losses</h3>", "<th>mse / Å²</th>", "<td class=\"number\">0.25 ± 0.01</td>",
                           "<td>et-seed*</td>", "<h3>Second</h3>"}) {
    EXPECT_TRUE(holds(page, part)) << part << "\n" << page;
  }
}

TEST(Tables, ForeignWordsAreTextInEachForm) {
  const std::string name = "<script>alert(1)</script>|`x`\\input{a}$_{b}&%#\n=HYPERLINK(1)\x1b[31m";
  const std::vector<Table> tables{{name, name, {{"run", name}, {name, "1"}, {"=1+1", "@x"}}}};
  const std::string html = html_of(tables), markdown = markdown_of(tables), csv = csv_of(tables),
                    latex = latex_of(tables);
  for (const std::string& form : {html, markdown, csv, latex}) {
    EXPECT_EQ(form.find('\x1b'), std::string::npos);
  }
  EXPECT_FALSE(holds(html, "<script"));
  EXPECT_TRUE(holds(markdown, "\\<script\\>alert(1)\\</script\\>\\|\\`x\\`\\\\input{a}\\$\\_{b}\\&%\\#"));
  EXPECT_FALSE(holds(latex, "\\input"));
  EXPECT_TRUE(holds(latex, "\\textbackslash{}input\\{a\\}\\$\\_\\{b\\}\\&\\%\\#"));
  EXPECT_TRUE(holds(csv, "\n'=1+1,'@x\n"));
  EXPECT_TRUE(csv.starts_with("run,")) << csv;
  // Each row of the table is one line of each form.
  const auto lines = [](const std::string& words) { return std::ranges::count(words, '\n'); };
  EXPECT_EQ(lines(csv), 3);
  EXPECT_EQ(lines(markdown), 8);
  EXPECT_EQ(lines(latex), 11);
}

}  // namespace table_test
}  // namespace weyl
