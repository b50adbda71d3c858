#include "weyl/data/formats/npz.h"

#include <algorithm>
#include <set>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/npy.h"
#include "weyl/data/formats/zip_archive.h"

namespace weyl {

constexpr std::string_view suffix = ".npy";

std::vector<NamedArray> parse_npz(std::span<const std::byte> file, std::string_view where, uint64_t limit,
                                  const NpzJudge& judge) {
  ZipArchive archive(file, where, limit);
  std::vector<NpzEntry> entries;
  uint64_t bytes = 0;
  for (size_t i = 0; i < archive.entries().size(); ++i) {
    const auto& [name, size, packed] = archive.entries()[i];
    require<DataError>(name.ends_with(suffix), where, ": entry ", quote(name), " must be an .npy file");
    const auto begin = archive.first(i, npy_header_limit);
    entries.push_back({name.substr(0, name.size() - suffix.size()),
                       parse_npy_header(begin, size, text(where, ": entry ", quote(name)))});
    bytes += std::min(entries.back().header.bytes, limit);
  }
  if (judge) {
    judge(entries);
  }
  require_memory(std::min(bytes, limit), where);
  std::vector<NamedArray> arrays;
  for (size_t i = 0; i < entries.size(); ++i) {
    auto& [name, header] = entries[i];
    const uint64_t begin = header.begin;
    arrays.push_back({std::move(name), npy_array(std::move(header), archive.unpack(i, begin))});
  }
  return arrays;
}

std::vector<NamedArray> read_npz(const std::string& path, uint64_t limit, const NpzJudge& judge) {
  return parse_npz(MappedFile(path).bytes(), path, limit, judge);
}

std::vector<std::byte> npz_bytes(std::span<const NamedArray> arrays, bool deflate) {
  std::vector<std::vector<std::byte>> files;
  std::vector<ZipMember> members;
  std::set<std::string_view> names;
  for (const auto& [name, array] : arrays) {
    require(names.insert(name).second, "npz: ", quote(name), " is given twice");
    files.push_back(npy_bytes(array));
    members.push_back({text(name, suffix), files.back()});
  }
  return zip_bytes(members, deflate);
}

void write_npz(const std::string& path, std::span<const NamedArray> arrays, bool deflate, Existing existing) {
  AtomicFile file(path, existing);
  file.write(npz_bytes(arrays, deflate));
  file.commit();
}

}  // namespace weyl
