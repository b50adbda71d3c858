#include "weyl/config/unused_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/config/kitchen.h"
#include "weyl/core/check.h"

namespace weyl {
namespace unused_options_test {

std::string refusal(const Kitchen& given, const std::vector<Conditional>& options) {
  try {
    refuse_unused("house.kitchen", given, Kitchen{}, options);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(RefuseIdle, WhatDiffersAndIsNotRead) {
  Kitchen k;
  k.chairs = 7;
  EXPECT_EQ(refusal(k, {{"chairs", false, "without a table"}}),
            "house.kitchen.chairs: has no effect without a table; must be left out or be 4, got 7");
  EXPECT_EQ(refusal(k, {{"chairs", true, "without a table"}}), "");
  EXPECT_EQ(refusal(Kitchen{}, {{"chairs", false, "without a table"}}), "");  // as usual: nobody has set it
}

TEST(RefuseIdle, ATableStandsForItsKeys) {
  Kitchen k;
  k.clock.minutes = 9;
  EXPECT_EQ(refusal(k, {{"clock", false, "at night"}}),
            "house.kitchen.clock.minutes: has no effect at night; must be left out or be 5.0, got 9.0");
  EXPECT_EQ(refusal(k, {{"clock.loud", false, "at night"}}), "");
}

TEST(RefuseIdle, KeysThatAreNotThereAreAnError) {
  EXPECT_THROW(
      refuse_unused("house.kitchen", Kitchen{}, Kitchen{}, std::vector<Conditional>{{"chair", true, ""}}),
      ShapeError);
}

}  // namespace unused_options_test
}  // namespace weyl
