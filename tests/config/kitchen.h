#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "weyl/config/fields.h"

namespace weyl {

/// Options with one field of every kind that a config can hold.
enum class Heat { low, medium, high };
constexpr auto names_of(Heat) {
  return std::array<std::string_view, 3>{"low", "medium", "high"};
}

struct Timer {
  double minutes = 5;
  bool loud = true;
  bool operator==(const Timer&) const = default;
};
inline void fields(Fields& f, Timer& o) {
  f("minutes", o.minutes, "minutes to wait", {0, 600});
  f("loud", o.loud, "ring at the end");
}

struct Dish {
  std::string name;
  int64_t guests = 2;
  std::vector<std::string> herbs{"salt"};
  Timer timer;
  bool operator==(const Dish&) const = default;
};
inline void fields(Fields& f, Dish& o) {
  f("name", o.name, "what is served");
  f("guests", o.guests, "how many eat", {1, 12});
  f("herbs", o.herbs, "what goes in");
  f("timer", o.timer, "when it is done");
}

struct GasStove {
  static constexpr const char* name_in_config = "gas";
  double pressure = 1.5;
  bool operator==(const GasStove&) const = default;
};
inline void fields(Fields& f, GasStove& o) {
  f("pressure", o.pressure, "bar | at the valve", {0.5, 4});
}

struct InductionStove {
  static constexpr const char* name_in_config = "induction";
  int64_t watts = 2000;
  std::optional<Timer> timer;
  bool operator==(const InductionStove&) const = default;
};
inline void fields(Fields& f, InductionStove& o) {
  f("watts", o.watts, "power", {0});
  f("timer", o.timer, "switches off");
}

struct Kitchen {
  bool open = false;
  int64_t chairs = 4;
  double area = 12.5;
  std::string owner = "nobody";
  Heat heat = Heat::medium;
  std::vector<int64_t> hours{8, 20};
  std::vector<double> widths{0.6};
  std::vector<std::vector<double>> plan;
  std::optional<double> limit;
  std::optional<int64_t> floor = 3;
  std::optional<Heat> oven;
  std::optional<std::string> motto;
  std::optional<Timer> alarm = Timer{7, false};
  std::optional<Timer> bell;
  Timer clock;
  std::vector<Dish> dishes;
  std::variant<GasStove, InductionStove> stove;
  bool operator==(const Kitchen&) const = default;
};
inline void fields(Fields& f, Kitchen& o) {
  f("open", o.open, "let guests in");
  f("chairs", o.chairs, "seats", {1, 1000});
  f("clock", o.clock, "on the wall");
  f("area", o.area, "square metres", {0});
  f("owner", o.owner, "who pays");
  f("heat", o.heat, "of the stove");
  f("hours", o.hours, "open from and to", {0, 24});
  f("widths", o.widths, "of cupboards", {0.1, 3});
  f("plan", o.plan, "corners of the room");
  f("limit", o.limit, "of money", {0, 1e6});
  f("floor", o.floor, "of the house", {-2, 100});
  f("oven", o.oven, "its heat");
  f("motto", o.motto, "over the door");
  f("alarm", o.alarm, "rings");
  f("bell", o.bell, "at the door");
  f("dishes", o.dishes, "on the menu");
  f.variant("stove", o.stove, "what cooks");
}

}  // namespace weyl
