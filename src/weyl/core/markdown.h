#pragma once

#include <string>
#include <string_view>

namespace weyl {

/// Words that may come from elsewhere, as Markdown that shows them: on one line, without a meaning as markup, HTML,
/// entity, link, formula or end of a table's cell. An underline within a word has none, and is left as it is.
std::string markdown_text(std::string_view words);

}  // namespace weyl
