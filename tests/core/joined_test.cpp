#include "weyl/core/quote.h"

#include <gtest/gtest.h>

#include <vector>

#include "weyl/core/text_number.h"

namespace weyl {
namespace joined_test {

TEST(Joined, PutsATextBetweenWords) {
  const std::vector<std::string> words{"a", "", "c\n"};
  EXPECT_EQ(joined(words), "a, , c\n");
  EXPECT_EQ(joined(words, "|"), "a||c\n");
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
  EXPECT_EQ(joined_printable(words), "a, , c\\x0a");
}

TEST(ShortNumber, HasFourDigits) {
  EXPECT_EQ(short_number(0.123456), "0.1235");
  EXPECT_EQ(short_number(1234567890), "1.235e+09");
  EXPECT_EQ(short_number(3), "3");
}

}  // namespace joined_test
}  // namespace weyl
