#include "weyl/data/formats/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <map>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {

/// How libzip's objects end. It has linkage as ZipArchive::State has, which holds one.
struct ZipDiscard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};

namespace {

constexpr uint64_t kZipBlock = 1UL << 20U;  // bytes unpacked at a time

template <class T>
using ZipHandle = std::unique_ptr<T, ZipDiscard>;

/// libzip's own word for an error; it must be finished after use.
struct Reason {
  zip_error_t error;
  Reason() { zip_error_init(&error); }
  ~Reason() { zip_error_fini(&error); }
  std::string text() { return printable(zip_error_strerror(&error)); }
};

}  // namespace

struct ZipArchive::State {
  std::string where;
  uint64_t file_size = 0, limit = 0, left = 0;
  ZipHandle<zip_t> archive;
  std::vector<ZipEntry> entries;
  std::map<std::string, size_t, std::less<>> index;

  /// The size of an entry, which must not lead beyond the limit.
  uint64_t allowed(size_t entry) const {
    const auto& [name, size, packed] = entries.at(entry);
    require<DataError>(size <= left, where, ": entry ", quote(name), " of ", size,
                       " bytes would unpack the archive beyond its limit of ", limit, " bytes (a zip bomb?)");
    return size;
  }
  std::vector<std::byte> read(size_t entry, uint64_t begin, uint64_t end);
  [[noreturn]] void broken(size_t entry, const std::string& why) const {
    throw DataError(text(where, ": entry ", quote(entries[entry].name), " is broken: ", why));
  }
};

/// Bytes [begin, end) of an entry as it unpacks; at its end the checksum is compared.
std::vector<std::byte> ZipArchive::State::read(size_t entry, uint64_t begin, uint64_t end) {
  const auto& [name, size, packed] = entries[entry];
  // Deflate expands at most 1032 times: a larger claim is false and not worth the time.
  constexpr uint64_t deflate_ratio = 1032, slack = 1024;
  require<DataError>(packed <= file_size && size <= packed * deflate_ratio + slack, where, ": entry ",
                     quote(name), " cannot have ", size, " bytes, it is packed into ", packed, " of ",
                     file_size);
  const ZipHandle<zip_file_t> file(zip_fopen_index(archive.get(), entry, 0));
  if (!file) {
    broken(entry, printable(zip_error_strerror(zip_get_error(archive.get()))));
  }
  const auto take = [&](std::span<std::byte> to) {
    const auto got = zip_fread(file.get(), to.data(), to.size());
    if (got < 0) {
      broken(entry, printable(zip_error_strerror(zip_file_get_error(file.get()))));
    }
    return static_cast<uint64_t>(got);
  };
  std::vector<std::byte> bytes;
  bytes.reserve(end - begin);
  uint64_t done = 0;
  for (uint64_t got = 1; got > 0 && done < end; done += got) {
    const bool skipped = done < begin;
    const uint64_t part = std::min(kZipBlock, (skipped ? begin : end) - done);
    const size_t kept = bytes.size();
    bytes.resize(kept + part);
    got = take(std::span(bytes).subspan(kept));
    bytes.resize(skipped ? 0 : kept + got);
  }
  if (done != end) {
    broken(entry, text("it must have ", size, " bytes, got ", done));
  }
  // libzip compares the checksum when it has nothing more to give.
  if (std::byte beyond[1]; end == size && take(beyond) > 0) {
    broken(entry, text("it unpacks to more than the ", size, " bytes it states"));
  }
  return bytes;
}

ZipArchive::ZipArchive(std::span<const std::byte> file, std::string_view where, uint64_t limit)
    : state_(new State{std::string(where), file.size(), limit, limit, nullptr, {}, {}}) {
  require<DataError>(!file.empty(), where, ": is empty, not a zip archive");  // libzip would take it for one
  Reason reason;
  ZipHandle<zip_source_t> source(zip_source_buffer_create(file.data(), file.size(), 0, &reason.error));
  require<DataError>(source != nullptr, where, ": cannot read the archive: ", reason.text());
  state_->archive.reset(zip_open_from_source(source.get(), ZIP_RDONLY, &reason.error));
  require<DataError>(state_->archive != nullptr, where, ": cannot read the archive: ", reason.text());
  (void)source.release();  // the archive's own now
  const auto count = static_cast<uint64_t>(zip_get_num_entries(state_->archive.get(), 0));
  for (uint64_t i = 0; i < count; ++i) {
    zip_stat_t status;
    const bool known = zip_stat_index(state_->archive.get(), i, ZIP_FL_ENC_RAW, &status) == 0;
    constexpr auto wanted = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD |
                            ZIP_STAT_ENCRYPTION_METHOD;
    require<DataError>(known && (status.valid & wanted) == wanted, where, ": entry ", i,
                       " of the archive is broken");
    require<DataError>(status.encryption_method == ZIP_EM_NONE, where, ": entry ", quote(status.name),
                       " is encrypted");
    require<DataError>(status.comp_method == ZIP_CM_STORE || status.comp_method == ZIP_CM_DEFLATE, where,
                       ": entry ", quote(status.name), " must be stored or deflated, got method ",
                       status.comp_method);
    require<DataError>(state_->index.emplace(status.name, i).second, where, ": the archive has ",
                       quote(status.name), " twice");
    state_->entries.push_back({status.name, status.size, status.comp_size});
  }
}

ZipArchive::~ZipArchive() = default;

const std::vector<ZipEntry>& ZipArchive::entries() const {
  return state_->entries;
}

std::optional<size_t> ZipArchive::find(std::string_view name) const {
  const auto found = state_->index.find(name);
  return found == state_->index.end() ? std::optional<size_t>() : found->second;
}

std::vector<std::byte> ZipArchive::unpack(size_t entry, uint64_t skip) {
  const uint64_t size = state_->allowed(entry);
  state_->left -= size;
  return state_->read(entry, std::min(skip, size), size);
}

std::vector<std::byte> ZipArchive::first(size_t entry, uint64_t most) {
  return state_->read(entry, 0, std::min(most, state_->allowed(entry)));
}

std::vector<std::byte> zip_bytes(std::span<const ZipMember> members, bool deflate) {
  Reason reason;
  ZipHandle<zip_source_t> buffer(zip_source_buffer_create(nullptr, 0, 0, &reason.error));
  require<DataError>(buffer != nullptr, "zip: ", reason.text());
  zip_source_keep(buffer.get());  // zip_close frees one hold; the other is read from
  ZipHandle<zip_t> archive(zip_open_from_source(buffer.get(), ZIP_TRUNCATE, &reason.error));
  if (!archive) {
    zip_source_free(buffer.get());
    throw DataError(text("zip: ", reason.text()));
  }
  const auto check = [&](bool done) {
    require<DataError>(done, "zip: ", printable(zip_error_strerror(zip_get_error(archive.get()))));
  };
  for (const auto& member : members) {
    ZipHandle<zip_source_t> source(
        zip_source_buffer(archive.get(), member.bytes.data(), member.bytes.size(), 0));
    check(source != nullptr);
    const auto index = zip_file_add(archive.get(), member.name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
    check(index >= 0);
    (void)source.release();
    const auto entry = static_cast<zip_uint64_t>(index);
    check(zip_set_file_compression(archive.get(), entry, deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) == 0);
    constexpr zip_uint16_t first_of_january_1980 = 1 << 5 | 1;
    check(zip_file_set_dostime(archive.get(), entry, 0, first_of_january_1980, 0) == 0);
  }
  if (members.empty()) {  // libzip writes no archive without entries
    static constexpr unsigned char empty[22] = {'P', 'K', 5, 6};
    const auto bytes = std::as_bytes(std::span(empty));
    return {bytes.begin(), bytes.end()};
  }
  check(zip_close(archive.get()) == 0);
  (void)archive.release();
  zip_stat_t status;
  std::vector<std::byte> bytes;
  bool done = zip_source_stat(buffer.get(), &status) == 0 && zip_source_open(buffer.get()) == 0;
  if (done) {
    bytes.resize(status.size);
    done =
        zip_source_read(buffer.get(), bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size());
    zip_source_close(buffer.get());
  }
  require<DataError>(done, "zip: cannot read back the archive");
  return bytes;
}

}  // namespace weyl
