#include "weyl/core/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "weyl/core/check.h"

namespace weyl {
namespace {

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

}  // namespace
}  // namespace weyl
