#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/input_file.h"

namespace weyl {

/// The main table of an LMDB data file, as LMDB 0.9 writes it on 64-bit little-endian machines. It is read page by
/// page, by position, as of the newer of its two meta pages. Several threads may read at once.
///
/// Nothing that a page says is trusted. Page numbers, offsets and sizes are compared with the page and the file, a
/// search goes down at most `depth` pages, and a value gets memory only once the file is known to hold its bytes.
///
/// DataError naming the file and the page: the file is no LMDB file, is of another machine or version, or is cut short;
/// or a page is not as a table has it. Sub-pages, tables inside of tables, and keys that are not in the order of their
/// bytes are refused by name. are not of their bytes.
class LmdbFile {
 public:
  explicit LmdbFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  /// How many entries the table says that it has.
  uint64_t entries() const { return meta_.entries; }

  using Bytes = std::vector<std::byte>;
  /// The value of a key; nothing when there is none. DataError when the value has more than `most` bytes.
  std::optional<Bytes> find(std::string_view key, uint64_t most) const;

  struct Entry {
    std::string key;
    Bytes value;
  };
  /// The first entry in the order of keys, with at most `begin` bytes of its value; nothing for an empty table.
  std::optional<Entry> first(uint64_t begin) const;

 private:
  class Page;
  /// What a meta page says.
  struct Meta {
    uint64_t page_size = 0, root = 0, last_page = 0, transaction = 0, entries = 0;
    uint16_t depth = 0, flags = 0;
  };

  /// The meta page at an offset. Nothing when there is none; `fault` then says why.
  std::optional<Meta> meta_at(uint64_t offset, std::string& fault) const;
  Meta newest_meta() const;
  Page page(uint64_t number, uint16_t kind) const;
  /// The leaf that holds a key, if any does; without a key, the first leaf.
  Page leaf_of(std::optional<std::string_view> key) const;
  /// The first `most` bytes of an entry's value. DataError when the value has more and `all` are asked for.
  Bytes value(const Page& leaf, size_t entry, uint64_t most, bool all) const;

  InputFile file_;
  Meta meta_;
};

}  // namespace weyl
