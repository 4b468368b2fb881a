// Convolution as a product of the pixels' neighbourhoods, which are never written down, and the weights: eight pixels
// and eight filters an invocation, by ../tiled-product/in-registers.wgsl.

struct Shape { batch: u32, height: u32, width: u32, channels: u32, filters: u32, kernel: u32, stride: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>; // batch × height × width × ⌈channels⌉₄
@group(0) @binding(2) var<storage, read> weights: array<vec4<f32>>; // kernel² × ⌈channels⌉₄ × ⌈filters⌉₄
@group(0) @binding(3) var<storage, read_write> output: array<vec4<f32>>; // batch × pixels × ⌈filters⌉₄

fn store(at: u32, column: u32, value: vec4<f32>) { output[at] = value; }

// Top left corners of four pixels' neighbourhoods.
struct Corners { x: vec4<i32>, y: vec4<i32> }

fn findCorners(first: u32, pixels: u32, columns: u32) -> Corners {
  // An invocation beyond the edge computes with the last pixel and stores nothing.
  let at = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(pixels - 1u));
  let before = i32(shape.kernel / 2u);
  return Corners(vec4<i32>(at % columns * shape.stride) - before, vec4<i32>(at / columns * shape.stride) - before);
}

// Where the neighbours of four pixels are, and which of them are inside the picture.
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

fn readPixels(near: Neighbours, c: u32) -> Block {
  return Block(
    select(vec4<f32>(), input[near.at.x + c], near.inside.x),
    select(vec4<f32>(), input[near.at.y + c], near.inside.y),
    select(vec4<f32>(), input[near.at.z + c], near.inside.z),
    select(vec4<f32>(), input[near.at.w + c], near.inside.w),
  );
}

fn readWeights(at: u32, filters: u32) -> Block {
  return Block(weights[at], weights[at + filters], weights[at + 2u * filters], weights[at + 3u * filters]);
}

@compute @workgroup_size(lanesN, lanesM)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let depth = (shape.channels + 3u) / 4u;
  let filters = (shape.filters + 3u) / 4u;
  let columns = (shape.width + shape.stride - 1u) / shape.stride;
  let pixels = (shape.height + shape.stride - 1u) / shape.stride * columns;
  let product = Product(pixels, filters, group.z);
  let tile = findTile(group, lane, 8u);
  let left = min(tile.left, filters - 1u);
  let right = min(tile.right, filters - 1u);
  let upperCorners = findCorners(tile.row, pixels, columns);
  let lowerCorners = findCorners(tile.row + 4u, pixels, columns);

  var upperLeft = Block(); var upperRight = Block();
  var lowerLeft = Block(); var lowerRight = Block();
  for (var tap = 0u; tap < shape.kernel * shape.kernel; tap++) {
    let kx = tap % shape.kernel;
    let ky = tap / shape.kernel;
    let upper = findNeighbours(upperCorners, kx, ky, group.z * shape.height, depth);
    let lower = findNeighbours(lowerCorners, kx, ky, group.z * shape.height, depth);
    for (var c = 0u; c < depth; c++) {
      let upperPixels = readPixels(upper, c);
      let lowerPixels = readPixels(lower, c);
      let weight = 4u * (tap * depth + c) * filters;
      let leftWeights = readWeights(weight + left, filters);
      upperLeft = addProduct(upperLeft, upperPixels, leftWeights);
      lowerLeft = addProduct(lowerLeft, lowerPixels, leftWeights);
      let rightWeights = readWeights(weight + right, filters);
      upperRight = addProduct(upperRight, upperPixels, rightWeights);
      lowerRight = addProduct(lowerRight, lowerPixels, rightWeights);
    }
  }
  storeBlock(product, tile.row, tile.left, upperLeft);
  storeBlock(product, tile.row, tile.right, upperRight);
  storeBlock(product, tile.row + 4u, tile.left, lowerLeft);
  storeBlock(product, tile.row + 4u, tile.right, lowerRight);
}
