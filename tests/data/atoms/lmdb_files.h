// LMDB data files of any size and page size, as liblmdb would write them in one transaction.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weyl {

/// Its pages, one after the other: two of meta, leaves and long values in the order of the keys, branches.
class LmdbPages {
 public:
  LmdbPages(const std::map<std::string, std::string>& entries, size_t page_size)
      : size_(page_size), file_(2 * size_, '\0') {
    std::vector<std::pair<std::string, uint64_t>> level;  // the first key of each page
    Page leaf = begin(2);
    for (const auto& [key, value] : entries) {
      const bool is_long = value.size() > size_ / 4;
      std::string node = number<uint32_t>(value.size()) + number<uint16_t>(is_long ? 1 : 0) +
                         number<uint16_t>(key.size()) + key;
      node += is_long ? number<uint64_t>(long_value(value)) : value;
      if (!fits(leaf, node)) {
        level.emplace_back(leaf.first, end(leaf));
        leaf = begin(2);
      }
      add(leaf, key, node);
    }
    if (!entries.empty()) {
      level.emplace_back(leaf.first, end(leaf));
      depth_ = 1;
    }
    for (; level.size() > 1; ++depth_) {
      level = above(level);
    }
    meta(0, 0, 0, ~uint64_t{0}, 0);
    meta(1, 1, entries.size(), level.empty() ? ~uint64_t{0} : level[0].second, depth_);
  }

  const std::string& file() const { return file_; }
  int depth() const { return depth_; }

 private:
  static constexpr size_t kHeader = 16;
  struct Page {
    uint16_t kind = 0;
    std::string first;  // key
    std::vector<std::string> nodes;
    size_t used = kHeader;
  };

  template <class T>
  static std::string number(uint64_t x) {
    const auto value = static_cast<T>(x);
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  }

  static Page begin(uint16_t kind) { return {.kind = kind, .first = {}, .nodes = {}}; }
  bool fits(const Page& page, const std::string& node) const {
    return page.used + node.size() + node.size() % 2 + 2 <= size_;
  }
  static void add(Page& page, const std::string& key, std::string node) {
    page.first = page.nodes.empty() ? key : page.first;
    node.resize(node.size() + node.size() % 2);
    page.used += node.size() + 2;
    page.nodes.push_back(std::move(node));
  }

  /// Puts a page at the end of the file, the first entry at its end; its number.
  uint64_t end(const Page& page) {
    const uint64_t place = file_.size() / size_;
    std::string bytes = number<uint64_t>(place) + number<uint16_t>(0) + number<uint16_t>(page.kind) +
                        number<uint16_t>(kHeader + 2 * page.nodes.size()),
                offsets, nodes;
    for (const std::string& node : page.nodes) {
      nodes.insert(0, node);
      offsets += number<uint16_t>(size_ - nodes.size());
    }
    bytes += number<uint16_t>(size_ - nodes.size()) + offsets;
    bytes.resize(size_ - nodes.size());
    file_ += bytes + nodes;
    return place;
  }

  uint64_t long_value(const std::string& value) {
    const uint64_t place = file_.size() / size_, pages = (kHeader + value.size() + size_ - 1) / size_;
    file_ +=
        number<uint64_t>(place) + number<uint16_t>(0) + number<uint16_t>(4) + number<uint32_t>(pages) + value;
    file_.resize((place + pages) * size_);
    return place;
  }

  std::vector<std::pair<std::string, uint64_t>> above(
      const std::vector<std::pair<std::string, uint64_t>>& below) {
    std::vector<std::pair<std::string, uint64_t>> level;
    Page branch = begin(1);
    for (size_t i = 0; i < below.size(); ++i) {
      const auto& [key, place] = below[i];
      const std::string said = branch.nodes.empty() ? "" : key;
      std::string node =
          number<uint32_t>(place) + number<uint16_t>(place >> 32U) + number<uint16_t>(said.size()) + said;
      // A branch has two pages at least: the last one is not left alone.
      const bool leaves_one = i + 2 == below.size() && branch.nodes.size() > 2 &&
                              branch.used + 2 * node.size() + kHeader + below.back().first.size() > size_;
      if (!fits(branch, node) || leaves_one) {
        level.emplace_back(branch.first, end(branch));
        branch = begin(1);
        node = number<uint32_t>(place) + number<uint16_t>(place >> 32U) + number<uint16_t>(0);
      }
      add(branch, key, node);
    }
    level.emplace_back(branch.first, end(branch));
    return level;
  }

  void meta(uint64_t page, uint64_t transaction, uint64_t entries, uint64_t root, int depth) {
    std::string bytes =
        number<uint64_t>(page) + number<uint16_t>(0) + number<uint16_t>(8) + number<uint32_t>(0);
    bytes +=
        number<uint32_t>(0xBEEFC0DE) + number<uint32_t>(1) + number<uint64_t>(0) + number<uint64_t>(1 << 30);
    bytes +=
        number<uint32_t>(size_) + std::string(36, '\0') + number<uint64_t>(~uint64_t{0});  // of free pages
    bytes += number<uint32_t>(0) + number<uint16_t>(0) + number<uint16_t>(static_cast<uint64_t>(depth)) +
             std::string(24, '\0') + number<uint64_t>(entries) + number<uint64_t>(root);
    bytes += number<uint64_t>(file_.size() / size_ - 1) + number<uint64_t>(transaction);
    file_.replace(page * size_, bytes.size(), bytes);
  }

  size_t size_;
  std::string file_;
  int depth_ = 0;
};

/// A text as ASE's rows are packed.
inline std::string zlib_packed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
           text.size());
  packed.resize(size);
  return packed;
}

/// A database of ASE with one atom in each of its rows, `deleted` (a list in JSON) among them.
inline std::map<std::string, std::string> ase_rows(int64_t count, const std::string& deleted = "") {
  std::map<std::string, std::string> rows{{"nextid", zlib_packed(std::to_string(count + 1))}};
  for (int64_t id = 1; id <= count; ++id) {
    rows[std::to_string(id)] =
        zlib_packed("{\"numbers\": [6], \"positions\": [[" + std::to_string(id) + ".0, 0.0, 0.0]]}");
  }
  if (!deleted.empty()) {
    rows["deleted_ids"] = zlib_packed(deleted);
  }
  return rows;
}

}  // namespace weyl
