// Local training of many devices at once: one block a device, a warp's lanes are the samples of a mini-batch.
//
// A map holds the values of one layer for a group of samples, as [unit][SAMPLES], a unit being (channel, row, column). A warp works on tiles of
// units, and each lane on its own sample of them: weights are the same for all lanes, so that one load serves the warp, and maps are read and
// written without bank conflicts. Mini-batches of at most 16 samples leave lanes over: those work on other tiles (PARTS tiles a warp).
//
// Everything here is instantiated by what `source.rs` writes below it. Above it stand SAMPLES, WARPS and Input (the type of the data set's values).
// Sums are taken in one order: the same bytes in every run.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define FN __device__ __forceinline__

constexpr int THREADS = 32 * WARPS;
constexpr int PARTS = 32 / SAMPLES;

// One device's work. `work.rs` has the same structs.
struct Job {
  u64 start;  // where its first weights lie, in floats
  u32 order;  // where its list of samples begins, and how long it is
  u32 length;
  u32 batch;
  u32 slot;  // where its results go
  float learning_rate;
  float momentum;
  float weight_decay;
  float proximal;
  float epsilon;
};

// Samples that a model is looked at with.
struct Look {
  u64 model;
  u32 order;
  u32 length;
};

struct Lane {
  int thread;
  int warp;
  int lane;
  int sample;
  int part;
  bool live;  // false for lanes that are left over
};

// Asked at the begin of every phase. `zero` holds 0, which the compiler does not know: otherwise it would find the addresses of all phases before the first
// step, and keep them in registers that the phases need.
FN Lane who(const float* zero) {
  Lane me;
  me.thread = static_cast<int>(threadIdx.x) + *reinterpret_cast<const volatile int*>(zero);
  me.warp = me.thread >> 5;
  me.lane = me.thread & 31;
  me.part = me.lane / SAMPLES;
  me.sample = me.lane - me.part * SAMPLES;
  me.live = me.part < PARTS;
  if (!me.live) me.part = 0;
  return me;
}

// Halves the elements that a lane holds, and doubles the lanes that each is the sum over, until one is left.
template <int HALF, int N>
FN void fold_lanes(float (&a)[N], int lane) {
  if constexpr (HALF >= 1) {
    const bool upper = lane & HALF;
#pragma unroll
    for (int i = 0; i < HALF; ++i) {
      const float send = upper ? a[i] : a[i + HALF];
      const float keep = upper ? a[i + HALF] : a[i];
      a[i] = keep + __shfl_xor_sync(0xffffffffu, send, HALF);
    }
    fold_lanes<HALF / 2>(a, lane);
  }
}

// The sum of every element over all lanes, element i in lane i; N is a power of two, at most 32, and elements repeat every N lanes.
template <int N>
FN float sum_over_lanes(float (&a)[N], int lane) {
  fold_lanes<N / 2>(a, lane);
  float sum = a[0];
#pragma unroll
  for (int m = N; m < 32; m *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, m);
  return sum;
}

// Hands the sums over all lanes of the first COUNT numbers that each lane holds to `put`, each to one lane.
template <int COUNT, int N, typename Put>
FN void put_sums(float (&numbers)[N], int lane, Put put) {
  static_assert(N % 32 == 0);
#pragma unroll
  for (int chunk = 0; chunk < N / 32; ++chunk) {
    float some[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) some[i] = numbers[32 * chunk + i];
    const float sum = sum_over_lanes(some, lane);
    if (32 * chunk + lane < COUNT) put(32 * chunk + lane, sum);
  }
}

// Neighbours in memory, four at a time where ALIGNED says that the first lies at a multiple of 16 bytes.
template <bool ALIGNED, int N>
FN void load(float (&to)[N], const float* from) {
  constexpr int FOURS = ALIGNED ? N / 4 : 0;
#pragma unroll
  for (int q = 0; q < FOURS; ++q) {
    const float4 four = *reinterpret_cast<const float4*>(from + 4 * q);
    to[4 * q] = four.x;
    to[4 * q + 1] = four.y;
    to[4 * q + 2] = four.z;
    to[4 * q + 3] = four.w;
  }
#pragma unroll
  for (int i = 4 * FOURS; i < N; ++i) to[i] = from[i];
}

// Rows of ROW values, every STRIDE in `to` and one after the other in `from`.
template <int ROWS, int ROW, int STRIDE>
FN void import_rows(const float* from, float* to, Lane me) {
  for (int i = me.thread; i < ROWS * ROW; i += THREADS) to[i / ROW * STRIDE + i % ROW] = from[i];
}

template <int ROWS, int ROW, int STRIDE>
FN void export_rows(const float* from, float* to, Lane me) {
  for (int i = me.thread; i < ROWS * ROW; i += THREADS) to[i] = from[i / ROW * STRIDE + i % ROW];
}

template <int N>
FN void copy_all(const float* from, float* to, Lane me) {
  for (int i = me.thread; i < N; i += THREADS) to[i] = from[i];
}

template <int N>
FN void clear(float* to, Lane me) {
  for (int i = me.thread; i < N; i += THREADS) to[i] = 0.f;
}

// Weights of a tile take so many places: those of four or more channels are loaded four at a time.
__device__ constexpr int padded(int channels) { return channels < 4 ? channels : (channels + 3) / 4 * 4; }

// Convolution weights [A][B][K*K] as [B][K*K][A in tiles of T, each padded]: with A the filters for the way forward.
// TURNED: as [A][K*K][B in tiles], for the way back.
template <int A, int B, int KK, int T, bool TURNED>
FN void pack(const float* weights, float* to, Lane me) {
  constexpr int OUTER = TURNED ? A : B, INNER = TURNED ? B : A;
  constexpr int TILES = (INNER + T - 1) / T, PADDED = padded(T);
  for (int i = me.thread; i < OUTER * KK * TILES * PADDED; i += THREADS) {
    const int place = i % PADDED, tile = i / PADDED % TILES, at = i / (PADDED * TILES);
    const int k = at % KK, outer = at / KK, inner = tile * T + place;
    const int a = TURNED ? outer : inner, b = TURNED ? inner : outer;
    to[i] = place < T && inner < INNER ? weights[(a * B + b) * KK + k] : 0.f;
  }
}

// A pixel over 255, rounded as by a division, whose branches it does without.
FN float as_number(u8 pixel) {
  const float whole = pixel, part = 1.f / 255.f, about = whole * part;
  return fmaf(fmaf(-about, 255.f, whole), part, about);
}
FN float as_number(float number) { return number; }

// WIDE values at once where a sample's length allows it.
template <int WIDE>
struct alignas(WIDE * sizeof(Input)) Several {
  Input values[WIDE];
};

// Gathers a group of samples into the input map; lanes without one get zeros.
template <int VALUES, int WIDE>
FN void gather(const Input* inputs, const u32* order, u32 used, float* map, Lane me) {
  const bool has = me.sample < static_cast<int>(used);
  const Input* own = inputs + static_cast<size_t>(has ? order[me.sample] : 0u) * VALUES;
  for (int at = me.warp * PARTS + me.part; at < VALUES / WIDE; at += WARPS * PARTS) {
    const Several<WIDE> several = reinterpret_cast<const Several<WIDE>*>(own)[at];
    if (me.live) {
#pragma unroll
      for (int i = 0; i < WIDE; ++i) map[(at * WIDE + i) * SAMPLES + me.sample] = has ? as_number(several.values[i]) : 0.f;
    }
  }
}

// Gathers a group of samples as bytes, rows of W of them every PITCH.
template <int VALUES, int WIDE, int W, int PITCH>
FN void gather_pixels(const u8* inputs, const u32* order, u32 used, u8* map, Lane me) {
  const bool has = me.sample < static_cast<int>(used);
  const u8* own = inputs + static_cast<size_t>(has ? order[me.sample] : 0u) * VALUES;
  for (int at = me.warp * PARTS + me.part; at < VALUES / WIDE; at += WARPS * PARTS) {
    const Several<WIDE> several = reinterpret_cast<const Several<WIDE>*>(own)[at];
    if (me.live) {
#pragma unroll
      for (int i = 0; i < WIDE; ++i) map[((at * WIDE + i) / W * PITCH + (at * WIDE + i) % W) * SAMPLES + me.sample] = has ? several.values[i] : 0;
    }
  }
}

// One value of a map; zero outside of it where CHECKED.
template <int H, int W, bool CHECKED>
FN float value(const float* map, int channel, int y, int x, int sample) {
  if (CHECKED && (y < 0 || y >= H || x < 0 || x >= W)) return 0.f;
  return map[((channel * H + y) * W + x) * SAMPLES + sample];
}

// A convolution and its bias; with POOL also the maximum of 2 x 2 outputs, whose winners are kept if KEEP; with RELU what is negative becomes 0.
// A task is 2 rows x TC columns x CT filters.
template <int CI, int H, int W, int CO, int K, int PAD, bool POOL, bool RELU, bool KEEP, int TC, int CT>
FN void conv_forward(const float* x, const float* packed, const float* biases, float* out, u8* winners, Lane me) {
  constexpr int OH = H + 2 * PAD - K + 1, OW = W + 2 * PAD - K + 1;
  constexpr int PH = OH / 2, PW = OW / 2;
  constexpr int ROWS = POOL ? PH : (OH + 1) / 2, COLS = ((POOL ? 2 * PW : OW) + TC - 1) / TC;
  constexpr int TILES = ROWS * COLS, TEAMS = (TILES + PARTS - 1) / PARTS;
  constexpr int SPLITS = (CO + CT - 1) / CT, PADDED = padded(CT), LONG = TC + K - 1;
  constexpr bool CHECKED = PAD > 0 || 2 * ROWS + K - 1 > H || COLS * TC + K - 1 > W;
  // Long code runs out of the cache for instructions.
  constexpr int AT_ONCE = 2 * TC * CT * K * K <= 1024 ? K : 1;
  for (int task = me.warp; task < TEAMS * SPLITS; task += WARPS) {
    const int split = task / TEAMS, tile = task % TEAMS * PARTS + me.part;
    const bool live = me.live && tile < TILES;
    const int r = live ? tile / COLS * 2 : 0, c = COLS == 1 || !live ? 0 : tile % COLS * TC;
    float sums[2][TC][CT] = {};
#pragma unroll 1
    for (int ci = 0; ci < CI; ++ci) {
      float above[LONG], below[LONG];
#pragma unroll
      for (int j = 0; j < LONG; ++j) above[j] = value<H, W, CHECKED>(x, ci, r - PAD, c + j - PAD, me.sample);
#pragma unroll AT_ONCE
      for (int ky = 0; ky < K; ++ky) {
#pragma unroll
        for (int j = 0; j < LONG; ++j) below[j] = value<H, W, CHECKED>(x, ci, r + ky + 1 - PAD, c + j - PAD, me.sample);
#pragma unroll
        for (int kx = 0; kx < K; ++kx) {
          float w[CT];
          load<CT >= 4>(w, packed + (((ci * K + ky) * K + kx) * SPLITS + split) * PADDED);
#pragma unroll
          for (int j = 0; j < TC; ++j) {
#pragma unroll
            for (int o = 0; o < CT; ++o) {
              sums[0][j][o] = fmaf(above[j + kx], w[o], sums[0][j][o]);
              sums[1][j][o] = fmaf(below[j + kx], w[o], sums[1][j][o]);
            }
          }
        }
#pragma unroll
        for (int j = 0; j < LONG; ++j) above[j] = below[j];
      }
    }
    if (!live) continue;
#pragma unroll
    for (int o = 0; o < CT; ++o) {
      const int co = split * CT + o;
      if (co >= CO) continue;
      const float bias = biases[co];
      if (POOL) {
#pragma unroll
        for (int j = 0; j < TC / 2; ++j) {
          if (c / 2 + j >= PW) continue;
          float most = sums[0][2 * j][o];
          int winner = 0;
          if (sums[0][2 * j + 1][o] > most) most = sums[0][2 * j + 1][o], winner = 1;
          if (sums[1][2 * j][o] > most) most = sums[1][2 * j][o], winner = 2;
          if (sums[1][2 * j + 1][o] > most) most = sums[1][2 * j + 1][o], winner = 3;
          most += bias;
          const int at = ((co * PH + r / 2) * PW + c / 2 + j) * SAMPLES + me.sample;
          out[at] = RELU && most < 0.f ? 0.f : most;
          if (KEEP) winners[at] = static_cast<u8>(winner);
        }
      } else {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
          for (int j = 0; j < TC; ++j) {
            if (r + i >= OH || c + j >= OW) continue;
            const float sum = sums[i][j][o] + bias;
            out[((co * OH + r + i) * OW + c + j) * SAMPLES + me.sample] = RELU && sum < 0.f ? 0.f : sum;
          }
        }
      }
    }
  }
}

// The gradient with respect to a block of 2 x 2 outputs of a convolution, as it lies in memory: with POOL one number, and the place that has it.
template <bool POOL>
struct Block {
  float values[POOL ? 1 : 4];
  int winner;
};

template <int OH, int OW, bool POOL>
FN Block<POOL> load_block(const float* flow, const u8* winners, int co, int br, int bc, int sample) {
  Block<POOL> block;
  if (POOL) {
    const int at = ((co * (OH / 2) + br) * (OW / 2) + bc) * SAMPLES + sample;
    block.values[0] = flow[at];
    block.winner = winners[at];
  } else {
#pragma unroll
    for (int i = 0; i < (POOL ? 0 : 4); ++i) block.values[i] = value<OH, OW, true>(flow, co, 2 * br + i / 2, 2 * bc + i % 2, sample);
  }
  return block;
}

// Gradients of convolution weights: a task is CT filters x KY x KX places of the kernel, for one input channel and one of SPLITS parts of the outputs.
// Writes them to gradient[part][weight], parts being padded to multiples of 4, or adds to what is there. What the next block needs is on its way while this one is worked on: gradients
// always, with AHEAD the input as well.
template <int CI, int H, int W, int CO, int K, int PAD, bool POOL, int CT, int KY, int KX, int SPLITS, bool AHEAD>
FN void conv_weight_gradient(const float* x, const float* flow, const u8* winners, float* gradient, bool add, Lane me) {
  constexpr int OH = H + 2 * PAD - K + 1, OW = W + 2 * PAD - K + 1;
  constexpr int BH = POOL ? OH / 2 : (OH + 1) / 2, BW = POOL ? OW / 2 : (OW + 1) / 2, STEP = SPLITS * PARTS;
  constexpr int YS = (K + KY - 1) / KY, XS = (K + KX - 1) / KX, COS = (CO + CT - 1) / CT;
  constexpr bool CHECKED = PAD > 0 || YS * KY != K || XS * KX != K || 2 * BH + K - 1 > H || 2 * BW + K - 1 > W;
  constexpr int N = CT * KY * KX;
  for (int task = me.warp; task < SPLITS * XS * YS * CI * COS; task += WARPS) {
    const int split = task % SPLITS, kx = task / SPLITS % XS * KX, ky = task / (SPLITS * XS) % YS * KY;
    const int ci = task / (SPLITS * XS * YS) % CI, co = task / (SPLITS * XS * YS * CI) * CT;
    float sums[(N + 31) / 32 * 32] = {};
    Block<POOL> coming[CT];
    float window[KY + 1][KX + 1];
    auto load_window = [&](int b) {
      const int br = b / BW, bc = b % BW;
#pragma unroll
      for (int i = 0; i <= KY; ++i) {
#pragma unroll
        for (int j = 0; j <= KX; ++j) window[i][j] = value<H, W, CHECKED>(x, ci, 2 * br + ky + i - PAD, 2 * bc + kx + j - PAD, me.sample);
      }
    };
    auto load_coming = [&](int b) {
#pragma unroll
      // Filters beyond the last are computed like it, and not kept.
      for (int o = 0; o < CT; ++o) coming[o] = load_block<OH, OW, POOL>(flow, winners, CO % CT == 0 || co + o < CO ? co + o : CO - 1, b / BW, b % BW, me.sample);
    };
    const int first = split * PARTS + me.part;
    if (me.live && first < BH * BW) {
      load_coming(first);
      if (AHEAD) load_window(first);
#pragma unroll 1
      for (int b = first; b < BH * BW; b += STEP) {
        const int next = b + STEP < BH * BW ? b + STEP : b;
        Block<POOL> block[CT];
#pragma unroll
        for (int o = 0; o < CT; ++o) block[o] = coming[o];
        load_coming(next);
        if (!AHEAD) load_window(b);
        float seen[KY + 1][KX + 1];
#pragma unroll
        for (int i = 0; i <= KY; ++i) {
#pragma unroll
          for (int j = 0; j <= KX; ++j) seen[i][j] = window[i][j];
        }
        if (AHEAD) load_window(next);
#pragma unroll
        for (int o = 0; o < CT; ++o) {
          float g[2][2];
#pragma unroll
          for (int i = 0; i < 4; ++i) g[i / 2][i % 2] = POOL ? (block[o].winner == i ? block[o].values[0] : 0.f) : block[o].values[POOL ? 0 : i];
#pragma unroll
          for (int p = 0; p < 4; ++p) {
#pragma unroll
            for (int e = 0; e < KY * KX; ++e) {
              float& sum = sums[o * KY * KX + e];
              sum = fmaf(g[p / 2][p % 2], seen[e / KX + p / 2][e % KX + p % 2], sum);
            }
          }
        }
      }
    }
    __syncwarp();
    put_sums<N>(sums, me.lane, [&](int e, float sum) {
      const int j = e % KX + kx, i = e / KX % KY + ky, o = e / (KX * KY) + co;
      if (o < CO && i < K && j < K) {
        const int at = split * ((CO * CI * K * K + 3) / 4 * 4) + ((o * CI + ci) * K + i) * K + j;
        gradient[at] = add ? gradient[at] + sum : sum;
      }
    });
  }
}

// A value of a map; a byte counts as a whole number, in units of 1 / 255. The bits of 2^23 + byte end in it, so that no conversion is needed.
FN float number_of(float number) { return number; }
FN float number_of(u8 pixel) { return __uint_as_float(0x4b000000u | pixel) - 8388608.f; }
FN float in_numbers(const float*, float sum) { return sum; }
FN float in_numbers(const u8*, float sum) { return sum * (1.f / 255.f); }

// The same behind a pool, with an input that is quick to read: of each block of 2 x 2 outputs only the winner has a gradient, so each lane reads the
// input where its own winner is, and multiplies a quarter as often. A task is one filter x CT input channels, for one of SPLITS parts of the outputs.
// Rows of the input begin every PITCH values.
template <int CI, int H, int W, int CO, int K, int PAD, int PITCH, int CT, int SPLITS, typename X>
FN void conv_weight_gradient_of_winners(const X* x, const float* flow, const u8* winners, float* gradient, bool add, Lane me) {
  constexpr int OH = H + 2 * PAD - K + 1, OW = W + 2 * PAD - K + 1, BW = OW / 2, BLOCKS = OH / 2 * BW;
  constexpr int TASKS = CI / CT, N = CT * K * K, STEP = SPLITS * PARTS;
  static_assert(CI % CT == 0);
  for (int task = me.warp; task < SPLITS * TASKS * CO; task += WARPS) {
    const int split = task % SPLITS, ci = task / SPLITS % TASKS * CT, co = task / (SPLITS * TASKS);
    float sums[(N + 31) / 32 * 32] = {};
    const int first = split * PARTS + me.part;
    if (me.live && first < BLOCKS) {
      Block<true> coming = load_block<OH, OW, true>(flow, winners, co, first / BW, first % BW, me.sample);
#pragma unroll 1
      for (int b = first; b < BLOCKS; b += STEP) {
        const Block<true> block = coming;
        const int next = b + STEP < BLOCKS ? b + STEP : b;
        coming = load_block<OH, OW, true>(flow, winners, co, next / BW, next % BW, me.sample);
        const int y = b / BW * 2 + block.winner / 2 - PAD, c = b % BW * 2 + block.winner % 2 - PAD;
        const X* const corner = x + ((ci * H + y) * PITCH + c) * SAMPLES + me.sample;
#pragma unroll
        for (int e = 0; e < N; ++e) {
          const int i = e / K % K, j = e % K;
          if (PAD > 0 && (y + i < 0 || y + i >= H || c + j < 0 || c + j >= W)) continue;
          sums[e] = fmaf(block.values[0], number_of(corner[((e / (K * K) * H + i) * PITCH + j) * SAMPLES]), sums[e]);
        }
      }
    }
    __syncwarp();
    put_sums<N>(sums, me.lane, [&](int e, float sum) {
      const int at = split * ((CO * CI * K * K + 3) / 4 * 4) + (co * CI + ci) * K * K + e;
      gradient[at] = in_numbers(x, sum) + (add ? gradient[at] : 0.f);
    });
  }
}

// Gradients of the biases of a convolution with UNITS outputs a filter (after the pool).
template <int CO, int UNITS>
FN void conv_bias_gradient(const float* flow, float* gradient, bool add, Lane me) {
  for (int co = me.warp; co < CO; co += WARPS) {
    float sum[1] = {0.f};
    if (me.live) {
      for (int u = me.part; u < UNITS; u += PARTS) sum[0] += flow[(co * UNITS + u) * SAMPLES + me.sample];
    }
    __syncwarp();
    const float all = sum_over_lanes(sum, me.lane);
    if (me.lane == 0) gradient[co] = add ? gradient[co] + all : all;
  }
}

// What a gradient with respect to a layer's input becomes.
// MASK: it stops where the input is not positive, because a relu made it. ATTACK: the input moves along its sign instead, within [0, 1] (FGSM).
template <bool MASK, bool ATTACK>
FN void deliver(float* at, float slope, float epsilon) {
  if (ATTACK) {
    const float sign = (slope > 0.f ? 1.f : 0.f) - (slope < 0.f ? 1.f : 0.f);
    *at = fminf(fmaxf(fmaf(epsilon, sign, *at), 0.f), 1.f);
  } else {
    *at = !MASK || *at > 0.f ? slope : 0.f;
  }
}

// The next task that no warp has taken yet, where some take longer than others. The counter was 0 when the last barrier was passed.
FN int next_task(u32* counter, Lane me) {
  u32 taken = 0;
  if (me.lane == 0) taken = atomicAdd(counter, 1u);
  return static_cast<int>(__shfl_sync(0xffffffffu, taken, 0));
}

// The gradient with respect to the input of a convolution, in place of that input. A task is 2 rows x TC columns x CT input channels.
// Inputs near the border went into fewer outputs than others: with wide kernels it pays to leave out what is zero.
template <int CI, int H, int W, int CO, int K, int PAD, bool POOL, bool MASK, bool ATTACK, int TC, int CT>
FN void conv_input_gradient(float* x, const float* packed, const float* flow, const u8* winners, float epsilon, u32* counter, Lane me) {
  constexpr int OH = H + 2 * PAD - K + 1, OW = W + 2 * PAD - K + 1;
  // Outputs that a gradient comes from.
  constexpr int LAST_ROW = POOL ? OH / 2 * 2 : OH, LAST_COLUMN = POOL ? OW / 2 * 2 : OW;
  constexpr bool SKIPS = K - 1 - PAD >= 2 && K <= 32;
  constexpr int ROWS = (H + 1) / 2, COLS = (W + TC - 1) / TC, TILES = ROWS * COLS, TEAMS = (TILES + PARTS - 1) / PARTS;
  constexpr int SPLITS = (CI + CT - 1) / CT, PADDED = padded(CT), LONG = TC + K - 1;
  // The first row and column of outputs that a tile's first input went into; tiles begin at even ones, so that its parity is known here.
  constexpr int FIRST = PAD - K + 1, ODD = FIRST & 1, BLOCKS = (LONG + ODD + 1) / 2, BLOCK_ROWS = (K + 1 + ODD + 1) / 2;
  for (int task = next_task(counter, me); task < TEAMS * SPLITS; task = next_task(counter, me)) {
    // From the middle outwards: what takes longest comes first.
    const int split = task % SPLITS, team = task / SPLITS;
    const int tile = (TEAMS / 2 + (team % 2 == 0 ? team / 2 : TEAMS - (team + 1) / 2)) % TEAMS * PARTS + me.part;
    const bool live = me.live && tile < TILES;
    // A tile as wide as the map begins at column 0, which is known here.
    const int y = live ? tile / COLS * 2 : 0, c = COLS == 1 || !live ? 0 : tile % COLS * TC;
    // Rows and columns of the kernel by which an output of any lane is reached.
    u32 rows_used = 0, columns_used = 0;
    if (SKIPS) {
      for (int k = 0; k < K; ++k) {
        rows_used |= (__any_sync(0xffffffffu, y + PAD - k >= -1 && y + PAD - k < LAST_ROW) ? 1u : 0u) << k;
        if (COLS > 1) columns_used |= (__any_sync(0xffffffffu, c + PAD - k > -TC && c + PAD - k < LAST_COLUMN) ? 1u : 0u) << k;
      }
    }
    float sums[2][TC][CT] = {};
    // Gradients of the outputs that the tile went into, as they lie in memory; those of the next filter are on their way while this one is worked on.
    Block<true> coming[BLOCK_ROWS][BLOCKS];
    auto load_coming = [&](int co) {
#pragma unroll
      for (int i = 0; i < BLOCK_ROWS; ++i) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          const int br = ((y + FIRST) >> 1) + i, bc = ((c + FIRST) >> 1) + b;
          if (br >= 0 && br < OH / 2 && bc >= 0 && bc < OW / 2) {
            coming[i][b] = load_block<OH, OW, true>(flow, winners, co, br, bc, me.sample);
          } else {
            coming[i][b] = {{0.f}, 0};
          }
        }
      }
    };
    if (POOL) load_coming(0);
#pragma unroll 1
    for (int co = 0; co < CO; ++co) {
      Block<true> blocks[BLOCK_ROWS][BLOCKS];
      if (POOL) {
#pragma unroll
        for (int i = 0; i < BLOCK_ROWS * BLOCKS; ++i) blocks[i / BLOCKS][i % BLOCKS] = coming[i / BLOCKS][i % BLOCKS];
        load_coming(co + 1 < CO ? co + 1 : co);
      }
      // Row `i` of those outputs.
      auto row = [&](int i, float (&to)[LONG]) {
#pragma unroll
        for (int j = 0; j < LONG; ++j) {
          if (POOL) {
            const Block<true>& block = blocks[(i + ODD) / 2][(j + ODD) / 2];
            to[j] = block.winner == (i + ODD) % 2 * 2 + (j + ODD) % 2 ? block.values[0] : 0.f;
          } else {
            to[j] = value<OH, OW, true>(flow, co, y + FIRST + i, c + FIRST + j, me.sample);
          }
        }
      };
      float rows[2][LONG];
      row(0, rows[0]);
#pragma unroll
      for (int ky = K - 1; ky >= 0; --ky) {
        const float(&above)[LONG] = rows[(K - 1 - ky) % 2];
        float(&below)[LONG] = rows[(K - ky) % 2];
        row(K - ky, below);
        if (SKIPS && !(rows_used >> ky & 1)) continue;
#pragma unroll
        for (int kx = 0; kx < K; ++kx) {
          if (SKIPS && COLS > 1 && !(columns_used >> kx & 1)) continue;
          float w[CT];
          load<CT >= 4>(w, packed + (((co * K + ky) * K + kx) * SPLITS + split) * PADDED);
#pragma unroll
          for (int j = 0; j < TC; ++j) {
            if (COLS == 1 && (j + PAD - kx < 0 || j + PAD - kx >= LAST_COLUMN)) continue;
#pragma unroll
            for (int o = 0; o < CT; ++o) {
              sums[0][j][o] = fmaf(above[j + K - 1 - kx], w[o], sums[0][j][o]);
              sums[1][j][o] = fmaf(below[j + K - 1 - kx], w[o], sums[1][j][o]);
            }
          }
        }
      }
    }
    if (!live) continue;
#pragma unroll
    for (int o = 0; o < CT; ++o) {
      const int ci = split * CT + o;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < TC; ++j) {
          if (ci < CI && y + i < H && c + j < W) deliver<MASK, ATTACK>(x + ((ci * H + y + i) * W + c + j) * SAMPLES + me.sample, sums[i][j][o], epsilon);
        }
      }
    }
  }
}

// Dense layers are products of matrices: a thread has 4 units and EACH samples of them, a warp 4 * TALL units and all samples.
constexpr int ACROSS = SAMPLES > 16 ? 4 : SAMPLES > 8 ? 2 : 1;
constexpr int EACH = (SAMPLES + ACROSS - 1) / ACROSS;
constexpr int TALL = 32 / ACROSS;

// EACH samples of a unit, from `first` on; those beyond the last are read again, and not kept.
FN void load_samples(float (&to)[EACH], const float* unit, int first) {
  if (EACH * ACROSS == SAMPLES) {
    load<EACH % 4 == 0>(to, unit + first);
  } else {
#pragma unroll
    for (int e = 0; e < EACH; ++e) to[e] = unit[first + e < SAMPLES ? first + e : SAMPLES - 1];
  }
}

// A dense layer; rows of weights are padded with zeros to STRIDE, a multiple of 8. Each of SLICES parts of the inputs has sums of its own in `partial`.
template <int IN, int OUT, int STRIDE, bool RELU, int SLICES>
FN void dense_forward(const float* x, const float* weights, const float* biases, float* partial, float* out, Lane me) {
  constexpr int TILES = (OUT + 4 * TALL - 1) / (4 * TALL), LENGTH = (STRIDE / 8 + SLICES - 1) / SLICES * 8;
  const int s = me.lane % ACROSS * EACH;
  for (int task = me.warp; task < TILES * SLICES; task += WARPS) {
    const int o = (task % TILES * TALL + me.lane / ACROSS) * 4, slice = task / TILES;
    const int end = (slice + 1) * LENGTH < STRIDE ? (slice + 1) * LENGTH : STRIDE;
    float sums[4][EACH] = {};
    const float* rows[4];
#pragma unroll
    for (int t = 0; t < 4; ++t) rows[t] = weights + (o + t < OUT ? o + t : OUT - 1) * STRIDE;
#pragma unroll 1
    for (int i = slice * LENGTH; i < end; i += 8) {
      float w[4][8];
#pragma unroll
      for (int t = 0; t < 4; ++t) load<true>(w[t], rows[t] + i);
#pragma unroll
      for (int q = 0; q < 8; ++q) {
        float in[EACH];
        load_samples(in, x + (IN % 8 == 0 || i + q < IN ? i + q : IN - 1) * SAMPLES, s);
#pragma unroll
        for (int t = 0; t < 4; ++t) {
#pragma unroll
          for (int e = 0; e < EACH; ++e) sums[t][e] = fmaf(in[e], w[t][q], sums[t][e]);
        }
      }
    }
#pragma unroll
    for (int t = 0; t < 4; ++t) {
#pragma unroll
      for (int e = 0; e < EACH; ++e) {
        if (o + t < OUT && s + e < SAMPLES) partial[(slice * OUT + o + t) * SAMPLES + s + e] = sums[t][e];
      }
    }
  }
  __syncthreads();
  for (int i = me.thread; i < OUT * SAMPLES; i += THREADS) {
    float sum = biases[i / SAMPLES];
#pragma unroll
    for (int slice = 0; slice < SLICES; ++slice) sum += partial[slice * OUT * SAMPLES + i];
    out[i] = RELU && sum < 0.f ? 0.f : sum;
  }
}

// The gradient with respect to a dense layer's input, in place of that input.
template <int IN, int OUT, int STRIDE, bool MASK, bool ATTACK>
FN void dense_input_gradient(float* x, const float* weights, const float* flow, float epsilon, Lane me) {
  const int s = me.lane % ACROSS * EACH;
  for (int task = me.warp; task * 4 * TALL < IN; task += WARPS) {
    const int i = (task * TALL + me.lane / ACROSS) * 4;
    const float* column = weights + (i < STRIDE ? i : STRIDE - 4);
    float sums[4][EACH] = {};
    // Weights of the next few outputs are on their way while these are worked on.
    constexpr int FEW = 4;
    float coming[FEW][4];
    auto load_coming = [&](int o) {
#pragma unroll
      for (int k = 0; k < FEW; ++k) load<true>(coming[k], column + (o + k < OUT ? o + k : OUT - 1) * STRIDE);
    };
    load_coming(0);
#pragma unroll 1
    for (int o = 0; o < OUT; o += FEW) {
      float w[FEW][4];
#pragma unroll
      for (int k = 0; k < 4 * FEW; ++k) w[k / 4][k % 4] = coming[k / 4][k % 4];
      load_coming(o + FEW);
#pragma unroll
      for (int k = 0; k < FEW; ++k) {
        if (OUT % FEW != 0 && o + k >= OUT) continue;
        float g[EACH];
        load_samples(g, flow + (o + k) * SAMPLES, s);
#pragma unroll
        for (int t = 0; t < 4; ++t) {
#pragma unroll
          for (int e = 0; e < EACH; ++e) sums[t][e] = fmaf(g[e], w[k][t], sums[t][e]);
        }
      }
    }
#pragma unroll
    for (int t = 0; t < 4; ++t) {
#pragma unroll
      for (int e = 0; e < EACH; ++e) {
        if (i + t < IN && s + e < SAMPLES) deliver<MASK, ATTACK>(x + (i + t) * SAMPLES + s + e, sums[t][e], epsilon);
      }
    }
  }
}

// Gradients of dense weights. Lanes are inputs here, which meet the samples in turn, each lane beginning with another one, so that no two read the
// same bank. `stage` holds CHUNK inputs. A task is T outputs.
template <int IN, int OUT, int STRIDE, int CHUNK, int T>
FN void dense_weight_gradient(const float* x, const float* flow, float* stage, float* gradient, bool add, Lane me) {
  constexpr int OWN = CHUNK / 32;
  for (int first = 0; first < IN; first += CHUNK) {
    const int count = IN - first < CHUNK ? IN - first : CHUNK;
    for (int i = me.thread; i < count * SAMPLES; i += THREADS) stage[i] = x[first * SAMPLES + i];
    __syncthreads();
    for (int task = me.warp; task * T < OUT; task += WARPS) {
      const int o = task * T;
      float sums[OWN][T] = {};
      int s = me.lane % SAMPLES;
#pragma unroll 2
      for (int step = 0; step < SAMPLES; ++step) {
        float in[OWN];
#pragma unroll
        for (int e = 0; e < OWN; ++e) in[e] = stage[(e * 32 + me.lane) * SAMPLES + s];
#pragma unroll
        for (int t = 0; t < T; ++t) {
          const float g = flow[(OUT % T == 0 || o + t < OUT ? o + t : OUT - 1) * SAMPLES + s];
#pragma unroll
          for (int e = 0; e < OWN; ++e) sums[e][t] = fmaf(in[e], g, sums[e][t]);
        }
        s = s + 1 == SAMPLES ? 0 : s + 1;
      }
#pragma unroll
      for (int t = 0; t < T; ++t) {
#pragma unroll
        for (int e = 0; e < OWN; ++e) {
          const int i = e * 32 + me.lane;
          if (o + t < OUT && i < count) {
            float* to = gradient + (o + t) * STRIDE + first + i;
            *to = add ? *to + sums[e][t] : sums[e][t];
          }
        }
      }
    }
    __syncthreads();
  }
}

template <int OUT>
FN void dense_bias_gradient(const float* flow, float* gradient, bool add, Lane me) {
  for (int o = me.thread; o < OUT; o += THREADS) {
    float sum = 0.f;
    for (int s = 0; s < SAMPLES; ++s) sum += flow[o * SAMPLES + s];
    gradient[o] = add ? gradient[o] + sum : sum;
  }
}

// A relu that no other layer does on the way.
template <int UNITS>
FN void relu_forward(const float* x, float* out, Lane me) {
  for (int i = me.thread; i < UNITS * SAMPLES; i += THREADS) out[i] = x[i] < 0.f ? 0.f : x[i];
}

// MASK: the layer before is a relu, too.
template <int UNITS, bool MASK, bool ATTACK>
FN void relu_gradient(float* x, const float* flow, float epsilon, Lane me) {
  for (int i = me.thread; i < UNITS * SAMPLES; i += THREADS) deliver<MASK, ATTACK>(x + i, x[i] > 0.f ? flow[i] : 0.f, epsilon);
}

// The first place of the largest value in a window.
template <int H, int W, int SIZE>
FN int largest(const float* x, int c, int py, int px, int sample) {
  int winner = 0;
  float most = value<H, W, false>(x, c, py * SIZE, px * SIZE, sample);
  for (int i = 1; i < SIZE * SIZE; ++i) {
    const float v = value<H, W, false>(x, c, py * SIZE + i / SIZE, px * SIZE + i % SIZE, sample);
    if (v > most) most = v, winner = i;
  }
  return winner;
}

// A max-pool that no convolution does on the way.
template <int C, int H, int W, int SIZE>
FN void pool_forward(const float* x, float* out, Lane me) {
  constexpr int PH = H / SIZE, PW = W / SIZE;
  for (int u = me.warp * PARTS + me.part; u < C * PH * PW; u += WARPS * PARTS) {
    const int px = u % PW, py = u / PW % PH, c = u / (PW * PH), winner = largest<H, W, SIZE>(x, c, py, px, me.sample);
    if (me.live) out[u * SAMPLES + me.sample] = value<H, W, false>(x, c, py * SIZE + winner / SIZE, px * SIZE + winner % SIZE, me.sample);
  }
}

// A unit's window is its own, and units outside of all windows have no gradient.
template <int C, int H, int W, int SIZE, bool MASK, bool ATTACK>
FN void pool_gradient(float* x, const float* flow, float epsilon, Lane me) {
  constexpr int PH = H / SIZE, PW = W / SIZE, ROWS = (H + SIZE - 1) / SIZE, COLS = (W + SIZE - 1) / SIZE;
  for (int u = me.warp * PARTS + me.part; u < C * ROWS * COLS; u += WARPS * PARTS) {
    const int px = u % COLS, py = u / COLS % ROWS, c = u / (COLS * ROWS);
    const bool inside = py < PH && px < PW;
    const int winner = inside ? largest<H, W, SIZE>(x, c, py, px, me.sample) : -1;
    const float all = inside ? flow[((c * PH + py) * PW + px) * SAMPLES + me.sample] : 0.f;
    for (int i = 0; i < SIZE * SIZE; ++i) {
      const int y = py * SIZE + i / SIZE, xx = px * SIZE + i % SIZE;
      if (me.live && y < H && xx < W) deliver<MASK, ATTACK>(x + ((c * H + y) * W + xx) * SAMPLES + me.sample, i == winner ? all : 0.f, epsilon);
    }
  }
}

// Softmax of a sample's logits, and its loss.
template <int CLASSES>
FN float softmax(const float* logits, int sample, int label, float& most, float& sum) {
  most = logits[sample];
  for (int k = 1; k < CLASSES; ++k) most = fmaxf(most, logits[k * SAMPLES + sample]);
  sum = 0.f;
  for (int k = 0; k < CLASSES; ++k) sum += expf(logits[k * SAMPLES + sample] - most);
  return most + logf(sum) - logits[label * SAMPLES + sample];
}

// The gradient of scale x the sum of losses, in place of the logits. Returns the loss of this lane's sample, 0 where there is none.
template <int CLASSES>
FN float cross_entropy(float* logits, const u8* labels, const u32* order, u32 used, float scale, Lane me) {
  if (me.warp != 0 || !me.live || me.part != 0) return 0.f;
  if (me.sample >= static_cast<int>(used)) {
    for (int k = 0; k < CLASSES; ++k) logits[k * SAMPLES + me.sample] = 0.f;
    return 0.f;
  }
  const int label = labels[order[me.sample]];
  float most, sum;
  const float loss = softmax<CLASSES>(logits, me.sample, label, most, sum);
  const float factor = scale / sum;
  for (int k = 0; k < CLASSES; ++k) {
    float* at = logits + k * SAMPLES + me.sample;
    *at = expf(*at - most) * factor - (k == label ? scale : 0.f);
  }
  return loss;
}

// What a forward pass says of each sample: softmax outputs, loss, and whether its label's logit is the largest (the first of equals).
template <int CLASSES>
FN void tell(const float* logits, const u8* labels, const u32* order, u32 used, u32 at, float* outputs, float* losses, u8* correct, Lane me) {
  if (me.warp != 0 || !me.live || me.part != 0 || me.sample >= static_cast<int>(used)) return;
  const int label = labels[order[me.sample]];
  float most, sum;
  losses[at + me.sample] = softmax<CLASSES>(logits, me.sample, label, most, sum);
  const float own = logits[label * SAMPLES + me.sample];
  bool is_largest = true;
  for (int k = 0; k < CLASSES; ++k) {
    const float logit = logits[k * SAMPLES + me.sample];
    outputs[static_cast<size_t>(at + me.sample) * CLASSES + k] = expf(logit - most) / sum;
    is_largest = is_largest && (k < label ? logit < own : logit <= own);
  }
  correct[at + me.sample] = is_largest;
}

// Four numbers at a multiple of 16 bytes.
FN float4& four(float* at) { return *reinterpret_cast<float4*>(at); }
FN const float4& four(const float* at) { return *reinterpret_cast<const float4*>(at); }

// weight + factor x slope, four times.
FN float4 step(float4 weight, float factor, float4 slope) {
  return {fmaf(factor, slope.x, weight.x), fmaf(factor, slope.y, weight.y), fmaf(factor, slope.z, weight.z), fmaf(factor, slope.w, weight.w)};
}

// One step of gradient descent for N weights whose gradients come in SPLITS parts, N being a multiple of 4: weights and gradients end in zeros.
template <int N, int SPLITS>
FN void descend(const Job& job, float* weights, const float* gradient, float* velocity, const float* anchor, Lane me) {
#pragma unroll 2
  for (int i = 4 * me.thread; i < N; i += 4 * THREADS) {
    const float4 weight = four(weights + i);
    float4 slope = four(gradient + i);
#pragma unroll
    for (int k = 1; k < SPLITS; ++k) slope = step(slope, 1.f, four(gradient + k * N + i));
    slope = step(slope, job.weight_decay, weight);
    if (anchor) slope = step(slope, job.proximal, step(weight, -1.f, four(anchor + i)));
    if (velocity) {
      slope = step(slope, job.momentum, four(velocity + i));
      four(velocity + i) = slope;
    }
    four(weights + i) = step(weight, -job.learning_rate, slope);
  }
}

// The next job that nobody has taken yet, the same for the whole block, which is told by way of shared memory.
FN u32 take(u32* next, float* told) {
  u32* const taken = reinterpret_cast<u32*>(told);
  __syncthreads();
  if (threadIdx.x == 0) *taken = atomicAdd(next, 1u);
  __syncthreads();
  return *taken;
}

// Adds the cycles since then to a phase's; returns the time now.
FN u64 count_cycles(u64* phase, u64 since) {
  const u64 now = clock64();
  if (threadIdx.x == 0) atomicAdd(phase, now - since);
  return now;
}

// The mean over a block's lanes of what each sample lost, in a fixed order; right in thread 0.
FN float mean_loss(double loss, u32 steps, Lane me) {
  double all = 0.;
  for (int lane = 0; lane < 32; ++lane) all += __shfl_sync(0xffffffffu, loss, lane);
  return static_cast<float>(all / (steps > 0 ? steps : 1));
}

// A cell of models to be averaged.
struct Cell {
  u32 first;
  u32 count;
};

// The weighted mean of each cell's models, in double and in their order.
extern "C" __global__ void average(const float* models, const double* shares, const Cell* cells, u32 parameters, float* means) {
  const Cell cell = cells[blockIdx.y];
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < parameters; i += gridDim.x * blockDim.x) {
    double sum = 0.;
    for (u32 k = 0; k < cell.count; ++k) sum += shares[cell.first + k] * static_cast<double>(models[static_cast<size_t>(cell.first + k) * parameters + i]);
    means[static_cast<size_t>(blockIdx.y) * parameters + i] = static_cast<float>(sum);
  }
}
