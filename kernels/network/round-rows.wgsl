// Rounds the rows of activations that products in the arithmetic of their weights read (narrow-matrices.wgsl): to
// floats of 16 bits where the weights have 16 bits, else to whole numbers of 8 bits. Each row has a step by its own
// largest number, so that the rows of a batch do not change each other, and no float of 16 bits is beyond 2. A
// workgroup has a row at a time.
//
// The files before have the kinds and functions of a network.

// The arena once more, by its bits.
@group(0) @binding(3) var<storage, read_write> arena_words: array<u32>;

const HIGHEST = 127.0;
// Keeps the step of a row of zeros from being zero.
const LEAST_STEP = 0x1p-100;
const EXPONENT = 0x7f800000u;

var<workgroup> largest: atomic<u32>;

@compute @workgroup_size(lanes)
fn round_rows(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let op = ops[0];
  let base = i32(group.y) * op.arena;
  let in_halves = op.weightType == FLOAT16;
  let each = select(4, 2, in_halves);
  let size = (op.channels + 4 * each - 1) / (4 * each) * 4;
  for (var row = i32(group.x); row < op.rows; row += i32(groups.x)) {
    let first = base + op.input + row * op.channels;
    let to = base + op.d0 + row * (size + 4);
    // Magnitudes are in the order of their bits, also infinity and what is no number.
    var own = 0u;
    for (var i = i32(lane); i < op.channels; i += i32(lanes)) { own = max(own, arena_words[first + i] & 0x7fffffffu); }
    if (lane == 0u) { atomicStore(&largest, 0u); }
    workgroupBarrier();
    atomicMax(&largest, own);
    workgroupBarrier();
    let bits = atomicLoad(&largest);
    let is_finite = bits < EXPONENT;
    let largest_number = bitcast<f32>(select(0u, bits, is_finite));
    // A power of two, by which floats lose nothing; or the largest number divided by 127.
    let wanted_step = select(largest_number / HIGHEST, bitcast<f32>(bits & EXPONENT), in_halves && is_finite);
    let step = max(wanted_step, LEAST_STEP);
    for (var word = i32(lane); word < size; word += i32(lanes)) {
      let at = each * word + vec4<i32>(0, 1, 2, 3);
      let read = first + min(at, vec4<i32>(op.channels - 1));
      let found = vec4<u32>(arena_words[read.x], arena_words[read.y], arena_words[read.z], arena_words[read.w]);
      let values = select(vec4<f32>(), bitcast<vec4<f32>>(found), vec4<bool>(is_finite) & (at < vec4<i32>(op.channels)));
      let scaled = values / step;
      if (in_halves) {
        arena_words[to + word] = pack2x16float(scaled.xy);
      } else {
        let levels = clamp(round(scaled), vec4<f32>(-HIGHEST), vec4<f32>(HIGHEST));
        arena_words[to + word] = pack4xI8(vec4<i32>(levels));
      }
    }
    // A number that is none spreads to the whole row of the product, as it does in floats.
    if (lane == 0u) { arena_words[to + size] = select(nan_bits, bitcast<u32>(step), is_finite); }
    workgroupBarrier();
  }
}
