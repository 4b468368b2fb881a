// Fourier transforms through storage, without a barrier. The d values of a vector are a matrix of `columns` = 16 or 32
// rows of n. Two real columns are transformed as one complex one, and of their bins the first half and the middle
// are kept, since the others are conjugates of these: H rows of n numbers. Each row is transformed in place, in two
// steps where it is longer than 16. What order bins end in is all the same: products are taken bin by bin, and the
// way back mirrors the way there.

struct Shape { pairs: u32, dimension: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> first: array<vec2<f32>>; // pairs × d/2
@group(0) @binding(2) var<storage, read> second: array<vec2<f32>>; // pairs × d/2
@group(0) @binding(3) var<storage, read> roots: array<vec2<f32>>; // exp(−2πi·t/d), t < d
@group(0) @binding(4) var<storage, read_write> spectra: array<vec2<f32>>; // pairs × 2 × H × n
@group(0) @binding(5) var<storage, read_write> result: array<vec2<f32>>; // pairs × d/2

override lanes: u32 = 16;
override columns: u32; // 16 or 32
override spread: u32; // n / 16: 1, 4 or 16
override conjugate: f32; // 1 to convolve, −1 to correlate

// Sixteen complex numbers: number 4i + c is component c of column i.
struct Complex16 { re: mat4x4<f32>, im: mat4x4<f32> }
struct Complex4 { re: vec4<f32>, im: vec4<f32> }

const ROOTS_16 = Complex16( // exp(−2πi·row·column/16)
  mat4x4<f32>(
    1.0, 1.0, 1.0, 1.0,
    1.0, 0.9238795325, 0.7071067812, 0.3826834324,
    1.0, 0.7071067812, 0.0, -0.7071067812,
    1.0, 0.3826834324, -0.7071067812, -0.9238795325,
  ),
  mat4x4<f32>(
    0.0, 0.0, 0.0, 0.0,
    0.0, -0.3826834324, -0.7071067812, -0.9238795325,
    0.0, -0.7071067812, -1.0, -0.7071067812,
    0.0, -0.9238795325, -0.7071067812, 0.3826834324,
  ),
);
const ROOTS_32 = Complex16( // exp(−2πi·t/32)
  mat4x4<f32>(
    1.0, 0.9807852804, 0.9238795325, 0.8314696123,
    0.7071067812, 0.5555702330, 0.3826834324, 0.1950903220,
    0.0, -0.1950903220, -0.3826834324, -0.5555702330,
    -0.7071067812, -0.8314696123, -0.9238795325, -0.9807852804,
  ),
  mat4x4<f32>(
    0.0, -0.1950903220, -0.3826834324, -0.5555702330,
    -0.7071067812, -0.8314696123, -0.9238795325, -0.9807852804,
    -1.0, -0.9807852804, -0.9238795325, -0.8314696123,
    -0.7071067812, -0.5555702330, -0.3826834324, -0.1950903220,
  ),
);

fn swap(x: Complex16) -> Complex16 {
  return Complex16(x.im, x.re);
}

fn scale(x: mat4x4<f32>, y: mat4x4<f32>) -> mat4x4<f32> {
  return mat4x4<f32>(x[0] * y[0], x[1] * y[1], x[2] * y[2], x[3] * y[3]);
}

fn multiply(x: Complex16, y: Complex16) -> Complex16 {
  return Complex16(scale(x.re, y.re) - scale(x.im, y.im), scale(x.re, y.im) + scale(x.im, y.re));
}

fn multiplyConjugate(x: Complex16, y: Complex16) -> Complex16 {
  return Complex16(scale(x.re, y.re) + scale(x.im, y.im), scale(x.im, y.re) - scale(x.re, y.im));
}

// Four transforms of four numbers: along the columns, for each component.
fn transform4(x: Complex16) -> Complex16 {
  let evenRe = x.re[0] + x.re[2];
  let evenIm = x.im[0] + x.im[2];
  let oddRe = x.re[1] + x.re[3];
  let oddIm = x.im[1] + x.im[3];
  let crossRe = x.re[0] - x.re[2];
  let crossIm = x.im[0] - x.im[2];
  let turnedRe = x.im[1] - x.im[3];
  let turnedIm = x.re[3] - x.re[1];
  return Complex16(
    mat4x4<f32>(evenRe + oddRe, crossRe + turnedRe, evenRe - oddRe, crossRe - turnedRe),
    mat4x4<f32>(evenIm + oddIm, crossIm + turnedIm, evenIm - oddIm, crossIm - turnedIm),
  );
}

// Bins in natural order. With real and imaginary parts swapped on both sides it is the inverse, times 16.
fn transform16(x: Complex16) -> Complex16 {
  let y = multiply(transform4(x), ROOTS_16);
  return transform4(Complex16(transpose(y.re), transpose(y.im)));
}

// exp(−2πi·t·k/d) for k < 16; 15·t < d.
fn powers(t: u32) -> Complex16 {
  let one = roots[t];
  let two = roots[2u * t];
  let three = roots[3u * t];
  let re = vec4<f32>(1.0, one.x, two.x, three.x);
  let im = vec4<f32>(0.0, one.y, two.y, three.y);
  let four = roots[4u * t];
  let eight = roots[8u * t];
  let twelve = roots[12u * t];
  return Complex16(
    mat4x4<f32>(re, re * four.x - im * four.y, re * eight.x - im * eight.y, re * twelve.x - im * twelve.y),
    mat4x4<f32>(im, re * four.y + im * four.x, re * eight.y + im * eight.x, re * twelve.y + im * twelve.x),
  );
}

// Four powers for a row of four: exp(−2πi·t·k/d) in column k, all components alike.
fn powers4(t: u32) -> Complex16 {
  let one = roots[t];
  let two = roots[2u * t];
  let three = roots[3u * t];
  let unit = vec4<f32>(1.0);
  return Complex16(
    mat4x4<f32>(unit, unit * one.x, unit * two.x, unit * three.x),
    mat4x4<f32>(vec4<f32>(), unit * one.y, unit * two.y, unit * three.y),
  );
}

fn readFirst(at: u32, step: u32) -> Complex4 {
  let parts = transpose(mat4x2<f32>(first[at], first[at + step], first[at + 2u * step], first[at + 3u * step]));
  return Complex4(parts[0], parts[1]);
}

fn readSecond(at: u32, step: u32) -> Complex4 {
  let parts = transpose(mat4x2<f32>(second[at], second[at + step], second[at + 2u * step], second[at + 3u * step]));
  return Complex4(parts[0], parts[1]);
}

fn read4(at: u32, step: u32) -> Complex4 {
  let parts = transpose(
    mat4x2<f32>(spectra[at], spectra[at + step], spectra[at + 2u * step], spectra[at + 3u * step]),
  );
  return Complex4(parts[0], parts[1]);
}

fn write4(at: u32, step: u32, re: vec4<f32>, im: vec4<f32>) {
  spectra[at] = vec2<f32>(re.x, im.x);
  spectra[at + step] = vec2<f32>(re.y, im.y);
  spectra[at + 2u * step] = vec2<f32>(re.z, im.z);
  spectra[at + 3u * step] = vec2<f32>(re.w, im.w);
}

fn join(a: Complex4, b: Complex4, c: Complex4, d: Complex4) -> Complex16 {
  return Complex16(mat4x4<f32>(a.re, b.re, c.re, d.re), mat4x4<f32>(a.im, b.im, c.im, d.im));
}

fn read16(at: u32, step: u32, stride: u32) -> Complex16 {
  return join(
    read4(at, step),
    read4(at + stride, step),
    read4(at + 2u * stride, step),
    read4(at + 3u * stride, step),
  );
}

fn write16(at: u32, step: u32, stride: u32, x: Complex16) {
  write4(at, step, x.re[0], x.im[0]);
  write4(at + stride, step, x.re[1], x.im[1]);
  write4(at + 2u * stride, step, x.re[2], x.im[2]);
  write4(at + 3u * stride, step, x.re[3], x.im[3]);
}

fn countRows() -> u32 {
  return columns / 2u + 1u;
}

// Number 0 stays, and the others change places: 1 with 15, 2 with 14 and so on.
fn reverse(x: mat4x4<f32>) -> mat4x4<f32> {
  return mat4x4<f32>(
    x[0].x, x[3].w, x[3].z, x[3].y,
    x[3].x, x[2].w, x[2].z, x[2].y,
    x[2].x, x[1].w, x[1].z, x[1].y,
    x[1].x, x[0].w, x[0].z, x[0].y,
  );
}

// Four bins of each of two real columns, twice as large: x and y out of x + i·y, whose bins of negative frequency are `mirror`.
fn writeBins(at: u32, row: u32, bins: Complex4, mirror: Complex4) {
  write4(at, row, bins.re + mirror.re, bins.im - mirror.im);
  write4(at + 1u, row, bins.im + mirror.im, mirror.re - bins.re);
}

fn writeMiddle(at: u32, bin: vec2<f32>) {
  spectra[at] = vec2<f32>(2.0 * bin.x, 0.0);
  spectra[at + 1u] = vec2<f32>(2.0 * bin.y, 0.0);
}

fn readColumn(side: u32, at: u32, step: u32) -> Complex16 {
  if (side == 0u) {
    return join(
      readFirst(at, step),
      readFirst(at + 4u * step, step),
      readFirst(at + 8u * step, step),
      readFirst(at + 12u * step, step),
    );
  }
  return join(
    readSecond(at, step),
    readSecond(at + 4u * step, step),
    readSecond(at + 8u * step, step),
    readSecond(at + 12u * step, step),
  );
}

@compute @workgroup_size(lanes)
fn transformColumns(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let n = shape.dimension / columns;
  for (var item = id.x; item < shape.pairs * n; item += groups.x * lanes) {
    let pair = item / n;
    let side = item % n / (n / 2u);
    let column = item % (n / 2u);
    let at = pair * (shape.dimension / 2u) + column;
    let to = (2u * pair + side) * countRows() * n + 2u * column;
    if (columns == 16u) {
      let bins = transform16(readColumn(side, at, n / 2u));
      let mirror = Complex16(reverse(bins.re), reverse(bins.im));
      writeBins(to, n, Complex4(bins.re[0], bins.im[0]), Complex4(mirror.re[0], mirror.im[0]));
      writeBins(to + 4u * n, n, Complex4(bins.re[1], bins.im[1]), Complex4(mirror.re[1], mirror.im[1]));
      writeMiddle(to + 8u * n, vec2<f32>(bins.re[2].x, bins.im[2].x));
    } else {
      let even = transform16(readColumn(side, at, n));
      let odd = multiply(transform16(readColumn(side, at + n / 2u, n)), ROOTS_32);
      let bins = Complex16(even.re + odd.re, even.im + odd.im);
      var mirror = Complex16(reverse(even.re - odd.re), reverse(even.im - odd.im));
      writeMiddle(to + 16u * n, vec2<f32>(mirror.re[0].x, mirror.im[0].x));
      mirror.re[0].x = bins.re[0].x;
      mirror.im[0].x = bins.im[0].x;
      writeBins(to, n, Complex4(bins.re[0], bins.im[0]), Complex4(mirror.re[0], mirror.im[0]));
      writeBins(to + 4u * n, n, Complex4(bins.re[1], bins.im[1]), Complex4(mirror.re[1], mirror.im[1]));
      writeBins(to + 8u * n, n, Complex4(bins.re[2], bins.im[2]), Complex4(mirror.re[2], mirror.im[2]));
      writeBins(to + 12u * n, n, Complex4(bins.re[3], bins.im[3]), Complex4(mirror.re[3], mirror.im[3]));
    }
  }
}

// Sixteen numbers of a row: one column of sixteen, or four of four.
struct Place { at: u32, step: u32, stride: u32, turn: Complex16 }

fn locate(row: u32, item: u32) -> Place {
  let at = 16u * spread * row;
  let t = 16u * (row % countRows());
  if (spread == 4u) {
    return Place(at + 4u * item, 1u, 16u, powers4(t));
  }
  return Place(at + item, 16u, 64u, powers(t));
}

fn transformSpread(x: Complex16) -> Complex16 {
  if (spread == 4u) {
    return transform4(x);
  }
  return transform16(x);
}

@compute @workgroup_size(lanes)
fn spreadRows(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  for (var item = id.x; item < 2u * shape.pairs * countRows() * spread; item += groups.x * lanes) {
    let place = locate(item / spread, item % spread);
    let x = multiply(read16(place.at, place.step, place.stride), place.turn);
    write16(place.at, place.step, place.stride, transformSpread(x));
  }
}

@compute @workgroup_size(lanes)
fn gatherRows(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  for (var item = id.x; item < shape.pairs * countRows() * spread; item += groups.x * lanes) {
    let row = item / spread;
    let place = locate(row + row / countRows() * countRows(), item % spread);
    let x = transformSpread(swap(read16(place.at, place.step, place.stride)));
    write16(place.at, place.step, place.stride, multiplyConjugate(swap(x), place.turn));
  }
}

// The last sixteen of both transforms, their product, which takes the place of the first, and the first sixteen of the way back.
@compute @workgroup_size(lanes)
fn multiplyRows(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let length = countRows() * spread;
  for (var item = id.x; item < shape.pairs * length; item += groups.x * lanes) {
    let at = 16u * (item + item / length * length);
    let turn = powers(item % length / spread + item % spread * columns);
    let x = transform16(multiply(read16(at, 1u, 4u), turn));
    let y = transform16(multiply(read16(at + 16u * length, 1u, 4u), turn));
    let product = multiply(x, Complex16(y.re, conjugate * y.im));
    write16(at, 1u, 4u, multiplyConjugate(swap(transform16(swap(product))), turn));
  }
}

// Bins of x + i·y from those of two real columns, and its bins of the negative frequencies.
struct Bins { bins: Complex4, mirror: Complex4 }

fn readBins(at: u32, row: u32) -> Bins {
  let x = read4(at, row);
  let y = read4(at + 1u, row);
  return Bins(Complex4(x.re - y.im, x.im + y.re), Complex4(x.re + y.im, y.re - x.im));
}

fn writeResult(at: u32, step: u32, re: vec4<f32>, im: vec4<f32>) {
  let scale = 0.25 / f32(shape.dimension);
  result[at] = scale * vec2<f32>(re.x, im.x);
  result[at + step] = scale * vec2<f32>(re.y, im.y);
  result[at + 2u * step] = scale * vec2<f32>(re.z, im.z);
  result[at + 3u * step] = scale * vec2<f32>(re.w, im.w);
}

fn writeColumn(at: u32, step: u32, x: Complex16) {
  writeResult(at, step, x.re[0], x.im[0]);
  writeResult(at + 4u * step, step, x.re[1], x.im[1]);
  writeResult(at + 8u * step, step, x.re[2], x.im[2]);
  writeResult(at + 12u * step, step, x.re[3], x.im[3]);
}

@compute @workgroup_size(lanes)
fn restoreColumns(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let n = shape.dimension / columns;
  for (var item = id.x; item < shape.pairs * n / 2u; item += groups.x * lanes) {
    let pair = item / (n / 2u);
    let column = item % (n / 2u);
    let at = 2u * pair * countRows() * n + 2u * column;
    let to = pair * (shape.dimension / 2u) + column;
    let a = readBins(at, n);
    let b = readBins(at + 4u * n, n);
    let middleAt = at + columns / 2u * n;
    let middle = vec2<f32>(spectra[middleAt].x, spectra[middleAt + 1u].x);
    if (columns == 16u) {
      let mirror = join(a.mirror, b.mirror, a.mirror, b.mirror);
      let re = reverse(mirror.re);
      let im = reverse(mirror.im);
      let c = Complex4(vec4<f32>(middle.x, re[2].yzw), vec4<f32>(middle.y, im[2].yzw));
      let bins = join(a.bins, b.bins, c, Complex4(re[3], im[3]));
      writeColumn(to, n / 2u, swap(transform16(swap(bins))));
    } else {
      let c = readBins(at + 8u * n, n);
      let d = readBins(at + 12u * n, n);
      let low = join(a.bins, b.bins, c.bins, d.bins);
      let mirror = join(a.mirror, b.mirror, c.mirror, d.mirror);
      var high = Complex16(reverse(mirror.re), reverse(mirror.im));
      high.re[0].x = middle.x;
      high.im[0].x = middle.y;
      let even = Complex16(low.re + high.re, low.im + high.im);
      let odd = multiplyConjugate(Complex16(low.re - high.re, low.im - high.im), ROOTS_32);
      writeColumn(to, n, swap(transform16(swap(even))));
      writeColumn(to + n / 2u, n, swap(transform16(swap(odd))));
    }
  }
}
