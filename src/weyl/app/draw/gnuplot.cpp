#include "weyl/app/draw/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/exec_words.h"
#include "weyl/core/find_program.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/temporary_folder.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

bool steers_gnuplot(std::string_view setting) {
  return setting.starts_with("GNU") || setting.starts_with("FIT_") || setting.starts_with("GDFONTPATH=");
}

struct Outcome {
  bool started = false;
  int code = 0;
  std::string messages;  // stdout and stderr
};

/// Runs gnuplot in a folder, with its default settings.
Outcome run_gnuplot(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  Outcome outcome;
  const std::string program = find_program("gnuplot"), messages = folder / "talk.txt";
  if (program.empty()) {
    return outcome;
  }
  arguments.insert(arguments.begin(), {"gnuplot", "-d"});
  ExecWords words(std::move(arguments)), environment(environment_for_child({}, steers_gnuplot));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_EXCL,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.path().c_str());
  pid_t child = 0;
  outcome.started =
      posix_spawn(&child, program.c_str(), &actions, nullptr, words.data(), environment.data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (outcome.started) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    outcome.messages = contents_of(messages);
  }
  return outcome;
}

std::string first_line(const std::string& messages) {
  const size_t begin = messages.find_first_not_of(" \t\r\n^");
  return begin == std::string::npos ? "" : messages.substr(begin, messages.find('\n', begin) - begin);
}

/// Messages without the one that is no fault of a picture: that a key of many lines is drawn smaller.
std::string without_remarks(const std::string& messages) {
  std::string faults;
  for (size_t at = 0; at < messages.size();) {
    const size_t end = std::min(messages.find('\n', at), messages.size());
    const std::string_view line = std::string_view(messages).substr(at, end - at);
    if (line.find("difficulty fitting plot titles into key") == std::string_view::npos) {
      faults.append(line).append("\n");
    }
    at = end + 1;
  }
  return faults;
}

/// A picture as its format begins and ends.
bool is_whole(const std::string& ending, std::string_view bytes) {
  if (ending == ".png") {
    return bytes.starts_with("\x89PNG\r\n\x1a\n") && bytes.ends_with("IEND\xae\x42\x60\x82");
  }
  const size_t last = bytes.find_last_not_of(" \n");
  return bytes.starts_with("<?xml") && last != std::string_view::npos &&
         bytes.substr(0, last + 1).ends_with("</svg>");
}

void replace_all(std::string& words, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = words.find(what, at)) != std::string::npos; at += by.size()) {
    words.replace(at, what.size(), by);
  }
}

/// At most so many characters of visible words.
std::string cut_words(std::string words, size_t most) {
  size_t characters = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool begins = (words[i] & 0xc0) != 0x80;
    characters += begins ? 1 : 0;
    if (begins && characters > most) {
      return words.substr(0, i) + "...";
    }
  }
  return words;
}

/// All of ASCII but letters and blanks by octal numbers, which a digit would prolong: nothing is left that ends the
/// string or that gnuplot replaces in it. (In single quotes gnuplot 5.4 does not read '''' as the one quote that its
/// manual says.)
std::string quoted(std::string words) {
  // gnuplot hands these to the SVG as they stand, where one is an error and the other a character by its number.
  replace_all(words, "]]>", "]] >");
  replace_all(words, "&#", "& #");
  std::string string = "\"";
  for (const char c : words) {
    const bool plain = (c & 0x80) != 0 || c == ' ' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (plain) {
      string += c;
    } else {
      const auto octal = [&](int shift) { return static_cast<char>('0' + (c >> shift & 7)); };
      string += {'\\', octal(6), octal(3), octal(0)};
    }
  }
  return string + "\"";
}

}  // namespace

std::string gnuplot_string(std::string_view words, size_t most) {
  return quoted(cut_words(visible(words), most));
}

std::string gnuplot_tic_label(std::string_view words) {
  constexpr size_t most = 30;  // gnuplot complains when labels leave no room for the picture
  std::string label = cut_words(visible(words), most);
  replace_all(label, "%", "%%");
  return quoted(std::move(label));
}

std::string into_png_and_svg(const std::string& plots, int64_t width, int64_t height, int font_size) {
  std::string script;
  for (const auto& [terminal, ending] :
       {std::pair("pngcairo", ".png"), std::pair("svg dynamic background rgb 'white'", ".svg")}) {
    script += text("set term ", terminal, " size ", width, ",", height, " font 'DejaVu Sans,", font_size,
                   "'\nset output 'picture", ending, "'\n", plots, "set output\n");
  }
  return script;
}

void draw_script(const std::string& script, const std::vector<std::string>& endings,
                 const std::string& path) {
  const TemporaryFolder folder("plot");
  write_file_atomically(folder / "script.gp", script);
  const Outcome outcome = run_gnuplot(folder, {"script.gp"});
  require<Error>(outcome.started, "gnuplot: must be installed to draw plots (Debian package gnuplot-nox)");
  const std::string said = first_line(without_remarks(outcome.messages));
  require<DataError>(outcome.code == 0 && said.empty(), path, ": gnuplot must draw it, but said: ",
                     said.empty() ? text("exit code ", outcome.code) : said);
  std::vector<std::unique_ptr<AtomicFile>> pictures;
  for (const std::string& ending : endings) {
    const std::string made = folder / ("picture" + ending);
    std::error_code error;
    const std::string bytes = fs::is_regular_file(fs::symlink_status(made, error)) ? contents_of(made) : "";
    require<DataError>(is_whole(ending, bytes), path, ending, ": gnuplot must draw it whole, got ",
                       bytes.size(), " bytes (is the disk full?)");
    pictures.push_back(std::make_unique<AtomicFile>(path + ending, Existing::replace_link));
    pictures.back()->write(bytes);
  }
  for (const auto& picture : pictures) {
    picture->commit();
  }
}

void PlotScript::add(const std::string& part) {
  line_ += (line_.empty() ? "plot " : ", \\\n  ") + part;
}

void PlotScript::plot(const std::string& block, const std::string& how, const std::string& title) {
  if (block.find_first_not_of('\n') == std::string::npos) {
    return;
  }
  const std::string name = text("$data", blocks_++);
  data_ += name + " << EOD\n" + block + "EOD\n";
  add(name + " " + how + (title.empty() ? " notitle" : " title " + gnuplot_string(title)));
}

void PlotScript::next(const std::string& settings) {
  plots_ += line_.empty() ? "set multiplot next\n" : settings + line_ + "\n";
  line_.clear();
}

void PlotScript::draw(const std::string& layout, int64_t width, int64_t height, int font_size,
                      const std::string& path) const {
  draw_script("reset\nset encoding utf8\n" + data_ +
                  into_png_and_svg(layout + plots_ + "unset multiplot\n", width, height, font_size),
              {".png", ".svg"}, path);
}

std::string gnuplot_version() {
  const TemporaryFolder folder("plot");
  const Outcome outcome = run_gnuplot(folder, {"--version"});
  return outcome.started && outcome.code == 0 ? first_line(outcome.messages) : "";
}

}  // namespace weyl
