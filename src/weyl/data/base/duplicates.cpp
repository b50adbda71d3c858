#include "weyl/data/base/duplicates.h"

#include <algorithm>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr size_t kNamedPairs = 3;

}  // namespace

void Duplicates::begin(std::string split, Name name) {
  splits_.push_back({std::move(split), std::move(name), 0, {}});
}

void Duplicates::add(uint64_t inputs, uint64_t labels) {
  require(!splits_.empty(), "duplicates: `begin` must come before `add`");
  Split& split = splits_.back();
  const int64_t sample = split.size++;
  const auto [at, added] = seen_.try_emplace(inputs, Seen{labels, splits_.size() - 1, sample});
  if (added) {
    return;
  }
  Found& found = split.found[at->second.split];
  ++found.samples;
  found.other_labels += at->second.labels != labels ? 1 : 0;
  if (found.first.size() < kNamedPairs) {
    found.first.emplace_back(sample, at->second.sample);
  }
}

std::vector<std::string> Duplicates::lines() const {
  std::vector<std::string> result;
  if (splits_.empty()) {
    return result;
  }
  const Split& split = splits_.back();
  for (const auto& [of, found] : split.found) {
    const Split& earlier = splits_[of];
    const bool within = of + 1 == splits_.size(), one = found.samples == 1;
    std::string line = text(split.label.empty() ? "" : split.label + ": ", found.samples, " of ", split.size,
                            one ? " samples has" : " samples have", " the inputs of ",
                            within ? "an earlier one" : "a sample of " + earlier.label);
    if (found.other_labels > 0) {
      line += text(", ", found.other_labels,
                   found.other_labels == 1 ? " with another label" : " with other labels");
    }
    for (size_t i = 0; i < found.first.size(); ++i) {
      const auto [sample, before] = found.first[i];
      line += text(i == 0 ? ": " : ", ", split.name(sample), " those of ", earlier.name(before));
    }
    if (found.samples > static_cast<int64_t>(found.first.size())) {
      line += text(" and ", found.samples - static_cast<int64_t>(found.first.size()), " more");
    }
    result.push_back(std::move(line));
  }
  return result;
}

std::string warning_about_size(const std::string& split, int64_t size, const std::string& what) {
  return size > 1    ? ""
         : size == 1 ? text(split, ": has one ", what, " alone, from which nothing can be said of others")
                     : text(split, ": has no ", what, "s");
}

std::vector<std::string> warnings_about_absent(const std::vector<std::string>& splits) {
  std::vector<std::string> result;
  const auto there = [&](const char* name) { return std::ranges::find(splits, name) != splits.end(); };
  if (splits.empty() || (splits.size() == 1 && splits[0].empty())) {
    return result;
  }
  if (!there("train")) {
    result.emplace_back("train: there is no such split");
  }
  if (!there("valid")) {
    result.emplace_back("valid: there is no such split, by which the best model of a training is chosen");
  }
  return result;
}

}  // namespace weyl
