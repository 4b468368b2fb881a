// One generation: parents are selected, then children bred. All chance comes from Philox4x32-10 (Salmon, Moraes,
// Dror and Shaw, SC 2011) with the key (seed, generation) and the counter (draw / 4, member, purpose, 0).

struct Shape { members: u32, genes: u32, tournament: u32, elites: u32 }
struct Settings { rate: f32, sigma: f32, lowest: f32, highest: f32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> population: array<vec4<f32>>; // members × ⌈genes⌉₄
@group(0) @binding(2) var<storage, read> fitness: array<u32>; // the bits of f32
@group(0) @binding(3) var<storage, read> settings: Settings;
@group(0) @binding(4) var<storage, read> key: vec2<u32>; // seed, generation
@group(0) @binding(5) var<storage, read_write> parents: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> children: array<vec4<f32>>; // members × ⌈genes⌉₄

override lanes: u32 = 16;

const GENES = 0u;
const TOURNAMENT = 1u;

// The upper 32 of the 64 bits of a product.
fn multiplyHigh(a: u32, b: u32) -> u32 {
  let upper = (a >> 16u) * (b & 0xffffu) + (((a & 0xffffu) * (b & 0xffffu)) >> 16u);
  let lower = (a & 0xffffu) * (b >> 16u) + (upper & 0xffffu);
  return (a >> 16u) * (b >> 16u) + (upper >> 16u) + (lower >> 16u);
}

fn philox(counter: vec4<u32>) -> vec4<u32> {
  var words = counter;
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

// Grows with the f32 of these bits; NaN is below everything, and the two zeros are one.
fn order(bits: u32) -> u32 {
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return 0u;
  }
  return select(0x80000000u + magnitude, 0x80000000u - magnitude, bits >> 31u == 1u);
}

// The fitter one, of equals the first.
fn isBetter(a: u32, b: u32) -> bool {
  let orderA = order(fitness[a]);
  let orderB = order(fitness[b]);
  return orderA > orderB || (orderA == orderB && a < b);
}

@compute @workgroup_size(lanes)
fn selectParents(@builtin(global_invocation_id) at: vec3<u32>) {
  let member = at.x;
  if (member >= shape.members) {
    return;
  }
  // An elite is its own two parents. Most members see soon that enough others are better.
  let elites = min(shape.elites, shape.members);
  var rank = 0u;
  for (var other = 0u; other < shape.members && rank < elites; other++) {
    rank += u32(isBetter(other, member));
  }
  if (rank < elites) {
    parents[rank] = vec2<u32>(member);
  }
  if (member < elites) {
    return;
  }
  var words = vec4<u32>();
  var first = 0u;
  var winner = 0u;
  for (var draw = 0u; draw < 2u * shape.tournament; draw++) {
    if (draw % 4u == 0u) {
      words = philox(vec4<u32>(draw / 4u, member, TOURNAMENT, 0u));
    }
    let contestant = multiplyHigh(words[draw % 4u], shape.members);
    if (draw == shape.tournament) {
      first = winner;
    }
    if (draw % shape.tournament == 0u || isBetter(contestant, winner)) {
      winner = contestant;
    }
  }
  parents[member] = vec2<u32>(first, winner);
}

// Where the standard normal distribution reaches (draw + ½) / draws, to a relative 2e-6: x·√2·erf⁻¹(x)/x, the
// quotient as Chebyshev sums in w = −log(1 − x²) up to 5 and in √w from there to the last draw's.
fn normal(draw: u32, draws: u32) -> f32 {
  let mirrored = draws - 1u - draw;
  let outer = min(draw, mirrored);
  let tail = (f32(outer) + 0.5) / f32(draws);
  let x = f32(draws - 1u - 2u * outer) / f32(draws);
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

// The lowest bit of a word has chosen the parent; the others decide on a mutation and, below it, how large it is.
fn mutate(gene: f32, word: u32, draws: u32) -> f32 {
  if (word >> 1u >= draws) {
    return gene;
  }
  return clamp(gene + settings.sigma * normal(word >> 1u, draws), settings.lowest, settings.highest);
}

@compute @workgroup_size(lanes)
fn breed(@builtin(global_invocation_id) at: vec3<u32>) {
  let pitch = (shape.genes + 3u) / 4u;
  let four = at.x;
  let member = at.y;
  if (four >= pitch) {
    return;
  }
  let pair = parents[member];
  let mother = population[pair.x * pitch + four];
  if (member < shape.elites) {
    children[member * pitch + four] = mother;
    return;
  }
  let words = philox(vec4<u32>(four, member, GENES, 0u));
  let chosen = (words & vec4<u32>(1u)) == vec4<u32>(1u);
  let genes = select(mother, population[pair.y * pitch + four], chosen);
  let draws = u32(settings.rate * 0x1p31);
  children[member * pitch + four] = vec4<f32>(
    mutate(genes.x, words.x, draws),
    mutate(genes.y, words.y, draws),
    mutate(genes.z, words.z, draws),
    mutate(genes.w, words.w, draws),
  );
}
