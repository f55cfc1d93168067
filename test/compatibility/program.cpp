// A program around some of the models of models.py, in C++: the classes in their headers, and ingot.hpp.
#include "conv.h"
#include "found.h"
#include "strings.h"
#include <cstdio>
#include <vector>

static int failures = 0;

static void expect(bool isRight, const char *what) {
  std::printf("%s: %s\n", what, isRight ? "right" : "wrong");
  failures += !isRight;
}

int main() {
  std::vector<float> x(CONV_X_ELEMENTS, 0.25F), y(CONV_Y_ELEMENTS), again(CONV_Y_ELEMENTS);
  ingot::models::conv net;
  expect(net.run(x, y).ok(), "a run by the class of the header");
  float sum = y[0] + y[1] + y[2] + y[3] + y[4];
  expect(sum > 0.999F && sum < 1.001F, "the sum of Softmax");
  ingot::ThreadPool pool(3);
  ingot::Runner runner(conv_model(), pool.exec());
  expect(runner.run({x}, {again}).ok() && again == y, "a run by its descriptor, on three threads");
  expect(runner.run({x}, {x}).kind() == INGOT_ERROR_COUNT, "an output that is too long");

  ingot::models::found finder;
  std::vector<float> marks(FOUND_X_ELEMENTS, 1.0F);
  std::vector<std::int64_t> limit = {6}, where(FOUND_WHERE_ELEMENTS);
  ingot::Allocated<std::int64_t> squares;
  std::int64_t marked = 0, count = 0;
  expect(finder.run(marks, limit, where, squares, marked, count).ok(), "a run that asks for memory");
  expect(marked == FOUND_X_ELEMENTS && count == 6 && squares[5] == 25, "what it found");

  ingot::models::strings joiner;
  std::vector<ingot::String> words = {"the", "fox", "the", "dog"}, end = {"!"}, kept(STRINGS_Y_ELEMENTS);
  std::int64_t many = 0;
  expect(joiner.run(words, end, kept, many).ok() && many == 2 && std::string_view(kept[1]) == "dog!",
         "a run that makes strings");
  return failures;
}
