#include "weyl/data/data_warnings.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/app/atoms.h"
#include "tests/data/fixtures.h"
#include "tests/data/folder.h"
#include "weyl/carriers/dataset.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/data/base/sample_checks.h"
#include "weyl/data/convert.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"
#include "weyl/makers/particles/nbody.h"

namespace weyl {
namespace data_warnings_test {

using Lines = std::vector<std::string>;

std::shared_ptr<const InMemory> rich(const std::vector<int64_t>& sizes, uint64_t seed = 0) {
  Batch batch = rich_batch(sizes);
  std::get<Points>(batch.input).positions += static_cast<double>(seed);
  return std::make_shared<InMemory>(std::move(batch), rich_schema());
}

std::shared_ptr<const Subset> part(const std::shared_ptr<const Dataset>& all,
                                   const std::vector<int64_t>& samples) {
  return std::make_shared<Subset>(all, samples, all->schema());
}

TEST(Doubts, IdenticalSamplesAreFoundInEveryField) {
  const auto all = rich({3, 1, 4, 2, 1, 5});
  const Splits sound{part(all, {0, 1}), part(all, {2, 3}), part(all, {4, 5})};
  EXPECT_EQ(data_warnings(sound, {}), Lines{});
  const Splits shared{part(all, {0, 1, 0}), part(all, {2, 1}), part(all, {4, 5})};
  EXPECT_EQ(
      data_warnings(shared, {}),
      (Lines{"train: 1 of 3 samples has the inputs of an earlier one: sample 2 (0 before the split) those of "
             "sample 0",
             "valid: 1 of 2 samples has the inputs of a sample of train: sample 1 those of sample 1"}));
  // A change of any tensor of one sample makes it another.
  for (const auto& [name, tensor] : tensors_of(all->all())) {
    if (name.ends_with(".index")) {
      continue;
    }
    Batch twice = concatenate(std::vector<Batch>{all->all(), all->all()}, all->schema());
    const Tensor changed = tensors_of(twice).at(name);
    const int64_t last = changed.size(0) - 1;
    const bool number = changed.is_floating_point();
    if (changed.scalar_type() == at::kBool) {
      changed[last].logical_not_();
    } else {
      changed[last].add_(1);
    }
    const Splits pair{
        part(std::make_shared<InMemory>(twice, all->schema()), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
        sound.valid, nullptr};
    const std::string said = data_warnings({pair.train, rich({2, 2}, 1), nullptr}, {}).at(0);
    const bool label = name.starts_with("label ");
    EXPECT_EQ(said.find(text("train: ", label ? 6 : 5, " of 12 samples have the inputs of an earlier one",
                             label ? ", 1 with another label" : ": ")),
              0U)
        << name << (number ? "" : " (not real)") << ": " << said;
  }
}

TEST(Doubts, OfSplitsOfOneSampleOrNone) {
  const auto all = rich({3, 1, 4, 2});
  EXPECT_EQ(data_warnings({part(all, {0, 1, 2}), part(all, {3}), nullptr}, {}),
            (Lines{"valid: has one sample alone, from which nothing can be said of others"}));
  EXPECT_EQ(data_warnings({part(all, {0, 1, 2}), part(all, {}), nullptr}, {}),
            (Lines{"valid: has no samples"}));
  EXPECT_EQ(data_warnings({part(all, {0, 1, 2, 3}), nullptr, nullptr}, {}).size(), 1U);
}

TEST(Doubts, OfLargeSetsSayWhatWasLookedAt) {
  const auto all = rich({3, 1, 4, 2, 2, 2, 2, 4});
  const Splits data{part(all, {0, 1, 2, 3, 4, 5}), part(all, {6, 7}), nullptr};
  EXPECT_EQ(data_warnings(data, {}, 20), Lines{});
  EXPECT_EQ(data_warnings(data, {}, 10), (Lines{"identical samples and far labels were looked for among the "
                                                "first samples alone: 3 of 6 train, 1 of "
                                                "2 valid"}));
}

TEST(Doubts, LabelsFarFromTheOthersAreNamed) {
  const std::vector<int64_t> sizes(200, 4);
  Batch batch = rich_batch(sizes);
  const Schema schema = rich_schema();
  const auto doubts = [&] {
    const auto all = std::make_shared<InMemory>(batch, schema);
    return data_warnings({all, rich({2, 3}, 1), nullptr}, schema.labels);
  };
  EXPECT_EQ(doubts(), Lines{});
  batch.labels.at("energy")[17] = -1234;
  batch.labels.at("energy")[18] = NAN;
  EXPECT_EQ(doubts().size(), 1U);
  EXPECT_EQ(doubts().at(0).find(
                "train: energy: 1 of 199 samples is beyond 20 median absolute deviations: sample 17 "
                "has -1234 where "),
            0U)
      << doubts().at(0);
  batch.labels.at("energy")[17] = 0;
  batch.labels.at("forces")[4 * 31 + 2][0][1] = 1e30;
  EXPECT_EQ(doubts().at(0).find("train: forces of type "), 0U) << doubts().at(0);
  EXPECT_NE(doubts().at(0).find("sample 31 has 1e+30"), std::string::npos) << doubts().at(0);
  batch.labels.at("forces")[4 * 31 + 2].zero_();
  batch.labels.at("stress")[5] *= 1e6;
  EXPECT_EQ(doubts().at(0).find("train: stress: 1 of 200 samples has a norm beyond 20 times"), 0U)
      << doubts().at(0);
  batch.labels.at("class")[5] = 1000000;  // classes have no size
  batch.labels.at("stress")[5].zero_();
  EXPECT_EQ(doubts(), Lines{});
  // And of inspection.
  batch.labels.at("energy")[17] = -1234;
  const auto found = inspect(InMemory(batch, schema)).warnings;
  EXPECT_NE(found.back().find("sample 17 has -1234"), std::string::npos) << found.back();
}

TEST(Doubts, NoneOfWhatTheMakersMake) {
  const Folder folder;
  ASSERT_TRUE(make_nbody({.train = 60, .valid = 12, .test = 12}, folder.path()));
  NbodyDataOptions options;
  options.path = folder.path();
  const Splits data = open_splits({options});
  EXPECT_EQ(data_warnings(data, data.train->schema().labels), Lines{});
  inspect_path(folder.path(), [](const std::string& split, const AnyInspection& found) {
    EXPECT_EQ(std::get<Inspection>(found).warnings, Lines{}) << split;
  });
}

TEST(Doubts, OfThePartsOfAFile) {
  const Folder folder;
  auto frames = atoms::frames(40, 1);
  atoms::write(folder / "sound.xyz", frames);
  const SplitIndices sound = split_file(folder / "sound.xyz", folder / "sound", {});
  EXPECT_EQ(warnings_about_parts(folder / "sound", sound), Lines{});
  for (size_t i = 0; i < 20; ++i) {  // every frame twice
    frames[i + 20] = frames[i];
  }
  atoms::write(folder / "twice.xyz", frames);
  const SplitIndices parts = split_file(folder / "twice.xyz", folder / "twice", {.train = 0.5, .valid = 0.5});
  const Lines lines = warnings_about_parts(folder / "twice", parts);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines.back(), "test: has no samples");
  EXPECT_NE(std::ranges::find_if(lines,
                                 [](const std::string& line) {
                                   return line.starts_with("valid: ") &&
                                          line.find("of a sample of train") != line.npos &&
                                          line.find("valid.extxyz: frame ") != line.npos;
                                 }),
            lines.end());
  // Tensors too.
  const Batch once = rich_batch({3, 1, 4, 2, 5, 3});
  const Schema schema = rich_schema();
  write_tensor_file(folder / "all.safetensors", concatenate(std::vector<Batch>{once, once}, schema), schema);
  const SplitIndices halves =
      split_file(folder / "all.safetensors", folder / "halves", {.train = 0.5, .valid = 0.25});
  EXPECT_FALSE(warnings_about_parts(folder / "halves", halves).empty());
}

}  // namespace data_warnings_test
}  // namespace weyl
