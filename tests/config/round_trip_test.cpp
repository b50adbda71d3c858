#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/config/kitchen.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace round_trip_test {

class Any {
 public:
  explicit Any(uint64_t seed) : stream_(seed, "config round trip") {}

  bool coin() { return stream_.below(2) == 1; }
  int64_t integer(int64_t low, int64_t high) { return low + stream_.below(high - low + 1); }

  // Every exponent and every bit of the mantissa; now and then a whole number.
  double real(double low, double high) {
    if (stream_.below(8) == 0) {
      return std::clamp(std::round(stream_.uniform() * 100), low, high);
    }
    double x = 0;
    do {
      const uint64_t bits = stream_.bits();
      std::memcpy(&x, &bits, sizeof x);
    } while (!std::isfinite(x));
    return x >= low && x <= high ? x : low + (high - low) * stream_.uniform();
  }

  std::string string() {
    static const char* const parts[] = {"a", "\"", "\\",   "\n",   "\t", "\r", "#", "=",
                                        "é", "漢", "\x01", "\x7f", " ",  "'",  "]", "\b"};
    std::string s;
    for (int64_t n = stream_.below(8); n > 0; --n) {
      s += parts[stream_.below(16)];
    }
    return s;
  }

  Heat heat() { return static_cast<Heat>(stream_.below(3)); }
  Timer timer() { return {real(0, 600), coin()}; }

  Kitchen kitchen() {
    Kitchen k;
    k.open = coin(), k.chairs = integer(1, 1000), k.area = std::abs(real(0, 1e300)), k.owner = string(),
    k.heat = heat();
    k.hours.clear(), k.widths.clear();
    for (int64_t n = stream_.below(4); n > 0; --n) {
      k.hours.push_back(integer(0, 24));
      k.widths.push_back(real(0.1, 3));
      k.plan.push_back({});
      for (int64_t m = stream_.below(3); m > 0; --m) {
        k.plan.back().push_back(real(-8e307, 8e307));
      }
      Dish dish{string(), integer(1, 12), {}, timer()};
      for (int64_t m = stream_.below(3); m > 0; --m) {
        dish.herbs.push_back(string());
      }
      k.dishes.push_back(dish);
    }
    k.limit.reset(), k.floor.reset(), k.alarm.reset();
    if (coin()) k.limit = real(0, 1e6);
    if (coin()) k.floor = integer(-2, 100);
    if (coin()) k.oven = heat();
    if (coin()) k.motto = string();
    if (coin()) k.alarm = timer();
    if (coin()) k.bell = timer();
    k.clock = timer();
    k.stove = GasStove{real(0.5, 4)};
    if (coin()) {
      InductionStove stove{integer(0, std::numeric_limits<int64_t>::max() - 1), std::nullopt};
      if (coin()) stove.timer = timer();
      k.stove = stove;
    }
    return k;
  }

 private:
  Stream stream_;
};

std::string written(Kitchen k) {
  return write_toml([&](Fields& f) { fields(f, k); });
}

Kitchen read_back(const std::string& toml, Kitchen into = {}) {
  read_toml_text(toml, "written", {}, [&](Fields& f) { fields(f, into); });
  return into;
}

TEST(WriteToml, ReadsBackToEqualOptions) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Any any(seed);
    const Kitchen k = any.kitchen();
    const std::string toml = written(k);
    ASSERT_EQ(read_back(toml), k) << "seed " << seed << "\n" << toml;
    // Whatever the options were before.
    ASSERT_EQ(read_back(toml, any.kitchen()), k) << "seed " << seed << "\n" << toml;
    ASSERT_EQ(written(read_back(toml)), toml);
  }
}

TEST(WriteToml, NumbersKeepEveryBit) {
  Kitchen k;
  k.plan = {{0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 1e15, 123456789012345678.0, 1.7976931348623157e308,
             2.2250738585072014e-308}};
  const Kitchen back = read_back(written(k));
  ASSERT_EQ(back.plan[0].size(), k.plan[0].size());
  EXPECT_EQ(std::memcmp(back.plan[0].data(), k.plan[0].data(), k.plan[0].size() * sizeof(double)), 0);
}

TEST(WriteToml, LooksAsAPersonWouldWriteIt) {
  Kitchen k;
  k.dishes = {{.name = "pie"}};
  EXPECT_EQ(written(k), R"(open = false
chairs = 4
area = 12.5
owner = "nobody"
heat = "medium"
hours = [8, 20]
widths = [0.6]
plan = []
limit = false
floor = 3
oven = false
motto = false
bell = false
stove = "gas"

[clock]
minutes = 5.0
loud = true

[alarm]
minutes = 7.0
loud = false

[[dishes]]
name = "pie"
guests = 2
herbs = ["salt"]

[dishes.timer]
minutes = 5.0
loud = true

[gas]
pressure = 1.5
)");
}

TEST(WriteToml, RefusesNumbersThatWouldNotReadBack) {
  Kitchen k;
  k.clock.minutes = std::nan("");
  try {
    written(k);
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_STREQ(e.what(), "clock.minutes: must be a finite number, got nan");
  }
}

}  // namespace round_trip_test
}  // namespace weyl
