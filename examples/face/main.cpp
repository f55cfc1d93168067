// Finds faces with three trained networks that ingot compiled: MTCNN, by Zhang, Zhang, Li and Qiao, 2016.
//   pnet  slides over the picture, in three sizes: where could a face be?
//   rnet  looks at each proposal at 24x24 and drops most
//   onet  looks at the rest at 48x48, corrects the box and finds eyes, nose and the corners of the mouth
// Each network is one C function on plain arrays; the caller brings the working memory.
#include "Picture.h"
#include "onet.h"
#include "pnet_22.h"
#include "pnet_32.h"
#include "pnet_45.h"
#include "rnet.h"
#include <algorithm>
#include <cstdio>

namespace {

using Points = std::vector<std::array<float, 2>>;

/// The working memory has what the hungriest of the five networks asks for; they run one after the other.
alignas(64) unsigned char workspace[std::max<size_t>({PNET_22_WORKSPACE_BYTES, PNET_32_WORKSPACE_BYTES,
                                                      PNET_45_WORKSPACE_BYTES, RNET_WORKSPACE_BYTES,
                                                      ONET_WORKSPACE_BYTES, 64})];

void check(int status, const ingot_model *model) {
  if (status != 0) {
    char text[200];
    ingot_error_text(model, status, text, sizeof text);
    std::fprintf(stderr, "%s: %s\n", model->name, text);
    std::exit(1);
  }
}

/// Returns a moved box: the networks say by how much of its own size.
Box moved(const Box &box, const float *by, float score) {
  return {box.left + by[0] * box.width(), box.top + by[1] * box.height(), box.right + by[2] * box.width(),
          box.bottom + by[3] * box.height(), score};
}

Box squared(const Box &box) {
  float half = std::max(box.width(), box.height()) / 2, x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  return {x - half, y - half, x + half, y + half, box.score};
}

/// Returns, of boxes that overlap by more than `limit`, only the one with the best score (non-maximum suppression).
std::vector<Box> best(std::vector<Box> boxes, float limit) {
  std::sort(boxes.begin(), boxes.end(), [](const Box &a, const Box &b) { return a.score > b.score; });
  std::vector<Box> kept;
  for (const Box &box : boxes) {
    bool covered = std::any_of(kept.begin(), kept.end(), [&](const Box &other) {
      float width = std::min(box.right, other.right) - std::max(box.left, other.left);
      float height = std::min(box.bottom, other.bottom) - std::max(box.top, other.top);
      float common = std::max(width, 0.0F) * std::max(height, 0.0F);
      return common > limit * (box.width() * box.height() + other.width() * other.height() - common);
    });
    if (!covered) {
      kept.push_back(box);
    }
  }
  return kept;
}

/// Looks at one size of the picture. pnet's answer has one cell for every second pixel; a cell stands for the 12x12
/// pixels from there on.
template <int Columns, int Rows, typename Run>
void propose(const Picture &picture, Run run, const ingot_model *model, std::vector<Box> &proposals) {
  constexpr int across = (Columns - 2 + 1) / 2 - 4, down = (Rows - 2 + 1) / 2 - 4;
  Box whole{0, 0, static_cast<float>(picture.width), static_cast<float>(picture.height), 0};
  std::vector<float> shifts(across * down * 4), scores(across * down * 2);
  check(run(picture.sample(whole, Columns, Rows).data(), shifts.data(), scores.data(), workspace, nullptr), model);
  float stepX = whole.width() / Columns, stepY = whole.height() / Rows;
  std::vector<Box> found;
  for (int cell = 0; cell < across * down; ++cell) {
    if (float score = scores[cell * 2 + 1]; score > 0.6F) {
      int column = cell / down, row = cell % down;
      float x = 2.0F * column, y = 2.0F * row;
      found.push_back(moved({x * stepX, y * stepY, (x + 12) * stepX, (y + 12) * stepY, 0}, &shifts[cell * 4], score));
    }
  }
  found = best(std::move(found), 0.5F);
  proposals.insert(proposals.end(), found.begin(), found.end());
}

std::vector<Box> refine(const Picture &picture, const std::vector<Box> &proposals) {
  std::vector<Box> kept;
  for (const Box &proposal : proposals) {
    float shift[4], score[2];
    Box box = squared(proposal);
    check(rnet_run(picture.sample(box, 24, 24).data(), shift, score, workspace, nullptr), rnet_model());
    if (score[1] > 0.7F) {
      kept.push_back(moved(box, shift, score[1]));
    }
  }
  return best(std::move(kept), 0.7F);
}

/// Takes the last step of one face; false when onet does not believe in it.
bool look(const Picture &picture, Box &face, Points &points) {
  float shift[4], places[10], score[2];
  Box box = squared(face);
  check(onet_run(picture.sample(box, 48, 48).data(), shift, places, score, workspace, nullptr), onet_model());
  points.clear();
  for (int k = 0; k < 5; ++k) {
    points.push_back({box.left + places[k] * box.width(), box.top + places[k + 5] * box.height()});
  }
  face = moved(box, shift, score[1]);
  return score[1] > 0.7F;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: face PICTURE.ppm OUT.png\n");
    return 1;
  }
  Picture picture = Picture::readPpm(argv[1]);
  if (picture.width == 0) {
    std::fprintf(stderr, "%s: not a binary PPM\n", argv[1]);
    return 1;
  }
  std::vector<Box> proposals;
  propose<60, 45>(picture, pnet_45_run, pnet_45_model(), proposals);
  propose<42, 32>(picture, pnet_32_run, pnet_32_model(), proposals);
  propose<30, 22>(picture, pnet_22_run, pnet_22_model(), proposals);
  std::vector<Box> faces = refine(picture, best(proposals, 0.7F));

  Picture drawn = picture;
  int count = 0;
  for (Box &face : faces) {
    Points points;
    if (!look(picture, face, points)) {
      continue;
    }
    ++count;
    drawn.draw(face, points);
    std::printf("%s", picture.text(face, points).c_str());
    std::printf("face at x %.0f..%.0f, y %.0f..%.0f, probability %.3f\n", face.left, face.right, face.top, face.bottom,
                face.score);
    const char *names[] = {"left eye", "right eye", "nose", "left corner of the mouth", "right corner of the mouth"};
    for (int k = 0; k < 5; ++k) {
      std::printf("  %s at %.0f, %.0f\n", names[k], points[k][0], points[k][1]);
    }
  }
  std::printf("%zu proposals, %zu candidates, faces found: %d\n", proposals.size(), faces.size(), count);
  return drawn.writePng(argv[2]) && count > 0 ? 0 : 1;
}
