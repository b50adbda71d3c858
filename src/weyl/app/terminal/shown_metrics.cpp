#include "weyl/app/terminal/shown_metrics.h"

#include <algorithm>

namespace weyl {
namespace {

std::string last_word(const std::string& name) {
  const size_t line = name.rfind('_');
  return line == std::string::npos ? name : name.substr(line + 1);
}

}  // namespace

std::vector<std::string> shown_metrics(const std::vector<std::string>& names,
                                       const std::vector<std::string>& headlines, size_t most) {
  std::vector<std::string> order = names;
  const auto rank = [&](const std::string& name) -> size_t {
    const auto place = std::find(headlines.begin(), headlines.end(), name);
    if (place != headlines.end()) {
      return static_cast<size_t>(place - headlines.begin());
    }
    const auto within = [&](const std::string& other) { return name.starts_with(other + "_"); };
    const size_t kind = std::any_of(names.begin(), names.end(), within)                         ? 2
                        : !headlines.empty() && last_word(name) == last_word(headlines.front()) ? 0
                                                                                                : 1;
    return headlines.size() + kind;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  order.resize(std::min(order.size(), most));
  return order;
}

bool is_share(std::string_view metric) {
  for (const std::string_view name : {"accuracy", "dice", "iou", "cosine"}) {
    const std::string within = "_" + std::string(metric) + "_";
    if (within.find("_" + std::string(name) + "_") != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace weyl
