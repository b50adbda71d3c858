#include "weyl/core/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/sanitized.h"
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

// As nlohmann's library wrote them, with which files of before were written.
TEST(Json, WritesNumbersAsShortAsTheyReadBack) {
  for (const auto& [x, written] : std::initializer_list<std::pair<double, const char*>>{
           {0, "0.0"},
           {-0.0, "-0.0"},
           {1, "1.0"},
           {-2.5, "-2.5"},
           {0.1, "0.1"},
           {1e-4, "0.0001"},
           {0.00099, "0.00099"},
           {1e-5, "1e-05"},
           {1.25e-7, "1.25e-07"},
           {123456789012345, "123456789012345.0"},
           {999999999999999.9, "999999999999999.9"},
           {1e15, "1e+15"},
           {1.5e100, "1.5e+100"},
           {5e-324, "5e-324"},
           {std::numeric_limits<double>::max(), "1.7976931348623157e+308"}}) {
    EXPECT_EQ(Json(x).dump(), written);
    EXPECT_EQ(Json::parse(written, "test").number_or(NAN), x);
    EXPECT_EQ(std::signbit(Json::parse(written, "test").number_or(NAN)), std::signbit(x));
  }
  EXPECT_EQ(Json(int64_t{7}).dump(), "7");
}

TEST(Json, WritesStringsWithWhatIsNoUtf8Replaced) {
  EXPECT_EQ(json_string("a/\"\\\b\f\n\r\t"), R"("a/\"\\\b\f\n\r\t")");
  EXPECT_EQ(json_string(std::string("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(json_string("\xc3\xa9\xf0\x9f\x98\x80"), "\"\xc3\xa9\xf0\x9f\x98\x80\"");
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(json_string("a\xc3"), "\"a" + replaced + "\"");
  EXPECT_EQ(json_string("\xe2\x82z"), "\"" + replaced + "z\"");
  EXPECT_EQ(json_string("\xe0\x80"), "\"" + replaced + replaced + "\"");  // too long for its code
  EXPECT_EQ(json_string("\xed\xa0\x80"), "\"" + replaced + replaced + replaced + "\"");  // a surrogate
  EXPECT_EQ(json_string("\xf4\x90"), "\"" + replaced + replaced + "\"");                 // beyond U+10FFFF
}

/// What is said of a text that is no JSON, or "read".
std::string refusal(std::string_view json, JsonDialect dialect = JsonDialect::standard) {
  try {
    JsonReader reader(json, "a: ", dialect);
    while (reader.next() != JsonEvent::end) {
    }
  } catch (const DataError& error) {
    return error.what();
  }
  return "read";
}

TEST(JsonReader, NamesTheLineAndColumnOfEachFault) {
  for (const auto& [json, said] : std::initializer_list<std::pair<std::string_view, std::string>>{
           {"", "a: line 1, column 1: a value is missing"},
           {" \n\t ", "a: line 2, column 3: a value is missing"},
           {"{\n  \"a\": }", "a: line 2, column 8: a value is missing"},
           {"{\"a\": nope}", "a: line 1, column 8: a value is missing"},
           {"tru", "a: line 1, column 4: a value is missing"},
           {"[1 2]", "a: line 1, column 4: a comma or an end is missing"},
           {"[1, 2", "a: line 1, column 6: a comma or an end is missing"},
           {"[1}", "a: line 1, column 3: a comma or an end is missing"},
           {"[1,]", "a: line 1, column 4: a value is missing"},
           {"[,1]", "a: line 1, column 2: a value is missing"},
           {"{\"a\":1,}", "a: line 1, column 8: a key is missing"},
           {"{a:1}", "a: line 1, column 2: a key is missing"},
           {"{\"a\" 1}", "a: line 1, column 6: a colon is missing"},
           {"1 2", "a: line 1, column 3: must end after its value"},
           {"{}{}", "a: line 1, column 3: must end after its value"},
           {std::string_view("1\0", 2), "a: line 1, column 2: must end after its value"},
           {"]", "a: line 1, column 1: a value is missing"},
           {"NaN", "a: line 1, column 1: a value is missing"},
           {"-Infinity", "a: line 1, column 1: a number is none, or too large"},
           {"+1", "a: line 1, column 1: a value is missing"},
           {".5", "a: line 1, column 1: a value is missing"},
           {"1.", "a: line 1, column 1: a number is none, or too large"},
           {"1e+", "a: line 1, column 1: a number is none, or too large"},
           {"-", "a: line 1, column 1: a number is none, or too large"},
           {"01", "a: line 1, column 2: must end after its value"},
           {"1e999", "a: line 1, column 1: a number is none, or too large"},
           {"\"a", "a: line 1, column 3: a string does not end"},
           {"\"a\n\"", "a: line 1, column 3: a string must have no control characters"},
           {"\"\\q\"", "a: line 1, column 3: a string has an escape that is none"},
           {"\"\\u12g4\"", "a: line 1, column 6: an escape \\u must have four digits"},
           {"\"\\ud800x\"", "a: line 1, column 8: a string has half of a surrogate pair"},
           {"\"\\udc00\"", "a: line 1, column 8: a string has half of a surrogate pair"},
           {"\"a\xff\"", "a: line 1, column 3: a string must be UTF-8"},
           {"\"\xed\xa0\x80\"", "a: line 1, column 2: a string must be UTF-8"},
           {"\xef\xbb\xbf[]", "read"},
           {"\"\\ud83d\\ude00 \x7f\"", "read"},
           {"[-0, 0.5E-3, 1e-999, 10e+2]", "read"}}) {
    EXPECT_EQ(refusal(json), said) << json;
  }
  EXPECT_EQ(refusal(std::string(1'000'000, '[')), "a: line 1, column 1000001: a value is missing");
}

TEST(JsonReader, OfPythonTakesItsNumbersAndHalvesOfPairs) {
  for (const char* json : {"NaN", "[Infinity, -Infinity]", "{\"a\": NaN}", "\"\\ud800\"", "\"\\ud800\\n\""}) {
    EXPECT_NE(refusal(json), "read") << json;
    EXPECT_EQ(refusal(json, JsonDialect::python), "read") << json;
  }
  for (const char* json :
       {"nan", "-NaN", "+Infinity", "Inf", "-I", "--1", "01", "[1, 2", "'a'", "\"\xff\""}) {
    EXPECT_TRUE(refusal(json, JsonDialect::python).starts_with("a: byte ")) << json;
  }
  JsonReader reader("[-Infinity,\"\\ud800\"]", "", JsonDialect::python);
  EXPECT_EQ(reader.next(), JsonEvent::begin_array);
  EXPECT_EQ(reader.next(), JsonEvent::number);
  EXPECT_EQ(reader.real(), -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(reader.integer());
  EXPECT_EQ(reader.next(), JsonEvent::string);
  EXPECT_EQ(reader.string(), "\xef\xbf\xbd");
}

TEST(JsonReader, SaysWhatStandsWhere) {
  JsonReader reader(" {\"k\": [-12, 1.5e1, 18446744073709551615, true, null, {}]} ", "");
  EXPECT_EQ(reader.next(), JsonEvent::begin_object);
  EXPECT_EQ(reader.next(), JsonEvent::key);
  EXPECT_EQ(reader.string(), "k");
  EXPECT_EQ(reader.next(), JsonEvent::begin_array);
  EXPECT_EQ(reader.next(), JsonEvent::number);
  EXPECT_EQ(reader.token(), "-12");
  EXPECT_EQ(reader.integer(), -12);
  EXPECT_EQ(reader.begin_byte(), 8u);
  EXPECT_EQ(reader.end_byte(), 11u);
  EXPECT_EQ(reader.next(), JsonEvent::number);
  EXPECT_FALSE(reader.integer());
  EXPECT_EQ(reader.real(), 15);
  EXPECT_EQ(reader.next(), JsonEvent::number);
  EXPECT_EQ(reader.token(), "18446744073709551615");
  EXPECT_FALSE(reader.integer());
  EXPECT_EQ(reader.real(), 0x1p64);
  EXPECT_EQ(reader.next(), JsonEvent::boolean);
  EXPECT_TRUE(reader.boolean());
  EXPECT_EQ(reader.next(), JsonEvent::null);
  for (const JsonEvent event : {JsonEvent::begin_object, JsonEvent::end_object, JsonEvent::end_array,
                                JsonEvent::end_object, JsonEvent::end, JsonEvent::end}) {
    EXPECT_EQ(reader.next(), event);
  }
}

TEST(Json, RefusesTextThatIsNoJsonAndNamesWhere) {
  try {
    Json::parse("{\"a\": }", "model.safetensors: interface");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "model.safetensors: interface: must be valid JSON, line 1, column 7: a value is missing");
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
  constexpr int64_t count = under_sanitizers(50'000, 500'000);
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
