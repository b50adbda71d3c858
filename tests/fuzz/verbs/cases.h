#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace weyl::fuzz {

/// A command and the files that it works on. On disk a folder: `command`, its arguments, one on a line; `mutate`, the files
/// that are changed, one on a line; the files.
struct Case {
  std::string name;
  std::vector<std::string> command;          // the verb first
  std::vector<std::string> mutate;           // names of files
  std::map<std::string, std::string> files;  // by path below the folder
};

/// DataError: a folder that is none.
Case read_case(const std::filesystem::path& folder);
/// Those in the folders of a folder, in the order of their names.
std::vector<Case> read_cases(const std::filesystem::path& folder);

/// Puts the files of a case into an empty folder; with `command` and `mutate` too, so that it can be read again.
void write_files(const Case& from, const std::filesystem::path& folder);
void write_case(const Case& from, const std::filesystem::path& folder);

}  // namespace weyl::fuzz
