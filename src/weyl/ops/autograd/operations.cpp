#include "weyl/ops/autograd/operations.h"

namespace weyl {
namespace {

thread_local CountOperations* counter = nullptr;

}  // namespace

void count_operations(double flops) {
  if (counter != nullptr) {
    counter->flops_ += flops;
  }
}

CountOperations::CountOperations() : before_(counter) {
  counter = this;
}
CountOperations::~CountOperations() {
  counter = before_;
}

}  // namespace weyl
