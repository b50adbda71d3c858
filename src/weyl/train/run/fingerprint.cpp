#include "weyl/train/run/fingerprint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "weyl/carriers/loader.h"
#include "weyl/carriers/points.h"
#include "weyl/core/check.h"
#include "weyl/data/base/sample_checks.h"

namespace weyl {
namespace {

constexpr int64_t tokens_looked_at = int64_t{1} << 20;
constexpr size_t most_sample_hashes = 1024;

std::string digits_of(uint64_t hash) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

// A sum of bytes in which every change of one word shows: each round is a bijection of the state.
class Hash {
 public:
  void add(uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 32;
  }
  void add(std::string_view bytes) {
    add(bytes.size());
    for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
      add(word);
    }
  }
  void add(const Tensor& t) {
    if (t.defined()) {
      const Tensor dense = t.detach().cpu().contiguous();
      add(std::string_view(static_cast<const char*>(dense.const_data_ptr()), dense.nbytes()));
    }
  }
  void add(const Named& named) {
    for (const auto& [name, t] : named) {
      add(name);
      add(t);
    }
  }
  uint64_t value() const { return state_; }
  std::string text() const { return digits_of(state_); }

 private:
  uint64_t state_ = 0x243f6a8885a308d3u;
};

void add(Hash& hash, const Batch& batch) {
  if (const auto* points = std::get_if<Points>(&batch.input)) {
    each_tensor(*points, [&](const PointsTensor& what, const Tensor& t) {
      hash.add(what.name);
      hash.add(t);
    });
  } else if (const auto* poses = std::get_if<Poses>(&batch.input)) {
    hash.add(poses->elements);
    hash.add(poses->scalars);
  } else {
    hash.add(std::get<Grid>(batch.input).values);
  }
  hash.add(batch.labels);
}

// What samples are, whatever a model is told about them: positions, elements or values, and labels.
void add_places_and_labels(Hash& hash, const Batch& batch) {
  if (const auto* points = std::get_if<Points>(&batch.input)) {
    hash.add(points->positions);
    if (!points->placed) {  // then it is multivectors that say where things are
      hash.add(points->multivectors);
    }
  } else if (const auto* poses = std::get_if<Poses>(&batch.input)) {
    hash.add(poses->elements);
  } else {
    hash.add(std::get<Grid>(batch.input).values);
  }
  hash.add(batch.labels);
}

// Gives the samples that are looked at to `use`, in batches, and returns how many they are.
int64_t look_at(const Dataset& data, const std::function<void(const Batch&)>& use) {
  const int64_t n = data.size();
  int64_t tokens = 0;
  for (int64_t i = 0; i < n; ++i) {
    tokens += data.tokens(i);
  }
  const double share =
      tokens > tokens_looked_at ? static_cast<double>(tokens_looked_at) / static_cast<double>(tokens) : 1;
  const int64_t looked =
      std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(n)), std::min<int64_t>(n, 2), n);
  // Grids of different sizes fit in no batch.
  const int64_t at_a_time = data.schema().carrier() == Carrier::grid ? 1 : 256;
  std::vector<int64_t> which;
  for (int64_t k = 0; k < looked; ++k) {
    which.push_back(looked == 1 ? 0 : k * (n - 1) / (looked - 1));
  }
  const Subset some({&data, [](const Dataset*) {}}, std::move(which), data.schema());
  for_each_chunk(some, at_a_time, use);
  return looked;
}

// A hash of the inputs of each sample of a batch: of its nodes or cells, and of the whole graph. Labels are left out, which
// files may name otherwise, and so is what stands beside pairs and objects.
void add_samples(std::vector<uint64_t>& hashes, const Batch& batch) {
  std::vector<Hash> samples(static_cast<size_t>(batch.count()));
  const auto add_rows = [&](const Tensor& t, const auto& first_row) {
    if (!t.defined() || t.numel() == 0) {
      return;
    }
    const Tensor dense = t.detach().cpu().contiguous();
    const auto* bytes = static_cast<const char*>(dense.const_data_ptr());
    const size_t row = dense.nbytes() / static_cast<size_t>(dense.size(0));
    for (size_t s = 0; s < samples.size(); ++s) {
      samples[s].add(std::string_view(bytes + first_row(s) * row, (first_row(s + 1) - first_row(s)) * row));
    }
  };
  const auto graph = [](size_t s) { return s; };
  const auto node_of = [](const Segments& graphs) {
    return [&graphs](size_t s) { return static_cast<size_t>(graphs.offsets[s]); };
  };
  if (const auto* points = std::get_if<Points>(&batch.input)) {
    each_tensor(*points, [&](const PointsTensor& what, const Tensor& t) {
      if (what.level == Level::node) {
        add_rows(t, node_of(points->graphs));
      } else if (what.level == Level::graph) {
        add_rows(t, graph);
      }
    });
  } else if (const auto* poses = std::get_if<Poses>(&batch.input)) {
    add_rows(poses->elements, node_of(poses->graphs));
    add_rows(poses->scalars, node_of(poses->graphs));
  } else {
    add_rows(std::get<Grid>(batch.input).values, graph);
  }
  for (const Hash& sample : samples) {
    hashes.push_back(sample.value());
  }
}

// The least of the hashes, each once.
std::string least_of(std::vector<uint64_t> hashes) {
  std::ranges::sort(hashes);
  hashes.erase(std::ranges::unique(hashes).begin(), hashes.end());
  hashes.resize(std::min(hashes.size(), most_sample_hashes));
  std::string all;
  for (const uint64_t hash : hashes) {
    all += (all.empty() ? "" : " ") + digits_of(hash);
  }
  return all;
}

std::vector<uint64_t> read_hashes(std::string_view all) {
  std::vector<uint64_t> hashes;
  while (!all.empty()) {
    uint64_t hash = 0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), hash, 16);
    if (error != std::errc()) {
      return {};
    }
    hashes.push_back(hash);
    all.remove_prefix(std::min(all.size(), static_cast<size_t>(end - all.data()) + 1));
  }
  return hashes;
}

// `hashes`: to take those of the samples.
Json fingerprint_of_set(const Dataset& data, std::vector<uint64_t>* hashes) {
  const int64_t n = data.size();
  Hash hash, places_and_labels, names;
  int64_t tokens = 0;
  bool named = false;
  for (int64_t i = 0; i < n; ++i) {
    hash.add(static_cast<uint64_t>(data.tokens(i)));
    tokens += data.tokens(i);
    const std::string name = case_name(data, i);
    names.add(name);
    named = named || !name.empty();
  }
  look_at(data, [&](const Batch& batch) {
    add(hash, batch);
    add_places_and_labels(places_and_labels, batch);
    if (hashes != nullptr) {
      add_samples(*hashes, batch);
    }
  });
  Json json = Json::object()
                  .set("samples", n)
                  .set("tokens", tokens)
                  .set("contents", hash.text())
                  .set("places_and_labels", places_and_labels.text());
  return named ? json.set("names", names.text()) : json;
}

std::string change_of_split(const Json* now, const Json* then) {
  if (now == nullptr || then == nullptr) {
    return now == then ? "" : now == nullptr ? "is no longer there" : "was not there";
  }
  for (const char* count : {"samples", "tokens"}) {
    const double a = now->find(count)->number_or(0);
    const Json* before = then->find(count);
    const double b = before != nullptr ? before->number_or(0) : 0;
    if (a != b) {
      return text("has ", static_cast<int64_t>(a), " ", count, ", it had ", static_cast<int64_t>(b));
    }
  }
  const Json *called = now->find("names"), *were_called = then->find("names");  // older runs do not say
  if (called != nullptr && were_called != nullptr && called->string_or("") != were_called->string_or("")) {
    return "has samples of other names, or in another order";
  }
  const Json* before = then->find("contents");
  return before != nullptr && before->string_or("") == now->find("contents")->string_or("")
             ? ""
             : "holds other values";
}

}  // namespace

Json fingerprint(const Splits& data) {
  Json json = Json::object();
  for (const auto& [name, split] :
       {std::pair("train", data.train), {"valid", data.valid}, {"test", data.test}}) {
    if (split == nullptr) {
      continue;
    }
    const bool learned = std::string_view(name) == "train";
    std::vector<uint64_t> hashes;
    Json of_split = fingerprint_of_set(*split, learned ? &hashes : nullptr);
    if (learned) {
      of_split.set("looked_at", static_cast<int64_t>(hashes.size()));
      of_split.set("sample_hashes", least_of(std::move(hashes)));
    }
    json.set(name, std::move(of_split));
  }
  return json;
}

std::string words_of_split(const Json* split) {
  if (split == nullptr) {
    return "no samples";
  }
  const Json* names = split->find("names");
  return text(split->find("samples")->dump(), " samples of ", split->find("tokens")->dump(),
              " tokens, contents ", split->find("contents")->string_or(""),
              names != nullptr ? ", names " + names->string_or("") : "");
}

TrainingSamples training_samples_in(const Dataset& data, const Json& then) {
  const Json* train = then.find("train");
  const Json* stored = train != nullptr ? train->find("sample_hashes") : nullptr;
  const std::vector<uint64_t> known = read_hashes(stored != nullptr ? stored->string_or("") : "");
  if (known.empty()) {
    return {};
  }
  const auto number = [&](const char* key) {
    const Json* value = train->find(key);
    return value != nullptr ? value->number_or(0) : 0;
  };
  const double seen = number("looked_at") / std::max(1.0, number("samples"));  // of the training split
  std::vector<uint64_t> hashes;
  const int64_t looked = look_at(data, [&](const Batch& batch) { add_samples(hashes, batch); });
  const bool all_known = known.size() < most_sample_hashes;
  int64_t comparable = 0, found = 0;
  for (const uint64_t hash : hashes) {
    comparable += all_known || hash <= known.back() ? 1 : 0;
    found += std::ranges::binary_search(known, hash) ? 1 : 0;
  }
  if (found == 0 || (all_known && seen >= 1 && looked == data.size())) {
    return {found, true};
  }
  const double share =
      std::min(1.0, static_cast<double>(found) / static_cast<double>(comparable) / std::min(1.0, seen));
  return {std::max<int64_t>(1, std::llround(share * static_cast<double>(data.size()))), false};
}

std::string changes_of_data(const Json& now, const Json& then) {
  std::string line;
  for (const char* split : {"train", "valid", "test"}) {
    const std::string change = change_of_split(now.find(split), then.find(split));
    if (!change.empty()) {
      line += text(line.empty() ? "" : ", ", "its ", split, " split ", change);
    }
  }
  return line;
}

}  // namespace weyl
