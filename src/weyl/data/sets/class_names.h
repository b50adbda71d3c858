#pragma once

#include <string>
#include <vector>

namespace weyl {

/// Names of classes in the order of their numbers: by value where all are whole numbers (2 before 10), else as texts.
std::vector<std::string> sorted_classes(std::vector<std::string> names);

/// The classes that folders (or a table) of these names stand for: `known`, those of a model, where all of the names are
/// among them, though some of `known` be absent; else the names, sorted.
std::vector<std::string> classes_of(std::vector<std::string> names, const std::vector<std::string>& known);

/// DataError for the first of the names, which `where` has, that a model of the classes `known` does not know; with the
/// first of those that it knows. No error where none are known.
void require_known(const std::vector<std::string>& names, const std::vector<std::string>& known,
                   const std::string& where);

}  // namespace weyl
