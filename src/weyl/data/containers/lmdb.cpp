#include "weyl/data/containers/lmdb.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

static_assert(std::endian::native == std::endian::little);

// A page begins with its number (8 bytes), two bytes of padding, its kind (2), and where its free space begins and
// ends (2, 2), or how many pages a long value takes (4). The offsets of its entries follow, two bytes each.
constexpr size_t kPageHeader = 16, kKindAt = 10, kFreeAt = 12;
constexpr uint16_t kBranch = 1, kLeaf = 2, kLong = 4, kMetaPage = 8, kFixedLeaf = 0x20, kSubPage = 0x40;
constexpr uint16_t kKinds = kBranch | kLeaf | kLong | kMetaPage | kFixedLeaf | kSubPage;

// A meta page goes on with the magic number, the version, an address, the size of the map, two tables of 48 bytes
// (of free pages and of entries), the last page and the transaction.
constexpr uint32_t kMagic = 0xBEEFC0DE, kMagicTurned = 0xDEC0EFBE, kVersion = 1;
constexpr size_t kMetaSize = kPageHeader + 136, kFreeTable = 24, kTable = 72, kLastPage = 120,
                 kTransaction = 128;
constexpr size_t kHeader32 = 12;  // of 32-bit machines
constexpr uint64_t kNoRoot = ~uint64_t{0};
constexpr uint64_t kSmallestPage = 512, kLargestPage = 32768;
constexpr uint16_t kDeepest = 32;   // LMDB's own limit
constexpr uint16_t kOrders = 0x7f;  // flags of tables whose keys are in another order, or have several values

// An entry is a size or page number (4 bytes), flags (2), the length of its key (2), its key, its value.
constexpr size_t kEntry = 8;
constexpr uint16_t kIsLong = 1, kIsTable = 2, kIsSubPage = 4;

template <class T>
T number_at(std::span<const std::byte> bytes, size_t offset) {
  T x{};
  std::memcpy(&x, bytes.data() + offset, sizeof x);
  return x;
}

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint16_t kind_of_page(std::span<const std::byte> page) {
  return number_at<uint16_t>(page, kKindAt) & kKinds;
}

}  // namespace

/// A branch or a leaf, whose entries are checked to lie inside of it when they are asked for.
class LmdbFile::Page {
 public:
  struct Entry {
    uint32_t number = 0;  // the bytes of the value, or of a branch the lower half of a page number
    uint16_t flags = 0;
    std::string_view key;
    std::span<const std::byte> rest;  // of the page, behind the key
  };

  Page(Bytes bytes, const std::string& path, uint64_t number)
      : bytes_(std::move(bytes)), path_(&path), number_(number) {}

  size_t count() const { return (begin_of_space() - kPageHeader) / 2; }

  /// DataError naming file and page unless `holds`.
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      throw DataError(text(*path_, ": page ", number_, ": ", parts...));
    }
  }

  void check_all(uint16_t kind) const {
    const auto own = number_at<uint64_t>(bytes_, 0);
    check(own == number_, "must say its own number, says ", own);
    check(kind_of_page(bytes_) == kind, "must be a ", kind == kBranch ? "branch" : "leaf", ", is of kind ",
          kind_of_page(bytes_));
    const size_t begin = begin_of_space(), end = end_of_space(), least = kind == kBranch ? 2 : 1;
    check(begin >= kPageHeader && begin <= end && end <= bytes_.size(),
          "its free space must lie inside of its ", bytes_.size(), " bytes, got ", begin, " to ", end);
    check(count() >= least, "must have at least ", least, " entries, has ", count());
  }

  Entry entry(size_t i) const {
    const size_t at = number_at<uint16_t>(bytes_, kPageHeader + 2 * i);
    check(at >= end_of_space() && at + kEntry <= bytes_.size(), "entry ", i, " must begin in bytes ",
          end_of_space(), " to ", bytes_.size(), ", begins at ", at);
    const auto all = std::span<const std::byte>(bytes_).subspan(at);
    const size_t key = number_at<uint16_t>(all, 6);
    check(kEntry + key <= all.size(), "entry ", i, ": its key of ", key,
          " bytes must end inside of the page");
    return {number_at<uint32_t>(all, 0), number_at<uint16_t>(all, 4), characters(all.subspan(kEntry, key)),
            all.subspan(kEntry + key)};
  }

  /// The first entry from `begin` on whose key is not before `key`.
  size_t lower_bound(std::string_view key, size_t begin) const {
    size_t end = count();
    while (begin < end) {
      const size_t middle = (begin + end) / 2;
      if (entry(middle).key < key) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }

 private:
  size_t begin_of_space() const { return number_at<uint16_t>(bytes_, kFreeAt); }
  size_t end_of_space() const { return number_at<uint16_t>(bytes_, kFreeAt + 2); }

  Bytes bytes_;
  const std::string* path_;
  uint64_t number_;
};

LmdbFile::LmdbFile(const std::string& path) : file_(path), meta_(newest_meta()) {}

std::optional<LmdbFile::Meta> LmdbFile::meta_at(uint64_t offset, std::string& fault) const {
  std::array<std::byte, kMetaSize> page{};
  const size_t size = file_.read(offset, page);
  const auto meta = std::span<const std::byte>(page).subspan(kPageHeader);
  const auto magic = number_at<uint32_t>(meta, 0), version = number_at<uint32_t>(meta, 4);
  if (magic == kMagicTurned || number_at<uint32_t>(page, kHeader32) == kMagic) {
    fault = text("must be LMDB's of a 64-bit little-endian machine, is of a ",
                 magic == kMagicTurned ? "big-endian" : "32-bit", " one");
  } else if (size < page.size()) {
    fault = text("must be an LMDB data file of two pages or more, has ", file_.size(), " bytes");
  } else if (magic != kMagic || kind_of_page(page) != kMetaPage) {
    fault = "must be an LMDB data file, does not begin as one";
  } else if (version != kVersion) {
    fault = text("must be an LMDB data file of version ", kVersion, ", is of version ", version);
  }
  if (!fault.empty()) {
    return std::nullopt;
  }
  const auto table = meta.subspan(kTable);
  const Meta found{.page_size = number_at<uint32_t>(meta, kFreeTable),
                   .root = number_at<uint64_t>(table, 40),
                   .last_page = number_at<uint64_t>(meta, kLastPage),
                   .transaction = number_at<uint64_t>(meta, kTransaction),
                   .entries = number_at<uint64_t>(table, 32),
                   .depth = number_at<uint16_t>(table, 6),
                   .flags = number_at<uint16_t>(table, 4)};
  const bool sound = std::has_single_bit(found.page_size) && found.page_size >= kSmallestPage &&
                     found.page_size <= kLargestPage && (offset == 0 || offset == found.page_size);
  if (!sound) {
    fault = text("its pages must have 512, 1024, ... or 32768 bytes, says ", found.page_size);
  } else if (found.depth > kDeepest || (found.depth == 0) != (found.root == kNoRoot)) {
    fault = text("its table must be at most ", kDeepest,
                 " pages deep, and have a root unless it is empty, says ", found.depth);
  }
  return fault.empty() ? std::optional(found) : std::nullopt;
}

/// Of the two meta pages, the second a page behind the first, one may be torn.
LmdbFile::Meta LmdbFile::newest_meta() const {
  std::string fault;
  std::optional<Meta> newest = meta_at(0, fault);
  const uint64_t least = newest ? newest->page_size : kSmallestPage,
                 most = newest ? newest->page_size : kLargestPage;
  for (uint64_t offset = least; offset <= most; offset *= 2) {
    std::string ignored;
    const auto other = meta_at(offset, ignored);
    if (other && (!newest || other->transaction > newest->transaction)) {
      newest = other;
    }
  }
  require<DataError>(newest.has_value(), path(), ": ", fault);
  require<DataError>(
      (newest->flags & kOrders) == 0, path(),
      ": keys must be in the order of their bytes, with one value each; the flags of the table, ",
      newest->flags, ", say otherwise");
  return *newest;
}

LmdbFile::Page LmdbFile::page(uint64_t number, uint16_t kind) const {
  const uint64_t size = meta_.page_size;
  const auto check = [&](bool holds, const auto&... parts) {
    if (!holds) {
      throw DataError(text(path(), ": page ", number, ": ", parts...));
    }
  };
  check(number >= 2 && number <= meta_.last_page, "must be one of 2 .. ", meta_.last_page);
  Bytes bytes(size);
  check(number < file_.size() / size && file_.read(number * size, bytes) == size,
        "lies behind the end of the file, which is cut short at ", file_.size(), " bytes");
  Page page(std::move(bytes), path(), number);
  page.check_all(kind);
  return page;
}

LmdbFile::Page LmdbFile::leaf_of(std::optional<std::string_view> key) const {
  uint64_t number = meta_.root;
  for (uint16_t level = 1; level < meta_.depth; ++level) {
    const Page branch = page(number, kBranch);
    // The first key stands for all that are before the second; of the others, the last one not behind `key`.
    size_t child = key ? branch.lower_bound(*key, 1) : 0;
    if (key && (child == branch.count() || branch.entry(child).key != *key)) {
      --child;
    }
    const Page::Entry entry = branch.entry(child);
    number = entry.number | uint64_t{entry.flags} << 32U;
  }
  return page(number, kLeaf);
}

LmdbFile::Bytes LmdbFile::value(const Page& leaf, size_t i, uint64_t most, bool all) const {
  const Page::Entry entry = leaf.entry(i);
  const auto check = [&](bool holds, const auto&... parts) {
    if (!holds) {
      leaf.check(false, "key ", quote(entry.key, 40), ": ", parts...);
    }
  };
  check((entry.flags & kIsSubPage) == 0, "has a sub-page of several values, which is not read");
  check((entry.flags & kIsTable) == 0,
        "is a table inside of the table (a named database), which is not read");
  check(!all || entry.number <= most, "its value must have at most ", most, " bytes, has ", entry.number);
  const auto size = static_cast<size_t>(std::min<uint64_t>(entry.number, most));
  if ((entry.flags & kIsLong) == 0) {
    check(entry.number <= entry.rest.size(), "its value of ", entry.number,
          " bytes must end inside of the page");
    return {entry.rest.begin(), entry.rest.begin() + static_cast<std::ptrdiff_t>(size)};
  }
  check(entry.rest.size() >= sizeof(uint64_t), "the page of its value is missing");
  const auto first = number_at<uint64_t>(entry.rest, 0);
  const uint64_t pages = (kPageHeader + entry.number + meta_.page_size - 1) / meta_.page_size;
  check(first >= 2 && first <= meta_.last_page && pages <= meta_.last_page - first + 1, "its value of ",
        pages, " pages from page ", first, " on must lie in pages 2 .. ", meta_.last_page);
  check(first <= file_.size() / meta_.page_size && pages <= file_.size() / meta_.page_size - first,
        "its value lies behind the end of the file, which is cut short at ", file_.size(), " bytes");
  std::array<std::byte, kPageHeader> header{};
  file_.read(first * meta_.page_size, header);
  check(number_at<uint64_t>(header, 0) == first && kind_of_page(header) == kLong &&
            number_at<uint32_t>(header, kFreeAt) >= pages,
        "page ", first, " must begin a long value of ", pages, " pages");
  Bytes bytes(size);
  check(file_.read(first * meta_.page_size + kPageHeader, bytes) == size,
        "the file is shortened while it is read");
  return bytes;
}

std::optional<LmdbFile::Bytes> LmdbFile::find(std::string_view key, uint64_t most) const {
  if (meta_.depth == 0) {
    return std::nullopt;
  }
  const Page leaf = leaf_of(key);
  const size_t at = leaf.lower_bound(key, 0);
  if (at == leaf.count() || leaf.entry(at).key != key) {
    return std::nullopt;
  }
  return value(leaf, at, most, true);
}

std::optional<LmdbFile::Entry> LmdbFile::first(uint64_t begin) const {
  if (meta_.depth == 0) {
    return std::nullopt;
  }
  const Page leaf = leaf_of(std::nullopt);
  return Entry{std::string(leaf.entry(0).key), value(leaf, 0, begin, false)};
}

}  // namespace weyl
