// Runs the kernels on a CPU, block after block, each thread of a block a fiber: slow, but the same code to the letter.
// A development aid of the tests: `emulated.rs` compiles this, the kernels and a `main` into one program.

#include <ucontext.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define __device__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n)

using std::size_t;

struct alignas(16) float4 {
  float x, y, z, w;
};
struct Place {
  unsigned x, y;
};
static Place threadIdx, blockIdx, blockDim, gridDim;
alignas(16) float shared[1 << 16];

template <typename T>
T min(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at += value;
  return before;
}
inline unsigned long long clock64() { return 0; }
inline float __uint_as_float(unsigned bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

// A barrier that `count` fibers wait at; those that have come wait for the others' turn.
struct Barrier {
  int count = 0, come = 0, times = 0;
};

static std::vector<ucontext_t> fibers;
static std::vector<std::vector<char>> stacks;
static std::vector<char> finished;
static std::vector<Barrier> warps;
static std::vector<double> exchanged;
static Barrier block;
static ucontext_t scheduler;
static unsigned running;
static std::function<void()> body;

inline void yield_fiber() { swapcontext(&fibers[running], &scheduler); }

inline void wait_at(Barrier& barrier) {
  const int now = barrier.times;
  if (++barrier.come == barrier.count) {
    barrier.come = 0;
    ++barrier.times;
    return;
  }
  while (barrier.times == now) yield_fiber();
}

inline void __syncthreads() { wait_at(block); }
inline void __syncwarp() { wait_at(warps[running / 32]); }

template <typename T>
T __shfl_sync(unsigned, T value, int from) {
  exchanged[running] = value;
  __syncwarp();
  const T other = static_cast<T>(exchanged[running / 32 * 32 + from]);
  __syncwarp();
  return other;
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int flip) {
  return __shfl_sync(mask, value, static_cast<int>(running % 32) ^ flip);
}

inline bool __any_sync(unsigned, bool value) {
  exchanged[running] = value;
  __syncwarp();
  bool any = false;
  for (unsigned lane = 0; lane < 32; ++lane) any |= exchanged[running / 32 * 32 + lane] != 0.;
  __syncwarp();
  return any;
}

static void run_fiber() {
  body();
  finished[running] = 1;
  yield_fiber();
}

// One block of a kernel.
static void run_block(unsigned threads, std::function<void()> kernel) {
  body = kernel;
  fibers.assign(threads, ucontext_t{});
  stacks.resize(threads, std::vector<char>(256 << 10));
  finished.assign(threads, 0);
  warps.assign(threads / 32, Barrier{32});
  exchanged.assign(threads, 0.);
  block = Barrier{static_cast<int>(threads)};
  for (unsigned i = 0; i < threads; ++i) {
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = stacks[i].data();
    fibers[i].uc_stack.ss_size = stacks[i].size();
    fibers[i].uc_link = nullptr;
    makecontext(&fibers[i], run_fiber, 0);
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned i = 0; i < threads; ++i) {
      if (finished[i]) continue;
      any = true;
      running = i;
      threadIdx = {i, 0};
      swapcontext(&scheduler, &fibers[i]);
    }
  }
}

// Length and contents of the next array in a file.
template <typename T>
std::vector<T> read_array(FILE* file) {
  unsigned long long count = 0;
  if (fread(&count, sizeof count, 1, file) != 1) exit(3);
  std::vector<T> values(count);
  if (fread(values.data(), sizeof(T), count, file) != count) exit(3);
  return values;
}
template <typename T>
void write_array(FILE* file, const std::vector<T>& values) {
  fwrite(values.data(), sizeof(T), values.size(), file);
}
