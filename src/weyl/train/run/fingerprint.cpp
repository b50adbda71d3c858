#include "weyl/train/run/fingerprint.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "weyl/carriers/points.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr int64_t tokens_looked_at = int64_t{1} << 20;

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
  std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(state_));
    return digits;
  }

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

Json fingerprint_of_set(const Dataset& data) {
  const int64_t n = data.size();
  Hash hash, places_and_labels;
  int64_t tokens = 0;
  for (int64_t i = 0; i < n; ++i) {
    hash.add(static_cast<uint64_t>(data.tokens(i)));
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
    if (static_cast<int64_t>(which.size()) == at_a_time || k + 1 == looked) {
      const Batch batch = data.batch(which);
      add(hash, batch);
      add_places_and_labels(places_and_labels, batch);
      which.clear();
    }
  }
  return Json::object()
      .set("samples", n)
      .set("tokens", tokens)
      .set("contents", hash.text())
      .set("places_and_labels", places_and_labels.text());
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
    if (split != nullptr) {
      json.set(name, fingerprint_of_set(*split));
    }
  }
  return json;
}

int64_t training_samples_in(const Dataset& data, const Json& then, bool whole) {
  const auto samples_of = [&](const char* split) {
    const Json* of = then.find(split);
    const Json* samples = of != nullptr ? of->find("samples") : nullptr;
    return samples != nullptr ? static_cast<int64_t>(samples->number_or(0)) : 0;
  };
  const int64_t training = samples_of("train");
  if (training == 0) {
    return 0;
  }
  if (whole && data.size() >= training + samples_of("valid") + samples_of("test")) {
    return training;
  }
  if (data.size() != training) {
    return 0;
  }
  const Json now = fingerprint_of_set(data);
  const auto same = [&](const char* hash) {
    const Json* of = then.find("train")->find(hash);
    return of != nullptr && of->string_or("") == now.find(hash)->string_or("");
  };
  return same("contents") || same("places_and_labels") ? training : 0;
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
