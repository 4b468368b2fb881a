/** One tensor of a file: so many numbers for each member, at an offset from the file's start. */
export interface MemberTensor {
  /** Numbers of one member. */
  readonly width: number;
  readonly offsetBytes: number;
}

/** Where the numbers of all members stand in a file. */
export interface PopulationLayout {
  readonly format: "npy" | "safetensors";
  /** Of the whole file. */
  readonly sizeBytes: number;
  readonly members: number;
  /** Of one member. */
  readonly parameters: number;
  /** One tensor has whole rows; of several, a row is made of their parts in this order. */
  readonly tensors: readonly MemberTensor[];
}

/** What is known of a file by its first bytes. */
export type HeaderResult =
  | { readonly state: "read"; readonly layout: PopulationLayout }
  | { readonly state: "wrong"; readonly message: string }
  /** So many bytes of it have to be there before it can be read. */
  | { readonly state: "short"; readonly wantedBytes: number };

/** Of a file that is not what it should be. */
export function wrongHeader(message: string): HeaderResult {
  return { state: "wrong", message };
}
