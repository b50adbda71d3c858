#include <gtest/gtest.h>

#include <array>

#include "tests/config/kitchen.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"

namespace weyl {
namespace describe_test {

/// On, off, or as the rest has it.
enum class Lamp { automatic, off, on };
constexpr auto names_of(Lamp) {
  return std::array<std::string_view, 3>{"auto", "false", "true"};
}
struct Room {
  Lamp lamp = Lamp::automatic;
};
void fields(Fields& f, Room& r) {
  f("lamp", r.lamp, "gives light");
}

Visit visit(Kitchen& k) {
  return [&k](Fields& f) { fields(f, k); };
}

std::string explained(std::string_view key) {
  Kitchen k;
  try {
    return explain(visit(k), key);
  } catch (const ConfigError& e) {
    return e.what();
  }
}

/// What a schema says at a path of keys and places, in its own writing.
std::string said(const std::string& schema, std::initializer_list<std::string_view> path) {
  const Json whole = Json::parse(schema, "schema");
  const Json* at = &whole;
  for (const std::string_view key : path) {
    if (!at->items().empty()) {
      at = &at->items().at(static_cast<size_t>(key.front() - '0'));
    } else if (at = at->find(key); at == nullptr) {
      return "absent";
    }
  }
  return at->dump();
}

/// JSON as it is written.
std::string written(std::string_view json) {
  return Json::parse(json, "expected").dump();
}

TEST(Describe, LeavesTheOptionsAlone) {
  Kitchen k;
  k.dishes = {{.name = "pie"}, {.name = "tea"}};
  k.bell.reset();
  const Kitchen before = k;
  describe_markdown(visit(k), "Kitchens");
  describe_json_schema(visit(k));
  explain(visit(k), "dishes");
  EXPECT_EQ(k, before);
}

TEST(Describe, MarkdownHasARowForEveryKeyAndASectionForEveryTable) {
  Kitchen k;
  const std::string page = describe_markdown(visit(k), "Kitchens");
  EXPECT_EQ(page.find("# Kitchens\n"), 0u);
  for (const char* line :
       {"| `chairs` | an integer from 1 to 1000 | `4` | seats |",
        "| `area` | a number of at least 0 | `12.5` | square metres |",
        "| `heat` | \"low\", \"medium\" or \"high\" | `\"medium\"` | of the stove |",
        "| `limit` | a number from 0 to 1000000 or false | `false` | of money |",
        "| `floor` | an integer from -2 to 100 or false | `3` | of the house |",
        "| `hours` | a list, each an integer from 0 to 24 | `[8, 20]` | open from and to |",
        "| `pressure` | a number from 0.5 to 4 | `1.5` | bar \\| at the valve |", "## `[clock]`",
        "## `[[dishes]]`", "## `[dishes.timer]`", "## `[gas]`", "## `[induction]`", "## `[induction.timer]`",
        "Options of `stove = \"gas\"`.", "Optional, off by default: `bell = false` switches it off",
        "Optional, on by default: `alarm = false` switches it off"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line << "\n" << page;
  }
}

TEST(Describe, TheJsonSchemaStatesTypesRangesAndDefaults) {
  Kitchen k;
  const std::string schema = describe_json_schema(visit(k));
  EXPECT_TRUE(schema.starts_with("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"));
  EXPECT_EQ(said(schema, {"additionalProperties"}), "false");
  const auto property = [&](std::initializer_list<std::string_view> path) {
    return said(said(schema, {"properties"}), path);
  };
  EXPECT_EQ(property({"chairs"}),
            written(R"({"type":"integer","minimum":1,"maximum":1000,"description":"seats","default":4})"));
  EXPECT_EQ(property({"area"}),
            written(R"({"type":"number","minimum":0,"description":"square metres","default":12.5})"));
  EXPECT_EQ(property({"heat", "enum"}), written(R"(["low","medium","high"])"));
  EXPECT_EQ(property({"hours"}),
            written(R"({"type":"array","items":{"type":"integer","minimum":0,"maximum":24},
      "description":"open from and to","default":[8,20]})"));
  EXPECT_EQ(property({"limit"}),
            written(R"({"anyOf":[{"const":false},{"type":"number","minimum":0,"maximum":1000000}],
      "description":"of money","default":false})"));
  EXPECT_EQ(property({"bell", "anyOf", "0"}), written(R"({"type":"boolean"})"));
  EXPECT_EQ(property({"bell", "default"}), "false");
  EXPECT_EQ(property({"alarm", "default"}), "true");
  EXPECT_EQ(property({"alarm", "anyOf", "1", "properties", "minutes", "default"}), "7.0");
  EXPECT_EQ(property({"dishes", "items", "properties", "timer", "additionalProperties"}), "false");
  EXPECT_EQ(property({"gas", "properties", "pressure", "maximum"}), "4");
  EXPECT_EQ(property({"stove", "enum"}), written(R"(["gas","induction"])"));
  EXPECT_EQ(property({"owner", "default"}), "\"nobody\"");
}

TEST(Explain, TellsWhatAKeyOrATableHolds) {
  EXPECT_EQ(explained("chairs"), "chairs\n  seats\n  must be an integer from 1 to 1000; default 4\n");
  EXPECT_EQ(explained("clock"),
            "[clock]\n  on the wall\n  must be a table\n    minutes  minutes to wait (5.0)\n    loud     "
            "ring at the end (true)\n");
  EXPECT_EQ(explained("induction.timer.loud"),
            "induction.timer.loud\n  ring at the end\n  must be true or false; default true\n");
  EXPECT_EQ(explained("watts"),
            "induction.watts\n  power\n  must be an integer of at least 0; default 2000\n");
  EXPECT_NE(explained("dishes.guests").find("how many eat"), std::string::npos);
}

TEST(Describe, HelpPagesListEveryKeyWithWhatItMustBe) {
  Kitchen k;
  const std::string page = describe_keys(visit(k));
  size_t width = 0;
  for (const char* key : {"chairs", "area", "heat", "limit", "clock"}) {
    const size_t line = page.find(text("  ", key, " "));
    ASSERT_NE(line, std::string::npos) << key << "\n" << page;
    const size_t help = page.find_first_not_of(' ', line + 2 + std::string_view(key).size()) - line;
    EXPECT_TRUE(width == 0 || width == help) << key << "\n" << page;  // one column
    width = help;
    EXPECT_EQ(page.find("must be ", line), page.find('\n', line) + 1 + width) << key << "\n" << page;
  }
  EXPECT_NE(page.find("must be an integer from 1 to 1000; default 4\n"), std::string::npos);
  EXPECT_NE(page.find("must be a number from 0 to 1000000 or false; default false\n"), std::string::npos);
  EXPECT_NE(page.find("must be a table, true or false; off by default\n"), std::string::npos);
}

TEST(Explain, NamesTheNearestKeyOnAMiss) {
  EXPECT_EQ(explained("chiars"), "chiars: must be a key or table of the config; did you mean 'chairs'?");
  EXPECT_EQ(explained("induction.wats"),
            "induction.wats: must be a key or table of the config; did you mean 'induction.watts'?");
  EXPECT_EQ(explained("wats"), "wats: must be a key or table of the config; did you mean 'induction.watts'?");
  EXPECT_EQ(explained("zebra"), "zebra: must be a key or table of the config");
  EXPECT_EQ(explained("minutes"),
            "minutes: must be a key or table of the config; there are clock.minutes, alarm.minutes, "
            "bell.minutes, dishes.timer.minutes, induction.timer.minutes");
}

// Where names of a choice are true and false, they are the booleans that they look like.
TEST(Choice, MayHaveTrueAndFalseBesideAWord) {
  Room room;
  const Visit visit_room = [&room](Fields& f) { fields(f, room); };
  const auto read = [&](const std::string& toml, std::vector<std::string> overrides = {}) {
    room = {};
    read_toml_text(toml, "r.toml", overrides, visit_room);
    return room.lamp;
  };
  EXPECT_EQ(read(""), Lamp::automatic);
  EXPECT_EQ(read("lamp = true"), Lamp::on);
  EXPECT_EQ(read("lamp = false"), Lamp::off);
  EXPECT_EQ(read("lamp = 'auto'"), Lamp::automatic);
  EXPECT_EQ(read("lamp = true", {"lamp=false"}), Lamp::off);
  EXPECT_EQ(read("lamp = true", {"lamp=auto"}), Lamp::automatic);
  for (const char* wrong : {"lamp = 1", "lamp = 'on'"}) {
    try {
      read(wrong);
      FAIL() << wrong;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("lamp: must be \"auto\", false or true, got "),
                std::string::npos)
          << error.what();
    }
  }
  for (const auto& [lamp, line] : {std::pair(Lamp::automatic, "lamp = \"auto\"\n"),
                                   {Lamp::off, "lamp = false\n"},
                                   {Lamp::on, "lamp = true\n"}}) {
    room.lamp = lamp;
    const std::string written = write_toml(visit_room);
    EXPECT_EQ(written, line);
    EXPECT_EQ(read(written), lamp);
  }
  room = {};
  const std::string schema = describe_json_schema(visit_room);
  EXPECT_EQ(said(schema, {"properties", "lamp", "enum"}), written(R"(["auto",false,true])"));
  EXPECT_EQ(said(schema, {"properties", "lamp", "type"}), "absent");
  EXPECT_EQ(said(schema, {"properties", "lamp", "default"}), "\"auto\"");
}

}  // namespace describe_test
}  // namespace weyl
