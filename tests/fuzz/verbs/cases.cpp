#include "tests/fuzz/verbs/cases.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "weyl/core/check.h"

namespace weyl::fuzz {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  require<DataError>(file.good(), path.string(), ": must be a file of a case");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> all;
  for (std::string line; std::getline(file, line);) {
    all.push_back(line);
  }
  require<DataError>(!all.empty(), path.string(), ": must have lines");
  return all;
}

void write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& line : all) {
    text += line + "\n";
  }
  return text;
}

}  // namespace

Case read_case(const fs::path& folder) {
  Case found{folder.filename().string(), lines(folder / "command"), lines(folder / "mutate"), {}};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = fs::relative(entry.path(), folder).string();
    if (entry.is_regular_file() && path != "command" && path != "mutate") {
      found.files[path] = contents(entry.path());
    }
  }
  for (const std::string& name : found.mutate) {
    require<DataError>(found.files.contains(name), folder.string(),
                       ": mutate must name files of the case, names ", name);
  }
  return found;
}

std::vector<Case> read_cases(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (fs::exists(entry.path() / "command")) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  std::vector<Case> cases;
  for (const auto& path : folders) {
    cases.push_back(read_case(path));
  }
  return cases;
}

void write_files(const Case& from, const fs::path& folder) {
  fs::create_directories(folder);
  for (const auto& [path, bytes] : from.files) {
    write(folder / path, bytes);
  }
}

void write_case(const Case& from, const fs::path& folder) {
  write_files(from, folder);
  write(folder / "command", joined(from.command));
  write(folder / "mutate", joined(from.mutate));
}

}  // namespace weyl::fuzz
