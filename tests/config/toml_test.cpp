#include "weyl/config/toml.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/config/kitchen.h"
#include "weyl/core/check.h"

namespace weyl {
namespace toml_test {

Kitchen read(std::string_view toml, std::vector<std::string> overrides = {}) {
  Kitchen k;
  read_toml_text(toml, "k.toml", overrides, [&](Fields& f) { fields(f, k); });
  return k;
}

std::string message(std::string_view toml, std::vector<std::string> overrides = {}) {
  try {
    read(toml, std::move(overrides));
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(ReadToml, AnEmptyFileGivesTheDefaults) {
  EXPECT_EQ(read(""), Kitchen{});
}

TEST(ReadToml, ReadsEveryKindOfField) {
  const Kitchen k = read(R"(
    open = true
    chairs = 6
    area = 20            # an integer serves for a number
    owner = "Ada"
    heat = "high"
    hours = [9, 17]
    widths = [1, 0.5]
    plan = [[0, 0], [1.5, 2]]
    limit = 10.5
    floor = false
    oven = "low"
    motto = "eat"
    alarm = false
    bell = true
    dishes = [{name = "soup"}, {name = "pie", guests = 3, herbs = [], timer = {minutes = 1}}]
    stove = "induction"
    [clock]
    minutes = 2
    [induction]
    watts = 100
    timer.loud = false
    [gas]
    pressure = 3
  )");
  Kitchen e;
  e.open = true, e.chairs = 6, e.area = 20, e.owner = "Ada", e.heat = Heat::high, e.hours = {9, 17};
  e.widths = {1, 0.5}, e.plan = {{0, 0}, {1.5, 2}}, e.limit = 10.5, e.floor.reset(), e.oven = Heat::low;
  e.motto = "eat", e.alarm.reset(), e.bell = Timer{}, e.clock.minutes = 2;
  e.dishes = {{.name = "soup"}, {.name = "pie", .guests = 3, .herbs = {}, .timer = {.minutes = 1}}};
  e.stove = InductionStove{100, Timer{5, false}};
  EXPECT_EQ(k, e);
}

TEST(ReadToml, AnOptionalStructKeepsItsOwnDefaults) {
  EXPECT_EQ(read("alarm = true").alarm, (Timer{7, false}));
  EXPECT_EQ(read("[alarm]\nloud = true").alarm, (Timer{7, true}));
  EXPECT_EQ(read("[bell]").bell, Timer{});
  EXPECT_EQ(read("bell = false").bell, std::nullopt);
}

TEST(ReadToml, AnArrayOfTablesReplacesAllItems) {
  Kitchen k;
  k.dishes = {{.name = "soup", .guests = 9}, {.name = "pie"}};
  const auto visit = [&](Fields& f) { fields(f, k); };
  read_toml_text("", "k.toml", {}, visit);
  EXPECT_EQ(k.dishes.size(), 2u);
  read_toml_text("[[dishes]]\nname = 'tea'", "k.toml", {}, visit);
  EXPECT_EQ(k.dishes, (std::vector<Dish>{{.name = "tea"}}));
  read_toml_text("dishes = []", "k.toml", {}, visit);
  EXPECT_TRUE(k.dishes.empty());
}

TEST(ReadToml, NamesFileLineKeyAndWhatMustHold) {
  EXPECT_EQ(message("open = true\nchairs = 0"),
            "k.toml:2: chairs: must be an integer from 1 to 1000, got the integer 0");
  EXPECT_EQ(message("chairs = 2.0"),
            "k.toml:1: chairs: must be an integer from 1 to 1000, got the number 2.0");
  EXPECT_EQ(message("chairs = true"), "k.toml:1: chairs: must be an integer from 1 to 1000, got true");
  EXPECT_EQ(message("area = -1"), "k.toml:1: area: must be a number of at least 0, got the integer -1");
  EXPECT_EQ(message("area = nan"),
            "k.toml:1: area: must be a number of at least 0, finite, got the number nan");
  EXPECT_EQ(message("area = inf"),
            "k.toml:1: area: must be a number of at least 0, finite, got the number inf");
  EXPECT_EQ(message("area = '3'"), "k.toml:1: area: must be a number of at least 0, got the string \"3\"");
  EXPECT_EQ(message("open = 1"), "k.toml:1: open: must be true or false, got the integer 1");
  EXPECT_EQ(message("owner = 1979-05-27"), "k.toml:1: owner: must be a string, got a date");
  EXPECT_EQ(message("hours = 3"),
            "k.toml:1: hours: must be a list, each an integer from 0 to 24, got the integer 3");
  EXPECT_EQ(message("hours = [\n1,\n25]"),
            "k.toml:3: hours: must be a list, each an integer from 0 to 24, got the integer 25");
  EXPECT_EQ(message("widths = [0]"),
            "k.toml:1: widths: must be a list, each a number from 0.1 to 3, got the integer 0");
  EXPECT_EQ(message("plan = [1]"), "k.toml:1: plan: must be a list of lists of numbers, got the integer 1");
  EXPECT_EQ(message("plan = [[1, inf]]"),
            "k.toml:1: plan: must be a list of lists of numbers, finite, got the number inf");
  EXPECT_EQ(message("clock = 5"), "k.toml:1: clock: must be a table, got the integer 5");
  EXPECT_EQ(message("[chairs]"), "k.toml:1: chairs: must be an integer from 1 to 1000, got a table");
  EXPECT_EQ(message("dishes = [1]"), "k.toml:1: dishes[0]: must be a table, got the integer 1");
  EXPECT_EQ(message("[dishes]"), "k.toml:1: dishes: must be a list of tables, got a table");
  EXPECT_EQ(message("[[dishes]]\n[[dishes]]\nguests = 13"),
            "k.toml:3: dishes[1].guests: must be an integer from 1 to 12, got the integer 13");
  EXPECT_EQ(message("owner = 5"), "k.toml:1: owner: must be a string, got the integer 5");
}

TEST(ReadToml, SaysThatAnOptionalMayBeFalse) {
  EXPECT_EQ(message("limit = true"),
            "k.toml:1: limit: must be a number from 0 to 1000000 or false, got true");
  EXPECT_EQ(message("oven = 'cold'"),
            "k.toml:1: oven: must be \"low\", \"medium\" or \"high\" or false, got the string \"cold\"");
  EXPECT_EQ(message("bell = 5"), "k.toml:1: bell: must be a table, true or false, got the integer 5");
  EXPECT_EQ(message("bell = {loud = 1}"), "k.toml:1: bell.loud: must be true or false, got the integer 1");
}

TEST(ReadToml, RefusesUnknownKeysAndNamesTheNearest) {
  EXPECT_EQ(message("\nchiars = 3"), "k.toml:2: chiars: unknown key; did you mean 'chairs'?");
  EXPECT_EQ(message("[clock]\nminuts = 3"), "k.toml:2: clock.minuts: unknown key; did you mean 'minutes'?");
  EXPECT_EQ(message("[clock]\nxyz = 3"), "k.toml:2: clock.xyz: unknown key; the keys here are loud, minutes");
  EXPECT_EQ(message("[gass]"), "k.toml:1: gass: unknown key; did you mean 'gas'?");
  EXPECT_EQ(message("[bell]\nlaud = true"), "k.toml:2: bell.laud: unknown key; did you mean 'loud'?");
  EXPECT_EQ(message("[[dishes]]\ntimer.minute = 2"),
            "k.toml:2: dishes[0].timer.minute: unknown key; did you mean 'minutes'?");
}

TEST(ReadToml, ChecksAlternativesThatAreNotChosen) {
  EXPECT_EQ(message("stove = 'gas'\n[induction]\nwats = 3"),
            "k.toml:3: induction.wats: unknown key; did you mean 'watts'?");
  EXPECT_EQ(message("[induction]\nwatts = -3"),
            "k.toml:2: induction.watts: must be an integer of at least 0, got the integer -3");
  EXPECT_EQ(message("induction = 3"), "k.toml:1: induction: must be a table, got the integer 3");
  EXPECT_EQ(read("[induction]\nwatts = 3"), Kitchen{});
  EXPECT_EQ(message("stove = 'inductoin'"),
            "k.toml:1: stove: must be \"gas\" or \"induction\", got the string \"inductoin\"; did you mean "
            "'induction'?");
}

TEST(ReadToml, RefusesWhatIsNotToml) {
  EXPECT_NE(message("open = true\nopen = false").find("k.toml:2: not valid TOML: "), std::string::npos);
  EXPECT_NE(message("open = true\nopen = false").find("open"), std::string::npos);
  EXPECT_NE(message("a = [1,").find("k.toml:1: not valid TOML: "), std::string::npos);
  EXPECT_NE(message("\n\nwhat").find("k.toml:3: not valid TOML: "), std::string::npos);
  EXPECT_NE(message("owner = \"\xff\xfe\"").find("k.toml:1: not valid TOML: "), std::string::npos);
  EXPECT_NE(message("chairs = 99999999999999999999").find("k.toml:1: not valid TOML: "), std::string::npos);
  std::string deep = "a";
  for (int i = 0; i < 100000; ++i) {
    deep += ".a";
  }
  EXPECT_EQ(message(deep + " = 1"), "k.toml: a config must have at most 1000 dots, got 100000");
  EXPECT_NE(message("a = " + std::string(100000, '[')).find("k.toml:1: not valid TOML: "), std::string::npos);
  for (const auto& broken : {"open = \"\n\"", "= 3", "[a", "a = 1 b = 2", "a = \"\\q\""}) {
    EXPECT_EQ(message(broken).find('\n'), std::string::npos) << broken;
  }
  // Just below the limit, nested as deep as can be: nothing overflows.
  std::string nested = "a";
  for (int i = 0; i < 15; ++i) {
    nested += ".a";
  }
  std::string value = "1";
  for (int i = 0; i < 60; ++i) {
    value = "{" + nested + "=" + value + "}";
  }
  EXPECT_EQ(message("x = " + value).substr(0, 28), "k.toml:1: x: unknown key; th");
}

TEST(Overrides, ReplaceWhatTheFileSays) {
  const auto k = read("chairs = 3\nfloor = false\n[clock]\nminutes = 9\nloud = false",
                      {"chairs=8", "clock.minutes = 1.5", "floor=2", "stove=induction", "induction.watts=7",
                       "owner=Bob C.", "hours=[1,2]", "induction.timer=true", "heat=\"low\"",
                       "bell.loud=false", "motto=a=b", "dishes=[{name='tea'}]"});
  EXPECT_EQ(k.chairs, 8);
  EXPECT_EQ(k.clock, (Timer{1.5, false}));
  EXPECT_EQ(k.floor, 2);
  EXPECT_EQ(k.stove, (std::variant<GasStove, InductionStove>(InductionStove{7, Timer{}})));
  EXPECT_EQ(k.owner, "Bob C.");
  EXPECT_EQ(k.hours, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(k.heat, Heat::low);
  EXPECT_EQ(k.bell, (Timer{5, false}));
  EXPECT_EQ(k.motto, "a=b");
  EXPECT_EQ(k.dishes, (std::vector<Dish>{{.name = "tea"}}));
  // A value that the file has wrong does not matter once it is replaced; the last override wins.
  EXPECT_EQ(read("chairs = 'many'", {"chairs=8", "chairs=9"}).chairs, 9);
  EXPECT_EQ(read("bell = false", {"bell.minutes=3"}).bell, (Timer{3, true}));
  EXPECT_EQ(read("", {"owner="}).owner, "");
}

TEST(Overrides, ReachItemsOfDefaults) {
  const Kitchen k = read("", {"hours[1]=22", "hours[0]=9", "hours[1]=21"});
  EXPECT_EQ(k.hours, (std::vector<int64_t>{9, 21}));
  EXPECT_EQ(read("hours = [1, 2, 3]", {"hours[2]=4"}).hours, (std::vector<int64_t>{1, 2, 4}));
  EXPECT_EQ(read("", {"hours[0]=9", "hours=[5]", "hours[0]=6"}).hours, (std::vector<int64_t>{6}));
  EXPECT_EQ(message("", {"hours[2]=1"}), "override 'hours[2]=1': hours has 2 items, numbered from 0, got 2");
  EXPECT_EQ(
      message("", {"hours[0]=25"}),
      "override 'hours[0]=25': hours: must be a list, each an integer from 0 to 24, got the integer 25");
  // The default is an empty list.
  EXPECT_EQ(
      message("", {"plan[0]=[1, 2]"}),
      "override 'plan[0]=[1, 2]': plan has 0 items, numbered from 0, got 0; the list is given whole, as in "
      "plan=[...]");
  EXPECT_EQ(message("", {"dishes[0].name=pie"}),
            "override 'dishes[0].name=pie': dishes has 0 items, numbered from 0, got 0; the list is given "
            "whole, as in dishes=[...]");
  EXPECT_EQ(
      message("", {"hours[0]=9", "hours.first=9"}),
      "override 'hours.first=9': a list is given whole, as in key=[1, 2], or an item of it by its number, "
      "as in key[0]");
  // Tables of a default list.
  Kitchen menu;
  menu.dishes = {{.name = "soup"}, {.name = "pie", .guests = 3}};
  const std::vector<std::string> overrides{"dishes[1].guests=4", "dishes[1].timer.minutes=1"};
  read_toml_text("", "k.toml", overrides, [&](Fields& f) { fields(f, menu); });
  EXPECT_EQ(menu.dishes[0], Dish{.name = "soup"});
  EXPECT_EQ(menu.dishes[1], (Dish{.name = "pie", .guests = 4, .timer = {.minutes = 1}}));
}

TEST(Overrides, AreNamedInMessages) {
  EXPECT_EQ(message("", {"chairs=0"}),
            "override 'chairs=0': chairs: must be an integer from 1 to 1000, got the integer 0");
  EXPECT_EQ(message("", {"chairs=many"}),
            "override 'chairs=many': chairs: must be an integer from 1 to 1000, got the string \"many\"");
  EXPECT_EQ(message("", {"open=true", "clock.minutse=3"}),
            "override 'clock.minutse=3': clock.minutse: unknown key; did you mean 'minutes'?");
  EXPECT_EQ(message("", {"colck.minutes=3"}),
            "override 'colck.minutes=3': colck: unknown key; did you mean 'clock'?");
  EXPECT_EQ(message("", {"stove=gss"}),
            "override 'stove=gss': stove: must be \"gas\" or \"induction\", got the string \"gss\"; did you "
            "mean 'gas'?");
  EXPECT_EQ(message("", {"area=nan"}),
            "override 'area=nan': area: must be a number of at least 0, finite, got the number nan");
  EXPECT_EQ(message("", {"chairs"}), "override 'chairs': must be key=value, such as train.epochs=5");
  const std::string words = ": the key must be words with dots between them, such as train.epochs";
  for (const std::string bad : {"=5", ".a=5", "a.=5", "a..b=5", "a b=5"}) {
    EXPECT_EQ(message("", {bad}), "override '" + bad + "'" + words);
  }
  EXPECT_EQ(message("[[dishes]]", {"dishes.name=pie"}),
            "override 'dishes.name=pie': a list is given whole, as in key=[1, 2], or an item of it by its "
            "number, as in key[0]");
  EXPECT_EQ(message("[[dishes]]", {"dishes[1].name=pie"}),
            "override 'dishes[1].name=pie': dishes has 1 item, numbered from 0, got 1");
  EXPECT_EQ(message("[[dishes]]", {"dishes[0].nam=pie"}),
            "override 'dishes[0].nam=pie': dishes[0].nam: unknown key; did you mean 'name'?");
  EXPECT_EQ(message("[[dishes]]", {"dishes[-1].name=pie"}), "override 'dishes[-1].name=pie'" + words);
  EXPECT_EQ(message("chairs = 3", {"chairs[0]=4"}),
            "override 'chairs[0]=4': chairs is no list, but an item of it is given");
  EXPECT_EQ(message("", {"chairs[0]=4"}),
            "override 'chairs[0]=4': chairs: must be an integer from 1 to 1000, got item 0 of a list");
  EXPECT_EQ(message("", {"chars[0]=4"}), "override 'chars[0]=4': chars: unknown key; did you mean 'chairs'?");
  // What no config could hold would leave a run that cannot be read again.
  const std::string latin = message("", {"motto=caf\xe9"});
  EXPECT_TRUE(latin.ends_with(": the value must be UTF-8")) << latin;
  EXPECT_EQ(message("", {"motto=caf\u00e9"}), "nothing was thrown");
  // No further keys come in behind a line break, and the message stays one line.
  EXPECT_EQ(message("", {"chairs=3\nopen=true"}),
            "override 'chairs=3 open=true': chairs: must be an integer from 1 to 1000, got the string \"3 "
            "open=true\"");
}

TEST(ReadToml, NamesAFileThatCannotBeRead) {
  Kitchen k;
  const auto visit = [&](Fields& f) { fields(f, k); };
  try {
    read_toml("no/such/file.toml", {}, visit);
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_STREQ(e.what(), "no/such/file.toml: cannot be opened: No such file or directory");
  }
  const std::string folder = ::testing::TempDir();
  try {
    read_toml(folder, {}, visit);
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_EQ(std::string(e.what()), folder + ": cannot be read: Is a directory");
  }
  const std::string huge = folder + "/weyl_huge.toml";
  std::ofstream(huge) << std::string((4u << 20) + 1, '\n');
  EXPECT_THROW(read_toml(huge, {}, visit), ConfigError);
  std::filesystem::remove(huge);
}

}  // namespace toml_test
}  // namespace weyl
