// Files that others shorten while they are mapped: the program's handler of SIGBUS (app/terminal/signals.h) names them.
#include "weyl/core/input_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <vector>

#include "weyl/app/terminal/signals.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/available_memory.h"

namespace weyl {
namespace mapped_file_test {

namespace fs = std::filesystem;
constexpr size_t size = 1 << 20;

struct Temporary {
  std::string path;
  explicit Temporary(const std::string& name)
      : path((fs::temp_directory_path() / ("weyl-mapped-" + std::to_string(::getpid()) + name)).string()) {
    std::ofstream(path, std::ios::binary) << std::string(size, 'x');
  }
  ~Temporary() { fs::remove(path); }
};

int sum(std::span<const std::byte> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0,
                         [](int a, std::byte b) { return a + std::to_integer<int>(b); });
}

TEST(MappedFileDeathTest, AShortenedFileEndsTheProgramWithALineThatNamesIt) {
  const Temporary other("other"), lost("lost");
  const auto read = [&] {
    catch_lost_files();
    const MappedFile first(other.path), file(lost.path), last(other.path);
    EXPECT_EQ(sum(file.bytes()), 'x' * static_cast<int>(size));
    fs::resize_file(lost.path, size / 2);
    _exit(sum(file.bytes()) != 0 ? 0 : 1);
  };
  EXPECT_EXIT(read(), testing::ExitedWithCode(3),
              "^weyl: .*lost: must stay as it is while it is read, but was shortened, or its disk failed\n$");
}

TEST(MappedFileDeathTest, ThatLineShowsWhatWouldActInAName) {
  const Temporary lost("\x1b]0;owned\x07\nlost");
  const auto read = [&] {
    catch_lost_files();
    const MappedFile file(lost.path);
    fs::resize_file(lost.path, 0);
    _exit(sum(file.bytes()) != 0 ? 0 : 1);
  };
  EXPECT_EXIT(read(), testing::ExitedWithCode(3),
              R"(^weyl: [^[:cntrl:]]*\\x1b\]0;owned\\x07\\x0alost: must stay as it is[^[:cntrl:]]*
$)");
}

TEST(MappedFileDeathTest, ThatEndLeavesNothingUnfinished) {
  const Temporary lost("litter");
  const auto read = [&] {
    catch_lost_files();
    const MappedFile file(lost.path);
    AtomicFile made(lost.path + ".out");
    made.write("half");
    fs::resize_file(lost.path, 0);
    _exit(sum(file.bytes()) != 0 ? 0 : 1);
  };
  EXPECT_EXIT(read(), testing::ExitedWithCode(3), "must stay as it is");
  const std::string stem = fs::path(lost.path).filename().string() + ".out";
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(stem)) << entry.path();
  }
}

#ifndef WEYL_SANITIZED  // which takes more addresses than that
// Few addresses (ulimit -v) are a lack of memory (exit code 4), no fault of the file.
TEST(MappedFileDeathTest, AFileThatFindsNoAddressesIsALackOfMemory) {
  const Temporary large("large");
  fs::resize_file(large.path, uint64_t{16} << 30);  // all of it a hole
  const auto map = [&] {
    constexpr rlim_t limit = rlim_t{8} << 30;
    const rlimit addresses{limit, limit};
    ::setrlimit(RLIMIT_AS, &addresses);
    try {
      const MappedFile file(large.path);
    } catch (const MemoryError& error) {
      _exit(std::string_view(error.what()).starts_with(large.path + ": cannot map: ") ? 4 : 1);
    } catch (const std::exception&) {
      _exit(3);
    }
    _exit(0);
  };
  EXPECT_EXIT(map(), testing::ExitedWithCode(4), "");
}
#endif

// Without the handler, as any program that links the library: the library installs none.
TEST(MappedFileDeathTest, TheLibraryAloneLeavesTheSignalAsItIs) {
  const Temporary lost("lost");
  const auto read = [&] {
    std::signal(SIGBUS, SIG_DFL);
    const MappedFile file(lost.path);
    fs::resize_file(lost.path, 0);
    _exit(sum(file.bytes()) != 0 ? 0 : 1);
  };
  EXPECT_EXIT(read(), testing::KilledBySignal(SIGBUS), "");
}

TEST(MappedFileDeathTest, EveryOtherSigbusKeepsItsDefault) {
  const Temporary lost("lost");
  const auto elsewhere = [&] {
    catch_lost_files();
    const MappedFile file(lost.path);
    const InputFile own(lost.path);
    const auto* begin =
        static_cast<const std::byte*>(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, own.descriptor(), 0));
    fs::resize_file(lost.path, 0);
    _exit(sum({begin, size}) != 0 ? 0 : 1);
  };
  EXPECT_EXIT(elsewhere(), testing::KilledBySignal(SIGBUS), "^$");
  const auto sent = [&] {
    catch_lost_files();
    const MappedFile file(lost.path);
    ::raise(SIGBUS);
    _exit(0);
  };
  EXPECT_EXIT(sent(), testing::KilledBySignal(SIGBUS), "^$");
}

TEST(MappedFile, IsFoundByEveryAddressWhileItIsMapped) {
  const Temporary a("a"), b("b");
  std::vector<std::unique_ptr<MappedFile>> files;
  for (int i = 0; i < 40; ++i) {
    files.push_back(std::make_unique<MappedFile>(i % 2 == 0 ? a.path : b.path));
  }
  const auto named = [](const void* address) { return std::string_view(lost_file(address)).substr(0, 200); };
  for (size_t i = 0; i < files.size(); ++i) {
    for (const size_t at : {size_t{0}, size / 3, size - 1}) {
      EXPECT_TRUE(named(files[i]->bytes().data() + at).starts_with((i % 2 == 0 ? a.path : b.path) + ": "));
    }
  }
  EXPECT_EQ(lost_file(nullptr), nullptr);
  EXPECT_EQ(lost_file(&files), nullptr);
  const auto* gone = files[7]->bytes().data();
  files.clear();
  EXPECT_EQ(lost_file(gone), nullptr);
  const MappedFile again(b.path);
  EXPECT_TRUE(named(again.bytes().data()).starts_with(b.path));
}

}  // namespace mapped_file_test
}  // namespace weyl
