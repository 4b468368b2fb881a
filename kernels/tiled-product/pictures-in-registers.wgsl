// Convolution as a product of the pixels' neighbourhoods, which are never written down, and the weights: eight pixels
// and eight filters an invocation. Channels lie together, in vectors of four.
//
// The kernel's own file has `findWindow(picture)`, `loadPixel(at, channels)`, `loadWeight(at)` and
// `store(at, column, value)`.

struct Window {
  // Pixels of the output, those of a row, and filters by fours.
  pixels: u32,
  columns: u32,
  filters: u32,
  // Columns and rows of the input, where it begins, and channels by fours.
  extent: vec2<u32>,
  input: u32,
  depth: u32,
  kernel: vec2<u32>,
  stride: vec2<u32>,
  dilation: vec2<u32>,
  before: vec2<u32>,
  // Where the weights begin, and how far those of a tap, a channel and four filters lie apart.
  weights: u32,
  alongTaps: u32,
  alongChannels: u32,
  alongFilters: u32,
}

// Top left corners of four pixels' neighbourhoods.
struct Corners { x: vec4<i32>, y: vec4<i32> }

fn findCorners(window: Window, first: u32) -> Corners {
  // An invocation beyond the edge computes with the last pixel and stores nothing.
  let at = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(window.pixels - 1u));
  let x = vec4<i32>(at % window.columns * window.stride.x) - i32(window.before.x);
  let y = vec4<i32>(at / window.columns * window.stride.y) - i32(window.before.y);
  return Corners(x, y);
}

// Where the neighbours of four pixels are, and which of them are inside the picture.
struct Neighbours { at: vec4<u32>, inside: vec4<bool> }

fn findNeighbours(window: Window, corners: Corners, tap: vec2<u32>) -> Neighbours {
  let x = corners.x + i32(tap.x);
  let y = corners.y + i32(tap.y);
  let right = vec4<i32>(i32(window.extent.x) - 1);
  let bottom = vec4<i32>(i32(window.extent.y) - 1);
  let inside = (x >= vec4<i32>()) & (x <= right) & (y >= vec4<i32>()) & (y <= bottom);
  let row = vec4<u32>(clamp(y, vec4<i32>(), bottom)) * window.extent.x;
  let at = window.input + (row + vec4<u32>(clamp(x, vec4<i32>(), right))) * window.depth;
  return Neighbours(at, inside);
}

fn readPixels(near: Neighbours, c: u32) -> Block {
  return Block(
    select(vec4<f32>(), loadPixel(near.at.x + c, c), near.inside.x),
    select(vec4<f32>(), loadPixel(near.at.y + c, c), near.inside.y),
    select(vec4<f32>(), loadPixel(near.at.z + c, c), near.inside.z),
    select(vec4<f32>(), loadPixel(near.at.w + c, c), near.inside.w),
  );
}

fn readWeights(at: u32, apart: u32) -> Block {
  return Block(loadWeight(at), loadWeight(at + apart), loadWeight(at + 2u * apart), loadWeight(at + 3u * apart));
}

@compute @workgroup_size(lanesN, lanesM)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let window = findWindow(group.z);
  let product = Product(window.pixels, window.filters, group.z);
  let tile = findTile(group, lane, 8u);
  let left = window.weights + min(tile.left, window.filters - 1u) * window.alongFilters;
  let right = window.weights + min(tile.right, window.filters - 1u) * window.alongFilters;
  let upperCorners = findCorners(window, tile.row);
  let lowerCorners = findCorners(window, tile.row + 4u);
  let apart = window.alongChannels;

  var upperLeft = Block(); var upperRight = Block();
  var lowerLeft = Block(); var lowerRight = Block();
  for (var tap = 0u; tap < window.kernel.x * window.kernel.y; tap++) {
    let place = vec2<u32>(tap % window.kernel.x, tap / window.kernel.x) * window.dilation;
    let upper = findNeighbours(window, upperCorners, place);
    let lower = findNeighbours(window, lowerCorners, place);
    for (var c = 0u; c < window.depth; c++) {
      let upperPixels = readPixels(upper, c);
      let lowerPixels = readPixels(lower, c);
      let weight = tap * window.alongTaps + 4u * c * apart;
      let leftWeights = readWeights(left + weight, apart);
      upperLeft = addProduct(upperLeft, upperPixels, leftWeights);
      lowerLeft = addProduct(lowerLeft, lowerPixels, leftWeights);
      let rightWeights = readWeights(right + weight, apart);
      upperRight = addProduct(upperRight, upperPixels, rightWeights);
      lowerRight = addProduct(lowerRight, lowerPixels, rightWeights);
    }
  }
  storeTile(product, tile, upperLeft, upperRight, lowerLeft, lowerRight);
}
