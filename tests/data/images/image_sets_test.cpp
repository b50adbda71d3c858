// The sets `cifar10` and `images`.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/data/folder.h"
#include "tests/data/images.h"
#include "weyl/carriers/consistency.h"
#include "weyl/core/check.h"
#include "weyl/data/images/cifar10.h"
#include "weyl/data/images/image_folder.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"

namespace weyl {
namespace image_sets_test {

namespace fs = std::filesystem;

/// Images of which the first red pixel is the number of the image.
void write_batch(const std::string& path, int first, int count) {
  std::string bytes;
  for (int i = first; i < first + count; ++i) {
    std::string record(3073, '\0');
    record[0] = static_cast<char>(i % 10);
    record[1] = static_cast<char>(i);
    record[1 + 2048 + 33] = static_cast<char>(255);  // blue at row 1, column 1
    bytes += record;
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Cifar10, SplitsAreDisjointAndWhole) {
  const Folder folder;
  write_batch(folder / "data_batch_1.bin", 0, 30);
  write_batch(folder / "data_batch_2.bin", 30, 20);
  write_batch(folder / "test_batch.bin", 100, 7);
  const Splits splits = open_set(Cifar10DataOptions{.path = folder.path()});
  EXPECT_EQ(splits.train->size(), 45);
  EXPECT_EQ(splits.valid->size(), 5);
  EXPECT_EQ(splits.test->size(), 7);
  std::set<int64_t> seen;
  for (const auto& set : {splits.train, splits.valid}) {
    const Batch batch = all_of_set(*set);
    const Tensor x = std::get<Grid>(batch.input).values;
    for (int64_t i = 0; i < set->size(); ++i) {
      const auto number = std::lround(255 * x[i][0][0][0].item<float>());
      EXPECT_TRUE(seen.insert(number).second);
      EXPECT_EQ(batch.labels.at("class")[i][0].item<int64_t>(), number % 10);
      EXPECT_EQ(x[i][2][1][1].item<float>(), 1);
    }
  }
  EXPECT_EQ(seen.size(), 50u);
  EXPECT_EQ(open_set(Cifar10DataOptions{.path = folder.path(), .train = 3}).train->size(), 3);
  EXPECT_EQ(open_file(folder / "test_batch.bin", {Cifar10DataOptions{}})->size(), 7);
  EXPECT_EQ(open_for_inspection(folder.path()).size(), 3u);
}

TEST(ImageFolds, EachTrainingImageIsForValidationOnce) {
  const Folder folder;
  write_batch(folder / "data_batch_1.bin", 0, 31);
  write_batch(folder / "test_batch.bin", 100, 7);
  DataOptions options{Cifar10DataOptions{.path = folder.path()}, 4, 0};
  std::multiset<int64_t> validated;
  for (; options.fold < 4; ++options.fold) {
    const Splits splits = open_splits(options);
    EXPECT_EQ(splits.test->size(), 7);
    EXPECT_EQ(splits.train->size() + splits.valid->size(), 31);
    EXPECT_GE(splits.valid->size(), 7);
    std::set<int64_t> seen;
    for (const auto& set : {splits.train, splits.valid}) {
      const Batch batch = all_of_set(*set);
      for (int64_t i = 0; i < set->size(); ++i) {
        const auto number = std::lround(255 * std::get<Grid>(batch.input).values[i][0][0][0].item<float>());
        EXPECT_EQ(batch.labels.at("class")[i][0].item<int64_t>(), number % 10);
        seen.insert(number);
        if (set == splits.valid) {
          validated.insert(number);
        }
      }
    }
    EXPECT_EQ(seen.size(), 31u);
  }
  EXPECT_EQ(validated.size(), 31u);
  EXPECT_EQ(std::set(validated.begin(), validated.end()).size(), 31u);
  options.fold = 0;
  options.folds = 1;
  EXPECT_EQ(message_of<ConfigError>([&] { open_splits(options); }),
            "data.folds must be 0 or at least 2, got 1");
}

TEST(Cifar10, GivesThePatchesOfThePaper) {
  const Folder folder;
  write_batch(folder / "test_batch.bin", 0, 2);
  const ImageInput input{.carrier = ImageCarrier::points};
  const auto set = open_set(Cifar10DataOptions{.path = folder.path(), .input = input}).test;
  const Batch batch = all_of_set(*set);
  require_consistent(batch, set->schema());
  const auto& p = std::get<Points>(batch.input);
  EXPECT_EQ(p.scalars.sizes(), (at::IntArrayRef{2 * 64, 48}));
  EXPECT_EQ(p.scalars[0][2 * 16 + 5].item<float>(), 1);  // blue, row 1, column 1
  EXPECT_NEAR(p.positions[9][0].item<float>(), 1.0 / 7 - 0.5, 1e-6);
  EXPECT_EQ(set->schema().interface.features,
            declared_schema(Cifar10DataOptions{.input = input}).interface.features);
}

TEST(ImageFolder, FoldersAreClassesByName) {
  const Folder folder;
  for (int i = 0; i < 10; ++i) {
    write(folder / text("dogs/", i, ".png"), plain(4, 6, {10 * i, 0, 255}));
    write(folder / text("cats/", i, ".bmp"), plain(4, 6, {100 + 10 * i, 255, 0}));
  }
  std::ofstream(folder / "dogs/notes.txt") << "no image";
  const ImagesDataOptions options{.path = folder.path(), .classes = 2};
  const Splits splits = open_set(options);
  EXPECT_EQ(splits.train->size(), 16);
  EXPECT_EQ(splits.valid->size(), 2);
  EXPECT_EQ(splits.test->size(), 2);
  std::set<int> seen;
  for (const auto& set : {splits.train, splits.valid, splits.test}) {
    const Batch batch = all_of_set(*set);
    const Tensor x = std::get<Grid>(batch.input).values;
    EXPECT_EQ(x.sizes(), (at::IntArrayRef{set->size(), 3, 4, 6}));
    for (int64_t i = 0; i < set->size(); ++i) {
      const bool dog = x[i][2][0][0].item<float>() == 1;
      EXPECT_EQ(batch.labels.at("class")[i][0].item<int64_t>(), dog ? 1 : 0);
      EXPECT_TRUE(seen.insert(static_cast<int>(std::lround(255 * x[i][0][3][5].item<float>()))).second);
    }
    EXPECT_EQ(set->schema().labels, declared_schema(options).labels);
    EXPECT_EQ(set->schema().interface.features, declared_schema(options).interface.features);
  }
  EXPECT_EQ(seen.size(), 20u);
  EXPECT_EQ(open_for_inspection(folder.path()).size(), 3u);
  // Grey by luminance, resized.
  const Splits grey =
      open_set(ImagesDataOptions{.path = folder.path(), .channels = 1, .height = 8, .width = 3});
  const Tensor g = values(*grey.train);
  EXPECT_EQ(g.sizes(), (at::IntArrayRef{16, 1, 8, 3}));
  const auto wrong =
      message_of<DataError>([&] { open_set(ImagesDataOptions{.path = folder.path(), .classes = 3}); });
  EXPECT_NE(wrong.find("data.images.classes must be 2, the folders of classes, got 3"), std::string::npos)
      << wrong;
  EXPECT_THROW(declared_schema(ImagesDataOptions{}), ConfigError);
}

TEST(ImageFolder, SplitFoldersAreUsed) {
  const Folder folder;
  for (const std::string split : {"train", "valid", "test"}) {
    write(folder / (split + "/a/x.png"), plain(2, 2, {1}));
    write(folder / (split + "/b/x.png"), plain(2, 2, {2}));
  }
  const Splits splits = open_set(ImagesDataOptions{.path = folder.path(), .channels = 1});
  EXPECT_EQ(splits.train->size(), 2);
  EXPECT_EQ(splits.test->size(), 2);
  EXPECT_EQ(splits.valid->schema().labels[0].categories, 2);
  write(folder / "test/c/x.png", plain(2, 2, {2}));
  EXPECT_NE(message_of<DataError>([&] {
              open_set(ImagesDataOptions{.path = folder.path(), .channels = 1});
            }).find("test/c: is no class of the training images"),
            std::string::npos);
}

// Of a model's classes some may be absent; numbers are in their own order.
TEST(ImageFolder, FoldersOfSomeClassesKeepTheNumbersOfAModel) {
  const Folder folder;
  for (const char* name : {"1", "2", "10"}) {
    write(folder / (std::string(name) + "/x.png"), plain(2, 2, {std::stoi(name)}));
  }
  ImagesDataOptions o{.path = folder.path(), .channels = 1, .train_fraction = 0, .valid_fraction = 0};
  const auto labels = [&] {
    std::map<int, int64_t> found;  // of the shade, which is the folder's name
    const Batch batch = all_of_set(*open_set(o).test);
    const Tensor x = std::get<Grid>(batch.input).values;
    for (int64_t i = 0; i < x.size(0); ++i) {
      found[static_cast<int>(std::lround(255 * (0.5 + 0.25 * x[i][0][0][0].item<float>())))] =
          batch.labels.at("class")[i][0].item<int64_t>();
    }
    return found;
  };
  o.input.normalise = true;
  EXPECT_EQ(labels(), (std::map<int, int64_t>{{1, 0}, {2, 1}, {10, 2}}));
  o.known_classes = {"10", "cat", "2", "1"};
  o.classes = 4;
  EXPECT_EQ(labels(), (std::map<int, int64_t>{{1, 3}, {2, 2}, {10, 0}}));
  EXPECT_EQ(open_set(o).test->schema().labels[0].categories, 4);
  EXPECT_EQ(open_set(o).test->schema().category_names.at("class"), o.known_classes);
  o.known_classes = {"10", "cat", "dog", "1"};  // 2 is none of them
  EXPECT_EQ(message_of<DataError>([&] { open_set(o); }),
            folder.path() +
                ": has the class '2', which the model does not know: it knows 4 classes, '10', 'cat', "
                "'dog', '1'");
}

TEST(ImageFolder, MasksAreClassesOfPixels) {
  const Folder folder;
  Array mask = plain(4, 4, {0});
  mask.bytes[5] = std::byte{2};
  for (const char* name : {"a", "b", "c", "d"}) {
    write(folder / text("images/", name, ".png"), plain(4, 4, {9, 9, 9}));
    write(folder / text("masks/", name, ".png"), mask);
  }
  const ImagesDataOptions options{.path = folder.path(),
                                  .target = ImageTarget::mask,
                                  .classes = 3,
                                  .train_fraction = 1,
                                  .valid_fraction = 0};
  const auto set = open_set(options).train;
  const Batch batch = all_of_set(*set);
  require_consistent(batch, set->schema());
  const Tensor m = batch.labels.at("mask");
  EXPECT_EQ(m.sizes(), (at::IntArrayRef{4, 1, 4, 4}));
  EXPECT_EQ(m.scalar_type(), at::kLong);
  EXPECT_EQ(m[0][0][1][1].item<int64_t>(), 2);
  EXPECT_EQ(m.sum().item<int64_t>(), 8);

  // As points: the class of most pixels of a patch.
  ImagesDataOptions points = options;
  points.input = {.carrier = ImageCarrier::points, .patch = 1};
  const auto one = open_set(points).train;
  const Batch pixels = all_of_set(*one);
  require_consistent(pixels, one->schema());
  EXPECT_EQ(pixels.labels.at("mask")[5][0].item<int64_t>(), 2);
  points.input.patch = 2;
  EXPECT_EQ(all_of_set(*open_set(points).train).labels.at("mask").sum().item<int64_t>(), 0);

  const auto refused = [&](const Array& broken) {
    write(folder / "masks/c.png", broken);
    return message_of<DataError>([&] { open_set(options); });
  };
  EXPECT_NE(refused(plain(4, 4, {3})).find("c.png: a mask must hold classes 0 .. 2, got 3"),
            std::string::npos);
  EXPECT_NE(refused(plain(4, 5, {1})).find("c.png: must have 4 x 4 pixels as its image, got 4 x 5"),
            std::string::npos);
  EXPECT_NE(refused(plain(4, 4, {1, 2, 0})).find("c.png: a mask must be grey"), std::string::npos);
  fs::remove(folder / "masks/c.png");
  EXPECT_NE(message_of<DataError>([&] { open_set(options); }).find("has no mask"), std::string::npos);
}

TEST(ImageFolder, ImagesMustHaveOneSizeOrBeResized) {
  const Folder folder;
  write(folder / "a/1.png", plain(4, 4, {9}));
  write(folder / "b/2.png", plain(4, 5, {9}));
  ImagesDataOptions options{.path = folder.path(), .channels = 1, .train_fraction = 1, .valid_fraction = 0};
  EXPECT_NE(
      message_of<DataError>([&] { open_set(options); }).find("pixels as the first image, got 1 of 4 x "),
      std::string::npos);
  options.height = options.width = 4;
  EXPECT_TRUE(at::allclose(values(*open_set(options).train), at::full({2, 1, 4, 4}, 9.0 / 255), 1e-5, 1e-6));
}

TEST(ImageFolder, OneImageIsReadAsTheModelWantsIt) {
  const Folder folder;
  write(folder / "x.png", plain(4, 6, {30, 60, 90, 128}));
  const auto as_it_is = open_file(folder / "x.png", {});
  EXPECT_EQ(values(*as_it_is).sizes(), (at::IntArrayRef{1, 3, 4, 6}));
  EXPECT_TRUE(as_it_is->schema().labels.empty());
  const ImagesDataOptions options{.classes = 2, .channels = 1, .height = 2, .width = 3};
  const Interface told = declared_schema(options).interface;
  const auto grey = open_file(folder / "x.png", {options}, &told);
  EXPECT_EQ(values(*grey).sizes(), (at::IntArrayRef{1, 1, 2, 3}));
  EXPECT_NEAR(values(*grey)[0][0][0][0].item<float>(), (0.299 * 30 + 0.587 * 60 + 0.114 * 90) / 255, 2e-3);
  EXPECT_EQ(message_of<DataError>([&] { open_file(folder / "x.png", {}, &told); }),
            folder / "x.png" + ": must give the model's features intensity, gives rgb");
}

TEST(ImageOptions, SizesAndChannelsAreCheckedBeforeFiles) {
  const auto refused = [](const DataSet& set) {
    return message_of<ConfigError>([&] { declared_schema(DataOptions{set}); });
  };
  EXPECT_NE(refused(ImagesDataOptions{.classes = 2, .height = 16})
                .find("data.images: height and width must be both"),
            std::string::npos);
  EXPECT_NE(refused(Ph2DataOptions{.height = 0, .width = 9}).find("data.ph2: height and width must be both"),
            std::string::npos);
  EXPECT_NE(refused(ImagesDataOptions{.classes = 2, .channels = 2}).find("data.images.channels: must be 1"),
            std::string::npos);
  EXPECT_EQ(refused(ImagesDataOptions{.classes = 2, .channels = 1, .height = 16, .width = 16}), "");
}

}  // namespace image_sets_test
}  // namespace weyl
