// Keys that had other names: read for ever, with one warning; never two names for one value.
#include <gtest/gtest.h>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"

namespace weyl {
namespace old_names_test {

struct Oven {
  std::string name = "gas";
  double heat = 1;
  bool operator==(const Oven&) const = default;
};
struct House {
  Oven oven;
  std::vector<Oven> spares;
  bool operator==(const House&) const = default;
};

void fields(Fields& f, Oven& o) {
  f.renamed("law", "name");
  f("name", o.name, "what burns");
  f("heat", o.heat, "how hot", {0, 10});
}
void fields(Fields& f, House& o) {
  f.renamed("stove", "oven");
  f("oven", o.oven, "where food gets hot");
  f("spares", o.spares, "further ones");
}

struct Read {
  House house;
  std::string warning;
};
Read read(std::string_view toml, std::vector<std::string> overrides = {}) {
  Read r;
  r.warning = read_toml_text(toml, "h.toml", overrides, [&](Fields& f) { fields(f, r.house); });
  return r;
}
std::string message(std::string_view toml, std::vector<std::string> overrides = {}) {
  try {
    read(toml, std::move(overrides));
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

const std::string begin = "h.toml: old names are read, write the new: ";

TEST(OldNames, NewNamesAreNoWarning) {
  EXPECT_EQ(read("[oven]\nname = \"wood\"", {"oven.heat=2"}).warning, "");
}

TEST(OldNames, AreReadWithOneWarning) {
  const Read key = read("[oven]\nlaw = \"wood\"");
  EXPECT_EQ(key.house.oven.name, "wood");
  EXPECT_EQ(key.warning, begin + "oven.law is now oven.name");

  const Read table = read("stove.law = \"coal\"\nstove.heat = 3");
  EXPECT_EQ(table.house.oven, (Oven{"coal", 3}));
  EXPECT_EQ(table.warning, begin + "stove is now oven, oven.law is now oven.name");

  const Read list = read("[[spares]]\nlaw = \"wood\"\n[[spares]]\nlaw = \"coal\"");
  EXPECT_EQ(list.house.spares, (std::vector<Oven>{{"wood", 1}, {"coal", 1}}));
  EXPECT_EQ(list.warning, begin + "spares.law is now spares.name");
}

TEST(OldNames, AreReadInOverrides) {
  const Read old = read("[oven]\nname = \"wood\"", {"oven.law=coal", "stove.heat = 4"});
  EXPECT_EQ(old.house.oven, (Oven{"coal", 4}));
  EXPECT_EQ(old.warning, begin + "oven.law is now oven.name, stove is now oven");
  EXPECT_EQ(read("[oven]\nlaw = \"wood\"", {"oven.name=coal"}).house.oven.name, "coal");
}

TEST(OldNames, BothNamesOfOneValueAreRefused) {
  EXPECT_EQ(message("[oven]\nname = \"wood\"\nlaw = \"coal\""),
            "h.toml:3: oven.law: is the old name of 'name', which is given too");
}

TEST(OldNames, TheNewAreWrittenAndExplained) {
  Read r = read("[stove]\nlaw = \"wood\"");
  const Visit visit = [&](Fields& f) { fields(f, r.house); };
  const std::string written = write_toml(visit);
  EXPECT_NE(written.find("[oven]"), std::string::npos) << written;
  EXPECT_EQ(written.find("law"), std::string::npos) << written;
  EXPECT_EQ(read(written).warning, "");
  EXPECT_EQ(read(written).house, r.house);
  EXPECT_NE(explain(visit, "oven.law").find("oven.name"), std::string::npos) << explain(visit, "oven.law");
  EXPECT_EQ(describe_markdown(visit, "House").find("law"), std::string::npos);
}

}  // namespace old_names_test
}  // namespace weyl
