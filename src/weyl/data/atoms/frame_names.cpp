#include "weyl/data/atoms/frame_names.h"

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/nearest.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr size_t kMostNames = 1000, kMostListed = 12;

}  // namespace

void FrameNames::count(const AtomsFrame& frame) {
  const auto one = [&](const std::string& name, bool of_atoms) {
    const auto found = std::ranges::find_if(
        present_, [&](const Present& p) { return p.of_atoms == of_atoms && p.name == name; });
    if (found != present_.end()) {
      ++found->frames;
    } else if (present_.size() < kMostNames) {
      present_.push_back({name, of_atoms, 1});
    }
  };
  for (const auto& value : frame.values) {
    one(value.name, false);
  }
  for (const auto& column : frame.columns) {
    one(column.name, true);
  }
}

std::string FrameNames::is_other(const std::string& key, bool of_atoms) const {
  const bool there = std::ranges::any_of(
      present_, [&](const Present& p) { return p.of_atoms != of_atoms && p.name == key; });
  return !there     ? ""
         : of_atoms ? " as a column of the atoms, it is a value of the frame"
                    : " as a value of the frame, it is a column of the atoms";
}

std::string FrameNames::list(const std::string& key, bool of_atoms, int64_t frames) const {
  std::vector<Present> there;
  std::vector<std::string> names;
  for (const Present& p : present_) {
    if (p.of_atoms == of_atoms) {
      there.push_back(p);
      names.push_back(p.name);
    }
  }
  const std::string near = nearest(key, names);
  std::ranges::stable_sort(there, [&](const Present& a, const Present& b) {
    const bool a_near = a.name == near, b_near = b.name == near;
    return a_near != b_near ? a_near : a.frames > b.frames;
  });
  std::string list;
  for (size_t i = 0; i < std::min(there.size(), kMostListed); ++i) {
    list += text(i == 0 ? "" : ", ", there[i].frames, i == 0 ? " have " : " ", quote(there[i].name, 40));
  }
  const char* kind = of_atoms ? "columns" : "values";
  return list.empty()
             ? text("they have no ", kind)
             : text(kind, ": of ", frames, " frames ", list, there.size() > kMostListed ? ", ..." : "");
}

}  // namespace weyl
