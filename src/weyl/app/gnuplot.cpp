#include "weyl/app/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "weyl/core/check.h"

extern char** environ;

namespace weyl {
namespace {

struct Outcome {
  bool started = false;
  int code = 0;
  std::string talk;  // stdout and stderr
};

// Runs gnuplot with a script on its standard input.
Outcome run_gnuplot(std::vector<std::string> arguments, const std::string& script) {
  Outcome outcome;
  char script_name[] = "/tmp/weyl-plot-XXXXXX", talk_name[] = "/tmp/weyl-talk-XXXXXX";
  const int in = mkstemp(script_name), out = mkstemp(talk_name);
  require<Error>(in >= 0 && out >= 0, "/tmp: must be writable for a plot, but no file can be made there");
  unlink(script_name);
  unlink(talk_name);
  size_t written = 0;
  while (written < script.size()) {
    const ssize_t n = write(in, script.data() + written, script.size() - written);
    if (n <= 0) {
      close(in);
      close(out);
      throw Error("/tmp: must hold a plot's data, but a write failed");
    }
    written += static_cast<size_t>(n);
  }
  lseek(in, 0, SEEK_SET);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
  arguments.insert(arguments.begin(), "gnuplot");
  std::vector<char*> argv;
  for (std::string& a : arguments) {
    argv.push_back(a.data());
  }
  argv.push_back(nullptr);
  pid_t child = 0;
  outcome.started = posix_spawnp(&child, "gnuplot", &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (outcome.started) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    lseek(out, 0, SEEK_SET);
    std::array<char, 4096> buffer;
    for (ssize_t n = 0; (n = read(out, buffer.data(), buffer.size())) > 0;) {
      outcome.talk.append(buffer.data(), static_cast<size_t>(n));
    }
  }
  close(in);
  close(out);
  return outcome;
}

// A gnuplot string in single quotes: only the quote itself needs care.
std::string quoted(std::string_view words) {
  std::string result = "'";
  for (const char c : words) {
    result += c == '\'' ? "''" : std::string(1, c == '\n' ? ' ' : c);
  }
  return result + "'";
}

std::string first_line(const std::string& talk) {
  const size_t begin = talk.find_first_not_of(" \t\r\n^");
  return begin == std::string::npos ? "" : talk.substr(begin, talk.find('\n', begin) - begin);
}

bool usable(const Figure& figure, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (!figure.log_y || y > 0);
}

std::string script_of(const Figure& figure, const std::string& path) {
  std::string data, plots;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  double left = low, right = high, bottom = low, top = high;
  size_t number = 0, drawn = 0;
  for (const Series& s : figure.series) {
    std::string block;
    size_t points = 0;
    for (size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
      if (usable(figure, s.x[i], s.y[i])) {
        char line[64];
        std::snprintf(line, sizeof line, "%.9g %.9g\n", s.x[i], s.y[i]);
        block += line;
        ++points;
        left = std::min(left, s.x[i]);
        right = std::max(right, s.x[i]);
        bottom = std::min(bottom, s.y[i]);
        top = std::max(top, s.y[i]);
        low = std::min({low, s.x[i], s.y[i]});
        high = std::max({high, s.x[i], s.y[i]});
      }
    }
    if (block.empty()) {
      continue;
    }
    const std::string name = "$data" + std::to_string(number++);
    data += name + " << EOD\n" + block + "EOD\n";
    plots += (plots.empty() ? "" : ", ") + name + " using 1:2 " +
             (s.points      ? "with points pt 7 ps 0.35"
              : points == 1 ? "with points pt 7 ps 1"  // a line needs two
                            : "with lines lw 2") +
             (s.title.empty() ? " notitle" : " title " + quoted(s.title));
    ++drawn;
  }
  require<Error>(drawn > 0, path, ": a plot must have points to draw, got none");
  std::string script = "reset\nset encoding utf8\n" + data;
  script += "set title " + quoted(figure.title) + " noenhanced\nset xlabel " + quoted(figure.x_label) +
            " noenhanced\nset ylabel " + quoted(figure.y_label) + " noenhanced\n";
  script +=
      "set key noenhanced top " + std::string(figure.diagonal ? "left" : "right") +
      "\nset grid back lt 1 lw 0.5 lc rgb '#dddddd'\nset border 3\nset tics nomirror\nset format y '%g'\n";
  if (figure.log_y) {
    script += "set logscale y\n";
  }
  // gnuplot warns of an empty range, and a warning counts as a failure here.
  if (!(left < right)) {
    script += text("set xrange [", left - 1, ":", right + 1, "]\n");
  }
  if (!(bottom < top)) {
    script += text("set yrange [", figure.log_y ? bottom / 2 : bottom - 1, ":",
                   figure.log_y ? 2 * top : top + 1, "]\n");
  }
  if (figure.diagonal) {
    const double margin = high > low ? 0.03 * (high - low) : 1;
    script += text("set size square\nset xrange [", low - margin, ":", high + margin, "]\nset yrange [",
                   low - margin, ":", high + margin, "]\n");
    plots = "x with lines lw 1 lc rgb '#888888' notitle, " + plots;
  }
  const std::string size = figure.diagonal ? "640,640" : "900,560";
  for (const auto& [terminal, ending] : {std::pair<std::string, std::string>{"pngcairo", ".png"},
                                         {"svg dynamic background rgb 'white'", ".svg"}}) {
    script += "set term " + terminal + " size " + size + " font 'DejaVu Sans,12'\nset output " +
              quoted(path + ending) + "\nplot " + plots + "\nset output\n";
  }
  return script;
}

}  // namespace

void draw(const Figure& figure, const std::string& path) {
  const Outcome outcome = run_gnuplot({"-"}, script_of(figure, path));
  require<Error>(outcome.started, "gnuplot: must be installed to draw plots (Debian package gnuplot-nox)");
  require<Error>(
      outcome.code == 0 && first_line(outcome.talk).empty(), path, ": gnuplot must draw it, but said: ",
      outcome.talk.empty() ? "exit code " + std::to_string(outcome.code) : first_line(outcome.talk));
}

std::string gnuplot_version() {
  const Outcome outcome = run_gnuplot({"--version"}, "");
  return outcome.started && outcome.code == 0 ? first_line(outcome.talk) : "";
}

}  // namespace weyl
