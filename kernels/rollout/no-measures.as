// Of environments that describe no behaviour.

// @ts-ignore: decorator
@inline
function measureLane(lane: i32, to: usize): void {}
