#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/atoms_frame.h"

namespace weyl {

/// The pairs key=value of an extended xyz comment line, in their order. Blanks may stand around `=`.
///
///   key              true
///   key=word         a logical (T, F, true, false, ...), an integer (no leading zeros), a real, or a text,
///                    which may hold `=` itself
///   key="words"      one word: as above. Several, between blanks or commas: an array when all are logicals or
///                    all numbers, else one text; \" \\ \n are escapes
///   key='words'      the same, where the quote is closed before a blank or the end of the line
///   key="_JSON x"    an array or a matrix x of JSON, or a text x: what ASE writes of matrices and of lists of texts
///   key={words}      the same, but texts are an array too
///   key=[a, b]       an array, key=[[a, b], [c, d]] a matrix; texts may be in quotes
///
/// Nine numbers are nine numbers: ASE reads them as a 3 x 3 matrix by columns, QUIP's files mean that.
/// Words without quotes that are numbers or logicals with commas between them are an array, too.
/// DataError without a place, which the caller knows: what cannot be read so, a key given twice.
std::vector<FrameValue> parse_comment(std::string_view line);

/// A text as key="text" would say it.
FrameValue value_of_text(std::string name, std::string text);

/// T, true, True, TRUE and F, false, False, FALSE; nothing of other words.
std::optional<bool> parse_logical(std::string_view word);

/// Takes a text in quotes of either kind from the front of `rest`, which begins with one. DataError without a place when
/// it is not closed.
std::string take_quoted(std::string_view& rest);

/// Appends ` key=value` such that `parse_comment` and ASE give the same again: texts that look like numbers or have
/// several lines, lists of texts and matrices by _JSON.
void append_pair(std::string& to, const FrameValue& value);

/// Appends a text as a word, in quotes when it must be.
void append_text(std::string& to, std::string_view text);

}  // namespace weyl
