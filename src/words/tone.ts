/** Meaning of a badge's colour, always in addition to its words. */
export type Tone = "good" | "busy" | "warn" | "bad" | "quiet";
