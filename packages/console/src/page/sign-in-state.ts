/**
 * What the tabs of one browser share about signing in: the page that was asked for before, and that a tab has signed in.
 * The session itself is in the cookie, which all tabs share.
 */

const askedKey = 'sluice-asked'
/** As long as a sign-in link works. */
const askedMs = 15 * 60_000

/** Remembers the page in the address, so that it opens after a sign-in by a link in another tab. */
export function rememberAsked(hash: string): void {
  if (!/^#\/(?!sign-in)./.test(hash)) return
  try {
    localStorage.setItem(askedKey, JSON.stringify({ hash, at: Date.now() }))
  } catch {
    // A browser without storage opens the first page.
  }
}

/** Returns the page that was asked for, once. */
export function takeAsked(): string | undefined {
  try {
    const { hash, at } = JSON.parse(localStorage.getItem(askedKey) ?? '{}') as { hash?: unknown; at?: unknown }
    localStorage.removeItem(askedKey)
    return typeof hash === 'string' && /^#\//.test(hash) && Date.now() - Number(at) < askedMs ? hash : undefined
  } catch {
    return undefined
  }
}

const tabs = new BroadcastChannel('sluice-session')

export const announceSignIn = (): void => tabs.postMessage('signed in')

/** Calls the listener when another tab has signed in. */
export function onSignInElsewhere(listener: () => void): () => void {
  tabs.addEventListener('message', listener)
  return () => tabs.removeEventListener('message', listener)
}
