#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/formats/byte_source.h"
#include "weyl/data/formats/frame_reader.h"

namespace weyl {

/// A format of frames of atoms: how its files end (a folder has no ending), what tells it from others of
/// these endings, and its reader. A text may also be packed by gzip, lie in a folder with others, or in an
/// archive. The table is in frame_formats.cpp; to add a format: its reader, and a row there.
struct FrameFormat {
  std::vector<std::string_view> endings{};
  // A text has:
  bool (*begins)(std::string_view begin_of_file) = nullptr;  // null: the ending is enough
  std::unique_ptr<FrameReader> (*open_text)(std::unique_ptr<ByteSource>, std::string_view where) = nullptr;
  // Another file, or a folder, has:
  bool (*holds)(const std::string& path) = nullptr;
  std::unique_ptr<FrameReader> (*open)(const std::string& path) = nullptr;
  bool in_folders = false;   // whether folders of such files, as of texts, are read
  const char* folders = "";  // whose folders are of the format
};

/// Whether a name is that of a text with frames.
bool is_frame_text(std::string_view path);
/// Whether it is that of a file that is read in folders of such, too.
bool lies_in_folders(std::string_view path);

/// The format of such a text; `begin` gives its first bytes, where the name alone does not tell.
const FrameFormat& format_of_frame_text(std::string_view path,
                                        const std::function<std::vector<std::byte>()>& begin);

/// The format of a folder, and of a file that is no text by its name; null for none.
const FrameFormat* frame_format_of_folder(const std::string& path);
const FrameFormat* frame_format_of_file(std::string_view path);

/// How files with frames end, each ending once: ".xyz", ".xyz.gz", ...; archives and folders left out.
std::vector<std::string> frame_endings();

/// What is read, in short, for messages: ".xyz, .extxyz, ..., .npz, .tar, DeePMD".
std::string frame_format_names();

/// For messages, too: the endings of texts, of other files or of those in folders, with `last` before the last one,
/// and whose folders are read.
enum class FrameEndings { texts, others, in_folders };
std::string frame_endings_line(FrameEndings of, std::string_view last = ", ");
std::string frame_folders();

}  // namespace weyl
