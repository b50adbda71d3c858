#pragma once

#include <string>
#include <vector>

#include "weyl/core/atomic_file.h"

namespace weyl {

/// A table for people: a heading, what is to be known of it, and rows of cells, as many in each, the first of which names the
/// columns. All words may come from elsewhere: in none of the forms are they markup, a formula or a command.
struct Table {
  std::string title, words;
  std::vector<std::vector<std::string>> rows;
};

/// "MEAN ± SPREAD": how a cell says a number with its spread.
std::string with_spread(const std::string& mean, const std::string& spread);

/// Each with its heading, one after the other, as a part of an HTML page.
std::string html_of(const std::vector<Table>& tables);
/// GitHub's tables.
std::string markdown_of(const std::vector<Table>& tables);
/// Headings of several tables stand in lines that begin with #; one alone is a plain table. A column of numbers with spreads (with_spread) becomes two: the number, and
/// "NAME, spread".
std::string csv_of(const std::vector<Table>& tables);
/// A `table` with a `tabular` each, which need no package; of UTF-8, as LaTeX takes it.
std::string latex_of(const std::vector<Table>& tables);

/// The files beside PATH.html that hold its tables: PATH.md, PATH.csv, PATH.tex.
std::vector<std::string> table_files(const std::string& path);
/// Writes them. DataError: a file cannot be written.
void write_tables(const std::vector<Table>& tables, const std::string& path, Existing existing);

}  // namespace weyl
