// What one rank writes another reads to the bit, and what is cut short is refused.
#include "weyl/parallel/message.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "weyl/core/check.h"

namespace weyl {
namespace message_test {

struct Told {
  int64_t count = 0;
  double sum = 0;
  bool yes = false;
  std::string word;
  std::vector<double> list;
  std::vector<std::map<std::string, Tensor>> tables;
  Tensor none;

  void tell(Message& m) { m(count, sum, yes, word, list, tables, none); }
};

Told example() {
  Told told{-3, 1e-300, true, std::string("a\0b", 3), {NAN, -0.0, 1e22}, {}, {}};
  told.tables.push_back(
      {{"x", at::arange(6, at::kFloat).view({2, 3}).t()}, {"y", at::empty({0, 4}, at::kLong)}});
  told.tables.emplace_back();
  return told;
}

TEST(Message, IsReadAsItWasWritten) {
  Told told = example(), read;
  read.none = at::ones({2});
  read.tables.resize(5);
  Message out;
  told.tell(out);
  Message in(out.bytes());
  read.tell(in);
  EXPECT_EQ(read.count, -3);
  EXPECT_EQ(read.sum, 1e-300);
  EXPECT_TRUE(read.yes);
  EXPECT_EQ(read.word, told.word);
  ASSERT_EQ(read.list.size(), 3u);
  EXPECT_TRUE(std::isnan(read.list[0]) && std::signbit(read.list[1]) && read.list[2] == 1e22);
  ASSERT_EQ(read.tables.size(), 2u);
  EXPECT_TRUE(at::equal(read.tables[0].at("x"), told.tables[0].at("x")));
  EXPECT_EQ(read.tables[0].at("y").sizes(), at::IntArrayRef({0, 4}));
  EXPECT_EQ(read.tables[0].at("y").scalar_type(), at::kLong);
  EXPECT_TRUE(read.tables[1].empty());
  EXPECT_FALSE(read.none.defined());
  Message again;
  read.tell(again);
  EXPECT_EQ(again.bytes().size(), out.bytes().size());
}

TEST(Message, CutShortIsRefused) {
  Told told = example();
  Message out;
  told.tell(out);
  for (size_t size = 0; size < out.bytes().size(); ++size) {
    Told read;
    Message in(out.bytes().substr(0, size));
    EXPECT_THROW(read.tell(in), ShapeError) << size;
  }
}

}  // namespace message_test
}  // namespace weyl
