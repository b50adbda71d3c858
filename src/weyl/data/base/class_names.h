#pragma once

#include <string>
#include <vector>

namespace weyl {

/// Class names in the order of their numbers: by value where all names are whole numbers (2 before 10), else as texts.
std::vector<std::string> sorted_classes(std::vector<std::string> names);

/// The classes that folders or a table of these names stand for. Where a model's classes `known` include all of the
/// names, they are `known`, even if some of `known` are absent. Otherwise they are the names, sorted.
std::vector<std::string> classes_of(std::vector<std::string> names, const std::vector<std::string>& known);

/// DataError when `where` has a class that a model of the classes `known` does not know. The message names the first
/// such class and the first of `known`. Nothing is checked when `known` is empty.
void require_known(const std::vector<std::string>& names, const std::vector<std::string>& known,
                   const std::string& where);

}  // namespace weyl
