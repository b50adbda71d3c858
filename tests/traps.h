#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace weyl {

/// What may stand at a name of ours in a folder that somebody else has made.
enum class Trap { link, dangling_link, folder_link, pipe, socket, folder, file };
constexpr std::array<Trap, 6> traps_for_files{Trap::link, Trap::dangling_link, Trap::folder_link,
                                              Trap::pipe, Trap::socket,        Trap::folder};
constexpr std::array<Trap, 6> traps_for_folders{Trap::link, Trap::dangling_link, Trap::folder_link,
                                                Trap::pipe, Trap::socket,        Trap::file};

inline const char* name_of(Trap trap) {
  switch (trap) {
    case Trap::pipe:
      return "a pipe";
    case Trap::socket:
      return "a socket";
    case Trap::folder:
      return "a folder";
    case Trap::file:
      return "a file";
    default:
      return "a symbolic link";
  }
}

/// Lays one at `path`, in place of what is there. Links lead into `elsewhere`, a folder that is made with the file `precious` in
/// it and must stay so (expect_untouched).
inline void lay(Trap trap, const std::string& path, const std::string& elsewhere) {
  namespace fs = std::filesystem;
  fs::remove_all(path);
  fs::remove_all(elsewhere);
  fs::create_directory(elsewhere);
  std::ofstream(elsewhere + "/precious") << "precious";
  const fs::path target = fs::absolute(elsewhere);
  switch (trap) {
    case Trap::link:
      fs::create_symlink(target / "precious", path);
      break;
    case Trap::dangling_link:
      fs::create_symlink(target / "nothing", path);
      break;
    case Trap::folder_link:
      fs::create_directory_symlink(target, path);
      break;
    case Trap::pipe:
      ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
      break;
    case Trap::socket:
      ASSERT_EQ(::mknod(path.c_str(), S_IFSOCK | 0600, 0), 0);
      break;
    case Trap::folder:
      fs::create_directory(path);
      break;
    case Trap::file:
      std::ofstream(path) << "";
      break;
  }
}

inline void expect_untouched(const std::string& elsewhere) {
  namespace fs = std::filesystem;
  for (const auto& entry : fs::directory_iterator(elsewhere)) {
    EXPECT_EQ(entry.path().filename(), "precious");
  }
  std::ifstream file(elsewhere + "/precious");
  const std::string held{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(held, "precious");
}

}  // namespace weyl
