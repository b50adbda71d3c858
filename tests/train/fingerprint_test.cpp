#include "weyl/train/run/fingerprint.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/train/small_training.h"

namespace weyl {
namespace fingerprint_test {

std::shared_ptr<const Dataset> with_change(const std::function<void(Batch&)>& change) {
  const auto set = small_set(70, 1);
  const auto& memory = dynamic_cast<const InMemory&>(*set);
  Batch all = memory.all();
  auto& points = std::get<Points>(all.input);
  points.positions = points.positions.clone();
  points.scalars = points.scalars.clone();
  all.labels["displacement"] = all.labels["displacement"].clone();
  change(all);
  return std::make_shared<InMemory>(all, memory.schema());
}

TEST(Fingerprint, SeesEveryChangeOfASmallSet) {
  const Splits data = small_data();
  const Json json = fingerprint(data);
  EXPECT_EQ(changes_of_data(fingerprint(small_data()), json), "");
  EXPECT_EQ(changes_of_data(Json::parse(json.dump(), "again"), json), "");
  const auto now = [&](const std::shared_ptr<const Dataset>& train) {
    return changes_of_data(fingerprint({train, data.valid, data.test}), json);
  };
  const std::string values = "its train split holds other values";
  EXPECT_EQ(now(with_change([](Batch&) {})), "");
  EXPECT_EQ(now(with_change([](Batch& b) {  // one bit of one number
              auto* x = std::get<Points>(b.input).positions.mutable_data_ptr<double>();
              x[100] = std::nextafter(x[100], std::numeric_limits<double>::max());
            })),
            values);
  EXPECT_EQ(now(with_change([](Batch& b) { b.labels["displacement"][200][0][2] *= -1; })), values);
  EXPECT_EQ(now(small_set(70, 9)).substr(0, 21), "its train split has 2");  // tokens
  EXPECT_EQ(now(small_set(71, 1)), "its train split has 71 samples, it had 70");
  EXPECT_EQ(changes_of_data(fingerprint({data.train, data.valid, nullptr}), json),
            "its test split is no longer there");
  EXPECT_EQ(changes_of_data(json, fingerprint({data.train, nullptr, data.test})),
            "its valid split was not there");
}

// A set of more tokens than are looked at: of one sample in four the contents are known.
struct Large : Dataset {
  int64_t moved = -1;
  mutable int64_t read = 0;
  Schema declared;
  int64_t size() const override { return 4096; }
  const Schema& schema() const override { return declared; }
  int64_t tokens(int64_t) const override { return 1024; }
  Batch batch(std::span<const int64_t> indices) const override {
    read += static_cast<int64_t>(indices.size());
    std::vector<double> values;
    for (const int64_t i : indices) {
      values.push_back(i == moved ? -1.0 : static_cast<double>(i));
    }
    Batch batch;
    Points points;
    points.graphs = Segments::of_sizes(std::vector<int64_t>(indices.size(), 1024));
    batch.input = points;
    batch.labels["energy"] = at::tensor(values, at::kDouble);
    return batch;
  }
};

TEST(Fingerprint, LooksAtEvenlySpreadSamplesOfALargeSet) {
  const auto of = [](int64_t moved) {
    const auto set = std::make_shared<Large>();
    set->moved = moved;
    const Json json = fingerprint({set, nullptr, nullptr});
    EXPECT_EQ(set->read, 1024);  // of 2^22 tokens 2^20
    return json;
  };
  const Json json = of(-1);
  for (const int64_t seen : {0, 4095}) {
    EXPECT_NE(changes_of_data(of(seen), json), "") << seen;
  }
  EXPECT_EQ(changes_of_data(of(1), json), "");  // what it cannot see
}

}  // namespace fingerprint_test
}  // namespace weyl
