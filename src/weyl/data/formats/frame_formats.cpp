#include "weyl/data/formats/frame_formats.h"

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/data/formats/ase_lmdb.h"
#include "weyl/data/formats/deepmd.h"
#include "weyl/data/formats/extended_xyz.h"
#include "weyl/data/formats/molecule_npz.h"
#include "weyl/data/formats/qm9.h"
#include "weyl/data/formats/sdf.h"

namespace weyl {
namespace {

template <class Reader>
std::unique_ptr<FrameReader> text_reader(std::unique_ptr<ByteSource> source, std::string_view where) {
  return std::make_unique<Reader>(std::move(source), where);
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
      {.holds = is_deepmd, .open = path_reader<DeepmdReader>, .folders = "DeePMD"}};
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
