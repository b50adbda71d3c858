#include "weyl/data/base/class_names.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr size_t kMostClassNames = 12;  // in a message

}  // namespace

std::vector<std::string> sorted_classes(std::vector<std::string> names) {
  const bool numbers =
      std::ranges::all_of(names, [](const std::string& name) { return parse_integer(name).has_value(); });
  std::ranges::sort(names, [&](const std::string& a, const std::string& b) {
    const int64_t x = numbers ? *parse_integer(a) : 0, y = numbers ? *parse_integer(b) : 0;
    return std::tie(x, a) < std::tie(y, b);
  });
  return names;
}

std::vector<std::string> classes_of(std::vector<std::string> names, const std::vector<std::string>& known) {
  const bool among = std::ranges::all_of(
      names, [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); });
  return among && !known.empty() ? known : sorted_classes(std::move(names));
}

void require_known(const std::vector<std::string>& names, const std::vector<std::string>& known,
                   const std::string& where) {
  const auto odd = std::ranges::find_if(
      names, [&](const std::string& name) { return std::ranges::find(known, name) == known.end(); });
  if (known.empty() || odd == names.end()) {
    return;
  }
  std::string list;
  for (size_t k = 0; k < std::min(known.size(), kMostClassNames); ++k) {
    list += (k == 0 ? "" : ", ") + quote(known[k], 40);
  }
  throw DataError(text(
      where, ": has the class ", quote(*odd, 80), ", which the model does not know: it knows ", known.size(),
      known.size() == 1 ? " class, " : " classes, ", list, known.size() > kMostClassNames ? ", ..." : ""));
}

}  // namespace weyl
