#include "weyl/makers/images/lesions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/images/image.h"

namespace weyl {
namespace lesions_test {

namespace fs = std::filesystem;

const LesionsMakerOptions kSmall{.count = 3, .height = 48, .width = 64};

TEST(Lesions, TheMaskCoversTheDarkPlaceInTheMiddle) {
  for (int64_t index = 0; index < 12; ++index) {
    const Lesion lesion = make_lesion(kSmall, index);
    ASSERT_EQ(lesion.image.bytes.size(), 48u * 64 * 3);
    ASSERT_EQ(lesion.mask.bytes.size(), 48u * 64);
    double sum[2] = {}, count[2] = {};
    for (int64_t i = 0; i < 48; ++i) {
      for (int64_t j = 0; j < 64; ++j) {
        const int value = std::to_integer<int>(lesion.mask.bytes[i * 64 + j]);
        ASSERT_TRUE(value == 0 || value == 255);
        if (i < 2 || i >= 46) {
          EXPECT_EQ(value, 0) << "the border of a picture is skin: " << index;
        }
        if (std::hypot(static_cast<double>(i) - 24, static_cast<double>(j) - 32) <
            24) {  // without dark corners
          const bool inside = value == 255;
          for (int64_t c = 0; c < 3; ++c) {
            sum[inside] += std::to_integer<int>(lesion.image.bytes[(i * 64 + j) * 3 + c]) / 3.0;
          }
          ++count[inside];
        }
      }
    }
    EXPECT_GT(count[1], 48 * 64 / 40) << index;
    EXPECT_GT(sum[0] / count[0], sum[1] / count[1] + 15) << index;
  }
}

TEST(Lesions, AreAFunctionOfSeedAndIndex) {
  const Lesion a = make_lesion(kSmall, 1), b = make_lesion(kSmall, 1), c = make_lesion(kSmall, 2);
  EXPECT_EQ(a.image, b.image);
  EXPECT_EQ(a.mask, b.mask);
  EXPECT_NE(a.image, c.image);
  LesionsMakerOptions other = kSmall;
  other.seed = 1;
  EXPECT_NE(make_lesion(other, 1).mask, a.mask);
}

TEST(Lesions, AreWrittenInPh2sFolders) {
  const Folder folder;
  ASSERT_TRUE(make_lesions(kSmall, folder.path()));
  const fs::path all = fs::path(folder.path()) / "PH2 Dataset images";
  const Array image = read_image((all / "IMD002/IMD002_Dermoscopic_Image/IMD002.bmp").string());
  EXPECT_EQ(image, make_lesion(kSmall, 1).image);
  const Array mask = read_image((all / "IMD002/IMD002_lesion/IMD002_lesion.bmp").string());
  EXPECT_EQ(mask.shape, (std::vector<int64_t>{48, 64, 3}));
  const Lesion made = make_lesion(kSmall, 1);
  for (size_t k = 0; k < made.mask.bytes.size(); ++k) {
    ASSERT_EQ(mask.bytes[3 * k], made.mask.bytes[k]);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(all), {}), 3);
  EXPECT_NE(message_of<ConfigError>([&] { make_lesions(kSmall, folder.path()); }).find("exists already"),
            std::string::npos);
}

TEST(Lesions, LeaveNothingBehind) {
  const Folder folder;
  EXPECT_FALSE(make_lesions({.count = 1000}, folder / "out", {{}, [] { return true; }}));
  EXPECT_FALSE(fs::exists(folder / "out"));
  std::ofstream(folder / "file") << "no folder";
  EXPECT_THROW(make_lesions(kSmall, folder / "file"), DataError);
}

}  // namespace lesions_test
}  // namespace weyl
