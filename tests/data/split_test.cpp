#include "weyl/data/convert.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/data/fixtures.h"
#include "tests/data/folder.h"
#include "weyl/carriers/dataset.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/clouds/modelnet.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/open.h"
#include "weyl/makers/particles/nbody.h"

namespace weyl {
namespace split_test {

TEST(Split, IsAPartitionByTheSeed) {
  const SplitIndices parts = random_split(101, {.train = 0.7, .valid = 0.2, .seed = 3});
  EXPECT_EQ(parts.train.size(), 71u);
  EXPECT_EQ(parts.valid.size(), 20u);
  EXPECT_EQ(parts.test.size(), 10u);
  std::vector<int64_t> all;
  for (const auto* part : {&parts.train, &parts.valid, &parts.test}) {
    EXPECT_TRUE(std::is_sorted(part->begin(), part->end()));
    all.insert(all.end(), part->begin(), part->end());
  }
  std::sort(all.begin(), all.end());
  for (int64_t i = 0; i < 101; ++i) {
    ASSERT_EQ(all.at(i), i);
  }
  EXPECT_EQ(parts.test, random_split(101, {.train = 0.7, .valid = 0.2, .seed = 3}).test);
  EXPECT_NE(parts.test, random_split(101, {.train = 0.7, .valid = 0.2, .seed = 4}).test);
}

TEST(Split, OfASeedStaysWhatItIs) {
  // Whoever trained on a part must find the same part in every version.
  using Rows = std::vector<int64_t>;
  const SplitIndices parts = random_split(10, {.train = 0.5, .valid = 0.3, .seed = 3});
  EXPECT_EQ(parts.train, (Rows{0, 2, 4, 6, 9}));
  EXPECT_EQ(parts.valid, (Rows{1, 3, 7}));
  EXPECT_EQ(parts.test, (Rows{5, 8}));
  for (const auto& [seed, expected] : {std::pair<int64_t, Rows>{0, {0, 2, 5}}, {3, {1, 3, 7}}}) {
    Rows train{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    EXPECT_EQ(draw_validation(train, 3, seed, "x"), expected);
    EXPECT_EQ(train.size(), 7U);
    EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
  }
}

TEST(Split, PartsAreThoseAskedForElseFractions) {
  const auto counts = [](int64_t size, const std::vector<double>& fractions, PartCounts asked) {
    const PartCounts c = part_counts(size, fractions, asked, "set: data.x");
    return std::vector<int64_t>{c.train, c.valid, c.test};
  };
  using Rows = std::vector<int64_t>;
  EXPECT_EQ(counts(10, {0.5, 0.2, 0.3}, {}), (Rows{5, 2, 3}));
  EXPECT_EQ(counts(3, {0, 0.5, 0.5}, {}),
            (Rows{0, 2, 1}));  // halves are rounded up, and no sample is there twice
  EXPECT_EQ(counts(3, {1, 0, 0}, {0, 1, 0}), (Rows{2, 1, 0}));
  EXPECT_EQ(counts(10, {0.5, 0.2, 0.3}, {1, 0, 4}), (Rows{1, 2, 4}));
  EXPECT_EQ(counts(0, {0.5, 0.2, 0.3}, {}), (Rows{0, 0, 0}));
  EXPECT_EQ(
      message_of<DataError>([&] { counts(10, {1, 0, 0}, {4, 2, 5}); }),
      "set: data.x.train, valid and test must add up to at most 10, the samples there are, got 4, 2 and 5");
  for (const auto& fractions : {std::vector<double>{1, 0}, {0.5, 0.5, 0.1}}) {
    EXPECT_EQ(message_of<ConfigError>([&] { counts(10, fractions, {}); }),
              "set: data.x.fractions must be three that add up to at most 1");
  }
}

TEST(Split, DrawsDisjointPartsInTheOrderAsked) {
  const auto parts = draw_parts(7, {2, 0, 4}, 5, "name");
  const auto order = Stream(5, "name").permutation(7);
  EXPECT_EQ(parts, (std::vector<std::vector<int64_t>>{
                       {order[0], order[1]}, {}, {order[2], order[3], order[4], order[5]}}));
  EXPECT_THROW(draw_parts(7, {4, 4}, 5, "name"), ShapeError);
}

TEST(Split, Corners) {
  EXPECT_TRUE(random_split(0, {}).train.empty());
  EXPECT_EQ(random_split(1, {}).train.size(), 1u);
  EXPECT_EQ(random_split(10, {.train = 1, .valid = 0}).train.size(), 10u);
  EXPECT_EQ(random_split(10, {.train = 0, .valid = 0}).test.size(), 10u);
  EXPECT_TRUE(random_split(7, {.train = 0.5, .valid = 0.5}).test.empty());
  EXPECT_THROW(random_split(10, {.train = 0.8, .valid = 0.3}), ConfigError);
  EXPECT_THROW(random_split(10, {.train = -0.1}), ConfigError);
}

TEST(Split, CutsCarrierFiles) {
  const Folder folder;
  const Schema schema = rich_schema();
  const Batch batch = rich_batch({3, 1, 4, 2, 2, 1, 5, 3, 2, 4});
  write_tensor_file(folder / "all.safetensors", batch, schema, {{"origin", "here"}});
  const SplitIndices parts =
      split_file(folder / "all.safetensors", folder / "out", {.train = 0.5, .valid = 0.2});
  const TensorFile valid = read_tensor_file(folder / "out/valid.safetensors");
  ASSERT_EQ(parts.valid.size(), 2u);
  const Batch expected = take(batch, parts.valid, schema);
  EXPECT_TRUE(
      at::equal(std::get<Points>(valid.batch.input).positions, std::get<Points>(expected.input).positions));
  EXPECT_TRUE(at::equal(valid.batch.labels.at("energy"), expected.labels.at("energy")));
  const SafetensorsFile file(folder / "out/valid.safetensors");
  EXPECT_EQ(file.header().metadata.at("origin"), "here");
  EXPECT_EQ(file.header().metadata.at("split_of"), "all.safetensors");
  EXPECT_THROW(split_file(folder / "all.safetensors", folder / "out", {}), ConfigError);  // never replaced
}

TEST(Split, CutsFramesOfAtoms) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 10; ++i) {
    text += "1\nProperties=species:S:1:pos:R:3:tag:S:1 energy=" + std::to_string(i) + " name=f" +
            std::to_string(i) + "\nO 0 0 " + std::to_string(i) + " t\n";
  }
  std::ofstream(folder / "all.xyz") << text;
  const SplitIndices parts = split_file(folder / "all.xyz", folder / "out", {.train = 0.6, .valid = 0.2});
  const auto same = [&](const char* split, const std::vector<int64_t>& part) {
    ExtendedXyzReader reader(folder / ("out/" + std::string(split) + ".extxyz"));
    size_t read = 0;
    for (AtomsFrame frame; reader.next(frame); ++read) {
      ASSERT_LT(read, part.size()) << split;
      const auto i = static_cast<double>(part[read]);
      EXPECT_EQ(frame.positions[2], i);
      EXPECT_EQ(reals_of(frame.value("energy")->values)->front(), i);
      EXPECT_NE(frame.value("name"), nullptr);
      EXPECT_NE(frame.column("tag"), nullptr);
    }
    EXPECT_EQ(read, part.size()) << split;
  };
  EXPECT_EQ(parts.train.size(), 6u);
  same("train", parts.train);
  same("valid", parts.valid);
  same("test", parts.test);
  EXPECT_THROW(split_file(folder / "all.xyz", folder / "out", {}), ConfigError);  // never replaced
  std::ofstream(folder / "all.xyz", std::ios::app) << "2\n\nO 0 0 0\n";
  EXPECT_THROW(split_file(folder / "all.xyz", folder / "none", {}), DataError);
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

TEST(Split, CutsNbodyFiles) {
  const Folder folder;
  ASSERT_TRUE(make_nbody({.train = 10, .valid = 0, .test = 0, .steps = 300}, folder.path()));
  const SplitIndices parts =
      split_file(folder / "train.safetensors", folder / "out", {.train = 0.6, .valid = 0.3});
  const NamedTensors all = load_tensors(folder / "train.safetensors"),
                     test = load_tensors(folder / "out/test.safetensors");
  ASSERT_EQ(parts.test.size(), 1u);
  EXPECT_TRUE(at::equal(test.at("positions")[0], all.at("positions")[parts.test[0]]));
  NbodyDataOptions options{.path = folder / "out", .input_frame = 0, .target_frame = 1};
  EXPECT_EQ(open_splits({options}).valid->size(), 3);
}

TEST(Convert, PacksAndUnpacks) {
  const Folder folder;
  const NamedTensors tensors{{"a", at::randn({2, 3})}, {"b", at::arange(4)}};
  const std::map<std::string, std::string> metadata{{"format", "mine"}, {"unit", "\u00c5 \"quoted\""}};
  save_tensors(folder / "x.safetensors", tensors, metadata);
  convert(folder / "x.safetensors", folder / "x.npz");
  convert(folder / "x.npz", folder / "y.safetensors");
  const NamedTensors again = load_tensors(folder / "y.safetensors");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(SafetensorsFile(folder / "y.safetensors").header().metadata, metadata);
  EXPECT_TRUE(at::equal(again.at("a"), tensors.at("a")));
  EXPECT_TRUE(at::equal(again.at("b"), tensors.at("b")));
  EXPECT_THROW(convert(folder / "x.npz", folder / "y.safetensors"), ConfigError);  // there already
  EXPECT_THROW(convert(folder / "x.npz", folder / "y.csv"), ConfigError);
  EXPECT_THROW(convert(folder / "nothing.npz", folder / "z.safetensors"), DataError);
}

TEST(Convert, MakesOurFilesOfTheOriginalOnes) {
  const Folder made, originals, converted;
  ASSERT_TRUE(make_nbody({.train = 4, .valid = 2, .test = 0, .steps = 400}, made.path()));
  const auto save = [&](const std::string& name, const Tensor& t) {
    const Tensor c = t.contiguous();
    Array array{ElementType::f64, c.sizes().vec(), std::vector<std::byte>(c.nbytes())};
    std::memcpy(array.bytes.data(), c.const_data_ptr(), c.nbytes());
    write_npy(originals / name, array);
  };
  for (const std::string split : {"train", "valid"}) {
    const NamedTensors t = load_tensors(made / (split + ".safetensors"));
    save("loc_" + split + "_x.npy", t.at("positions").transpose(2, 3));
    save("vel_" + split + "_x.npy", t.at("velocities").transpose(2, 3));
    save("charges_" + split + "_x.npy", t.at("charges").unsqueeze(2));
  }
  EXPECT_EQ(convert(originals.path(), converted.path()).files.size(), 2u);
  for (const std::string split : {"train", "valid"}) {
    const NamedTensors a = load_tensors(made / (split + ".safetensors")),
                       b = load_tensors(converted / (split + ".safetensors"));
    for (const auto& [name, t] : a) {
      EXPECT_TRUE(at::equal(t, b.at(name))) << name;
    }
  }
  EXPECT_EQ(open_splits({NbodyDataOptions{.path = converted.path(), .input_frame = 0, .target_frame = 1}})
                .train->size(),
            4);
  EXPECT_THROW(convert(originals.path(), converted.path()), ConfigError);
}

}  // namespace split_test
}  // namespace weyl
