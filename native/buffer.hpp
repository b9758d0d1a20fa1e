// Memory that is not touched before it is written, kept between calls.
#pragma once

#include <cstdint>
#include <memory>

namespace espalier {

class Buffer {
 public:
  double* reserve(std::int64_t n) {
    if (n > size_) {
      data_.reset();
      size_ = 0;
      data_.reset(new double[n]);
      size_ = n;
    }
    return data_.get();
  }
  double* data() const { return data_.get(); }
  void release() {
    data_.reset();
    size_ = 0;
  }

 private:
  std::unique_ptr<double[]> data_;
  std::int64_t size_ = 0;
};

}  // namespace espalier
