/** One thing that grows, and a call whose cost should not. */
export interface Growth {
  readonly what: string
  /** The call that is measured. */
  readonly measured: string
  readonly sizes: readonly number[]
  /** Adds until there are `size`. */
  growTo(size: number): Promise<void>
  call(): unknown
  /** A text that its answer must contain. A call without an answer checks its effect by itself. */
  readonly expect?: string
}
