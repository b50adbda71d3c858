#include "weyl/app/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>

#include "weyl/app/cli/verb_tree.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/core/check.h"
#include "weyl/core/nearest.h"
#include "weyl/core/version.h"

namespace weyl {
namespace {

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(std::function<bool(const CLI::App*)>{})) {
    names.push_back(sub->get_name());
  }
  return names;
}

Words program_words(const CLI::App& app) {
  Words words{app.get_name(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words.flags.push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      words.flags.push_back("-" + name);
    }
  }
  for (const CLI::App* sub : app.get_subcommands(std::function<bool(const CLI::App*)>{})) {
    words.verbs.push_back(program_words(*sub));
  }
  return words;
}

std::string in_one_line(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  while (!message.empty() && message.back() == ' ') {
    message.pop_back();
  }
  return message;
}

std::string verb_path(const CLI::App& root) {
  std::string path = "weyl";
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    path += " " + app->get_name();
  }
  return path;
}

struct Tree {
  CLI::App root{std::string("weyl ") + version() + ": transformers that know the symmetry of their data",
                "weyl"};
  std::vector<Verb> verbs;

  Tree() {
    root.require_subcommand(1);
    root.get_formatter()->column_width(32);
    root.set_version_flag("--version", std::string("weyl ") + version());
    verbs = add_verbs(root);
    root.footer(
        "First steps:\n"
        "  weyl data make nbody --out data/nbody\n"
        "  weyl train configs/nbody/platonic.toml --out runs/first\n"
        "  weyl audit runs/first\n"
        "Every verb has its own --help. Results go to stdout, messages to stderr.\n"
        "In docs/ (installed: share/doc/weyl/docs): glossary.md, the words; cli.md, the verbs; guide/, data of your own.\n"
        "Exit codes: 0 done, 1 the result failed, 2 usage or config, 3 data or model file, 4 out of memory,\n"
        "5 interrupted and saved.");
  }
};

// The page that was asked for: of what the arguments name, or of the verb.
std::string help_of(const Tree& tree) {
  for (const Verb& verb : tree.verbs) {
    if (verb.help && verb.app->parsed()) {
      if (std::string page = verb.help(); !page.empty()) {
        return page;
      }
    }
  }
  return tree.root.help();
}

}  // namespace

Parsed parse_command_line(std::span<const std::string> arguments) {
  Tree tree;
  Parsed parsed;
  if (arguments.empty()) {
    parsed.exit_code = exit_usage;
    parsed.err = tree.root.help();
    return parsed;
  }
  const auto fail = [&](const std::string& message) {
    parsed.exit_code = exit_usage;
    parsed.err = in_one_line(message) + "\n";
    return parsed;
  };
  if (const std::string wrong = wrong_word(program_words(tree.root), arguments); !wrong.empty()) {
    return fail(wrong);
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    tree.root.parse(reversed);
    for (const Verb& verb : tree.verbs) {
      if (verb.app->parsed()) {
        parsed.command = verb.make();
      }
    }
  } catch (const CLI::CallForHelp&) {
    parsed.out = help_of(tree);
  } catch (const CLI::CallForVersion&) {
    parsed.out = std::string("weyl ") + version() + "\n";
  } catch (const CLI::ParseError& error) {
    return fail(verb_path(tree.root) + ": " + error.what());
  } catch (const ConfigError& error) {
    return fail(verb_path(tree.root) + ": " + error.what());
  }
  return parsed;
}

std::vector<std::string> verb_names() {
  return subcommand_names(Tree().root);
}

const OutputOptions& output_of(const Command& command) {
  return std::visit([](const auto& c) -> const OutputOptions& { return c.output; }, command);
}

namespace {

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

bool is_flag(const std::string& argument) {
  if (argument.size() < 2 || argument[0] != '-') {
    return false;
  }
  const char second = argument[1];  // a negative number is a value
  return second != '.' && (second < '0' || second > '9');
}

std::string wrong_flag(const Words& at, const std::string& where, const std::string& argument) {
  const std::string flag = argument.substr(0, argument.find('='));
  // A short flag may carry its value: -oFILE.
  const std::string name = flag[1] == '-' ? flag : flag.substr(0, 2);
  if (std::find(at.flags.begin(), at.flags.end(), name) != at.flags.end()) {
    return "";
  }
  return where + ": unknown flag '" + flag + "'" + did_you_mean(flag, at.flags);
}

}  // namespace

std::string wrong_word(const Words& program, std::span<const std::string> arguments) {
  const Words* at = &program;
  std::string where = program.name;
  for (const std::string& argument : arguments) {
    if (argument == "--") {
      return "";
    }
    if (is_flag(argument)) {
      if (const std::string wrong = wrong_flag(*at, where, argument); !wrong.empty()) {
        return wrong;
      }
      continue;
    }
    if (at->verbs.empty()) {
      continue;
    }
    std::vector<std::string> names;
    for (const Words& verb : at->verbs) {
      names.push_back(verb.name);
    }
    const auto found = std::find(names.begin(), names.end(), argument);
    if (found == names.end()) {
      const std::string meant = did_you_mean(argument, names);
      std::string list;
      for (const std::string& name : names) {
        list += (list.empty() ? "; there are " : ", ") + name;
      }
      return where + ": there is no verb '" + argument + "'" + (meant.empty() ? list : meant);
    }
    at = &at->verbs[static_cast<size_t>(found - names.begin())];
    where += " " + argument;
  }
  return "";
}

}  // namespace weyl
