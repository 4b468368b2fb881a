/** Why a file that is a protobuf message is no model that can be read here. */
export class UnreadableModel extends Error {
  override readonly name = "UnreadableModel";
}
