// Vectors of symbols, four numbers an invocation: word d mod 4 of Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011)
// with the counter (d / 4, 0, 0, 0) and the symbol's key is number d, as a normal quantile of its upper 24 bits.

struct Shape { symbols: u32, dimension: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> keys: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> vectors: array<vec4<f32>>; // symbols × ⌈d⌉₄

override lanes: u32 = 16;

const DRAWS = 1u << 24u;

// The upper 32 of the 64 bits of a product.
fn multiplyHigh(a: u32, b: u32) -> u32 {
  let upper = (a >> 16u) * (b & 0xffffu) + (((a & 0xffffu) * (b & 0xffffu)) >> 16u);
  let lower = (a & 0xffffu) * (b >> 16u) + (upper & 0xffffu);
  return (a >> 16u) * (b >> 16u) + (upper >> 16u) + (lower >> 16u);
}

fn philox(block: u32, key: vec2<u32>) -> vec4<u32> {
  var words = vec4<u32>(block, 0u, 0u, 0u);
  var round = key;
  for (var i = 0u; i < 10u; i++) {
    let high0 = multiplyHigh(0xd2511f53u, words.x);
    let high1 = multiplyHigh(0xcd9e8d57u, words.z);
    words = vec4<u32>(
      high1 ^ words.y ^ round.x,
      0xcd9e8d57u * words.z,
      high0 ^ words.w ^ round.y,
      0xd2511f53u * words.x,
    );
    round += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
  }
  return words;
}

// Where the standard normal distribution reaches (draw + ½) / DRAWS, to a relative 2e-6; see evolution-step.wgsl.
fn normal(draw: u32) -> f32 {
  let mirrored = DRAWS - 1u - draw;
  let outer = min(draw, mirrored);
  let tail = (f32(outer) + 0.5) / f32(DRAWS);
  let x = f32(DRAWS - 1u - 2u * outer) / f32(DRAWS);
  let w = -log(4.0 * tail * (1.0 - tail));
  var quotient: f32;
  if (w < 5.0) {
    let u = w * 0.4 - 1.0;
    quotient = 5.0248957e-5;
    quotient = quotient * u + 0.00029565630;
    quotient = quotient * u - 0.0011957826;
    quotient = quotient * u - 0.00060540931;
    quotient = quotient * u + 0.012062076;
    quotient = quotient * u - 0.027704192;
    quotient = quotient * u - 0.036923259;
    quotient = quotient * u + 0.87200677;
    quotient = quotient * u + 2.1233134;
  } else {
    let u = (sqrt(w) - TAIL_MIDDLE) / TAIL_REACH;
    quotient = -0.00094985764;
    quotient = quotient * u + 0.0027269742;
    quotient = quotient * u - 0.0034459827;
    quotient = quotient * u + 0.0037864672;
    quotient = quotient * u - 0.0056884573;
    quotient = quotient * u + 0.0075428448;
    quotient = quotient * u + 1.7170651;
    quotient = quotient * u + 4.6342254;
  }
  return quotient * select(x, -x, draw < mirrored);
}

// √5 to √21.6.
const TAIL_MIDDLE = 3.4418240;
const TAIL_REACH = 1.2057560;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let length = (shape.dimension + 3u) / 4u;
  let four = id.x;
  let symbol = id.y;
  if (four >= length) {
    return;
  }
  let draws = philox(four, keys[symbol]) >> vec4<u32>(8u);
  let values = vec4<f32>(normal(draws.x), normal(draws.y), normal(draws.z), normal(draws.w));
  vectors[symbol * length + four] = values / sqrt(f32(shape.dimension));
}
