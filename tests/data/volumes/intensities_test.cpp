// Intensities by modality, and volumes that are kept as they were prepared.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/open.h"
#include "weyl/data/volumes/decathlon.h"
#include "weyl/data/volumes/intensities.h"
#include "weyl/data/volumes/nifti.h"

namespace weyl {
namespace intensities_test {

namespace fs = std::filesystem;

/// Three cases of CT and MR, 6 x 5 x 4 voxels, with a foreground of 20 voxels of 40 .. 59 + 100 k in CT.
void make_set(const std::string& folder) {
  fs::create_directories(folder + "/imagesTr");
  fs::create_directories(folder + "/labelsTr");
  std::ofstream(folder + "/dataset.json")
      << R"({"channel_names": {"0": "CT", "1": "T2"}, "labels": {"background": 0, "organ": 1}, "file_ending": ".nii"})";
  for (int k = 0; k < 3; ++k) {
    std::vector<int16_t> ct(120, -1000), mr(120, 0);
    std::vector<uint8_t> mask(120);
    for (size_t i = 0; i < 20; ++i) {
      ct[30 + i] = static_cast<int16_t>(40 + i + 100 * static_cast<size_t>(k));
      mr[30 + i] = static_cast<int16_t>(500 + 50 * i);
      mask[30 + i] = 1;
    }
    ct[0] = 3000;
    const std::string name = "case_" + std::to_string(k);
    const auto write = [&](const std::string& path, ElementType type, auto& values) {
      write_nifti(folder + path, {.type = type, .shape = {6, 5, 4}}, std::as_bytes(std::span(values)));
    };
    write("/imagesTr/" + name + "_0000.nii", ElementType::i16, ct);
    write("/imagesTr/" + name + "_0001.nii", ElementType::i16, mr);
    write("/labelsTr/" + name + ".nii", ElementType::u8, mask);
  }
}

DecathlonDataOptions options(const std::string& path) {
  return {.path = path, .modalities = 2, .classes = 2, .fractions = {0.6, 0.4, 0}, .train = 2, .valid = 1};
}

Tensor values(const Dataset& set, int64_t i) {
  return std::get<Grid>(set.batch(std::vector<int64_t>{i}).input).values[0].to(at::kDouble);
}

TEST(Intensities, OfCtAreThoseOfTheTrainingCasesForeground) {
  const Folder folder;
  make_set(folder / "set");
  DecathlonDataOptions o = options(folder / "set");
  const Splits splits = open_set(o);
  ASSERT_EQ(splits.train->size(), 2);
  std::vector<double> seen;
  for (int64_t i = 0; i < 2; ++i) {
    for (int k = 0; k < 20; ++k) {
      seen.push_back(40 + k + 100 * (splits.train->name(i).back() - '0'));
    }
  }
  const Tensor all = at::tensor(seen, at::kDouble);
  const auto found = as_opened(o, *splits.train).intensities;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[1].empty());  // T2 is no CT
  ASSERT_EQ(found[0].size(), 4u);
  EXPECT_NEAR(found[0][0], at::quantile(all, 0.005).item<double>(), 1e-9);
  EXPECT_NEAR(found[0][1], at::quantile(all, 0.995).item<double>(), 1e-9);
  EXPECT_NEAR(found[0][2], all.mean().item<double>(), 1e-9);
  EXPECT_NEAR(found[0][3], all.std(false).item<double>(), 1e-9);
  // All splits by the same numbers; air and metal are cut off.
  for (const auto& set : {splits.train, splits.valid}) {
    const Tensor ct = values(*set, 0)[0];
    EXPECT_NEAR(ct.min().item<double>(), (found[0][0] - found[0][2]) / found[0][3], 1e-5);
    EXPECT_NEAR(ct.max().item<double>(), (found[0][1] - found[0][2]) / found[0][3], 1e-5);
  }
  // Of MR by the volume's own nonzero voxels.
  const Tensor mr = values(*splits.valid, 0)[1], inside = mr.masked_select(mr.ne(0));
  EXPECT_EQ(inside.numel(), 20);
  EXPECT_NEAR(inside.mean().item<double>(), 0, 1e-5);
  // Given ones are taken: a model predicts by those that it was trained with.
  DecathlonDataOptions given = o;
  given.intensities = {{0, 100, 50, 10}, {}};
  EXPECT_NEAR(values(*open_set(given).valid, 0)[0].max().item<double>(), 5, 1e-6);
  EXPECT_EQ(as_opened(given, *open_set(given).train).intensities, given.intensities);
  const auto files = open_volume_files(folder / "set/imagesTr", given);
  EXPECT_NEAR(values(*files, 0)[0].max().item<double>(), 5, 1e-6);
  EXPECT_NE(message_of<DataError>([&] {
              values(*open_volume_files(folder / "set/imagesTr", options("")), 0);
            }).find("data.decathlon.intensities"),
            std::string::npos);
  given.normalise_over = VoxelsCounted::nonzero;
  EXPECT_NE(message_of<ConfigError>([&] {
              open_set(given);
            }).find("channel 1 is not normalised over the foreground"),
            std::string::npos);
  given.intensities = {{0, 100, 50, 10}};
  given.modalities = 0;
  EXPECT_NE(message_of<ConfigError>([&] {
              open_set(given);
            }).find("intensities must be a list for each of the 2 channels, got 1"),
            std::string::npos);
}

TEST(Intensities, AChannelCalledNoNormStaysAsItIs) {
  const Folder folder;
  for (const std::string first : {"CT", "T1"}) {  // with numbers of another channel, and without
    const std::string set = folder / first;
    make_set(set);
    std::ofstream(set + "/dataset.json") << R"({"channel_names": {"0": ")" << first << R"(", "1": "noNorm"},
      "labels": {"background": 0, "organ": 1}, "file_ending": ".nii"})";
    const DecathlonDataOptions o = options(set);
    const Splits splits = open_set(o);
    DecathlonDataOptions raw = o;
    raw.normalise = false;
    const auto stored = [&](const Dataset& of, int64_t i) { return values(of, i)[1]; };
    const Tensor as_it_is = stored(*open_set(raw).train, 0);
    EXPECT_EQ(as_it_is.max().item<double>(), 1450);
    EXPECT_TRUE(at::equal(stored(*splits.train, 0), as_it_is)) << first;
    // The other one is normalised.
    EXPECT_FALSE(at::equal(values(*splits.train, 0)[0], values(*open_set(raw).train, 0)[0]));
    // A model keeps it, where nobody names the channels; told of one rule by name, it is normalised as all are.
    const DecathlonDataOptions model = as_opened(o, *splits.train);
    EXPECT_EQ(model.intensities.at(0).empty(), first == "T1");
    fs::copy(set + "/imagesTr", set + "-bare");
    const auto bare = open_volume_files(set + "-bare", model);
    for (int64_t i = 0; i < bare->size(); ++i) {
      EXPECT_EQ(stored(*bare, i).max().item<double>(), 1450) << first;
      if (bare->name(i) == splits.train->name(0)) {
        EXPECT_TRUE(at::equal(values(*bare, i), values(*splits.train, 0))) << first;
      }
    }
    DecathlonDataOptions all = o;
    all.normalise_over = VoxelsCounted::all;
    EXPECT_NEAR(stored(*open_set(all).train, 0).mean().item<double>(), 0, 1e-5);
  }
}

TEST(Intensities, OfAModelDecideWhereNobodyNamesTheChannels) {
  const Folder folder;
  make_set(folder / "set");
  const DecathlonDataOptions o = options(folder / "set");
  const Splits splits = open_set(o);
  const DecathlonDataOptions model = as_opened(o, *splits.train);
  fs::copy(folder / "set/imagesTr", folder / "bare");
  const auto bare = open_volume_files(folder / "bare", model);
  ASSERT_EQ(bare->size(), 3);
  for (int64_t i = 0; i < 3; ++i) {
    const bool valid = bare->name(i) == splits.valid->name(0);
    const int64_t place = !valid && bare->name(i) == splits.train->name(1) ? 1 : 0;
    EXPECT_TRUE(at::equal(values(*bare, i), values(valid ? *splits.valid : *splits.train, place))) << i;
  }
  // And that there are none, beside an index that calls a channel CT.
  make_set(folder / "mr");
  std::ofstream(folder / "mr/dataset.json")
      << R"({"channel_names": {"0": "T1", "1": "T2"}, "labels": {"background": 0, "organ": 1}, "file_ending": ".nii"})";
  DecathlonDataOptions other = options(folder / "mr");
  other = as_opened(other, *open_set(other).train);
  DecathlonDataOptions nonzero = options("");
  nonzero.normalise_over = VoxelsCounted::nonzero;
  EXPECT_TRUE(at::equal(values(*open_volume_files(folder / "set/imagesTr", other), 0),
                        values(*open_volume_files(folder / "set/imagesTr", nonzero), 0)));
}

TEST(Intensities, OfAllFoldsAreTheSame) {
  const Folder folder;
  make_set(folder / "set");
  const DecathlonDataOptions o = options(folder / "set");
  const auto of = [&](int64_t fold) { return as_opened(o, *open_set(o, {3, fold}).train); };
  EXPECT_EQ(differently_read(of(0), of(2)), "");
  std::ofstream(folder / "set/splits_final.json")  // whose folds are of other cases each
      << R"([{"train": ["case_0"], "val": ["case_1"]}, {"train": ["case_1"], "val": ["case_2"]}])";
  EXPECT_EQ(
      differently_read(as_opened(o, *open_set(o, {2, 0}).train), as_opened(o, *open_set(o, {2, 1}).train)),
      "");
  fs::remove(folder / "set/splits_final.json");
  EXPECT_NE(of(0).intensities, as_opened(o, *open_set(o).train).intensities);
  EXPECT_EQ(differently_read(of(0), as_opened(o, *open_set(o).train)), "intensities");
  DecathlonDataOptions other = of(0);
  other.spacing = {1, 1, 1};
  EXPECT_EQ(differently_read(of(0), other), "spacing");
}

TEST(Intensities, AWindowCutsValuesOffFirst) {
  const Folder folder;
  make_set(folder / "set");
  DecathlonDataOptions o = options(folder / "set");
  o.normalise = false;
  o.window = {-100, 200};
  const Tensor ct = values(*open_set(o).train, 0)[0];
  EXPECT_EQ(ct.min().item<double>(), -100);
  EXPECT_EQ(ct.max().item<double>(), 200);
  o.window = {200, -100};
  EXPECT_NE(message_of<ConfigError>([&] { open_set(o); }).find("window must be two numbers that ascend"),
            std::string::npos);
}

TEST(Intensities, EqualForegroundsAreNotErased) {
  Tensor image = at::full({1, 2, 2, 2}, 7.F), mask = at::ones({2, 2, 2}, at::kByte);
  std::vector<std::vector<float>> seen;
  see_foreground(image, mask, seen);
  const auto by = foreground_intensities(seen.at(0));
  EXPECT_EQ(by, (std::vector<double>{7, 7, 7, 0}));
  normalise_by_foreground(image, {by});
  EXPECT_TRUE(image.eq(0).all().item<bool>());  // constant, as everywhere
}

TEST(PreparedVolumes, AreTakenAgainAndMadeAnewWhereTheyDoNotFit) {
  const Folder folder;
  make_set(folder / "set");
  DecathlonDataOptions o = options(folder / "set");
  o.spacing = {1.5, 1, 0.8};
  o.trim = true;
  const Splits plain = open_set(o);
  o.prepared = folder / "kept/prepared";
  const auto same = [&] {
    const Splits splits = open_set(o);
    for (int64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(splits.train->lattice(i).cells, plain.train->lattice(i).cells);
      EXPECT_TRUE(at::equal(values(*splits.train, i), values(*plain.train, i))) << i;
      const std::vector<int64_t> which{i};
      EXPECT_TRUE(at::equal(splits.train->batch(which).labels.at("mask"),
                            plain.train->batch(which).labels.at("mask")));
    }
  };
  const auto files = [&] {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(o.prepared)) {
      all.push_back(entry.path());
    }
    std::ranges::sort(all);
    return all;
  };
  same();
  const auto kept = files();
  EXPECT_EQ(kept.size(), 3u);  // of the validation case its box
  const auto time = fs::last_write_time(kept[0]);
  same();
  EXPECT_EQ(fs::last_write_time(kept[0]), time);
  // Broken, and of nothing: made anew.
  fs::resize_file(kept[0], fs::file_size(kept[0]) / 2);
  std::ofstream(kept[1]) << "nothing";
  same();
  EXPECT_GT(fs::file_size(kept[1]), 100u);
  EXPECT_EQ(files(), kept);
  // Other options, and a changed file, are other volumes.
  o.interpolation = Interpolation::cubic;
  values(*open_set(o).train, 0);
  EXPECT_EQ(files().size(), 6u);
  o.interpolation = Interpolation::linear;
  const std::string image = open_set(o).train->source(0);
  fs::last_write_time(image, fs::last_write_time(image) + std::chrono::seconds(5));
  values(*open_set(o).train, 0);
  EXPECT_EQ(files().size(), 7u);
}

TEST(PreparedVolumes, AreOfTheSetAloneAndNeverAFault) {
  const Folder folder;
  make_set(folder / "set");
  DecathlonDataOptions o = options(folder / "set");
  const Splits plain = open_set(o);
  EXPECT_TRUE(plain.train->schema().warnings.empty());
  std::ofstream(folder / "file") << "no folder";
  o.prepared = folder / "file";
  const Splits splits = open_set(o);
  EXPECT_TRUE(at::equal(values(*splits.valid, 0), values(*plain.valid, 0)));
  ASSERT_EQ(splits.train->schema().warnings.size(), 1u);
  EXPECT_TRUE(splits.train->schema().warnings[0].starts_with(
      "data.decathlon.prepared keeps nothing, volumes are prepared each time: " + (folder / "file")))
      << splits.train->schema().warnings[0];
  // Volumes of others are not kept.
  o = as_opened(o, *splits.train);
  o.prepared = folder / "kept";
  values(*open_volume_files(folder / "set/imagesTr", o), 0);
  values(*open_file(folder / "set", DataOptions{o}), 0);
  EXPECT_FALSE(fs::exists(folder / "kept"));
}

}  // namespace intensities_test
}  // namespace weyl
