#pragma once

// For tests of what the program refuses: files to be spoilt, and the whole of a refusal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "tests/app/program.h"
#include "weyl/core/safetensors.h"

namespace weyl {

namespace fs = std::filesystem;

/// A tensor file in memory, to be spoilt.
struct TensorFile {
  struct Entry {
    ElementType type;
    std::vector<int64_t> shape;
    std::string bytes;
  };
  std::map<std::string, std::string> metadata;
  std::map<std::string, Entry> tensors;

  TensorFile() = default;
  explicit TensorFile(const std::string& path) {
    const SafetensorsFile file(path);
    metadata = file.header().metadata;
    for (const auto& [name, entry] : file.header().tensors) {
      const auto bytes = file.bytes(name);
      tensors[name] = {entry.type, entry.shape, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
    }
  }

  template <class T>
  void put(const std::string& name, ElementType type, std::vector<int64_t> shape,
           const std::vector<T>& values) {
    tensors[name] = {
        type, std::move(shape), {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}};
  }

  template <class T>
  void set(const std::string& name, size_t index, T value) {
    std::string& bytes = tensors.at(name).bytes;
    ASSERT_LE((index + 1) * sizeof value, bytes.size());
    std::memcpy(bytes.data() + index * sizeof value, &value, sizeof value);
  }

  void write(const std::string& path) const {
    std::vector<TensorBytes> list;
    for (const auto& [name, t] : tensors) {
      list.push_back({name, t.type, t.shape, std::as_bytes(std::span(t.bytes))});
    }
    write_safetensors(path, list, metadata);
  }
};

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::map<std::string, std::string> files_below(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (file.path().filename() != ".stderr") {
      files[file.path().string()] = file.is_regular_file() ? contents(file.path().string()) : "";
    }
  }
  return files;
}

/// One folder for each test; `refused` is the whole check: exit code, one line that says the fault, nothing
/// on stdout, no file written.
class Refusals : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = scratch(std::string("broken-") + testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }

  void refused(const std::string& arguments, int code, const std::string& fault) const {
    const auto before = files_below(folder_);
    const Outcome outcome = weyl_program(arguments, folder_);
    EXPECT_EQ(outcome.code, code) << arguments << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1)
        << arguments << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(fault), std::string::npos)
        << arguments << "\n  should say: " << fault << "\n  says: " << outcome.err;
    EXPECT_TRUE(files_below(folder_) == before) << arguments << " left something behind";
  }

 private:
  std::string folder_;
};

}  // namespace weyl
