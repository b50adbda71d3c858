#include "weyl/data/volumes/case_splits.h"

#include <algorithm>
#include <map>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// The places of cases by their names. DataError: a name of no case, or of several.
std::vector<int64_t> places_of(const std::vector<std::string>& names, const std::vector<VolumeCase>& cases,
                               const std::string& where) {
  std::multimap<std::string, int64_t> places;
  for (size_t i = 0; i < cases.size(); ++i) {
    places.emplace(cases[i].name, static_cast<int64_t>(i));
  }
  std::vector<int64_t> result;
  for (const std::string& name : names) {
    const auto count = places.count(name);
    require<DataError>(count == 1, where, ": there must be one case ", quote(name, 60), " with a mask, got ",
                       count, count == 0 ? text(" (one is called ", quote(cases[0].name, 60), ")") : "");
    result.push_back(places.find(name)->second);
  }
  std::ranges::sort(result);
  return result;
}

void take_out(std::vector<int64_t>& from, const std::vector<int64_t>& these) {
  std::erase_if(from, [&](int64_t i) { return std::ranges::binary_search(these, i); });
}

/// Whether all labelled cases are asked for as one set, as those of a folder that --data names are.
bool takes_all(const DecathlonDataOptions& o) {
  return o.fractions == std::vector<double>{0, 0, 1} && o.train + o.valid + o.test == 0;
}

/// Of `labelled` cases, the first `own` of which the folder has for training, the others for a test.
SplitIndices draw_cases(const DecathlonDataOptions& o, int64_t own, int64_t labelled) {
  const std::string where = o.path + ": data.decathlon";
  std::vector<double> fractions = o.fractions;
  if (own < labelled && !takes_all(o)) {
    require<ConfigError>(o.test == 0, where, ".test must be 0, because the folder has ", labelled - own,
                         " labelled cases for a test of its own, got ", o.test);
    const double rest = fractions.size() == 3 ? fractions[0] + fractions[1] : 0;
    fractions =
        rest > 0 ? std::vector{fractions[0] / rest, fractions[1] / rest, 0.0} : std::vector<double>(3);
  }
  const auto counts = part_counts(own, fractions, {o.train, o.valid, o.test}, where);
  auto drawn = draw_parts(own, {counts.train, counts.valid, counts.test}, o.seed, "decathlon split");
  for (int64_t i = own; i < labelled; ++i) {
    drawn[2].push_back(i);
  }
  for (auto& part : drawn) {
    std::ranges::sort(part);
  }
  return {std::move(drawn[0]), std::move(drawn[1]), std::move(drawn[2])};
}

/// Lines on cases that are for validation several times, and on those that never are.
void warn_of_odd_folds(const std::vector<VolumeFold>& listed, const std::string& where,
                       std::vector<std::string>& warnings) {
  std::map<std::string, int64_t> validated;
  for (const VolumeFold& fold : listed) {
    for (const std::string& name : fold.train) {
      validated.try_emplace(name);
    }
    for (const std::string& name : fold.valid) {
      ++validated[name];
    }
  }
  const auto warn = [&](auto is_odd, const char* what) {
    const auto odd = [&](const auto& of) { return is_odd(of.second); };
    const auto first = std::ranges::find_if(validated, odd);
    if (first != validated.end()) {
      warnings.push_back(text(where, ": ", std::ranges::count_if(validated, odd), " of ", validated.size(),
                              " cases are ", what, ", the first is ", quote(first->first, 60)));
    }
  };
  warn([](int64_t times) { return times > 1; },
       "for validation in several folds: tables over all folds count them as often");
  warn([](int64_t times) { return times == 0; },
       "for validation in no fold: tables over all folds lack them");
}

/// A line on the options of the split that have another value than by default.
void warn_of_unused_options(const DecathlonDataOptions& o, const std::string& where,
                            std::vector<std::string>& warnings) {
  const DecathlonDataOptions plain;
  std::string keys;
  for (const auto& [key, given] : {std::pair{"fractions", o.fractions != plain.fractions},
                                   {"train", o.train != plain.train},
                                   {"valid", o.valid != plain.valid},
                                   {"test", o.test != plain.test},
                                   {"seed", o.seed != plain.seed}}) {
    keys += given ? text(keys.empty() ? "data.decathlon." : ", data.decathlon.", key) : "";
  }
  if (!keys.empty()) {
    warnings.push_back(text(keys, ": without effect, because ", where, " says which cases the folds have"));
  }
}

/// The folds of splits_final.json, whose names are of the first `own` cases. Where the folder has no test cases, those
/// that no fold names are.
SplitIndices listed_fold(const std::vector<VolumeFold>& listed, const std::vector<VolumeCase>& cases,
                         int64_t own, const std::string& where, const Folds& folds,
                         std::vector<std::string>& warnings) {
  require_listed(folds.count, {std::ssize(listed), where});
  const std::vector<VolumeCase> training(cases.begin(), cases.begin() + own);
  SplitIndices parts;
  std::set<int64_t> named;
  for (size_t k = 0; k < listed.size(); ++k) {
    const auto train = places_of(listed[k].train, training, where),
               valid = places_of(listed[k].valid, training, where);
    named.insert(train.begin(), train.end());
    named.insert(valid.begin(), valid.end());
    if (static_cast<int64_t>(k) == folds.fold) {
      parts.train = train;
      parts.valid = valid;
    }
  }
  if (own < std::ssize(cases) && std::ssize(named) < own) {
    warnings.push_back(
        text(where, ": ", own - std::ssize(named), " of ", own,
             " training cases are in no fold and left out, as the folder has test cases of its own"));
  }
  for (int64_t i = own < std::ssize(cases) ? own : 0; i < std::ssize(cases); ++i) {
    if (i >= own || !named.contains(i)) {
      parts.test.push_back(i);
    }
  }
  return parts;
}

}  // namespace

ListedFolds listed_folds(const DecathlonDataOptions& o) {
  return {std::ssize(read_volume_folds(o.path)), file_of_volume_folds(o.path)};
}

SplitIndices split_cases(const DecathlonDataOptions& o, const Folds& folds,
                         const std::vector<VolumeCase>& cases, int64_t own,
                         std::vector<std::string>& warnings) {
  if (folds.count > 0) {
    require<ConfigError>(o.held_out.empty(),
                         "data.decathlon.held_out must be [] where data.folds says which cases are held out");
    if (const auto listed = read_volume_folds(o.path); !listed.empty()) {
      const std::string where = file_of_volume_folds(o.path);
      SplitIndices parts = listed_fold(listed, cases, own, where, folds, warnings);
      warn_of_odd_folds(listed, where, warnings);
      warn_of_unused_options(o, where, warnings);
      return parts;
    }
  }
  SplitIndices parts = draw_cases(o, own, std::ssize(cases));
  const auto both = [&] {
    std::vector<int64_t> all = parts.train;
    all.insert(all.end(), parts.valid.begin(), parts.valid.end());
    std::ranges::sort(all);
    return all;
  };
  if (folds.count > 0) {
    const std::vector<int64_t> all = both();
    const FoldIndices fold = draw_fold(std::ssize(all), folds, o.seed);
    const auto of = [&](const std::vector<int64_t>& places) {
      std::vector<int64_t> result;
      for (const int64_t i : places) {
        result.push_back(all[static_cast<size_t>(i)]);
      }
      return result;
    };
    return {of(fold.train), of(fold.valid), std::move(parts.test)};
  }
  if (!o.held_out.empty()) {
    const auto held_out = places_of(o.held_out, cases, o.path + ": data.decathlon.held_out");
    parts.train = both();
    parts.valid = held_out;
    take_out(parts.train, held_out);
    take_out(parts.test, held_out);
  }
  return parts;
}

}  // namespace weyl
