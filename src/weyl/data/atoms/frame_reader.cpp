#include "weyl/data/atoms/frame_reader.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/atoms/ase_lmdb.h"
#include "weyl/data/atoms/deepmd.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/atoms/molecule3d.h"
#include "weyl/data/atoms/molecule_npz.h"
#include "weyl/data/atoms/options.h"
#include "weyl/data/atoms/pcqm4mv2.h"
#include "weyl/data/atoms/qm9.h"
#include "weyl/data/atoms/sdf.h"
#include "weyl/data/containers/archives.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPeeked = 4096;  // bytes, in which the second line of an xyz file begins

/// As the notes that some systems lay beside every file.
bool is_hidden(const std::string& path) {
  return fs::path(path).filename().string().starts_with('.');
}

/// The reader of a text, whose name says what it is; `where` names it in messages.
std::unique_ptr<FrameReader> open_text(std::unique_ptr<ByteSource> source, std::string_view name,
                                       std::string_view where) {
  const FrameFormat& format = format_of_frame_text(name, [&] { return peek(source, kPeeked); });
  return format.open_text(std::move(source), where);
}

/// Readers one after the other; the last one is kept for its words after the end.
class ReaderOfSeveral : public FrameReader {
 public:
  void name_types(const std::vector<std::string>& symbols) override { symbols_ = symbols; }
  std::string where() const override { return reader_ ? reader_->where() : std::string(); }
  std::string_view unit_of(std::string_view name) const override {
    return reader_ ? reader_->unit_of(name) : std::string_view();
  }
  std::string_view stated_unit_of(std::string_view name) const override {
    return reader_ ? reader_->stated_unit_of(name) : std::string_view();
  }
  std::span<const UnreadUnit> unread_units() const override {
    return reader_ ? reader_->unread_units() : std::span<const UnreadUnit>();
  }

 protected:
  void begin(std::unique_ptr<FrameReader> reader) {
    reader_ = std::move(reader);
    reader_->name_types(symbols_);
  }
  bool has_begun() const { return reader_ != nullptr; }
  FrameReader& current() { return *reader_; }

 private:
  std::unique_ptr<FrameReader> reader_;
  std::vector<std::string> symbols_;  // of types
};

/// The frames of all of them.
class Chain : public ReaderOfSeveral {
 public:
  bool next(AtomsFrame& frame) override {
    while (!has_begun() || !current().next(frame)) {
      auto following = open_next();
      if (!following) {
        return false;
      }
      begin(std::move(following));
    }
    return true;
  }

 private:
  /// Null when there is none.
  virtual std::unique_ptr<FrameReader> open_next() = 0;
};

class FolderReader : public Chain {
 public:
  explicit FolderReader(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  std::optional<FramePlace> place() override {
    if (!in_any_order()) {
      return std::nullopt;
    }
    if (!has_begun()) {
      begin(open_next());
    }
    FramePlace place = current().place().value();
    place.at |= static_cast<uint64_t>(next_ - 1) << kFileShift;
    return place;
  }
  void go_to(const FramePlace& place) override {
    const auto file = static_cast<size_t>(place.at >> kFileShift);
    require<DataError>(file < paths_.size(), "a folder of ", paths_.size(), " files: must have file ",
                       file + 1);
    in_any_order_ =
        true;  // who knows a place has been told that it may be gone to: no need to open every file
    if (file + 1 != next_) {
      next_ = file;
      begin(open_next());
      if (place.at << (64 - kFileShift) == 0 && place.beside == 0) {
        return;  // its beginning, where messages count frames
      }
    }
    current().go_to({place.at & ((uint64_t{1} << kFileShift) - 1), place.beside});
  }
  /// The first files of so many groups; of a single file its own.
  std::vector<FramePlace> cuts() override {
    std::vector<FramePlace> all;
    if (!in_any_order()) {
      return all;
    }
    constexpr size_t most = 64;  // each reader looks through the folder
    const size_t groups = std::min(paths_.size(), most);
    for (size_t group = 1; group < groups; ++group) {
      all.push_back({static_cast<uint64_t>(group * paths_.size() / groups) << kFileShift});
    }
    return paths_.size() == 1 ? open_frames(paths_[0])->cuts() : all;
  }

 private:
  std::unique_ptr<FrameReader> open_next() override {
    return next_ == paths_.size() ? nullptr : open_frames(paths_[next_++]);
  }

  /// Whether all files are of readers that can go to any frame.
  bool in_any_order() {
    if (!in_any_order_) {
      in_any_order_ = paths_.size() < (size_t{1} << (64 - kFileShift)) &&
                      std::ranges::all_of(
                          paths_,
                          [](const std::string& path) {
                            const auto first = open_frames(path)->place();
                            return first && first->at >> kFileShift == 0;
                          });
    }
    return *in_any_order_;
  }

  static constexpr int kFileShift = 48;
  std::vector<std::string> paths_;
  size_t next_ = 0;
  std::optional<bool> in_any_order_;
};

/// The same without the files, or their ends, that cannot be read.
class ReadableFolderReader : public ReaderOfSeveral {
 public:
  ReadableFolderReader(std::vector<std::string> paths, FileFault fault)
      : paths_(std::move(paths)), fault_(std::move(fault)) {}

  bool next(AtomsFrame& frame) override {
    for (;;) {
      try {
        if (reading_ && current().next(frame)) {
          any_ = true;
          return true;
        }
        reading_ = false;
        if (next_ == paths_.size()) {
          break;
        }
        begin(open_frames(paths_[next_++]));
        reading_ = true;
      } catch (const DataError& error) {
        reading_ = false;
        first_ = first_.empty() ? error.what() : first_;
        fault_(error.what());
      }
    }
    require<DataError>(any_, first_);
    return false;
  }

 private:
  std::vector<std::string> paths_;
  FileFault fault_;
  bool reading_ = false, any_ = false;
  std::string first_;  // fault
  size_t next_ = 0;
};

class TarReader : public Chain {
 public:
  explicit TarReader(const std::string& path) : path_(path), archive_(path) {}

 private:
  std::unique_ptr<FrameReader> open_next() override {
    while (archive_.next()) {
      if (is_frame_text(archive_.name()) && !archive_.name().ends_with(".gz") &&
          !is_hidden(archive_.name())) {
        found_ = true;
        return open_text(archive_.bytes(), archive_.name(), text(path_, ": ", printable(archive_.name())));
      }
    }
    require<DataError>(found_, path_, ": must hold files ", frame_endings_line(FrameEndings::texts, " or "),
                       ", holds none");
    return nullptr;
  }

  std::string path_;
  TarArchive archive_;
  bool found_ = false;
};

/// Those of a folder that hold frames, by name.
std::vector<std::string> paths_of_frames(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (!is_hidden(path) &&
        (entry.is_directory() ? frame_format_of_folder(path) != nullptr : lies_in_folders(path))) {
      paths.push_back(path);
    }
  }
  require<DataError>(!error, folder, ": cannot read the folder: ", error.message());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

std::optional<FramePlace> place_of(const TextLines& lines) {
  const auto byte = lines.place();
  return byte ? std::optional(FramePlace{*byte}) : std::nullopt;
}

std::optional<FramePlace> place_of(FrameReader& reader, const TextLines& beside) {
  const auto place = reader.place();
  const auto byte = beside.place();
  return place && byte ? std::optional(FramePlace{place->at, *byte}) : std::nullopt;
}

std::vector<std::string> files_of_frames(const std::string& path) {
  std::vector<std::string> files;
  if (!fs::is_directory(path)) {
    files.push_back(path);
    if (const std::string table = path + ".csv"; fs::exists(table)) {
      files.push_back(table);
    }
    return files;
  }
  if (frame_format_of_folder(path) == nullptr) {
    for (const std::string& inside : paths_of_frames(path)) {
      std::ranges::move(files_of_frames(inside), std::back_inserter(files));
    }
    return files;
  }
  std::vector<std::string> folders{path};
  for (size_t i = 0; i < folders.size(); ++i) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folders[i], error)) {
      const std::string name = entry.path().filename().string();
      std::error_code none;  // of what is gone by now
      if (entry.is_regular_file(none)) {
        files.push_back(entry.path().string());
      } else if (i == 0 && name.starts_with("set.") && entry.is_directory(none)) {
        folders.push_back(entry.path().string());
      }
    }
    require<DataError>(!error, folders[i], ": cannot read the folder: ", error.message());
  }
  std::ranges::sort(files);
  return files;
}

bool holds_frames(const std::string& path) {
  if (fs::is_directory(path)) {
    return frame_format_of_folder(path) != nullptr || !paths_of_frames(path).empty();
  }
  const FrameFormat* other = frame_format_of_file(path);
  return is_frame_text(path) || is_tar(path) || (other != nullptr && other->holds(path));
}

std::unique_ptr<FrameReader> open_readable_frames(const std::string& path, FileFault fault) {
  if (fs::is_directory(path) && frame_format_of_folder(path) == nullptr) {
    if (auto paths = paths_of_frames(path); !paths.empty()) {
      return std::make_unique<ReadableFolderReader>(std::move(paths), std::move(fault));
    }
  }
  return open_frames(path);
}

std::unique_ptr<FrameReader> open_frames(const std::string& path) {
  if (fs::is_directory(path)) {
    if (const FrameFormat* format = frame_format_of_folder(path)) {
      return format->open(path);
    }
    auto paths = paths_of_frames(path);
    require<DataError>(!paths.empty(), path, ": must hold files ",
                       frame_endings_line(FrameEndings::in_folders, " or "), ", or folders of ",
                       frame_folders(), ", holds none");
    return std::make_unique<FolderReader>(std::move(paths));
  }
  if (is_tar(path)) {
    return std::make_unique<TarReader>(path);
  }
  if (const FrameFormat* format = frame_format_of_file(path)) {
    return format->open(path);
  }
  require<DataError>(is_frame_text(path), path, ": frames of atoms must be ",
                     frame_endings_line(FrameEndings::texts), " (or .gz of them), ",
                     frame_endings_line(FrameEndings::others), ", .tar (.gz, .bz2, .xz, .zst) or a folder");
  auto frames = open_text(open_bytes(path), path, path);
  if (const std::string table = path + ".csv"; path.ends_with(".sdf") && is_qm9_table(table)) {
    return std::make_unique<Qm9TableReader>(std::move(frames), open_bytes(table), table);
  }
  return frames;
}

std::unique_ptr<FrameReader> open_frames_of_all(std::vector<std::string> paths) {
  return std::make_unique<FolderReader>(std::move(paths));
}

namespace {

template <class Reader>
std::unique_ptr<FrameReader> text_reader(std::unique_ptr<ByteSource> source, std::string_view where) {
  return std::make_unique<Reader>(std::move(source), where);
}

std::unique_ptr<FrameReader> open_pcqm4mv2(const std::string& folder) {
  return Pcqm4mv2Files(folder, Pcqm4mv2DataOptions{}.conformers).open();
}

template <class Reader>
std::unique_ptr<FrameReader> path_reader(const std::string& path) {
  return std::make_unique<Reader>(path);
}

/// The formats, in the order in which a path is recognised: QM9's files end as extended xyz does, and are
/// told by their second line.
const std::vector<FrameFormat>& formats() {
  static const std::vector<FrameFormat> all{
      {.endings = {".xyz", ".extxyz"}, .begins = is_qm9, .open_text = text_reader<Qm9Reader>},
      {.endings = {".xyz", ".extxyz"}, .open_text = text_reader<ExtendedXyzReader>},
      {.endings = {".sdf", ".sd", ".mol"}, .open_text = text_reader<SdfReader>},
      {.endings = {".npz"}, .holds = is_molecule_npz, .open = path_reader<MoleculeNpzReader>},
      {.endings = {".aselmdb", ".lmdb"},
       .holds = [](const std::string& /*path*/) { return true; },  // what else is in LMDB, the reader says
       .open = path_reader<AseLmdbReader>,
       .in_folders = true},
      {.holds = is_deepmd, .open = path_reader<DeepmdReader>, .folders = "DeePMD"},
      {.holds = is_pcqm4mv2, .open = open_pcqm4mv2, .folders = "PCQM4Mv2"},
      {.holds = is_molecule3d, .open = open_molecule3d, .folders = "Molecule3D"}};
  return all;
}

bool is_text(const FrameFormat& format) {
  return format.open_text != nullptr;
}

bool ends_so(const FrameFormat& format, std::string_view path) {
  if (is_text(format) && path.ends_with(".gz")) {
    path.remove_suffix(3);
  }
  return std::ranges::any_of(format.endings, [&](std::string_view end) { return path.ends_with(end); });
}

template <class Holds>
const FrameFormat* find_format(Holds holds) {
  const auto found = std::ranges::find_if(formats(), holds);
  return found == formats().end() ? nullptr : &*found;
}

bool is_of(const FrameFormat& format, FrameEndings of) {
  return of == FrameEndings::in_folders ? is_text(format) || format.in_folders
                                        : is_text(format) == (of == FrameEndings::texts);
}

/// Each ending once.
std::vector<std::string_view> endings(FrameEndings of) {
  std::vector<std::string_view> all;
  for (const FrameFormat& format : formats()) {
    for (const std::string_view end : format.endings) {
      if (is_of(format, of) && std::ranges::find(all, end) == all.end()) {
        all.push_back(end);
      }
    }
  }
  return all;
}

}  // namespace

bool is_frame_text(std::string_view path) {
  return find_format([&](const FrameFormat& f) { return is_text(f) && ends_so(f, path); }) != nullptr;
}

bool lies_in_folders(std::string_view path) {
  return find_format([&](const FrameFormat& f) {
           return is_of(f, FrameEndings::in_folders) && ends_so(f, path);
         }) != nullptr;
}

const FrameFormat& format_of_frame_text(std::string_view path,
                                        const std::function<std::vector<std::byte>()>& begin) {
  const FrameFormat* format = find_format([&](const FrameFormat& f) {
    if (!is_text(f) || !ends_so(f, path)) {
      return false;
    }
    if (f.begins == nullptr) {
      return true;
    }
    const auto bytes = begin();
    return f.begins({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
  require<DataError>(format != nullptr, path, ": must be ", frame_endings_line(FrameEndings::texts, " or "));
  return *format;
}

const FrameFormat* frame_format_of_folder(const std::string& path) {
  return find_format([&](const FrameFormat& f) { return f.endings.empty() && f.holds(path); });
}

const FrameFormat* frame_format_of_file(std::string_view path) {
  return find_format([&](const FrameFormat& f) { return !is_text(f) && ends_so(f, path); });
}

std::vector<std::string> frame_endings() {
  std::vector<std::string> all;
  for (const std::string_view end : endings(FrameEndings::texts)) {
    all.emplace_back(end);
    all.push_back(text(end, ".gz"));
  }
  for (const std::string_view end : endings(FrameEndings::others)) {
    all.emplace_back(end);
  }
  return all;
}

std::string frame_format_names() {
  return text(frame_endings_line(FrameEndings::texts), ", ", frame_endings_line(FrameEndings::others),
              ", .tar, ", frame_folders());
}

std::string frame_endings_line(FrameEndings of, std::string_view last) {
  const auto all = endings(of);
  std::string line;
  for (size_t i = 0; i < all.size(); ++i) {
    line += text(i == 0 ? "" : i + 1 < all.size() ? ", " : last, all[i]);
  }
  return line;
}

std::string frame_folders() {
  std::string line;
  for (const FrameFormat& format : formats()) {
    if (format.endings.empty()) {
      line += text(line.empty() ? "" : ", ", format.folders);
    }
  }
  return line;
}

}  // namespace weyl
