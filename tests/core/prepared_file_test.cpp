// What was made at some cost is found again, and nothing else is taken for it.
#include "weyl/core/prepared_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/traps.h"
#include "weyl/core/check.h"
#include "weyl/core/temporary_folder.h"

namespace weyl {
namespace prepared_file_test {

namespace fs = std::filesystem;

class PreparedFiles : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_ / "data");
    std::ofstream(data_) << "data";
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("XDG_CACHE_HOME");
    set_turn_hooks({});
  }

  PreparedFile beside(const std::string& key = "key", const std::string& kind = "kind",
                      const std::string& state = "") const {
    return PreparedFile::beside(data_, kind, key, state);
  }
  static bool save(const PreparedFile& file, int64_t number = 7) {
    const TensorBytes tensor{"number", ElementType::i64, {1}, std::as_bytes(std::span(&number, 1))};
    return file.save({&tensor, 1}, {{"of", "a test"}}).empty();
  }
  static int64_t number_in(const SafetensorsFile& file) {
    int64_t number = 0;
    file.read("number", std::as_writable_bytes(std::span(&number, 1)));
    return number;
  }
  /// The files beside the data but for locks.
  std::vector<std::string> kept(const std::string& in) const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(in)) {
      if (entry.path().extension() == ".safetensors") {
        files.push_back(entry.path().string());
      }
    }
    return files;
  }

  TemporaryFolder folder_{"test"};
  const std::string data_ = folder_ / "data/a.xyz", hidden_ = folder_ / "data/.weyl";
};

TEST_F(PreparedFiles, AreFoundByTheirKey) {
  EXPECT_EQ(beside().open(), nullptr);
  ASSERT_TRUE(save(beside()));
  const auto file = beside().open();
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(number_in(*file), 7);
  EXPECT_EQ(file->header().metadata.at("of"), "a test");
  EXPECT_EQ(beside("key", "another kind").open(), nullptr);
  std::string fault;
  EXPECT_EQ(beside("another key").open(&fault), nullptr);
  EXPECT_NE(fault.find("was made of other files, before they changed or by another version"),
            std::string::npos)
      << fault;
  ASSERT_TRUE(save(beside("another key"), 8));  // in its place
  EXPECT_EQ(kept(hidden_).size(), 1U);
  EXPECT_EQ(beside().open(), nullptr);
  EXPECT_FALSE(PreparedFile().keeps());
  EXPECT_FALSE(save(PreparedFile()));
  EXPECT_FALSE(PreparedFile::beside(folder_ / "nothing", "kind", "key").keeps());
}

TEST_F(PreparedFiles, AreNotBelievedWhenDamaged) {
  ASSERT_TRUE(save(beside()));
  const std::string path = kept(hidden_).at(0);
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (size_t cut = 0; cut < whole.size(); cut += 7) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, cut);
    std::string fault;
    EXPECT_EQ(beside().open(&fault), nullptr) << cut;
    EXPECT_EQ(fault.rfind(path, 0), 0U) << fault;
  }
  for (size_t byte = 0; byte < whole.size(); ++byte) {
    std::string other = whole;
    other[byte] = static_cast<char>(other[byte] ^ 1);
    std::ofstream(path, std::ios::binary) << other;
    const auto file = beside().open();
    if (file != nullptr) {  // then it is the tensor's, which is read with its checksum
      EXPECT_THROW(number_in(*file), DataError) << byte;
    }
  }
}

TEST_F(PreparedFiles, FollowNoLinksAndWaitForNoPipes) {
  ASSERT_TRUE(save(beside()));
  const std::string path = kept(hidden_).at(0), elsewhere = folder_ / "elsewhere";
  for (const Trap trap : traps_for_files) {
    lay(trap, path, elsewhere);
    EXPECT_EQ(beside().open(), nullptr) << name_of(trap);
    EXPECT_TRUE(save(beside())) << name_of(trap);
    expect_untouched(elsewhere);
    EXPECT_NE(beside().open(), nullptr) << name_of(trap);
    fs::remove_all(path);
    fs::remove_all(folder_ / "cache");
  }
  for (const Trap trap : traps_for_folders) {
    lay(trap, hidden_, elsewhere);
    EXPECT_EQ(beside().open(), nullptr) << name_of(trap);
    EXPECT_TRUE(save(beside())) << name_of(trap);  // in the cache folder
    expect_untouched(elsewhere);
    EXPECT_EQ(kept(folder_ / "cache/weyl").size(), 1U) << name_of(trap);
    EXPECT_NE(beside().open(), nullptr);
    fs::remove_all(folder_ / "cache");
  }
}

TEST_F(PreparedFiles, OfAnotherUserAreNotBelieved) {
  ASSERT_TRUE(save(beside()));
  const std::string path = kept(hidden_).at(0);
  if (::chown(path.c_str(), 12345, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root gives files away";
  }
  std::string fault;
  EXPECT_EQ(beside().open(&fault), nullptr);
  EXPECT_EQ(fault, path + ": belongs to another user");
  ASSERT_TRUE(save(beside(), 8));  // in the cache, and the other keeps its own
  EXPECT_EQ(number_in(*beside().open()), 8);
  EXPECT_EQ(number_in(SafetensorsFile(path)), 7);
  fs::remove_all(folder_ / "cache");
  ASSERT_EQ(::chown(data_.c_str(), 12345, static_cast<gid_t>(-1)),
            0);  // whoever has the data may say what is in them
  EXPECT_NE(beside().open(), nullptr);
}

TEST_F(PreparedFiles, LieInTheCacheWhereTheFolderCannotBeWritten) {
  std::ofstream(hidden_) << "in the way";  // root writes into any folder
  ASSERT_TRUE(save(beside()));
  EXPECT_EQ(kept(folder_ / "cache/weyl").size(), 1U);
  EXPECT_EQ(number_in(*beside().open()), 7);
  fs::remove_all(folder_ / "cache");
  std::ofstream(folder_ / "cache") << "in the way";
  const std::string fault = beside().save({}, {});
  EXPECT_NE(fault.find(hidden_ + ": must be a folder"), std::string::npos) << fault;
  EXPECT_NE(fault.find("; " + (folder_ / "cache")), std::string::npos) << fault;
  EXPECT_EQ(beside().open(), nullptr);
  const PreparedFile::Turn turn(beside());  // nobody waits
}

TEST_F(PreparedFiles, OneMakesAndTheOthersWait) {
  std::atomic<int64_t> made = 0;
  const auto ask = [&] {
    if (beside().open() == nullptr) {
      PreparedFile::Turn turn(beside());
      turn.kept();
      if (beside().open() == nullptr) {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough for the others to come
        save(beside());
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back(ask);
    }
  }
  EXPECT_EQ(made, 1);
}

/// Those that have waited for it are past their turns together, at once.
TEST_F(PreparedFiles, AMakerThatKeepsNothingLetsAllGo) {
  constexpr int waiters = 3;
  std::atomic<int> said = 0;
  std::string line;
  set_turn_hooks({.say =
                      [&](const std::string& l) {
                        if (++said == waiters) {
                          line = l;
                        }
                      },
                  .stop = {}});
  std::barrier together(waiters);
  std::vector<std::jthread> threads;
  {
    const PreparedFile::Turn turn(beside());
    for (int i = 0; i < waiters; ++i) {
      threads.emplace_back([&] {
        const PreparedFile::Turn next(beside());
        together.arrive_and_wait();
      });
    }
    while (said < waiters) {
      std::this_thread::yield();
    }
  }
  threads.clear();
  EXPECT_EQ(said, waiters);  // once each
  EXPECT_NE(line.find(hidden_ + "/a.xyz."), std::string::npos) << line;
  EXPECT_NE(line.find(".lock: waiting for another process"), std::string::npos) << line;
  const PreparedFile::Turn again(beside());  // and whoever comes later finds the lock free
}

TEST_F(PreparedFiles, WaitingIsStoppedAndEnds) {
  const PreparedFile::Turn turn(beside());
  {
    const PreparedFile::Turn not_waited_for(beside(), std::chrono::milliseconds(3));
  }
  std::atomic<int> asked = 0;
  set_turn_hooks({.say = {}, .stop = [&] { return ++asked == 3; }});
  EXPECT_THROW(PreparedFile::Turn{beside()}, TurnStopped);
  EXPECT_EQ(asked, 3);
}

TEST_F(PreparedFiles, WhatIsOfAnotherStateGoesWhenOneIsSaved) {
  const std::string other = folder_ / "data/a.xyz.more";
  std::ofstream(other) << "data";
  ASSERT_TRUE(save(beside("a", "one", "state a")));
  const std::string one = kept(hidden_).at(0);
  ASSERT_TRUE(save(beside("a", "two", "state a")));
  ASSERT_TRUE(save(PreparedFile::beside(other, "one", "a", "state a")));
  EXPECT_EQ(kept(hidden_).size(), 3U);
  const auto litter = [&](long process, bool old) {
    const std::string path = one + text(".", process, "-1.tmp");
    std::ofstream(path) << "unfinished";
    if (old) {
      fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
    }
    return path;
  };
  constexpr long gone = 2'000'000'000, gone_just_now = gone + 1;  // beyond the most that Linux has
  const std::string dead = litter(gone, true), fresh = litter(gone_just_now, false),
                    living = litter(::getpid(), true);
  ASSERT_TRUE(save(beside("b", "two", "state b")));
  EXPECT_EQ(beside("a", "one", "state a").open(), nullptr);
  EXPECT_NE(beside("b", "two", "state b").open(), nullptr);
  EXPECT_NE(PreparedFile::beside(other, "one", "a", "state a").open(), nullptr);
  EXPECT_EQ(kept(hidden_).size(), 2U);
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(living));
}

TEST_F(PreparedFiles, StateTellsChangesOfSizeTimeAndContent) {
  const std::string large = folder_ / "data/large";
  std::ofstream(large) << std::string(300'000, 'x');
  const std::array<std::string, 2> files{data_, large};
  const auto state = [&] { return state_of_contents(folder_ / "data", files); };
  const std::string before = state();
  EXPECT_EQ(state(), before);
  const auto time = fs::last_write_time(large);
  for (const std::streamoff byte : {0, 4095, 299'999}) {
    std::fstream file(large, std::ios::in | std::ios::out);
    file.seekp(byte);
    file.put('y');
    file.close();
    fs::last_write_time(large, time);
    EXPECT_NE(state(), before) << byte;
    std::fstream again(large, std::ios::in | std::ios::out);
    again.seekp(byte);
    again.put('x');
    again.close();
    fs::last_write_time(large, time);
    EXPECT_EQ(state(), before) << byte;
  }
  fs::last_write_time(large, time + std::chrono::nanoseconds(1000));
  EXPECT_NE(state(), before);
  fs::last_write_time(large, time);
  std::ofstream(large, std::ios::app) << "x";
  fs::last_write_time(large, time);
  EXPECT_NE(state(), before);
  const std::vector<std::string> many(1000, data_);
  EXPECT_LT(state_of_contents(folder_ / "data", many).size(), 60U);
}

}  // namespace prepared_file_test
}  // namespace weyl
