#include "weyl/train/loop/metric_terms.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/nearest.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

std::string_view without_blanks(std::string_view words) {
  const size_t first = words.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : words.substr(first);
}

// The longest of the names that the words begin with, where a plus sign or nothing follows it; empty: none.
std::string_view name_at(std::string_view words, std::span<const std::string> known) {
  std::string_view found;
  for (const std::string& name : known) {
    if (name.size() <= found.size() || !words.starts_with(name)) {
      continue;
    }
    const std::string_view rest = without_blanks(words.substr(name.size()));
    if (rest.empty() || rest.front() == '+') {
      found = name;
    }
  }
  return found;
}

// Takes "10 " or "10*" off the words; 1 where they begin with no number.
double take_weight(std::string_view& words) {
  double weight = 1;
  const auto [stop, error] = std::from_chars(words.data(), words.data() + words.size(), weight);
  const std::string_view rest = words.substr(static_cast<size_t>(stop - words.data()));
  const bool apart = !rest.empty() && (rest.front() == ' ' || rest.front() == '\t' || rest.front() == '*');
  if (error == std::errc::invalid_argument || !apart) {
    return 1;
  }
  require<ConfigError>(error == std::errc() && std::isfinite(weight) && weight > 0,
                       "train.best: a weight must be a finite number above 0, got ",
                       quote(words.substr(0, words.size() - rest.size())));
  words = without_blanks(rest);
  if (words.starts_with('*')) {
    words = without_blanks(words.substr(1));
  }
  return weight;
}

[[noreturn]] void refuse(std::string_view words, std::span<const std::string> known) {
  std::string name(words.substr(0, words.find('+')));
  name.erase(name.find_last_not_of(" \t") + 1);
  std::string all;
  for (const std::string& other : known) {
    all += (all.empty() ? "" : ", ") + printable(other);
  }
  const std::string near = nearest(name, known);
  throw ConfigError(text("train.best: must be a metric of the task, or a sum of them (\"a + 10 b\"), got ",
                         quote(name), near.empty() ? "" : " (did you mean " + printable(near) + "?)",
                         "; there are ", all));
}

}  // namespace

std::vector<MetricTerm> metric_terms(std::string_view words, std::span<const std::string> known) {
  std::vector<MetricTerm> terms;
  for (std::string_view rest = words;;) {
    rest = without_blanks(rest);
    MetricTerm term;
    std::string_view name = name_at(rest, known);
    if (name.empty()) {
      term.weight = take_weight(rest);
      name = name_at(rest, known);
    }
    if (name.empty()) {
      refuse(rest, known);
    }
    term.name = name;
    const bool twice =
        std::any_of(terms.begin(), terms.end(), [&](const auto& t) { return t.name == term.name; });
    require<ConfigError>(!twice, "train.best: must name each metric once, got ", quote(term.name), " twice");
    terms.push_back(term);
    rest = without_blanks(rest.substr(name.size()));
    if (rest.empty()) {
      return terms;
    }
    rest.remove_prefix(1);  // the plus sign
  }
}

}  // namespace weyl
