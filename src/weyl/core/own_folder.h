#pragma once

#include <string>
#include <string_view>

namespace weyl {

/// Folders in which the program writes files under names of its own: those of runs and sweeps, and the parts that `data make`
/// goes on from. One may come from somebody else, with links in it by which any file could be overwritten, or pipes at
/// which opening waits for ever. Whoever writes into a folder that was there already asks these first.

/// What a name of ours stands for.
enum class Plain { file, folder, either };

/// DataError unless at `path` there is nothing, or a plain file (a plain folder): no link, no pipe, no socket, no device. The
/// message says that `writer` ("a run") writes there.
void require_plain(const std::string& path, Plain kind, std::string_view writer);

/// The same of a folder, which may be absent, and of all that is in it, which must be plain files.
void require_plain_files_in(const std::string& folder, std::string_view writer);

/// Opens a plain file with these flags of open(2) and returns its descriptor. A link is not followed and a pipe not waited
/// for. DataError: it cannot be opened, or is no plain file.
int open_plain(const std::string& path, int flags);

/// Makes a folder and those above it; false when something has its name already. Each new name is put on the disk, since what
/// is in a folder is lost with the folder's own name. DataError when it cannot be made.
bool make_new_folder(const std::string& path);

/// The same where a folder of that name, or a link to one, is as good as a new one. DataError when something else has it.
void make_folder(const std::string& path);

/// Removes the unfinished file (core/atomic_file.h) of this path, which nobody may be writing. What has another kind of name,
/// or is no plain file, stays.
void remove_if_unfinished(const std::string& path);

}  // namespace weyl
