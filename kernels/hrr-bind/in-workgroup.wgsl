// Fourier transforms in workgroup memory, a pair for each group. Two values stand as one complex number, so h = d/2
// numbers fill it; they are transformed in place by two halvings at a time, which leaves bin k at the place with k's bits
// reversed. There the bins k and h − k, which real transforms are made of, mirror each other in every octave.

struct Shape { pairs: u32, dimension: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> first: array<vec2<f32>>; // pairs × h
@group(0) @binding(2) var<storage, read> second: array<vec2<f32>>; // pairs × h
@group(0) @binding(3) var<storage, read> roots: array<vec2<f32>>; // exp(−2πi·t/d), t < d
@group(0) @binding(4) var<storage, read_write> spectra: array<vec2<f32>>; // h of it for each pair
@group(0) @binding(5) var<storage, read_write> result: array<vec2<f32>>; // pairs × h

override lanes: u32 = 256;
override half: u32; // h
override conjugate: f32; // 1 to convolve, −1 to correlate

var<workgroup> z: array<vec2<f32>, half>;

fn multiply(x: vec2<f32>, y: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}

fn conj(x: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(x.x, -x.y);
}

fn turn(x: vec2<f32>) -> vec2<f32> { // by −i
  return vec2<f32>(x.y, -x.x);
}

// Decimation in frequency; a single halving is left at the end where h is no power of four.
fn transform(lane: u32) {
  for (var length = half; length > 1u; length /= 4u) {
    workgroupBarrier();
    let step = shape.dimension / length;
    if (length == 2u) {
      for (var i = lane; i < half / 2u; i += lanes) {
        let x = z[2u * i];
        let y = z[2u * i + 1u];
        z[2u * i] = x + y;
        z[2u * i + 1u] = x - y;
      }
      break;
    }
    let quarter = length / 4u;
    for (var i = lane; i < half / 4u; i += lanes) {
      let j = i % quarter;
      let at = 4u * (i - j) + j;
      let even = z[at] + z[at + 2u * quarter];
      let odd = z[at + quarter] + z[at + 3u * quarter];
      let p = z[at] - z[at + 2u * quarter];
      let q = turn(z[at + quarter] - z[at + 3u * quarter]);
      z[at] = even + odd;
      z[at + quarter] = multiply(even - odd, roots[2u * j * step]);
      z[at + 2u * quarter] = multiply(p + q, roots[j * step]);
      z[at + 3u * quarter] = multiply(p - q, roots[3u * j * step]);
    }
  }
  workgroupBarrier();
}

// The mirror of it, times h.
fn restore(lane: u32) {
  var length = 4u;
  if (firstTrailingBit(half) % 2u == 1u) {
    for (var i = lane; i < half / 2u; i += lanes) {
      let x = z[2u * i];
      let y = z[2u * i + 1u];
      z[2u * i] = x + y;
      z[2u * i + 1u] = x - y;
    }
    length = 8u;
    workgroupBarrier();
  }
  for (; length <= half; length *= 4u) {
    let step = shape.dimension / length;
    let quarter = length / 4u;
    for (var i = lane; i < half / 4u; i += lanes) {
      let j = i % quarter;
      let at = 4u * (i - j) + j;
      let x = z[at];
      let y = multiply(z[at + quarter], conj(roots[2u * j * step]));
      let u = multiply(z[at + 2u * quarter], conj(roots[j * step]));
      let v = multiply(z[at + 3u * quarter], conj(roots[3u * j * step]));
      let p = u + v;
      let q = turn(v - u);
      z[at] = x + y + p;
      z[at + quarter] = x - y + q;
      z[at + 2u * quarter] = x + y - p;
      z[at + 3u * quarter] = x - y - q;
    }
    workgroupBarrier();
  }
}

// Bin k of the transform of reals and the conjugate of bin h − k, both twice as large.
struct Bins { low: vec2<f32>, high: vec2<f32> }

fn split(x: vec2<f32>, mirror: vec2<f32>, root: vec2<f32>) -> Bins {
  let even = x + conj(mirror);
  let odd = multiply(turn(x - conj(mirror)), root);
  return Bins(even + odd, even - odd);
}

// Places of two bins that mirror each other, by their number among h/2 couples. The first couple is left out: bin 0
// and bin h/2, at the first two places, mirror themselves.
fn locate(couple: u32) -> vec2<u32> {
  let octave = 2u << firstLeadingBit(couple);
  let at = couple + octave / 2u;
  return vec2<u32>(at, 3u * octave - 1u - at);
}

fn multiplyBins(at: u32, mirror: u32, keptAt: vec2<f32>, keptMirror: vec2<f32>) {
  let k = reverseBits(at) >> (32u - firstTrailingBit(half));
  let root = roots[k];
  let x = split(keptAt, keptMirror, root);
  let y = split(z[at], z[mirror], root);
  let low = multiply(x.low, vec2<f32>(y.low.x, conjugate * y.low.y));
  let high = multiply(x.high, vec2<f32>(y.high.x, conjugate * y.high.y));
  let even = low + high;
  let odd = multiply(low - high, conj(root));
  z[at] = even - turn(odd);
  z[mirror] = conj(even + turn(odd));
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let own = group.x * half;
  for (var i = lane; i < half; i += lanes) {
    z[i] = first[own + i];
  }
  transform(lane);
  // Every bin is kept by the lane that will want it again.
  for (var couple = lane; couple < half / 2u; couple += lanes) {
    let places = select(locate(couple), vec2<u32>(0u, 1u), couple == 0u);
    spectra[own + places.x] = z[places.x];
    spectra[own + places.y] = z[places.y];
  }
  workgroupBarrier();
  for (var i = lane; i < half; i += lanes) {
    z[i] = second[own + i];
  }
  transform(lane);
  for (var couple = lane; couple < half / 2u; couple += lanes) {
    if (couple == 0u) {
      multiplyBins(0u, 0u, spectra[own], spectra[own]);
      multiplyBins(1u, 1u, spectra[own + 1u], spectra[own + 1u]);
    } else {
      let places = locate(couple);
      multiplyBins(places.x, places.y, spectra[own + places.x], spectra[own + places.y]);
    }
  }
  workgroupBarrier();
  restore(lane);
  let scale = 1.0 / (4.0 * f32(shape.dimension));
  for (var i = lane; i < half; i += lanes) {
    result[own + i] = scale * z[i];
  }
}
