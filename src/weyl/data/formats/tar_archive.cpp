#include "weyl/data/formats/tar_archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"

namespace weyl {

struct TarArchive::State {
  std::string where, name;
  archive* reader = nullptr;

  explicit State(std::string_view place) : where(place), reader(archive_read_new()) {
    require<DataError>(reader != nullptr, where, ": there is no memory to unpack it");
    archive_read_support_format_tar(reader);
    archive_read_support_filter_gzip(reader);
    archive_read_support_filter_bzip2(reader);
    archive_read_support_filter_xz(reader);
    archive_read_support_filter_zstd(reader);
  }
  ~State() { archive_read_free(reader); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Without the place; empty: nothing is wrong.
  std::string fault_of(int64_t code) const {
    if (code >= ARCHIVE_WARN) {
      return {};
    }
    const char* reason = archive_error_string(reader);
    return text("cannot read the archive: ", printable(reason == nullptr ? "no reason given" : reason));
  }
  void check(int64_t code) const {
    const std::string fault = fault_of(code);
    require<DataError>(fault.empty(), where, ": ", fault);
  }
};

namespace {

constexpr size_t kArchiveBlock = size_t{1} << 17;

class Entry : public ByteSource {
 public:
  explicit Entry(std::shared_ptr<TarArchive::State> state) : state_(std::move(state)) {}
  size_t read(std::span<std::byte> out) override {
    if (!fault_.empty()) {
      return 0;
    }
    const la_ssize_t size = archive_read_data(state_->reader, out.data(), out.size());
    fault_ = state_->fault_of(size);
    return static_cast<size_t>(std::max<la_ssize_t>(size, 0));
  }
  std::string fault() const override { return fault_; }

 private:
  std::string fault_;
  std::shared_ptr<TarArchive::State> state_;
};

}  // namespace

bool is_tar(std::string_view path) {
  constexpr std::array<std::string_view, 8> ends{".tar",    ".tgz",     ".tbz2",   ".txz",
                                                 ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"};
  return std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
}

TarArchive::TarArchive(const std::string& path) : state_(std::make_shared<State>(path)) {
  const MappedFile there(path);  // says what is wrong with the path
  state_->check(archive_read_open_filename(state_->reader, path.c_str(), kArchiveBlock));
}

TarArchive::TarArchive(std::span<const std::byte> file, std::string_view where)
    : state_(std::make_shared<State>(where)) {
  state_->check(archive_read_open_memory(state_->reader, file.data(), file.size()));
}

TarArchive::~TarArchive() = default;

bool TarArchive::next() {
  while (true) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(state_->reader, &entry);
    if (code == ARCHIVE_EOF) {
      return false;
    }
    state_->check(code);
    if (archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr) {
      const char* name = archive_entry_pathname(entry);
      state_->name = name == nullptr ? "a file without a name" : name;
      return true;
    }
  }
}

const std::string& TarArchive::name() const {
  return state_->name;
}

std::unique_ptr<ByteSource> TarArchive::bytes() {
  return std::make_unique<Entry>(state_);
}

}  // namespace weyl
