#include "weyl/core/nearest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace weyl {
namespace {

// Optimal string alignment: insert, delete, replace and swap of neighbours cost one each.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::string lower(std::string_view s) {
  std::string out(s);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

// `letters`: how many of the shorter word one slip is allowed in; `beginnings`: whether they are near too.
std::string nearest_within_slips(std::string_view word, std::span<const std::string> candidates,
                                 size_t letters, bool beginnings) {
  if (word.empty() || word.size() > 100) {
    return {};
  }
  const std::string w = lower(word);
  std::string best;
  size_t least = 10000;
  for (const auto& candidate : candidates) {
    const std::string c = lower(candidate);
    if (c.empty() || c.size() > 100) {
      continue;
    }
    size_t d = distance(w, c);
    // Everything is near a word of one or two letters: only other case counts.
    const size_t shorter = std::min(w.size(), c.size());
    const size_t allowed = c.size() <= 2 ? 0 : std::max<size_t>(beginnings ? 1 : 0, shorter / letters);
    if (d > allowed) {
      // A beginning of the other is near too, but never nearer than a slip of the fingers.
      const bool begins =
          beginnings && w.size() >= 3 && c.size() >= 3 && (c.starts_with(w) || w.starts_with(c));
      if (!begins) {
        continue;
      }
      d += 1000;
    }
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  return nearest_within_slips(word, candidates, 3, true);
}

std::string nearest_spelling(std::string_view word, std::span<const std::string> candidates) {
  return nearest_within_slips(word, candidates, 4, false);
}

}  // namespace weyl
