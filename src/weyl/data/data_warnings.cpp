#include "weyl/data/data_warnings.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/data/atoms/frame_checks.h"
#include "weyl/data/base/inspection.h"
#include "weyl/data/base/sample_checks.h"
#include "weyl/data/formats.h"
#include "weyl/data/inspect.h"

namespace weyl {
namespace {

void look(const Dataset& data, int64_t samples, SampleChecks& checks) {
  // Samples that are files of their own may be large, and of different sizes.
  const int64_t chunk = data.schema().carrier() == Carrier::grid ? 1 : 256;
  for (int64_t begin = 0; begin < samples; begin += chunk) {
    std::vector<int64_t> which(static_cast<size_t>(std::min(chunk, samples - begin)));
    std::iota(which.begin(), which.end(), begin);
    checks.add(data.batch(which));
  }
}

/// The samples of each of some splits that have so many tokens together: the same share of each.
int64_t looked_at(const Dataset& data, double share) {
  const int64_t n = data.size();
  return share >= 1 ? n
                    : std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(n)),
                                          std::min<int64_t>(n, 1), n);
}

}  // namespace

std::vector<std::string> data_warnings(const Splits& data, std::span<const Quantity> labels,
                                       int64_t most_tokens) {
  std::vector<std::string> result;
  Duplicates seen;
  const NamedSets sets = named_sets(data);
  int64_t tokens = 0;
  std::vector<std::string> names;
  for (const auto& [split, set] : sets) {
    names.push_back(split);
    for (int64_t i = 0; i < set->size(); ++i) {
      tokens += set->tokens(i);
    }
  }
  const double share =
      tokens > most_tokens ? static_cast<double>(most_tokens) / static_cast<double>(tokens) : 1;
  result = warnings_about_absent(names);
  std::string part;
  for (const auto& [split, set] : sets) {
    if (std::string warning = warning_about_size(split, set->size(), "sample"); !warning.empty()) {
      result.push_back(std::move(warning));
    }
    const int64_t samples = looked_at(*set, share);
    if (samples < set->size()) {
      part += text(part.empty() ? "" : ", ", samples, " of ", set->size(), " ", split);
    }
    SampleChecks checks(*set, split, labels, &seen);
    look(*set, samples, checks);
    for (const std::string& line : checks.lines()) {
      result.push_back(line.starts_with(split + ": ") ? line : split + ": " + line);
    }
  }
  if (!part.empty()) {
    result.push_back("identical samples and far labels were looked for among the first samples alone: " +
                     part);
  }
  return result;
}

std::vector<std::string> warnings_about_parts(const std::string& folder, const SplitIndices& parts) {
  namespace fs = std::filesystem;
  std::vector<std::string> result;
  Duplicates seen;
  std::vector<std::shared_ptr<const Dataset>> open;  // `seen` asks for their names
  for (const auto& [split, part] :
       {std::pair<std::string, const std::vector<int64_t>*>{"train", &parts.train},
        {"valid", &parts.valid},
        {"test", &parts.test}}) {
    if (std::string warning = warning_about_size(split, static_cast<int64_t>(part->size()), "sample");
        !warning.empty()) {
      result.push_back(std::move(warning));
    }
    if (part->empty()) {
      continue;
    }
    const std::string tensors = (fs::path(folder) / (split + ".safetensors")).string();
    const std::string frames = (fs::path(folder) / (split + FrameFiles::splits_into)).string();
    if (fs::exists(frames)) {
      FrameChecks checks(split, &seen);
      const auto reader = open_frames(frames);
      for (AtomsFrame frame; reader->next(frame);) {
        checks.add(frame, *reader);
      }
    } else {
      open.push_back(open_for_inspection(tensors).at(0).second);
      SampleChecks checks(*open.back(), split, {}, &seen);
      look(*open.back(), open.back()->size(), checks);
    }
    std::ranges::move(seen.lines(), std::back_inserter(result));
  }
  return result;
}

}  // namespace weyl
