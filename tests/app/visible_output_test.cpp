#include "weyl/app/terminal/visible_output.h"

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "weyl/core/json.h"

namespace weyl {
namespace visible_output_test {

/// What std::cout gets of what `print` prints.
template <class Print>
std::string printed(const Print& print) {
  std::ostringstream seen;
  std::streambuf* const before = std::cout.rdbuf(seen.rdbuf());
  {
    const VisibleOutput visible_output;
    print();
  }
  std::cout.rdbuf(before);
  return seen.str();
}

TEST(VisibleOutput, ShowsWhatWouldAct) {
  EXPECT_EQ(printed([] { std::cout << "a\x1b[31m" << '\r' << "b\tc\n"
                                   << 12 << "\n"; }),
            "a\\x1b[31m\\x0db\tc\n12\n");
  EXPECT_EQ(printed([] { std::cout << "no end"; }), "no end");
  EXPECT_EQ(printed([] { std::cout << '\xc3' << '\x85' << "\n"
                                   << std::flush; }),
            "Å\n");  // a character in two pieces
}

TEST(VisibleOutput, LeavesJsonWhatItIs) {
  const std::string name = "\x1b[31m \xc2\x9b \x7f \xe2\x80\xae Å \"q\" \\";
  const std::string text = printed([&] { std::cout << Json::object().set("name", name).dump() << "\n"; });
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_EQ(Json::parse(text, "stdout").find("name")->string_or(""), name);
}

TEST(VisibleOutput, TellsOfAFailedWrite) {
  struct Full : std::streambuf {
  } full;
  std::streambuf* const before = std::cout.rdbuf(&full);
  {
    const VisibleOutput visible_output;
    std::cout << "text\n" << std::flush;
    EXPECT_FALSE(std::cout.good());
  }
  std::cout.clear();
  std::cout.rdbuf(before);
}

}  // namespace visible_output_test
}  // namespace weyl
