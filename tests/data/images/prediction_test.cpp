#include "weyl/data/images/prediction.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/base/files_below.h"
#include "weyl/data/images/image.h"
#include "weyl/data/volumes/volume_tensor.h"

namespace weyl {
namespace prediction_test {

NiftiHeader oblique(std::vector<int64_t> shape, ElementType type) {
  NiftiHeader header{.type = type, .shape = std::move(shape)};
  header.geometry.sform_code = 1;
  header.geometry.srow = {0.1, -2, 0.2, 5, 0.1, 0.1, 3, 6, 0.9, 0.1, 0, 7};
  header.geometry.pixdim = {1, 0.9, 2, 3, 1, 1, 1, 1};
  return header;
}

TEST(VolumeTensor, PutsTheAxesInCanonicalOrderAndBack) {
  // All 48 orders and directions, at a tensor of three different sizes.
  const Tensor x = at::arange(2 * 3 * 4 * 5).reshape({2, 3, 4, 5});
  std::array<int, 3> axis{0, 1, 2};
  int different = 0;
  do {
    for (int signs = 0; signs < 8; ++signs) {
      const NiftiOrientation o{axis, {(signs & 1) != 0, (signs & 2) != 0, (signs & 4) != 0}};
      const Tensor y = to_canonical(x, o);
      for (int d = 0; d < 3; ++d) EXPECT_EQ(y.size(1 + d), x.size(1 + axis[d]));
      EXPECT_TRUE(at::equal(from_canonical(y, o), x));
      different += !y.sizes().equals(x.sizes()) || !at::equal(y, x) ? 1 : 0;
    }
  } while (std::next_permutation(axis.begin(), axis.end()));
  EXPECT_EQ(different, 47);
}

TEST(VolumeTensor, TheAffineTellsWhereAVoxelGoes) {
  const NiftiHeader header = oblique({2, 3, 4}, ElementType::u8);
  std::vector<std::byte> bytes(24);
  bytes[1 + 2 * 0 + 6 * 3] = std::byte{200};  // i 1 (up), j 0 (most to the right: j runs left), k 3 (front)
  const Tensor t = image_tensor({header, bytes});
  EXPECT_EQ(t.sizes(), (at::IntArrayRef{1, 3, 4, 2}));
  EXPECT_EQ(t[0][2][3][1].item<float>(), 200);
  const auto spacing = canonical_spacing(header);
  EXPECT_NEAR(spacing[0], 2, 0.01);
  EXPECT_NEAR(spacing[1], 3, 0.01);
  EXPECT_NEAR(spacing[2], 0.91, 0.01);
}

TEST(VolumeTensor, AgreesWithNibabel) {
  // tools/goldens/nifti_fixtures.py prints what nibabel makes of these files.
  const auto read = [](const char* name) {
    return read_nifti(std::string(WEYL_SOURCE_DIR "/tests/fixtures/volumes/") + name);
  };
  const auto expect = [](const Nifti& image, std::vector<int64_t> shape, std::vector<double> first,
                         std::array<double, 3> spacing) {
    const Tensor t = image_tensor(image).permute({1, 2, 3, 0}).contiguous();  // channels last, as there
    EXPECT_EQ(t.sizes().slice(0, 3), at::IntArrayRef(shape));
    for (size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(t.flatten()[static_cast<int64_t>(i)].item<double>(), first[i]) << i;
    }
    for (size_t d = 0; d < 3; ++d) {
      EXPECT_NEAR(canonical_spacing(image.header)[d], spacing[d], 1e-6);
    }
  };
  const std::array<double, 3> spacing{2.5, 3.0166206257996713, 1.5132745950421556};
  expect(read("scaled.nii"), {3, 2, 4}, {8, 5, 2, -1, 8.5, 5.5}, spacing);
  expect(read("two.nii.gz"), {3, 2, 4}, {22, 122, 16, 116, 10, 110}, spacing);
  EXPECT_EQ(read("two.nii.gz").header.version, 2);
  expect(read("big_endian.nii"), {3, 2, 4}, {22, 16, 10, 4, 23, 17}, spacing);
  const Nifti q = read("qform.nii");
  EXPECT_EQ(q.header.geometry.sform_code, 0);
  expect(q, {3, 4, 2}, {4, 5, 10, 11, 16, 17}, {2, 2, 3});
  const NiftiAffine affine{0, -2, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0};
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(affine_of(q.header)[i], affine[i], 1e-6) << i;
  }
}

TEST(Prediction, TakesTheFormatAndTheAffineBitsOfItsSource) {
  const Folder folder;
  for (const char* name : {"case_7.nii", "case_7.nii.gz"}) {
    const NiftiHeader header = oblique({2, 3, 4, 2}, ElementType::i16);
    write_nifti(folder / name, header, std::vector<std::byte>(96));
    const NiftiHeader source = read_nifti_header(folder / name);
    // Labels of the source's own order, seen in canonical order, come back as they were.
    std::vector<std::byte> labels(24);
    for (size_t i = 0; i < 24; ++i) labels[i] = static_cast<std::byte>(i * 5 % 4);
    NiftiHeader of_mask = oblique({2, 3, 4}, ElementType::u8);
    const Tensor mask =
        mask_tensor({of_mask, labels}, counted_numbers(4), orientation_of(affine_of(of_mask)), "x")
            .to(at::kLong);
    const auto path = write_prediction(folder / name, folder / "out_mask", mask);
    EXPECT_EQ(path, folder / "out_mask" + std::string(name).substr(6));
    const Nifti read = read_nifti(path);
    EXPECT_EQ(read.bytes, labels);
    EXPECT_EQ(read.header.type, ElementType::u8);
    EXPECT_EQ(read.header.geometry, source.geometry);
    const Tensor p = at::softmax(at::randn({3, 3, 4, 2}), 0);  // (K, X, Y, Z)
    const Nifti probabilities = read_nifti(write_prediction(folder / name, folder / "p", p));
    EXPECT_EQ(probabilities.header.shape, (std::vector<int64_t>{2, 3, 4, 3}));
    EXPECT_TRUE(at::equal(image_tensor(probabilities), p));
    EXPECT_EQ(affine_of(probabilities.header), affine_of(source));
  }
}

TEST(Prediction, RefusesAnotherSizeAndAnotherFormat) {
  const Folder folder;
  write_nifti(folder / "a.nii", oblique({2, 3, 4}, ElementType::u8), std::vector<std::byte>(24));
  EXPECT_EQ(
      message_of<ShapeError>(
          [&] { write_prediction(folder / "a.nii", folder / "b", at::zeros({2, 3, 4}, at::kLong)); }),
      "write_prediction: " + folder / "a.nii" + " has sizes [2, 3, 4], the prediction in its axes [4, 2, 3]");
  EXPECT_THROW(write_prediction(folder / "a.nii", folder / "b", at::full({3, 4, 2}, 65536)), ShapeError);
  const Nifti wide = read_nifti(write_prediction(folder / "a.nii", folder / "b", at::full({3, 4, 2}, 1000)));
  EXPECT_EQ(wide.header.type, ElementType::u16);
  EXPECT_EQ(values_of(wide)[5], 1000);
  EXPECT_EQ(
      message_of<DataError>([&] { write_prediction("a.txt", folder / "b", at::zeros({1}, at::kLong)); }),
      "a.txt: predictions are written for .nii, .nii.gz, .mha, .nrrd, .png, .jpg and .bmp files alone");
}

TEST(Prediction, OfAnImageIsAGreyPngOfItsSize) {
  const Folder folder;
  const std::string source = folder / "photo.bmp";
  write_image(source, {ElementType::u8, {4, 6, 3}, std::vector<std::byte>(72)});
  const Tensor classes = at::tensor(std::vector<int64_t>{0, 1, 2, 0, 1, 1}, at::kLong).view({2, 3});
  const std::string path = write_prediction(source, folder / "photo", classes);
  EXPECT_EQ(path, folder / "photo.png");
  const Array read = read_image(path);
  EXPECT_EQ(read.shape, (std::vector<int64_t>{4, 6, 1}));
  for (int64_t i = 0; i < 24; ++i) {  // every class twice along both axes
    EXPECT_EQ(static_cast<int64_t>(read.bytes[i]), classes[i / 12][i % 6 / 2].item<int64_t>());
  }
  write_prediction(source, folder / "two", classes.clamp_max(1), 2);
  EXPECT_EQ(read_image(folder / "two.png").bytes[2], std::byte{255});
  EXPECT_THROW(write_prediction(source, folder / "p", at::zeros({2, 2, 3})), ShapeError);
}

}  // namespace prediction_test
}  // namespace weyl
