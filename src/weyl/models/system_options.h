#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"

namespace weyl {

struct Interface;

/// The shapes of a state dict's tensors, by name.
using TensorShapes = std::map<std::string, std::vector<int64_t>, std::less<>>;

namespace detail {

// Outside the class, whose members of the same names would hide the functions beside the options.
template <class O>
void require_effects_of(const O& options, const Interface* interface) {
  if constexpr (requires { require_effects(options, interface); }) {
    require_effects(options, interface);
  }
}
template <class O>
std::optional<std::string> blinding_of(const O& options) {
  if constexpr (requires { blinding(options); }) {
    return blinding(options);
  }
  return std::nullopt;
}
template <class O>
std::string must_without_objects_of(const O& options) {
  if constexpr (requires { must_without_objects(options); }) {
    return must_without_objects(options);
  }
  return "";
}

}  // namespace detail

/// The options of one system, whichever it is: any struct with a `name_in_config` and a `fields` function of its own.
/// It is a value: copies are deep. These functions beside the struct are optional:
///   Options resolved(const Options&, const Interface&);  // decides by the interface what is left open ("auto")
///   Options resolved_by(const Options&, const Interface&, const TensorShapes&);  // before: by weights to be imported
///   std::string blinding(const Options&);                // what keeps outputs from seeing the input
///   std::string must_without_objects(const Options&);    // "model.x.axial: must be false" where it looks at objects
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
  /// Reports options that are set, other than by default or preset, but have no effect (config/unused_options.h): calls
  /// `void require_effects(const Options&, const Interface*)` of the system. A system without that function reports
  /// none. `interface`: the model's; null where it is not known yet, and then an option that depends on it counts as
  /// having an effect.
  void require_effects(const Interface* interface) const { held_->require_effects(interface); }
  /// Decides what the options leave open: first by the shapes of the weights that the model will get, if there are
  /// some, then by the interface.
  void resolve(const Interface& interface, const TensorShapes& weights = {}) {
    held_->resolve(interface, weights);
  }
  /// One line that names the option which keeps the outputs from seeing the input. Empty: no option does. Nothing: the
  /// system does not say, and may not be meant to read positions.
  std::optional<std::string> blinding() const { return held_->blinding(); }
  /// What must change for data without objects: "model.x.axial: must be false". Empty: nothing.
  std::string must_without_objects() const { return held_->must_without_objects(); }
  /// Null when the options are another system's.
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
    virtual void require_effects(const Interface* interface) const = 0;
    virtual const std::type_info& type() const = 0;
    virtual void resolve(const Interface& interface, const TensorShapes& weights) = 0;
    virtual std::optional<std::string> blinding() const = 0;
    virtual std::string must_without_objects() const = 0;
  };
  template <class O>
  struct Of final : Any {
    explicit Of(O o) : options(std::move(o)) {}
    std::unique_ptr<Any> clone() const override { return std::make_unique<Of>(options); }
    std::string_view name() const override { return O::name_in_config; }
    void visit(Fields& f) override { fields(f, options); }
    void require_effects(const Interface* interface) const override {
      detail::require_effects_of(options, interface);
    }
    const std::type_info& type() const override { return typeid(O); }
    void resolve(const Interface& interface, const TensorShapes& weights) override {
      if constexpr (requires(const O& o) { resolved_by(o, interface, weights); }) {
        options = resolved_by(options, interface, weights);
      }
      if constexpr (requires(const O& o) { resolved(o, interface); }) {
        options = resolved(options, interface);
      }
    }
    std::optional<std::string> blinding() const override { return detail::blinding_of(options); }
    std::string must_without_objects() const override { return detail::must_without_objects_of(options); }
    O options;
  };
  std::unique_ptr<Any> held_;
};

}  // namespace weyl
