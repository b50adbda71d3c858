#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// Words from elsewhere as text or an attribute of HTML: nothing in them is a tag, and what is no visible character is
/// written out. Ends of lines and tabs stay.
std::string html_text(std::string_view words);

/// A table of words from elsewhere: a header, then rows. What is no number stands to the left.
std::string html_table(const std::vector<std::vector<std::string>>& rows);

/// Lines as they stand: a command, a file.
std::string html_lines(std::string_view lines);

/// A picture within the page, of the bytes of an SVG file. As an image it runs nothing, and its names are its own.
std::string html_picture(std::string_view svg, std::string_view title);

/// A page that needs no other file and loads none.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace weyl
