#pragma once

#include <string>

namespace weyl {

/// What a path that no format takes seems to be, and which data set or command takes it: "seems to be a PLY cloud or
/// mesh; ...". Of a folder also that it is empty, or what it holds. Empty: nothing is known of the file. Nothing of
/// the path is trusted: what cannot be read is not advised about.
std::string advice_for(const std::string& path);

/// A file of a folder that no format takes, or a folder in it, which a format takes: the first of them; empty: there is none.
std::string data_set_within(const std::string& folder);

}  // namespace weyl
