#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weyl/app/command_line_arguments.h"
#include "weyl/app/command_line_verbs.h"

namespace weyl {

/// A verb in the making: its arguments are added to `app` and fill `c`.
template <class C>
struct Draft {
  CLI::App& app;
  std::shared_ptr<C> c = std::make_shared<C>();

  /// `settle` checks what the arguments say together, or changes it.
  Verb done(const std::function<void(C&)>& settle = {}) const {
    add_talk(app, c->talk);
    return {&app, [c = c, settle]() -> Command {
              if (settle) {
                settle(*c);
              }
              return *c;
            }};
  }
};

/// A verb below `parent`; `footer` ends its help page.
CLI::App& add_verb(CLI::App& parent, const char* name, const char* what, const std::string& footer);

/// A verb of verbs: `weyl data`.
CLI::App& add_group(CLI::App& root, const char* name, const char* what, const std::string& footer);

template <class C>
Draft<C> begin(CLI::App& parent, const char* name, const char* what, const std::string& footer) {
  return {add_verb(parent, name, what, footer)};
}

/// The examples that end a help page, without `weyl`; `last` follows them.
std::string examples(const std::vector<std::string>& lines, const std::string& last = {});

/// A part of a help page: its title, and its lines.
std::string block(const std::string& title, const std::vector<std::string>& lines);

}  // namespace weyl
