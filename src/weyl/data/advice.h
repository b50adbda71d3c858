#pragma once

#include <string>

namespace weyl {

/// Says what a path that no format takes seems to be, and which data set or command takes it: "seems to be a PLY cloud
/// or mesh; ...". For a folder it says what the folder holds, or that it is empty. The result is empty where nothing is
/// known of the file. The contents are not trusted: a file that cannot be read is no error here.
std::string advice_for(const std::string& path);

/// Finds a data set inside a folder that no format takes as a whole: the first file by name that a format takes, else
/// the first such folder. Text files (.txt, .csv) do not count, because they may hold anything. Empty: there is none.
std::string data_set_within(const std::string& folder);

}  // namespace weyl
