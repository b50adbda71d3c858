#include "weyl/data/formats/npz.h"

#include <set>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/npy.h"
#include "weyl/data/formats/zip_archive.h"

namespace weyl {

constexpr std::string_view suffix = ".npy";

std::vector<NamedArray> parse_npz(std::span<const std::byte> file, std::string_view where, uint64_t limit) {
  ZipArchive archive(file, where, limit);
  std::vector<NamedArray> arrays;
  for (size_t i = 0; i < archive.entries().size(); ++i) {
    const auto& name = archive.entries()[i].name;
    require<DataError>(name.ends_with(suffix), where, ": entry ", quote(name), " must be an .npy file");
    arrays.push_back({name.substr(0, name.size() - suffix.size()),
                      parse_npy(archive.unpack(i), text(where, ": entry ", quote(name)))});
  }
  return arrays;
}

std::vector<NamedArray> read_npz(const std::string& path, uint64_t limit) {
  return parse_npz(MappedFile(path).bytes(), path, limit);
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

void write_npz(const std::string& path, std::span<const NamedArray> arrays, bool deflate) {
  AtomicFile file(path);
  file.write(npz_bytes(arrays, deflate));
  file.commit();
}

}  // namespace weyl
