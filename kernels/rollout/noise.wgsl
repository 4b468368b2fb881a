// Standard normal noise of (seed, generation, member, parameter): made anew wherever it is wanted, and never stored.
// The twin is noise.reference.ts.

/// Draws of perturbations.
const NOISE_STREAM = 2u;

/// Noise of the parameters 4·block to 4·block + 3.
fn draw_noise(key: vec2u, generation: u32, drawn: u32, block: u32) -> vec4f {
  return to_normal(philox(vec4u(drawn, generation, block, 0u), key));
}
