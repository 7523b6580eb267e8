/**
 * What the edge-safe folders may use beyond ECMAScript: the few web globals that Node, workerd, Deno, Bun and browsers
 * share. Declared here instead of taking in the DOM or Node types, so that anything else fails to compile.
 */
interface AbortSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
  throwIfAborted(): void
}
interface AbortController {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}
declare var AbortController: { new (): AbortController }
interface TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>
  encodeInto(text: string, into: Uint8Array): { readonly written: number }
}
declare var TextEncoder: { new (): TextEncoder }
interface TextDecoder {
  decode(bytes: Uint8Array): string
}
declare var TextDecoder: { new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder }
interface CryptoKey {
  readonly type: string
}
declare var crypto: {
  randomUUID(): string
  getRandomValues<T extends Uint8Array>(into: T): T
  readonly subtle: {
    importKey(
      format: 'raw',
      key: Uint8Array,
      algorithm: string | object,
      extractable: boolean,
      usages: readonly string[],
    ): Promise<CryptoKey>
    deriveKey(
      algorithm: object,
      base: CryptoKey,
      to: object,
      extractable: boolean,
      usages: readonly string[],
    ): Promise<CryptoKey>
    encrypt(algorithm: object, key: CryptoKey, data: Uint8Array): Promise<ArrayBuffer>
    decrypt(algorithm: object, key: CryptoKey, data: Uint8Array): Promise<ArrayBuffer>
    sign(algorithm: string, key: CryptoKey, data: Uint8Array): Promise<ArrayBuffer>
    verify(algorithm: string, key: CryptoKey, signature: Uint8Array, data: Uint8Array): Promise<boolean>
    digest(algorithm: string, data: Uint8Array): Promise<ArrayBuffer>
  }
}
declare function atob(text: string): string
declare function btoa(text: string): string
declare function setTimeout(then: () => void, ms: number): unknown
declare function clearTimeout(timer: unknown): void
declare var URL: {
  new (
    url: string,
  ): {
    readonly protocol: string
    readonly host: string
    readonly hostname: string
    readonly origin: string
    readonly pathname: string
    readonly username: string
    readonly password: string
  }
  canParse(url: string): boolean
}
declare function fetch(
  url: string,
  init: {
    readonly method?: 'POST'
    readonly body?: string
    readonly signal: AbortSignal
    readonly redirect: 'manual'
    readonly headers: { readonly [name: string]: string }
  },
): Promise<{
  readonly status: number
  readonly body: { getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }> } } | null
}>
declare var navigator: { readonly userAgent?: string } | undefined
declare var performance: { now(): number }
