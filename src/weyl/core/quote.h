#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// A character of UTF-8, or the bytes that stand for none: the longest that begin a character, one at least.
struct Utf8 {
  uint32_t code = 0;
  size_t bytes = 0;
  bool valid = false;
};

/// What a text that is not empty begins with.
Utf8 first_utf8(std::string_view text);

bool is_utf8(std::string_view text);

void append_utf8(std::string& to, uint32_t code);

/// A foreign text as it may stand in an error line: printable ASCII only (other bytes as \xNN), at most
/// `most` of its bytes followed by "...".
std::string printable(std::string_view text, size_t most = 80);

/// The same in single quotes.
std::string quote(std::string_view text, size_t most = 80);

/// A foreign text as a terminal, a log or a picture may show it: UTF-8 as it stands, but for what would act instead of
/// being seen. Control characters of ASCII and bytes that are no UTF-8 become \xNN; delete, the control characters
/// beyond ASCII, separators of lines and marks that turn the direction of writing become \uNNNN, which a JSON text may
/// have in place of them. `keep` names control characters of ASCII that stay.
std::string visible(std::string_view text, std::string_view keep = {});

/// A text as one cell of a CSV file, on one line (`visible`), in double quotes where it has commas, quotes or semicolons
/// (by which some spreadsheets tell cells apart). One that begins with = + - or @, which a spreadsheet would run as a
/// formula, gets an apostrophe in front.
std::string csv_cell(std::string_view text);

/// The cells of a line of such a file, as they were before csv_cell.
std::vector<std::string> csv_cells(std::string_view line);

/// A word of a command, a path say, as a shell takes it as one: in single quotes where a shell would read it otherwise.
std::string shell_word(const std::string& word);

/// "[2, 3]", at most eight numbers followed by "...".
std::string shape_text(std::span<const int64_t> shape);

/// "a, b, c": words as they stand, with a text between each two. Nothing of none.
std::string joined(std::span<const std::string> words, std::string_view between = ", ");

/// The same of foreign words, each as it may stand in a line (`printable`, core/quote.h).
std::string joined_printable(std::span<const std::string> words);

}  // namespace weyl
