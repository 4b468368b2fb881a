fn keep_measures(slot: u32, state: State) {}
