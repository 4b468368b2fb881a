// Floats by their bits: what is compared so is the same on every device.

/// Whether a number is neither infinite nor NaN.
fn is_finite_word(bits: u32) -> bool {
  return (bits & 0x7f800000u) != 0x7f800000u;
}

/// A word that is larger where the float is; zeros are equal. Never 0 of a number.
fn to_order(bits: u32) -> u32 {
  let unsigned_zero = select(bits, 0u, bits == 0x80000000u);
  return select(unsigned_zero | 0x80000000u, ~unsigned_zero, (unsigned_zero >> 31u) == 1u);
}
