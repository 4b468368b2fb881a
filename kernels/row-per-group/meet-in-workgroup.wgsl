// Sums and maxima over the lanes of a workgroup. The program before sets `lanes`, a power of two. Each function ends with a
// barrier, so that the next one may follow.

var<workgroup> shares: array<f32, lanes>;

fn sum_of_lanes(lane: u32, share: f32) -> f32 {
  shares[lane] = share;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) { shares[lane] += shares[lane + half]; }
  }
  workgroupBarrier();
  let sum = shares[0];
  workgroupBarrier();
  return sum;
}

fn largest_of_lanes(lane: u32, share: f32) -> f32 {
  shares[lane] = share;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) { shares[lane] = max(shares[lane], shares[lane + half]); }
  }
  workgroupBarrier();
  let largest = shares[0];
  workgroupBarrier();
  return largest;
}
