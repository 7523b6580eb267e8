/** The interface of the clients in the race, and the address of their server. */

export type ClientName = 'floor' | 'sluice' | 'sluice-fetch' | 'sdk-v2' | 'sdk-v1'

/** A server over HTTP, or the script of one over stdio. */
export type ServerAddress = { readonly url: string } | { readonly script: string }

export interface BenchClient {
  /** Calls `echo` and returns the text of the answer. */
  call(): Promise<string>
  close(): Promise<void>
}

export interface ClientModule {
  open(address: ServerAddress): Promise<BenchClient>
}

/** The text of a result of `tools/call`, whatever library parsed it. */
export const textOf = (result: unknown): string =>
  (result as { readonly content: readonly [{ readonly text: string }] }).content[0].text
