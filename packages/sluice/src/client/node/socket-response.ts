/** A response whose body is held between its socket and its reader. Reading stops while the reader is slow. */

import type { Socket } from 'node:net'
import type { ClientError } from '../errors.ts'
import type { HttpResponse } from '../http/sender.ts'
import { tooLong } from '../http/sender.ts'
import type { ResponseHead } from './response-parser.ts'

/** Bytes of a response that are held for a slow reader before reading stops. */
const maxHeldBytes = 256 * 1024

export class SocketResponse implements HttpResponse {
  readonly #head: ResponseHead
  readonly #socket: Socket
  #held: Buffer[] = []
  #heldBytes = 0
  #state: 'open' | 'ended' | 'discarded' = 'open'
  #error: ClientError | undefined = undefined
  #wake: (() => void) | undefined = undefined
  constructor(head: ResponseHead, socket: Socket) {
    this.#head = head
    this.#socket = socket
  }
  get status(): number {
    return this.#head.status
  }
  header(name: string): string | undefined {
    return this.#head.headers.get(name)
  }
  push(chunk: Buffer): void {
    if (this.#state !== 'open') return
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes > maxHeldBytes && !this.#wake) this.#socket.pause()
    this.#changed()
  }
  end(): void {
    if (this.#state === 'open') this.#state = 'ended'
    this.#changed()
  }
  fail(reason: ClientError): void {
    this.#error = reason
    this.#changed()
  }
  /** Most bodies are complete when they are read, in one chunk. */
  async text(maxBytes: number): Promise<string> {
    if (Number(this.header('content-length') ?? 0) > maxBytes) {
      this.discard()
      throw tooLong(maxBytes)
    }
    while (this.#state !== 'ended' && !this.#error && this.#heldBytes <= maxBytes) await this.#change()
    const held = this.#held
    const [only] = held
    if (this.#heldBytes > maxBytes || this.#state !== 'ended') this.discard()
    this.#held = []
    if (this.#heldBytes > maxBytes) throw tooLong(maxBytes)
    if (this.#error) throw this.#error
    return (held.length === 1 && only ? only : Buffer.concat(held)).toString('utf8')
  }
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const taken = this.#held
        this.#held = []
        this.#heldBytes = 0
        for (const chunk of taken) yield chunk
        if (this.#held.length > 0) continue
        if (this.#error) throw this.#error
        if (this.#state === 'ended') return
        await this.#change()
      }
    } finally {
      this.discard()
    }
  }
  /** A response that is not read to its end takes its connection with it. */
  discard(): void {
    this.#held = []
    if (this.#state === 'open') this.#socket.destroy()
    if (this.#state !== 'ended') this.#state = 'discarded'
  }
  #change(): Promise<void> {
    this.#socket.resume()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
  #changed(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
