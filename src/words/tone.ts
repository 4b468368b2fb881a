/** What a badge says beside its words: never by colour alone. */
export type Tone = "good" | "busy" | "warn" | "bad" | "quiet";
