#include "weyl/core/tensor_file.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "weyl/core/check.h"

namespace weyl {
namespace tensor_file_test {

/// Removed when the tests end.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("weyl-tensor-file-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

std::string path_of(const std::string& name) {
  static const Folder folder;
  return (folder.path / name).string();
}

constexpr at::ScalarType types[] = {at::kBool,     at::kByte,   at::kChar,  at::kShort,  at::kUInt16,
                                    at::kInt,      at::kUInt32, at::kLong,  at::kUInt64, at::kHalf,
                                    at::kBFloat16, at::kFloat,  at::kDouble};

TEST(TensorFile, EveryElementTypeComesBack) {
  NamedTensors tensors;
  for (const auto type : types) {
    EXPECT_EQ(scalar_type(element_type(type)), type);
    tensors[at::toString(type)] =
        at::arange(-3, 9, at::kLong).remainder(type == at::kBool ? 2 : 127).view({3, 4}).to(type);
  }
  save_tensors(path_of("types"), tensors, {{"k", "v"}});
  const SafetensorsFile file(path_of("types"));
  EXPECT_EQ(file.header().metadata.at("k"), "v");
  for (const auto& [name, entry] : file.header().tensors) {
    EXPECT_EQ(entry.begin % static_cast<uint64_t>(size_of(entry.type)), 0) << name << " is not aligned";
  }
  const auto back = load_tensors(file);
  ASSERT_EQ(back.size(), std::size(types));
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(back.at(name).scalar_type(), tensor.scalar_type());
    EXPECT_TRUE(at::equal(back.at(name).view(at::kByte), tensor.view(at::kByte))) << name;
  }
}

TEST(TensorFile, ShapesAndStridesComeBackRowMajor) {
  const Tensor base = at::arange(24, at::kDouble).view({2, 3, 4});
  const NamedTensors tensors{{"scalar", at::scalar_tensor(2.5, at::kFloat)},
                             {"empty", at::zeros({3, 0, 2}, at::kLong)},
                             {"transposed", base.permute({2, 0, 1})},
                             {"sliced", base.slice(2, 1, 4, 2)},
                             {"expanded", base.slice(0, 0, 1).expand({5, 3, 4})},
                             {"negated", at::_neg_view(base)},
                             {"leaf", at::ones({2}, at::kFloat).requires_grad_()}};
  save_tensors(path_of("shapes"), tensors);
  const auto back = load_tensors(path_of("shapes"));
  ASSERT_EQ(back.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(back.at(name).sizes(), tensor.sizes()) << name;
    EXPECT_TRUE(back.at(name).is_contiguous());
    EXPECT_FALSE(back.at(name).requires_grad());
    EXPECT_TRUE(at::equal(back.at(name), tensor.detach())) << name;
  }
}

TEST(TensorFile, BitsOfSpecialNumbersSurvive) {
  const double values[] = {std::nan(""), -0.0, std::numeric_limits<double>::infinity(), 5e-324};
  const Tensor tensor = at::empty({4}, at::kDouble);
  std::copy(std::begin(values), std::end(values), tensor.mutable_data_ptr<double>());
  save_tensors(path_of("special"), {{"x", tensor}});
  EXPECT_TRUE(at::equal(load_tensors(path_of("special")).at("x").view(at::kLong), tensor.view(at::kLong)));
}

TEST(TensorFile, RefusesWhatTheFormatLacks) {
  EXPECT_THROW(save_tensors(path_of("no"), {{"x", at::zeros({2}, at::kComplexDouble)}}), DataError);
  EXPECT_THROW(save_tensors(path_of("no"), {{"x", at::zeros({2, 2}).to_sparse()}}), DataError);
  EXPECT_THROW(save_tensors(path_of("no"), {{"x", Tensor()}}), ShapeError);
  EXPECT_THROW(element_type(at::kComplexFloat), DataError);
  EXPECT_FALSE(std::filesystem::exists(path_of("no")));
}

TEST(TensorFile, ABooleanIsZeroOrOne) {
  const std::byte bytes[] = {std::byte{0}, std::byte{1}, std::byte{7}};
  const int64_t two[] = {2}, three[] = {3};
  EXPECT_TRUE(at::equal(copy_tensor(ElementType::boolean, two, std::span(bytes, 2), "x"),
                        at::arange(2, at::kLong).to(at::kBool)));
  EXPECT_THROW(copy_tensor(ElementType::boolean, three, bytes, "x"), DataError);
  EXPECT_NO_THROW(copy_tensor(ElementType::u8, three, bytes, "x"));
  EXPECT_THROW(copy_tensor(ElementType::u8, two, bytes, "x"), DataError);
}

TEST(TensorFile, AMissingTensorIsNamed) {
  save_tensors(path_of("one"), {{"x", at::zeros({1})}});
  const SafetensorsFile file(path_of("one"));
  try {
    load_tensor(file, "y");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()), path_of("one") + ": no tensor 'y'");
  }
}

}  // namespace tensor_file_test
}  // namespace weyl
