#include "weyl/core/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "weyl/core/check.h"

namespace weyl {
namespace safetensors_test {

namespace fs = std::filesystem;

std::string file_of(const std::string& header, size_t data_bytes) {
  const uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + std::string(data_bytes, '\1');
}

SafetensorsHeader parse(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file)), file.size(), "x.safetensors");
}

/// The message of the DataError that parsing throws, or "accepted".
std::string refusal(const std::string& header, size_t data_bytes) {
  try {
    parse(file_of(header, data_bytes));
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

/// Removed when the tests end.
struct Folder {
  std::string path =
      (fs::temp_directory_path() / ("weyl-safetensors-" + std::to_string(::getpid()))).string();
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

std::string folder() {
  static const Folder folder;
  return folder.path;
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const auto header = parse(file_of(
      R"({"__metadata__":{"unit":"\u00c5"},"b":{"dtype":"F32","shape":[2,3],"data_offsets":[2,26]},)"
      R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"e":{"dtype":"I64","shape":[0,7],"data_offsets":[26,26]},)"
      R"("s":{"dtype":"F64","shape":[],"data_offsets":[26,34]}}   )",
      34));
  EXPECT_EQ(header.metadata.at("unit"), "\xc3\x85");
  EXPECT_EQ(header.tensors.size(), 4);
  EXPECT_EQ(header.tensors.at("b").type, ElementType::f32);  // misaligned, and allowed
  EXPECT_EQ(header.tensors.at("b").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(header.tensors.at("b").begin, 2);
  EXPECT_TRUE(header.tensors.at("s").shape.empty());
  EXPECT_EQ(header.data_begin % 8, 0) << "of this header";
}

TEST(Safetensors, NamesEachFaultOfAHeader) {
  const auto tensor = [](const std::string& inside) { return "{\"a\":{" + inside + "}}"; };
  const struct {
    std::string header;
    size_t data;
    const char* says;
  } cases[] = {
      {"{}", 1, "1 bytes after the last tensor"},
      {"[]", 0, "must begin with '{'"},
      {" {}", 0, "must begin with '{'"},
      {"{", 0, "must be JSON"},
      {"{}{}", 0, "must be JSON"},
      {"{\"\xff\":{}}", 0, "must be JSON"},
      {"{\"a\":1}", 0, "entry 'a' must be an object, got the number 1"},
      {"{\"a\":[]}", 0, "entry 'a' must be an object, got an array"},
      {tensor(R"("dtype":"F32","shape":[1])"), 4, "no data_offsets"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"shape":[1])"), 4, "has shape twice"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"extra":0)"), 4, "only, got 'extra'"},
      {tensor(R"("dtype":"C64","shape":[1],"data_offsets":[0,8])"), 8, "got 'C64'"},
      {tensor(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])"), 4, "got 'f32'"},
      {tensor(R"("dtype":3,"shape":[1],"data_offsets":[0,4])"), 4, "dtype must be a string"},
      {tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4,
       "not negative, got the negative number -1"},
      {tensor(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), 4, "got the number 1.0"},
      {tensor(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4])"), 4,
       "got the number 99999999999"},
      {tensor(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])"), 4, "63-bit"},
      {tensor(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"), 4, "got an array"},
      {tensor(R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])"), 4, "got a string"},
      {tensor(R"("dtype":"F32","shape":null,"data_offsets":[0,4])"), 4, "shape must be an array, got null"},
      {tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"), 4, "overflows"},
      {tensor(R"("dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0])"), 0, "overflows"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), 4, "two integers, got 1"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), 8, "two integers, got more"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), 4, "in order within 4"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"), 4, "in order within 4"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])"), 8,
       "must have 4 bytes, data_offsets give 8"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "they overlap"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})",
       5, "a hole"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
       2, "has 'a' twice"},
      {R"({"__metadata__":{"k":1}})", 0, "metadata 'k' must be a string"},
      {R"({"__metadata__":{"k":{}}})", 0, "metadata 'k' must be a string"},
      {R"({"__metadata__":{"k":"1","k":"2"}})", 0, "metadata have 'k' twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "has '__metadata__' twice"},
      {R"({"__metadata__":"x"})", 0, "must be an object, got a string"},
  };
  for (const auto& c : cases) {
    const auto message = refusal(c.header, c.data);
    EXPECT_NE(message.find(c.says), std::string::npos) << c.header << "\n  says: " << message;
    EXPECT_TRUE(message.starts_with("x.safetensors: ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 400);
  }
}

TEST(Safetensors, HeaderLengthIsBounded) {
  for (const uint64_t length : {uint64_t{3}, uint64_t{99'999'999}, uint64_t{100'000'001}, ~uint64_t{0}}) {
    std::string file(10, '{');
    std::memcpy(file.data(), &length, sizeof length);
    EXPECT_THROW(parse(file), DataError) << length;
  }
  for (size_t n = 0; n < 8; ++n) {
    EXPECT_THROW(parse(std::string(n, '\0')), DataError);
  }
  EXPECT_NO_THROW(parse(file_of("{}", 0)));
}

TEST(Safetensors, DeepNestingIsRefusedWithoutRecursion) {
  std::string nested = R"({"a":{"shape":)";
  nested.append(1'000'000, '[');
  EXPECT_NE(refusal(nested, 0).find("got an array"), std::string::npos);
}

TEST(Safetensors, WhatIsWrittenIsReadBack) {
  const std::string path = folder() + "/round.safetensors";
  const std::vector<float> a{1, 2, 3, 4, 5, 6};
  const std::vector<uint8_t> b{7, 8, 9};
  const TensorBytes tensors[] = {
      {"b", ElementType::u8, {3}, std::as_bytes(std::span(b))},
      {"a \"quoted\" \xc3\x85", ElementType::f32, {2, 3}, std::as_bytes(std::span(a))},
      {"none", ElementType::f64, {4, 0}, {}}};
  write_safetensors(path, tensors, {{"format", "x"}, {"k", "line\nbreak"}});
  const SafetensorsFile file(path);
  EXPECT_EQ(file.header().metadata.at("k"), "line\nbreak");
  EXPECT_EQ(file.header().data_begin % 64, 0);
  EXPECT_EQ(file.entry("b").begin, 0);  // the order given, not the alphabet's
  EXPECT_EQ(file.entry("a \"quoted\" \xc3\x85").begin, 3);
  const auto bytes = file.bytes("a \"quoted\" \xc3\x85");
  EXPECT_EQ(std::memcmp(bytes.data(), a.data(), bytes.size()), 0);
  EXPECT_EQ(bytes.size(), 24);
  EXPECT_TRUE(file.bytes("none").empty());
  EXPECT_FALSE(file.contains("c"));
  EXPECT_THROW(file.entry("c"), DataError);
  EXPECT_THROW(file.bytes("__metadata__"), DataError);
}

TEST(Safetensors, RefusesToWriteWhatCouldNotBeRead) {
  const std::string path = folder() + "/never.safetensors";
  const std::byte bytes[4] = {};
  const TensorBytes short_one[] = {{"a", ElementType::f32, {2}, bytes}};
  EXPECT_THROW(write_safetensors(path, short_one), ShapeError);
  const TensorBytes twice[] = {{"a", ElementType::f32, {1}, bytes}, {"a", ElementType::f32, {1}, bytes}};
  EXPECT_THROW(write_safetensors(path, twice), ShapeError);
  const TensorBytes reserved[] = {{"__metadata__", ElementType::f32, {1}, bytes}};
  EXPECT_THROW(write_safetensors(path, reserved), ShapeError);
  const TensorBytes latin[] = {{"\xe9", ElementType::f32, {1}, bytes}};
  EXPECT_THROW(write_safetensors(path, latin), DataError);
  EXPECT_THROW(write_safetensors(path, {}, {{"k", "\xe9"}}), DataError);
  EXPECT_FALSE(fs::exists(path));
}

TEST(Safetensors, RefusesWhatIsNoFile) {
  const std::string pipe = folder() + "/pipe";
  ::mkfifo(pipe.c_str(), 0600);
  const std::string empty = folder() + "/empty";
  std::ofstream(empty).close();
  const std::pair<std::string, const char*> cases[] = {{folder(), "a directory"},
                                                       {pipe, "regular file"},
                                                       {empty, "0 bytes"},
                                                       {folder() + "/absent", "No such file"}};
  for (const auto& [path, says] : cases) {
    try {
      SafetensorsFile file(path);
      FAIL() << path;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with(path)) << error.what();
    }
  }
}

}  // namespace safetensors_test
}  // namespace weyl
