#pragma once

#include <memory>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "weyl/config/fields.h"

namespace weyl {

/// The options of one system, whichever it is: any struct with a `name_in_config` and a `fields` of its own. A value:
/// copies are deep.
class SystemOptions {
 public:
  template <OptionsStruct O>
  SystemOptions(O options) : held_(std::make_unique<Of<O>>(std::move(options))) {}
  SystemOptions(const SystemOptions& other) : held_(other.held_->clone()) {}
  SystemOptions(SystemOptions&&) noexcept = default;
  SystemOptions& operator=(const SystemOptions& other) { return *this = SystemOptions(other); }
  SystemOptions& operator=(SystemOptions&&) noexcept = default;
  ~SystemOptions() = default;

  std::string_view name() const { return held_->name(); }
  void visit(Fields& f) { held_->visit(f); }
  /// Null when they are another system's.
  template <OptionsStruct O>
  const O* get_if() const {
    return held_->type() == typeid(O) ? &static_cast<const Of<O>&>(*held_).options : nullptr;
  }
  template <OptionsStruct O>
  O* get_if() {
    return const_cast<O*>(std::as_const(*this).get_if<O>());
  }

 private:
  struct Any {
    virtual ~Any() = default;
    virtual std::unique_ptr<Any> clone() const = 0;
    virtual std::string_view name() const = 0;
    virtual void visit(Fields& f) = 0;
    virtual const std::type_info& type() const = 0;
  };
  template <class O>
  struct Of final : Any {
    explicit Of(O o) : options(std::move(o)) {}
    std::unique_ptr<Any> clone() const override { return std::make_unique<Of>(options); }
    std::string_view name() const override { return O::name_in_config; }
    void visit(Fields& f) override { fields(f, options); }
    const std::type_info& type() const override { return typeid(O); }
    O options;
  };
  std::unique_ptr<Any> held_;
};

}  // namespace weyl
