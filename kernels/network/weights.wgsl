// Weights as they stand in the file: floats of 32 or 16 bits, or whole numbers of 8 or 4 bits that stand for so many
// times a scale. Four of them lie together, which is 16, 8, 4 or 2 bytes.

const FLOAT16 = 1u;
const INT8 = 2u;
const INT4 = 3u;

// Which types a network has, a bit for each; 0 is floats of 32 bits. Devices that compute all branches by masks are spared
// the others.
override weight_types: u32 = 15u;
const FLOATS_ONLY = 1u;

// The four with this index of those that begin at a word; whole numbers without their scale. The first word is given,
// since reading it from the table in a loop takes as long as reading a weight.
fn four(op: Op, first: i32, index: i32) -> vec4<f32> {
  if (weight_types == FLOATS_ONLY) { return weights4[(first >> 2u) + index]; }
  if (weight_types == 1u << FLOAT16) { return four_halves(first, index); }
  if (weight_types == 1u << INT8) { return four_bytes(first, index); }
  if (weight_types == 1u << INT4) { return four_nibbles(first, index); }
  switch op.weightType {
    case FLOAT16: { return four_halves(first, index); }
    case INT8: { return four_bytes(first, index); }
    case INT4: { return four_nibbles(first, index); }
    default: { return weights4[(first >> 2u) + index]; }
  }
}

fn four_halves(first: i32, index: i32) -> vec4<f32> {
  let at = first + 2 * index;
  return vec4<f32>(unpack2x16float(words[at]), unpack2x16float(words[at + 1]));
}

fn four_bytes(first: i32, index: i32) -> vec4<f32> {
  return vec4<f32>(unpack4xI8(words[first + index]));
}

// The lowest four bits come first; a shift to the top and back brings the sign along.
fn four_nibbles(first: i32, index: i32) -> vec4<f32> {
  let half = words[first + (index >> 1u)] >> (16u * u32(index & 1));
  return vec4<f32>(bitcast<vec4<i32>>(vec4<u32>(half) << vec4<u32>(28u, 24u, 20u, 16u)) >> vec4<u32>(28u));
}

fn constant(at: i32) -> f32 {
  return bitcast<f32>(words[at]);
}

fn constant4(at: i32) -> vec4<f32> {
  return bitcast<vec4<f32>>(vec4<u32>(words[at], words[at + 1], words[at + 2], words[at + 3]));
}
