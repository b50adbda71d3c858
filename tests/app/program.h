#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace weyl {

/// What the built program did.
struct Outcome {
  int code = 0;
  std::string out, err;
};

inline std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs build/.../bin/weyl through the shell in the folder given.
inline Outcome weyl_program(const std::string& arguments, const std::string& folder) {
  const std::string err = folder + "/.stderr";
  const std::string command =
      "cd '" + folder + "' && '" WEYL_BINARY_DIR "/bin/weyl' " + arguments + " 2> '" + err + "'";
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  for (size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.out.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  outcome.err = contents(err);
  return outcome;
}

/// What a command of the shell prints, in `folder`.
inline Outcome shell(const std::string& command, const std::string& folder) {
  Outcome outcome;
  const std::string out = folder + "/.out", err = folder + "/.err";
  const int status =
      std::system(("cd '" + folder + "' && { " + command + "; } > '" + out + "' 2> '" + err + "'").c_str());
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  outcome.out = contents(out);
  outcome.err = contents(err);
  std::filesystem::remove(out);
  std::filesystem::remove(err);
  return outcome;
}

/// A fresh, empty folder for one test, of this process alone; removed when the process ends.
inline std::string scratch(const std::string& name) {
  struct Made {
    std::vector<std::filesystem::path> folders;
    ~Made() {
      std::error_code ignored;
      for (const auto& folder : folders) {
        std::filesystem::remove_all(folder, ignored);
      }
    }
  };
  static Made made;
  const auto folder =
      std::filesystem::temp_directory_path() / ("weyl-test-" + name + "-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  made.folders.push_back(folder);
  return folder.string();
}

/// The data and the task of a config: masks of the photographs that `data make lesions --out lesions` makes, 24 x 36.
constexpr const char* lesions_config = R"([data]
set = "ph2"
[data.ph2]
path = "lesions"
height = 24
width = 36
[task]
name = "segmentation"
[task.segmentation]
names = ["skin", "lesion"]
)";

}  // namespace weyl
