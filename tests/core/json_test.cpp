#include "weyl/core/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "weyl/core/check.h"

namespace weyl {
namespace json_test {

TEST(Json, KeepsTheOrderOfKeysAndReplacesEarlierValues) {
  Json json = Json::object();
  json.set("b", 1).set("a", 2.5).set("b", "three");
  EXPECT_EQ(json.dump(), "{\n  \"b\": \"three\",\n  \"a\": 2.5\n}");
}

TEST(Json, WritesNumbersThatJsonLacksAsNull) {
  Json json = Json::array();
  json.add(std::numeric_limits<double>::quiet_NaN()).add(std::numeric_limits<double>::infinity()).add(0.1);
  const Json back = Json::parse(json.dump(), "test");
  ASSERT_EQ(back.items().size(), 3u);
  EXPECT_EQ(back.items()[0].number_or(-1), -1);
  EXPECT_EQ(back.items()[1].number_or(-1), -1);
  EXPECT_EQ(back.items()[2].number_or(-1), 0.1);
}

TEST(Json, ReadsBackWhatItWrote) {
  Json inner = Json::object();
  inner.set("flag", true).set("big", int64_t{1} << 60).set("text", "a \"quoted\"\nline \xff");
  const Json back = Json::parse(Json::object().set("inner", inner).dump(), "test");
  const Json* read = back.find("inner");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->find("big")->number_or(0), static_cast<double>(int64_t{1} << 60));
  EXPECT_EQ(read->find("text")->string_or(""), "a \"quoted\"\nline \xef\xbf\xbd");
  EXPECT_EQ(back.find("absent"), nullptr);
}

TEST(Json, RefusesTextThatIsNoJsonAndNamesWhere) {
  try {
    Json::parse("{\"a\": }", "model.safetensors: interface");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("model.safetensors: interface", 0), 0u);
  }
}

std::string nested(int64_t depth, const std::string& begin, const std::string& end) {
  std::string text;
  for (int64_t i = 0; i < depth; ++i) {
    text += begin;
  }
  for (int64_t i = 0; i < depth; ++i) {
    text += end;
  }
  return text;
}

// A model whose metadata nested 20,000 arrays ended `weyl info` by SIGSEGV.
TEST(Json, NestsNoDeeperThanItsLimit) {
  EXPECT_NO_THROW(Json::parse(nested(json_depth_limit, "[", "]"), "test"));
  for (const int64_t depth : {json_depth_limit + 1, int64_t{20'000}, int64_t{1'000'000}}) {
    try {
      Json::parse(nested(depth, "[", "]"), "m.safetensors: metadata 'training'");
      FAIL() << depth;
    } catch (const DataError& error) {
      EXPECT_STREQ(error.what(), "m.safetensors: metadata 'training': JSON must nest at most 64 deep");
    }
    EXPECT_THROW(Json::parse(nested(depth, "{\"a\":[", "]}"), "test"), DataError) << depth;
    EXPECT_THROW(Json::parse(nested(depth, "[", ""), "test"), DataError) << depth;
  }
}

std::string text_of_keys(int64_t count) {
  Json json = Json::object();
  for (int64_t i = 0; i < count; ++i) {
    json.set("key" + std::to_string(i), i);
  }
  json.set("key7", "again");
  return json.dump();
}

// 80,000 keys took 12 seconds. These would take eight minutes, and CTest allows five.
TEST(Json, ManyKeysAreSetFoundAndWritten) {
  constexpr int64_t count = 500'000;
  const Json back = Json::parse(text_of_keys(count), "test");
  const Json copy = back;
  ASSERT_EQ(copy.members().size(), static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const Json* found = copy.find("key" + std::to_string(i));
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(found->number_or(-1), i == 7 ? -1 : static_cast<double>(i));
    ASSERT_EQ(found, &copy.members()[static_cast<size_t>(i)].second) << "the order is that of the text";
  }
  EXPECT_EQ(copy.find("key7")->string_or(""), "again");
  EXPECT_EQ(copy.find("key"), nullptr);
}

TEST(Json, OfAKeyTwiceTheLastValueCounts) {
  for (const int64_t before : {0, 40}) {
    std::string text = "{\"a\":1";
    for (int64_t i = 0; i < before; ++i) {
      text += ",\"" + std::to_string(i) + "\":0";
    }
    const Json json = Json::parse(text + ",\"a\":2}", "test");
    EXPECT_EQ(json.members().size(), static_cast<size_t>(before + 1));
    EXPECT_EQ(json.find("a")->number_or(0), 2);
  }
}

TEST(Json, HoldsNoMoreValuesThanItsLimit) {
  std::string text = "[0";
  for (int64_t i = 1; i < json_values_limit; ++i) {
    text += ",0";
  }
  EXPECT_THROW(Json::parse(text + "]", "test"), DataError);  // with the array itself one too many
  text.resize(text.size() - 2);
  EXPECT_NO_THROW(Json::parse(text + "]", "test"));
}

TEST(Json, AWholeNumberBeyond63BitsIsRead) {
  EXPECT_EQ(Json::parse("18446744073709551615", "test").number_or(0), 0x1p64);
  EXPECT_EQ(Json::parse("-9223372036854775808", "test").number_or(0), -0x1p63);
}

}  // namespace json_test
}  // namespace weyl
