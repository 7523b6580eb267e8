/**
 * Reads a JSON document of an issuer. Redirects are not followed, because their target was not configured, and the size is
 * limited, because the sender decides it.
 */

/** The part of `fetch` that is used here, so that a test needs no more. */
export type Fetch = (
  url: string,
  init: {
    readonly signal: AbortSignal
    readonly redirect: 'manual'
    readonly headers: { readonly [name: string]: string }
  },
) => Promise<{ readonly status: number; readonly body: Body | null }>
interface Body {
  getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> }
}

const maxBytes = 512 * 1024

/** Returns the parsed document. Rejects unless the status is 200. */
export async function fetchJson(url: string, accept: string, fetch: Fetch, signal: AbortSignal): Promise<unknown> {
  const { status, body } = await fetch(url, { signal, redirect: 'manual', headers: { accept } })
  if (status !== 200) throw new Error(`status ${status}`)
  return JSON.parse(await textOf(body))
}

async function textOf(body: Body | null): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done || !value) break
    size += value.length
    // Counted on arrival, because the declared length is not reliable, especially with compression.
    if (size > maxBytes) throw new Error(`more than ${maxBytes} bytes`)
    chunks.push(value)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return decoder.decode(whole)
}
