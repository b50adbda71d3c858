#include "weyl/data/data_warnings.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>

#include "weyl/carriers/loader.h"
#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/prepared_tensors.h"
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
  std::vector<int64_t> which(static_cast<size_t>(samples));
  std::iota(which.begin(), which.end(), int64_t{0});
  const Subset first({&data, [](const Dataset*) {}}, std::move(which), data.schema());
  for_each_chunk(first, chunk, [&](const Batch& batch) { checks.add(batch); });
}

/// The samples of each of some splits that have so many tokens together: the same share of each.
int64_t looked_at(const Dataset& data, double share) {
  const int64_t n = data.size();
  return share >= 1 ? n
                    : std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(n)),
                                          std::min<int64_t>(n, 1), n);
}

constexpr int kWarningsVersion = 1;  // to be raised by whoever changes what is looked for, or how it is said

/// Where the lines are kept of splits that all stream: by what is known of each of them.
PreparedFile kept_lines(const Splits& data, std::span<const Quantity> labels, int64_t most_tokens) {
  std::string what = text("data warnings ", kWarningsVersion, ", tokens ", most_tokens);
  for (const Quantity& q : labels) {
    what += " " + q.name;
  }
  for (const auto& [split, set] : named_sets(data)) {
    const PreparedFile file = set->prepared(split);
    if (!file.keeps()) {
      return {};
    }
    what += text("; ", split, " ", checksum(std::as_bytes(std::span(file.key()))));
  }
  return data.train != nullptr ? data.train->prepared(what) : PreparedFile();
}

constexpr const char* kLines = "lines";

NamedTensors as_tensors(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) {
    all += line + "\n";
  }
  Tensor bytes = at::empty({std::ssize(all)}, at::kByte);
  std::ranges::copy(all, bytes.mutable_data_ptr<uint8_t>());
  return {{kLines, bytes}};
}

std::vector<std::string> as_lines(const Tensor& bytes) {
  const auto* begin = reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>());
  std::vector<std::string> lines;
  for (std::string_view all(begin, static_cast<size_t>(bytes.numel())); !all.empty();) {
    const size_t end = std::min(all.find('\n'), all.size());
    lines.emplace_back(all.substr(0, end));
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return lines;
}

std::vector<std::string> lines_of(const Splits& data, std::span<const Quantity> labels, int64_t most_tokens) {
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

}  // namespace

std::vector<std::string> data_warnings(const Splits& data, std::span<const Quantity> labels,
                                       int64_t most_tokens) {
  const auto fits = [](const NamedTensors& kept) {
    const auto lines = kept.find(kLines);
    return lines != kept.end() && lines->second.scalar_type() == at::kByte && lines->second.dim() == 1;
  };
  return as_lines(kept_or_made(kept_lines(data, labels, most_tokens), fits, [&] {
                    return as_tensors(lines_of(data, labels, most_tokens));
                  }).at(kLines));
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
