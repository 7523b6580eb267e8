/** Says to the user why a file was left out. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}
