#include "weyl/core/check.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

namespace weyl {
namespace check_test {

struct Streamed {
  int x;
};
std::ostream& operator<<(std::ostream& out, const Streamed& s) {
  return out << "streamed " << s.x;
}
enum Plain { kSeven = 7 };

/// What `text` writes is what a stream writes.
template <class... Parts>
void expect_as_streamed(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  EXPECT_EQ(text(parts...), out.str());
}

TEST(Check, TextIsWhatAStreamWrites) {
  const std::string word("with a \0 inside", 15);
  expect_as_streamed("literal ", word, std::string_view("view").substr(1), word.c_str(), std::string());
  expect_as_streamed('c', static_cast<signed char>('s'), static_cast<unsigned char>('u'), true, false);
  expect_as_streamed(std::numeric_limits<int64_t>::min(), ' ', std::numeric_limits<uint64_t>::max(), ' ',
                     short{-3}, ' ', 0u);
  expect_as_streamed(Streamed{3}, kSeven, std::filesystem::path("a b"));
  for (const double x :
       {0.0, -0.0, 1.0, 0.1, 1.0 / 3, 123456.0, 1234567.0, 999999.5, 1e-4, 1e-5, 0.00012345678, 1e100, 5e-324,
        std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::nan(""), -std::nan("")}) {
    expect_as_streamed(x, " and ", -x, " and ", static_cast<float>(x));
  }
}

TEST(Check, RequireThrowsTheKindAskedForWithItsText) {
  EXPECT_NO_THROW(require(true, "never"));
  try {
    require<DataError>(false, "file ", 3, ": ", 0.5);
    FAIL() << "did not throw";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "file 3: 0.5");
  }
  EXPECT_THROW(require(false, "shape"), ShapeError);
}

}  // namespace check_test
}  // namespace weyl
