#include "weyl/app/draw/table.h"

#include <algorithm>

#include "weyl/app/draw/html.h"
#include "weyl/core/markdown.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr std::string_view plus_minus = " ± ";

/// The number and the spread of a cell that has both.
struct MeanAndSpread {
  std::string mean, spread;
};
MeanAndSpread parts_of(const std::string& cell) {
  const size_t at = cell.find(plus_minus);
  if (at == std::string::npos) {
    return {cell, ""};
  }
  return {cell.substr(0, at), cell.substr(at + plus_minus.size())};
}

/// Whether a column is one of numbers of which some have a spread.
bool has_spreads(const Table& table, size_t column) {
  bool any = false;
  for (size_t i = 1; i < table.rows.size(); ++i) {
    const auto [mean, spread] = parts_of(table.rows[i].at(column));
    if (mean != "-" && !(parse_real(mean) && (spread.empty() || parse_real(spread)))) {
      return false;
    }
    any = any || !spread.empty();
  }
  return any;
}

/// The same with two columns for each of those.
Table with_spreads_apart(const Table& table) {
  Table apart{table.title, table.words, std::vector<std::vector<std::string>>(table.rows.size())};
  for (size_t c = 0; !table.rows.empty() && c < table.rows.front().size(); ++c) {
    const bool two = has_spreads(table, c);
    for (size_t i = 0; i < table.rows.size(); ++i) {
      const std::string& cell = table.rows[i].at(c);
      const auto [mean, spread] = two && i > 0 ? parts_of(cell) : MeanAndSpread{cell, cell + ", spread"};
      apart.rows[i].push_back(mean);
      if (two) {
        apart.rows[i].push_back(spread);
      }
    }
  }
  return apart;
}

/// Words as LaTeX shows them.
std::string latex_text(std::string_view words) {
  std::string out;
  for (const char c : visible(words)) {
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '<':
        out += "\\textless{}";
        break;
      case '>':
        out += "\\textgreater{}";
        break;
      case '|':
        out += "\\textbar{}";
        break;
      case '"':
        out += "{\\ttfamily\\char34}";  // \\textquotedbl is no letter of the usual encoding
        break;
      case '`':
        out += "\\textasciigrave{}";
        break;
      case '-':  // two of them would be a dash
        out += "{-}";
        break;
      case '[':  // would be an option of the line's end before it
      case ']':
        out += std::string("{") + c + "}";
        break;
      default:
        out += std::string_view("{}$&#%_").find(c) == std::string_view::npos ? std::string(1, c)
                                                                             : std::string("\\") + c;
    }
  }
  return out;
}

std::string latex_cell(const std::string& cell) {
  const auto [mean, spread] = parts_of(cell);
  return spread.empty() ? latex_text(cell) : latex_text(mean) + " $\\pm$ " + latex_text(spread);
}

}  // namespace

std::string with_spread(const std::string& mean, const std::string& spread) {
  return mean + std::string(plus_minus) + spread;
}

std::string html_of(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& table : tables) {
    out += "<h3>" + html_text(table.title) + "</h3>\n" +
           (table.words.empty() ? "" : "<p>" + html_text(table.words) + "</p>\n") + html_table(table.rows);
  }
  return out;
}

std::string markdown_of(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& table : tables) {
    out += (out.empty() ? "## " : "\n## ") + markdown_text(table.title) + "\n\n" +
           (table.words.empty() ? "" : markdown_text(table.words) + "\n\n");
    for (size_t i = 0; i < table.rows.size(); ++i) {
      std::string line = "|", rule = "|";
      for (const std::string& cell : table.rows[i]) {
        line += " " + markdown_text(cell) + " |";
        rule += "---|";
      }
      out += line + "\n" + (i == 0 ? rule + "\n" : "");
    }
  }
  return out;
}

std::string csv_of(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& table : tables) {
    if (tables.size() > 1) {
      out += (out.empty() ? "# " : "\n# ") + visible(table.title) + "\n";
    }
    for (const std::vector<std::string>& row : with_spreads_apart(table).rows) {
      for (size_t c = 0; c < row.size(); ++c) {
        // What is not known is empty, and a number below zero is no formula.
        out += (c > 0 ? "," : "") + (row[c] == "-" ? "" : parse_real(row[c]) ? row[c] : csv_cell(row[c]));
      }
      out += "\n";
    }
  }
  return out;
}

std::string latex_of(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& table : tables) {
    if (table.rows.empty()) {
      continue;
    }
    out += std::string(out.empty() ? "" : "\n") + "\\begin{table}\n\\caption{" + latex_text(table.title) +
           (table.words.empty() ? "" : ". " + latex_text(table.words)) + "}\n\\begin{tabular}{l" +
           std::string(table.rows.front().size() - 1, 'r') + "}\n\\hline\n";
    for (size_t i = 0; i < table.rows.size(); ++i) {
      for (size_t c = 0; c < table.rows[i].size(); ++c) {
        out += (c > 0 ? " & " : "") + latex_cell(table.rows[i][c]);
      }
      out += i == 0 ? " \\\\\n\\hline\n" : " \\\\\n";
    }
    out += "\\hline\n\\end{tabular}\n\\end{table}\n";
  }
  return out;
}

std::vector<std::string> table_files(const std::string& path) {
  return {path + ".md", path + ".csv", path + ".tex"};
}

void write_tables(const std::vector<Table>& tables, const std::string& path, Existing existing) {
  const std::vector<std::string> files = table_files(path);
  write_file_atomically(files[0], markdown_of(tables), existing);
  write_file_atomically(files[1], csv_of(tables), existing);
  write_file_atomically(files[2], latex_of(tables), existing);
}

}  // namespace weyl
