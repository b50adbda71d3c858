#include "weyl/data/containers/archives_module.h"

#include <archive.h>
#include <archive_entry.h>
#include <zip.h>
#include <algorithm>
#include <map>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// How libzip's objects end.
struct ZipDiscard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};

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

class OpenZip : public ZipArchive::State {
 public:
  OpenZip(std::span<const std::byte> file, std::string_view where, uint64_t limit);

  const std::vector<ZipEntry>& entries() const override { return entries_; }
  std::optional<size_t> find(std::string_view name) const override {
    const auto found = index_.find(name);
    return found == index_.end() ? std::optional<size_t>() : found->second;
  }
  std::vector<std::byte> unpack(size_t entry, uint64_t skip) override {
    const uint64_t size = allowed(entry);
    left_ -= size;
    return read(entry, std::min(skip, size), size);
  }
  std::vector<std::byte> first(size_t entry, uint64_t most) override {
    return read(entry, 0, std::min(most, allowed(entry)));
  }

 private:
  /// The size of an entry, which must not lead beyond the limit.
  uint64_t allowed(size_t entry) const {
    const auto& [name, size, packed] = entries_.at(entry);
    require<DataError>(size <= left_, where_, ": entry ", quote(name), " of ", size,
                       " bytes would unpack the archive beyond its limit of ", limit_,
                       " bytes (a zip bomb?)");
    return size;
  }
  std::vector<std::byte> read(size_t entry, uint64_t begin, uint64_t end);
  [[noreturn]] void broken(size_t entry, const std::string& why) const {
    throw DataError(text(where_, ": entry ", quote(entries_[entry].name), " is broken: ", why));
  }

  std::string where_;
  uint64_t file_size_ = 0, limit_ = 0, left_ = 0;
  ZipHandle<zip_t> archive_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, size_t, std::less<>> index_;
};

/// Bytes [begin, end) of an entry as it unpacks; at its end the checksum is compared.
std::vector<std::byte> OpenZip::read(size_t entry, uint64_t begin, uint64_t end) {
  const auto& [name, size, packed] = entries_[entry];
  // Deflate expands at most 1032 times: a larger claim is false and not worth the time.
  constexpr uint64_t deflate_ratio = 1032, slack = 1024;
  require<DataError>(packed <= file_size_ && size <= packed * deflate_ratio + slack, where_, ": entry ",
                     quote(name), " cannot have ", size, " bytes, it is packed into ", packed, " of ",
                     file_size_);
  const ZipHandle<zip_file_t> file(zip_fopen_index(archive_.get(), entry, 0));
  if (!file) {
    broken(entry, printable(zip_error_strerror(zip_get_error(archive_.get()))));
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

OpenZip::OpenZip(std::span<const std::byte> file, std::string_view where, uint64_t limit)
    : where_(where), file_size_(file.size()), limit_(limit), left_(limit) {
  require<DataError>(!file.empty(), where, ": is empty, not a zip archive");  // libzip would take it for one
  Reason reason;
  ZipHandle<zip_source_t> source(zip_source_buffer_create(file.data(), file.size(), 0, &reason.error));
  require<DataError>(source != nullptr, where, ": cannot read the archive: ", reason.text());
  archive_.reset(zip_open_from_source(source.get(), ZIP_RDONLY, &reason.error));
  require<DataError>(archive_ != nullptr, where, ": cannot read the archive: ", reason.text());
  (void)source.release();  // the archive's own now
  const auto count = static_cast<uint64_t>(zip_get_num_entries(archive_.get(), 0));
  for (uint64_t i = 0; i < count; ++i) {
    zip_stat_t status;
    const bool known = zip_stat_index(archive_.get(), i, ZIP_FL_ENC_RAW, &status) == 0;
    constexpr auto wanted = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD |
                            ZIP_STAT_ENCRYPTION_METHOD;
    require<DataError>(known && (status.valid & wanted) == wanted, where, ": entry ", i,
                       " of the archive is broken");
    require<DataError>(status.encryption_method == ZIP_EM_NONE, where, ": entry ", quote(status.name),
                       " is encrypted");
    require<DataError>(status.comp_method == ZIP_CM_STORE || status.comp_method == ZIP_CM_DEFLATE, where,
                       ": entry ", quote(status.name), " must be stored or deflated, got method ",
                       status.comp_method);
    require<DataError>(index_.emplace(status.name, i).second, where, ": the archive has ", quote(status.name),
                       " twice");
    entries_.push_back({status.name, status.size, status.comp_size});
  }
}

/// The bytes of a file share it, so that it is open as long as they are.
class OpenTar : public TarArchive::State, public std::enable_shared_from_this<OpenTar> {
 public:
  explicit OpenTar(std::string_view where) : where_(where), reader_(archive_read_new()) {
    require<DataError>(reader_ != nullptr, where_, ": there is no memory to unpack it");
    archive_read_support_format_tar(reader_);
    archive_read_support_filter_gzip(reader_);
    archive_read_support_filter_bzip2(reader_);
    archive_read_support_filter_xz(reader_);
    archive_read_support_filter_zstd(reader_);
  }
  ~OpenTar() override { archive_read_free(reader_); }
  OpenTar(const OpenTar&) = delete;
  OpenTar& operator=(const OpenTar&) = delete;

  archive* reader() const { return reader_; }
  bool next() override;
  const std::string& name() const override { return name_; }
  std::unique_ptr<ByteSource> bytes() override;

  /// Without the place; empty: nothing is wrong.
  std::string fault_of(int64_t code) const {
    if (code >= ARCHIVE_WARN) {
      return {};
    }
    const char* reason = archive_error_string(reader_);
    return text("cannot read the archive: ", printable(reason == nullptr ? "no reason given" : reason));
  }
  void check(int64_t code) const {
    const std::string fault = fault_of(code);
    require<DataError>(fault.empty(), where_, ": ", fault);
  }

 private:
  std::string where_, name_;
  archive* reader_ = nullptr;
};

constexpr size_t kArchiveBlock = size_t{1} << 17;

class TarEntry : public ByteSource {
 public:
  explicit TarEntry(std::shared_ptr<OpenTar> tar) : tar_(std::move(tar)) {}
  size_t read(std::span<std::byte> out) override {
    if (!fault_.empty()) {
      return 0;
    }
    const la_ssize_t size = archive_read_data(tar_->reader(), out.data(), out.size());
    fault_ = tar_->fault_of(size);
    return static_cast<size_t>(std::max<la_ssize_t>(size, 0));
  }
  std::string fault() const override { return fault_; }

 private:
  std::string fault_;
  std::shared_ptr<OpenTar> tar_;
};

bool OpenTar::next() {
  while (true) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(reader_, &entry);
    if (code == ARCHIVE_EOF) {
      return false;
    }
    check(code);
    if (archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr) {
      const char* name = archive_entry_pathname(entry);
      name_ = name == nullptr ? "a file without a name" : name;
      return true;
    }
  }
}

std::unique_ptr<ByteSource> OpenTar::bytes() {
  return std::make_unique<TarEntry>(shared_from_this());
}

}  // namespace

void weyl_zip_open(std::span<const std::byte> file, std::string_view where, uint64_t limit,
                   std::unique_ptr<ZipArchive::State>& opened) {
  opened = std::make_unique<OpenZip>(file, where, limit);
}

void weyl_zip_bytes(std::span<const ZipMember> members, bool deflate, std::vector<std::byte>& bytes) {
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
    const auto all = std::as_bytes(std::span(empty));
    bytes.assign(all.begin(), all.end());
    return;
  }
  check(zip_close(archive.get()) == 0);
  (void)archive.release();
  zip_stat_t status;
  bool done = zip_source_stat(buffer.get(), &status) == 0 && zip_source_open(buffer.get()) == 0;
  if (done) {
    bytes.resize(status.size);
    done =
        zip_source_read(buffer.get(), bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size());
    zip_source_close(buffer.get());
  }
  require<DataError>(done, "zip: cannot read back the archive");
}

void weyl_tar_open_file(const std::string& path, std::shared_ptr<TarArchive::State>& opened) {
  const auto tar = std::make_shared<OpenTar>(path);
  tar->check(archive_read_open_filename(tar->reader(), path.c_str(), kArchiveBlock));
  opened = tar;
}

void weyl_tar_open(std::span<const std::byte> file, std::string_view where,
                   std::shared_ptr<TarArchive::State>& opened) {
  const auto tar = std::make_shared<OpenTar>(where);
  tar->check(archive_read_open_memory(tar->reader(), file.data(), file.size()));
  opened = tar;
}

}  // namespace weyl
