// Volumes brought to another grid, and predictions brought back.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <span>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/images/prediction.h"
#include "weyl/data/open.h"
#include "weyl/data/volumes/decathlon.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/resample.h"
#include "weyl/data/volumes/volume_tensor.h"

namespace weyl {
namespace resample_test {

namespace fs = std::filesystem;

/// A ball with a bump, off the middle: no reflection or turn keeps it. Uint8 (X, Y, Z), classes 0, 1 and 2.
Tensor shape(const std::array<int64_t, 3>& cells) {
  Tensor mask = at::zeros({cells[0], cells[1], cells[2]}, at::kByte);
  auto* at = mask.mutable_data_ptr<uint8_t>();
  for (int64_t x = 0; x < cells[0]; ++x) {
    for (int64_t y = 0; y < cells[1]; ++y) {
      for (int64_t z = 0; z < cells[2]; ++z, ++at) {
        const auto a = static_cast<double>(x) - 0.45 * static_cast<double>(cells[0]),
                   b = static_cast<double>(y) - 0.55 * static_cast<double>(cells[1]),
                   c = static_cast<double>(z) - 0.5 * static_cast<double>(cells[2]);
        const double size = 0.3 * static_cast<double>(std::ranges::min(cells));
        const bool ball = std::hypot(a, b, c) < size, bump = std::hypot(a - size, b, c - 2) < 0.45 * size;
        *at = bump ? 2 : ball ? 1 : 0;
      }
    }
  }
  return mask;
}

Tensor shares_of(const Tensor& mask, int64_t classes) {
  return at::one_hot(mask.to(at::kLong), classes).permute({3, 0, 1, 2}).to(at::kFloat).contiguous();
}

TEST(Resample, LinearValuesStayLinear) {
  const GridChange change = change_of_spacing({12, 9, 7}, {1, 2, 1}, {1.5, 1, 1});
  EXPECT_EQ(change.cells, (std::array<int64_t, 3>{8, 18, 7}));
  const Tensor x = at::arange(12, at::kFloat).view({12, 1, 1}), y = at::arange(9, at::kFloat).view({1, 9, 1}),
               z = at::arange(7, at::kFloat).view({1, 1, 7});
  const Tensor values = (x + 10 * y + 100 * z).unsqueeze(0);
  for (const Interpolation by : {Interpolation::linear, Interpolation::cubic}) {
    const Tensor now = resampled(values, change, by);
    ASSERT_EQ(now.sizes(), (at::IntArrayRef{1, 8, 18, 7}));
    for (int64_t i = 2; i < 6; ++i) {  // away from edges, where values end
      for (int64_t j = 4; j < 14; ++j) {
        const double at =
            (static_cast<double>(i) - 3.5) * 1.5 + 5.5 + 10 * ((static_cast<double>(j) - 8.5) / 2 + 4);
        EXPECT_NEAR(now[0][i][j][0].item<double>(), at, 0.03) << i << " " << j;
      }
    }
  }
  EXPECT_TRUE(at::allclose(resampled(at::ones({2, 12, 9, 7}), change, Interpolation::cubic),
                           at::ones({2, 8, 18, 7})));
}

TEST(Resample, CoarserGridsAreNotAliased) {
  // Every other cell is 1: of twice the spacing the mean is left, not one of the two.
  const Tensor stripes = at::arange(32, at::kFloat).remainder(2).view({1, 32, 1, 1});
  for (const Interpolation by : {Interpolation::linear, Interpolation::cubic}) {
    const Tensor now = resampled(stripes, {{16, 1, 1}, {2, 1, 1}}, by).slice(1, 3, 13);
    EXPECT_LT((now - 0.5).abs().max().item<double>(), 0.05);
  }
}

TEST(Resample, OfEqualSharesTheLowerClassIsTaken) {
  const Tensor mask = at::tensor({0, 1, 2, 1, 1, 1}, at::kByte).view({6, 1, 1});
  // Twice as coarse: three voxels of each new one's, weights 1 3 3 1 of four.
  const Tensor coarse = resampled_classes(mask, 3, {{3, 1, 1}, {2, 1, 1}}).flatten();
  EXPECT_TRUE(at::equal(coarse, at::tensor({0, 1, 1}, at::kByte))) << coarse;
  // Half the spacing, at the middle of 0 | 1.
  EXPECT_EQ(resampled_classes(mask, 3, {{11, 1, 1}, {0.5, 1, 1}}).flatten()[1].item<int64_t>(), 0);
}

/// Whether each voxel in which two masks differ is a neighbour, by a face, an edge or a corner, of a voxel of `a` that
/// has the class that `b` gives it.
int64_t moved_too_far(const Tensor& a, const Tensor& b, int64_t classes) {
  int64_t count = 0;
  for (int64_t k = 0; k < classes; ++k) {
    const Tensor near =
        at::max_pool3d((a == k).to(at::kFloat).unsqueeze(0), {3, 3, 3}, {1, 1, 1}, {1, 1, 1}).squeeze(0) > 0;
    count += ((b == k).logical_and(near.logical_not())).sum().item<int64_t>();
    const Tensor near_after =
        at::max_pool3d((b == k).to(at::kFloat).unsqueeze(0), {3, 3, 3}, {1, 1, 1}, {1, 1, 1}).squeeze(0) > 0;
    count += ((a == k).logical_and(near_after.logical_not())).sum().item<int64_t>();
  }
  return count;
}

TEST(Resample, ThereAndBackNoBoundaryMovesByMoreThanAVoxel) {
  const std::array<int64_t, 3> cells{40, 44, 36};
  const Tensor mask = shape(cells);
  for (const std::array<double, 3>& wanted :
       {std::array{0.5, 1.0, 0.8}, {1.5, 1.5, 1.5}, {1.3, 0.7, 1.9}, {1.0, 1.0, 1.0}}) {
    const GridChange there = change_of_spacing(cells, {1, 1, 1}, wanted);
    const Tensor prepared = resampled_classes(mask, 3, there);
    GridChange back{cells, {1, 1, 1}};
    for (size_t d = 0; d < 3; ++d) {
      back.step[d] = 1 / there.step[d];
    }
    const Tensor again = most_likely(resampled(shares_of(prepared, 3), back, Interpolation::linear));
    EXPECT_EQ(moved_too_far(mask.to(at::kLong), again, 3), 0) << wanted[0];
    EXPECT_GT((again == mask).to(at::kDouble).mean().item<double>(), 0.98);
  }
}

/// Writes the same thing in space with another order and direction of the file's axes.
void write_oriented(const std::string& path, const Tensor& canonical, const std::array<double, 3>& spacing,
                    const NiftiOrientation& o, ElementType type) {
  NiftiHeader header{.type = type};
  const Tensor file = from_canonical(canonical, o);
  header.shape = file.sizes().vec();
  NiftiGeometry& g = header.geometry;
  g.sform_code = 1;
  g.srow = {};
  for (size_t d = 0; d < 3; ++d) {
    const auto c = static_cast<size_t>(o.axis[d]);
    g.pixdim[c + 1] = spacing[d];
    g.srow[4 * d + c] = o.flipped[d] ? -spacing[d] : spacing[d];
    g.srow[4 * d + 3] =
        o.flipped[d] ? static_cast<double>(canonical.size(static_cast<int64_t>(d)) - 1) * spacing[d] : 0;
  }
  const Tensor stored =
      file.permute({2, 1, 0}).to(type == ElementType::u8 ? at::kByte : at::kFloat).contiguous();
  write_nifti(path, header,
              {static_cast<const std::byte*>(stored.const_data_ptr()), static_cast<size_t>(stored.nbytes())});
}

TEST(Resample, All48OrientationsGiveTheSameMask) {
  const Folder folder;
  const std::array<int64_t, 3> cells{14, 12, 10};
  const std::array<double, 3> spacing{1, 1.25, 2};
  const Tensor mask = shape(cells);
  at::manual_seed(1);
  const Tensor image = mask.to(at::kFloat) * 100 + at::rand({14, 12, 10});
  fs::create_directories(folder / "set/images");
  fs::create_directories(folder / "set/labels");
  std::vector<NiftiOrientation> all;
  std::array<int, 3> axis{0, 1, 2};
  do {
    for (int flips = 0; flips < 8; ++flips) {
      const std::string name = std::to_string(all.size() + 100) + ".nii";
      all.push_back({axis, {(flips & 1) != 0, (flips & 2) != 0, (flips & 4) != 0}});
      write_oriented(folder / ("set/images/" + name), image, spacing, all.back(), ElementType::f32);
      write_oriented(folder / ("set/labels/" + name), mask, spacing, all.back(), ElementType::u8);
    }
  } while (std::ranges::next_permutation(axis).found);
  ASSERT_EQ(all.size(), 48u);
  const auto set = open_set({.path = folder / "set",
                             .modalities = 1,
                             .classes = 3,
                             .spacing = {1.5, 1.5, 1.5},
                             .interpolation = Interpolation::cubic,
                             .fractions = {1, 0, 0}})
                       .train;
  const Batch first = set->batch(std::vector<int64_t>{0});
  EXPECT_EQ(set->lattice(0).cells, (std::vector<int64_t>{9, 10, 13}));
  EXPECT_EQ(set->lattice(0).spacing, (std::array<double, 3>{1.5, 1.5, 1.5}));
  Tensor in_space;
  for (int64_t i = 0; i < set->size(); ++i) {
    const Batch batch = set->batch(std::vector<int64_t>{i});
    EXPECT_TRUE(at::equal(std::get<Grid>(batch.input).values, std::get<Grid>(first.input).values)) << i;
    const Tensor classes = batch.labels.at("mask")[0][0];
    const CellPredictions there = set->as_in_file(i, {classes, shares_of(classes, 3)});
    const std::string path =
        write_prediction(set->source(i), folder / "out" + std::to_string(i), there.classes);
    const Nifti written = read_nifti(path);
    const NiftiHeader source = read_nifti_header(set->source(i));
    EXPECT_EQ(written.header.shape, source.shape);
    EXPECT_EQ(written.header.geometry, source.geometry);
    const Tensor again = image_tensor(written)[0];
    if (i == 0) {
      in_space = again;
      EXPECT_GT((again == mask).to(at::kDouble).mean().item<double>(), 0.97);
      EXPECT_EQ(moved_too_far(mask.to(at::kLong), again.to(at::kLong), 3), 0);
    }
    EXPECT_TRUE(at::equal(again, in_space)) << i;
  }
}

TEST(Resample, TrimmedVolumesAreFilledUpWithBackground) {
  const Folder folder;
  fs::create_directories(folder / "set/images");
  fs::create_directories(folder / "set/labels");
  Tensor image = at::zeros({8, 9, 10}), mask = at::zeros({8, 9, 10}, at::kByte);
  image.slice(0, 2, 6).slice(1, 3, 9).slice(2, 1, 5).fill_(7);
  image[3][4][2] = 9;
  mask[3][4][2] = 1;
  for (const char* name : {"a.nii.gz", "b.nii.gz"}) {
    write_oriented(folder / "set/images/" + name, image, {1, 1, 1}, {}, ElementType::f32);
    write_oriented(folder / "set/labels/" + name, mask, {1, 1, 1}, {}, ElementType::u8);
  }
  const auto set =
      open_set({.path = folder / "set", .modalities = 1, .classes = 2, .trim = true, .fractions = {1, 0, 0}})
          .train;
  EXPECT_EQ(set->lattice(0).cells, (std::vector<int64_t>{4, 6, 4}));
  const Tensor classes = set->batch(std::vector<int64_t>{0}).labels.at("mask")[0][0];
  const CellPredictions there = set->as_in_file(0, {classes, shares_of(classes, 2)});
  EXPECT_TRUE(at::equal(there.classes, mask.to(at::kLong)));
  EXPECT_EQ(there.probabilities.sum(0).min().item<float>(), 1);
  EXPECT_EQ(there.probabilities[0][0][0][0].item<float>(), 1);
  // No truth is outside the box, whatever the image is there.
  mask[7][0][9] = 1;
  write_oriented(folder / "set/labels/a.nii.gz", mask, {1, 1, 1}, {}, ElementType::u8);
  const auto wider =
      open_set({.path = folder / "set", .modalities = 1, .classes = 2, .trim = true, .fractions = {1, 0, 0}})
          .train;
  EXPECT_EQ(wider->lattice(0).cells, (std::vector<int64_t>{6, 9, 9}));
  EXPECT_EQ(wider->batch(std::vector<int64_t>{0}).labels.at("mask").sum().item<int64_t>(), 2);
}

/// A mask and a channel whose files have their axes another way round stand at the same place, and are read there.
TEST(Resample, EachFileOfACaseMayHaveAxesOfItsOwn) {
  const Folder folder;
  for (const char* made : {"set/images", "set/labels", "other/images", "other/labels"}) {
    fs::create_directories(folder / made);
  }
  const Tensor mask = shape({8, 9, 10}), image = mask.to(at::kFloat) + at::arange(8).view({8, 1, 1});
  const std::array<double, 3> spacing{1, 2, 3};
  const NiftiOrientation turned{{1, 0, 2}, {true, false, true}};
  for (const std::string name : {"set", "other"}) {
    write_oriented(folder / name + "/images/a.nii", image, spacing, {}, ElementType::f32);
    write_oriented(folder / name + "/labels/a.nii", mask, spacing,
                   name == "set" ? NiftiOrientation{} : turned, ElementType::u8);
  }
  const auto read = [&](const std::string& name) {
    const auto set = open_set({.path = folder / name,
                               .modalities = 1,
                               .classes = 3,
                               .normalise = false,
                               .fractions = {1, 0, 0}})
                         .train;
    return set->batch(std::vector<int64_t>{0});
  };
  const Batch plain = read("set"), other = read("other");
  EXPECT_TRUE(at::equal(plain.labels.at("mask"), other.labels.at("mask")));
  EXPECT_TRUE(at::equal(std::get<Grid>(plain.input).values, std::get<Grid>(other.input).values));
}

/// What the task does to classes is done on the file's grid, to which probabilities alone are brought.
TEST(Resample, ClassesAreFinishedOnTheGridOfTheFile) {
  const Folder folder;
  fs::create_directories(folder / "set/images");
  fs::create_directories(folder / "set/labels");
  const Tensor mask = shape({16, 16, 16}).clamp_max(1);
  write_oriented(folder / "set/images/a.nii", mask.to(at::kFloat), {1, 1, 1}, {}, ElementType::f32);
  write_oriented(folder / "set/labels/a.nii", mask, {1, 1, 1}, {}, ElementType::u8);
  const auto set = open_set({.path = folder / "set",
                             .modalities = 1,
                             .classes = 2,
                             .spacing = {2, 2, 2},
                             .fractions = {1, 0, 0}})
                       .train;
  const Tensor classes = set->batch(std::vector<int64_t>{0}).labels.at("mask")[0][0];
  const CellPredictions plain = set->as_in_file(0, {classes, shares_of(classes, 2)});
  EXPECT_EQ(plain.classes.max().item<int64_t>(), 1);
  const CellPredictions cleared =
      set->as_in_file(0, {classes, shares_of(classes, 2), [](const Tensor& x) {
                            EXPECT_EQ(x.sizes(), (std::vector<int64_t>{16, 16, 16}));
                            return at::zeros_like(x);
                          }});
  EXPECT_EQ(cleared.classes.max().item<int64_t>(), 0);
  EXPECT_TRUE(at::equal(cleared.probabilities, plain.probabilities));
  EXPECT_THROW(set->as_in_file(0, {mask.to(at::kLong), shares_of(mask, 2)}), ShapeError);
}

}  // namespace resample_test
}  // namespace weyl
