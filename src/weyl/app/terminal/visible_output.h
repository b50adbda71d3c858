#pragma once

#include <streambuf>
#include <string>

namespace weyl {

/// While it lives, what is printed on std::cout and std::cerr is `visible` (core/quote.h) but for ends of lines and tabs:
/// no name, text or number of a file that somebody sent can act on the terminal. JSON stays JSON.
class VisibleOutput {
 public:
  VisibleOutput();
  ~VisibleOutput();  // flushes both
  VisibleOutput(const VisibleOutput&) = delete;
  VisibleOutput& operator=(const VisibleOutput&) = delete;

 private:
  /// Hands lines on, a whole one at a time, so that no character is torn.
  class Lines : public std::streambuf {
   public:
    explicit Lines(std::streambuf* to) : to_(to) {}
    std::streambuf* to() const { return to_; }

   protected:
    int_type overflow(int_type c) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int sync() override;

   private:
    bool hand_on();
    std::streambuf* to_;
    std::string line_;
  };
  Lines out_, error_;
};

}  // namespace weyl
