// The thread pool: every index once, the same result and status with any number of threads, nested and concurrent
// loops, sleeping workers.
#include "ingot.hpp"
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

namespace {

/// Runs a loop whose body is a C++ callable.
template <typename Body> int loop(const ingot_exec *exec, int64_t count, Body body) {
  auto call = [](void *args, int64_t begin, int64_t end) -> int { return (*static_cast<Body *>(args))(begin, end); };
  return ingot_parallel_for(exec, call, &body, count);
}

int sumOfOnes(const ingot_exec *exec, int64_t count) {
  std::atomic<int64_t> sum{0};
  int status = loop(exec, count, [&](int64_t begin, int64_t end) {
    sum += end - begin;
    return 0;
  });
  return status ? -1 : int(sum);
}

TEST(Pool, EveryIndexOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ingot::ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {1, 2, 3, 7, 31, 32, 33, 1000, 4099}) {
      std::vector<std::atomic<int>> seen(count);
      EXPECT_EQ(loop(pool.exec(), count,
                     [&](int64_t begin, int64_t end) {
                       EXPECT_LT(begin, end);
                       for (int64_t i = begin; i < end; ++i) {
                         ++seen[i];
                       }
                       return 0;
                     }),
                0);
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](auto &n) { return n == 1; })) << threads << " " << count;
    }
  }
}

TEST(Pool, HugeCountsDoNotOverflow) {
  ingot::ThreadPool pool(4);
  std::atomic<uint64_t> sum{0};
  EXPECT_EQ(loop(pool.exec(), INT64_MAX,
                 [&](int64_t begin, int64_t end) {
                   sum += uint64_t(end) - uint64_t(begin);
                   return 0;
                 }),
            0);
  EXPECT_EQ(sum, uint64_t(INT64_MAX));
}

TEST(Pool, DirectCallsWithNothingToDo) {
  ingot::ThreadPool pool(2);
  auto never = [](void *, int64_t, int64_t) { return 7; };
  const ingot_exec *exec = pool.exec();
  EXPECT_EQ(exec->parallel_for(exec->context, never, nullptr, 0), 0);
  EXPECT_EQ(exec->parallel_for(exec->context, never, nullptr, -1), 0);
  EXPECT_EQ(exec->parallel_for(exec->context, never, nullptr, 1), 7);
}

TEST(Pool, StatusIsThatOfTheLowestFailure) {
  for (int threads : {1, 2, 5}) {
    ingot::ThreadPool pool(threads);
    for (int round = 0; round < 200; ++round) {
      int64_t first = round % 97;
      int status = loop(pool.exec(), 100, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (i >= first) {
            return INGOT_STATUS(INGOT_ERROR_INDEX, i);
          }
          if (i < 4) {
            std::this_thread::yield(); // so that higher chunks often fail first
          }
        }
        return 0;
      });
      EXPECT_EQ(status, INGOT_STATUS(INGOT_ERROR_INDEX, first)) << threads;
    }
  }
}

TEST(Pool, NegativeStatusSurvives) {
  ingot::ThreadPool pool(3);
  EXPECT_EQ(loop(pool.exec(), 50, [](int64_t, int64_t) { return -5; }), -5);
}

TEST(Pool, Nested) {
  ingot::ThreadPool pool(4);
  std::atomic<int> sum{0};
  EXPECT_EQ(loop(pool.exec(), 20,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     int status = loop(pool.exec(), 30, [&](int64_t from, int64_t to) {
                       sum += sumOfOnes(pool.exec(), 5) * int(to - from);
                       return 0;
                     });
                     EXPECT_EQ(status, 0);
                   }
                   return 0;
                 }),
            0);
  EXPECT_EQ(sum, 20 * 30 * 5);
}

TEST(Pool, ManyCallersAtOnce) {
  ingot::ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  callers.reserve(24);
  for (int t = 0; t < 24; ++t) { // more than the pool has slots
    callers.emplace_back([&, t] {
      for (int round = 0; round < 100; ++round) {
        wrong += sumOfOnes(pool.exec(), 10 + t) != 10 + t;
      }
    });
  }
  for (std::thread &caller : callers) {
    caller.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Pool, WakesFromSleep) {
  ingot::ThreadPool pool(4);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(sumOfOnes(pool.exec(), 64), 64);
  }
}

TEST(Pool, WorkersDoTakePart) {
  ingot::ThreadPool pool(2);
  // Each of two chunks waits for the other to have begun: possible only on two threads. A caller that has run loops
  // before may be trying how long they take alone.
  std::atomic<int> begun{0};
  std::thread caller([&] {
    EXPECT_EQ(loop(pool.exec(), 2,
                   [&](int64_t begin, int64_t end) {
                     if (end - begin == 1) {
                       ++begun;
                       while (begun < 2) {
                         std::this_thread::yield();
                       }
                     }
                     return 0;
                   }),
              0);
  });
  caller.join();
  EXPECT_EQ(begun, 2);
}

TEST(Pool, CreateAndDestroyAtOnce) {
  for (int round = 0; round < 50; ++round) {
    ingot::ThreadPool pool(1 + round % 5);
    if (round % 2) {
      EXPECT_EQ(sumOfOnes(pool.exec(), 9), 9);
    }
  }
}

TEST(Pool, DefaultSizeAndNull) {
  ingot::ThreadPool pool;
  EXPECT_GE(pool.threads(), 1);
  EXPECT_EQ(ingot_pool_exec(nullptr), nullptr);
  ingot_pool_destroy(nullptr);
}

} // namespace
