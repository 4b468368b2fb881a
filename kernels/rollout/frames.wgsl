// What an environment of pictures shows: its last four frames, the oldest first. A frame is SIDE × SIDE pixels of grey, the
// nearest neighbours of ten rows of ten cells, and only the cells are kept: three bits each, the ten of a row in a word,
// a grey in parts of CHANNELS.

const SIDE = 84u;
const NEWEST_FRAME = 30u;

/// The cell in a row or column of cells whose middle is nearest to the middle of a pixel: (10 · (pixel + 1/2)) / SIDE. By
/// multiplication and shift, since software devices divide slowly.
fn cell_of_pixel(pixel: u32) -> u32 {
  return ((10u * pixel + 5u) * 781u) >> 16u;
}

/// The first pixel of a cell: (SIDE · cell + 4) / 10.
fn first_pixel_of(cell: u32) -> u32 {
  return ((SIDE * cell + 4u) * 205u) >> 11u;
}

/// One pixel: number (SIDE · frame + row) · SIDE + column.
fn input_at(observation: Observation, index: u32) -> f32 {
  let word = observation[10u * (index / (SIDE * SIDE)) + cell_of_pixel((index / SIDE) % SIDE)];
  return f32((word >> (3u * cell_of_pixel(index % SIDE))) & 7u) / f32(CHANNELS);
}
