#include "weyl/core/quote.h"

#include <gtest/gtest.h>

namespace weyl {
namespace quote_test {

TEST(Visible, LeavesWhatCanBeRead) {
  for (const char* text : {"", "a b", "Å^2 / (kcal/mol)", "面 Ω é", "{}`@$\"'\\x1b%", "\U0001f600"}) {
    EXPECT_EQ(visible(text), text);
  }
}

TEST(Visible, WritesOutWhatActs) {
  EXPECT_EQ(visible("\x1b]0;owned\x07\x1b[31mred"), "\\x1b]0;owned\\x07\\x1b[31mred");
  EXPECT_EQ(visible("a\nb\rc\td"), "a\\x0ab\\x0dc\\x09d");
  EXPECT_EQ(visible("a\nb\rc\td", "\n\t"), "a\nb\\x0dc\td");
  EXPECT_EQ(visible(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(visible("\x7f"), "\\u007f");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m"),
            "\\u009b31m");  // CSI in one character
  EXPECT_EQ(visible("exe.\xe2\x80\xae"
                    "gnp"),
            "exe.\\u202egnp");  // turns the direction of writing
  EXPECT_EQ(visible("\xe2\x80\xa8"), "\\u2028");
  EXPECT_EQ(visible("a\u200eb\u200fc\u061cd"), "a\\u200eb\\u200fc\\u061cd");  // marks of direction
}

TEST(Visible, WritesOutBytesThatAreNoUtf8) {
  EXPECT_EQ(visible("\x9b"
                    "31m"),
            "\\x9b31m");
  EXPECT_EQ(visible("\xc3"), "\\xc3");
  EXPECT_EQ(visible("\xc3("), "\\xc3(");
  EXPECT_EQ(visible("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(visible("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(visible("\xff\xfe"), "\\xff\\xfe");
}

TEST(CsvCell, NeverBeginsAFormulaAndReadsBack) {
  EXPECT_EQ(csv_cell("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(csv_cell("@SUM(1,2)"), "\"'@SUM(1,2)\"");
  EXPECT_EQ(csv_cell("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(csv_cell("two\nlines\x1b"), "two\\x0alines\\x1b");
  EXPECT_EQ(csv_cell("x;=cmd"), "\"x;=cmd\"");   // another cell where ; separates them
  EXPECT_EQ(csv_cell("x\t=cmd"), "x\\x09=cmd");  // no tab is left to separate any
  std::string line;
  const std::vector<std::string> words{"=1+1", "+a",       "-b", "@c,d", "plain", "", "say \"hi\", you",
                                       "x;=y", "'quoted'", "Å"};
  for (const std::string& word : words) {
    line += line.empty() ? "" : ",";
    line += csv_cell(word);
  }
  EXPECT_EQ(csv_cells(line), words);
  EXPECT_EQ(csv_cells(""), std::vector<std::string>{""});
  EXPECT_EQ(csv_cells("1,,2"), (std::vector<std::string>{"1", "", "2"}));
}

}  // namespace quote_test
}  // namespace weyl
