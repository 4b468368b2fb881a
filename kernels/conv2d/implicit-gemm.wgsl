// Convolution as a product of the pixels' neighbourhoods, which are never written down, and the weights:
// 8 pixels × 2 vec4 of filters in registers per invocation, neighbours along the filters.

struct Shape { batch: u32, height: u32, width: u32, channels: u32, filters: u32, kernel: u32, stride: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>; // batch × height × width × ⌈channels⌉₄
@group(0) @binding(2) var<storage, read> weights: array<vec4<f32>>; // kernel² × ⌈channels⌉₄ × ⌈filters⌉₄
@group(0) @binding(3) var<storage, read_write> output: array<vec4<f32>>; // batch × pixels × ⌈filters⌉₄

override lanesN: u32 = 4;
override lanesM: u32 = 2;

fn multiplyAdd(sum: vec4<f32>, x: vec4<f32>, w0: vec4<f32>, w1: vec4<f32>, w2: vec4<f32>, w3: vec4<f32>) -> vec4<f32> {
  return fma(x.wwww, w3, fma(x.zzzz, w2, fma(x.yyyy, w1, fma(x.xxxx, w0, sum))));
}

// Top left corners of four pixels' neighbourhoods.
struct Corners { x: vec4<i32>, y: vec4<i32> }

fn findCorners(first: u32, pixels: u32, columns: u32) -> Corners {
  // What hangs over the edge computes with the last pixel and is not stored.
  let at = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(pixels - 1u));
  let before = i32(shape.kernel / 2u);
  return Corners(vec4<i32>(at % columns * shape.stride) - before, vec4<i32>(at / columns * shape.stride) - before);
}

// Where the neighbours of four pixels stand, and which of them do so inside of the picture.
struct Neighbours { at: vec4<u32>, inside: vec4<bool> }

fn findNeighbours(corners: Corners, kx: u32, ky: u32, picture: u32, depth: u32) -> Neighbours {
  let x = corners.x + i32(kx);
  let y = corners.y + i32(ky);
  let right = vec4<i32>(i32(shape.width) - 1);
  let bottom = vec4<i32>(i32(shape.height) - 1);
  let inside = (x >= vec4<i32>()) & (x <= right) & (y >= vec4<i32>()) & (y <= bottom);
  let row = picture + vec4<u32>(clamp(y, vec4<i32>(), bottom));
  let at = (row * shape.width + vec4<u32>(clamp(x, vec4<i32>(), right))) * depth;
  return Neighbours(at, inside);
}

fn store(pixel: u32, pixels: u32, picture: u32, column: u32, columns: u32, value: vec4<f32>) {
  if (pixel < pixels && column < columns) {
    output[(picture * pixels + pixel) * columns + column] = value;
  }
}

@compute @workgroup_size(lanesN, lanesM)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let depth = (shape.channels + 3u) / 4u;
  let filters = (shape.filters + 3u) / 4u;
  let columns = (shape.width + shape.stride - 1u) / shape.stride;
  let pixels = (shape.height + shape.stride - 1u) / shape.stride * columns;
  let pixel = (group.y * lanesM + lane.y) * 8u;
  let left = group.x * lanesN * 2u + lane.x;
  let right = left + lanesN;
  let wLeft = min(left, filters - 1u);
  let wRight = min(right, filters - 1u);
  let corners = findCorners(pixel, pixels, columns);
  let furtherCorners = findCorners(pixel + 4u, pixels, columns);

  var l0 = vec4<f32>(); var l1 = vec4<f32>(); var l2 = vec4<f32>(); var l3 = vec4<f32>();
  var l4 = vec4<f32>(); var l5 = vec4<f32>(); var l6 = vec4<f32>(); var l7 = vec4<f32>();
  var r0 = vec4<f32>(); var r1 = vec4<f32>(); var r2 = vec4<f32>(); var r3 = vec4<f32>();
  var r4 = vec4<f32>(); var r5 = vec4<f32>(); var r6 = vec4<f32>(); var r7 = vec4<f32>();

  for (var tap = 0u; tap < shape.kernel * shape.kernel; tap++) {
    let kx = tap % shape.kernel;
    let ky = tap / shape.kernel;
    let near = findNeighbours(corners, kx, ky, group.z * shape.height, depth);
    let far = findNeighbours(furtherCorners, kx, ky, group.z * shape.height, depth);
    for (var c = 0u; c < depth; c++) {
      let x0 = select(vec4<f32>(), input[near.at.x + c], near.inside.x);
      let x1 = select(vec4<f32>(), input[near.at.y + c], near.inside.y);
      let x2 = select(vec4<f32>(), input[near.at.z + c], near.inside.z);
      let x3 = select(vec4<f32>(), input[near.at.w + c], near.inside.w);
      let x4 = select(vec4<f32>(), input[far.at.x + c], far.inside.x);
      let x5 = select(vec4<f32>(), input[far.at.y + c], far.inside.y);
      let x6 = select(vec4<f32>(), input[far.at.z + c], far.inside.z);
      let x7 = select(vec4<f32>(), input[far.at.w + c], far.inside.w);
      let weight = 4u * (tap * depth + c) * filters;
      let p0 = weights[weight + wLeft];
      let p1 = weights[weight + wLeft + filters];
      let p2 = weights[weight + wLeft + 2u * filters];
      let p3 = weights[weight + wLeft + 3u * filters];
      l0 = multiplyAdd(l0, x0, p0, p1, p2, p3);
      l1 = multiplyAdd(l1, x1, p0, p1, p2, p3);
      l2 = multiplyAdd(l2, x2, p0, p1, p2, p3);
      l3 = multiplyAdd(l3, x3, p0, p1, p2, p3);
      l4 = multiplyAdd(l4, x4, p0, p1, p2, p3);
      l5 = multiplyAdd(l5, x5, p0, p1, p2, p3);
      l6 = multiplyAdd(l6, x6, p0, p1, p2, p3);
      l7 = multiplyAdd(l7, x7, p0, p1, p2, p3);
      let q0 = weights[weight + wRight];
      let q1 = weights[weight + wRight + filters];
      let q2 = weights[weight + wRight + 2u * filters];
      let q3 = weights[weight + wRight + 3u * filters];
      r0 = multiplyAdd(r0, x0, q0, q1, q2, q3);
      r1 = multiplyAdd(r1, x1, q0, q1, q2, q3);
      r2 = multiplyAdd(r2, x2, q0, q1, q2, q3);
      r3 = multiplyAdd(r3, x3, q0, q1, q2, q3);
      r4 = multiplyAdd(r4, x4, q0, q1, q2, q3);
      r5 = multiplyAdd(r5, x5, q0, q1, q2, q3);
      r6 = multiplyAdd(r6, x6, q0, q1, q2, q3);
      r7 = multiplyAdd(r7, x7, q0, q1, q2, q3);
    }
  }

  store(pixel, pixels, group.z, left, filters, l0);
  store(pixel + 1u, pixels, group.z, left, filters, l1);
  store(pixel + 2u, pixels, group.z, left, filters, l2);
  store(pixel + 3u, pixels, group.z, left, filters, l3);
  store(pixel + 4u, pixels, group.z, left, filters, l4);
  store(pixel + 5u, pixels, group.z, left, filters, l5);
  store(pixel + 6u, pixels, group.z, left, filters, l6);
  store(pixel + 7u, pixels, group.z, left, filters, l7);
  store(pixel, pixels, group.z, right, filters, r0);
  store(pixel + 1u, pixels, group.z, right, filters, r1);
  store(pixel + 2u, pixels, group.z, right, filters, r2);
  store(pixel + 3u, pixels, group.z, right, filters, r3);
  store(pixel + 4u, pixels, group.z, right, filters, r4);
  store(pixel + 5u, pixels, group.z, right, filters, r5);
  store(pixel + 6u, pixels, group.z, right, filters, r6);
  store(pixel + 7u, pixels, group.z, right, filters, r7);
}
