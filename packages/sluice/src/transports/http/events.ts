/**
 * Server-Sent Events: the headers of a stream, the text of an event, and the writer of a stream.
 *
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */

/** Writes the text of a stream to its client. Writing to a closed writer does nothing. */
export interface EventWriter {
  write(text: string): void
  close(): void
  readonly closed: boolean
  /** Whether the reader is so far behind that logs and progress are dropped. `undefined` if that is not known. */
  readonly behind?: boolean
}

export const eventHeaders: { readonly [name: string]: string } = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Otherwise a proxy that buffers responses would hold back every notification.
  'x-accel-buffering': 'no',
}

/** Formats one event. JSON has no line breaks, so one `data` line holds it. */
export const toEvent = (data: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${data}\n\n` : `id: ${id}\nevent: message\ndata: ${data}\n\n`
