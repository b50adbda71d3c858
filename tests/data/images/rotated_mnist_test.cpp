#include "weyl/data/images/rotated_mnist.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "tests/data/folder.h"
#include "tests/data/images.h"
#include "weyl/carriers/consistency.h"
#include "weyl/core/check.h"
#include "weyl/data/containers/byte_source.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/convert.h"
#include "weyl/data/images/digit_files.h"
#include "weyl/data/inspect.h"
#include "weyl/data/open.h"

namespace weyl {
namespace rotated_mnist_test {

constexpr const char* kTrain = "mnist_all_rotation_normalized_float_train_valid.amat";
constexpr const char* kTest = "mnist_all_rotation_normalized_float_test.amat";

/// Image i of n: pixel p is ((i + p) % 256) / 255, label i % 10.
AmatImages digits(int64_t n) {
  AmatImages images;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t p = 0; p < amat_pixels; ++p) {
      images.pixels.push_back(static_cast<float>((i + p) % 256) / 255);
    }
    images.labels.push_back(i % 10);
  }
  return images;
}

void write(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

void write_amat(const std::string& path, int64_t n) {
  const AmatImages images = digits(n);
  std::ofstream(path) << amat_text(images.pixels, images.labels);
}

Array bytes_of(int64_t n) {
  Array array{ElementType::u8, {n, 28, 28}, {}};
  for (int64_t i = 0; i < n * amat_pixels; ++i) {
    array.bytes.push_back(static_cast<std::byte>((i / amat_pixels + i % amat_pixels) % 256));
  }
  return array;
}

Array labels_of(int64_t n) {
  Array array{ElementType::u8, {n}, {}};
  for (int64_t i = 0; i < n; ++i) {
    array.bytes.push_back(static_cast<std::byte>(i % 10));
  }
  return array;
}

TEST(RotatedMnist, TheLastSixthIsValidation) {
  const Folder folder;
  write_amat(folder / kTrain, 13);
  write_amat(folder / kTest, 5);
  const Splits splits = open_set(RotatedMnistDataOptions{.path = folder.path()});
  EXPECT_EQ(splits.train->size(), 11);
  EXPECT_EQ(splits.valid->size(), 2);
  EXPECT_EQ(splits.test->size(), 5);
  const Batch valid = all_of_set(*splits.valid), train = all_of_set(*splits.train);
  const Tensor x = std::get<Grid>(train.input).values, y = std::get<Grid>(valid.input).values;
  EXPECT_EQ(x.sizes(), (at::IntArrayRef{11, 1, 28, 28}));
  EXPECT_EQ(x.scalar_type(), at::kFloat);
  EXPECT_EQ(x[3][0][1][2].item<float>(), static_cast<float>(3 + 30) / 255);  // row 1, column 2
  EXPECT_EQ(y[0][0][0][0].item<float>(), static_cast<float>(11) / 255);      // image 11, which training lacks
  EXPECT_EQ(train.labels.at("class").sizes(), (at::IntArrayRef{11, 1}));
  EXPECT_EQ(valid.labels.at("class")[1][0].item<int64_t>(), 2);
  const Schema& schema = splits.train->schema();
  EXPECT_EQ(schema.carrier(), Carrier::grid);
  EXPECT_TRUE(schema.interface.grid);
  EXPECT_EQ(schema.labels[0].categories, 10);
  EXPECT_EQ(schema.labels, declared_schema(RotatedMnistDataOptions{}).labels);
  EXPECT_EQ(schema.interface.features, declared_schema(RotatedMnistDataOptions{}).interface.features);
}

TEST(RotatedMnist, AmatNpzAndIdxAreTheSameImages) {
  const Folder amat, npz, idx;
  write_amat(amat / kTrain, 12);
  write_amat(amat / kTest, 3);
  const auto named = [](int64_t n, std::vector<int64_t> shape) {
    Array images = bytes_of(n);
    images.shape = std::move(shape);
    return std::vector<NamedArray>{{"x", images}, {"y", labels_of(n)}};
  };
  write_npz(npz / "rotated_train.npz", named(12, {12, 784}));
  write_npz(npz / "rotated_test.npz", named(3, {3, 1, 28, 28}));
  write(idx / "train-images-idx3-ubyte.gz", gzip(idx_bytes(bytes_of(12)), "x"));
  write(idx / "train-labels-idx1-ubyte", idx_bytes(labels_of(12)));
  write(idx / "t10k-images.idx3-ubyte", idx_bytes(bytes_of(3)));
  write(idx / "t10k-labels-idx1-ubyte.gz", gzip(idx_bytes(labels_of(3)), "x"));
  const Splits a = open_set(RotatedMnistDataOptions{.path = amat.path()});
  for (const auto* folder : {&npz, &idx}) {
    const Splits b = open_set(RotatedMnistDataOptions{.path = folder->path()});
    for (const auto& [x, y] : {std::pair{a.train, b.train}, {a.valid, b.valid}, {a.test, b.test}}) {
      ASSERT_EQ(x->size(), y->size());
      const Batch p = all_of_set(*x), q = all_of_set(*y);
      EXPECT_TRUE(at::allclose(std::get<Grid>(p.input).values, std::get<Grid>(q.input).values, 0, 1e-7));
      EXPECT_TRUE(at::equal(p.labels.at("class"), q.labels.at("class")));
    }
  }
  // A file of validation is used as it is.
  write_npz(npz / "rotated_valid.npz", named(4, {4, 28, 28}));
  const Splits three = open_set(RotatedMnistDataOptions{.path = npz.path()});
  EXPECT_EQ(three.train->size(), 12);
  EXPECT_EQ(three.valid->size(), 4);
}

TEST(RotatedMnist, NormalisesByItsConstants) {
  const Folder folder;
  write_amat(folder / kTrain, 6);
  RotatedMnistDataOptions options{.path = folder.path()};
  const Tensor plain = std::get<Grid>(all_of_set(*open_set(options).train).input).values;
  options.input.normalise = true;
  const Tensor scaled = std::get<Grid>(all_of_set(*open_set(options).train).input).values;
  EXPECT_TRUE(at::allclose((plain - 0.1307) / 0.3081, scaled, 1e-5, 1e-6));
}

TEST(RotatedMnist, GivesPatchesAsPoints) {
  const Folder folder;
  write_amat(folder / kTrain, 6);
  RotatedMnistDataOptions options{.path = folder.path()};
  const Tensor images = std::get<Grid>(all_of_set(*open_set(options).train).input).values;
  options.input = {.carrier = ImageCarrier::points, .patch = 4};
  const auto set = open_set(options).train;
  EXPECT_EQ(set->tokens(0), 49);
  const Batch batch = all_of_set(*set);
  require_consistent(batch, set->schema());
  const auto& p = std::get<Points>(batch.input);
  EXPECT_EQ(p.scalars.sizes(), (at::IntArrayRef{5 * 49, 16}));
  // Image 2, patch at row 1, column 3: token 2 * 49 + 10; its pixel at row 2, column 1.
  EXPECT_EQ(p.scalars[108][2 * 4 + 1].item<float>(), images[2][0][4 + 2][12 + 1].item<float>());
  EXPECT_NEAR(p.positions[108][0].item<float>(), 3.0 / 6 - 0.5, 1e-6);  // x: the column
  EXPECT_NEAR(p.positions[108][1].item<float>(), 1.0 / 6 - 0.5, 1e-6);
  EXPECT_EQ(set->schema().interface.features[0].channels, 16);

  options.input.patch_feature = PatchFeature::mean;
  const auto means = open_set(options).train;
  const Batch mean = all_of_set(*means);
  require_consistent(mean, means->schema());
  EXPECT_NEAR(std::get<Points>(mean.input).scalars[108][0].item<float>(),
              images[2][0].slice(0, 4, 8).slice(1, 12, 16).mean().item<float>(), 1e-6);
  options.input.patch = 5;
  EXPECT_NE(message_of<DataError>([&] {
              open_set(options);
            }).find("patch must divide the images of 28 x 28 pixels, got 5"),
            std::string::npos);
}

TEST(RotatedMnist, AQuarterTurnOfTheImageTurnsThePointsOfMeans) {
  // The turned image's points are the image's points turned about the origin, in another order.
  const Folder folder;
  AmatImages images = digits(6);
  AmatImages turned = images;
  for (int64_t i = 0; i < 28; ++i) {
    for (int64_t j = 0; j < 28; ++j) {
      turned.pixels[(27 - j) * 28 + i] = images.pixels[i * 28 + j];
    }
  }
  const ImageInput means{.carrier = ImageCarrier::points, .patch_feature = PatchFeature::mean};
  const auto points = [&](const AmatImages& of) {
    std::ofstream(folder / kTrain) << amat_text(of.pixels, of.labels);
    const int64_t first = 0;
    return std::get<Points>(open_set(RotatedMnistDataOptions{.path = folder.path(), .input = means})
                                .train->batch({&first, 1})
                                .input);
  };
  const Points a = points(images), b = points(turned);
  for (int64_t t = 0; t < 49; ++t) {
    // counter-clockwise with y down: (x, y) -> (y, -x)
    const Tensor moved = at::stack({a.positions[t][1], -a.positions[t][0]});
    const Tensor distance = (b.positions - moved).abs().amax(1);
    const int64_t u = distance.argmin().item<int64_t>();
    EXPECT_LT(distance[u].item<float>(), 1e-6);
    EXPECT_NEAR(b.scalars[u][0].item<float>(), a.scalars[t][0].item<float>(), 1e-6);
  }
}

TEST(RotatedMnist, LeavesOutEmptyPatches) {
  const Folder folder;
  AmatImages images;
  images.pixels.assign(6 * amat_pixels, 0);
  images.labels.assign(6, 1);
  images.pixels[0] = images.pixels[27] = 0.8F;                     // image 0: two corners
  images.pixels[amat_pixels + 14 * 28 + 14] = 0.05F;               // image 1: below the threshold
  std::fill_n(images.pixels.begin() + 2 * amat_pixels, 784, 1.F);  // image 2: all
  std::ofstream(folder / kTrain) << amat_text(images.pixels, images.labels);
  const ImageInput input{.carrier = ImageCarrier::points, .threshold = 0.1};
  const auto set = open_set(RotatedMnistDataOptions{.path = folder.path(), .input = input}).train;
  EXPECT_EQ(set->tokens(0), 2);
  EXPECT_EQ(set->tokens(1), 1);  // the brightest stays
  EXPECT_EQ(set->tokens(2), 49);
  EXPECT_EQ(set->tokens(3), 1);  // also of an empty image
  const Batch batch = set->batch(std::vector<int64_t>{2, 0, 1});
  require_consistent(batch, set->schema());
  const auto& p = std::get<Points>(batch.input);
  EXPECT_EQ(p.graphs.offsets, (std::vector<int64_t>{0, 49, 51, 52}));
  EXPECT_NEAR(p.positions[50][0].item<float>(), 0.5, 1e-6);
  EXPECT_NEAR(p.positions[50][1].item<float>(), -0.5, 1e-6);
  EXPECT_NEAR(p.positions[51][0].item<float>(), 0, 1e-6);
  EXPECT_NEAR(set->schema().interface.typical_nodes, (2 + 1 + 49 + 1 + 1) / 5.0, 1e-9);
}

TEST(RotatedMnist, OpensFilesAndIsInspected) {
  const Folder folder;
  write_amat(folder / kTrain, 12);
  write_amat(folder / kTest, 3);
  write(folder / "digits-images-idx3-ubyte", idx_bytes(bytes_of(2)));
  const DataOptions options{RotatedMnistDataOptions{}};
  EXPECT_EQ(open_file(folder / kTrain, options)->size(), 12);
  EXPECT_EQ(open_file(folder.path(), options)->size(), 3);
  const auto idx = open_file(folder / "digits-images-idx3-ubyte", options);
  EXPECT_EQ(idx->size(), 2);
  EXPECT_TRUE(idx->schema().labels.empty());
  const auto found = open_for_inspection(folder.path());
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(inspect(*found[0].second).carrier, Carrier::grid);
  EXPECT_EQ(inspect(*found[0].second).labels[0].max, 9);
}

TEST(RotatedMnist, BecomesATensorFileWholeOrInParts) {
  const Folder folder;
  write_amat(folder / "x.amat", 10);
  const auto written = convert(folder / "x.amat", folder / "x.safetensors");
  const DataOptions options{RotatedMnistDataOptions{}};
  const Batch a = all_of_set(*open_file(folder / "x.amat", options)),
              b = read_tensor_file(written.files.at(0)).batch;
  EXPECT_TRUE(at::equal(std::get<Grid>(a.input).values, std::get<Grid>(b.input).values));
  EXPECT_TRUE(at::equal(a.labels.at("class"), b.labels.at("class")));
  const SplitIndices parts = split_file(folder / "x.amat", folder / "parts", {.train = 0.7, .valid = 0.2});
  EXPECT_EQ(parts.train.size(), 7u);
  const Batch train = read_tensor_file(folder / "parts/train.safetensors").batch;
  ASSERT_EQ(train.count(), 7);
  EXPECT_EQ(train.labels.at("class")[3][0].item<int64_t>(), parts.train[3]);
}

TEST(RotatedMnist, SaysWhatIsWrong) {
  const Folder folder;
  const auto message = [&](RotatedMnistDataOptions o) {
    o.path = o.path == "data/rotated_mnist" ? folder.path() : o.path;
    return message_of<DataError>([&] { open_set(o); });
  };
  EXPECT_NE(message({.path = "/nowhere/x"}).find("weyl data make glyphs --out /nowhere/x"),
            std::string::npos);
  EXPECT_NE(message({}).find("holds neither mnist_all_rotation"), std::string::npos);
  write_amat(folder / kTrain, 12);
  EXPECT_NE(message({.train = 11}).find("data.rotated_mnist.train must be at most 10, the images there are"),
            std::string::npos);
  const Folder idx;
  write(idx / "train-images-idx3-ubyte", idx_bytes(bytes_of(4)));
  EXPECT_NE(message({.path = idx.path()}).find("has no file of labels beside it"), std::string::npos);
  write(idx / "train-labels-idx1-ubyte", idx_bytes(labels_of(3)));
  EXPECT_NE(message({.path = idx.path()}).find("must have a label for each of 4 images, got 3"),
            std::string::npos);
  Array wrong = labels_of(4);
  wrong.bytes[2] = std::byte{12};
  write(idx / "train-labels-idx1-ubyte", idx_bytes(wrong));
  EXPECT_NE(message({.path = idx.path()}).find("class must be 0 .. 9, got 12"), std::string::npos);
}

}  // namespace rotated_mnist_test
}  // namespace weyl
