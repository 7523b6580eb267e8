/** The one thing of workerd's own module that the fixture uses. */
declare module 'cloudflare:workers' {
  export function waitUntil(work: Promise<unknown>): void
}
