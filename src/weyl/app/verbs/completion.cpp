#include "weyl/app/verbs/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "weyl/app/cli/verb_tree.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/makers/makers.h"

namespace weyl {
namespace {

struct Flag {
  std::vector<std::string> names;  // "--out", "-o"
  std::string help;
  bool value = false;              // takes one
  std::vector<std::string> words;  // the values there are; none: a number, a file, ...
};

/// One verb, or a group of them.
struct Entry {
  std::string path;                                        // "/data/make"; of the program itself ""
  std::vector<std::pair<std::string, std::string>> verbs;  // name, help
  std::vector<Flag> flags;
  std::vector<std::string> words;  // that its first argument can be
};

// "train|valid|test" are words; "RUN|MODEL" and "cpu|cuda[:i]" stand for others.
std::vector<std::string> type_words(const std::string& type) {
  std::vector<std::string> words;
  const bool fixed =
      type.find('|') != std::string::npos && std::all_of(type.begin(), type.end(), [](unsigned char c) {
        return c == '|' || c == '_' || std::islower(c) || std::isdigit(c);
      });
  for (size_t begin = 0; fixed && begin <= type.size();) {
    const size_t end = std::min(type.find('|', begin), type.size());
    words.push_back(type.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// The first line without what a shell would read: the help texts are the program's own, and short.
std::string plain(const std::string& help) {
  std::string line = help.substr(0, std::min(help.find('\n'), help.find(';')));
  std::erase_if(
      line, [](char c) { return c == '\'' || c == '"' || c == '`' || c == '\\' || c == '$' || c == ':'; });
  return line;
}

void add_entries(const CLI::App& app, const std::string& path, std::vector<Entry>& entries) {
  Entry entry{path, {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    Flag flag{{},
              plain(option->get_description()),
              option->get_items_expected_max() > 0,
              type_words(option->get_type_name())};
    for (const std::string& name : option->get_lnames()) {
      flag.names.push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      flag.names.push_back("-" + name);
    }
    if (!flag.names.empty()) {
      entry.flags.push_back(std::move(flag));
    } else if (!flag.words.empty()) {
      entry.words = std::move(flag.words);
    }
  }
  if (path == "/data/make") {
    for (const auto& [name, makes] : makers()) {
      entry.words.push_back(name);
    }
  }
  const auto verbs = app.get_subcommands(std::function<bool(const CLI::App*)>{});
  for (const CLI::App* verb : verbs) {
    entry.verbs.emplace_back(verb->get_name(), plain(verb->get_description()));
  }
  entries.push_back(std::move(entry));
  for (const CLI::App* verb : verbs) {
    add_entries(*verb, path + "/" + verb->get_name(), entries);
  }
}

std::vector<Entry> entries_of_program() {
  CLI::App root("", "weyl");
  root.set_version_flag("--version", "");
  add_verbs(root);
  std::vector<Entry> entries;
  add_entries(root, "", entries);
  return entries;
}

std::vector<std::string> flag_names(const std::vector<Flag>& flags) {
  std::vector<std::string> names;
  for (const Flag& flag : flags) {
    names.insert(names.end(), flag.names.begin(), flag.names.end());
  }
  return names;
}

// The lines of `case` that go from one verb to those below it; `take` is done with each path.
std::string cases_of_paths(const std::vector<Entry>& entries) {
  std::vector<std::string> paths;
  for (const Entry& entry : entries) {
    if (!entry.path.empty()) {
      paths.push_back(entry.path);
    }
  }
  return joined(paths, "|");
}

std::string bash_script(const std::vector<Entry>& entries) {
  std::string values, words;
  for (const Entry& entry : entries) {
    for (const Flag& flag : entry.flags) {
      std::vector<std::string> patterns;
      for (const std::string& name : flag.names) {
        patterns.push_back("'" + entry.path + ":" + name + "'");
      }
      if (flag.value) {
        values += "    " + joined(patterns, "|") + ") " +
                  (flag.words.empty()
                       ? ""
                       : "COMPREPLY=($(compgen -W '" + joined(flag.words, " ") + "' -- \"$now\")); ") +
                  "return ;;\n";
      }
    }
    std::vector<std::string> all = entry.words;
    for (const auto& [name, help] : entry.verbs) {
      all.push_back(name);
    }
    words += "    '" + entry.path + "') flags='" + joined(flag_names(entry.flags), " ") + "' words='" +
             joined(all, " ") + "' ;;\n";
  }
  return "# bash completion of weyl: source this file, or put it into "
         "~/.local/share/bash-completion/completions/weyl\n"
         "_weyl() {\n"
         "  local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at= flags= words= i\n"
         "  COMPREPLY=()\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case \"$at/${COMP_WORDS[i]}\" in\n"
         "      " +
         cases_of_paths(entries) +
         ") at=$at/${COMP_WORDS[i]} ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$at:$before\" in\n" +
         values +
         "  esac\n"
         "  case \"$at\" in\n" +
         words +
         "  esac\n"
         "  if [[ $now == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$flags\" -- \"$now\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$now\"))\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _weyl weyl\n";
}

std::string zsh_script(const std::vector<Entry>& entries) {
  std::string values, words;
  for (const Entry& entry : entries) {
    std::string flags, verbs;
    for (const Flag& flag : entry.flags) {
      std::vector<std::string> patterns;
      for (const std::string& name : flag.names) {
        patterns.push_back("'" + entry.path + ":" + name + "'");
        flags += " '" + name + ":" + flag.help + "'";
      }
      if (flag.value) {
        values += "    " + joined(patterns, "|") + ") " +
                  (flag.words.empty() ? "_files" : "compadd -- " + joined(flag.words, " ")) + "; return ;;\n";
      }
    }
    for (const auto& [name, help] : entry.verbs) {
      verbs += " '" + name + ":" + help + "'";
    }
    for (const std::string& word : entry.words) {
      verbs += " '" + word + "'";
    }
    words += "    '" + entry.path + "') flags=(" + flags + " ) verbs=(" + verbs + " ) ;;\n";
  }
  return "#compdef weyl\n"
         "# zsh completion of weyl: put this file as _weyl into a folder of $fpath\n"
         "_weyl() {\n"
         "  local at= i\n"
         "  local -a flags verbs\n"
         "  for ((i = 2; i < CURRENT; ++i)); do\n"
         "    case \"$at/${words[i]}\" in\n"
         "      " +
         cases_of_paths(entries) +
         ") at=$at/${words[i]} ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$at:${words[CURRENT-1]}\" in\n" +
         values +
         "  esac\n"
         "  case \"$at\" in\n" +
         words +
         "  esac\n"
         "  if [[ ${words[CURRENT]} == -* ]]; then\n"
         "    _describe flag flags\n"
         "  else\n"
         "    (( $#verbs )) && _describe word verbs\n"
         "    [[ -n $at ]] && _files\n"
         "  fi\n"
         "}\n"
         "if [[ ${funcstack[1]} == _weyl ]]; then _weyl \"$@\"; else compdef _weyl weyl; fi\n";
}

std::string fish_script(const std::vector<Entry>& entries) {
  std::string lines;
  for (const Entry& entry : entries) {
    const std::string line = "complete -c weyl -n '__weyl_at \"" + entry.path + "\"'";
    for (const auto& [name, help] : entry.verbs) {
      lines += line + " -f -a " + name + " -d '" + help + "'\n";
    }
    if (!entry.words.empty()) {
      lines += line + " -f -a '" + joined(entry.words, " ") + "'\n";
    }
    for (const Flag& flag : entry.flags) {
      std::string names;
      for (const std::string& name : flag.names) {
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      const std::string value =
          flag.words.empty() ? (flag.value ? " -r" : "") : " -x -a '" + joined(flag.words, " ") + "'";
      lines += line + names + value + " -d '" + flag.help + "'\n";
    }
  }
  std::string paths = cases_of_paths(entries);
  std::replace(paths.begin(), paths.end(), '|', ' ');
  return "# fish completion of weyl: put this file into ~/.config/fish/completions/weyl.fish\n"
         "function __weyl_at\n"
         "  set -l at ''\n"
         "  for word in (commandline -opc)[2..-1]\n"
         "    contains -- \"$at/$word\" " +
         paths +
         "; and set at \"$at/$word\"\n"
         "  end\n"
         "  test \"$at\" = \"$argv[1]\"\n"
         "end\n" +
         lines;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  const std::vector<Entry> entries = entries_of_program();
  if (shell == "bash") {
    return bash_script(entries);
  }
  if (shell == "zsh") {
    return zsh_script(entries);
  }
  require<ConfigError>(shell == "fish", "the shell must be bash, zsh or fish, got '", shell, "'");
  return fish_script(entries);
}

int run(const CompletionCommand& command) {
  std::cout << completion_script(command.shell);
  return exit_done;
}

}  // namespace weyl
