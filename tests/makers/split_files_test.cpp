// Files that are written as their samples are made are those that are written when all are there.
#include "weyl/makers/split_files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "weyl/core/temporary_folder.h"

namespace weyl {
namespace split_files_test {

struct Writer {
  explicit Writer(const std::string& path) : file(path, Existing::keep) {}
  void write(int64_t number) { file.write(std::to_string(number) + "\n"); }
  void commit() { file.commit(); }
  AtomicFile file;
};

int64_t number(const char* split, int64_t index) {
  return 10 * index + split[0] % 10;
}

bool stream(const std::string& folder, const SplitCounts& counts, const JobHooks& hooks = {},
            const std::function<int64_t(const char*, int64_t)>& make = number) {
  return stream_split_files(
      "numbers", counts, folder, 3, hooks, make, [](const std::string& path) { return Writer(path); },
      ".txt");
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(SplitFiles, WrittenAsTheyAreMadeAreTheSame) {
  const TemporaryFolder folder("test");
  const SplitCounts counts{2500, 0, 1024};
  std::vector<int64_t> reports;
  JobHooks hooks;
  hooks.report = [&](int64_t done, int64_t total) {
    EXPECT_EQ(total, 3524);
    reports.push_back(done);
  };
  ASSERT_TRUE(stream(folder / "a", counts, hooks));
  ASSERT_TRUE(make_split_files(
      "numbers", counts, folder / "b", 2, {}, number,
      [](std::span<const int64_t> made, const char* /*split*/, const std::string& path) {
        Writer writer(path);
        std::ranges::for_each(made, [&](int64_t n) { writer.write(n); });
        writer.commit();
      },
      ".txt"));
  for (const char* name : {"/train.txt", "/test.txt"}) {
    EXPECT_EQ(text_of(folder / "a" + name), text_of(folder / "b" + name));
    EXPECT_FALSE(text_of(folder / "a" + name).empty());
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a/valid.txt"));
  EXPECT_TRUE(std::ranges::is_sorted(reports));
  EXPECT_EQ(reports.back(), 3524);
  EXPECT_THROW(stream(folder / "a", counts), ConfigError);
  EXPECT_THROW(stream(folder / "c", {0, 0, 0}), ConfigError);
}

TEST(SplitFiles, LeaveNothingWhenTheyEndEarly) {
  const TemporaryFolder folder("test");
  const auto broken = [](const char* split, int64_t index) {
    require<DataError>(split[0] != 'v' || index != 1500, "sample ", index, ": cannot be made");
    return number(split, index);
  };
  EXPECT_THROW(stream(folder / "a", {1100, 1600, 0}, {}, broken), DataError);  // the first split was written
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  std::atomic<bool> waits = false, stop = false;
  const auto slow = [&](const char* split, int64_t index) {
    while (split[0] == 'v' && index >= 1100 && !stop) {  // until somebody asks whether to stop
      waits = true;
      std::this_thread::yield();
    }
    return number(split, index);
  };
  JobHooks hooks;
  hooks.stop = [&] { return stop = waits.load(); };
  EXPECT_FALSE(stream(folder / "a", {1100, 1600, 0}, hooks, slow));
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

/// Samples that are made at once are stopped, too.
TEST(SplitFiles, AskForAStopBetweenChunks) {
  const TemporaryFolder folder("test");
  std::atomic<int64_t> made = 0;
  const auto quick = [&](const char* split, int64_t index) {
    ++made;
    return number(split, index);
  };
  JobHooks hooks;
  hooks.stop = [&] { return made > 0; };
  EXPECT_FALSE(stream(folder / "a", {5000, 0, 0}, hooks, quick));
  EXPECT_LE(made, 1024);
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

}  // namespace split_files_test
}  // namespace weyl
