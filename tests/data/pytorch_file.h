// A PyTorch zip checkpoint as torch.save writes it, of what a test puts into it.
#pragma once

#include <bit>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "weyl/data/containers/archives.h"

namespace weyl {

/// The pickle of a checkpoint (protocol 2) and its storages. Values are pickled in the order of the calls; a dict is
/// `open`, keys and values, `close`.
class PytorchFile {
 public:
  /// Opcodes as they are.
  PytorchFile& put(const std::string& opcodes) {
    pickle_ += opcodes;
    return *this;
  }
  PytorchFile& open() { return put("}("); }
  PytorchFile& close() { return put("u"); }
  PytorchFile& empty_list() { return put("]"); }
  PytorchFile& none() { return put("N"); }
  PytorchFile& truth(bool value) { return put(value ? "\x88" : "\x89"); }
  PytorchFile& whole(int32_t value) {
    put("J");
    return little(static_cast<uint32_t>(value));
  }
  PytorchFile& real(double value) {
    put("G");
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int shift = 56; shift >= 0; shift -= 8) {
      pickle_ += static_cast<char>(bits >> shift & 0xff);
    }
    return *this;
  }
  PytorchFile& word(const std::string& value) {
    put("X");
    little(static_cast<uint32_t>(value.size()));
    return put(value);
  }
  /// A contiguous tensor of float64.
  PytorchFile& tensor(const std::vector<int32_t>& shape, const std::vector<double>& values) {
    const std::string key = std::to_string(storages_.size());
    put("ctorch._utils\n_rebuild_tensor_v2\n((").word("storage").put("ctorch\nDoubleStorage\n").word(key);
    word("cpu").whole(static_cast<int32_t>(values.size())).put("tQ").whole(0).put("(");
    std::vector<int32_t> strides(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;) {
      strides[d - 1] = strides[d] * shape[d];
    }
    for (const int32_t n : shape) {
      whole(n);
    }
    put("t(");
    for (const int32_t n : strides) {
      whole(n);
    }
    put("t").truth(false).put("}tR");
    std::vector<std::byte> bytes(values.size() * sizeof(double));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    storages_.push_back(std::move(bytes));
    return *this;
  }

  std::vector<std::byte> bytes() const {
    const std::string program = "\x80\x02" + pickle_ + ".";
    const auto of = [](const std::string& text) {
      return std::as_bytes(std::span(text.data(), text.size()));
    };
    const std::string order = "little";
    std::vector<std::string> names;
    for (size_t i = 0; i < storages_.size(); ++i) {
      names.push_back("archive/data/" + std::to_string(i));
    }
    std::vector<ZipMember> members{{"archive/data.pkl", of(program)}, {"archive/byteorder", of(order)}};
    for (size_t i = 0; i < storages_.size(); ++i) {
      members.push_back({names[i], storages_[i]});
    }
    return zip_bytes(members, /*deflate=*/false);
  }
  void write(const std::string& path) const {
    const auto all = bytes();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
  }

 private:
  PytorchFile& little(uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) {
      pickle_ += static_cast<char>(value >> shift & 0xff);
    }
    return *this;
  }
  std::string pickle_;
  std::vector<std::vector<std::byte>> storages_;
};

}  // namespace weyl
