// The sets of photographs: CIFAR-10, folders of images, PH2.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/formats/image.h"
#include "weyl/data/image_tensor.h"
#include "weyl/data/inspect.h"
#include "weyl/data/sets/cifar10.h"
#include "weyl/data/sets/image_folder.h"
#include "weyl/data/sets/ph2.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

Batch all_of_set(const Dataset& set) {
  std::vector<int64_t> samples(set.size());
  std::iota(samples.begin(), samples.end(), 0);
  return set.batch(samples);
}

Tensor values(const Dataset& set) {
  return std::get<Grid>(all_of_set(set).input).values;
}

/// An image of one colour.
Array plain(int64_t h, int64_t w, std::vector<int> colour) {
  Array image{ElementType::u8, {h, w, std::ssize(colour)}, {}};
  for (int64_t k = 0; k < h * w; ++k) {
    for (const int c : colour) {
      image.bytes.push_back(static_cast<std::byte>(c));
    }
  }
  return image;
}

void write(const fs::path& path, const Array& image) {
  fs::create_directories(path.parent_path());
  write_image(path.string(), image);
}

// --- CIFAR-10 --------------------------------------------------------------------------------

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
  const Splits splits = open_cifar10({.path = folder.path()});
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
  EXPECT_EQ(open_cifar10({.path = folder.path(), .train = 3}).train->size(), 3);
  EXPECT_EQ(open_file(folder / "test_batch.bin", {Cifar10DataOptions{}})->size(), 7);
  EXPECT_EQ(open_for_inspection(folder.path()).size(), 3u);
}

TEST(Cifar10, GivesThePatchesOfThePaper) {
  const Folder folder;
  write_batch(folder / "test_batch.bin", 0, 2);
  const ImageInput input{.carrier = ImageCarrier::points};
  const auto set = open_cifar10({.path = folder.path(), .input = input}).test;
  const Batch batch = all_of_set(*set);
  require_consistent(batch, set->schema());
  const auto& p = std::get<Points>(batch.input);
  EXPECT_EQ(p.scalars.sizes(), (at::IntArrayRef{2 * 64, 48}));
  EXPECT_EQ(p.scalars[0][2 * 16 + 5].item<float>(), 1);  // blue, row 1, column 1
  EXPECT_NEAR(p.positions[9][0].item<float>(), 1.0 / 7 - 0.5, 1e-6);
  EXPECT_EQ(set->schema().interface.features, cifar10_schema({.input = input}).interface.features);
}

// --- folders ---------------------------------------------------------------------------------

TEST(ImageFolder, FoldersAreClassesByName) {
  const Folder folder;
  for (int i = 0; i < 10; ++i) {
    write(folder / text("dogs/", i, ".png"), plain(4, 6, {10 * i, 0, 255}));
    write(folder / text("cats/", i, ".bmp"), plain(4, 6, {100 + 10 * i, 255, 0}));
  }
  std::ofstream(folder / "dogs/notes.txt") << "no image";
  const ImagesDataOptions options{.path = folder.path(), .classes = 2};
  const Splits splits = open_images(options);
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
    EXPECT_EQ(set->schema().labels, images_schema(options).labels);
    EXPECT_EQ(set->schema().interface.features, images_schema(options).interface.features);
  }
  EXPECT_EQ(seen.size(), 20u);
  EXPECT_EQ(open_for_inspection(folder.path()).size(), 3u);
  // Grey by luminance, resized.
  const Splits grey = open_images({.path = folder.path(), .channels = 1, .height = 8, .width = 3});
  const Tensor g = values(*grey.train);
  EXPECT_EQ(g.sizes(), (at::IntArrayRef{16, 1, 8, 3}));
  const auto wrong = message_of<DataError>([&] { open_images({.path = folder.path(), .classes = 3}); });
  EXPECT_NE(wrong.find("data.images.classes must be 2, the folders of classes, got 3"), std::string::npos)
      << wrong;
  EXPECT_THROW(images_schema({}), ConfigError);
}

TEST(ImageFolder, SplitFoldersAreUsed) {
  const Folder folder;
  for (const std::string split : {"train", "valid", "test"}) {
    write(folder / (split + "/a/x.png"), plain(2, 2, {1}));
    write(folder / (split + "/b/x.png"), plain(2, 2, {2}));
  }
  const Splits splits = open_images({.path = folder.path(), .channels = 1});
  EXPECT_EQ(splits.train->size(), 2);
  EXPECT_EQ(splits.test->size(), 2);
  EXPECT_EQ(splits.valid->schema().labels[0].categories, 2);
  write(folder / "test/c/x.png", plain(2, 2, {2}));
  EXPECT_NE(message_of<DataError>([&] {
              open_images({.path = folder.path(), .channels = 1});
            }).find("test/c: is no class of the training images"),
            std::string::npos);
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
  const auto set = open_images(options).train;
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
  const auto one = open_images(points).train;
  const Batch pixels = all_of_set(*one);
  require_consistent(pixels, one->schema());
  EXPECT_EQ(pixels.labels.at("mask")[5][0].item<int64_t>(), 2);
  points.input.patch = 2;
  EXPECT_EQ(all_of_set(*open_images(points).train).labels.at("mask").sum().item<int64_t>(), 0);

  const auto refused = [&](const Array& broken) {
    write(folder / "masks/c.png", broken);
    return message_of<DataError>([&] { open_images(options); });
  };
  EXPECT_NE(refused(plain(4, 4, {3})).find("c.png: a mask must hold classes 0 .. 2, got 3"),
            std::string::npos);
  EXPECT_NE(refused(plain(4, 5, {1})).find("c.png: must have 4 x 4 pixels as its image, got 4 x 5"),
            std::string::npos);
  EXPECT_NE(refused(plain(4, 4, {1, 2, 0})).find("c.png: a mask must be grey"), std::string::npos);
  fs::remove(folder / "masks/c.png");
  EXPECT_NE(message_of<DataError>([&] { open_images(options); }).find("has no mask"), std::string::npos);
}

TEST(ImageFolder, ImagesMustHaveOneSizeOrBeResized) {
  const Folder folder;
  write(folder / "a/1.png", plain(4, 4, {9}));
  write(folder / "b/2.png", plain(4, 5, {9}));
  ImagesDataOptions options{.path = folder.path(), .channels = 1, .train_fraction = 1, .valid_fraction = 0};
  EXPECT_NE(
      message_of<DataError>([&] { open_images(options); }).find("pixels as the first image, got 1 of 4 x "),
      std::string::npos);
  options.height = options.width = 4;
  EXPECT_TRUE(
      at::allclose(values(*open_images(options).train), at::full({2, 1, 4, 4}, 9.0 / 255), 1e-5, 1e-6));
}

TEST(ImageFolder, OneImageIsReadAsTheModelWantsIt) {
  const Folder folder;
  write(folder / "x.png", plain(4, 6, {30, 60, 90, 128}));
  const auto as_it_is = open_file(folder / "x.png", {});
  EXPECT_EQ(values(*as_it_is).sizes(), (at::IntArrayRef{1, 3, 4, 6}));
  EXPECT_TRUE(as_it_is->schema().labels.empty());
  const ImagesDataOptions options{.classes = 2, .channels = 1, .height = 2, .width = 3};
  const Interface told = images_schema(options).interface;
  const auto grey = open_file(folder / "x.png", {options}, &told);
  EXPECT_EQ(values(*grey).sizes(), (at::IntArrayRef{1, 1, 2, 3}));
  EXPECT_NEAR(values(*grey)[0][0][0][0].item<float>(), (0.299 * 30 + 0.587 * 60 + 0.114 * 90) / 255, 2e-3);
  EXPECT_EQ(message_of<DataError>([&] { open_file(folder / "x.png", {}, &told); }),
            folder / "x.png" + ": must give the model's features intensity, gives rgb");
}

// --- PH2 -------------------------------------------------------------------------------------

void write_case(const Folder& folder, const std::string& name, int red, bool mask = true,
                int64_t mask_width = 8) {
  const fs::path place = fs::path(folder.path()) / "PH2 Dataset images" / name;
  write(place / (name + "_Dermoscopic_Image") / (name + ".bmp"), plain(6, 8, {red, 0, 0}));
  if (mask) {
    Array lesion = plain(6, mask_width, {0});
    std::fill_n(lesion.bytes.begin(), 3 * mask_width, std::byte{255});  // the upper half
    write(place / (name + "_lesion") / (name + "_lesion.bmp"), lesion);
  }
}

// --- numbers and masks by hand ---------------------------------------------------------------

Array grey(int64_t h, int64_t w, const std::vector<int>& numbers) {
  Array image{ElementType::u8, {h, w, 1}, {}};
  for (const int n : numbers) {
    image.bytes.push_back(static_cast<std::byte>(n));
  }
  return image;
}

TEST(ImageTensor, ShrinksSmoothly) {
  const Folder folder;
  write(folder / "a.png", grey(3, 3, {0, 102, 204, 0, 102, 204, 0, 102, 204}));
  const Tensor x = load_image(folder / "a.png", 1, {2, 2});
  // triangles of half-width 3/2 about 3/4 and 9/4: 5/8 of the pixel at the edge, 3/8 of the one in the middle
  EXPECT_TRUE(at::allclose(x[0], at::tensor({0.15, 0.65, 0.15, 0.65}, at::kFloat).view({2, 2}), 1e-5, 1e-6))
      << x;
}

TEST(ImageTensor, AShrunkMaskIsOfTheClassThatCoversMost) {
  const Folder folder;
  // a stray 3 where the nearest pixel is taken from; a mean of numbers would give classes that are not there
  write(folder / "m.png", grey(4, 4, {0, 0, 1, 1, 0, 3, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}));
  EXPECT_TRUE(load_mask(folder / "m.png", 4, {2, 2}).equal(at::tensor({0, 1, 2, 3}, at::kByte).view({2, 2})));
  EXPECT_TRUE(load_mask(folder / "m.png", 4, {})[1].equal(at::tensor({0, 3, 1, 1}, at::kByte)));
}

TEST(ImageTensor, AMaskOfTwoClassesHasTwoNumbers) {
  const Folder folder;
  const auto mask = [&](const std::vector<int>& numbers) {
    write(folder / "m.png", grey(1, 3, numbers));
    return load_mask(folder / "m.png", 2, {});
  };
  const Tensor middle = at::tensor({0, 1, 0}, at::kByte).view({1, 3});
  for (const int on : {1, 2, 100, 127, 128, 255}) {
    EXPECT_TRUE(mask({0, on, 0}).equal(middle)) << on;
  }
  EXPECT_EQ(mask({255, 255, 255}).sum().item<int64_t>(), 3);
  EXPECT_EQ(mask({0, 0, 0}).sum().item<int64_t>(), 0);
  EXPECT_NE(
      message_of<DataError>([&] { mask({0, 90, 255}); }).find("0 and one other number, got 255 and 1 pixels"),
      std::string::npos);
}

TEST(ImageTensor, AMaskOfGreysNeedsAThreshold) {
  const Folder folder;
  const auto mask = [&](const std::vector<int>& greys, std::optional<double> above) {
    write(folder / "m.png", grey(1, std::ssize(greys), greys));
    return load_mask(folder / "m.png", 2, {}, {above, "data.ph2.mask_threshold"});
  };
  const auto row = [](const std::vector<int64_t>& classes) {
    return at::tensor(classes, at::kByte).view({1, std::ssize(classes)});
  };
  const std::vector<int> smoothed{0, 3, 127, 128, 252, 255};
  EXPECT_TRUE(mask(smoothed, 0.5).equal(row({0, 0, 0, 1, 1, 1})));
  EXPECT_TRUE(mask(smoothed, 0).equal(row({0, 1, 1, 1, 1, 1})));
  EXPECT_TRUE(mask({0, 3, 2, 0}, 0.5).equal(row({0, 0, 0, 0})));  // an empty one that was a JPEG
  EXPECT_TRUE(mask({0, 255, 0}, 0.5).equal(row({0, 1, 0})));
  EXPECT_TRUE(mask({0, 0}, 0.5).equal(row({0, 0})));
  EXPECT_EQ(
      message_of<DataError>([&] { mask({0, 1}, 0.5); }),
      (folder / "m.png") +
          ": holds 0 and 1, which are classes; data.ph2.mask_threshold is for masks of greys up to 255");
  EXPECT_EQ(message_of<DataError>([&] { mask({0, 90, 255}, {}); }),
            (folder / "m.png") +
                ": a mask of two classes must hold 0 and one other number, got 255 and 1 pixels between; "
                "where its border is, data.ph2.mask_threshold says (0.5: half of white)");

  // Through both sets.
  const std::string name = folder / "cases/PH2 Dataset images/IMD001/IMD001";
  write(name + "_Dermoscopic_Image/IMD001.bmp", plain(2, 3, {9, 9, 9}));
  write(name + "_lesion/IMD001_lesion.bmp", grey(2, 3, {0, 90, 255, 0, 200, 255}));
  Ph2DataOptions ph2{.path = folder / "cases", .height = 0, .width = 0, .fractions = {1, 0, 0}};
  EXPECT_NE(message_of<DataError>([&] { open_ph2(ph2); }).find("data.ph2.mask_threshold says"),
            std::string::npos);
  ph2.mask_threshold = 0.5;
  EXPECT_EQ(all_of_set(*open_ph2(ph2).train).labels.at("mask").sum().item<int64_t>(), 3);
  write(folder / "pairs/images/a.png", plain(2, 3, {9, 9, 9}));
  write(folder / "pairs/masks/a.png", grey(2, 3, {0, 90, 255, 0, 200, 255}));
  ImagesDataOptions images{.path = folder / "pairs", .target = ImageTarget::mask};
  images.train_fraction = 1;
  images.valid_fraction = 0;
  EXPECT_NE(message_of<DataError>([&] { open_images(images); }).find("data.images.mask_threshold says"),
            std::string::npos);
  images.mask_threshold = 0.2;
  EXPECT_EQ(all_of_set(*open_images(images).train).labels.at("mask").sum().item<int64_t>(), 4);
  images.classes = 3;
  EXPECT_EQ(message_of<ConfigError>([&] { open_images(images); }),
            "data.images.mask_threshold: is for masks of two classes");
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

TEST(AllOf, AnotherFolderIsForTestingWhole) {
  const Folder folder;
  for (int i = 0; i < 5; ++i) {
    write_case(folder, text("IMD00", i), 20 * i);
    write(folder / text("classes/a/", i, ".png"), plain(2, 2, {i, i, i}));
  }
  const DataOptions ph2{Ph2DataOptions{.height = 6, .width = 8, .train = 2, .valid = 1, .test = 1}},
      images{ImagesDataOptions{}};
  for (const Splits& splits :
       {open_splits(all_of(ph2, folder.path())), open_splits(all_of(images, folder / "classes"))}) {
    EXPECT_FALSE(splits.train);
    EXPECT_FALSE(splits.valid);
    ASSERT_TRUE(splits.test);
    EXPECT_EQ(splits.test->size(), 5);
  }
}

TEST(Ph2, IsInspectedThoughSizesDiffer) {
  const Folder folder;
  for (int i = 0; i < 4; ++i) {
    write_case(folder, text("IMD00", i), 20 * i);
  }
  const fs::path other = fs::path(folder.path()) / "PH2 Dataset images/IMD004";
  write(other / "IMD004_Dermoscopic_Image/IMD004.bmp", plain(5, 7, {1, 2, 3}));
  write(other / "IMD004_lesion/IMD004_lesion.bmp", plain(5, 7, {0}));
  int64_t found = 0;
  for (const auto& split : open_for_inspection(folder.path())) {
    found += split.second->size();
  }
  EXPECT_EQ(found, 5);
}

TEST(Ph2, SplitsAreDisjointAndMasksResized) {
  const Folder folder;
  for (int i = 0; i < 8; ++i) {
    write_case(folder, text("IMD00", i), 20 * i);
  }
  const Splits splits = open_ph2({.path = folder.path(), .height = 12, .width = 4});
  EXPECT_EQ(splits.train->size(), 4);
  EXPECT_EQ(splits.valid->size(), 2);
  EXPECT_EQ(splits.test->size(), 2);
  std::set<int64_t> seen;
  for (const auto& set : {splits.train, splits.valid, splits.test}) {
    const Batch batch = all_of_set(*set);
    const Tensor x = std::get<Grid>(batch.input).values, m = batch.labels.at("mask");
    EXPECT_EQ(x.sizes(), (at::IntArrayRef{set->size(), 3, 12, 4}));
    EXPECT_EQ(m.sizes(), (at::IntArrayRef{set->size(), 1, 12, 4}));
    EXPECT_TRUE(at::equal(m.slice(2, 0, 6), at::ones_like(m.slice(2, 0, 6))));
    EXPECT_EQ(m.slice(2, 6).sum().item<int64_t>(), 0);
    for (int64_t i = 0; i < set->size(); ++i) {
      EXPECT_TRUE(seen.insert(std::lround(255 * x[i][0][0][0].item<float>())).second);
    }
    EXPECT_EQ(set->schema().labels, ph2_schema({}).labels);
  }
  EXPECT_EQ(seen.size(), 8u);
  const Splits other =
      open_ph2({.path = folder.path(), .height = 0, .width = 0, .train = 1, .valid = 0, .test = 2});
  EXPECT_EQ(values(*other.train).sizes(), (at::IntArrayRef{1, 3, 6, 8}));
  EXPECT_FALSE(other.valid);
  EXPECT_EQ(open_for_inspection(folder.path()).size(), 3u);
}

TEST(Ph2, SplitsOfASeedStayWhatTheyAre) {
  const Folder folder;
  for (int i = 0; i < 8; ++i) {
    write_case(folder, text("IMD00", i), 20 * i);
  }
  const auto stems = [&](const Ph2DataOptions& o) {
    const Splits splits = open_ph2(o);
    std::string result;
    for (const auto& set : {splits.train, splits.valid, splits.test}) {
      for (int64_t i = 0; set && i < set->size(); ++i) {
        result += fs::path(set->source(i)).stem().string().back();
      }
      result += "/";
    }
    return result;
  };
  Ph2DataOptions o{.path = folder.path(), .height = 6, .width = 8};
  EXPECT_EQ(stems(o), "2145/63/07/");
  o.seed = 3;
  o.fractions = {0.4, 0.2, 0.4};
  EXPECT_EQ(stems(o), "423/50/176/");
  o.train = 3;
  o.test = 2;
  EXPECT_EQ(stems(o), "423//50/");
}

TEST(Ph2, SaysWhatIsWrong) {
  const Folder folder;
  const auto message = [&](const Ph2DataOptions& o) { return message_of<DataError>([&] { open_ph2(o); }); };
  EXPECT_NE(message({.path = "/nowhere/ph2"}).find("weyl data make lesions --out /nowhere/ph2"),
            std::string::npos);
  EXPECT_NE(message({.path = folder.path()}).find("holds no IMDxxx"), std::string::npos);
  for (int i = 0; i < 4; ++i) {
    write_case(folder, text("IMD00", i), 20 * i);
  }
  EXPECT_NE(message({.path = folder.path(), .train = 5}).find("must add up to at most 4"), std::string::npos);
  write_case(folder, "IMD009", 1, false);
  EXPECT_NE(message({.path = folder.path()}).find("IMD009_lesion.bmp: there is no such image"),
            std::string::npos);
  write_case(folder, "IMD009", 1, true, 9);
  EXPECT_NE(
      message({.path = folder.path(), .train = 5}).find("must have 6 x 8 pixels as its image, got 6 x 9"),
      std::string::npos);
}

}  // namespace
}  // namespace weyl
