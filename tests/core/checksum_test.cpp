// Checksums of the tensor files that we write: what is written, and that nothing that happens to a file goes unseen.
#include "weyl/core/checksum.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>

#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace checksum_test {

namespace fs = std::filesystem;

TEST(ChecksumNumber, IsThatOfTheTextAndGoesOnFromASeed) {
  const std::string one = "one", two = "two";
  const auto bytes = [](const std::string& s) { return std::as_bytes(std::span(s)); };
  std::ostringstream digits;
  digits << std::hex << std::setw(16) << std::setfill('0') << checksum_number(bytes(one));
  EXPECT_EQ(checksum(bytes(one)), digits.str());
  EXPECT_NE(checksum_number(bytes(one), checksum_number(bytes(two))),
            checksum_number(bytes(two), checksum_number(bytes(one))));
  EXPECT_NE(checksum_number({}, 1), checksum_number({}, 2));
}

class Checksums : public testing::Test {
 protected:
  Checksums() { fs::create_directories(folder_); }
  ~Checksums() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string put(const std::string& bytes) const {
    std::ofstream(path("changed"), std::ios::binary) << bytes;
    return path("changed");
  }
  /// What opening a file and reading all of it says; empty: nothing.
  static std::string fault(const std::string& path) {
    try {
      const SafetensorsFile file(path);
      for (const auto& [name, entry] : file.header().tensors) {
        file.bytes(name);
      }
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }
  /// A file of three tensors, one of them empty.
  std::string small_file() const {
    const std::vector<double> a{1, -2, 3.5, 1e300, 0};
    const std::vector<uint8_t> b{7, 8, 9};
    const TensorBytes tensors[] = {
        {"task.mean", ElementType::f64, {5}, std::as_bytes(std::span(a))},
        {"none", ElementType::f32, {4, 0}, {}},
        {"b \"q\" \xc3\x85", ElementType::u8, {3, 1}, std::as_bytes(std::span(b))}};
    write_safetensors(path("small"), tensors, {{"format", "x"}, {"training", "{\"step\": 12}"}});
    return path("small");
  }

  std::string folder_ =
      (fs::temp_directory_path() / ("weyl-checksums-" + std::to_string(::getpid()))).string();
};

// XXH3's own test vectors: xxHash, tests/sanity_test_vectors.h and `printf abc | xxhsum -H3`.
TEST_F(Checksums, AreThoseOfTheLibrary) {
  const auto of = [](std::string_view s) { return checksum(std::as_bytes(std::span(s))); };
  EXPECT_EQ(of(""), "2d06800538d394c2");
  EXPECT_EQ(of("a"), "e6c632b61e964e1f");
  EXPECT_EQ(of("abc"), "78af5f94892f3950");
}

TEST_F(Checksums, StandInTheMetadataAsDocumented) {
  const std::string file = contents(small_file());
  const std::string begin = R"({"__metadata__":{"weyl.xxh3_64.header":")";
  ASSERT_EQ(file.substr(8, begin.size()), begin);
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  std::string head = file.substr(0, 8 + length);
  const std::string said = head.substr(8 + begin.size(), 16);
  head.replace(8 + begin.size(), 16, std::string(16, '0'));
  EXPECT_EQ(said, checksum(std::as_bytes(std::span(head))));
  const std::string data = file.substr(8 + length);
  const auto sum = [&](size_t from, size_t size) {
    return checksum(std::as_bytes(std::span(data).subspan(from, size)));
  };
  EXPECT_NE(head.find(R"("weyl.xxh3_64.tensors":"{\"b \\\"q\\\" )"
                      "\xc3\x85"
                      R"(\":\")" +
                      sum(40, 3) + R"(\",\"none\":\"\",\"task.mean\":\")" + sum(0, 40) + R"(\"}")"),
            std::string::npos)
      << head;
  const SafetensorsFile read(path("small"));
  EXPECT_TRUE(read.header().has_checksums);
  EXPECT_EQ(read.header().metadata,
            (std::map<std::string, std::string>{{"format", "x"}, {"training", "{\"step\": 12}"}}));
  EXPECT_EQ(read.entry("task.mean").checksums, sum(0, 40));
  EXPECT_EQ(read.entry("none").checksums, "");
}

TEST_F(Checksums, NoticeEveryBitOfAFile) {
  const std::string whole = contents(small_file());
  EXPECT_EQ(fault(put(whole)), "");
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    const std::string said = fault(put(changed));
    ASSERT_TRUE(said.starts_with(path("changed") + ": ")) << "bit " << bit << ": " << said;
    ASSERT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST_F(Checksums, NoticeEveryLength) {
  const std::string whole = contents(small_file());
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_NE(fault(put(whole.substr(0, size))), "") << size;
  }
  EXPECT_NE(fault(put(whole + '\0')), "");
}

TEST_F(Checksums, SayWhichBlockOfWhichTensor) {
  const std::vector<float> big(checksum_block / 4 * 2 + 10, 0.5F), small(7, 2.0F);
  const TensorBytes tensors[] = {
      {"big", ElementType::f32, {static_cast<int64_t>(big.size())}, std::as_bytes(std::span(big))},
      {"small", ElementType::f32, {7}, std::as_bytes(std::span(small))}};
  write_safetensors(path("blocks"), tensors);
  const SafetensorsFile whole(path("blocks"));
  EXPECT_EQ(whole.entry("big").checksums.size(), 3 * checksum_digits);
  EXPECT_EQ(whole.bytes("big").size(), 4 * big.size());
  EXPECT_NO_THROW(whole.verify("big"));
  std::string bytes = contents(path("blocks"));
  bytes[whole.header().data_begin + checksum_block + 17] ^= 1;
  const SafetensorsFile damaged(put(bytes));
  for (const auto& read : {+[](const SafetensorsFile& f) { f.bytes("big"); },
                           +[](const SafetensorsFile& f) { f.verify("big"); }}) {
    try {
      read(damaged);
      FAIL() << "a damaged block was read";
    } catch (const DataError& error) {
      EXPECT_TRUE(std::string_view(error.what())
                      .starts_with(path("changed") +
                                   ": tensor 'big': the checksum of its bytes 1048576 to 2097152 must be "))
          << error.what();
    }
  }
  EXPECT_NO_THROW(damaged.bytes("small"));  // opening and reading others goes on
}

TEST_F(Checksums, AreWrittenAnewWithOtherTensors) {
  const SafetensorsFile first(small_file());
  auto metadata = first.header().metadata;
  metadata["weyl.xxh3_64.header"] = metadata["weyl.xxh3_64.tensors"] = "of other bytes";
  const std::byte bytes[4] = {};
  const TensorBytes tensors[] = {{"x", ElementType::f32, {1}, bytes}};
  write_safetensors(path("second"), tensors, metadata);
  EXPECT_EQ(fault(path("second")), "");
  EXPECT_EQ(SafetensorsFile(path("second")).header().metadata, first.header().metadata);
  write_safetensors(path("third"), tensors, metadata);
  EXPECT_EQ(contents(path("second")), contents(path("third")));
}

std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + data;
}

TEST_F(Checksums, AreNotAskedOfFilesWithout) {
  EXPECT_EQ(fault(put(file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "ab"))), "");
  EXPECT_FALSE(SafetensorsFile(path("changed")).header().has_checksums);
}

// As another program writes that keeps metadata which it does not know, in its own order.
TEST_F(Checksums, KeptByAnotherProgramAreRefused) {
  const std::string tensor = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  const struct {
    std::string metadata;
    const char* says;
  } cases[] = {
      {R"("format":"x","weyl.xxh3_64.header":"0123456789abcdef","weyl.xxh3_64.tensors":"{}")",
       "another program kept"},
      {R"("weyl.xxh3_64.tensors":"{}")", "another program kept"},
      {R"("weyl.xxh3_64.header":"0123456789abcdef","weyl.xxh3_64.tensors":"{}")",
       "checksum must be 0123456789abcdef"},
      {R"("weyl.xxh3_64.header":"0123\u00e9)", "header"},
      {R"("weyl.xxh3_64.header":")", "header"},
  };
  for (const auto& c : cases) {
    const std::string said =
        fault(put(file_of("{\"__metadata__\":{" + c.metadata + "}," + tensor + "}", "ab")));
    EXPECT_NE(said.find(c.says), std::string::npos) << said;
  }
}

// The right checksum of a header whose tensors' checksums are not theirs: a mistake or malice, no accident.
TEST_F(Checksums, MustBeThoseOfTheTensors) {
  const std::string begin = R"({"__metadata__":{"weyl.xxh3_64.header":")";
  for (const char* sums :
       {"{}", "[]", "", "x", "[[[[", R"({\"a\":3})", R"({\"a\":\"\"})", R"({\"b\":\"0123456789abcdef\"})",
        R"({\"a\":\"0123456789abcdef0\"})", R"({\"a\":\"0123456789abcdef\",\"b\":\"\"})"}) {
    std::string file = file_of(begin + std::string(16, '0') + R"(","weyl.xxh3_64.tensors":")" + sums +
                                   R"("},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                               "");
    file.replace(8 + begin.size(), 16, checksum(std::as_bytes(std::span(file))));
    const std::string said = fault(put(file + "ab"));
    EXPECT_NE(said.find("metadata weyl.xxh3_64.tensors: "), std::string::npos) << sums << ": " << said;
  }
}

TEST_F(Checksums, AFileShortenedAfterItWasOpenedIsAnError) {
  const SafetensorsFile file(small_file());
  fs::resize_file(path("small"), file.header().data_begin + 1);
  try {
    file.bytes("task.mean");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string_view(error.what()).find("tensor 'task.mean': the file ends within it"),
              std::string::npos);
  }
}

}  // namespace checksum_test
}  // namespace weyl
