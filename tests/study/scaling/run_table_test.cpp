// Tables of runs: what is taken, what is refused by line, what is no table; every file of tests/fixtures/broken/runs.
#include "weyl/study/scaling/tables.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "weyl/core/check.h"

namespace weyl {
namespace run_table_test {

TEST(RunTable, TakesColumnsInAnyOrderAndIgnoresOthers) {
  const RunTable table = parse_runs(
      "\xef\xbb\xbf"
      "note,loss,tokens,system,budget,parameters,unique_tokens,flops,size\r\n"
      "\"first, of two\",1e-3,2e6,gatr,1e10,1534,1e6,1.5e10,1\r\n"
      "\r\n"
      "# a remark\r\n"
      " , 0.5 , 7 ,\"a \"\"b\"\"\", , 3 , , ,\r\n",
      "runs.csv");
  EXPECT_TRUE(table.refused.empty());
  ASSERT_EQ(table.runs.size(), 2u);
  const ScalingRun& run = table.runs[0];
  EXPECT_EQ(run.system, "gatr");
  EXPECT_EQ(run.parameters, 1534);
  EXPECT_EQ(run.tokens, 2e6);
  EXPECT_EQ(run.loss, 1e-3);
  EXPECT_EQ(run.flops, 1.5e10);
  EXPECT_EQ(run.unique_tokens, 1e6);
  EXPECT_EQ(run.budget, 1e10);
  EXPECT_EQ(run.line, 2);
  EXPECT_EQ(table.runs[1].system, "a \"b\"");
  EXPECT_FALSE(table.runs[1].flops);
  EXPECT_EQ(table.runs[1].line, 5);
  EXPECT_EQ(table.systems(), (std::vector<std::string>{"gatr", "a \"b\""}));
}

TEST(RunTable, RefusesBadRowsByLineAndTakesTheRest) {
  const RunTable table = parse_runs(
      "system,parameters,tokens,loss,flops\n"
      "a,1,2,3,4\n"
      "a,1,2,,4\n"      // missing
      "a,-1,2,3,4\n"    // negative
      "a,1,0,3,4\n"     // zero
      "a,1,2,nan,4\n"   // no number
      "a,1,2,inf,4\n"   // not finite
      "a,one,2,3,4\n"   // text
      "a,1,2,3,free\n"  // text where nothing need be
      ",1,2,3,4\n"      // nobody's
      "a,1,2,3\n"       // cells
      "a,1,2,1e999,4\n"
      "b,1,2,3,\n",
      "runs.csv");
  ASSERT_EQ(table.runs.size(), 2u);
  EXPECT_EQ(table.runs[1].line, 13);
  const std::vector<std::pair<int64_t, std::string>> expected{
      {3, "loss is missing"},
      {4, "parameters must be positive and finite, got '-1'"},
      {5, "tokens must be positive and finite, got '0'"},
      {6, "loss must be positive and finite, got 'nan'"},
      {7, "loss must be positive and finite, got 'inf'"},
      {8, "parameters must be a number, got 'one'"},
      {9, "flops must be a number, got 'free'"},
      {10, "system is missing"},
      {11, "must have 5 cells, got 4"},
      {12, "loss must be a number, got '1e999'"}};
  ASSERT_EQ(table.refused.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(table.refused[i].line, expected[i].first);
    EXPECT_EQ(table.refused[i].reason, expected[i].second);
  }
}

TEST(RunTable, TellsOnlySoManyBadRows) {
  std::string rows = "system,parameters,tokens,loss\n";
  for (int i = 0; i < 5000; ++i) {
    rows += "a,1,2,x\n";
  }
  const RunTable table = parse_runs(rows, "runs.csv");
  ASSERT_EQ(table.refused.size(), 1001u);
  EXPECT_EQ(table.refused.back().reason, "this and others after it are refused likewise");
}

// Each file is refused with a line that names it and says this.
TEST(RunTable, BrokenFiles) {
  const std::string folder = WEYL_SOURCE_DIR "/tests/fixtures/broken/runs/";
  const std::vector<std::pair<std::string, std::string>> expected{
      {"empty.csv", "must be a CSV file with a header of columns, holds nothing"},
      {"blank.csv", "must be a CSV file with a header of columns, holds nothing"},
      {"no_loss.csv", "must have the columns system, parameters, tokens, loss; 'loss' is missing in "},
      {"loss_twice.csv", "column 'loss' is there twice"},
      {"semicolons.csv", "'system' is missing in 'system;parameters;tokens;loss'"},
      {"binary.csv", "'system' is missing in "},
      {"long_line.csv", ":2: a line must have at most 65536 characters, got 70000"},
      {"many_systems.csv", ": must have at most 1000 systems"}};
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, expected.size());
  for (const auto& [name, words] : expected) {
    try {
      read_runs(folder + name);
      ADD_FAILURE() << name << " is taken";
    } catch (const DataError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_NE(message.find(words), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
  EXPECT_THROW(read_runs(folder + "none.csv"), DataError);
  EXPECT_THROW(read_runs(folder), DataError);
}

}  // namespace run_table_test
}  // namespace weyl
