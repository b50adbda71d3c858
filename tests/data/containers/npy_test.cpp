#include "weyl/data/containers/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <numeric>

#include "weyl/core/check.h"

namespace weyl {
namespace npy_test {

/// A file as numpy writes it: version `major`.0, this header, these data.
std::string file_of(int major, const std::string& header, const std::string& data) {
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(major), '\0'};
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(header.size() >> (8 * i) & 255);
  }
  return file + header + data;
}

Array parse(const std::string& file) {
  return parse_npy(std::as_bytes(std::span(file)), "x.npy");
}

template <class T>
std::string bytes_of(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> values_of(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

std::string refusal(const std::string& file) {
  try {
    parse(file);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Npy, ReadsEveryVersion) {
  for (const int major : {1, 2, 3}) {
    const auto array =
        parse(file_of(major, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n",
                      bytes_of<float>({1, 2, 3, 4, 5, 6})));
    EXPECT_EQ(array.type, ElementType::f32);
    EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(values_of<float>(array), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(Npy, ReadsOtherSpellings) {
  const auto data = bytes_of<int16_t>({7, -7});
  for (const char* header : {"{\"shape\":(2,),\"fortran_order\":True,\"descr\":\"=i2\"}",
                             "{'descr':'i2','fortran_order':False,'shape':(2L,)}",
                             "{'descr': '<i2', 'shape': (2), 'fortran_order': False}\n"}) {
    EXPECT_EQ(values_of<int16_t>(parse(file_of(1, header, data))), (std::vector<int16_t>{7, -7})) << header;
  }
  EXPECT_TRUE(
      parse(file_of(1, "{'descr':'<i2','fortran_order':False,'shape':()}", data.substr(2))).shape.empty());
  EXPECT_TRUE(parse(file_of(1, "{'descr':'<i2','fortran_order':False,'shape':(0, 5)}", "")).bytes.empty());
}

TEST(Npy, BigEndianIsSwapped) {
  const auto array = parse(file_of(1, "{'descr':'>i4','fortran_order':False,'shape':(2,)}",
                                   std::string("\0\0\1\2\xff\xff\xff\xfe", 8)));
  EXPECT_EQ(values_of<int32_t>(array), (std::vector<int32_t>{258, -2}));
}

TEST(Npy, FortranOrderBecomesRowMajor) {
  // a[i][j][k] = 100 i + 10 j + k for shape (2, 3, 4), first index fastest in the file.
  std::vector<double> columns, rows;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) {
        columns.push_back(100 * i + 10 * j + k);
      }
    }
  }
  for (int n = 0; n < 24; ++n) {
    rows.push_back(100 * (n / 12) + 10 * (n / 4 % 3) + n % 4);
  }
  const std::string shape = "'shape':(2,3,4)}";
  EXPECT_EQ(
      values_of<double>(parse(file_of(1, "{'descr':'<f8','fortran_order':True," + shape, bytes_of(columns)))),
      rows);
  EXPECT_EQ(values_of<double>(
                parse(file_of(1, "{'descr':'<f8','fortran_order':False," + shape, bytes_of(columns)))),
            columns);
}

TEST(Npy, WhatIsWrittenIsReadBack) {
  for (const auto type : {ElementType::boolean, ElementType::u8, ElementType::i8, ElementType::i16,
                          ElementType::u16, ElementType::i32, ElementType::u32, ElementType::i64,
                          ElementType::u64, ElementType::f16, ElementType::f32, ElementType::f64}) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{}, {5}, {2, 3}, {0}, {3, 1, 2}, {4, 0, 2}}) {
      Array array{type, shape, {}};
      array.bytes.resize(byte_count(type, shape).value());
      for (size_t i = 0; i < array.bytes.size(); ++i) {
        array.bytes[i] = std::byte(i % 2);
      }
      const auto file = npy_bytes(array);
      EXPECT_EQ((file.size() - array.bytes.size()) % 64, 0);
      EXPECT_EQ(parse_npy(file, "x.npy"), array) << name_of(type);
    }
  }
  EXPECT_THROW(npy_bytes({ElementType::bf16, {}, std::vector<std::byte>(2)}), DataError);
  EXPECT_THROW(npy_bytes({ElementType::f32, {2}, std::vector<std::byte>(4)}), ShapeError);
}

// The header that numpy 1.26 writes for np.arange(3, dtype='<i8'), byte for byte.
TEST(Npy, WritesTheBytesThatNumpyWrites) {
  Array array{ElementType::i64, {3}, std::vector<std::byte>(24)};
  const auto file = npy_bytes(array);
  std::string expected("\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", 67);
  expected.resize(127, ' ');
  expected += '\n';
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(file.data()), 128), expected);
}

TEST(Npy, NamesEachFault) {
  const std::string ok = "{'descr':'<f4','fortran_order':False,'shape':(1,)}", data(4, '\0');
  ASSERT_EQ(refusal(file_of(1, ok, data)), "accepted");
  const std::pair<std::string, const char*> cases[] = {
      {"", "must begin with"},
      {"\x93NUMP", "must begin with"},
      {file_of(4, ok, data), "version must be 1.0, 2.0 or 3.0, got 4.0"},
      {file_of(1, ok, data).substr(0, 9), "ends inside its header"},
      {file_of(1, ok, data).substr(0, 30), "exceeds the file"},
      {file_of(2, ok, data).replace(8, 4, "\xff\xff\xff\x7f"), "header length must be at most"},
      {file_of(1, ok, data.substr(1)), "must have 4 bytes, got 3"},
      {file_of(1, ok, data + "x"), "must have 4 bytes, got 5"},
      {file_of(1, "", data), "expected '{', got its end"},
      {file_of(1, ok + "x", data), "must end after its dict"},
      {file_of(1, "{'descr':'|O','fortran_order':False,'shape':(1,)}", data), "pickled Python"},
      {file_of(1, "{'descr':[('x','<f4')],'fortran_order':False,'shape':(1,)}", data), "structured types"},
      {file_of(1, "{'descr':'<c8','fortran_order':False,'shape':(1,)}", data), "got '<c8'"},
      {file_of(1, "{'descr':'','fortran_order':False,'shape':(1,)}", data), "got ''"},
      {file_of(1, "{'descr':'<f4','fortran_order':0,'shape':(1,)}", data), "must be True or False"},
      {file_of(1, "{'descr':'<f4','fortran_order':False,'shape':(-1,)}", data), "not negative"},
      {file_of(1, "{'descr':'<f4','fortran_order':False,'shape':(1.5,)}", data), "expected ')'"},
      {file_of(1, "{'descr':'<f4','fortran_order':False,'shape':(99999999999999999999,)}", data), "63-bit"},
      {file_of(1, "{'descr':'<f4','fortran_order':False,'shape':(4294967296,4294967296)}", data),
       "overflows"},
      {file_of(1, "{'descr':'<f4','fortran_order':False}", data), "must have descr, fortran_order and shape"},
      {file_of(1, "{'descr':'<f4','descr':'<f4','fortran_order':False,'shape':(1,)}", data),
       "has descr twice"},
      {file_of(1, "{'other':1}", data), "unknown header key 'other'"},
      {file_of(1, "{'descr", data), "must have a string here"},
  };
  for (const auto& [file, says] : cases) {
    const auto message = refusal(file);
    EXPECT_NE(message.find(says), std::string::npos) << "should say: " << says << "\n  says: " << message;
    EXPECT_TRUE(message.starts_with("x.npy: ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(Npy, FilesGoThroughTheDisk) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("weyl-npy-" + std::to_string(::getpid()) + ".npy")).string();
  const Array array{ElementType::u8, {3}, {std::byte{1}, std::byte{2}, std::byte{3}}};
  write_npy(path, array);
  EXPECT_EQ(read_npy(path), array);
  std::filesystem::remove(path);
  EXPECT_THROW(read_npy(path), DataError);
}

}  // namespace npy_test
}  // namespace weyl
