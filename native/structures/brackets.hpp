// The one reader of bracketed trees. It calls a sink: open(), name(text), leaf(text), close(), tree(); and
// listen(bytes read since it last did), which may throw to end the reading.
//
// Tokens are split on ASCII white space alone. A backslash before '(' , ')' , '\' or white space
// makes that character part of the token; any other backslash stands for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace espalier {

struct BracketError : std::runtime_error {
  BracketError(const std::string& message, std::size_t at) : std::runtime_error(message), position(at) {}
  std::size_t position;  // in bytes
};

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool ends_token(char c) { return is_space(c) || c == '(' || c == ')' || c == '\0'; }

// Reads one token at `at`, moves `at` past it; `buffer` holds the text where escapes were undone.
inline std::string_view read_token(std::string_view text, std::size_t& at, std::string& buffer) {
  const std::size_t start = at;
  while (at < text.size() && !ends_token(text[at]) && text[at] != '\\') ++at;
  if (at == text.size() || text[at] != '\\') return text.substr(start, at - start);
  buffer.assign(text.substr(start, at - start));
  while (at < text.size() && !ends_token(text[at])) {
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\0' &&
        (ends_token(text[at + 1]) || text[at + 1] == '\\')) {
      ++at;
    }
    buffer.push_back(text[at++]);
  }
  return buffer;
}

template <class Sink>
void read_brackets(std::string_view text, Sink& sink) {
  std::string buffer;
  constexpr std::size_t part = 1 << 12;
  std::size_t depth = 0, at = 0, opened = 0, heard = 0;
  bool unnamed = false;  // directly after '(': the next token is the node's label
  while (at < text.size()) {
    if (at - heard >= part) {
      sink.listen(static_cast<std::int64_t>(at - heard));
      heard = at;
    }
    const char c = text[at];
    if (is_space(c)) {
      ++at;
    } else if (c == '(') {
      if (unnamed) sink.name(std::string_view{});
      if (depth == 0) opened = at;
      sink.open();
      unnamed = true;
      ++depth;
      ++at;
    } else if (c == ')') {
      if (depth == 0) throw BracketError("')' closes a bracket that was never opened", at);
      if (unnamed) sink.name(std::string_view{});
      unnamed = false;
      sink.close();
      ++at;
      if (--depth == 0) sink.tree();
    } else if (c == '\0') {
      throw BracketError("a NUL character stands here: this is not bracketed text", at);
    } else {
      const std::size_t start = at;
      const std::string_view token = read_token(text, at, buffer);
      if (depth == 0) {
        throw BracketError("a word stands outside any bracket; a tree starts with '(', a lone leaf is written (word)",
                           start);
      }
      if (unnamed) {
        sink.name(token);
        unnamed = false;
      } else {
        sink.leaf(token);
      }
    }
  }
  if (depth > 0) {
    throw BracketError("this bracket is never closed: the text ends " + std::to_string(depth) +
                           (depth == 1 ? " ')' short" : " ')' short, counted from this tree's start"),
                       opened);
  }
  sink.listen(static_cast<std::int64_t>(at - heard));
}

}  // namespace espalier
