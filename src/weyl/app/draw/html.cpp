#include "weyl/app/draw/html.h"

#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr std::string_view style = R"(
body { font: 15px/1.45 "DejaVu Sans", "Segoe UI", sans-serif; max-width: 74rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #bbb; } h3 { font-size: 1rem; }
table { border-collapse: collapse; margin: .6rem 0; font-size: .85rem; display: block; overflow-x: auto; }
th, td { padding: .15rem .7rem; text-align: left; white-space: nowrap; } th { border-bottom: 1px solid #444; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } tr:nth-child(even) td { background: #f4f4f4; }
pre { background: #f4f4f4; padding: .5rem .8rem; overflow-x: auto; font-size: .85rem; }
img { max-width: 100%; } summary { cursor: pointer; }
@media print { body { max-width: none; } table { display: table; } h2, img { break-inside: avoid; } }
)";

// RFC 4648.
std::string base64(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      out += i + j > bytes.size() ? '=' : digits[group >> (18 - 6 * j) & 63];
    }
  }
  return out;
}

// "2.5", "-", "2.48e+05 (2.1e+05, 2.9e+05)".
bool is_number_cell(const std::string& cell) {
  return cell == "-" || parse_real(cell.substr(0, cell.find(' '))).has_value();
}

}  // namespace

std::string html_text(std::string_view words) {
  std::string out;
  for (const char c : visible(words, "\n\t")) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<table>\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    out += "<tr>";
    for (const std::string& cell : rows[i]) {
      out += (i == 0                 ? "<th>"
              : is_number_cell(cell) ? "<td class=\"number\">"
                                     : "<td>") +
             html_text(cell) + (i == 0 ? "</th>" : "</td>");
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string html_lines(std::string_view lines) {
  return "<pre>" + html_text(lines) + "</pre>\n";
}

std::string html_picture(std::string_view svg, std::string_view title) {
  return "<p><img alt=\"" + html_text(title) + "\" src=\"data:image/svg+xml;base64," + base64(svg) +
         "\"></p>\n";
}

std::string html_page(std::string_view title, std::string_view body) {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  // Whatever words the page holds, a browser loads and runs nothing.
  page +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" + html_text(title) +
          "</title>\n<style>";
  page += style;
  return page + "</style>\n</head>\n<body>\n<h1>" + html_text(title) + "</h1>\n" + std::string(body) +
         "</body>\n</html>\n";
}

}  // namespace weyl
