#include "weyl/carriers/sample_facts.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// "3.5 x 3.5 x 3.5 mm", "0.5 to 0.7 x 0.5 to 0.7 x 1 to 5 mm".
std::string spacing_text(const SampleFacts& facts) {
  std::string line;
  for (size_t k = 0; k < facts.spacing->least.size(); ++k) {
    const double least = facts.spacing->least[k], most = facts.spacing->most[k];
    line += text(k == 0 ? "" : " x ", least);
    line += most != least ? text(" to ", most) : std::string();
  }
  return line + (facts.unit.empty() ? "" : " ") + printable(facts.unit);
}

/// Whether a range lies within another, or at least meets it, on every axis.
bool within(const SampleFacts::Spacing& inner, const SampleFacts::Spacing& outer) {
  for (size_t k = 0; k < outer.least.size(); ++k) {
    if (inner.least[k] < outer.least[k] * (1 - spacing_tolerance) ||
        inner.most[k] > outer.most[k] * (1 + spacing_tolerance)) {
      return false;
    }
  }
  return true;
}
bool meet(const SampleFacts::Spacing& one, const SampleFacts::Spacing& other) {
  for (size_t k = 0; k < one.least.size(); ++k) {
    if (std::max(one.least[k], other.least[k]) >
        std::min(one.most[k], other.most[k]) * (1 + spacing_tolerance)) {
      return false;
    }
  }
  return true;
}

/// Both are known, and not the same.
bool differ(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  return !one.empty() && !other.empty() && one != other;
}

/// Two lists that differ, each with who says it: whole where they are short, else by the first name that differs. The
/// same names in another order are the likeliest mistake: the line says so.
std::string names_apart(const char* what, const char* who, const std::vector<std::string>& a,
                        const char* whose, const std::vector<std::string>& b) {
  constexpr size_t short_list = 8;
  const bool permuted = std::is_permutation(a.begin(), a.end(), b.begin(), b.end());
  const char* order = permuted ? " in this order" : "";
  if (a.size() <= short_list && b.size() <= short_list) {
    return text(who, " the ", what, " ", joined_printable(a), order, ", ", whose, " ", joined_printable(b),
                order);
  }
  const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto name = [](auto at, auto end) { return at == end ? std::string("none") : quote(*at); };
  return text(who, " ", a.size(), " ", what, ", ", whose, " ", b.size(), permuted ? " in another order" : "",
              "; the first that differs is number ", left - a.begin(), ", ", name(left, a.end()), " and ",
              name(right, b.end()));
}

/// "'charge' -1, 0"
std::string states_text(const std::string& name, const std::vector<int64_t>& values) {
  std::string line = quote(name);
  for (size_t i = 0; i < values.size(); ++i) {
    line += text(i == 0 ? " " : ", ", values[i]);
  }
  return line;
}

/// The values that `other` has of a state and `one` lacks, though it has some.
std::vector<int64_t> beyond(const SampleFacts& one, const std::string& name,
                            const std::vector<int64_t>& other) {
  std::vector<int64_t> more;
  if (const auto known = one.states.find(name); known != one.states.end()) {
    std::ranges::set_difference(other, known->second, std::back_inserter(more));
  }
  return more;
}

std::vector<std::string> names_in(const Json* list) {
  std::vector<std::string> names;
  for (const Json& name : list != nullptr ? list->items() : std::vector<Json>{}) {
    names.push_back(name.string_or(""));
  }
  return names;
}

Json list_of(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (const double number : numbers) {
    list.add(number);
  }
  return list;
}

}  // namespace

std::string contradiction(const SampleFacts& model, const SampleFacts& data, FactsCompared compared) {
  if (differ(model.channels, data.channels)) {
    return names_apart("channels", "the model knows", model.channels, "the data have", data.channels);
  }
  if (compared == FactsCompared::inputs_and_classes && differ(model.classes, data.classes)) {
    return names_apart("classes", "the model knows", model.classes, "the data have", data.classes);
  }
  const bool known =
      model.spacing && data.spacing && model.spacing->least.size() == data.spacing->least.size();
  if (known && !within(*data.spacing, *model.spacing)) {
    return text("the model was trained on cells of ", spacing_text(model), ", the data have ",
                spacing_text(data), " (more than ", 100 * spacing_tolerance, " % apart)");
  }
  for (const auto& [name, values] : data.states) {
    if (const auto more = beyond(model, name, values); !more.empty()) {
      return text("the model was trained on ", states_text(name, model.states.at(name)), ", the data have ",
                  states_text(name, more));
    }
  }
  return "";
}

std::string disagreement(const SampleFacts& one, const SampleFacts& other) {
  if (differ(one.channels, other.channels)) {
    return names_apart("channels", "one knows", one.channels, "the other", other.channels);
  }
  if (differ(one.classes, other.classes)) {
    return names_apart("classes", "one knows", one.classes, "the other", other.classes);
  }
  const bool known = one.spacing && other.spacing && one.spacing->least.size() == other.spacing->least.size();
  if (known && !meet(*one.spacing, *other.spacing)) {
    return text("one was trained on cells of ", spacing_text(one), ", the other of ", spacing_text(other),
                " (more than ", 100 * spacing_tolerance, " % apart)");
  }
  for (const auto& [name, values] : one.states) {
    if (const auto others = other.states.find(name);
        others != other.states.end() && others->second != values) {
      return text("one was trained on ", states_text(name, values), ", the other on ",
                  states_text(name, others->second));
    }
  }
  return "";
}

SampleFacts covering(const SampleFacts& one, const SampleFacts& other) {
  SampleFacts both = one;
  both.channels = one.channels.empty() ? other.channels : one.channels;
  both.classes = one.classes.empty() ? other.classes : one.classes;
  for (const auto& [name, values] : other.states) {
    auto& all = both.states[name];
    const std::vector<int64_t> own = std::move(all);
    all.clear();
    std::ranges::set_union(own, values, std::back_inserter(all));
  }
  if (!one.spacing) {
    both.spacing = other.spacing;
    both.unit = other.unit;
  } else if (other.spacing && other.spacing->least.size() == one.spacing->least.size()) {
    for (size_t k = 0; k < one.spacing->least.size(); ++k) {
      both.spacing->least[k] = std::min(one.spacing->least[k], other.spacing->least[k]);
      both.spacing->most[k] = std::max(one.spacing->most[k], other.spacing->most[k]);
    }
  }
  return both;
}

std::string description(const SampleFacts& facts) {
  std::string line;
  const auto add = [&](const std::string& part) { line += (line.empty() ? "" : "; ") + part; };
  if (facts.spacing) {
    add("cells of " + spacing_text(facts));
  }
  if (!facts.channels.empty()) {
    add("channels " + joined_printable(facts.channels));
  }
  if (!facts.classes.empty()) {
    add("classes " + joined_printable(facts.classes));
  }
  for (const auto& [name, values] : facts.states) {
    add(states_text(name, values));
  }
  return line;
}

std::string to_json_text(const SampleFacts& facts) {
  if (facts.empty()) {
    return "";
  }
  Json json = Json::object();
  if (facts.spacing) {
    json.set("spacing", Json::object()
                            .set("least", list_of(facts.spacing->least))
                            .set("most", list_of(facts.spacing->most))
                            .set("unit", facts.unit));
  }
  if (!facts.channels.empty()) {
    json.set("channels", Json::array(facts.channels));
  }
  if (!facts.classes.empty()) {
    json.set("classes", Json::array(facts.classes));
  }
  if (!facts.states.empty()) {
    Json states = Json::object();
    for (const auto& [name, values] : facts.states) {
      states.set(name, list_of(std::vector<double>(values.begin(), values.end())));
    }
    json.set("states", std::move(states));
  }
  return json.dump();
}

SampleFacts sample_facts(std::string_view json_text, std::string_view where) {
  const Json json = Json::parse(json_text, where);
  SampleFacts facts;
  facts.channels = names_in(json.find("channels"));
  facts.classes = names_in(json.find("classes"));
  if (const Json* states = json.find("states")) {
    for (const auto& [name, values] : states->members()) {
      std::vector<int64_t>& all = facts.states[name];
      bool sound = !values.items().empty();
      for (const Json& value : values.items()) {
        const double number = value.number_or(NAN);
        sound = sound && std::abs(number) <= 1e6 && (all.empty() || number > static_cast<double>(all.back()));
        all.push_back(sound ? std::llround(number) : 0);
      }
      require<DataError>(sound, where, ": 'states' must have whole numbers of ", quote(name),
                         " in ascending order");
    }
  }
  if (const Json* spacing = json.find("spacing")) {
    const auto numbers = [&](const char* key) {
      std::vector<double> list;
      const Json* found = spacing->find(key);
      for (const Json& number : found != nullptr ? found->items() : std::vector<Json>{}) {
        list.push_back(number.number_or(0));
      }
      return list;
    };
    SampleFacts::Spacing range{numbers("least"), numbers("most")};
    bool sound = !range.least.empty() && range.least.size() == range.most.size();
    for (size_t k = 0; sound && k < range.least.size(); ++k) {
      sound = range.least[k] > 0 && range.least[k] <= range.most[k] && std::isfinite(range.most[k]);
    }
    require<DataError>(
        sound, where,
        ": 'spacing' must have as many positive 'least' as 'most', none of them below its 'least'");
    facts.spacing = std::move(range);
    const Json* unit = spacing->find("unit");
    facts.unit = unit != nullptr ? unit->string_or("") : "";
  }
  return facts;
}

}  // namespace weyl
