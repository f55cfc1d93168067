// Whether loops are shared out: on a clock of the tests' own, for models of a few loops that take so long in each way.
extern "C" {
#include "thread_trials.h"
}
#include <gtest/gtest.h>
#include <vector>

namespace {

using Body = int (*)(void *, int64_t, int64_t);

template <int number> int body(void *, int64_t, int64_t) { return number; }
constexpr Body bodies[] = {body<0>, body<1>, body<2>, body<3>, body<4>, body<5>};

/// A caller, and how its laps were run.
struct Caller {
  ingot_thread_trials trials = {};
  int64_t now = 1000000000;

  int loop(Body body, int64_t count, const int64_t (&nanoseconds)[2]) {
    int way = ingot_thread_trials_way(&trials, body, count, now);
    now += nanoseconds[way];
    ingot_thread_trials_end(&trials, now);
    return way;
  }

  /// Laps of the loops; how many of them were alone from the second loop on.
  int run(int count, const std::vector<int> &loops, const int64_t (&nanoseconds)[2]) {
    int alone = 0;
    for (int lap = 0; lap < count; ++lap) {
      int last = INGOT_SHARED;
      for (int number : loops) {
        last = loop(bodies[number], 10 + number, nanoseconds);
      }
      alone += last;
    }
    return alone;
  }
};

const std::vector<int> model = {0, 1, 2, 3, 1, 4};
constexpr int64_t worseShared[] = {9000, 5000}, betterShared[] = {5000, 9000}, even[] = {5000, 5100};

TEST(ThreadTrials, AreAloneWhereThatIsFaster) {
  Caller caller;
  caller.run(20, model, worseShared);
  int alone = caller.run(4000, model, worseShared);
  EXPECT_GT(alone, 3960);
  EXPECT_LT(alone, 4000) << "sharing is never tried again";
}

TEST(ThreadTrials, AreSharedWhereThatIsFaster) {
  Caller caller;
  EXPECT_LT(caller.run(4000, model, betterShared), 20);
  Caller other;
  int alone = other.run(4000, model, even);
  EXPECT_LT(alone, 80);
  EXPECT_GT(alone, 20) << "what is nearly as long is not tried oftener";
}

/// Another program takes a processor during the first trial: what that says is not believed for long.
TEST(ThreadTrials, AreTriedAgainBeforeTheyAreAloneForLong) {
  Caller caller;
  caller.run(10, model, worseShared);
  EXPECT_LT(caller.run(1000, model, betterShared), 30);
}

TEST(ThreadTrials, FollowTheMachine) {
  Caller caller;
  caller.run(2500, model, betterShared);
  EXPECT_GT(caller.run(5000, model, worseShared), 2500);
  EXPECT_LT(caller.run(5000, model, betterShared), 2500);
}

TEST(ThreadTrials, OfOneLoopAreLapsToo) {
  Caller caller;
  caller.run(20, {3}, worseShared);
  EXPECT_GT(caller.run(500, {3}, worseShared), 480);
}

TEST(ThreadTrials, ThatAreLongAreShared) {
  constexpr int64_t longOnes[] = {900000, 500000};
  Caller caller;
  EXPECT_EQ(caller.run(4000, model, longOnes), 0);
}

/// A model whose loops are others from run to run.
TEST(ThreadTrials, OfOtherLoopsAreNotCompared) {
  Caller caller;
  int alone = 0;
  for (int lap = 0; lap < 4000; ++lap) {
    std::vector<int> loops(1 + lap % 13, 2);
    loops.insert(loops.begin(), lap % 3);
    alone += caller.run(1, loops, betterShared);
  }
  EXPECT_LT(alone, 200);
}

TEST(ThreadTrials, OfAnotherModelAreTriedAnew) {
  Caller caller;
  caller.run(100, model, worseShared);
  EXPECT_LT(caller.run(6000, {5, 4, 5}, betterShared), 300);
  EXPECT_GT(caller.run(6000, model, worseShared), 5700);
}

/// Few loops that are long: what they gain counts wholly beside what small ones lose.
TEST(ThreadTrials, CountLongLoopsWholly) {
  constexpr int64_t large[] = {1500000, 2900000}, small[] = {50000, 20000};
  Caller caller;
  int alone = 0;
  for (int lap = 0; lap < 4000; ++lap) {
    caller.loop(bodies[0], 10, small);
    caller.loop(bodies[1], 10, small);
    alone += caller.loop(bodies[2], 10, large);
  }
  EXPECT_LT(alone, 20);
}

/// A caller that does something else between its runs is none the wiser by that.
TEST(ThreadTrials, WithPausesBetweenThem) {
  Caller caller;
  int alone = 0;
  for (int lap = 0; lap < 500; ++lap) {
    caller.now += 30000000 + lap % 7 * 1000000;
    alone += caller.run(1, model, worseShared);
  }
  EXPECT_GT(alone, 450);
}

} // namespace
