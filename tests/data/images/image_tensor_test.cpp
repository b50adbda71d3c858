// Images and masks become numbers.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/data/folder.h"
#include "tests/data/images.h"
#include "weyl/core/check.h"
#include "weyl/data/images/image_folder.h"
#include "weyl/data/images/image_tensor.h"
#include "weyl/data/images/ph2.h"

namespace weyl {
namespace image_tensor_test {

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
  EXPECT_NE(message_of<DataError>([&] { open_set(ph2); }).find("data.ph2.mask_threshold says"),
            std::string::npos);
  ph2.mask_threshold = 0.5;
  EXPECT_EQ(all_of_set(*open_set(ph2).train).labels.at("mask").sum().item<int64_t>(), 3);
  write(folder / "pairs/images/a.png", plain(2, 3, {9, 9, 9}));
  write(folder / "pairs/masks/a.png", grey(2, 3, {0, 90, 255, 0, 200, 255}));
  ImagesDataOptions images{.path = folder / "pairs", .target = ImageTarget::mask};
  images.train_fraction = 1;
  images.valid_fraction = 0;
  EXPECT_NE(message_of<DataError>([&] { open_set(images); }).find("data.images.mask_threshold says"),
            std::string::npos);
  images.mask_threshold = 0.2;
  EXPECT_EQ(all_of_set(*open_set(images).train).labels.at("mask").sum().item<int64_t>(), 4);
  images.classes = 3;
  EXPECT_EQ(message_of<ConfigError>([&] { open_set(images); }),
            "data.images.mask_threshold: is for masks of two classes");
}

}  // namespace image_tensor_test
}  // namespace weyl
