// PNG without a library: the pixels go into "stored" blocks of the deflate format, which need no compressor, only the
// two check sums.
#include "Picture.h"
#include <algorithm>
#include <cmath>
#include <fstream>

Picture Picture::readPpm(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  Picture picture;
  int width = 0, height = 0, brightest = 0;
  file >> magic >> width >> height >> brightest;
  file.get();
  if (!file || magic != "P6" || brightest != 255 || width < 1 || height < 1 || width > 1 << 14 || height > 1 << 14) {
    return picture;
  }
  picture.data.resize(static_cast<size_t>(width) * height * channels);
  if (file.read(reinterpret_cast<char *>(picture.data.data()), static_cast<std::streamsize>(picture.data.size()))) {
    picture.width = width;
    picture.height = height;
  }
  return picture;
}

namespace {

void appendNumber(std::string &out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift));
  }
}

uint32_t crc(const std::string &text) {
  uint32_t sum = ~0U;
  for (unsigned char byte : text) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) {
      sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320U : 0);
    }
  }
  return ~sum;
}

void appendChunk(std::string &out, const std::string &kind, const std::string &body) {
  appendNumber(out, static_cast<uint32_t>(body.size()));
  out += kind + body;
  appendNumber(out, crc(kind + body));
}

std::string stored(const std::string &raw) {
  std::string out = "\x78\x01";
  uint32_t low = 1, high = 0;
  for (unsigned char byte : raw) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  for (size_t begin = 0; begin < raw.size(); begin += 65535) {
    size_t size = std::min<size_t>(65535, raw.size() - begin);
    out.push_back(begin + size == raw.size() ? 1 : 0);
    for (size_t value : {size, ~size}) {
      out.push_back(static_cast<char>(value));
      out.push_back(static_cast<char>(value >> 8));
    }
    out.append(raw, begin, size);
  }
  appendNumber(out, high << 16 | low);
  return out;
}

} // namespace

bool Picture::writePng(const std::string &path) const {
  std::string header, raw, out = "\x89PNG\r\n\x1a\n";
  appendNumber(header, static_cast<uint32_t>(width));
  appendNumber(header, static_cast<uint32_t>(height));
  header += std::string("\x08\x02\x00\x00\x00", 5); // eight bits, RGB, not interlaced
  for (int y = 0; y < height; ++y) {
    raw.push_back(0); // the row is not filtered
    raw.append(reinterpret_cast<const char *>(pixel(0, y)), static_cast<size_t>(width) * channels);
  }
  appendChunk(out, "IHDR", header);
  appendChunk(out, "IDAT", stored(raw));
  appendChunk(out, "IEND", "");
  return static_cast<bool>(std::ofstream(path, std::ios::binary) << out);
}

std::vector<float> Picture::sample(const Box &box, int columns, int rows) const {
  constexpr int grid = 4; // points a pixel and axis that are averaged
  std::vector<float> out;
  out.reserve(static_cast<size_t>(columns) * rows * channels);
  for (int column = 0; column < columns; ++column) {
    for (int row = 0; row < rows; ++row) {
      float sum[channels] = {};
      for (int point = 0; point < grid * grid; ++point) {
        int pointColumn = point / grid, pointRow = point % grid;
        float across = (column + (pointColumn + 0.5F) / grid) / columns;
        float down = (row + (pointRow + 0.5F) / grid) / rows;
        int x = static_cast<int>(std::floor(box.left + box.width() * across));
        int y = static_cast<int>(std::floor(box.top + box.height() * down));
        for (int channel = 0; inside(x, y) && channel < channels; ++channel) {
          sum[channel] += pixel(x, y)[channel];
        }
      }
      for (float value : sum) {
        out.push_back((value / (grid * grid) - 127.5F) / 128);
      }
    }
  }
  return out;
}

void Picture::mark(int x, int y) {
  if (inside(x, y)) {
    std::copy_n(std::array<uint8_t, channels>{0, 255, 64}.begin(), channels, pixel(x, y));
  }
}

void Picture::draw(const Box &box, const std::vector<std::array<float, 2>> &points) {
  for (int x = static_cast<int>(box.left); x <= box.right; ++x) {
    mark(x, static_cast<int>(box.top));
    mark(x, static_cast<int>(box.bottom));
  }
  for (int y = static_cast<int>(box.top); y <= box.bottom; ++y) {
    mark(static_cast<int>(box.left), y);
    mark(static_cast<int>(box.right), y);
  }
  for (auto [x, y] : points) {
    for (int step = 0; step < 9; ++step) {
      mark(static_cast<int>(x) + step / 3 - 1, static_cast<int>(y) + step % 3 - 1);
    }
  }
}

std::string Picture::text(const Box &box, const std::vector<std::array<float, 2>> &points) const {
  constexpr int columns = 76, rows = 38; // a character is about twice as high as it is wide
  Box view{box.left - box.width() / 2, box.top - box.height() / 4, box.right + box.width() / 2,
           box.bottom + box.height() / 4, 0};
  std::vector<float> values = sample(view, columns, rows);
  std::vector<std::string> lines(rows, std::string(columns, ' '));
  auto put = [&](float x, float y, char symbol) {
    int column = static_cast<int>((x - view.left) / view.width() * columns),
        row = static_cast<int>((y - view.top) / view.height() * rows);
    if (column >= 0 && row >= 0 && column < columns && row < rows) {
      lines[row][column] = symbol;
    }
  };
  for (int column = 0; column < columns; ++column) {
    for (int row = 0; row < rows; ++row) {
      const float *value = &values[static_cast<size_t>(column * rows + row) * channels];
      float brightness = (value[0] + value[1] + value[2]) / 6 + 0.5F;
      lines[row][column] = " .,:;+ox%"[std::clamp(static_cast<int>(brightness * 9), 0, 8)];
    }
  }
  for (float part = 0; part <= 1; part += 1.0F / 128) {
    put(box.left + box.width() * part, box.top, '#');
    put(box.left + box.width() * part, box.bottom, '#');
    put(box.left, box.top + box.height() * part, '#');
    put(box.right, box.top + box.height() * part, '#');
  }
  for (auto [x, y] : points) {
    put(x, y, 'O');
  }
  std::string out;
  for (const std::string &line : lines) {
    out += line + '\n';
  }
  return out;
}
