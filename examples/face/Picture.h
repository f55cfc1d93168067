// A picture in memory: read from a binary PPM, sampled for a network, drawn on, written as PNG or as text.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

struct Box {
  float left, top, right, bottom, score;

  float width() const { return right - left; }
  float height() const { return bottom - top; }
};

class Picture {
public:
  static constexpr int channels = 3;

  /// Empty (width 0) when `path` is no binary PPM.
  static Picture readPpm(const std::string &path);
  bool writePng(const std::string &path) const;
  /// The part around `box` as text, one character for some pixels, dark to bright; the box's border as '#', points as
  /// 'O'.
  std::string text(const Box &box, const std::vector<std::array<float, 2>> &points) const;

  /// `box` of the picture, scaled to columns x rows by averaging, values -1..1, as the networks want it: column by
  /// column, RGB. Outside is 0.
  std::vector<float> sample(const Box &box, int columns, int rows) const;
  void draw(const Box &box, const std::vector<std::array<float, 2>> &points);

  int width = 0, height = 0;

private:
  uint8_t *pixel(int x, int y) { return &data[(static_cast<size_t>(y) * width + x) * channels]; }
  const uint8_t *pixel(int x, int y) const { return &data[(static_cast<size_t>(y) * width + x) * channels]; }
  bool inside(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
  void mark(int x, int y);

  std::vector<uint8_t> data;
};
