/* The process of a loopback device: what it is sent through its queue, and the loop that works it off. Device.cpp runs
 * it in a fork of the host's program, Worker.c in an emulator of another architecture. */
#ifndef INGOT_LOOPBACK_SERVE_H
#define INGOT_LOOPBACK_SERVE_H
#include "runtime_support/include/ingot.h"
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* All addresses are those of the device's process. Behind a launch follow its arguments, `bytes` of them. */
typedef struct loopback_command {
  int64_t kind;
  uint64_t to, from;
  int64_t bytes, count;
  ingot_kernel kernel; /* of a launch; its name is none here */
} loopback_command;

enum {
  LOOPBACK_COPY,   /* `bytes` from `from` to `to` */
  LOOPBACK_OPEN,   /* `bytes` at `to` become memory of the device */
  LOOPBACK_CLOSE,  /* ... and are none any more */
  LOOPBACK_LOAD,   /* an image of `bytes` at `from`; at `to` names of `count` kernels, which become their addresses */
  LOOPBACK_LAUNCH, /* the kernel at `to` on `count` work items, or blocks */
  LOOPBACK_FAIL,
  LOOPBACK_WAIT, /* the first failure since the last one is sent back */
  LOOPBACK_END
};

/* How long the name of a kernel may be, with the zero behind it: its place holds the address, too. */
enum { LOOPBACK_NAME_BYTES = 512 };

typedef struct loopback_process {
  int queue;
  int64_t delay; /* microseconds before each command */
  int (*open)(void *at, int64_t bytes);
  void (*close)(void *at, int64_t bytes);
  int (*load)(const loopback_command *command);
  int (*blocks)(const loopback_command *command, const void *args); /* a launch of blocks of threads */
} loopback_process;

typedef void (*loopback_body)(const void *args, int64_t begin, int64_t end);

static inline int loopback_read(int file, void *data, int64_t bytes) {
  for (char *at = (char *)data, *end = at + bytes; at != end;) {
    ssize_t some = read(file, at, (size_t)(end - at));
    if (some == 0 || (some < 0 && errno != EINTR)) {
      return 0;
    }
    at += some > 0 ? some : 0;
  }
  return 1;
}

static inline void *loopback_at(uint64_t address) { return (void *)(uintptr_t)address; }

static inline loopback_body loopback_body_of(const loopback_command *command) {
  loopback_body body;
  uintptr_t address = (uintptr_t)command->to;
  memcpy(&body, &address, sizeof body);
  return body;
}

/* Work items in two parts, the second first: their order is the device's. */
static inline void loopback_launch(const loopback_command *command, const void *args) {
  loopback_body body = loopback_body_of(command);
  body(args, command->count / 2, command->count);
  if (command->count > 1) {
    body(args, 0, command->count / 2);
  }
}

/* 0, or the status that waits for whoever asks. */
static inline int loopback_do(const loopback_process *process, const loopback_command *command, const void *args) {
  switch (command->kind) {
  case LOOPBACK_COPY:
    memcpy(loopback_at(command->to), loopback_at(command->from), (size_t)command->bytes);
    return 0;
  case LOOPBACK_LOAD:
    return process->load(command);
  case LOOPBACK_LAUNCH:
    if (command->kernel.threads[0]) {
      return process->blocks(command, args);
    }
    loopback_launch(command, args);
    return 0;
  default:
    return INGOT_ERROR_DEVICE;
  }
}

/* No allocation, no lock: the process may be a fork of a program that has threads. */
static inline void loopback_serve(const loopback_process *process) {
  static uint64_t args[1 << 13];
  int status = 0;
  loopback_command command;
  while (loopback_read(process->queue, &command, sizeof command) && command.kind != LOOPBACK_END) {
    if (command.kind == LOOPBACK_LAUNCH &&
        (command.bytes > (int64_t)sizeof args || !loopback_read(process->queue, args, command.bytes))) {
      break;
    }
    if (process->delay) {
      usleep((useconds_t)process->delay);
    }
    if (command.kind == LOOPBACK_WAIT) {
      if (write(process->queue, &status, sizeof status) != (ssize_t)sizeof status) {
        break;
      }
      status = 0;
    } else if (command.kind == LOOPBACK_OPEN) {
      status = status ? status : process->open(loopback_at(command.to), command.bytes);
    } else if (command.kind == LOOPBACK_CLOSE) {
      process->close(loopback_at(command.to), command.bytes);
    } else if (!status) { /* what follows a failure is left out */
      status = loopback_do(process, &command, args);
    }
  }
}

#endif
