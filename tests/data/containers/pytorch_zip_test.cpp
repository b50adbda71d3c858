#include "weyl/data/containers/pytorch_zip.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "weyl/core/check.h"

namespace weyl {
namespace pytorch_zip_test {

// tools/goldens/pytorch_fixtures.py wrote these with torch.save.
const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/pytorch/";

template <class T>
std::vector<T> values_of(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

std::map<std::string, Array> read(const std::string& name) {
  std::map<std::string, Array> tensors;
  for (auto& [key, array] : read_pytorch_zip(fixtures + name)) {
    tensors.emplace(key, array);
  }
  return tensors;
}

using Shape = std::vector<int64_t>;
using Floats = std::vector<float>;

TEST(PytorchZip, ReadsTheStateDictOfAModule) {
  const auto list = read_pytorch_zip(fixtures + "module.pt");
  ASSERT_EQ(list.size(), 7);
  EXPECT_EQ(list[0].name, "0.weight");  // the file's order
  EXPECT_EQ(list[0].array.shape, (Shape{3, 2}));
  EXPECT_EQ(values_of<float>(list[0].array), (Floats{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of<float>(list[1].array), (Floats{0.5, -0.5, 0.25}));
  EXPECT_EQ(list[6].name, "1.num_batches_tracked");
  EXPECT_EQ(list[6].array.type, ElementType::i64);
  EXPECT_TRUE(list[6].array.shape.empty());
}

TEST(PytorchZip, ReadsEveryElementType) {
  const auto tensors = read("types.pt");
  const std::pair<const char*, ElementType> types[] = {
      {"bool", ElementType::boolean}, {"uint8", ElementType::u8},      {"int8", ElementType::i8},
      {"int16", ElementType::i16},    {"uint16", ElementType::u16},    {"int32", ElementType::i32},
      {"uint32", ElementType::u32},   {"int64", ElementType::i64},     {"uint64", ElementType::u64},
      {"float16", ElementType::f16},  {"bfloat16", ElementType::bf16}, {"float32", ElementType::f32},
      {"float64", ElementType::f64}};
  ASSERT_EQ(tensors.size(), std::size(types));
  for (const auto& [name, type] : types) {
    const auto& array = tensors.at(name);
    EXPECT_EQ(array.type, type) << name;
    const auto size = static_cast<size_t>(size_of(type));
    ASSERT_EQ(array.bytes.size(), 4 * size);
    const auto element = [&](size_t i) {
      return std::vector(array.bytes.begin() + i * size, array.bytes.begin() + (i + 1) * size);
    };
    EXPECT_EQ(element(1), std::vector<std::byte>(size)) << name << ": the values are 1, 0, 1, 1";
    EXPECT_EQ(element(0), element(2));
    EXPECT_NE(element(0), element(1));
  }
  EXPECT_EQ(values_of<uint16_t>(tensors.at("bfloat16"))[0], 0x3f80);
  EXPECT_EQ(values_of<uint16_t>(tensors.at("float16"))[0], 0x3c00);
  EXPECT_EQ(values_of<uint32_t>(tensors.at("uint32"))[3], 1);
}

TEST(PytorchZip, ViewsOfOneStorageBecomeRowMajor) {
  const auto t = read("views.pt");
  EXPECT_EQ(values_of<float>(t.at("base")), (Floats{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(t.at("transposed").shape, (Shape{4, 3}));
  EXPECT_EQ(values_of<float>(t.at("transposed")), (Floats{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(values_of<float>(t.at("column")), (Floats{1, 5, 9}));
  EXPECT_EQ(values_of<float>(t.at("corner")), (Floats{6, 7, 10, 11}));
  EXPECT_EQ(values_of<float>(t.at("expanded")), (Floats{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(values_of<float>(t.at("parameter")), (Floats{8, 9, 10, 11}));
  EXPECT_EQ(t.at("tied"), t.at("base"));
  EXPECT_EQ(values_of<int64_t>(t.at("scalar")), std::vector<int64_t>{7});
  EXPECT_EQ(t.at("empty").shape, (Shape{2, 0, 3}));
}

TEST(PytorchZip, FindsTheWeightsBesideAnOptimiser) {
  const auto t = read("lightning.ckpt");
  ASSERT_EQ(t.size(), 2);
  EXPECT_EQ(values_of<float>(t.at("net._orig_mod.b")), (Floats{1, 1}));
}

TEST(PytorchZip, NamesArePathsOfKeysAndIndices) {
  const auto t = read("nested.pt");
  ASSERT_EQ(t.size(), 3);
  EXPECT_EQ(values_of<float>(t.at("layers.0.w")), (Floats{1, 1}));
  EXPECT_EQ(values_of<float>(t.at("layers.1.w")), (Floats{0}));
  EXPECT_EQ(values_of<float>(t.at("5")), (Floats{1}));
}

TEST(PytorchZip, EveryProtocolAndByteOrderSaysTheSame) {
  for (const char* name : {"protocol2.pt", "protocol3.pt", "protocol4.pt", "protocol5.pt", "big_endian.pt"}) {
    const auto t = read(name);
    ASSERT_EQ(t.size(), 2) << name;
    EXPECT_EQ(values_of<int64_t>(t.at("x")), (std::vector<int64_t>{0, 1, 2})) << name;
    EXPECT_EQ(values_of<float>(t.at("y")), (Floats{2.5})) << name;
  }
}

TEST(PytorchZip, SaysWhatItDoesNotRead) {
  const std::pair<const char*, const char*> cases[] = {
      {"legacy.pt", "legacy format; convert it with python -c"},
      {"whole_module.pt",
       "must hold a state dict (a dict of tensors), got an object made by torch.nn.modules.linear.Linear"},
      {"sparse.pt", "tensor 'x': is made by torch._utils._rebuild_sparse_tensor"},
      {"complex.pt", "tensor 'x': storage torch.ComplexFloatStorage is not read"},
      {"tensor_only.pt", "got an object made by torch._utils._rebuild_tensor_v2"},
      {"no_tensor.pt", "holds no tensor"},
      {"torchscript.pt", "TorchScript archive"},
  };
  for (const auto& [name, says] : cases) {
    try {
      read_pytorch_zip(fixtures + name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const DataError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(says), std::string::npos) << message;
      EXPECT_TRUE(message.starts_with(fixtures + name + ": ")) << message;
    }
  }
}

/// A pickle program that holds {"x": <program>}.
std::vector<NamedArray> parse(const std::string& program) {
  const std::string pickle = "\x80\x02}X\x01" + std::string(3, '\0') + "x" + program + "s.";
  const auto storage = [](std::string_view) { return std::vector<std::byte>(16, std::byte{1}); };
  return parse_pytorch_pickle(std::as_bytes(std::span(pickle)), storage, false, 1 << 20, "x.pt");
}

std::string utf8(const std::string& text) {
  return std::string("\x8c") + static_cast<char>(text.size()) + text;
}

TEST(PytorchPickle, TakesTheSpellingsOfOtherVersions) {
  const std::string storage =
      "(" + utf8("storage") + "ctorch\nIntStorage\n" + utf8("0") + utf8("cpu") + "K\x04tQ";
  const std::string shape = "K\x02\x85", strides = "K\x01\x85";
  // torch.Size((2,)) for a tuple, the first _rebuild_tensor, Tensor and Parameter by _rebuild_from_type_v2.
  const std::string plain = "ctorch._utils\n_rebuild_tensor\n(" + storage + "K\x01" + "ctorch\nSize\n" +
                            shape + "\x85R" + strides + "tR";
  const std::string typed =
      "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor\nctorch.nn."
      "parameter\nParameter\n(" +
      storage + "K\x01" + shape + strides + "t}tR";
  for (const auto& program : {plain, typed}) {
    const auto arrays = parse(program);
    ASSERT_EQ(arrays.size(), 1);
    EXPECT_EQ(arrays[0].name, "x");
    EXPECT_EQ(values_of<int32_t>(arrays[0].array), (std::vector<int32_t>{0x01010101, 0x01010101}));
  }
  std::string subclass = typed;
  subclass.replace(subclass.find("ctorch.nn.parameter\nParameter"), 29, "cmy.house\nTensorWithUnits");
  EXPECT_THROW(parse(subclass), DataError);
}

TEST(PytorchPickle, TheLimitBoundsWhatStridesOfZeroMake) {
  const auto expanded = [](const std::string& count) {
    return "ctorch._utils\n_rebuild_tensor\n((" + utf8("storage") + "ctorch\nFloatStorage\n" + utf8("0") +
           utf8("cpu") + "K\x04tQK" + std::string(1, '\0') + "J" + count + "\x85K" + std::string(1, '\0') +
           "\x85tR";
  };
  EXPECT_EQ(parse(expanded(std::string("\0\0\4\0", 4)))[0].array.shape,
            (Shape{1 << 18}));  // 1 MiB, the limit
  EXPECT_THROW(parse(expanded(std::string("\1\0\4\0", 4))), DataError);
}

}  // namespace pytorch_zip_test
}  // namespace weyl
