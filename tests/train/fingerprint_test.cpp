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

/// Samples that are all alike but for their names.
struct Cases : Dataset {
  std::vector<std::string> files, names;
  Schema declared;
  int64_t size() const override { return std::ssize(files); }
  const Schema& schema() const override { return declared; }
  int64_t tokens(int64_t) const override { return 1; }
  std::string source(int64_t index) const override { return files.at(static_cast<size_t>(index)); }
  std::string name(int64_t index) const override { return names.at(static_cast<size_t>(index)); }
  Batch batch(std::span<const int64_t> indices) const override {
    Batch batch;
    Points points;
    points.graphs = Segments::of_sizes(std::vector<int64_t>(indices.size(), 1));
    batch.input = points;
    return batch;
  }
};

TEST(Fingerprint, KnowsSamplesByTheirNames) {
  const auto of = [](std::vector<std::string> files, std::vector<std::string> names) {
    const auto set = std::make_shared<Cases>();
    set->files = std::move(files);
    set->names = std::move(names);
    return fingerprint({set, nullptr, nullptr});
  };
  const Json json = of({"in/a.nii.gz", "in/b.bmp"}, {"", ""});
  EXPECT_EQ(changes_of_data(of({"elsewhere/a.mha", "elsewhere/b.png"}, {"", ""}), json), "");
  EXPECT_EQ(changes_of_data(of({"", ""}, {"a", "b"}), json), "");
  const std::string others = "its train split has samples of other names, or in another order";
  EXPECT_EQ(changes_of_data(of({"in/b.bmp", "in/a.nii.gz"}, {"", ""}), json), others);
  EXPECT_EQ(changes_of_data(of({"in/a.nii.gz", "in/b.bmp"}, {"", "c"}), json), others);
  EXPECT_EQ(changes_of_data(of({"", ""}, {"", ""}), json), "");  // as runs that are older than names
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

/// Samples of one point each, which stands at the number of the sample.
struct Numbers : Dataset {
  Numbers(int64_t first, int64_t count, double label = 0) : first(first), count(count), label(label) {}
  int64_t first, count;
  double label;
  int64_t tokens_of_one = 1;
  Schema declared;
  int64_t size() const override { return count; }
  const Schema& schema() const override { return declared; }
  int64_t tokens(int64_t) const override { return tokens_of_one; }
  Batch batch(std::span<const int64_t> indices) const override {
    std::vector<double> places;
    for (const int64_t i : indices) {
      places.insert(places.end(), {static_cast<double>(first + i), 0, 1});
    }
    const auto n = static_cast<int64_t>(indices.size());
    Batch batch;
    Points points;
    points.graphs = Segments::of_sizes(std::vector<int64_t>(indices.size(), 1));
    points.positions = at::tensor(places, at::kDouble).view({n, 3});
    batch.input = points;
    batch.labels["energy"] = at::full({n}, label, at::kDouble);
    return batch;
  }
};

Json learned_from(const Numbers& numbers) {
  return fingerprint({std::make_shared<Numbers>(numbers), nullptr, nullptr});
}

TEST(Fingerprint, KnowsTrainingSamplesAgainWhereverTheyAre) {
  const Json then = Json::parse(learned_from({100, 20}).dump(), "stored");
  const auto found = [&](const Numbers& numbers) {
    const TrainingSamples samples = training_samples_in(numbers, then);
    EXPECT_TRUE(samples.exact);
    return samples.count;
  };
  EXPECT_EQ(found({100, 20}), 20);     // the split itself
  EXPECT_EQ(found({100, 20, 7}), 20);  // with other labels
  EXPECT_EQ(found({110, 1}), 1);       // one of them
  EXPECT_EQ(found({0, 300}), 20);      // among others, in two batches
  EXPECT_EQ(found({115, 20}), 5);
  EXPECT_EQ(found({0, 100}), 0);
  EXPECT_EQ(training_samples_in(Numbers(100, 20), Json()).count, 0);
  EXPECT_EQ(training_samples_in(Numbers(100, 20), Json::parse(R"({"train": {"samples": 20}})", "old")).count,
            0);
  for (const char* damaged : {"12 x", "", "3"}) {
    Json other = Json::object();
    other.set("train", Json::object().set("samples", 20).set("sample_hashes", damaged));
    EXPECT_EQ(training_samples_in(Numbers(100, 20), other).count, 0) << damaged;
  }
}

TEST(Fingerprint, EstimatesTheTrainingSamplesOfLargeSets) {
  const Json then = learned_from({0, 8000});
  EXPECT_LT(then.dump().size(), 20000u);
  const auto found = [&](const Numbers& numbers) {
    const TrainingSamples samples = training_samples_in(numbers, then);
    EXPECT_EQ(samples.exact, samples.count == 0);
    return static_cast<double>(samples.count);
  };
  EXPECT_EQ(found({0, 8000}), 8000);
  EXPECT_EQ(found({8000, 8000}), 0);
  EXPECT_EQ(found({3000, 1000}), 1000);
  EXPECT_NEAR(found({4000, 8000}), 4000,
              400);  // of some 1,000 hashes half are known: 8000 sqrt(1/4 / 1000) is 126
  EXPECT_NEAR(found({7000, 8000}), 1000, 300);
  Numbers wide(0, 4096);
  wide.tokens_of_one = 1024;  // of one sample in four the inputs are looked at
  const TrainingSamples same = training_samples_in(wide, learned_from(wide));
  EXPECT_EQ(same.count, 4096);
  EXPECT_FALSE(same.exact);
}

}  // namespace fingerprint_test
}  // namespace weyl
