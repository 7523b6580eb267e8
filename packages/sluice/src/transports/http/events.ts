/**
 * Server-Sent Events: the headers and the text of a stream, and where it is written.
 *
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */

/** Where bytes of a stream go. Writing to one that ended does nothing. */
export interface EventWriter {
  write(text: string): void
  close(): void
  readonly closed: boolean
  /** Whether its reader is so far behind that logs and progress are dropped; left out where that is not known. */
  readonly behind?: boolean
}

export const eventHeaders: { readonly [name: string]: string } = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Proxies that collect answers before passing them on would hold back every notification.
  'x-accel-buffering': 'no',
}

/** JSON has no line breaks, so one `data` line holds it. */
export const toEvent = (data: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${data}\n\n` : `id: ${id}\nevent: message\ndata: ${data}\n\n`
